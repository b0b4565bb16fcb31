"""HDF5 files of any origin: what is refused before a library reads them.

HDF5 reads other files where a file says so: through links, raw storage and virtual arrays. A missing source of a virtual
array is read as zeros, a pipe waits forever.
"""

from pathlib import Path
from typing import Any

from whiffclock.archive import reading, require_file
from whiffclock.params import require

#: Groups in groups.
_DEEPEST = 100


def require_hdf5(path: Path, what: str, virtual: bool = True) -> list[Path]:
    """Refuse what is not a readable HDF5 file; the other files, beside it, that its virtual arrays consist of."""
    import h5py

    sources: list[Path] = []

    def check_link(name: bytes | str, link: Any) -> None:
        require(len(name.split("/")) <= _DEEPEST, f"it has groups in groups, more than {_DEEPEST} levels")
        linked = isinstance(link, h5py.ExternalLink)
        require(not linked, f"{name} is a link to the file {getattr(link, 'filename', '')}")

    def check(name: str, item: Any) -> None:
        _require_dimensions(name, item)
        if isinstance(item, h5py.Dataset):
            require(not item.external, f"the values of {name} are in other files, without a format")
            if item.is_virtual:
                require(virtual, f"{name} is virtual")
                sources.extend(_sources(path, name, item, what))

    with reading(path, what), h5py.File(path, "r") as opened:
        dict(opened.attrs)
        opened.visititems_links(check_link)
        opened.visititems(check)
    return sorted(set(sources))


def _require_dimensions(name: str, item: Any) -> None:
    """Refuse an array with more or fewer names of dimensions than dimensions, with which HDF5 overwrites memory."""
    if "DIMENSION_LIST" in item.attrs:
        named = item.attrs.get_id("DIMENSION_LIST").shape
        require(named == (len(getattr(item, "shape", None) or ()),), f"the dimensions of {name} are damaged")


def _sources(path: Path, name: str, array: Any, what: str) -> list[Path]:
    """The files of which a virtual array consists; each must be beside ``path``, and have the values that are taken."""
    import h5py

    files: dict[str, Path] = {}
    for part in array.virtual_sources():
        file = part.file_name
        beside = file == Path(file).name and "%" not in file
        require(beside, f"{name} takes values from {file}; they must be in a file beside it")
        if file not in files:
            files[file] = path if file == "." else path.parent / file
            require_file(files[file], f"file with a part of {name} of {path.name}")
            if file != ".":
                require_hdf5(files[file], what, virtual=False)
        with h5py.File(files[file], "r") as opened:
            found = opened.get(part.dset_name)
            there = isinstance(found, h5py.Dataset) and not found.is_virtual
            last = part.src_space.get_select_bounds()[1]
            fits = there and len(last) == len(found.shape) and all(a < b for a, b in zip(last, found.shape, strict=True))
        require(fits, f"{name} takes values from {part.dset_name} in {files[file]}, which does not have them")
    return [file for file in files.values() if file != path]
