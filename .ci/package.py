"""Build the package and try it, as ``make package`` does.

sdist and wheel are built twice, and the wheels must be the same bytes; twine checks both; the sdist must have all files
of the repository. The wheel is then installed into an empty environment, where the small demo runs without a home
folder and without the permission to write beside the package.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "package"
#: The largest wheel, in bytes.
LARGEST = 8e6


def main() -> None:
    """Build, compare, check, install, run."""
    shutil.rmtree(BUILD, ignore_errors=True)
    wheels = [built(BUILD / name) for name in ("dist", "again")]
    digests = {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
    assert len(digests) == 1, "the wheel has other bytes the second time"
    dist = sorted((BUILD / "dist").iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *dist)
    assert wheels[0].stat().st_size < LARGEST, f"{wheels[0]} has {wheels[0].stat().st_size:,} bytes"
    require_complete(next(path for path in dist if path.suffix == ".gz"))
    print(f"{wheels[0].name}: {wheels[0].stat().st_size / 1e6:.1f} MB, sha256 {digests.pop()}")
    demo(wheels[0])


def built(folder: Path) -> Path:
    """The sdist, and from it the wheel, which is returned; files in it have the date of the release."""
    released = re.search(r"^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert released
    epoch = int(datetime.fromisoformat(released[1]).replace(tzinfo=UTC).timestamp())
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, SOURCE_DATE_EPOCH=str(epoch))
    return next(folder.glob("*.whl"))


def require_complete(sdist: Path) -> None:
    """Compare an sdist with the files of the repository, if this is one."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        with tarfile.open(sdist) as file:
            there = {name.partition("/")[2] for name in file.getnames()}
        missing = [name for name in listed.splitlines() if name not in there and (ROOT / name).exists()]
        assert not missing, f"{sdist.name} has no {', '.join(missing)}"


def demo(wheel: Path) -> None:
    """The small demo from an installed wheel; it may write into its output folder only."""
    place, work, constraints = BUILD / "env", BUILD / "work", ROOT / "constraints.txt"
    run(sys.executable, "-m", "venv", place)
    before = size(place)
    binaries = place / ("Scripts" if os.name == "nt" else "bin")
    run(binaries / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", constraints, wheel)
    compiled = sum(path.stat().st_size for path in place.rglob("*.pyc"))
    print(f"installed: {(size(place) - before) / 1e6:.0f} MB; bytecode, with that of pip: {compiled / 1e6:.0f} MB")
    work.mkdir()
    (work / "file").touch()
    folders = [path for path in (place, *place.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        run(binaries / "whiffclock", "demo", "--small", cwd=work, HOME=str(work / "file" / "home"), PYTHONPATH="")
        assert (work / "demo" / "report.html").exists()
    finally:
        for folder in folders:
            folder.chmod(0o755)


def size(folder: Path) -> int:
    """Bytes in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def run(*words: str | Path, cwd: Path = ROOT, **more: str) -> None:
    """Run a command; it must not fail."""
    subprocess.run([*map(str, words)], cwd=cwd, check=True, env=os.environ | more)


if __name__ == "__main__":
    main()
