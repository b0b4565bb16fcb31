"""``whiffclock export``: policies for robots and other programs."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.export.settings import PREFIX, FrontEnd, To
from whiffclock.params import require

Nose = Annotated[FrontEnd, OptionGroup(panel="Front end")]


@app.command()
@with_options
def export(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="Policy: a file, module:object or a name.")],
    *,
    to: Annotated[To, "What to write."] = "c",
    out: Annotated[Path | None, "Write to this file; default: the standard output.", OptionSpec("FILE")] = None,
    prefix: Annotated[str, "Beginning of all names in C."] = PREFIX,
    front_end: Annotated[bool, "Add the way from raw readings to whiffs to the C header."] = False,
    nose: Nose,
    force: opt.Force = False,
) -> None:
    """Write a policy with a finite memory as a C header, a MicroPython module or a table.

    The export is verified before it is written: it makes the moves of the
    policy on random records of whiffs.

    Example: whiffclock export clock-sparse --to c --out agent.h
    """
    from whiffclock.agents.own import policy_named
    from whiffclock.export.files import exported

    require(front_end or nose == FrontEnd(), "--rise, --fall, --slow and --dead are settings of --front-end; add it.")
    opt.require_new(out, force)
    made = exported(policy_named(policy), to, prefix, nose if front_end else None)
    if out is None:
        print(made.text, end="")
    else:
        made.save(out)
    opt.say(f"{out or 'Export'}: {len(made.text):,} bytes, tables of {made.table_bytes:,} bytes; {made.verified}.")
