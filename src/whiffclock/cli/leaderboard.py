"""``whiffclock leaderboard``: all agents, and yours, on the same searches."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.evaluation import warn_other_plume
from whiffclock.params import EvaluationSettings, require

if TYPE_CHECKING:
    from whiffclock.plume import Plume


@app.command()
@with_options
def leaderboard(
    policies: Annotated[list[Path] | None, typer.Argument(metavar="[POLICY...]", help=opt.POLICIES_HELP)] = None,
    *,
    out: Annotated[Path, "Folder for table, data and picture; finished work in it is kept.", OptionSpec("DIR")] = Path(
        "leaderboard"
    ),
    profile: Annotated[Literal["quick", "paper"], "Length of trainings and number of searches."] = "quick",
    plume: opt.PlumeFile,
    record: Annotated[
        list[Path] | None, "Test in another plume file, too; may be repeated.", OptionSpec("FILE")
    ] = None,
    only: Annotated[bool, "Only the policies that are named, without the agents of whiffclock."] = False,
    no_others: Annotated[
        bool, "Leave out the two further records, which are simulated once, and the windy cases."
    ] = False,
    engine: opt.Engine,
    json: opt.AsJson = False,
) -> None:
    """Compare agents, and your own, in turbulence that none of them has seen.

    Agents are made in the first half of the record and tested in the second.
    A new agent is tested without testing the others again.

    Example: whiffclock leaderboard zigzag:zigzag
    """
    from dataclasses import asdict

    from whiffclock.disk import require_writable, write_whole
    from whiffclock.drawing.leaderboard import board, picture, windy_board
    from whiffclock.drawing.pictures import arranged, write_picture
    from whiffclock.formatting import nan_to_null
    from whiffclock.netcdf import write_dataset
    from whiffclock.runs.comparison import find_policies
    from whiffclock.runs.jobs import JobFolder
    from whiffclock.runs.leaderboard import SIZES, SUITE, YOURS, Entrant, lines, our_entrants, scores, windy_scores

    require(profile in SIZES, f"The profile is {profile!r}; it must be {' or '.join(SIZES)}.")
    named = find_policies(policies) if policies else []
    require(bool(named) or not only, "--only needs a policy; name one at least.")
    require_writable(out)
    field = plume.open()
    first, second = field.split()
    added = {path.name: opt.read_plume(path, plume.reading) for path in record or []}
    require(len(added) == len(record or []), "Two of the records have the same file name.")
    size, store = SIZES[profile], JobFolder(out / "runs")
    own = []
    for word, policy in named:
        made_for = None if policy.threshold is None else field.environments.name_of(policy.threshold)
        trained = made_for if made_for in field.environments else ""
        label = policy.name if word.suffix != ".npz" else f"{policy.name} ({word.parent.name}/{word.stem})"
        own.append(Entrant(label, policy, trained or "", YOURS, word=str(word)))
    simulated = {} if no_others or plume.plume else simulated_records(out / "records")
    places = {"second half": second} | simulated | added
    with engine.open(opt.say) as pool, opt.job_bar(out, "searches") as bar:
        entrants = own if only else [*own, *our_entrants(first, size, store, pool, bar)]
        data = scores(entrants, places, size, store, pool, bar)
        if not no_others:
            data = data.merge(windy_scores(entrants, not only, first, size, store, pool, bar))
    data.attrs["profile"], ranked = profile, lines(data)
    write_dataset(out / "leaderboard.nc", data)
    table = data[["mean", "error"]].to_dataframe().reset_index().join(
        data[["agent", "trained", "training", "bits"]].to_dataframe(), on="entrant"
    )  # fmt: skip
    write_whole(out / "leaderboard.csv", lambda file: table.to_csv(file, index=False))
    write_picture(arranged(lambda: picture(ranked)), out / "leaderboard.png")
    if json:
        rows = [{name: nan_to_null(one) for name, one in asdict(line).items()} for line in ranked]
        opt.print_json({"suite": SUITE, "profile": profile, "plume": field.origin, "agents": rows})
        return
    caption = (
        f"{field.origin}; second half. G, speed (T_min/T) and lost (failures): means over {len(second.environments)} "
        f"environments, each agent where it was made for; away: G in the others; other: G in other records; us: "
        f"microseconds per decision. Profile {profile}."
    )
    opt.out.print(board(ranked, SUITE, caption))
    if data.sizes.get("windy_agent"):
        opt.out.print(windy_board(data))
    warn_other_plume(second, [one for _, one in named if "optimize" not in one.made_from], EvaluationSettings())
    opt.say(f"Data and picture: {out}/leaderboard.nc, .csv, .png")


def simulated_records(folder: Path) -> dict[str, "Plume"]:
    """The two further records of the suite by name, from files in a folder, where they are made if they are missing."""
    from whiffclock.cli.plume.make import make_record
    from whiffclock.plume.reading.files import read_plume
    from whiffclock.plume.simulate.recipe import SimulationSettings
    from whiffclock.runs.leaderboard import OTHER_SEEDS

    paths = {f"seed {seed}": folder / f"simulated-seed{seed}.npz" for seed in OTHER_SEEDS}
    if missing := sum(not path.exists() for path in paths.values()):
        cost = f"{missing} further records are simulated first, once, each in about five minutes of one core"
        opt.say(f"{cost}; --no-others leaves them out.")
    for seed, path in zip(OTHER_SEEDS, paths.values(), strict=True):
        if not path.exists():
            make_record(path, SimulationSettings(seed=seed))
    return {name: read_plume(path) for name, path in paths.items()}
