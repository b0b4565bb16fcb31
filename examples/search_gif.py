"""Keep a search of the page of searches as a GIF: ``python examples/search_gif.py`` writes docs/search.gif.

It opens the page in a headless Chromium, at an address as "Copy link" gives it, and takes the page's own export. The
agent is a clock program that comes with the package. The search is in the second half of the built-in plume, which the
program was not made from, and has a loss of the plume and a recovery in it.
"""

import argparse
import base64
import shutil
import tempfile
from pathlib import Path

import whiffclock as wc

ADDRESS = "#agent=searched clock, sparse&odor=sparse&start=102,14,2245"  # x, y, snapshot
EXPORT = """
const done = arguments[0], reader = new FileReader();
reader.onload = () => done(reader.result.split(",")[1]);
const ready = () => typeof view !== "undefined" && view.opened;
const wait = setInterval(() => {
  if (!ready()) return;
  clearInterval(wait);
  gif().then((film) => reader.readAsDataURL(film));
}, 50);
"""


def export(page: Path, address: str) -> bytes:
    """The GIF of the search that a page shows at an address."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    driver = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=driver) as browser:
        browser.set_script_timeout(600)
        browser.get(page.as_uri() + address)
        return base64.b64decode(browser.execute_async_script(EXPORT))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--address", default=ADDRESS, help="the end of a link to a moment, from # on")
    words.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "search.gif")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wc.view(path=(page := Path(folder).resolve() / "page.html"))
        film = export(page, given.address)
    print(f"{given.out}: {given.out.write_bytes(film) / 1e6:.2f} MB")
