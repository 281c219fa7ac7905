"""The methods by name: what each is, what it needs, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from orienteer.errors import BadOption, nearest
from orienteer.methods.card import MethodCard, import_at
from orienteer.plugins import load, own, refused, registered
from orienteer.settings import FILE, Settings

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
        target="orienteer.methods.anchor.method:Anchor",
        config="orienteer.reading.linker:AnchorConfig",
        reads=True,
        summary="links the question's phrases to nodes and ranks what connects them",
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
        target="orienteer.methods.documents.method:Documents",
        config="orienteer.methods.documents.abstention:DocumentsConfig",
        slot="base",
        default=_HIPPO,
        summary="passages of documents, the sentence that answers quoted, or the word that nothing here does",
    ),
    MethodCard(
        name="sage",
        target="orienteer.methods.sage.method:Sage",
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
        last_turns="agents",
        works_in_place=True,
        summary="agents search the graph widely and along its edges, and vote",
        paper="000 (DGR) and 001 (ARK)",
    ),
    MethodCard(
        name="graphsearch",
        target="orienteer.methods.graphsearch.method:GraphSearch",
        config="orienteer.methods.graphsearch.queries:GraphSearchConfig",
        model="required",
        slot="base",
        summary="answers sub-queries in words and triples over any retriever, verifies, asks for what is missing",
        paper="GraphSearch (002)",
    ),
    MethodCard(
        name="spark",
        target="orienteer.methods.spark.method:Spark",
        config="orienteer.methods.spark.method:SparkConfig",
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
        last_turns=1,
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
    """Return the card of a name alone, None where there is none. Raises `BadOption` for a package's that is broken."""
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
    """Return the card of a retriever that a package registers, None where there is none of this name."""
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
    raise BadOption(f"There is no method {name!r}.{hint} There are: {AUTO}, {', '.join(names)}.")


def over(method: MethodCard, inner: MethodCard) -> MethodCard:
    """Return the card of a method that starts from what another finds. Raises `BadOption` where it cannot.

    One that takes seeds has its own where it is the base of another, as in `graphsearch:sage`.
    """
    if method.slot is None:
        able = ", ".join(card.name for card in METHODS.values() if card.slot is not None)
        raise BadOption(f"{method.name!r} starts from no other method, {inner.name!r} neither. Some do: {able}.")
    has_own = inner.over is None and (method.slot, inner.slot) == ("base", "seeds")
    if inner.slot is not None and not has_own:
        raise BadOption(f"{method.name!r} cannot start from {inner.name!r}, which starts from another method itself")
    return replace(method, name=f"{method.name}:{inner.name}", over=inner)


def chosen(name: str, *, has_model: bool, is_of_documents: bool) -> MethodCard:
    """Return the method of a name; `auto` takes the best that can run on such a graph. Raises `BadOption`.

    Without a model that is `documents` on chunks of documents, `anchor` on any other graph: docs/documents.md and
    docs/results.md have the figures.
    """
    if name == AUTO:
        return METHODS["ark" if has_model else "documents" if is_of_documents else "anchor"]
    method = method_of(name)
    if method.needs_model and not has_model:
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
