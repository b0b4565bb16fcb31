"""``whiffclock recovery``: recovery paths of policies, and the measures of their geometry."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.evaluation import Policies
from whiffclock.cli.plume.inspect import require_picture
from whiffclock.params import InputError, checked, require

if TYPE_CHECKING:
    from whiffclock.drawing.recoveries import Recovery
    from whiffclock.path_metrics import Truncation


@app.command()
@with_options
def recovery(
    *,
    policies: Policies,
    truncation: Annotated[
        str | None, "Where paths end, such as 'longest blank'; default: largest clock reading.", OptionSpec("NAME")
    ] = None,
    out: Annotated[Path | None, "Draw the paths: .png, .pdf or .svg.", OptionSpec("FILE")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Draw recovery paths and measure them: the way after a whiff if only blanks follow.

    Each mode of a policy has a path of its own. Policies that differ in their
    seed alone are an ensemble, with one line in the table for each mode.

    Example: whiffclock recovery policies/sparse --out recovery.png
    """
    from whiffclock.drawing.recoveries import MOST, recovery_figure
    from whiffclock.drawing.tables import recovery_table
    from whiffclock.path_metrics import MAIN_TRUNCATION, Truncation

    require_picture(out, force)
    end: Truncation = checked("--truncation", truncation or MAIN_TRUNCATION, Truncation)
    found = recoveries(policies, end)
    many = f"The policies have {len(found)} recovery paths, and a picture has at most {MOST}; name fewer policies."
    require(out is None or len(found) <= MOST, many)
    if json:
        opt.print_json([one.to_dict() for one in found])
    else:
        opt.out.print(recovery_table(found, f"Paths end at: {end}."))
    if out is not None:
        from whiffclock.drawing.pictures import arranged, write_picture

        write_picture(arranged(lambda: recovery_figure(found)), out)
        opt.say(f"Picture: {out}")


def recoveries(paths: list[Path], truncation: "Truncation") -> list["Recovery"]:
    """The recovery paths of policies, each with the name of its ensemble, by environment and ensemble."""
    from whiffclock.drawing.plane import TRAINED
    from whiffclock.drawing.recoveries import Recovery
    from whiffclock.environments import trained_in
    from whiffclock.formatting import mode_name
    from whiffclock.policy import TablePolicy
    from whiffclock.recovery import recovery_moves, recovery_path
    from whiffclock.runs.comparison import contenders, find_policies

    files = find_policies(paths)
    tables: list[tuple[Path, str, TablePolicy]] = []
    for (file, policy), contender in zip(files, contenders([policy for _, policy in files]), strict=True):
        if not isinstance(policy, TablePolicy):
            many = f"{file} is a {policy.name} policy, whose recovery depends on all that it has observed"
            raise InputError(f"{many}; a recovery path is that of a policy with a finite memory.")
        tables.append((file, contender.name, policy))
    made = []
    for mode in range(max(policy.modes for *_, policy in tables)):
        for file, agent, policy in tables:
            if mode < policy.modes:
                name = mode_name(mode, policy.modes) if policy.modes > 1 else ""
                about = file, policy.threshold or 0.0, trained_in(policy.made_from), agent, name
                path, trained = recovery_path(policy, mode, truncation), recovery_moves(policy, TRAINED, mode)
                made.append(Recovery(*about, policy.made_from.get("seed"), path, min(trained, len(path) - 1)))
    return sorted(made, key=lambda one: (one.threshold, one.agent))
