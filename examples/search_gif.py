"""Write the moving picture of the README: ``python examples/search_gif.py`` writes docs/search.gif (20 seconds).

The agent is a clock program that comes with the package. The search is in the second half of the built-in plume, which
the program was not made from, and has a loss of the plume and a recovery in it.
"""

from pathlib import Path

import whiffclock as wc

START = (102, 14, 2245)  # x, y, snapshot
TITLE = "Search in a synthetic plume (turbulence simulated by whiffclock). Grey: odor; black dots: whiffs"

if __name__ == "__main__":
    plume = wc.builtin_plume()
    found = wc.search(wc.shipped("clock-sparse"), plume, START, "sparse")
    print(wc.animate_search(found, plume, Path(__file__).parents[1] / "docs" / "search.gif", title=TITLE), found)
