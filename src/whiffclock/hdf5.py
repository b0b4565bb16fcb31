"""HDF5 files of any origin: what is refused before a library reads them.

HDF5 reads other files where a file says so: through links, raw storage and virtual arrays. A missing part of a virtual
array is read as zeros, and a pipe waits forever.
"""

from pathlib import Path
from typing import Any

from whiffclock.disk import reading, require_file
from whiffclock.params import require

#: Most levels of groups in groups.
DEEPEST = 100


def require_hdf5(path: Path, what: str, virtual: bool = True) -> list[Path]:
    """Refuse what is not a readable HDF5 file; the other files, beside it, that its virtual arrays consist of."""
    import h5py

    sources: set[Path] = set()

    def wrong_link(name: str, link: Any) -> str | None:  # h5py cannot pass an error on here
        if isinstance(link, h5py.ExternalLink):
            return f"{path}: {name} is a link to another file, which is not followed; copy the array into this one."
        return f"{path} has groups in groups, more than {DEEPEST} levels." if name.count("/") >= DEEPEST else None

    def check(name: str, item: Any) -> None:
        if "DIMENSION_LIST" in item.attrs:  # with more or fewer names than dimensions, HDF5 overwrites memory
            named = item.attrs.get_id("DIMENSION_LIST").shape
            require(named == (len(getattr(item, "shape", None) or ()),), f"the dimensions of {name} are damaged")
        if isinstance(item, h5py.Dataset):
            inside = not item.external
            require(inside, f"{path}: the values of {name} are in a file of no format, which is not read.")
            if item.is_virtual:
                require(virtual, f"{path}: {name} consists of other arrays, and is part of another one itself.")
                sources.update(_sources(path, name, item, what))

    with reading(path, what), h5py.File(path, "r") as opened:
        dict(opened.attrs)
        wrong = opened.visititems_links(wrong_link)
        require(wrong is None, str(wrong))
        opened.visititems(check)
    return sorted(sources)


def _sources(path: Path, name: str, array: Any, what: str) -> set[Path]:
    """The files of which a virtual array consists; each must be beside ``path``, and have the values that are taken."""
    import h5py

    files: dict[str, Path] = {}
    for part in array.virtual_sources():
        file = part.file_name
        beside = file == Path(file).name and "%" not in file
        require(beside, f"{path}: {name} takes values from {file}; only files in the same folder are read.")
        if file not in files:
            files[file] = path if file == "." else path.parent / file
            require_file(files[file], f"file with a part of {name} of {path}")
            if file != ".":
                require_hdf5(files[file], what, virtual=False)
        with h5py.File(files[file], "r") as opened:
            fits = _has(opened.get(part.dset_name), part)
        require(fits, f"{path}: {name} takes values from {part.dset_name} in {files[file]}, which does not have them.")
    return set(files.values()) - {path}


def _has(source: Any, part: Any) -> bool:
    """Whether ``source`` is an array with the values that ``part`` of a virtual array takes."""
    import h5py

    if not isinstance(source, h5py.Dataset) or source.is_virtual:
        return False
    if part.src_space.get_select_type() == h5py.h5s.SEL_ALL:
        return bool(part.vspace.get_select_npoints() == source.size)
    last = part.src_space.get_select_bounds()[1]
    return len(last) == len(source.shape) and all(a < b for a, b in zip(last, source.shape, strict=True))
