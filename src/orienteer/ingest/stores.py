"""Graphs at an address, s3://BUCKET/NAME or https://HOST/PATH: what the annex `connect` registers to read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from orienteer.graph.format import is_pulled
from orienteer.plugins import require

if TYPE_CHECKING:
    from orienteer.graph.builder import Progress

FORM = re.compile(r"(s3|https?):/+(.+)", re.IGNORECASE | re.DOTALL)
"""An address, valid or not. A command line turns the argument `s3://bucket/name` into the path `s3:/bucket/name`."""


class PulledGraph(NamedTuple):
    """The copy of a graph in the cache."""

    path: Path
    is_new: bool = False
    """Something was pulled for it just now."""


class RemoteGraph(Protocol):
    """A graph at an address, which `str` returns without any secret."""

    def copy(self, cache: Path) -> Path:
        """Return the path of the graph's copy in the cache, which need not exist."""

    def sound_copy(self, cache: Path) -> Path | None:
        """Return the intact copy, of whatever age, or None."""

    def check(self) -> None:
        """Check that there is a graph at the address. Raises as `pulled` does."""

    def pulled(self, cache: Path, tell: Progress) -> PulledGraph:
        """Return the updated copy, or the existing one if the store does not answer.

        Raises `NotAGraph` if the address has none or a damaged one, `StoreFailed` if there is no copy either,
        `BadOption`, `MissingExtra`.
        """

    def updated(self, cache: Path, tell: Progress) -> PulledGraph:
        """Return the updated copy as `pulled` does. Raises `StoreFailed` if the store does not answer."""


def may_be_address(path: str | Path) -> bool:
    """Return whether a path has the form of an address, valid or not."""
    return FORM.fullmatch(path.as_posix() if isinstance(path, Path) else path) is not None


def remote_graph(path: Path) -> RemoteGraph | None:
    """Return the graph at an address, or None for a local path; no request is sent.

    Raises `BadOption` for an address with a password, of another form, or without encryption over a network.
    """
    if not may_be_address(path):
        return None
    graph: RemoteGraph = require("stores", "graphs")(path.as_posix())
    return graph


def shown(path: Path) -> str:
    """Return a path as a person wrote it, even if a command line has turned an address into it."""
    return str(remote_graph(path) or path)


def origin_of(graph: Path) -> str | None:
    """Return the address that a graph was pulled from, or None if it was not, or has been changed since."""
    if not is_pulled(graph):
        return None
    origin: str | None = require("stores", "graphs").origin_of(graph)
    return origin
