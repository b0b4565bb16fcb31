"""``python -m whiffclock.paper.readings docs/paper.md DIR/readings.nc``: write measured effects into the table."""

import sys
from pathlib import Path

from whiffclock.netcdf import read_dataset
from whiffclock.paper.readings.table import with_effects

if __name__ == "__main__":
    page, result = map(Path, sys.argv[1:])
    data = read_dataset(result, "a result of whiffclock readings")
    page.write_text(with_effects(page.read_text(encoding="utf-8"), data), encoding="utf-8")
