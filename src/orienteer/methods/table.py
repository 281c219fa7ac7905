"""The methods by name: what each is, what it needs, and its options."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from orienteer.errors import BadOption, nearest
from orienteer.graph.reserved import PASSAGES
from orienteer.options import Options
from orienteer.plugins import load, own, refused, registered
from orienteer.protocols import LanguageModel, Method, manner_of
from orienteer.settings import FILE, Settings

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.methods.ark import Reranker


# `MethodCard`: what is known of a method before it is made.


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
    """The path of the class of its options, which it takes as `config`; None without options."""
    model: Literal["no", "optional", "required"] = "no"
    """Whether its class takes a `model`, and whether it can do without."""
    asks: bool = False
    """Whether it asks an optional model that it has, and not for an option alone."""
    needs_vectors: bool = False
    """Whether the graph must be embedded, unless its options say otherwise."""
    slot: Literal["seeds", "base", "then"] | None = None
    """What another method is to it: whose hits it begins with, the base of its searches, or who is asked after it.

    Its class takes the first two under these names.
    """
    default: MethodCard | None = None
    """The method that it starts from where it is written over no other."""
    reads: bool = False
    """Whether it reads questions exactly, and takes a reading in place of a question's words."""
    runs_code: bool = False
    """Whether it runs a program that a model writes, in a sandbox: who serves strangers chooses that."""
    takes_reranker: bool = False
    """Whether its class takes a `rerank`, a function that has the last word on the order."""
    last_turns: int | str = 0
    """Calls that a budget keeps back for its agents' last turns, or the name of the option that says so."""
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

    @property
    def asks_model(self) -> bool:
        """Whether it asks the model that it has, or the method that it starts from does."""
        return self.needs_model or self.asks or (self.over is not None and self.over.asks_model)

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
        if self.slot in ("seeds", "base") and inner is not None:
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

    def options_below(self, own: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:  # Any: as above
        """Return the checked options of the method that it starts from: those given, and that of its own paper's form.

        `sage:spark faithful=true` has seeds by `spark faithful=true`. Raises `BadOption`.
        """
        config = None if self.over is None else self.over.config_class()
        if self.over is None or config is None:
            return {}
        is_faithful = self.slot == "seeds" and own.get("faithful") and "faithful" in config.model_fields
        form = {"faithful": True} if is_faithful else {}
        return config.read({**form, **given}, where=f"{self.over.name}.").chosen

    def turns_kept(self, options: Mapping[str, Any]) -> int:
        """Return the number of last turns that a budget keeps back under these options."""
        if not isinstance(self.last_turns, str):
            return self.last_turns
        config = self.config_class()
        assert config is not None, f"the card of {self.name} names an option, {self.last_turns}, and no class of them"
        return int(getattr(config(**options), self.last_turns))


def import_at(path: str) -> Any:  # Any: whatever stands there
    """Return the object at `package.module:NAME`. Raises `BadOption` if it cannot be imported."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadOption(f"no method {path!r}: {error}. Write package.module:CARD, of a module on PYTHONPATH") from error


AUTO = "auto"

_HIPPO = MethodCard(
    name="hippo",
    target="orienteer.retrieval.bases.hippo:Hippo",
    is_knowledge_base=True,
    config="orienteer.retrieval.bases.hippo:HippoConfig",
    model="optional",
    summary="passages by a random walk over the names, entities or facts that join them",
    paper="HippoRAG 2 (Gutiérrez et al. 2025); GraphSearch (002), section 4.1",
)
_TABLE = (
    MethodCard(
        name="anchor",
        target="orienteer.methods.anchor.anchor:Anchor",
        config="orienteer.reading.linker:AnchorConfig",
        slot="then",
        reads=True,
        summary="links the question's phrases to nodes and ranks what connects them",
    ),
    MethodCard(
        name="reader",
        target="orienteer.methods.anchor.anchor:Reader",
        config="orienteer.methods.anchor.anchor:ReaderConfig",
        model="optional",
        asks=True,
        slot="then",
        reads=True,
        summary="one call of the model writes the line of a question that no rule reads; a program checks and runs it",
    ),
    MethodCard(
        name="bm25",
        target="orienteer.methods.flat:Bm25",
        summary="ranks nodes by the question's words alone",
    ),
    MethodCard(
        name="dense",
        target="orienteer.methods.flat:Dense",
        config="orienteer.methods.flat:NearnessConfig",
        needs_vectors=True,
        summary="ranks nodes by nearness in meaning; needs vectors (orienteer embed)",
        paper="STaRK's VSS; SAGE (004), section 3",
    ),
    MethodCard(
        name="hybrid",
        target="orienteer.methods.flat:Hybrid",
        config="orienteer.methods.flat:HybridConfig",
        needs_vectors=True,
        summary="ranks nodes by words and nearness together; needs vectors (orienteer embed)",
        paper="SAGE (004), section 3",
    ),
    MethodCard(
        name="documents",
        target="orienteer.methods.documents.documents:Documents",
        config="orienteer.methods.documents.abstention:DocumentsConfig",
        model="optional",
        slot="base",
        default=_HIPPO,
        summary="passages of documents, the sentence that answers, or that nothing here does; a model may read them",
    ),
    MethodCard(
        name="sage",
        target="orienteer.methods.sage.sage:Sage",
        config="orienteer.methods.sage.hop:SageConfig",
        slot="seeds",
        summary="expands what another method finds, hybrid search by default, by one hop, and prunes",
        paper="SAGE (004)",
    ),
    _HIPPO,
    MethodCard(
        name="light",
        target="orienteer.retrieval.bases.light:Light",
        is_knowledge_base=True,
        config="orienteer.retrieval.bases.light:LightConfig",
        model="optional",
        summary="entities by names, relations by themes, and the passages that both vote for",
        paper="LightRAG (Guo et al. 2024); GraphSearch (002), section 4.1",
    ),
    MethodCard(
        name="naive",
        target="orienteer.retrieval.bases.gatherer:Naive",
        is_knowledge_base=True,
        config="orienteer.retrieval.bases.gatherer:NaiveConfig",
        summary="ranks passages by words and nearness; the floor of the retrievers of knowledge bases",
        paper="GraphSearch (002), section 4.1",
    ),
    MethodCard(
        name="ark",
        target="orienteer.methods.ark:Ark",
        config="orienteer.methods.ark:ArkConfig",
        model="required",
        takes_reranker=True,
        last_turns="last_turns",
        works_in_place=True,
        summary="agents search the graph widely and along its edges, and vote",
        paper="000 (DGR) and 001 (ARK)",
    ),
    MethodCard(
        name="graphsearch",
        target="orienteer.methods.graphsearch.graphsearch:GraphSearch",
        config="orienteer.methods.graphsearch.queries:GraphSearchConfig",
        model="required",
        slot="base",
        summary="answers sub-queries in words and triples over any retriever, verifies, asks for what is missing",
        paper="GraphSearch (002)",
    ),
    MethodCard(
        name="spark",
        target="orienteer.methods.spark.spark:Spark",
        config="orienteer.methods.spark.spark:SparkConfig",
        model="required",
        works_in_place=True,
        summary="one call plans searches and steps along edges; a program checks the plan and runs it",
        paper="SAGE (004), section 2.2.A",
    ),
    MethodCard(
        name="graphscout",
        target="orienteer.methods.graphscout:GraphScout",
        config="orienteer.methods.graphscout:GraphScoutConfig",
        model="required",
        runs_code=True,
        last_turns="last_turns",
        works_in_place=True,
        summary="writes Python with read-only Cypher, grounds names with a retriever, answers in a line",
        paper="GraphScout (003), sections 3.2 and 3.4",
    ),
)
CORE: Mapping[str, MethodCard] = {method.name: method for method in _TABLE}


class _OwnMethods(Mapping[str, MethodCard]):
    """Orienteer's own methods by name: the core's, then the lab's. A card of the lab is loaded when it is asked for."""

    def __getitem__(self, name: str) -> MethodCard:
        if name in CORE:
            return CORE[name]
        if name not in own("methods"):
            raise KeyError(name)
        card: MethodCard = load("methods", name, CORE)
        return card

    def __iter__(self) -> Iterator[str]:
        yield from CORE
        yield from own("methods")

    def __len__(self) -> int:
        return len(CORE) + len(own("methods"))


METHODS: Mapping[str, MethodCard] = _OwnMethods()


def cards(refuse: Callable[[BadOption], None] | None = None) -> Mapping[str, MethodCard]:
    """Return every method's card by its name: Orienteer's, then those of installed packages.

    A package whose method cannot be loaded is left out, and `refuse` is called with the error; without it the error,
    `BadOption`, is raised.
    """
    by_name = dict(METHODS)
    for name in _registered():
        try:
            card = _card_of(name)
            if card is not None:
                card.config_class()
                by_name[name] = card
        except BadOption as error:
            if refuse is None:
                raise
            refuse(error)
    return by_name


def _card_of(name: str) -> MethodCard | None:
    """Return the card of a bare name, or None. Raises `BadOption` for a broken package."""
    if ":" in name:  # one method over another, or an import path
        return None
    if name in METHODS:
        return METHODS[name]
    card = load("methods", name, CORE)
    if card is None:
        return _card_of_retriever(name)
    if not isinstance(card, MethodCard):
        raise refused("methods", name, f"{card!r} is no MethodCard")
    if card.name != name or ":" in name or name != name.lower():
        raise refused("methods", name, f"the card's name is {card.name!r}: both must be one lower-case name")
    return card


def _card_of_retriever(name: str) -> MethodCard | None:
    """Return the card of a retriever that a package registers under this name, or None."""
    if name not in registered("retrievers", CORE):
        return None
    from orienteer.retrieval.bases.table import config_class, retriever_class  # only for those of packages

    base = retriever_class(name)
    if not isinstance(base, type) or not hasattr(base, "gather"):
        raise refused("retrievers", name, f"{base!r} is no class with a method gather")
    config = config_class(base)
    return MethodCard(
        name=name,
        target=f"{base.__module__}:{base.__name__}",
        is_knowledge_base=True,
        config=f"{config.__module__}:{config.__name__}",
        summary=(base.__doc__ or "").strip().partition("\n")[0].removesuffix("."),
    )


def _registered() -> list[str]:
    """Return the names of the methods and retrievers that installed packages register. Raises `BadOption`."""
    return sorted({*registered("methods", CORE), *registered("retrievers", CORE)}.difference(METHODS))


def method_of(name: str) -> MethodCard:
    """Return a method's card by its name, over another as in `sage:ark`, or the card at somebody's own import path.

    The name is Orienteer's own or that of an installed package; an import path is `package.module:CARD`. Raises
    `BadOption`.
    """
    if (card := _card_of(name)) is not None:
        return card
    outer, colon, inner = name.partition(":")
    if colon and (card := _card_of(outer)) is not None:
        return over(card, method_of(inner))
    if colon:
        card = import_at(name)
        if not isinstance(card, MethodCard):
            raise BadOption(f"{name!r} is no MethodCard, but {card!r}: write a card beside the class, and name that")
        return card
    names = [*METHODS, *_registered()]
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    first, _, options = name.partition(" ")
    if first in names:
        flags = " ".join(f"--set {option}" for option in options.split())
        hint = f" Options are given by --set: --method {first} {flags}."
    raise BadOption(f"There is no method {name!r}.{hint} orienteer methods --all lists them.")


def over(method: MethodCard, inner: MethodCard) -> MethodCard:
    """Return the card of a method that stands on another, or leaves to it what it does not answer: `reader:ark`.

    One that stands on another has its default there, as in `graphsearch:sage`. Raises `BadOption` where it cannot.
    """
    if method.slot is None:
        able = ", ".join(card.name for card in METHODS.values() if card.slot is not None)
        raise BadOption(f"{method.name!r} starts from no other method, {inner.name!r} neither. Some do: {able}.")
    is_whole = inner.slot in (None, "then") or (method.slot, inner.slot) in (("base", "seeds"), ("then", "base"))
    if inner.over is not None or not is_whole:
        raise BadOption(f"{method.name!r} cannot start from {inner.name!r}, which starts from another method itself")
    return replace(method, name=f"{method.name}:{inner.name}", over=inner)


def chosen(name: str, graph: Graph, model: LanguageModel | None) -> MethodCard:
    """Return the method of a name; `auto` takes the best that can run on such a graph. Raises `BadOption`.

    Documents are asked by `documents`. Elsewhere questions are read, by `reader` with a model and else by `anchor`.
    What is not read goes on to the documents of the graph, or to `ark` if no node is named. A database in place, and a
    student that learned to call tools and nothing else, have `ark`. docs/reference/results.md has the figures.
    """
    if name == AUTO:
        has_documents = not PASSAGES.isdisjoint(graph.arrays.types.nodes)
        if model is not None and (graph.is_in_place or manner_of(model).dialect == "terse"):
            return METHODS["ark"]
        if graph.arrays.is_made_of_documents:
            return METHODS["documents"]
        reads = METHODS["anchor" if model is None else "reader"]
        then = "documents" if has_documents else None if model is None else "ark"
        return reads if then is None else over(reads, METHODS[then])
    method = method_of(name)
    if method.needs_model and model is None:
        raise BadOption(
            f"the method {name!r} needs a model: name one (--model, model=, ORIENTEER_MODEL or orienteer.toml), or "
            "take the method anchor"
        )
    return method


def options_by_method(settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings' options. Raises `BadOption` for those of an unknown method."""
    for name, options in settings.methods.items():
        if ":" not in name:  # somebody's own method is looked up when it is asked for
            method_of(name)
        if settings.origins.get("methods") == FILE:
            _refuse_import(name, "--method")
            for option, value in options.items():
                if isinstance(value, str):
                    _refuse_import(value, f"--set {option}=...")
    return settings.methods


def method_of_settings(settings: Settings) -> str:
    """Return the name of the method that is set. Raises `BadOption` for one that a file may not name."""
    if settings.origins.get("method") == FILE:
        _refuse_import(settings.method, "--method")
    return settings.method


def _refuse_import(text: str, flag: str) -> None:
    """Raise `BadOption` for an import path in a file of the working directory: the code there may be anyone's."""
    if ":" in text and not {*METHODS, *_registered()}.issuperset(text.split(":")):
        raise BadOption(
            f"{FILE} of the working directory names {text!r}, which is no method of the table: name it with {flag}"
        )
