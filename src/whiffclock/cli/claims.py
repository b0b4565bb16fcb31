"""``whiffclock claims``: the claims of the paper with all their numbers."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import with_options
from whiffclock.params import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whiffclock.paper.claims import Verdict


@app.command()
@with_options
def claims(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DIR] [CLAIM]...",
            help="Run (default: the full run that comes with whiffclock), and claims, such as C15; default: all, in a "
            "table.",
        ),
    ] = None,
    *,
    json: opt.AsJson = False,
) -> None:
    """Show claims of the paper: statement, statistic, and all parts with their numbers.

    Beside each verdict is that of the full run that comes with whiffclock.

    Example: whiffclock claims reproduction C4 C15
    """
    from whiffclock.paper.claims import CLAIMS, claims_json, judge
    from whiffclock.paper.reference import differences, load_run, reference_verdicts, verdicts_beside
    from whiffclock.paper.tables import claims_table, this_run

    given = words or []
    folder = Path(given[0]) if given and not re.fullmatch(r"[Cc]\d+", given[0]) and given[0] not in CLAIMS else None
    asked = [word if word in CLAIMS else word.upper() for word in given[folder is not None :]]
    for name in asked:
        require(name in CLAIMS, f"There is no claim {name}; choose from {', '.join(CLAIMS)}.")
    run = load_run(folder)
    stored = {} if folder else reference_verdicts()
    chosen = [CLAIMS[name] for name in asked or CLAIMS]
    found = [stored.get(claim.id) or judge(run, [claim])[0] for claim in chosen]
    beside, differs = verdicts_beside(run), differences(run)
    if json:
        print(claims_json(found, run, beside, differs), end="")
    elif not asked:
        opt.out.print(claims_table(found, beside, differs))
    else:
        for verdict in found:
            _show(verdict, beside)
        opt.out.print(" ".join(filter(None, (this_run(differs), "In Python:"))), highlight=False)
        print(_snippet(folder, found[0]))


def _show(found: "Verdict", beside: "Mapping[str, Verdict]") -> None:
    """A claim in full."""
    from whiffclock.drawing.tables import add_row, plain_table
    from whiffclock.paper.claims.verdict import agents_in_words
    from whiffclock.paper.tables import estimate, in_words, styled

    claim, parts = found.claim, found.details["parts"]
    opt.out.print(Text.assemble((f"{claim.id}  {claim.title}: ", "bold"), styled(found.verdict)))
    facts = {"statement": claim.statement, "in the paper": claim.place, "statistic": claim.statistic}
    facts |= {"why": found.why}
    if found.resampled:
        levels = sorted({f"{100 * part['level']:.3g}%" for part in parts.values()})
        facts["intervals"] = f"{' or '.join(levels)}, over {found.resampled}"
    if claim.id in beside:
        facts["full run"] = f"{beside[claim.id].verdict} ({beside[claim.id].summary})"
    facts |= {"figures": ", ".join(claim.figures), "data": ", ".join(claim.data)}
    opt.out.print(Padding(opt.facts_table(facts), (0, 0, 0, 1)))
    if parts:
        table = plain_table("", "", "part", "estimate", "required", "outcome", "agents needed")
        table.title = None
        table.columns[0].no_wrap = table.columns[2].no_wrap = table.columns[4].no_wrap = False
        for label, part in parts.items():
            numbers = estimate(part["value"], part["low"], part["high"])
            add_row(table, label, numbers, part["required"], styled(part["outcome"]), agents_in_words(part["needs"]))
        opt.out.print(table)
    beside_it = {label: part["beside"] for label, part in parts.items() if part["beside"]}
    for name, value in (beside_it | found.details["also"]).items():
        opt.out.print(Padding(Text(f"{name}: {in_words(value)}"), (0, 0, 0, 1)))


def _snippet(folder: Path | None, found: "Verdict") -> str:
    """How to go on in Python."""
    place = "" if folder is None else repr(str(folder))
    dataset, _, variable = (found.claim.data or ("searches.mean",))[0].partition(".")
    return f"""
from whiffclock.paper.reference import load_run
from whiffclock.paper.tidy import table

data = load_run({place})
data["{dataset}"]["{variable}"]  # xarray, all dimensions by name
table(data, "{found.claim.figures[0]}")  # pandas, one row per observation
"""
