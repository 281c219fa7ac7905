"""The files that a confined process must still be able to read: the standard library and the system's libraries.

Each file and folder is listed separately: the right to read a folder covers everything in it, and other installed
packages are next to the standard library. This file imports one file of the package, so that workers can load it by
itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from orienteer.sandbox import confinement
else:
    import confinement

_SHARED_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_NAMES_OF_LIBRARIES = "/etc/ld.so.cache"
COMPILED = "lib-dynload"
"""The folder of the compiled modules."""
_BYTECODE = "__pycache__"
_BUNDLED = "ensurepip"  # holds packages that are not of the standard library
_BUILT = "_sysconfigdata"  # the module that says how this Python was built; its name continues with the system's

FILE, FOLDER = confinement.READ_FILE, confinement.READ_FILE | confinement.READ_FOLDER


def of_python() -> Iterator[tuple[Path, int]]:
    """Yield the files of the standard library, and the shared libraries that its modules load.

    A confined process can no longer list the library's folder; so the finders read its names now.
    """
    # Every finder reads and caches the names in its folder.
    PathFinder.find_spec("a module that is not there")
    names = sys.stdlib_module_names - {_BUNDLED}
    library = Path(os.__file__).parent
    yield library / _BYTECODE, FILE
    for path in library.iterdir():
        name = path.name.partition(".")[0]
        if name in names or name.startswith(_BUILT):
            yield path, FOLDER if path.is_dir() else FILE
    for place in map(Path, sys.path):
        if place.name == COMPILED:
            yield place, FOLDER
        elif place.suffix == ".zip" and place.parent == library.parent:
            yield place, FILE
    yield from of_system()


def of_system() -> Iterator[tuple[Path, int]]:
    """Yield the shared libraries of the system, and those in Python's own folder."""
    triplet = getattr(sys.implementation, "_multiarch", "")
    folders = {Path(path).resolve() for path in (*_SHARED_LIBRARIES, sys.base_exec_prefix + "/lib")}
    for folder in folders:
        if triplet and (folder / triplet).is_dir():
            yield folder / triplet, FILE
        for library in folder.glob("*.so*") if _is_folder(folder) else ():
            yield library, FILE
    yield Path(_NAMES_OF_LIBRARIES), FILE


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except PermissionError:
        # Only the user who started this process may read it, and that is another user now.
        return False


def of_package(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the folder of a package, and that of its shared libraries."""
    for path in (folder, folder.with_name(f"{folder.name}.libs")):
        if _is_folder(path):
            yield path, FOLDER
