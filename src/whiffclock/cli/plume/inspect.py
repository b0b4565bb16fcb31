"""``whiffclock plume inspect`` and ``whiffclock plume compare``: what is a plume like?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.groups import Word, grouped
from whiffclock.cli.plume import plume_app
from whiffclock.params import ENVIRONMENTS, require, require_threshold
from whiffclock.plume.layouts import ReadSettings

if TYPE_CHECKING:
    from whiffclock.plume import Plume
    from whiffclock.plume.statistics import PlumeStatistics

_WHIFFS = f"Where a whiff begins: a number, or {', '.join(ENVIRONMENTS)}."
_PAGES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class Look:
    """What to measure in plumes, and where to draw it."""

    threshold: Annotated[str, _WHIFFS, Word("C|NAME")] = "dense"
    out: Annotated[Path | None, "Draw a page: .png, .pdf or .svg.", Word("FILE")] = None
    force: Annotated[bool, "Replace a file that is there already."] = False

    def __post_init__(self) -> None:
        require_threshold(self.value)
        if self.out is not None:
            require(self.out.suffix in _PAGES, f"--out is {self.out}; a page ends in {', '.join(_PAGES)}.")
            require(not self.out.is_dir(), f"--out is {self.out}, which is a folder; name a file.")
            opt.require_new(self.out, self.force)

    @property
    def value(self) -> float:
        """The threshold as a number."""
        return opt.parse_threshold(self.threshold, "--threshold")

    def measure(self, plumes: list[Plume]) -> list[PlumeStatistics]:
        """Statistics of plumes at the threshold."""
        from whiffclock.plume.statistics import plume_statistics

        with opt.talk.status("measuring"):
            return [plume_statistics(plume, self.value) for plume in plumes]


@plume_app.command()
@grouped
def inspect(
    *,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A plume; default: the built-in one.")] = None,
    reading: opt.Source,
    look: Look,
    json: opt.AsJson = False,
) -> None:
    """Measure a plume: whiffs, widths, durations, correlations; draw it on one page."""
    from whiffclock.paper.plume.tables import statistics_tables
    from whiffclock.plume.statistics import plume_statistics

    plume = opt.read_plume(file, reading)
    (statistics,) = look.measure([plume])
    if json:
        opt.print_json(statistics.to_dict())
    else:
        snapshots, length, width = plume.field.shape
        grid = f"{snapshots:,} snapshots of {length} x {width} cells, source at {plume.source}"
        opt.out.print(f"{plume.origin}\n{grid}; whiffs at c >= {look.value:g}\n", highlight=False)
        for table in statistics_tables(statistics):
            opt.out.print(table)
    if look.out is not None:
        from whiffclock.paper.plume.page import plume_page

        with opt.talk.status("drawing"):
            shown = [c for c in sorted({*ENVIRONMENTS.values(), look.value}) if plume.reaches(c)]
            plume_page(plume, [statistics if c == look.value else plume_statistics(plume, c) for c in shown], look.out)
        opt.talk.print(f"Page: {look.out}")


@plume_app.command()
@grouped
def compare(
    *,
    a: Annotated[Path | None, typer.Argument(metavar="[A]", help="A plume; default: the built-in one.")] = None,
    b: Annotated[Path | None, typer.Argument(metavar="[B]", help="Another; default: the DNS figures.")] = None,
    look: Look,
    json: opt.AsJson = False,
) -> None:
    """Lay two plumes side by side, or one beside what is known of the paper's DNS."""
    from whiffclock.paper.plume.tables import dns_table, pair_table
    from whiffclock.plume import dns

    require(
        b is not None or look.value == dns.THRESHOLD,
        f"The DNS figures are at {dns.THRESHOLD:g}; at {look.value:g}, name a second plume to compare with.",
    )
    plumes = [opt.read_plume(path, ReadSettings()) for path in ((a,) if b is None else (a, b))]
    measured = look.measure(plumes)
    if len(measured) == 1:
        rows = dns.beside_dns(measured[0])
        if json:
            opt.print_json({"plume": plumes[0].origin, "dns": dns.ORIGIN, "rows": [row.to_dict() for row in rows]})
        else:
            judged = [row.met for row in rows if row.met is not None]
            opt.out.print(dns_table(rows, f"{plumes[0].origin}\n{sum(judged)} of {len(judged)} targets met"))
    elif json:
        opt.print_json({"A": measured[0].to_dict(), "B": measured[1].to_dict()})
    else:
        caption = f"A: {plumes[0].origin}\nB: {plumes[1].origin}\nwhiffs at c >= {look.value:g}"
        opt.out.print(pair_table((measured[0], measured[1]), caption))
    if look.out is not None:
        from whiffclock.paper.plume.page import comparison_page

        comparison_page(measured, ["A", "B"][: len(measured)], look.out)
        opt.talk.print(f"Page: {look.out}")
