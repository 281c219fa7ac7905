"""The names and themes in a question, and the type it asks for: by names alone, or by one call of a model.

LightRAG's low- and high-level keywords and MiniRAG's answer types, made once for all retrievers of a question.

Deviations:
1. Both papers ask a model for every query. By default none is asked: names are those of the graph and runs of words
   with a capital; themes are the other words that say something, and the edge types that share one; the answer's type
   is what the question calls it, else what its first word says (`who`, `where`, `when`).
2. A model that names nothing that can be read leaves the analysis by names, where LightRAG gives up the query.
3. A model names answer types of the graph alone, for its schema lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from orienteer.errors import BadOption
from orienteer.graph.reserved import PASSAGES, RESERVED
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.name_scan import names_in
from orienteer.index.searchers import KeyedCache
from orienteer.llm.conversation import ask_for, prompt_of
from orienteer.llm.schema import JsonSchema, object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Trajectory
from orienteer.retrieval.query import Analyzer, GatherConfig, Query
from orienteer.text.english import STOP as ENGLISH

Analysis = Literal["names", "model"]

MOST_NAMES, MOST_TYPES = 5, 3
"""How many names and types a model may give. MiniRAG's."""
MOST_THEMES = 8
_UNREAD = "the model's analysis could not be read, or names nothing: the query is analyzed by names"
_WORD = re.compile(r"\w+")
# A word, or a number with its points and commas.
_SAID = re.compile(r"\w+(?:[.,:/]\d+)*")
_MARK = re.compile(r"[^\w\s](?!\d)|(?<!\d)[^\w\s]")
STOP = ENGLISH | frozenset(("find", "list", "made", "name", "named", "tell"))
"""Words that say nothing about the topic of a question."""
# Words of types that a question asks for by its first word.
_ASKED: Mapping[str, frozenset[str]] = {
    word: frozenset(types.split())
    for words, types in (
        ("who whom whose", "person people human actor author artist character director musician politician scientist"),
        ("where", "place location city country region area town village state geo gpe address site"),
        ("when", "date time year period"),
    )
    for word in words.split()
}
# Edge types that say where nodes stand in documents, not how they relate.
_STRUCTURAL = frozenset({"mentions", "titled", "states", "member", "shares_names", "similar", "synonym", "co_occurs"})


class AnalyzedConfig(GatherConfig):
    """What retrievers let choose that read a question's names and themes."""

    analysis: Analysis = "names"
    """What finds names, themes and types in a question: names alone, or one call of a model."""


def open_analyzer(graph: Graph, analysis: Analysis, model: LanguageModel | None = None) -> Analyzer:
    """Return an analyzer of questions for a graph. Raises `BadOption` if it needs a model and has none."""
    if analysis == "names":
        return NameAnalyzer(graph)
    if model is None:
        raise BadOption(
            "analysis is 'model', and no model is given: name one (--model, model=, ORIENTEER_MODEL or "
            "orienteer.toml), or take analysis 'names'"
        )
    return ModelAnalyzer(graph, model)


class NameAnalyzer:
    """Analyzes by the names and types of a graph. Remembers the last few queries. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        types = graph.schema.node_types
        has_passages = any(name in PASSAGES for name in types)
        # Titles of passages are words like any other unless they are written as names; a person's nodes are told by
        # their names however they are written.
        self._titles = TitleFinder(graph.arrays, lower=not has_passages)
        self._node_types = {name: self._spelled(name) for name in types if name not in RESERVED}
        self._edge_types = {name: self._spelled(name) for name in graph.arrays.types.edges if name not in _STRUCTURAL}
        self._known = KeyedCache[str, Query]()

    def analyze(self, text: str, run: Run) -> Query:
        """Return the names in a text, its themes, and the types that it asks for."""
        return self._known(text, self._analyzed)

    def _analyzed(self, text: str) -> Query:
        named, rest = self._names(text)
        themes = list(self._themes(rest))
        stems = {stem for theme in themes for stem in self._stems(theme)}
        related = [
            self._graph.schema.labels.get(name, name).replace("_", " ")
            for name, ways in self._edge_types.items()
            if any(stems.intersection(way) for way in ways)
        ]
        return Query(text, tuple(named), tuple(dict.fromkeys([*themes, *related])), self._answer_types(rest))

    def _names(self, text: str) -> tuple[list[str], str]:
        """Return the names in a text, and the text with these names blotted out."""
        names: dict[str, None] = {}
        rest = text
        for place in self._titles.places(text):
            if text[place.begin : place.end].casefold() not in STOP:
                names[text[place.begin : place.end]] = None
                rest = rest[: place.begin] + "|" * (place.end - place.begin) + rest[place.end :]
        for run in names_in(rest):
            names[run] = None
            rest = rest.replace(run, "|" * len(run))
        return list(names), rest

    def _themes(self, rest: str) -> Iterable[str]:
        """Yield the runs of content words, as they are written."""
        for part in _MARK.split(rest):
            run: list[str] = []
            for word in [*_SAID.findall(part), ""]:
                if word and word.casefold() not in STOP:
                    run.append(word)
                elif run:
                    yield " ".join(run)
                    run = []

    def _answer_types(self, rest: str) -> tuple[str, ...]:
        """Return the types that a question asks for: the first that it names, else those of its first word."""
        stems = self._stems(rest)
        if len(self._node_types) < 2:
            return ()
        named = [(at, name) for name, ways in self._node_types.items() for way in ways if (at := _at(stems, way)) >= 0]
        if named:
            return (min(named)[1],)
        words = [word.casefold() for word in _WORD.findall(rest)]
        kinds = next((_ASKED[word] for word in words if word in _ASKED), frozenset())
        wanted = {stem for kind in kinds for stem in self._stems(kind)}
        return tuple(name for name, ways in self._node_types.items() if any(wanted.intersection(way) for way in ways))

    def _spelled(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return the ways to write a type, each as a tuple of stems."""
        schema = self._graph.schema
        ways = (name, schema.labels.get(name, ""), *schema.also_called.get(name, ()))
        return tuple(dict.fromkeys(stems for way in ways if (stems := tuple(self._stems(way.replace("_", " "))))))

    def _stems(self, text: str) -> list[str]:
        return self._graph.arrays.tokenizer.terms(text)


class ModelAnalyzer:
    """Analyzes by one call of a model. Remembers the last few texts. Safe to share among threads."""

    def __init__(self, graph: Graph, model: LanguageModel) -> None:
        self._model, self._by_names = model, NameAnalyzer(graph)
        self._types = [name for name in graph.schema.node_types if name not in RESERVED]
        strings = {"type": "array", "items": {"type": "string"}}
        kind = {"type": "string", "enum": self._types} if self._types else {"type": "string"}
        properties: dict[str, JsonSchema] = {
            "low": {**strings, "maxItems": MOST_NAMES},
            "high": {**strings, "maxItems": MOST_THEMES},
            "answer_types": {"type": "array", "items": kind, "maxItems": MOST_TYPES if self._types else 0},
        }
        self._schema = object_of(properties)
        self._known: KeyedCache[str, Query] = KeyedCache(Query)

    def analyze(self, text: str, run: Run) -> Query:
        """Return the model's analysis of a text, or the analysis by names if its reply cannot be read.

        The call is recorded with the query that it was made for, not with those that the same text gives later.
        """
        calls: list[Trajectory] = []

        def ask_model(text: str) -> Query:
            _, reply, trajectory = ask_for(
                self._model,
                run,
                prompt_of("analysis", "orienteer.retrieval"),
                self._schema,
                question=text,
                types=", ".join(self._types) or "none",
            )
            if reply is None or not (_stripped(reply["low"]) or _stripped(reply["high"])):
                calls.append(trajectory.model_copy(update={"notes": (_UNREAD,)}))
                return self._by_names.analyze(text, run)
            calls.append(trajectory)
            return Query(
                text, _stripped(reply["low"]), _stripped(reply["high"]), tuple(dict.fromkeys(reply["answer_types"]))
            )

        return replace(self._known(text, ask_model), trajectories=tuple(calls))


def _stripped(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _at(stems: Sequence[str], phrase: Sequence[str]) -> int:
    """Return the index of a phrase in a text, or -1."""
    size = len(phrase)
    return next((at for at in range(len(stems) - size + 1) if tuple(stems[at : at + size]) == tuple(phrase)), -1)
