"""`MethodCard`: what is known of a method before it is made."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from orienteer.errors import BadOption
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Method

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.methods.ark import Reranker


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodCard:
    """What is known of a method before it is made: its class, what it needs, what it may stand on."""

    name: str
    """Its one lower-case name."""
    target: str
    """Where its class is: `package.module:Class`. It is called with `graph`, and with what this card names."""
    is_knowledge_base: bool = False
    """Whether its class is a retriever, which gathers evidence, and becomes a `KnowledgeBaseMethod` that ranks it."""
    config: str | None = None
    """Where the class of its options is, which it takes as `config`; None where there is nothing to choose."""
    model: Literal["no", "optional", "required"] = "no"
    """Whether its class takes a `model`, and whether it can do without."""
    needs_vectors: bool = False
    """Whether the graph must be embedded, unless its options say otherwise."""
    slot: Literal["seeds", "base"] | None = None
    """What its class calls a method that it can start from: hits to begin with, or the base of its searches."""
    default: MethodCard | None = None
    """The method that it starts from where it is written over no other."""
    reads: bool = False
    """Whether it reads questions exactly, and takes a reading in place of a question's words."""
    runs_code: bool = False
    """Whether it runs a program that a model writes, in a sandbox: who serves strangers chooses that."""
    takes_reranker: bool = False
    """Whether its class takes a `rerank`, a function that has the last word on the order."""
    last_turns: int | str = 0
    """Calls of the model that a budget keeps back for its agents' last turns, or the option that says how many."""
    works_in_place: bool = False
    """Whether it answers from a database in place, by its agents' tools alone."""
    summary: str = ""
    paper: str | None = None
    over: MethodCard | None = None
    """The method that it starts from, where it is written over another: `sage:spark`."""

    @property
    def needs_model(self) -> bool:
        """Whether nothing can be asked without a model, the method that it starts from included."""
        return self.model == "required" or (self.over is not None and self.over.needs_model)

    def load(self) -> Callable[..., Any]:  # Any: a method, or a knowledge base to make one of
        """Return the class. Raises `BadOption` where it cannot be imported."""
        target: Callable[..., Any] = self._import("target", self.target)
        return target

    def config_class(self) -> type[Options] | None:
        """Return the class of its options, None where it has none. Raises `BadOption` where it cannot be imported."""
        config = None if self.config is None else self._import("config", self.config)
        if config is not None and not (isinstance(config, type) and issubclass(config, Options)):
            raise BadOption(f"the options of {self.name!r} must be an orienteer.Options, not {self.config}")
        return config

    def _import(self, field: str, path: str) -> Any:  # Any: whatever stands there
        try:
            return import_at(path)
        except BadOption as error:
            raise BadOption(f"the card of {self.name!r} names {path!r} as its {field}: {error}") from error

    def make(
        self,
        graph: Graph,
        *,
        model: LanguageModel | None = None,
        options: Mapping[str, Any] | None = None,  # Any: an option's value
        rerank: Reranker | None = None,
        inner: Method | None = None,
    ) -> Method:
        """Return the method on a graph, with checked options, over another where there is one. Raises `BadOption`."""
        if rerank is not None and not self.takes_reranker:
            raise BadOption(f"the method {self.name!r} takes no reranker: leave rerank out, or take ark")
        arguments: dict[str, Any] = {} if self.model == "no" else {"model": model}  # Any: what the class takes
        if (config := self.config_class()) is not None:
            arguments["config"] = config(**(options or {}))
        if inner is None and self.default is not None:
            inner = self.default.make(graph)
        if self.slot is not None and inner is not None:
            arguments[self.slot] = inner
        if rerank is not None:
            arguments["rerank"] = rerank
        if self.is_knowledge_base:
            from orienteer.methods.bases import KnowledgeBaseMethod
            from orienteer.retrieval.bases.gatherer import Gatherer

            base = self.load()(graph=graph, **arguments)
            if not isinstance(base, Gatherer):  # of a package
                return KnowledgeBaseMethod(base)
            base.require_model()
            return KnowledgeBaseMethod(base, base.analyzer)
        method: Method = self.load()(graph=graph, **arguments)
        return method

    def turns_kept(self, options: Mapping[str, Any]) -> int:
        """Return how many last turns a budget keeps back where these options are set."""
        if not isinstance(self.last_turns, str):
            return self.last_turns
        config = self.config_class()
        assert config is not None, f"the card of {self.name} names an option, {self.last_turns}, and no class of them"
        return int(getattr(config(**options), self.last_turns))


def import_at(path: str) -> Any:  # Any: whatever stands there
    """Return what `package.module:NAME` names. Raises `BadOption` where it cannot be imported."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadOption(f"no method {path!r}: {error}. Write package.module:CARD, of a module on PYTHONPATH") from error
