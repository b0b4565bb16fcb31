"""Progress in log files, terminals and notebooks, and what the help offers."""

import io
import subprocess
import sys
import types
from pathlib import Path

import pytest
from rich.console import Console

from whiffclock import __version__
from whiffclock.cli.options import PlumeSettings, ReadSettings, hint
from whiffclock.params import WorldSettings
from whiffclock.progress import Bar


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_log_file_gets_a_line_at_stages_and_every_30_seconds():
    file, clock = io.StringIO(), Clock()
    with Bar("episodes", Console(file=file), clock) as bar:
        bar.begin("training", 1000, 100)
        assert file.getvalue() == ""
        bar.enter("choosing tau")
        for clock.now in (1.0, 29.0, 30.0, 31.0, 59.0):
            bar.advance(100)
        bar.enter("report")
    assert file.getvalue().splitlines() == [
        "choosing tau: 10 %",
        "choosing tau: 40 %, 10 episodes/s, 0:01:00 left",
        "report: 60 %",
    ]


def test_a_stage_after_all_counted_work_has_no_percent():
    file, clock = io.StringIO(), Clock()
    with Bar("searches", Console(file=file), clock) as bar:
        bar.begin("reproducing", 1000)
        bar.advance(1000)
        bar.enter("writing the report")
        clock.now = 40.0
        bar.reach(0)
        assert bar._bar.tasks[0].total is None
    assert file.getvalue().splitlines() == ["writing the report", "writing the report"]


@pytest.mark.parametrize("total", [1e30, 2**63, float("inf")])
def test_a_time_left_that_no_calendar_holds(total):
    clock = Clock()
    bar = Bar("episodes", Console(file=io.StringIO()), clock)
    bar.begin("training", total)
    clock.now = 1.0
    bar.advance(1)
    assert bar._rate() == "1 episodes/s, more than a century left"


def test_a_detail_replaces_rate_and_time_left():
    file, clock = io.StringIO(), Clock()
    with Bar("", Console(file=file), clock) as bar:
        bar.begin("solving", 60)
        clock.now = 30.0
        bar.reach(30, "0.1 to 0.2")
    assert file.getvalue() == "solving: 50 %, 0.1 to 0.2\n"


def test_a_terminal_of_80_columns_shows_all_of_a_bar():
    file, clock = io.StringIO(), Clock()
    console = Console(file=file, width=80, force_terminal=True, color_system=None, legacy_windows=False)
    with Bar("episodes", console, clock) as bar:
        bar.begin("policies/a-long-name-of-a-policy-seed00 in sparser", 3_000_000)
        clock.now = 10.0
        bar.advance(1_234_567)
        bar._bar.refresh()
    shown = [line for line in file.getvalue().replace("\r", "\n").splitlines() if "41%" in line][-1]
    assert "123,457 episodes/s, 0:00:14 left" in shown
    assert "policies/" in shown


def test_a_line_of_ones_own_stays():
    file = io.StringIO()
    with Bar("episodes", Console(file=file, width=20)) as bar:
        bar.note("Dashboard: http://127.0.0.1:8787/status")
    assert file.getvalue() == "Dashboard: http://127.0.0.1:8787/status\n"


def test_a_notebook_shows_one_line_with_a_bar_that_is_replaced(monkeypatch, capsys):
    shown = []

    class Handle:
        def display(self, data, raw):
            shown.append(("new", data))

        def update(self, data, raw):
            shown.append(("in place", data))

    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    display = types.ModuleType("IPython.display")
    display.DisplayHandle = Handle
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    clock = Clock()
    with Bar("episodes", Console(force_jupyter=True), clock) as bar:
        bar.begin("training <a>", 1000)
        for clock.now in (0.1, 0.2, 0.3, 10.0):
            bar.advance(100)
        bar.note("a line")
    lines = ["training <a>: 0 %", "training <a>: 20 %, 1,000 episodes/s, 0:00:01 left"]
    lines += ["training <a>: 40 %, 40 episodes/s, 0:00:15 left", ""]
    assert [data["text/plain"] for _, data in shown] == lines
    assert [how for how, _ in shown] == ["new", *["in place"] * 3]
    assert '<progress max="1" value="0.4000">' in shown[2][1]["text/html"]
    assert "training &lt;a&gt;" in shown[2][1]["text/html"]
    assert capsys.readouterr() == ("a line\n", "")


def test_hints_name_all_options_that_are_needed(capsys, monkeypatch):
    monkeypatch.setattr("whiffclock.cli.options.messages", Console(stderr=True, width=20))
    hint("compare", "policies", plume=PlumeSettings(), world=WorldSettings())
    plume = PlumeSettings("a.nc", ReadSettings(source=(0, 5)), part="train")
    own = WorldSettings(radius=3.0, start_threshold=None, start_on_whiff=True)
    hint("compare", "policies", plume=plume, world=own)
    hint("compare", Path("my policies"), plume=PlumeSettings("$(reboot).nc"), world=WorldSettings())
    assert capsys.readouterr().err.splitlines() == [
        "Next: whiffclock compare policies",
        "Next: whiffclock compare policies --plume a.nc --part test --source 0,5"
        " --radius 3 --start-threshold own --start-on-whiff",
        "Next: whiffclock compare 'my policies' --plume '$(reboot).nc'",
    ]


def test_the_package_runs_as_a_module():
    for words in (["--version"], ["-h"]):
        done = subprocess.run([sys.executable, "-m", "whiffclock", *words], capture_output=True, text=True, check=True)
        assert f"whiffclock {__version__}" in done.stdout or "Commands:" in done.stdout
