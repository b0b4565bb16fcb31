"""``whiffclock data``: the tables behind the figures."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.params import require

if TYPE_CHECKING:
    from whiffclock.paper.dataset import Datasets

#: Rows that are shown.
_FIRST = 6


@app.command()
@with_options
def data(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DIR] TABLE",
            help="Run (default: the full run that comes with whiffclock), and a figure, such as fig2, fig3d or b1, a "
            "dataset, such as searches, or a variable of it, such as searches.strata.",
        ),
    ],
    *,
    csv: Annotated[Path | None, "Write the whole table as CSV; - is the standard output.", OptionSpec("FILE")] = None,
) -> None:
    """Show the data behind a figure, or write them as CSV.

    One row per observation. Shown are what the columns mean, and the first rows.

    Example: whiffclock data reproduction fig2 --csv fig2.csv
    """
    from whiffclock.disk import require_replaceable, write_whole
    from whiffclock.paper.reference import load_run
    from whiffclock.paper.tidy import COLUMNS, TABLES, datasets, table

    require(len(words) <= 2, f"There are {len(words)} names; it must be a folder and a table, or a table alone.")
    *folder, name = words
    if csv is not None and str(csv) != "-":
        require_replaceable(csv)
    run = load_run(Path(folder[0]) if folder else None)
    if name in datasets(run) and csv is None:
        _show_variables(run, name)
        return
    found = table(run, name)
    if csv is None:
        rows = TABLES[name].rows if name in TABLES else "one row per value"
        opt.out.print(f"{name}: {rows}; {len(found):,} rows.", highlight=False)
        opt.out.print(opt.facts_table({column: COLUMNS.get(column, "") for column in found.columns}))
        text = found.head(_FIRST).to_string(index=False, line_width=80, float_format=lambda x: f"{x:.4g}")
        print("\n" + re.sub(r" +$", "", text, flags=re.MULTILINE))
    elif str(csv) == "-":
        print(found.to_csv(index=False), end="")
    else:
        write_whole(csv, lambda file: found.to_csv(file, index=False))
        opt.say(f"{csv}: {len(found):,} rows.")


def _show_variables(run: "Datasets", name: str) -> None:
    """The variables of a dataset, with their dimensions."""
    from whiffclock.paper.tidy import datasets

    variables = datasets(run)[name].data_vars.items()
    opt.out.print(f"{name} has these variables; for one of them, name it as in {name}.{next(iter(variables))[0]}:")
    opt.out.print(opt.facts_table({str(variable): ", ".join(map(str, values.dims)) for variable, values in variables}))
