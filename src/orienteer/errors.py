"""Every error that Orienteer raises on purpose.

Error                    catch this at a boundary; anything else is a bug
├── UsageError           the request was wrong: exit code 2
│   ├── BadInput         a source file cannot be read as a graph
│   │   ├── DuplicateNode
│   │   ├── UnclearTables
│   │   └── UnreadableFile
│   ├── BadOption        an option, a setting or a model's argument has a wrong name or value
│   │   └── TooManyEdges a database in place would have to send more edges than one request may
│   ├── BadQuery         a Cypher statement is not allowed, or not understood
│   ├── DatabaseRefused  a database server does not let this user in, or lacks the database
│   ├── MissingExtra     an optional dependency is not installed
│   ├── NotAGraph        the path is not a graph directory, or cannot be opened
│   ├── UnsafeSandbox    this machine cannot confine a model's code as requested
│   └── Unknown          the graph does not have this name; lists the nearest ones
│       ├── UnknownNode
│       ├── AmbiguousNode
│       ├── UnknownType
│       └── UnknownProperty
├── QueryStopped         a Cypher statement took too long, or too much: exit code 1
├── DatabaseAway         a database server does not answer, or failed: exit code 1
├── GraphBusy            another process is publishing into the same directory: exit code 1
├── StoreFailed          the store at an address does not answer, or refuses: exit code 1
│   └── ObjectMissing    it has no such object
├── ToolFailed           a tool of an installed package has a bug: exit code 1, or a failed step of an agent
├── ModelError           the language model failed for good: exit code 1
│   ├── ModelLate        it did not answer within its caller's time limit
│   ├── ModelRefused     the server refused the request (bad key, unknown model, bad request)
│   └── ReplayMiss       a recorded model got a request that was never recorded
├── BudgetExhausted      calls, tokens, seconds or money ran out
└── Refused              a server refuses a request: its HTTP status gives the reason
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class Error(Exception):
    """Base of all errors that are caught at a boundary."""

    trajectories: tuple[object, ...] = ()
    """The trajectories of the model calls that led to the error, if no result has them."""

    def __init__(self, message: str = "", *, paths: Iterable[Path] = (), value: object = None) -> None:
        super().__init__(message)
        self.paths = tuple(paths)
        """The paths of this machine in the message."""
        self.value = value
        """The wrong name or value, if there is one, for programs that read errors."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle an error for another process, whatever arguments its class takes."""
        return _unpickled, (type(self), self.args, self.__dict__)

    def add(self, sentence: str) -> None:
        """Add a sentence to the message."""
        self.args = (f"{self} ({sentence})", *self.args[1:])

    @property
    def public(self) -> str:
        """The message for readers elsewhere: each path is only its last name."""
        return without_paths(str(self), self.paths)


class UsageError(Error):
    """The request was wrong; the message says what to change. Exit code 2."""


class BadInput(UsageError):
    """A source file cannot be read as a graph."""


class DuplicateNode(BadInput):
    """Two different nodes have one id."""

    def __init__(self, message: str = "", *, place: int = 0) -> None:
        super().__init__(message)
        self.place = place
        """The place of the second among the nodes that were added with it, from 0."""


class UnclearTables(BadInput):
    """Tables can be read, but are not clearly a graph: a person must name those of nodes and of edges."""


class UnreadableFile(BadInput):
    """A file among several cannot be read; the others can be read without it."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message, paths=(path,))
        self.path = path
        """The file."""


class BadOption(UsageError):
    """An option, a setting or an argument has a wrong name or value; the message says what it must be."""

    near: tuple[str, ...] = ()
    """The nearest names that are accepted, if there are any."""


class TooManyEdges(BadOption):
    """A database in place would have to send more edges than one request may; the message says how to ask."""


class BadQuery(UsageError):
    """A Cypher statement is not allowed or not understood; the message says which form to use."""


class DatabaseRefused(UsageError):
    """A database server does not let this user in, or lacks the database."""


class MissingExtra(UsageError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra {extra!r}: {install_command(extra)}")
        self.extra = extra


def install_command(extra: str) -> str:
    """Return the command that adds an extra, for the program that installed this environment."""
    package = f"'orienteer[{extra}]'"
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx install --force {package}"
    if find_spec("pip") is None:  # in environments of uv: pip would install elsewhere
        return f"uv pip install {package}, or uvx --from {package} orienteer"
    return f"pip install {package}"


class NotAGraph(UsageError):
    """The path is not a graph directory, or cannot be opened."""


class UnsafeSandbox(UsageError):
    """This machine cannot confine a model's code as requested; the message names the remedy."""


class Hint(NamedTuple):
    """The second part of an error's message."""

    near: Sequence[str]
    """The names that were perhaps meant, nearest first."""
    sentence: str = ""


class Unknown(UsageError):
    """The graph does not have this name; `near` has the nearest ones."""

    def __init__(
        self,
        message: str,
        near: Sequence[str] = (),
        *,
        value: object = None,
        hint: Callable[[], Hint] | None = None,
    ) -> None:
        """`hint` searches for near names when the error is first read: most callers drop it unread."""
        super().__init__(message, value=value)
        self._near, self._hint = tuple(near), hint

    @property
    def near(self) -> tuple[str, ...]:
        """The nearest names, nearest first."""
        self.complete()
        return self._near

    def complete(self) -> None:
        """Search for near names, once. The message says if that failed."""
        search, self._hint = self._hint, None
        if search is None:
            return
        try:
            hint = search()
        except Error as error:
            hint = Hint((), str(error))
            self.paths += error.paths
        self._near = tuple(hint.near)
        self.args = (" ".join(filter(None, (self.args[0], hint.sentence))), *self.args[1:])

    def __str__(self) -> str:
        """Return the message with the near names."""
        self.complete()
        return super().__str__()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle an error for another process, which has no graph to search for names."""
        self.complete()
        return super().__reduce__()


class UnknownNode(Unknown):
    """No node has this id, name or alias."""


class AmbiguousNode(Unknown):
    """Several nodes have this name; `near` has their ids."""


class UnknownType(Unknown):
    """The graph has no such node type or edge type."""


class UnknownProperty(Unknown):
    """No node of the graph has this property."""


class QueryStopped(Error):
    """A Cypher statement took more time, memory or output than it may, or broke the engine."""


class DatabaseAway(Error):
    """A database server does not answer, or failed."""


class GraphBusy(Error):
    """Another process is publishing into the same directory."""


class StoreFailed(Error):
    """The store at an address does not answer, or refuses; the message says which and why."""


class ObjectMissing(StoreFailed):
    """The store at an address has no such object."""


class ToolFailed(Error):
    """A tool of an installed package has a bug; the message names the tool, the package and what happened."""


class ModelError(Error):
    """The language model failed for good, after retries."""

    sent: tuple[tuple[str, ...], ...] = ()
    """The parameters that each failed request lacked, as in `Reply.refused`."""
    wanted_tokens: bool = False
    """Whether the requests asked for token ids."""
    streamed: bool = False
    """Whether the requests asked for a stream of words."""


class ModelLate(ModelError):
    """The model did not answer within its caller's time limit."""


class ModelRefused(ModelError):
    """The server refused the request: a bad key, an unknown model, a malformed request, a text that is too long."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status if it is about this request, as 400 and 413 are, or None."""


class ReplayMiss(ModelError):
    """A recorded model got a request that was never recorded."""


class BudgetExhausted(Error):
    """Calls, tokens, seconds or money ran out; `limit` names which."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Refused(Error):
    """A server refuses a request; `status` is its HTTP status."""

    def __init__(
        self, status: int, message: str, *, value: object = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, value=value)
        self.status = status
        self.headers = dict(headers or {})
        """Headers of the reply, such as when to retry."""


def _unpickled(kind: type[Error], args: tuple[object, ...], fields: Mapping[str, object]) -> Error:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


def without_paths(text: str, paths: Iterable[Path]) -> str:
    """Return a text in which each of these paths, and each folder above them, is only its last name.

    >>> without_paths("/home/ada/beers has no vectors", [Path("/home/ada/beers")])
    'beers has no vectors'
    """
    named = {above for path in paths for above in (path, *(path.parents if path.is_absolute() else ()))}
    for path in sorted(named, key=lambda path: (-len(str(path)), path)):
        # The paths "." and "/" have no name.
        if path.name:
            text = text.replace(str(path), path.name)
    return text


def nearest(word: str, names: Iterable[str], *, most: int = 5) -> list[str]:
    """Return the names most like a word, in any case, best first; those that contain it come last."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    word = word.casefold()
    containing = [name for key, name in folded.items() if word and word in key][:most]
    close = [folded[key] for key in get_close_matches(word, folded, n=most, cutoff=0.6)]
    return list(dict.fromkeys([*close, *containing]))[:most]
