"""``whiffclock plume inspect`` and ``whiffclock plume compare``: statistics of plumes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.plume import plume_app
from whiffclock.environments import PAPER
from whiffclock.formatting import plainly
from whiffclock.params import require
from whiffclock.plume.reading.layouts import ReadSettings

if TYPE_CHECKING:
    from whiffclock.plume import Plume

Threshold = Annotated[
    str | None, "Whiff threshold: a number, or an environment of the plume; default: dense.", OptionSpec("C|NAME")
]
Picture = Annotated[Path | None, "Draw the statistics: .png, .pdf or .svg.", OptionSpec("FILE")]


@plume_app.command()
@with_options
def inspect(
    *,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Plume; default: the built-in one.")] = None,
    reading: opt.Source,
    threshold: Threshold = None,
    out: Picture = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Measure a plume: whiff probabilities, widths, durations, correlations.

    Example: whiffclock plume inspect mine.npz --threshold sparse --out mine.png
    """
    from whiffclock.drawing.plume.tables import statistics_tables
    from whiffclock.plume.statistics import plume_statistics

    require_picture(out, force)
    plume = opt.read_plume(file, reading)
    at = threshold_of(plume, threshold)
    with opt.messages.status("measuring"):
        statistics = plume_statistics(plume, at)
    if json:
        opt.print_json(statistics.to_dict())
    else:
        snapshots, length, width = plume.field.shape
        grid = f"{snapshots:,} snapshots of {length} x {width} cells, source at {plume.source}"
        opt.out.print(f"{plume.origin}\n{grid}; whiffs at c >= {plainly(at)}\n")
        for table in statistics_tables(statistics):
            opt.out.print(table)
    if out is not None:
        from whiffclock.drawing.pictures import arranged, write_picture
        from whiffclock.drawing.plume.page import plume_figure

        with opt.messages.status("drawing"):
            shown = [c for c in sorted({*plume.environments.values(), at}) if plume.reaches(c)]
            measured = [statistics if c == at else plume_statistics(plume, c) for c in shown]
            write_picture(arranged(lambda: plume_figure(plume, measured)), out)
        opt.say(f"Picture: {out}")


@plume_app.command()
@with_options
def compare(
    *,
    a: Annotated[Path | None, typer.Argument(metavar="[A]", help="Plume; default: the built-in one.")] = None,
    b: Annotated[Path | None, typer.Argument(metavar="[B]", help="Second plume; default: the DNS.")] = None,
    threshold: Threshold = None,
    out: Picture = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Compare the statistics of two plumes, or of one with those of the paper's DNS.

    Example: whiffclock plume compare mine.npz other.npz
    """
    from whiffclock.drawing.plume.tables import dns_table, pair_table
    from whiffclock.plume import dns
    from whiffclock.plume.statistics import plume_statistics

    require_picture(out, force)
    plumes = [opt.read_plume(path, ReadSettings()) for path in ((a,) if b is None else (a, b))]
    if b is None:
        plumes = [plumes[0].with_environments(PAPER)]
    at = threshold_of(plumes[0], threshold)
    known = b is not None or at == dns.THRESHOLD
    require(known, f"The statistics of the DNS are at {plainly(dns.THRESHOLD)}; at {plainly(at)}, give a second plume.")
    with opt.messages.status("measuring"):
        measured = [plume_statistics(plume, at) for plume in plumes]
    if b is None:
        rows = dns.beside_dns(measured[0])
        if json:
            opt.print_json({"plume": plumes[0].origin, "dns": dns.ORIGIN, "rows": [row.to_dict() for row in rows]})
        else:
            met = [row.met for row in rows if row.met is not None]
            opt.out.print(dns_table(rows, f"{plumes[0].origin}\n{sum(met)} of {len(met)} targets met"))
    elif json:
        opt.print_json({"A": measured[0].to_dict(), "B": measured[1].to_dict()})
    else:
        caption = f"A: {plumes[0].origin}\nB: {plumes[1].origin}\nwhiffs at c >= {plainly(at)}"
        opt.out.print(pair_table((measured[0], measured[1]), caption))
    if out is not None:
        from whiffclock.drawing.pictures import arranged, write_picture
        from whiffclock.drawing.plume.page import comparison_figure

        write_picture(arranged(lambda: comparison_figure(measured)), out)
        opt.say(f"Picture: {out}")


def threshold_of(plume: "Plume", given: str | None) -> float:
    """The threshold of ``--threshold``, by default the dense one of a plume."""
    known = plume.environments
    return known.default if given is None else known.threshold_of(given, "--threshold")


def require_picture(out: Path | None, force: bool) -> None:
    """Refuse, before any work, a picture that cannot be written."""
    if out is not None:
        require(out.suffix in (".png", ".pdf", ".svg"), f"--out is {out}; it must end in .png, .pdf or .svg.")
        require(not out.is_dir(), f"--out is {out}, which is a folder; name a file.")
        opt.require_new(out, force)
