"""The page of searches on small and large screens: fingers, keys, large labels, dark and light, without motion."""

import time

import numpy as np
import pytest
from browser import click, fresh, needs_browser, open_browser, run, until

import whiffclock as wc


@pytest.fixture(scope="module")
def page(plume, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    rng = np.random.default_rng(1)
    two = wc.TablePolicy("two-Q", memory := wc.clock(60, (8,)), rng.choice(4, memory.rows, p=[0.6, 0.15, 0.15, 0.1]))
    wc.view({"wide casts": wc.cast_and_surge(50), "modes": two}, plume, path)
    return path


@pytest.fixture(scope="module")
def browser():
    with open_browser() as driver:
        yield driver


def touch(browser, x, y, hold=0.0):
    """Put a finger on a place of the window, and take it away."""
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    time.sleep(hold)
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def middle(browser, selector, place="[box.x + box.width / 2, box.y + box.height / 2]"):
    """A place of the window, in the box of an element."""
    find = f"const one = document.querySelector('{selector}'); one.scrollIntoView({{ block: 'nearest' }});"
    return run(browser, f"{find} const box = one.getBoundingClientRect(); return {place}")


@needs_browser
@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_fingers_start_searches_and_steer(page, width, height):
    with open_browser(width, height) as browser:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
        fresh(browser, page)
        assert run(browser, "return document.documentElement.scrollWidth <= innerWidth")
        run(browser, "begin([34, 13, 40]); seek(2)")
        until(browser, "!view.dirty")
        touch(browser, *middle(browser, "#arena", "[box.x + view.arena.plane.x(20), box.y + view.arena.plane.y(9)]"))
        until(browser, "String(view.start) === '20,9,42'")
        touch(browser, *middle(browser, "#tab-play"))
        run(browser, "view.game.begin({ start: [34, 13, 3], place: view.about.environments[0] })")
        run(browser, "view.patience = Infinity")  # a finger that rests does not move again, however slow the machine
        moves = "return view.game.trail.map((one) => one.action)"
        for action in (0, 1, 2, 3):
            touch(browser, *middle(browser, f'.pad [data-move="{action}"]'))
        assert run(browser, moves) == [0, 1, 2, 3, -1]
        touch(browser, *middle(browser, "#arena", "[box.x + 8, box.y + box.height / 2]"))
        assert run(browser, moves) == [0, 1, 2, 3, 0, -1]
        run(browser, "view.patience = 0")
        touch(browser, *middle(browser, '.pad [data-move="1"]'), hold=0.5)
        held = run(browser, moves)[5:-1]
        assert len(held) > 2
        assert {*held} == {1}
        run(browser, "view.game.end(false)")
        touch(browser, *middle(browser, "#arena"))
        until(browser, "view.game.running")
        assert run(browser, "return view.game.results.length") == 1


@needs_browser
def test_all_that_can_be_done_can_be_done_by_keys(browser, page):
    from selenium.webdriver.common.keys import Keys

    fresh(browser, page)
    click(browser, "lecture")
    click(browser, "lecture")
    body = browser.find_element("tag name", "body")
    seen, visible = [], []
    for _ in range(30):
        body.send_keys(Keys.TAB)
        now = "const one = document.activeElement; return"
        seen.append(run(browser, f"{now} one.id || one.textContent"))
        visible.append(run(browser, f"{now} one === document.body || getComputedStyle(one).outlineStyle !== 'none'"))
    wanted = [
        "lecture", "theme", "agent", "environment", "level", "arena", "back", "play", "on", "speed", "timeline", "cut",
        "elsewhere", "failure",
    ]  # fmt: skip
    assert {*wanted, "Share", "tab-watch", "Keys", "The search in words"} <= {*seen}
    assert all(visible)
    pictures = "return [...document.querySelectorAll('canvas')].every((one) => one.getAttribute('aria-label'))"
    assert run(browser, pictures)


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_what_is_watched_fits_a_projector(browser, page, dark):
    kind = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", kind)
    try:
        fresh(browser, page)
        assert run(browser, "return document.documentElement.classList.contains('dark')") is dark
        run(browser, "begin([34, 13, 5]); seek(view.search.moments.findIndex((m) => m.clock > 20))")
        for _ in ("small labels", "large labels"):
            until(browser, "!view.dirty")
            parts = "[...document.querySelectorAll('#dial, #program, #phases, .deck')]"
            assert run(browser, f"return Math.max(...{parts}.map((one) => one.getBoundingClientRect().bottom))") <= 720
            click(browser, "lecture")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@needs_browser
def test_the_phase_of_recovery_is_named(browser, page):
    fresh(browser, page)
    run(browser, "setAgent(0); begin([34, 13, 5], 3)")
    phases = run(browser, "return phasesOf(view.search.moments)")
    for move in (0, len(phases) // 2, len(phases) - 1):
        run(browser, f"seek({move})")
        until(browser, "!view.dirty")
        lit = run(browser, "return [...document.getElementById('phases').children].map((one) => one.className)")
        assert lit == ["now" if i == phases[move] else "" for i in range(3)]


@needs_browser
def test_large_labels_and_a_narrow_screen(page):
    with open_browser(820, 1180) as browser:
        fresh(browser, page)
        click(browser, "lecture")
        assert run(browser, "return theme.label") == 24  # pixels: 18 pt
        small = run(
            browser,
            """
          return [...document.querySelectorAll('main *')].filter((one) => one.textContent.trim() && one.offsetParent
            && parseFloat(getComputedStyle(one).fontSize) < 24).map((one) => one.outerHTML.slice(0, 60))""",
        )
        assert small == []
        wide = run(browser, "return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0


@needs_browser
def test_where_motion_is_reduced_nothing_plays_by_itself_or_glides(browser, page):
    reduced = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", reduced)
    try:
        browser.get("about:blank")
        browser.get(page.as_uri())
        until(browser, "typeof view !== 'undefined' && view.opened")
        assert run(browser, "return [view.playing, view.time]") == [False, 0]
        assert run(browser, "seek(3.5); return view.arena.between(view.search.moments, 3.5).x") == run(
            browser, "return view.search.moments[3].x"
        )
        steps = run(browser, "return view.search.moments.filter((m) => m.whiff).length")
        assert run(browser, "return document.querySelectorAll('#log li').length") == steps + 2
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
