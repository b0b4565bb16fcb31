"""Settings of a recording, given once in a small TOML file.

``my.toml`` names its recording (``file``), and is read in its place. ``film.mp4.toml`` lies beside ``film.mp4``, and is
read with it. Keys are those of :class:`ReadSettings`, and ``thresholds`` for environments, where numbers may be without
names. Files are named relative to the TOML file.
"""

import json
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, get_args, get_type_hints

from whiffclock.disk import naming, read_toml, write_whole
from whiffclock.environments import numbered
from whiffclock.params import InputError, checked, require
from whiffclock.plume.reading.layouts import ReadSettings

_NAMES = "environments", "whiff_probability"  # of which a recording has one
_DEFAULTS = ReadSettings()


def with_settings_files(
    path: Path, settings: ReadSettings, given: Collection[str] | None = None
) -> tuple[Path, ReadSettings, str]:
    """The recording, the settings to read it with, and words for its origin about the files that gave some.

    ``settings`` win where they are ``given``: by default those that are not at their defaults.
    """
    known: dict[str, Any] = {}
    used = []
    if path.suffix == ".toml" and not path.is_dir():
        known, own = _read(path), path
        require("file" in known, f'{path} does not name its recording; add a line such as file = "film.mp4".')
        path = known.pop("file")
        require(path.suffix != ".toml", f"{own}: file is {path.name}; it must be a recording, not another TOML file.")
        require(os.path.exists(path), f"{own}: there is no file at {path}.")
        used = [own]
    beside = Path(f"{path}.toml")
    if os.path.exists(beside):  # which a name that is too long does not
        more = _read(beside)
        there = more.pop("file", path)
        require(there.exists() and there.samefile(path), f"{beside}: file is {there}; it lies beside {path.name}.")
        known, used = _joined(more, known), [beside, *used]
    if not used:
        return path, settings, ""
    chosen = given if given is not None else [n for n in names() if getattr(settings, n) != getattr(_DEFAULTS, n)]
    with naming(used[-1]):
        merged = replace(_DEFAULTS, **_joined(known, {name: getattr(settings, name) for name in chosen}))
    return path, merged, ", with " + " and ".join(file.name for file in used)


def recording_of(path: Path) -> Path:
    """The recording that a settings file names; any other path as it is."""
    return with_settings_files(path, _DEFAULTS)[0] if path.suffix == ".toml" else path


def names() -> tuple[str, ...]:
    """The names of all settings."""
    return tuple(ReadSettings.__dataclass_fields__)


def _joined(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    """All settings, of which those in ``high`` win: environments over whiff probabilities, too."""
    return {
        name: v for name, v in low.items() if not (name in _NAMES and any(other in high for other in _NAMES))
    } | high


def _read(path: Path) -> dict[str, Any]:
    """The settings in a file, each checked, and its recording as ``file``."""
    values = read_toml(path)
    known = {*names(), "file", "thresholds"}
    for key in values:
        if key not in known:
            from difflib import get_close_matches

            meant = "".join(f"; did you mean {near}?" for near in get_close_matches(key, known, 1)) or "."
            raise InputError(f"{path} has an unknown key {key[:40]!r}{meant}")
    with naming(path):
        if "thresholds" in values:
            require("environments" not in values, f"{path} has both thresholds and environments; give one of them.")
            given = values.pop("thresholds")
            is_list = isinstance(given, list)
            values["environments"] = numbered(checked("thresholds", given, tuple[float, ...])) if is_list else given
        for name in ("file", "mask"):
            if name in values:
                values[name] = path.parent / checked(name, values[name], str)
        settings = ReadSettings(**{name: value for name, value in values.items() if name != "file"})
    return {name: values[name] if name == "file" else getattr(settings, name) for name in values}


def write_settings(path: Path, file: Path | None, settings: ReadSettings) -> None:
    """Write what differs from the defaults to ``path``; without ``file``, for the recording that it lies beside."""
    lines = ["# How whiffclock reads this recording."]
    if file is not None:
        lines += ["", "# The recording, relative to this file.", f"file = {_text(os.path.relpath(file, path.parent))}"]
    hints = get_type_hints(ReadSettings, include_extras=True)
    about = {"first": "The first snapshot that is kept.", "end": "The first snapshot that is left out again."}
    for name in names():
        value = getattr(settings, name)
        if value == getattr(_DEFAULTS, name):
            continue
        if name == "mask":
            value = os.path.relpath(value, path.parent)
        lines += ["", f"# {about.get(name) or get_args(hints[name])[1]}"]
        lines += [f"{'thresholds' if name == 'environments' else name} = {_written(value)}"]
    text = "\n".join(lines) + "\n"
    with naming(path):
        require(text.isascii() or text.encode("utf-8", "replace").decode() == text, "a file name in it is not UTF-8")

    def write(out: BinaryIO) -> None:
        out.write(text.encode())

    write_whole(path, write)


def _written(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_written(one)}" for name, one in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
