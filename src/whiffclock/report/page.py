"""The report: one page, its figures, and the claims, all from saved results."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from whiffclock.archive import write_whole
from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result


def write_report(results: Mapping[str, Result], profile: Profile, plume: Mapping[str, Any], out: Path) -> Path:
    """Write ``report.html``, ``figures/`` and ``claims.json`` into ``out``; return the page's path.

    Parameters
    ----------
    results
        By figure; a figure that was not asked for is not there.
    profile
        The numbers behind the results.
    plume
        What the results are about: origin, fingerprint, shape, source.
    """
    (out / "figures").mkdir(parents=True, exist_ok=True)
    _write(out / "claims.json", json.dumps([], indent=2) + "\n")
    page = out / "report.html"
    _write(page, _page(results, profile, plume))
    return page


def _page(results: Mapping[str, Result], profile: Profile, plume: Mapping[str, Any]) -> str:
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Clock-state olfactory search</title></head><body>',
        "<h1>Clock-state olfactory search</h1>",
        f"<p>Profile {html.escape(profile.name)}; plume: {html.escape(str(plume['origin']))}.</p>",
        *(_section(result) for result in results.values()),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _section(result: Result) -> str:
    items = [
        f"<li>{html.escape(name)}: {' x '.join(map(str, values.shape)) or 'number'}</li>"
        for name, values in sorted(result.arrays.items())
    ]
    return f"<h2>{html.escape(result.figure)}</h2>\n<ul>\n" + "\n".join(items) + "\n</ul>"


def _write(path: Path, text: str) -> None:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_whole(path, write)
