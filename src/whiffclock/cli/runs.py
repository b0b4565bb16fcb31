"""``whiffclock runs``: list, show, export and remove cached results."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.filesize import decimal
from rich.table import Table

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.help import App
from whiffclock.environments import PAPER
from whiffclock.params import InputError, LearningSettings, require

if TYPE_CHECKING:
    from whiffclock.runs.store import Entry, Store

runs_app = App(help="List, show, export and remove cached results.")
app.add_typer(runs_app, name="runs")

StoreFolder = Annotated[Path, "Folder of cached results.", OptionSpec("DIR")]
_STORE = opt.REPRODUCTION / "runs"
_DIGITS_SHOWN = 10
_UNREADABLE = "damaged, or of an older version"


@runs_app.command("list")
@with_options
def list_runs(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="Only this kind of results, such as policy.")
    ] = None,
    every: Annotated[bool, "Print a line for each result.", OptionSpec(name="all", short="-a")] = False,
    store: StoreFolder = _STORE,
    json: opt.AsJson = False,
) -> None:
    """Count cached results by kind and environment, or list them (--all), the latest first.

    Example: whiffclock runs list policy --all --store demo/runs
    """
    from whiffclock.runs.store import Store

    entries = Store(store).entries()
    if kind is not None:
        require_kinds([kind], entries, store)
    shown = sorted((e for e in entries if kind in (None, e.kind)), key=lambda e: (e.kind, e.age))
    if json:
        opt.print_json([facts(entry) for entry in shown])
    elif shown:
        print(runs_table(shown) if every else counts_table(shown))
    else:
        opt.messages.print(f"There are no results in {store} yet.")


@runs_app.command()
@with_options
def show(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of a result, or its first digits.")],
    store: StoreFolder = _STORE,
    json: opt.AsJson = False,
) -> None:
    """Show the settings and the arrays of a cached result.

    Example: whiffclock runs show 525b88
    """
    from whiffclock.runs.store import Store, read_record

    entry = Store(store).find(key)
    record = read_record(entry.path)
    shown = facts(entry) | {"arrays": {name: f"{a.dtype}{list(a.shape)}" for name, a in record.arrays.items()}}
    if json:
        opt.print_json(shown)
        return
    description, arrays = shown.pop("description"), shown.pop("arrays")
    opt.out.print(opt.facts_table(shown))
    for title, part in (("Settings", dict(_levels(description))), ("Arrays", arrays)):
        opt.out.print(f"\n{title}:")
        opt.out.print(opt.facts_table(part))


def _levels(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings, one row for each level: ``policy learning`` are the learning settings of the policy."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield before + name, {key: inner for key, inner in value.items() if not isinstance(inner, dict)}
            inside = {key: inner for key, inner in value.items() if isinstance(inner, dict)}
            yield from _levels(inside, f"{before}{name} ")
        elif not before:
            yield name, value


@runs_app.command()
@with_options
def export(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the NetCDF files.")],
    store: StoreFolder = _STORE,
    profile: Annotated[str, "Profile of the reproduction.", OptionSpec("NAME")] = "quick",
    only: Annotated[str | None, "Only the datasets of these figures, such as fig3,s1.", OptionSpec("IDS")] = None,
    plume: opt.PlumeFile,
) -> None:
    """Write the datasets of a finished reproduction as NetCDF files.

    Example: whiffclock runs export data --profile quick --store demo/runs
    """
    from whiffclock.disk import require_writable
    from whiffclock.paper.ensembles import Study
    from whiffclock.paper.profiles import profile_named
    from whiffclock.paper.reproduce import outlook, parse_figures, reproduce
    from whiffclock.runs.jobs import JobFolder

    figures, results = parse_figures(only), JobFolder(store)
    results.store.entries()
    require_writable(folder)
    study = Study(plume.open(), profile_named(profile))
    total, done = outlook(study, results, figures)
    require(done == total, f"{store} lacks some results of this reproduction; compute them with whiffclock reproduce.")
    for path in reproduce(study, results, figures).datasets.save(folder):
        opt.out.print(f"{path}, {decimal(path.stat().st_size)}", soft_wrap=True)


@runs_app.command()
@with_options
def prune(
    store: StoreFolder = _STORE,
    kind: Annotated[list[str] | None, "Also remove all results of this kind; may be repeated."] = None,
    dry_run: Annotated[bool, "Only list what would be removed."] = False,
    yes: Annotated[bool, "Do not ask.", OptionSpec(short="-y")] = False,
) -> None:
    """Remove damaged results, incomplete files and results of older versions.

    Example: whiffclock runs prune --dry-run
    """
    from whiffclock.runs.store import Store

    found = removable(Store(store), kind or [])
    if not found:
        opt.messages.print(f"There is nothing to remove in {store}.")
        return
    total = sum(path.lstat().st_size for path in found)
    opt.out.print(removal_table(found, store))
    if dry_run:
        return
    if not yes:
        typer.confirm(f"Remove {len(found)} files, {decimal(total)}?", abort=True, err=True)
    remove(list(found))
    opt.out.print(f"{len(found)} files removed from {store}, {decimal(total)}.")


def removable(store: Store, kinds: list[str]) -> dict[Path, str]:
    """Files to remove, and why."""
    from whiffclock.runs.store import FORMAT

    entries = store.entries()
    require_kinds(kinds, entries, store.folder)
    found = dict.fromkeys(store.leftovers(), "left by an interrupted write")
    for entry in entries:
        if entry.kind in kinds:
            found[entry.path] = f"of kind {entry.kind}"
        elif entry.damaged or entry.label is None:
            found[entry.path] = _UNREADABLE
        elif entry.label.format < FORMAT:
            found[entry.path] = f"format {entry.label.format}, now {FORMAT}"
    return found


def remove(paths: list[Path]) -> None:
    """Remove files, and the folders that this leaves empty."""
    try:
        for path in paths:
            path.unlink(missing_ok=True)
        for folder in {path.parent for path in paths}:
            if not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise InputError(f"{error.filename} cannot be removed: {error.strerror}.") from error


def require_kinds(kinds: list[str], entries: list[Entry], store: Path) -> None:
    """Refuse a kind that has no results; it is probably a misspelling."""
    known = sorted({entry.kind for entry in entries})
    there = ", ".join(known) or "none"
    for kind in kinds:
        require(kind in known, f"There are no results of kind {kind} in {store}; there are: {there}.")


def facts(entry: Entry) -> dict[str, Any]:
    """A record in plain values."""
    written = datetime.fromtimestamp(entry.written, UTC).isoformat(timespec="seconds")
    shown = {"kind": entry.kind, "key": entry.key, "file": str(entry.path), "bytes": entry.size, "written": written}
    if entry.label is None:
        return shown | {"damaged": True}
    return shown | {name: getattr(entry.label, name) for name in ("format", "version", "description")}


def counts_table(entries: list[Entry]) -> str:
    """How many results there are of each kind in each environment, their size, and the age of the latest."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        place = _UNREADABLE if entry.label is None else place_of(entry.label.description)
        groups.setdefault((entry.kind, place), []).append(entry)
    order = [*PAPER, *sorted({place for _, place in groups} - {*PAPER})]
    rows = [("kind", "environment", "results", "size", "latest")]
    for kind, place in sorted(groups, key=lambda group: (group[0], order.index(group[1]))):
        found = groups[kind, place]
        size, age = sum(entry.size for entry in found), min(entry.age for entry in found)
        rows.append((kind, place or "-", f"{len(found):,}", decimal(size), readable_age(age)))
    rows.append(("all", "", f"{len(entries):,}", decimal(sum(entry.size for entry in entries)), ""))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines, before = [], ""
    for kind, place, *numbers in rows:
        words = f" {'' if kind == before else kind:{widths[0]}}  {place:{widths[1]}}"
        lines.append("  ".join([words, *(f"{text:>{width}}" for text, width in zip(numbers, widths[2:], strict=True))]))
        before = kind
    rule = " " + "-" * (len(lines[0]) - 1)
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1].rstrip()])


def runs_table(entries: list[Entry]) -> str:
    """One line per record, in 80 columns; without rich, which is slow for many lines."""
    rows = [("kind", "key", "description", "size", "age")]
    for entry in entries:
        what = _UNREADABLE if entry.label is None else headline(entry.label.description)
        rows.append((entry.kind, entry.key[:_DIGITS_SHOWN], what, decimal(entry.size), readable_age(entry.age)))
    kind, key, _, size, age = (max(len(row[i]) for row in rows) for i in range(5))
    room = max(20, 79 - kind - key - size - age - 4 * 2)
    width = min(room, max(len(row[2]) for row in rows))
    lines = []
    for row in rows:
        first, *more = textwrap.wrap(row[2], room) if len(row[2]) > room else [row[2]]
        lines.append(f" {row[0]:{kind}}  {row[1]:{key}}  {first:{width}}  {row[3]:>{size}}  {row[4]:>{age}}")
        lines += [f" {'':{kind}}  {'':{key}}  {part}" for part in more]
    return "\n".join([lines[0], " " + "-" * (len(lines[0]) - 1), *lines[1:]])


def removal_table(found: dict[Path, str], store: Path) -> Table:
    """One line per file to remove."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("file", overflow="fold")
    table.add_column("why", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    for path, why in found.items():
        table.add_row(str(path.relative_to(store)), why, decimal(path.lstat().st_size))
    return table


def headline(description: dict[str, Any]) -> str:
    """Environment, agent, settings and seed as far as a description has them, or else all its simple values."""
    from whiffclock.formatting import mode_name

    policy, environment = _part(description, "policy"), place_of(description)
    if policy and "mode" in description:
        modes = 1 + len(_part(policy, "memory").get("taus", "+"))
        return f"{mode_name(description['mode'], modes)} of {headline(policy)}"
    if policy:
        return f"{headline(policy)}, in {environment}"
    words = [environment, str(description.get("agent", "")), *_settings(description)]
    simple = (f"{name} {value}" for name, value in description.items() if not isinstance(value, dict | list))
    return " ".join(filter(None, words)) or ", ".join(simple)


def place_of(description: dict[str, Any]) -> str:
    """The environment of a result, or "several"; empty if it has none."""
    found = description.get("threshold", description.get("at"))
    names = [PAPER.name_of(at) for at in (found if isinstance(found, list) else [found]) if isinstance(at, int | float)]
    return "several" if len(names) > 1 else "".join(names)


def _settings(description: dict[str, Any]) -> Iterator[str]:
    """The settings by which agents of one kind differ, in a few words each."""
    part = _part(description, "dense") or description  # 2Q^h is described by one of the two it is made of
    memory, learning, world, solver = (_part(part, name) for name in ("memory", "learning", "world", "solver"))
    if taus := [description["tau"]] if "tau" in description else memory.get("taus"):
        yield f"tau {','.join(map(str, taus))}"
    if "angle" in description:
        yield f"{description['angle']:g} degrees"
    if "seed" in part or part.get("job") == "Train":
        yield f"seed {part.get('seed', 0)}"
    if "digest" in part:
        yield f"digest {str(part['digest'])[:6]}"
    if learning.get("episodes", LearningSettings.episodes) != LearningSettings.episodes:
        yield f"{learning['episodes']:,} episodes"
    if solver.get("backups"):
        yield f"{solver['backups']:,} backups"
    if world.get("start_on_whiff"):
        yield "(starts on a whiff)"
    if "start_threshold" in world and world["start_threshold"] in (None, "own"):
        yield "(own start threshold)"


def _part(description: dict[str, Any], name: str) -> dict[str, Any]:
    part = description.get(name)
    return part if isinstance(part, dict) else {}


def readable_age(seconds: float) -> str:
    """An age in the largest unit of which it has at least two."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{max(0, int(seconds))} s"
