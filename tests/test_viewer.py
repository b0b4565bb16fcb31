"""The page of searches: what it holds, what it refuses, and what it does in a browser."""

import re
import runpy
import time
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from browser import click, fresh, needs_browser, open_browser, run, until
from command import whiffclock
from PIL import Image

import whiffclock as wc
from whiffclock.drawing.style import COLOURS
from whiffclock.params import InputError
from whiffclock.plume.toy import toy_plume
from whiffclock.viewer.page import _part, shown_policies

ROOT = Path(__file__).parents[1]
EVIL = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 2'>"


@pytest.fixture(scope="module")
def page(plume, tmp_path_factory):
    """A page with three agents, one of them with a name that would be a program."""
    rng = np.random.default_rng(1)
    two = wc.TablePolicy("two-Q", memory := wc.clock(60, (8,)), rng.choice(4, memory.rows, p=[0.6, 0.15, 0.15, 0.1]))
    plain = wc.Plume.from_array(plume.field, plume.source, f"a plume called {EVIL}", wc.PAPER)
    path = tmp_path_factory.mktemp("page") / "page.html"
    wc.view({"wide casts": wc.cast_and_surge(50), EVIL: two}, plain, path)
    return path


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    with open_browser(downloads=folder) as driver:
        driver.folder = folder
        yield driver


def wait_for_file(folder, form):
    """A file that the page offers, once it is whole."""
    end = time.monotonic() + 60
    while not (found := [one for one in folder.glob(f"*.{form}") if one.stat().st_size]):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found[0]


def test_names_are_escaped_and_nothing_comes_from_elsewhere(page):
    text = page.read_text()
    assert EVIL not in text
    assert "&lt;/script&gt;&lt;script&gt;" in text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_colours_of_environments_are_those_of_the_figures():
    style = _part("page.css")
    assert {name: re.search(rf"--{name}: (#\w+)", style)[1].upper() for name in COLOURS} == COLOURS


@needs_browser
def test_it_opens_without_an_error_and_a_name_stays_a_name(browser, page):
    fresh(browser, page)
    assert run(browser, "return [window.evil, document.images.length, document.scripts.length]") == [None, 0, 1]
    labels = run(browser, "return [...document.getElementById('agent').options].map((one) => one.textContent)")
    assert labels == ["wide casts", EVIL, "cast-and-surge, 30°"]
    assert run(browser, "return performance.getEntriesByType('resource').length") == 0
    blocked = "return fetch('data:text/plain,x').then(() => 'loaded', () => 'refused')"
    assert run(browser, blocked) == "refused"
    assert all(one["level"] != "SEVERE" or "Content Security" in one["message"] for one in browser.get_log("browser"))
    colours = "return new Set(document.getElementById('arena').getContext('2d').getImageData(0, 0, 900, 200).data).size"
    assert run(browser, colours) > 20


@needs_browser
def test_keys_play_step_and_cut(browser, page):
    from selenium.webdriver.common.keys import Keys

    body = fresh(browser, page).find_element("tag name", "body")
    run(browser, "begin([34, 13, 5])")
    body.send_keys(Keys.HOME, ".", ".", ".", ",")
    assert run(browser, "return view.time") == 2
    body.send_keys(" ")
    until(browser, "view.time > 4")
    assert run(browser, "return document.getElementById('play').getAttribute('aria-label')") == "Pause"
    body.send_keys(" ")
    until(browser, "!view.playing")
    stopped = run(browser, "return view.time")
    time.sleep(0.2)
    assert run(browser, "return view.time") == stopped
    run(browser, "view.speed = 60")
    body.send_keys("c")
    assert run(browser, "return view.search.moments.slice(view.cut + 1).some((m) => m.whiff)") is False
    until(browser, "view.time >= shownMoves()")
    cells = run(browser, "return [...document.querySelectorAll('#metrics td')].map((one) => one.textContent)")
    assert [one.split("cells")[0][:5] for one in cells] == ["surge", "cast ", "upwin", "downw", "retur"]
    body.send_keys("c")
    assert run(browser, "return view.cut === Infinity")


@needs_browser
def test_a_click_starts_there_at_the_moment_that_is_shown(browser, page):
    from selenium.webdriver import ActionChains

    fresh(browser, page)
    run(browser, "begin([30, 13, 40]); seek(7)")
    until(browser, "!view.dirty")
    shown = run(browser, "return view.search.moments[7].t")
    middle = run(
        browser,
        """
      const at = view.arena.plane, arena = document.getElementById('arena');
      return [Math.round(at.x(20) - arena.clientWidth / 2), Math.round(at.y(9) - arena.clientHeight / 2)]""",
    )
    arena = browser.find_element("id", "arena")
    ActionChains(browser).move_to_element_with_offset(arena, *middle).click().perform()
    assert run(browser, "return view.start") == [20, 9, shown]
    run(browser, "play(false)")
    arena.send_keys("\ue013", "\ue012", "\ue007")  # up, left, enter
    assert run(browser, "return view.start.slice(0, 2)") == [19, 10]


@needs_browser
def test_the_race_and_the_maps(browser, page):
    fresh(browser, page)
    click(browser, "tab-race")
    assert run(browser, "return view.races.length") == 3
    run(browser, "seek(shownMoves())")
    until(browser, "!view.dirty && document.querySelectorAll('.racer').length === 3")
    told = run(browser, "return [...document.querySelectorAll('.racer .big')].map((one) => one.textContent)")
    assert all(re.fullmatch(r"(1st|2nd|3rd): \d+ moves|not found", one) for one in told)
    click(browser, "tab-map")
    until(browser, "view.maps.shown.length === 3 && view.maps.shown.every((one) => one.map)")
    facts = run(
        browser,
        """
      const one = view.maps.shown[1], cells = view.place.starts.length / 2;
      let found = 0;
      const { starts } = view.place, agent = view.agents[one.agent];
      for (let i = 0; i < cells; i++) for (const t of startTimes(view.world))
        found += search(view.world, view.level, agent, [starts[2 * i], starts[2 * i + 1], t]).arrived;
      return [found / (16 * cells), one.map.share]""",
    )
    assert facts[0] == pytest.approx(facts[1])
    run(
        browser,
        "const one = view.maps.shown[0]; one.cursor = view.place.starts.slice(0, 2); view.maps.play(one)",
    )
    assert run(browser, "return [view.name, view.start[0] === view.place.starts[0]]") == ["watch", True]


@needs_browser
def test_every_failure_that_is_shown_is_one(browser, page):
    fresh(browser, page)
    run(browser, "setAgent(1)")
    starts = []
    for _ in range(5):
        click(browser, "failure")
        assert run(browser, "return view.search.arrived") is False
        starts.append(tuple(run(browser, "return view.start")))
    assert len(set(starts)) == 5


@needs_browser
def test_a_game_is_scored_as_the_agent_is(browser, page):
    fresh(browser, page)
    click(browser, "tab-play")
    given = "{ start: [6, 13, 3], place: view.about.environments[0] }"
    run(browser, f"view.game.begin({given})")
    body = browser.find_element("tag name", "body")
    body.send_keys("\ue013", "\ue015", *["\ue012"] * 4)  # up, down, and four times left
    assert run(browser, "return [view.game.state, view.game.trail.length - 1, view.game.arrived]") == [
        "revealed",
        6,
        True,
    ]
    gamma = 0.998
    assert run(browser, "return view.game.results[0].mine") == pytest.approx(2 * gamma**5 - 1)
    theirs = run(browser, "return arrival(view.world, view.game.place.level, view.game.opponent, [6, 13, 3])")
    assert run(browser, "return view.game.results[0].itsMoves") == theirs
    for _ in range(9):
        run(browser, f"view.game.begin({given}); view.game.end(false)")
    assert "Ten rounds" in run(browser, "return document.getElementById('play-say').textContent")
    assert run(browser, "return document.querySelectorAll('#rounds li b').length") == 10


@needs_browser
def test_a_link_opens_the_same_moment(browser, page):
    fresh(browser, page)
    run(browser, "setAgent(1); setEnvironment(1); begin([25, 11, 60]); seek(9); cut(); play(false); seek(12)")
    state = "return [view.name, view.agent, view.environment, view.level, view.start, view.cut, view.time]"
    address, before = run(browser, "return address()"), run(browser, state)
    fresh(browser, page, address)
    assert run(browser, state) == before
    fresh(browser, page, "#agent=nobody&odor=none&start=9,9&move=-3&view=elsewhere&level=1e9&cut=x")
    assert run(browser, "return [view.name, view.time]") == ["watch", 0]


@needs_browser
def test_a_search_is_exported_as_gif_webm_and_svg(browser, page):
    fresh(browser, page)
    run(browser, "setAgent(2); begin([12, 13, 5], Infinity); seek(6); view.speed = 60")
    moves = run(browser, "return view.search.moves")
    for form in ("svg", "gif", "webm"):
        click(browser, f"save-{form}")
    picture = ET.parse(wait_for_file(browser.folder, "svg")).getroot()
    assert picture.find("{http://www.w3.org/2000/svg}title").text.startswith("cast-and-surge, 30° in the")
    with Image.open(wait_for_file(browser.folder, "gif")) as film:
        assert film.size == (1000, 482)
        assert film.n_frames == moves + 1
        for number in range(film.n_frames):
            film.seek(number)
            assert len(film.convert("RGB").getcolors(10**6)) > 10
    video = wait_for_file(browser.folder, "webm").read_bytes()
    assert video[:4] == b"\x1a\x45\xdf\xa3"
    assert len(video) > 5000


@needs_browser
def test_the_moving_picture_of_the_readme_is_made_by_the_page(page, plume):
    maker = runpy.run_path(str(ROOT / "examples" / "search_gif.py"))
    found = wc.search(wc.cast_and_surge(50), plume, (12, 13, 5), "denser")
    with Image.open(BytesIO(maker["export"](page, "#agent=wide casts&odor=denser&start=12,13,5"))) as film:
        assert film.n_frames == found.moves + 1
        size = film.size
    with Image.open(kept := ROOT / "docs" / "search.gif") as film:
        assert film.size == size
        assert kept.stat().st_size < 2e6


@needs_browser
def test_a_notebook_shows_the_same_page(browser, plume, tmp_path):
    (tmp_path / "notebook.html").write_text(f"<!doctype html>{wc.view(plume=plume)._repr_html_()}")
    browser.get((tmp_path / "notebook.html").as_uri())
    browser.switch_to.frame(0)
    until(browser, "typeof view !== 'undefined' && view.opened")
    run(browser, "play(false); cut(); document.getElementById('link').click()")
    until(browser, "document.getElementById('status').textContent.includes('link')")
    browser.switch_to.default_content()


def test_the_built_in_plume_comes_with_agents_of_every_kind():
    plume = wc.builtin_plume()
    named, first = shown_policies(plume, [])
    names = [policy.name for _, policy in named]
    assert {*names} >= {"searched clock", "two-Q", "single-Q", "cast-and-surge"}
    assert named[first][1].threshold == wc.PAPER["sparse"]
    single = next(policy for _, policy in named if (policy.name, policy.threshold) == ("single-Q", wc.PAPER["dense"]))
    assert single.made_from["learning"]["episodes"] == 1_000_000
    assert wc.evaluate(single, plume, snapshots=1).mean("f+") > 0.9


@needs_browser
def test_recorded_searches_are_those_of_the_agent(browser, plume, tmp_path):
    agent = wc.qmdp(plume, "sparse")
    wc.view([agent], plume, tmp_path / "bayes.html", record=2)
    fresh(browser, tmp_path / "bayes.html")
    for number in range(2):
        run(browser, f"setAgent({number})")
        found = run(browser, "return view.search.moments.map((m) => [m.x, m.y, m.t, m.whiff])")
        mine = wc.search(agent, plume, found[0][:3], horizon=250)
        assert [one[:2] for one in found] == mine.position.tolist()
        assert [one[2:] for one in found] == np.column_stack([mine.snapshot, mine.whiff]).tolist()
        assert run(browser, "return view.search.arrived") == mine.arrived
        believed = "view.agents[view.agent].belief"
        size = 40 * 27
        assert run(browser, f"return {believed}.length") == size * len(found)
        highest = f"Math.max(...{believed}.subarray({size}, {2 * size}))"
        assert run(browser, f"return {highest}") == 15
    assert run(browser, "return document.getElementById('cut').disabled")
    click(browser, "tab-race")
    assert run(browser, "return view.races.every((one) => String(one.start) === String(view.start))")
    assert run(browser, "return [...document.getElementById('opponent').options].length") == 1


def test_pages_are_small(tmp_path):
    done = whiffclock("view", "--small", "--no-open", "--out", tmp_path / "small.html")
    assert done.returncode == 0
    assert (tmp_path / "small.html").stat().st_size < 2e6
    assert wc.view()._repr_html_().startswith("<iframe")
    assert len(wc.view().html) < 8e6


def refused(words, folder):
    """What a command says that writes nothing."""
    before = sorted(folder.rglob("*"))
    done = whiffclock("view", "--no-open", *words, cwd=folder)
    assert done.returncode == 2
    assert sorted(folder.rglob("*")) == before
    return done.stderr


def test_what_cannot_be_shown_is_refused_in_one_sentence(tmp_path):
    plume = toy_plume(snapshots=60, length=30, width=11)
    wc.train(plume, "dense", episodes=500).save(tmp_path / "other.npz")
    wc.train(wc.builtin_plume(), "dense", episodes=500, world={"radius": 3}).save(tmp_path / "wide.npz")
    wc.qmdp(wc.builtin_plume(), "dense").save(tmp_path / "bayes.npz")
    assert "was made on another plume" in refused(["other.npz"], tmp_path)
    assert "source radius of 3, but the world has 2" in refused(["wide.npz"], tmp_path)
    assert "no search of it is recorded" in refused(["bayes.npz", "--record", "0"], tmp_path)
    assert "other.npz is not a folder" in refused(["--out", "other.npz/page.html"], tmp_path)
    assert "must be" in refused(["--frames", "0"], tmp_path)


def test_a_plume_that_is_too_large_says_what_would_fit():
    large = wc.Plume.from_array(np.ones((40_000, 40, 20), dtype=np.float32), (0, 10), environments={"one": 0.5})
    fitting = "40000 snapshots of 40 x 20 cells are too much for a page; take 37500 of them with --frames 37500"
    with pytest.raises(InputError, match=fitting):
        wc.view(plume=large)
    assert "Page" in repr(wc.view(plume=large, frames=200))
