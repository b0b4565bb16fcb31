"""Run the fuzzer and print a table of outcomes; wrong ones are written to a file, with commands that repeat them."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fuzz.cases import BAD, GOOD, MEMORY, SECONDS, STOP_AFTER, STOP_WITHIN, Bench, Outcome

FOUND = Path("build/fuzz.txt")
#: Outcomes in the head of a table.
SHORT = ("refus", "harml", "other", "stop", "belie", "trace", "crash", "hang", "mem", "untid", "left")
LEGEND = f"""\
refus  refused in one plain sentence; untid  in another way, such as raw exceptions
harml  read with the same result as the undamaged file
other  another valid input: options that are allowed, formats without checksums,
       edits that restore every digest
stop   still running, and stopped by Ctrl-C (after {STOP_AFTER} s) within {STOP_WITHIN} s
belie  read with another result although a digest or a type could have shown it
hang   more than {SECONDS} s of CPU time, or of wall time without waiting for a core;
       or not stopped by Ctrl-C in time
mem    more than {MEMORY * 0.75 / 2**30:g} GiB; left  files left behind by what was refused or stopped"""


def main() -> int:
    """The command line; 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="time limit")
    parser.add_argument("--cases", type=int, default=10**9, help="most cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", help="only this kind, such as options; may be repeated")
    parser.add_argument("--quick", action="store_true", help="one file of each kind, and no limit of time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--case", help="only this one, N or N.STEP, with all its output")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whiffclock-fuzz-") as folder:
        print("making valid files, running every command once ...", flush=True)
        bench = Bench(Path(folder), asked.kind, every=not asked.quick)
        if asked.case:
            return show(bench, asked.seed, asked.case)
        workers = [begun(bench, asked, worker, Path(folder)) for worker in range(asked.workers)]
        lost = sum(os.waitpid(worker, 0)[1] != 0 for worker in workers)
        lines = [line for file in sorted(Path(folder).glob("outcomes*")) for line in file.read_text().splitlines()]
    counts: dict[str, Counter[str]] = {}
    found = []
    for kind, name, recipe in map(json.loads, lines):
        counts.setdefault(kind, Counter())[name] += 1
        found += [recipe] * bool(recipe)
    print(table(counts, asked.seed))
    if found:
        FOUND.parent.mkdir(parents=True, exist_ok=True)
        FOUND.write_text("\n".join(found))
        print(f"{len(found)} wrong outcomes are in {FOUND}.")
    if lost:
        print(f"{lost} of the fuzzer's own processes failed.")
    return bool(found or lost)


def begun(bench: Bench, asked: argparse.Namespace, worker: int, folder: Path) -> int:
    """A child process that runs its share of the cases and writes their outcomes to a file."""
    child = os.fork()
    if child:
        return child
    end = time.monotonic() + (1e9 if asked.quick else asked.seconds)
    with (folder / f"outcomes{worker}").open("w") as file:
        for number in range(worker, asked.cases, asked.workers):
            if time.monotonic() > end:
                break
            outcome, recipe = bench.case(asked.seed, number), ""
            if outcome.name in BAD:
                recipe = report(bench, asked.seed, number, outcome, asked.kind)
                print(recipe, flush=True)
            print(json.dumps([bench.kind(asked.seed, number), outcome.name, recipe]), file=file, flush=True)
    os._exit(0)


def report(bench: Bench, seed: int, number: int, outcome: Outcome, kinds: list[str] | None) -> str:
    """What was found, and a command that does it again with as few steps as possible."""
    steps = (0, 1) if bench.kind(seed, number) != "options" else ()
    alone = next((step for step in steps if bench.case(seed, number, step).name == outcome.name), None)
    case = f"{number}" if alone is None else f"{number}.{alone}"
    only = "".join(f" --kind {kind!r}" for kind in kinds or ())
    last = outcome.said.splitlines()[-1:] or [""]
    return f"{outcome.name}: {outcome.how}\n  {last[0][:300]}\n  python -m fuzz --seed {seed} --case {case}{only}"


def show(bench: Bench, seed: int, text: str) -> int:
    """One case in full."""
    number, _, step = text.partition(".")
    outcome = bench.case(seed, int(number), int(step) if step else None)
    print(f"{outcome.name} after {outcome.seconds:.2f} s\n{outcome.how}\n{outcome.said}")
    return outcome.name in BAD


def table(counts: dict[str, Counter[str]], seed: int) -> str:
    """Outcomes by kind, in 80 columns."""
    names = dict(zip((*GOOD, *BAD), SHORT, strict=True))

    def line(first: str, total: str | int, *others: str | int) -> str:
        cells = (f"{cell:>{len(head) + 1}}" for cell, head in zip(others, SHORT, strict=True))
        return f"{first:13}{total:>6}" + "".join(cells)

    rows = [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]
    head = line("", "cases", *names.values())
    lines = [line(kind, count.total(), *(count[name] or "" for name in names)) for kind, count in rows]
    return "\n".join(["", f"seed {seed}", head, "-" * len(head), *lines[:-1], "-" * len(head), lines[-1], "", LEGEND])


if __name__ == "__main__":
    sys.exit(main())
