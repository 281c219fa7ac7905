"""The arguments that several commands share, and how a folder or a file becomes a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orienteer.errors import BadInput, Error
from orienteer.serve.cli.output import DISK, Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.llm.budget import Budget
    from orienteer.settings import Settings

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="A graph, or its sources: a folder of documents or tables, a table.")
]
NodeName = Annotated[str, typer.Argument(metavar="NODE", help="A node's id, else its exact name or an alias.")]
Types = Annotated[list[str] | None, typer.Option("--type", "-t", metavar="T", help="Keep this node type. Repeatable.")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="FIELD=VALUE", help="Keep nodes whose property fits: = != < <= > >=. Repeatable."),
]
K = Annotated[int, typer.Option("-k", metavar="N", min=0, help="Hits at the most.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFlags:
    """The flags that name a model."""

    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model as its server spells it.")] = None
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")] = None

    def settings(self, **changes: Any) -> Settings:  # Any: what a setting holds
        """Return what the environment and the settings file say, these flags first. Raises `BadOption`."""
        return settings().with_flags(model=self.model, base_url=self.base_url, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFlags:
    """The flags that limit what a question may take."""

    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Model calls a question at the most.")] = None
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens a question at the most.")] = None
    budget_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds a question at the most.")] = None
    budget_usd: Annotated[float | None, typer.Option(metavar="X", help="US dollars a question at the most.")] = None

    def limits(self, configured: Settings) -> Budget:
        """Return the budget of a question, flags before settings. Raises `BadOption`."""
        return configured.limits(
            calls=self.budget_calls, tokens=self.budget_tokens, seconds=self.budget_seconds, usd=self.budget_usd
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalBudgetFlags:
    """The flags that limit what a command may take in all."""

    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Model calls in all, at the most.")] = None
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens in all, at the most.")] = None
    budget_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds in all, at the most.")] = None
    budget_usd: Annotated[float | None, typer.Option(metavar="X", help="US dollars in all, at the most.")] = None

    def limits(self) -> Budget:
        """Return the budget; no setting has a part in it, for those are of a question. Raises `BadOption`."""
        from orienteer.llm import Budget

        return Budget(
            calls=self.budget_calls, tokens=self.budget_tokens, seconds=self.budget_seconds, usd=self.budget_usd
        )


def open_graph(path: Path, out: Output) -> Graph:
    """Open a graph directory, or make one of its sources in the cache first."""
    from orienteer.graph.store import Graph

    directory = graph_of(path, out)
    with file_trouble("check the path and its permissions"):
        graph = Graph.open(directory, embedder=lambda name: settings().open_embedder(name))
    out.opened.append(graph)
    return graph


def graph_of(path: Path, out: Output) -> Path:
    """Return a graph directory as it is, or the one in the cache that is made of these sources."""
    from orienteer.graph.format import is_graph

    if is_graph(path):
        return path
    from orienteer.ingest.sources import graph_directory

    cache = settings().cache
    with file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
        return graph_directory(path, cache=cache, progress=out.progress)


@contextmanager
def file_trouble(advice: str) -> Iterator[None]:
    """Tell what the system says of a file as an error of the request: no permission, no such folder.

    A disk that is full, or fails, is none of the request's.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        kind = Error if error.errno in DISK else BadInput
        raise kind(f"{error.filename or 'a file'}: {error.strerror or error}; {advice}") from error


def settings() -> Settings:
    """Return what the environment and the settings file say."""
    from orienteer.settings import read_settings

    return read_settings()
