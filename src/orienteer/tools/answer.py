"""`add_to_answer`, `remove_from_answer`, `finish`: the ordered answer and the end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from orienteer.errors import BadOption, Unknown
from orienteer.records import JsonValue, Observation
from orienteer.tools import texts
from orienteer.tools.session import Session, state

_NAME = "add_to_answer"
_ADD = (
    "Add nodes to the answer. Their order is the ranking: the best first. A saved set adds all its members; "
    "`except` leaves some out."
)
_ADD_PLAIN = "Add nodes to the answer, each with its reason. Their order is the ranking: the best first."
_PICK = {"node_index": texts.PLAIN_NODE, "reasoning": {"type": "string", "description": "Why it answers the question"}}
_PICKS = {"type": "array", "minItems": 1, "items": texts.table(_PICK, list(_PICK))}
_REMOVE = "Take nodes out of the answer."
FINISH = "finish"
"""The name of the tool that ends a course."""
_FINISH = "End the search. Call it when the answer holds everything that fits, or nothing more can be found."
LARGEST_ANSWER = 1_000
_LISTED = 100  # ids that an observation carries


class AddToAnswer:
    """ARK's SELECT: appends to the ordered list of retrieved nodes (section 3)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        if session.is_plain:
            self.spec = texts.spec(_NAME, _ADD_PLAIN, {"answer_nodes": _PICKS}, ["answer_nodes"])
            return
        properties = {
            "nodes": texts.nodes(saves_sets=session.saves_sets),
            "reasoning": {"type": "string", "description": "Why these answer the question"},
            "except": {**texts.PLAIN_NODES, "description": "Nodes or sets to leave out"},
        }
        self.spec = texts.spec(_NAME, _ADD, properties, ["nodes"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Append the nodes that are not there yet, in this order. A wrong name does not lose the right ones."""
        session = self._session
        notes: list[str] = []
        left_out = set(session.all_rows(texts.texts(arguments, "except") or [], notes).tolist())
        picks = cast(list[dict[str, str]], arguments.get("answer_nodes") or [])  # checked against the schema
        references = [pick["node_index"] for pick in picks] or texts.texts(arguments, "nodes") or []
        wanted = session.all_ranked(references, notes)
        fresh = [row for row in dict.fromkeys(wanted) if row not in left_out and row not in session.answer]
        room = LARGEST_ANSWER - len(session.answer)
        if len(fresh) > room:
            notes.append(f"the answer holds {LARGEST_ANSWER} nodes at the most: {len(fresh) - room} were left out")
        is_one = len(references) == 1 and session.is_set(references[0].strip()) and session.are_whole(references)
        if fresh or left_out:
            is_whole = is_one and not session.answer and not left_out
            session.whole_answer = session.rows(references[0], []) if is_whole else None
        session.answer += fresh[:room]
        if reason := texts.text(arguments, "reasoning"):
            session.reasons |= dict.fromkeys(fresh[:room], reason)
        for pick in picks:
            with suppress(Unknown, BadOption):  # told already
                (row,) = session.ranked(pick["node_index"], [])
                session.reasons.setdefault(row, pick["reasoning"])
        lines = [*notes, "Added." if session.is_plain else f"added {len(fresh[:room])}; {state(session)}"]
        return Observation("\n".join(lines), tuple(session.graph.arrays.ids[row] for row in fresh[:_LISTED]))


class RemoveFromAnswer:
    """Takes nodes out of the answer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.spec = texts.spec(
            "remove_from_answer", _REMOVE, {"nodes": texts.nodes(saves_sets=session.saves_sets)}, ["nodes"]
        )

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Remove the nodes that are in the answer."""
        session = self._session
        notes: list[str] = []
        gone = set(session.all_rows(texts.texts(arguments, "nodes") or [], notes).tolist())
        before = len(session.answer)
        session.answer = [row for row in session.answer if row not in gone]
        session.whole_answer = None
        return Observation("\n".join([*notes, f"removed {before - len(session.answer)}; {state(session)}"]))


class Finish:
    """The end of a search (section 3). An empty answer is sent back once."""

    def __init__(self, session: Session) -> None:
        self._session, self._was_refused = session, False
        comment = {"type": "string", "description": "Why the search ends"}
        self.spec = texts.spec(FINISH, _FINISH, {"comment": comment})

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """End, unless the answer is empty and the agent was not reminded yet."""
        session = self._session
        if not session.answer and session.saves_sets and not self._was_refused:
            self._was_refused = True
            last = session.last()
            hint = f" The last result is {last}: add it, or what fits of it." if last else ""
            return Observation(f"The answer is empty.{hint} Call finish again to end without one.", error="EmptyAnswer")
        session.is_finished = True
        session.comment = texts.text(arguments, "comment") or ""
        return Observation("Finished." if session.is_plain else f"finished; {state(session)}")
