"""Public recordings by name, from a server on this machine: checksums, interruptions, no network."""

import hashlib
import json
import re
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.plume.reading import fetch
from whiffclock.plume.toy import toy_plume


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with one file, ``content``, that counts what it is asked for; and a list with it, called film."""
    np.save(tmp_path / "film.npy", toy_plume(600, 30, 9).field)
    state = SimpleNamespace(content=(tmp_path / "film.npy").read_bytes(), asked=[], ranges=True, stop_after=None)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            asked = self.headers.get("Range")
            state.asked.append(asked)
            first = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and state.ranges else 0
            if first and first >= len(state.content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            rest = state.content[first:]
            self.send_response(206 if first else state.status)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.stop_after])
            self.close_connection = state.stop_after is not None

        def log_message(self, *_):
            pass

    state.status = 200
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.recording = fetch.Recording(
        "A film", "a film", "A. Author (2020)", "10.1/a.1", "CC0-1.0", "film.npy",
        f"http://127.0.0.1:{running.server_port}/film.npy", hashlib.md5(state.content).hexdigest(),
        read={"source": [0, 4]},
    )  # fmt: skip
    monkeypatch.setattr(fetch, "recordings", lambda: {"film": state.recording})
    monkeypatch.setenv("WHIFFCLOCK_CACHE", str(tmp_path / "cache"))
    state.path = state.recording.path
    yield state
    running.shutdown()
    running.server_close()
    thread.join()


def files(path):
    return sorted(one.name for one in path.iterdir())


def test_a_file_is_downloaded_once_and_the_next_command_is_named(server):
    done = whiffclock("plume", "fetch", "film")
    assert done.returncode == 0
    assert done.stdout == f"{server.path}\n"
    assert server.path.read_bytes() == server.content
    before, after = done.stderr.split("Next: ")
    assert "https://doi.org/10.1/a.1" in before
    assert "CC0-1.0" in before
    assert after == f"whiffclock plume export {server.path} film.nc --source 0,4\n"
    assert whiffclock("plume", "fetch", "film").returncode == 0
    assert server.asked == [None]
    assert files(server.path.parent) == ["film.npy"]


def test_in_python_it_is_a_plume(server, capsys):
    plume = wc.fetch_plume("film")
    assert plume.source == (0, 4)
    assert wc.fetch_plume("film", source=(1, 4)).source == (1, 4)
    assert "https://doi.org/10.1/a.1" in capsys.readouterr().err


def test_a_wrong_file_is_not_kept(server):
    server.content = server.content[:-1] + b"!"
    done = whiffclock("plume", "fetch", "film")
    assert (done.returncode, done.stdout) == (1, "")
    assert "not the file of this list" in done.stderr.splitlines()[-1]
    assert files(server.path.parent) == []


def test_a_damaged_file_in_the_cache_is_replaced(server):
    server.path.parent.mkdir(parents=True)
    server.path.write_bytes(b"damaged")
    assert whiffclock("plume", "fetch", "film").returncode == 0
    assert server.path.read_bytes() == server.content


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_download_continues_or_begins_again(server, ranges):
    server.stop_after, server.ranges = 200_000, ranges
    done = whiffclock("plume", "fetch", "film")
    assert done.returncode == 1
    assert "ended too early" in done.stderr
    assert files(server.path.parent) == ["film.npy.partial"]
    there = server.path.with_name("film.npy.partial").stat().st_size
    assert 100_000 < there <= 200_000
    server.stop_after = None
    assert whiffclock("plume", "fetch", "film").returncode == 0
    assert server.asked == [None, f"bytes={there}-"]
    assert server.path.read_bytes() == server.content
    assert files(server.path.parent) == ["film.npy"]


def test_a_download_that_was_whole_but_not_renamed_is_taken(server):
    server.path.parent.mkdir(parents=True)
    server.path.with_name("film.npy.partial").write_bytes(server.content)
    assert whiffclock("plume", "fetch", "film").returncode == 0
    assert server.path.read_bytes() == server.content


@pytest.mark.parametrize(("status", "reason"), [(None, "no connection"), (401, "answered 401"), (404, "answered 404")])
def test_without_an_answer_one_sentence_says_what_to_do_by_hand(server, status, reason):
    server.status = status
    if status is None:
        server.recording = replace(server.recording, url="http://127.0.0.1:9/film.npy")
    done = whiffclock("plume", "fetch", "film")
    assert (done.returncode, done.stdout) == (1, "")
    sentence = done.stderr.splitlines()[-1]
    for words in (reason, "download film.npy from https://doi.org/10.1/a.1", f"put it into {server.path.parent}."):
        assert words in sentence
    server.path.write_bytes(server.content)  # as the sentence says
    assert whiffclock("plume", "fetch", "film").returncode == 0


def test_there_must_be_room(server, monkeypatch):
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda path: SimpleNamespace(free=10))
    done = whiffclock("plume", "fetch", "film")
    assert done.returncode == 2
    assert "WHIFFCLOCK_CACHE" in done.stderr


def test_the_list_is_whole():
    found = fetch.recordings()
    assert [*found] == ["nose", "ground", "plif", "smoke"]
    for one in found.values():
        assert re.fullmatch("[0-9a-f]{32}", one.md5)
        assert re.fullmatch(r"10\.\d{4}/\S+", one.doi)
        assert one.url.startswith("https://") or one.url == f"doi:{one.doi}/{one.file}"
        assert one.settings.downsample > 1
    done = whiffclock("plume", "fetch")
    assert done.returncode == 0
    assert all(one.doi in done.stdout for one in found.values())
    assert max(map(len, done.stdout.splitlines())) <= 80
    listed = json.loads(whiffclock("plume", "fetch", "--json").stdout)
    assert listed["smoke"]["doi"] == "https://doi.org/10.5061/dryad.4j0zpc87z"


def test_an_unknown_name_is_refused():
    done = whiffclock("plume", "fetch", "nowhere")
    assert done.returncode == 2
    assert "nose, ground, plif, smoke" in done.stderr
