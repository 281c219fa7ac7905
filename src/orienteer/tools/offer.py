"""The tools as they can be called now: the graph's types by name, the sets that there are, no answer out of nothing.

For a model whose reply is held to a JSON schema. What the schema does not let it say needs no error and no turn: a type
that the graph has not, a set that nothing has filled, an end before anything was looked for, a text without end. Names
of nodes are copied, not spelt: out of the question, or of what a reply has told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from orienteer.graph.store import Graph
from orienteer.records import ToolSpec
from orienteer.retrieval.mentions import longest_names
from orienteer.text.function_words import LANGUAGES, REQUESTS
from orienteer.text.tokenizer import Tokenizer
from orienteer.tools.answer import FINISH
from orienteer.tools.session import Session

JsonSchema: TypeAlias = Mapping[str, Any]  # Any: it nests without end
Names: TypeAlias = Mapping[str, Sequence[str]]
"""What the members of these names may hold."""
MOST_NAMED = 256
"""Types, or saved sets and nodes, that a schema names; where there are more, any text may stand."""
LONGEST_TEXT, LONGEST_LIST = 160, 8
"""Characters and members of what is not named: a small model that may go on does so until it is cut off."""
_FOLLOW, _INTERSECT, _ADD, _REMOVE = "follow", "intersect", "add_to_answer", "remove_from_answer"
_NODES = ("nodes", "except", "start", "node", "a", "b")
"""The parameters that name nodes."""
_LONGEST_NAME = 12
"""Words of a name."""
_AROUND = " .,;:?!\"'“”‘’"


def offered(
    tools: Sequence[ToolSpec], session: Session, question: str, told: Sequence[str] | None = None
) -> tuple[ToolSpec, ...]:
    """Return the tools of a session that can be called now, with the names that their arguments may have.

    A walk begins at what the `question` names or at what was found, of which alone an answer is made. Once a name was
    refused (`told` is what stood near it, None before) no other that the graph has not is offered, but those near it.
    """
    schema = session.graph.schema
    nodes = sorted(schema.node_types)
    edges = sorted({name for code in schema.edge_types for name in (code, schema.label(code))})
    found = session.found()
    names = names_in(question, session.graph)
    named = list(dict.fromkeys((*names.known, *(names.possible if told is None else told), *found)))
    sets = [name for name in found if name.startswith("@")]
    known = {"node_types": nodes, "type": nodes, "edge_types": edges, "edge": edges, "among": sets}
    is_idle = {
        _FOLLOW: not named,
        _INTERSECT: len(named) < 2,
        _ADD: not found,
        _REMOVE: not session.answer,
        FINISH: not session.sets and not session.answer,
    }
    return tuple(
        tool.model_copy(
            update={
                "parameters": _held(
                    tool.parameters, {**known, **dict.fromkeys(_NODES, found if tool.name == _ADD else named)}
                )
            }
        )
        for tool in tools
        if not is_idle.get(tool.name, False)
    )


class NamesOfQuestion(NamedTuple):
    """What a question may name nodes by."""

    known: list[str]
    """The longest names of nodes in it; one that several bear stands with their types too, as `name (Type)`."""
    possible: list[str]
    """Stretches beside these."""


def names_in(question: str, graph: Graph) -> NamesOfQuestion:
    """Return what a question may name nodes by, each as it is written there."""
    words = [match.span() for match in re.finditer(r"\S+", question)]

    def said(begin: int, end: int) -> str:
        stretch = question[words[begin][0] : words[end - 1][1]]
        bare = stretch.strip(_AROUND)
        return stretch if graph.arrays.candidates(stretch) and not graph.arrays.candidates(bare) else bare

    known: dict[str, None] = {}
    taken: set[int] = set()
    for span in longest_names(len(words), _LONGEST_NAME, lambda begin, end: graph.arrays.candidates(said(begin, end))):
        name, types = said(span.begin, span.end), {graph.arrays.type_at(row) for row in span.rows}
        known |= dict.fromkeys((name, *(f"{name} ({type_})" for type_ in sorted(types) if len(span.rows) > 1)))
        taken |= {*range(span.begin, span.end)}
    possible: dict[str, None] = {}
    for begin, end in combinations(range(len(words) + 1), 2):
        if end - begin <= _LONGEST_NAME and taken.isdisjoint(range(begin, end)):
            stretch = said(begin, end)
            if _may_name(stretch) and (not taken or _looks_named(stretch if begin else stretch[1:])):
                possible[stretch] = None
    return NamesOfQuestion(list(known), list(possible))


def _may_name(stretch: str) -> bool:
    """Say whether a stretch of a question may be a name: neither `of` nor `find` stands at its ends."""
    words = Tokenizer.words(stretch)
    return bool(words) and not {words[0], words[-1]} & (LANGUAGES["en"] | REQUESTS)


def _looks_named(stretch: str) -> bool:
    """Say whether a capital letter or a digit stands in a stretch: beside names, only such a one may be another."""
    return any(letter.isupper() or letter.isdigit() for letter in stretch)


def _held(schema: JsonSchema, names: Names) -> dict[str, Any]:  # Any: as above
    """Return the schema of an object whose members are held to names, or to a length.

    What there is nothing to name by is left out where it is not required.
    """
    required = schema.get("required", ())
    properties = {
        name: _member(member, names.get(name, ()), names)
        for name, member in schema.get("properties", {}).items()
        if name in required or names.get(name, True)
    }
    return {**schema, "properties": properties}


def _member(member: JsonSchema, named: Sequence[str], names: Names) -> JsonSchema:
    if "properties" in member:
        return _held(member, names)
    kinds = member.get("type")
    if isinstance(kinds, list):  # one of several, or a list of them
        return {"anyOf": [_member({**member, "type": kind}, named, names) for kind in kinds]}
    if kinds == "array":
        return {"maxItems": LONGEST_LIST, **member, "items": _member(member["items"], named, names)}
    if kinds != "string":
        return member
    return {"enum": list(named)} if 0 < len(named) <= MOST_NAMED else {"type": "string", "maxLength": LONGEST_TEXT}
