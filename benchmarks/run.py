"""Run the benchmarks one after the other, keep what they measured, and renew the pages that quote it.

    python benchmarks/run.py [--only training,plume] [FILE ...]

Each is a process of its own; the files are further problems for ``pomdp.py``. Measurements of benchmarks that were not
run stay in docs/benchmarks.json as they are, with their own date and machine. Use it on an idle machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from page import MEASURED, renew

BENCHMARKS = ("training", "search", "gym", "plume", "pomdp", "engines", "scaling", "full")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="further .pomdp and .pomdpx files")
    parser.add_argument("--only", type=lambda text: text.split(","), default=BENCHMARKS, help=", ".join(BENCHMARKS))
    given = parser.parse_args()
    if unknown := sorted(set(given.only) - set(BENCHMARKS)):
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    further = {"pomdp": given.files, "engines": ["--out", str(MEASURED.with_name("cluster.png"))]}
    failed = []
    for name in given.only:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder, "measured.json")
            script = Path(__file__).with_name(f"{name}.py")
            command = [sys.executable, str(script), *further.get(name, []), "--json", str(found)]
            if subprocess.run(command, check=False).returncode:
                failed.append(name)
                continue
            kept = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
            kept[name] = json.loads(found.read_text())
            MEASURED.write_text(json.dumps({name: kept[name] for name in BENCHMARKS if name in kept}, indent=1) + "\n")
    if failed:
        print(f"failed: {', '.join(failed)}; pages are not renewed")
        return 1
    renew()
    return 0


if __name__ == "__main__":
    sys.exit(main())
