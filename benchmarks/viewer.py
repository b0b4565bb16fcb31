"""The page of searches in a headless Chromium: ``python benchmarks/viewer.py [--minutes 10]`` (one minute, and those).

It prints the time until the first picture, the cost of a frame and frames per second in a race of four, the time of
a map of all start cells, and the memory of the tab while it plays. Without a graphics card the processor draws: frames
per second say what this machine does at its present load, processor time what the page costs.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import mean, median

from selenium import webdriver

import whiffclock as wc

FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
SCREEN = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
#: What the thread of the page does.
KINDS = ("Task", "Script", "Layout", "RecalcStyle")
#: Play for some seconds: milliseconds of script of every frame that is painted, and from one such frame to the next.
PLAY = """
const [seconds, done] = arguments, script = [], gaps = [], inner = paint;
let last = 0;
paint = (now) => {
  const begun = performance.now();
  inner(now);
  script.push(performance.now() - begun);
  if (last) gaps.push(now - last);
  last = now;
};
const again = setInterval(() => { if (!view.playing) play(true); }, 20);
play(true);
setTimeout(() => { clearInterval(again); play(false); paint = inner; done([script, gaps]); }, 1000 * seconds);
"""
ENDLESS = "view.speed = 60; play(true); setInterval(() => { if (!view.playing) { elsewhere(); play(true); } }, 100);"
MAP = "return mapOf(view.world, view.place, view.level, view.agents[view.agent]).searches"


def opened(page: Path, address: str = "") -> webdriver.Chrome:
    """A browser that shows the page."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SCREEN)
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})  # processor time
    browser.set_script_timeout(120)
    browser.get(page.as_uri() + address)
    while not browser.execute_script("return typeof view !== 'undefined' && Boolean(view.opened)"):
        time.sleep(0.05)
    return browser


def tab(page: Path) -> int:
    """The process that runs the page: the largest of the renderers below this process."""
    parent, size = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent[int(place.name)] = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if "--type=renderer" in (place / "cmdline").read_text():
                size[int(place.name)] = megabytes(int(place.name))
        except OSError:  # it has ended
            continue

    def below(pid: int) -> bool:
        return pid == os.getpid() or (pid in parent and below(parent[pid]))

    return max(filter(below, size), key=lambda pid: size[pid])


def megabytes(pid: int) -> float:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss:"))


def processor(pid: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tasks(browser: webdriver.Chrome) -> dict[str, float]:
    """Seconds that the page's thread has spent, by what for."""
    return {one["name"]: one["value"] for one in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}


def frames(browser: webdriver.Chrome, seconds: float) -> str:
    """What a frame costs while the page plays."""
    pid, before, spent = tab(Path()), tasks(browser), 0.0
    spent -= processor(pid)
    script, gaps = browser.execute_async_script(PLAY, seconds)
    spent += processor(pid)
    count, after = len(script), tasks(browser)
    part = {name: 1000 * (after[f"{name}Duration"] - before[f"{name}Duration"]) / count for name in KINDS}
    return (
        f"{1000 / mean(gaps):.0f} frames per second; {median(script):.1f} ms of script in the median frame; processor "
        f"time of a frame in ms: script {part['Script']:.1f}, layout and style "
        f"{part['Layout'] + part['RecalcStyle']:.1f}, the page's thread {part['Task']:.1f}, all threads of the tab "
        f"{1000 * spent / count:.1f}"
    )


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=0, help="play so long, and tell the memory of the tab")
    words.add_argument("--page", type=Path, help="an existing page; default: that of the built-in plume")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = given.page or Path(folder) / "page.html"
        if given.page is None:
            wc.view(path=page)
        with opened(page.resolve()) as browser:
            wall, spent = browser.execute_script("return view.opened"), processor(tab(page))
            print(f"first picture: {wall:.0f} ms after opening, {1000 * spent:.0f} ms of processor time of the tab")
            browser.execute_script("play(false)")
            for _ in range(3):
                spent = -processor(pid := tab(page))
                count = browser.execute_script(MAP)
                print(f"map of {count} searches: {1000 * (spent + processor(pid)):.0f} ms of processor time")
            print("one search:", frames(browser, 8))
            browser.execute_script("show('race')")
            print("race of four:", frames(browser, 8))
            browser.execute_script("show('watch')")
            browser.execute_script(ENDLESS)
            for minute in range(round(2 * given.minutes) + 1 if given.minutes else 0):
                print(f"{minute / 2:.1f} minutes: {megabytes(tab(page)):.0f} MB", flush=True)
                time.sleep(30)


if __name__ == "__main__":
    main()
