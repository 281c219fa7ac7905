"""What a process that opens nothing else may still have to read: the standard library, and the system's libraries.

Each file and folder is named by itself. A right to read a folder holds for all that lies beneath it, and beside the
standard library lies what else is installed. It imports one file of the package: workers load it as a file of its own.
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
"""The folder of the modules that are compiled."""
_BYTECODE = "__pycache__"
_BUNDLED = "ensurepip"  # holds packages that are not the standard library's
_BUILT = "_sysconfigdata"  # and the name of a system: how this Python was built

FILE, FOLDER = confinement.READ_FILE, confinement.READ_FILE | confinement.READ_FOLDER


def of_python() -> Iterator[tuple[Path, int]]:
    """Yield what importing modules of the standard library takes, and the shared libraries that they load.

    The folder that it is imported from cannot be listed any more: the names in it are looked up before.
    """
    PathFinder.find_spec("a module that is not there")  # every finder reads the names in its folder, and keeps them
    names = sys.stdlib_module_names - {_BUNDLED}
    library = Path(os.__file__).parent
    yield library / _BYTECODE, FILE
    for one in library.iterdir():
        name = one.name.partition(".")[0]
        if name in names or name.startswith(_BUILT):
            yield one, FOLDER if one.is_dir() else FILE
    for place in map(Path, sys.path):
        if place.name == COMPILED:
            yield place, FOLDER
        elif place.suffix == ".zip" and place.parent == library.parent:
            yield place, FILE
    yield from of_system()


def of_system() -> Iterator[tuple[Path, int]]:
    """Yield the shared libraries of the system, and of Python where they lie beside it."""
    triplet = getattr(sys.implementation, "_multiarch", "")
    folders = {Path(one).resolve() for one in (*_SHARED_LIBRARIES, sys.base_exec_prefix + "/lib")}
    for folder in folders:
        if triplet and (folder / triplet).is_dir():
            yield folder / triplet, FILE
        for one in folder.glob("*.so*") if _is_folder(folder) else ():
            yield one, FILE
    yield Path(_NAMES_OF_LIBRARIES), FILE


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except PermissionError:  # it is for who started this process, and that is another user now
        return False


def of_package(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the folder of a package, and the one beside it that holds its shared libraries."""
    for one in (folder, folder.with_name(f"{folder.name}.libs")):
        if _is_folder(one):
            yield one, FOLDER
