"""The face of a package: the names that code outside of it uses, each loaded when it is first asked for.

    # orienteer/index/__init__.py
    __getattr__, __dir__, __all__ = face(__name__, {"bm25": "ScoredRows", "fusion": "vote as vote_lists, VoteCount"})

    from orienteer.index import ScoredRows, vote_lists  # loads orienteer.index.bm25 and orienteer.index.searchers

A name that says too little outside of its module is given as `name as public_name`. A public name must differ from the
names of the package's modules: an imported module would take its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def face(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package (PEP 562).

    `homes` has the names of each module, as an import would list them; the module is given relative to the package.
    """
    origins: dict[str, tuple[str, str]] = {}
    for module, names in homes.items():
        for entry in names.split(", "):
            name, _, public = entry.partition(" as ")
            origins[public or name] = (f"{package}.{module}", name)
    public_names = sorted(origins)

    def get(name: str) -> Any:  # Any: each name has its own type
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inner = origins[name]
        value = getattr(import_module(module), inner)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: public_names, public_names
