"""The end of a question: its answer, short and long, citing nodes, and the ranking of what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from orienteer.agents.answer import NOT_THERE, with_ids
from orienteer.agents.workflow import Workflow
from orienteer.methods.graphsearch.config import GraphSearchConfig
from orienteer.methods.graphsearch.queries import one_line
from orienteer.methods.graphsearch.reasoning import Reasoning
from orienteer.methods.graphsearch.replies import ANSWER, words_of
from orienteer.methods.graphsearch.sources import Sources
from orienteer.methods.graphsearch.turns import Turn, known_labels, quoted, without_labels, written
from orienteer.records import Ranked


class Conclusion(NamedTuple):
    """What is said in the end."""

    short: str | None = None
    """The answer in a few words and its citations; None where the model gave none that can be read."""
    long: str | None = None
    cited: tuple[str, ...] = ()
    """Ids of nodes."""


def conclude(flow: Workflow, parts: Sequence[Reasoning], config: GraphSearchConfig) -> Conclusion:
    """Return the answer from what all channels have found, in one call.

    Raises `BudgetExhausted`, `ModelError`.
    """
    turns = [turn for part in parts for turn in part.turns]
    labels = {label: ids for turn in turns for label, ids in turn.gathered.labels.items()}
    found = flow.ask_for(
        "graphsearch-answer",
        ANSWER,
        question=flow.question.text,
        history=written(turns, config.history_tokens),
        drafts="\n".join(filter(None, map(_draft, parts))) or "(none)",
    )
    if found is None:
        flow.notes.append("no answer in a form that can be read")
        return Conclusion()
    long = with_ids(found["explanation"].strip(), labels)
    said = words_of(found["answer"])
    if said is None and (line := one_line(found["answer"] or "")) and not without_labels(line):
        flow.notes.append("no answer: the model gave labels alone")
        return Conclusion(None, long.text or None, long.cited)
    if said is None:
        return Conclusion(NOT_THERE, long.text or None, long.cited)
    short = with_ids(said, labels)
    own = [node for label in known_labels(found["cited"], labels) for node in labels[label]]
    foreign = [one for one in found["cited"] if not known_labels([one], labels)]
    if foreign:
        flow.notes.append(f"the answer cites what is not in the evidence: {', '.join(map(repr, foreign))}")
    cited = tuple(dict.fromkeys((*short.cited, *own)))
    if not cited and not long.cited:
        flow.notes.append("the answer cites nothing of the evidence")
    marks = "".join(f"[{node}]" for node in cited if f"[{node}]" not in short.text)
    return Conclusion(f"{short.text} {marks}".strip(), long.text or None, tuple(dict.fromkeys((*cited, *long.cited))))


def ranking(flow: Workflow, sources: Sources, parts: Sequence[Reasoning], cited: Iterable[str]) -> tuple[Ranked, ...]:
    """Return nodes by use: cited in the answer, used by a sub-query, retrieved for one.

    In a graph with passages these are passages; other nodes that are cited stand at the end.
    """
    graph, question = sources.graph, flow.question
    answers = sources.spaces.answers(question.node_types, question.where)
    reasons: dict[int, str] = {}
    for node, why in _by_use([turn for part in parts for turn in part.turns], cited):
        if (row := graph.ids.find(node)) is not None:  # a report that was written for the question is no node
            reasons.setdefault(row, why)
    mask = graph.mask(question.node_types or None, question.where)
    found = dict.fromkeys(row for node in cited if (row := graph.ids.find(node)) is not None)
    others = [row for row in found if not answers[row] and (mask is None or mask[row])][: question.k - 1]
    kept = [row for row in reasons if answers[row]][: question.k - len(others)]
    return flow.present({row: reasons[row] for row in (*kept, *others)})


def _by_use(turns: Sequence[Turn], cited: Iterable[str]) -> Iterator[tuple[str, str]]:
    for node in cited:
        yield node, "cited in the answer"
    for turn in turns:
        for label in turn.used:
            for node in turn.gathered.labels[label]:
                yield node, f"used for: {turn.query.shown}"
    for why, found in (
        ("found for", [turn.gathered.kept for turn in turns]),
        ("found beside what was read for", [turn.gathered.whole for turn in turns]),
    ):
        # The best of each sub-query first, then the second of each.
        for place in zip_longest(*(evidence.nodes for evidence in found)):
            for turn, one in zip(turns, place, strict=True):
                if one is not None:
                    yield one.item.id, f"{why}: {turn.query.shown}"


def _draft(part: Reasoning) -> str:
    standing: Mapping[bool | None, str] = {True: "accepted", False: "rejected", None: "not verified"}
    return f"Draft ({part.name}, {standing[part.is_accepted]}):\n{quoted(part.draft)}" if part.draft else ""
