"""Faults on purpose: commands are killed at random times, and what they leave is compared with an undisturbed run.

    python benchmarks/survival.py [--kills 10] [--seed 0] [--only train,sweep,...]

Each line names a fault, what was killed how often, and whether the finished files are the same to the byte. Full and
read-only disks are small file systems in memory, which only root can mount.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SWEEP = 'threshold = ["dense", "sparse"]\ngamma = [0.99, 0.998]\nseeds = 4\nepisodes = 100_000\n'
ENGINES = ("threads", "processes", "dask")
#: Commands, of which {out} is the folder of results; those with an engine run on each.
COMMANDS = {
    "train": "train -e sparse --seeds 12 --episodes 150000 --out {out}",
    "sweep": "sweep {out}.toml --out {out}",
    "reproduce": "reproduce --only fig3 --out {out}",
    "plume simulate": "plume simulate {out}/plume.npz --snapshots 60 --spin-up 150 --fill 60 --target none --force",
    "bayes solve": "bayes solve -e sparse --backups 3000 --out {out}/bayes.npz --force",
}
ON_ENGINES = ("train", "sweep", "reproduce")


def started(command: str, out: Path, engine: str | None) -> psutil.Popen:
    out.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".toml").write_text(SWEEP)
    words = command.format(out=out).split() + (["--engine", engine, "--workers", "2"] if engine else [])
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return psutil.Popen([sys.executable, "-m", "whiffclock", *words], **pipes)


def finished(command: str, out: Path, engine: str | None = None) -> tuple[int, str]:
    process = started(command, out, engine)
    _, said = process.communicate()
    return process.returncode, said.strip().splitlines()[-1] if said.strip() else ""


def digests(folder: Path) -> dict[str, str]:
    """What a run leaves, hidden files as well."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def difference(found: dict[str, str], wanted: dict[str, str]) -> str:
    if found == wanted:
        return f"identical, {len(found)} files"
    names = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    return f"DIFFERENT: {', '.join(names[:5])}"


def kill_and_compare(name: str, engine: str | None, victim: str, kills: int, folder: Path, rng: random.Random) -> str:
    """Run a command that is killed ``kills`` times, itself or one of its workers, then to its end."""
    command, whole, out = COMMANDS[name], folder / "whole", folder / "killed"
    began = time.monotonic()
    code, said = finished(command, whole, engine)
    assert code == 0, said
    seconds, wanted, done, orphans, rounds = time.monotonic() - began, digests(whole), 0, 0, 0
    while done < kills:
        process = started(command, out / str(rounds), engine)
        try:
            process.wait(rng.uniform(0.3, seconds))
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            children = process.children(recursive=True)
            (process if victim == "main" else rng.choice(children or [process])).kill()
            done += 1
        process.communicate()
        if process.returncode == 0:  # finished, in spite of it or before it
            if problem := "" if (same := digests(out / str(rounds))) == wanted else difference(same, wanted):
                return problem
            rounds += 1
        elif victim == "main":
            orphans += len(psutil.wait_procs(children, timeout=20)[1])
            time.sleep(2)  # partial files of a writer that died may be removed then
    code, said = finished(command, out / str(rounds), engine)
    result = difference(digests(out / str(rounds)), wanted) if code == 0 else f"FAILED: {said}"
    return f"{done} kills; {result}" + (f"; {orphans} ORPHANS" if orphans else "")


def on_small_disk(kind: str, folder: Path) -> str:
    """Train into a file system that is too small or read-only, then into the same one when it is not."""
    disk, command = folder / "disk", "train -e sparse --seeds 12 --episodes 20000 --out {out}"
    disk.mkdir()
    size = "100k" if kind == "full disk" else "10m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
    try:
        whole = folder / "whole"
        finished(command, whole)
        (disk / "out").mkdir()
        if kind == "read-only disk":
            finished(command.replace("12", "3"), disk / "out")
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        words = [sys.executable, "-m", "whiffclock", *command.format(out=disk / "out").split()]
        failed = subprocess.run(words, capture_output=True, text=True, check=False)
        lines = [line for line in failed.stderr.splitlines() if line.startswith("whiffclock:")]
        hidden = [path.name for path in disk.rglob(".*") if path.is_file() and path.suffix != ".lock"]
        subprocess.run(["mount", "-o", "remount,rw,size=10m", disk], check=True)
        kept = len(list(disk.rglob("*.npz")))
        finished(command, disk / "out")
        end = difference(digests(disk / "out"), digests(whole))
        said = lines[-1].replace(str(folder), "") if lines else "NOTHING SAID"
        traceback = "; TRACEBACK" * ("Traceback" in failed.stderr)
        return f"exit {failed.returncode}, {said!r}, {kept} kept, {len(hidden)} partial; then {end}{traceback}"
    finally:
        subprocess.run(["umount", disk], check=True)


def two_at_once(engine: str, folder: Path) -> str:
    """Two sweeps of the same file on one store."""
    whole = folder / "whole"
    finished(COMMANDS["sweep"], whole)
    command = COMMANDS["sweep"] + f" --store {folder / 'shared'}"
    both = [started(command, folder / name, engine) for name in ("one", "two")]
    codes = [process.wait() for process in both]
    same = difference(digests(folder / "shared"), digests(whole / "runs"))
    datasets = {(folder / name / "sweep.nc").read_bytes() for name in ("one", "two", "whole")}
    return f"exit {codes}; store {same}; {len(datasets)} different dataset"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    rng, only = random.Random(given.seed), [word for word in given.only.split(",") if word]

    def report(name: str, fault: str, run) -> None:
        if not only or name in only:
            with tempfile.TemporaryDirectory() as folder:
                began = time.monotonic()
                print(f"{name:15} {fault:28} {run(Path(folder))} ({time.monotonic() - began:.0f} s)", flush=True)

    for name in COMMANDS:
        for engine in ENGINES if name in ON_ENGINES else (None,):
            for victim in ("main", "worker") if engine in ("processes", "dask") else ("main",):
                fault = f"kill -9 {victim}" + (f", {engine}" if engine else "")
                report(name, fault, lambda f, a=(name, engine, victim): kill_and_compare(*a, given.kills, f, rng))
    for engine in ENGINES:
        report("two at once", f"one store, {engine}", lambda folder, engine=engine: two_at_once(engine, folder))
    for kind in ("full disk", "read-only disk") if os.geteuid() == 0 else ():
        report(kind, "train", lambda folder, kind=kind: on_small_disk(kind, folder))


if __name__ == "__main__":
    main()
