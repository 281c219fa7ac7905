"""The tools as they can be called now: the graph's types by name, the sets that there are, no answer out of nothing.

For a model whose reply is held to a JSON schema. What the schema does not let it say needs no error and no turn: a type
that the graph has not, a set that nothing has filled, an end before anything was looked for, a text without end. Names
of nodes are copied, not spelt: out of the question, or of what a reply has told.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from orienteer.graph.store import Graph
from orienteer.records import ToolSpec
from orienteer.retrieval.mentions import longest_names, spelled
from orienteer.text.function_words import LANGUAGES, REQUESTS
from orienteer.text.tokenizer import Tokenizer
from orienteer.tools.answer import FINISH
from orienteer.tools.session import Session

JsonSchema: TypeAlias = Mapping[str, Any]  # Any: it nests without end
Names: TypeAlias = Mapping[str, Sequence[str]]
"""What the members of these names may hold."""
MOST_NAMED = 256
"""Types, or nodes and saved sets, that a schema names; where there are more, any text may stand."""
LONGEST_TEXT, LONGEST_LIST = 160, 8
"""Characters and members of what is not named: a small model that may go on does so until it is cut off."""
_MOST_SHOWN = 20  # ids of replies that are offered, the last first
_FOLLOW, _INTERSECT, _ADD, _REMOVE = "follow", "intersect", "add_to_answer", "remove_from_answer"
_NODES = ("nodes", "except", "start", "node", "a", "b")
"""The parameters that name nodes."""
_LONGEST_NAME = 24
"""Words of a name."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"  # Thai to Han: no spaces between words
_WORD = rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+"  # compiled by the first who asks: it takes 2 ms
_MARKS = string.punctuation + "“”‘’"
_SMALL = LANGUAGES["en"] | REQUESTS


class NamesOfQuestion(NamedTuple):
    """What a question may name nodes by, each as it is written there."""

    known: Mapping[str, int] = {}
    """The longest names of nodes in it, and how many nodes each means; `name (Type)` too, where several bear one."""
    possible: Sequence[str] = ()
    """Stretches beside these; next to a known name, those with a capital letter or a digit."""


@dataclass(slots=True)
class Course:
    """What a course has come to, as far as it bears on what may be said next."""

    has_looked: bool = False
    """Whether some call was run."""
    refused: bool = False
    """Whether a name was refused: from then on only names that the graph has are offered, and those `told`."""
    told: list[str] = field(default_factory=list)
    """Names or ids that stood in refusals: near a name that is not there, or of nodes that share one."""
    shown: list[str] = field(default_factory=list)
    """Ids of nodes that replies have shown, the last reply first."""


def offered(
    tools: Sequence[ToolSpec], session: Session, names: NamesOfQuestion, course: Course
) -> tuple[ToolSpec, ...]:
    """Return the tools of a session that can be called now, with the names that their arguments may have.

    A walk begins at what the question names, at what was told or found; an answer is made of what was found alone.
    """
    schema = session.graph.schema
    types = sorted(schema.node_types)
    edges = sorted({name for code in schema.edge_types for name in (code, schema.label(code))})
    sets = [f"@{number}" for number in range(len(session.sets), 0, -1) if len(session.sets[number - 1])]
    found = [*sets, *course.shown[:_MOST_SHOWN]]
    named = _named(names, course, found)
    of_tools = {"node_types": types, "type": types, "edge_types": edges, "edge": edges, "among": sets}
    is_idle = {
        _FOLLOW: named == [],
        _INTERSECT: named is not None and len(named) < 2,
        _ADD: not found,
        _REMOVE: not session.answer,
        FINISH: not course.has_looked and not session.answer,
    }
    return tuple(
        tool.model_copy(
            update={
                "parameters": _held(tool.parameters, {**of_tools, **_of_nodes(found if tool.name == _ADD else named)})
            }
        )
        for tool in tools
        if not is_idle.get(tool.name, False)
    )


def _of_nodes(named: Sequence[str] | None) -> Names:
    return {} if named is None else dict.fromkeys(_NODES, named)


def _named(names: NamesOfQuestion, course: Course, found: Sequence[str]) -> list[str] | None:
    """Return the names that a walk may begin at; None for any text, where they are too many to be listed."""
    if course.refused:
        known = [name for name, count in names.known.items() if count == 1]
        return list(dict.fromkeys((*known, *course.told, *found)))[:MOST_NAMED]
    named = list(dict.fromkeys((*names.known, *found, *names.possible)))
    return named if len(named) <= MOST_NAMED else None


def names_in(question: str, graph: Graph) -> NamesOfQuestion:
    """Return what a question may name nodes by."""
    words = [match.span() for match in re.finditer(_WORD, question)]
    known: dict[str, int] = {}
    taken: set[int] = set()

    def rows_of(begin: int, end: int) -> list[int]:
        stretch = question[words[begin][0] : words[end - 1][1]]
        return [] if _is_small(stretch, is_first=not begin) else graph.arrays.candidates(stretch)

    for span in longest_names(len(words), _LONGEST_NAME, rows_of):
        name = _as_spelled(question, words[span.begin][0], words[span.end - 1][1], graph)
        known |= _with_types(name, graph)
        taken |= {*range(span.begin, span.end)}
    possible: dict[str, None] = {}
    for begin, end in combinations(range(len(words) + 1), 2):
        if end - begin <= _LONGEST_NAME and taken.isdisjoint(range(begin, end)):
            stretch = question[words[begin][0] : words[end - 1][1]]
            if _may_name(stretch) and (not taken or _looks_named(stretch if begin else stretch[1:])):
                possible[stretch] = None
    return NamesOfQuestion(known, tuple(possible))


def _as_spelled(question: str, begin: int, end: int, graph: Graph) -> str:
    """Return a name with the marks around it that are part of it, as in `C++` and `.NET`."""
    before = len(question[:begin]) - len(question[:begin].rstrip(_MARKS))
    after = len(question[end:]) - len(question[end:].lstrip(_MARKS))
    forms = (
        question[first:last] for first in range(begin - before, begin + 1) for last in range(end + after, end - 1, -1)
    )
    return next((form for form in forms if spelled(graph, form)), question[begin:end])


def _with_types(name: str, graph: Graph) -> dict[str, int]:
    """Return a name and, where several nodes bear it, `name (Type)` for each type, with how many nodes each means."""
    rows = graph.arrays.candidates(name)
    types = [graph.arrays.type_at(row) for row in rows] if len(rows) > 1 else []
    of_types = {f"{name} ({type_})": types.count(type_) for type_ in sorted(set(types)) if "(" not in type_}
    return {name: len(rows), **of_types}


def _is_small(stretch: str, *, is_first: bool) -> bool:
    """Return whether a stretch is nothing but words like `of` and `find`, none with a capital letter of its own."""
    words = Tokenizer.words(stretch)
    return set(words) <= _SMALL and (stretch[1:] if is_first else stretch).islower()


def _may_name(stretch: str) -> bool:
    """Return whether a stretch of a question may be a name: neither `of` nor `find` stands at its ends."""
    words = Tokenizer.words(stretch)
    return bool(words) and not {words[0], words[-1]} & _SMALL


def _looks_named(stretch: str) -> bool:
    """Return whether a stretch looks like a name: a capital letter, a digit, or a script that has no capitals."""
    return any(letter.isupper() or letter.isdigit() for letter in stretch) or bool(re.search(f"[{_UNSPACED}]", stretch))


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
    if "enum" in member or "const" in member:
        return member
    if "properties" in member:
        return _held(member, names)
    kinds = member.get("type")
    if isinstance(kinds, list):  # one of several, or a list of them
        return {"anyOf": [_member({**member, "type": kind}, named, names) for kind in kinds]}
    if kinds == "array" and "items" in member:
        return {"maxItems": LONGEST_LIST, **member, "items": _member(member["items"], named, names)}
    if kinds != "string":
        return member
    return {"enum": list(named)} if 0 < len(named) <= MOST_NAMED else {"type": "string", "maxLength": LONGEST_TEXT}
