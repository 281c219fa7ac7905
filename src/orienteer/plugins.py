"""What installed packages register by entry points, from methods to data sets. Read when a name asks for it.

A package names what it has in its `pyproject.toml`, as docs/guides/extending.md shows. Nothing of a package is imported
until somebody uses one of its names. A name of Orienteer's own is refused, and so is one that two packages register.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from orienteer.errors import BadOption

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OWN = "orienteer."
"""How the modules of Orienteer's annexes, `lab` and `connect`, begin: they register what they add to the core."""

Group: TypeAlias = Literal[
    "methods",
    "retrievers",
    "importers",
    "layouts",
    "readers",
    "question_readers",
    "tools",
    "measures",
    "datasets",
    "commands",
    "databases",
    "stores",
    "executors",
]


def registered(group: Group, taken: Collection[str] = ()) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name; `taken` are the names of Orienteer's own.

    Raises `BadOption`, which names the package, for a name that is taken or registered twice.
    """
    points = _points(group)
    by_name: dict[str, EntryPoint] = {}
    for point in points:
        if point.name in taken:
            raise BadOption(
                f"{_registration(point, group)}, which is Orienteer's own name: uninstall it, or have it renamed"
            )
        if point.name in by_name:
            other = _package(by_name[point.name])
            raise BadOption(f"{_registration(point, group)}, as the package {other!r} does: uninstall one of the two")
        by_name[point.name] = point
    return by_name


def load(group: Group, name: str, taken: Collection[str] = ()) -> Any:  # Any: what the group's caller checks
    """Return what a package registers under a name, or None.

    Raises `BadOption`, which names the package, if it cannot be loaded.
    """
    point = registered(group, taken).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except Exception as error:  # somebody's code may fail in any way, and is named
        raise BadOption(
            f"{_registration(point, group)}, and {point.value} cannot be loaded ({type(error).__name__}: {error}): "
            "upgrade or uninstall that package"
        ) from error


def require(group: Group, name: str) -> Any:  # Any: as `load` returns it
    """Return what is registered under a name, by a package or by an annex. Raises `BadOption` if nothing is."""
    value = load(group, name)
    if value is None:
        raise BadOption(
            f"nothing is registered as {name!r} among orienteer.{group}: this installation lacks its entry points; "
            "install Orienteer again"
        )
    return value


def own(group: Group) -> list[str]:
    """Return the names that Orienteer's own annexes register, sorted: installers list them in any order."""
    return sorted(point.name for point in _points(group) if point.value.startswith(_OWN))


def refused(group: Group, name: str, why: str) -> BadOption:
    """Return the error for a registration that cannot be used; `why` says what is wrong with it."""
    return BadOption(fault(group, name, why))


def fault(group: Group, name: str, what: str) -> str:
    """Return what is wrong with a registered thing, in a sentence that names its package; `what` says what it did."""
    return f"{_registration(registered(group)[name], group)}, and {what}: upgrade or uninstall that package"


@cache
def _points(group: Group) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, once each, also where a package lies twice on the path."""
    from importlib.metadata import entry_points  # here: most commands ask for none

    points = {(point.name, point.value): point for point in entry_points(group=f"orienteer.{group}")}
    return tuple(points.values())


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"


def _registration(point: EntryPoint, group: Group) -> str:
    """Return how an error begins that is about an entry point: `the package 'pets' registers the method 'shout'`."""
    return f"the package {_package(point)!r} registers the {group.removesuffix('s').replace('_', ' ')} {point.name!r}"
