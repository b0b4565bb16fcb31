"""A headless Chromium for tests of the page of searches, and JavaScript without one."""

import json
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER, NODE = shutil.which("chromedriver"), shutil.which("node")
#: Flags of a browser that is alone, without a display, and silent.
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium: install chromium and chromium-driver to test the page in it"
)


@contextmanager
def open_browser(width=1280, height=720, downloads=None):
    """A browser with an empty profile; files that pages offer go to ``downloads``."""
    from selenium import webdriver

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        many = {"profile.default_content_setting_values.automatic_downloads": 1}
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads or profile), **many})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        try:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            yield driver
        finally:
            driver.quit()


def until(driver, condition, seconds=30):
    """Wait until a JavaScript expression is true."""
    end = time.monotonic() + seconds
    while not driver.execute_script(f"return Boolean({condition})"):
        assert time.monotonic() < end, (condition, driver.get_log("browser"))
        time.sleep(0.05)


def script(*names):
    """Some of the scripts of the page, joined."""
    folder = resources.files("whiffclock.viewer") / "templates"
    return "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in names)


def javascript(code, given, folder: Path):
    """The value of the function ``answer(given)`` that ``code`` defines, in Chromium or in Node; skips without both."""
    if CHROMIUM and DRIVER:
        with open_browser() as driver:
            driver.set_script_timeout(120)
            text = driver.execute_script(code + "\nreturn JSON.stringify(answer(arguments[0]));", given)
        return json.loads(text)
    if NODE is None:
        pytest.skip("neither Chromium with its driver nor Node is installed, so no JavaScript can run")
    (folder / "given.json").write_text(json.dumps(given))
    ask = 'require("fs").readFileSync("given.json", "utf8")'
    (folder / "run.js").write_text(f"{code}\nprocess.stdout.write(JSON.stringify(answer(JSON.parse({ask}))));")
    done = subprocess.run([NODE, "run.js"], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def fresh(browser, page, address=""):
    """Open the page anew, without playing."""
    browser.get("about:blank")
    browser.get(page.as_uri() + address)
    until(browser, "typeof view !== 'undefined' && view.opened")
    browser.execute_script("play(false)")
    return browser


def run(browser, code):
    return browser.execute_script(code)


def click(browser, name):
    run(browser, f"document.getElementById('{name}').click()")
