"""Public recordings by name: where they are, under which licence, and a download that is checked.

They are listed in ``plume/public.toml``. A file goes into pooch's cache folder of whiffclock, or the folder in the
environment variable ``WHIFFCLOCK_CACHE``. A download that was interrupted continues where it stopped if the server can
do that, and else begins again. A file is in the cache under its name only once its MD5 is right.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from whiffclock.disk import first_line, require_writable
from whiffclock.params import InputError, convert, needing, require
from whiffclock.plume.reading.layouts import ReadSettings

#: Seconds to wait for a server, and bytes of one read.
_PATIENCE, _CHUNK = 30, 2**16


@dataclass(frozen=True)
class Recording:
    """A public recording: what it is, where its file is, and how to read it."""

    title: str
    about: str  # in a few words
    authors: str
    doi: str
    licence: str
    file: str
    url: str
    md5: str
    gigabytes: float | None = None
    read: dict[str, Any] = field(default_factory=dict)  # settings of ReadSettings

    @property
    def path(self) -> Path:
        """Its place in the cache."""
        return cache_folder() / self.doi.replace("/", "_") / self.file

    @property
    def settings(self) -> ReadSettings:
        """How to read it."""
        return ReadSettings(**self.read)

    def to_dict(self) -> dict[str, Any]:
        """What a user should know before a download."""
        size = None if self.gigabytes is None else f"about {self.gigabytes:g} GB"
        facts = {"recording": self.title, "authors": self.authors, "doi": f"https://doi.org/{self.doi}"}
        return facts | {"licence": self.licence, "size": size, "file": str(self.path), "checked_against": self.checksum}

    @property
    def checksum(self) -> str:
        """In the form that pooch takes."""
        return f"md5:{self.md5}"


@cache
def recordings() -> dict[str, Recording]:
    """All of them by name."""
    import tomllib

    text = resources.files("whiffclock").joinpath("plume/public.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), dict[str, Recording], "public.toml cannot be read")


def recording(name: str) -> Recording:
    """The recording with a name."""
    known = recordings()
    require(name in known, f"There is no recording called {name!r}; there are {', '.join(known)}.")
    return known[name]


def cache_folder() -> Path:
    """Where downloads are kept."""
    with needing("fetch", "Public recordings are downloaded by pooch"):
        import pooch

    return Path(os.environ.get("WHIFFCLOCK_CACHE") or pooch.os_cache("whiffclock")).expanduser()


def fetch(name: str, begin: Callable[[float, float], None], advance: Callable[[float], None]) -> Path:
    """The file of a recording, which is downloaded if it is not in the cache.

    ``begin`` is called with the size of the download and what is already there, ``advance`` with what has arrived since
    its last call, all in megabytes.
    """
    import pooch
    import requests

    found = recording(name)
    place, where = found.path, f"https://doi.org/{found.doi}"
    require_writable(place.parent)
    by_hand = f"download {found.file} from {where} in a browser, and put it into {place.parent}"
    download = _Download(place.with_name(f"{place.name}.partial"), begin, advance)
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(found.url, found.checksum, place.name, place.parent, downloader=download)
    except requests.exceptions.RequestException as error:
        again = f"The same command tries again; or {by_hand}"
        raise InputError(f"{name} cannot be downloaded ({_reason(error)}). {again}.") from ConnectionError(str(error))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        wrong = "what arrived is not the file of this list" if "hash" in str(error) else first_line(error)
        again = f"The same command begins again; or {by_hand}"
        raise InputError(f"{name} cannot be downloaded ({wrong}). {again}.") from ConnectionError(str(error))
    return place


def _reason(error: Exception) -> str:
    """Why a request failed, in a few words."""
    import requests

    if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.Timeout):
        return "the server does not answer"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection ended too early"
    offline = isinstance(error, requests.exceptions.ConnectionError)
    return "there is no connection to the server" if offline else first_line(error)


class _Download:
    """What pooch calls to download: it continues what an earlier one left in ``partial``."""

    def __init__(self, partial: Path, begin: Callable[[float, float], None], advance: Callable[[float], None]) -> None:
        self.partial, self.begin, self.advance = partial, begin, advance

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download ``url``, then move the whole file to ``output_file``."""
        import requests

        if url.startswith("doi:"):
            url = _file_url(url)
        there = self.partial.stat().st_size if self.partial.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
        with requests.get(url, headers=headers, stream=True, timeout=_PATIENCE) as answer:
            if answer.status_code != 416:  # else nothing is left to send
                answer.raise_for_status()
                self._receive(answer, there if answer.status_code == 206 else 0)
        shutil.move(self.partial, output_file)

    def _receive(self, answer: Any, there: int) -> None:
        """Append the answer of a server to the first ``there`` bytes of the file."""
        size = int(answer.headers.get("Content-Length", 0))
        self.begin((there + size) / 1e6, there / 1e6)
        self._require_room(size)
        with self.partial.open("ab" if there else "wb") as file:
            for part in answer.iter_content(_CHUNK):
                file.write(part)
                self.advance(len(part) / 1e6)

    def _require_room(self, size: int) -> None:
        free = shutil.disk_usage(self.partial.parent).free
        missing = (
            f"{self.partial.parent} has {free / 1e9:.1f} GB of free space, and the download needs {size / 1e9:.1f}"
        )
        require(size <= free, f"{missing}; WHIFFCLOCK_CACHE can name another folder.")


def _file_url(url: str) -> str:
    """Where the file is that a DOI with a name stands for."""
    from pooch.downloaders import doi_to_repository

    doi, _, name = url.removeprefix("doi:").rpartition("/")
    try:
        return doi_to_repository(doi, timeout=_PATIENCE).download_url(name)
    except (KeyError, TypeError) as error:
        raise ValueError("the answer of the repository has another form than expected") from error
