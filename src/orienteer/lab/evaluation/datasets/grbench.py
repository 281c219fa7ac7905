"""GRBench, the questions of Graph-CoT: JSON lines `{"qid", "question", "answer"}`, one file a domain.

Answers are names, joined by commas where there are several, and names may hold commas too; numbers; True and False.
With a graph the names become nodes. The published files name no level, but come in blocks of ten for each template,
and a template's place tells its level; only of the domains in LEVELS is that known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.tables.values import number
from orienteer.lab.evaluation.datasets.rows import (
    Dataset,
    QuestionRow,
    digest,
    examples_of,
    fields,
    files_in,
    keys,
    of_split,
    required,
    rows,
    the_one,
)
from orienteer.lab.evaluation.examples import AnswerType, Example, Gold, QuestionSet
from orienteer.records import Question

COLUMNS = frozenset({"qid", "question", "answer"})
OWN = ("qid", "question", "answer")
BLOCK = 10
"""Questions a template."""
LEVELS: Mapping[str, tuple[int, ...]] = {"biomedical": (7, 20), "legal": (5, 11, 2)}
"""Templates of each level, easy first."""
LEVEL_NAMES = ("easy", "medium", "hard")
SHOWN = 3


def _question_files(path: Path) -> list[Path]:
    return [file for file in files_in(path) if suffix(file) in (".jsonl", ".json") and keys(file) >= COLUMNS]


def recognises(path: Path) -> bool:
    """Whether there is one file of JSON lines with `qid`, `question` and `answer`."""
    return len(_question_files(path)) == 1


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; with a graph find the nodes that the answers name."""
    file = the_one(_question_files(path), path, of="GRBench's questions")
    table = rows(file)
    has_domains = any(row.get("domain") for row in table)
    examples = examples_of(table, lambda row: _example(row, file, has_domains=has_domains), path=file)
    examples = of_split(examples, split, path=file)
    if graph is None:
        return QuestionSet("grbench", tuple(examples), digest([file]))
    examples, answers = with_nodes(examples, graph)
    notes = answers.notes(examples)
    return QuestionSet("grbench", tuple(examples), digest([file]), notes=notes, remarks=answers.notes)


def _example(row: QuestionRow, file: Path, *, has_domains: bool) -> Example:
    qid = required(row, "qid", path=file)
    own_fields = fields(row, but=OWN)
    domain = own_fields["domain"] = str(own_fields.get("domain", file.parent.name))
    template = own_fields.get("template")
    if not isinstance(template, int | float) and domain in LEVELS and qid.isascii() and qid.isdigit():
        template = int(qid) // BLOCK
    if isinstance(template, int | float):
        own_fields["template"] = int(template)
        ends = accumulate(LEVELS.get(domain, ()))  # of the templates of each level
        level = next((name for name, end in zip(LEVEL_NAMES, ends, strict=False) if template < end), None)
        own_fields.setdefault("level", level)
    answer = required(row, "answer", path=file).strip()
    return Example(
        question=Question(id=f"{domain}-{qid}" if has_domains else qid, text=required(row, "question", path=file)),
        gold=Gold(answers=(answer,), answer_type=answer_type(answer)),
        fields={name: value for name, value in own_fields.items() if value is not None},
    )


def answer_type(answer: str) -> AnswerType | None:
    """Return the type of an answer; None for one name or several, which only a graph can tell apart."""
    if answer in ("True", "False"):
        return "boolean"
    return "number" if isinstance(number(answer), int | float) else None


# ------------------------------------------------------------------------------------------------- names to nodes


def split_names(answer: str, names: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut an answer at commas into names that may hold commas: the longest run that is a name, from the left.

    Returns the names, each once, and the pieces that belong to none.
    """
    parts = [part.strip() for part in answer.split(",")]
    matched: dict[str, None] = {}
    unknown: list[str] = []
    at = 0
    while at < len(parts):
        ends = range(len(parts), at, -1)
        end = next((end for end in ends if ", ".join(parts[at:end]) in names), None)
        if end is None:
            unknown.append(parts[at])
        else:
            matched[", ".join(parts[at:end])] = None
        at = at + 1 if end is None else end
    return tuple(matched), tuple(piece for piece in unknown if piece)


class _Cut(NamedTuple):
    """The names that an answer was cut into, and the pieces that are no name in the graph."""

    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _KnownAnswers:
    """The answers that are names, as far as the graph has them, by question."""

    cuts: Mapping[str, _Cut]
    ambiguous: Mapping[str, Sequence[str]]
    """Names that several nodes have, all of which count as gold."""
    foreign: frozenset[str]
    """Domains that are about another graph."""

    def notes(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return notes on the answers of these questions that are not clear names of nodes."""
        ids = [example.question.id for example in examples if example.question.id in self.cuts]
        unknown = {question: self.cuts[question].unknown for question in ids if self.cuts[question].unknown}
        lost = [f"{question} ({pieces[0]!r})" for question, pieces in unknown.items()]
        foreign = sorted(self.foreign.intersection(str(example.fields["domain"]) for example in examples))
        several = sorted({name for question in ids for name in self.ambiguous.get(question, ())})
        notes = []
        if lost:
            notes.append(
                f"{len(lost)} of {len(ids)} answers contain a name that the graph does not have: {_some(lost)}"
            )
        if foreign:
            notes.append(f"The graph has fewer than half of the answers of {_some(foreign)}: another graph's questions")
        if several:
            notes.append(f"{len(several)} names stand for several nodes, all of which count as gold: {_some(several)}")
        return tuple(notes)


def with_nodes(examples: Sequence[Example], graph: Graph) -> tuple[list[Example], _KnownAnswers]:
    """Return each question with the nodes whose exact names its answer holds, and notes on what could not be matched.

    A name that several nodes have means those of the type that the other answers of its template have, else all of
    them. A question stays without gold nodes if a piece of its answer is no name in the graph. So do all questions of a
    domain with fewer than half of its answers in the graph: it is about another graph, and names match by chance.
    """
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(graph.arrays.names):
        rows_of[name].append(row)
    cuts = [
        _Cut(*split_names(example.gold.answers[0], rows_of)) for example in examples if example.gold.answer_type is None
    ]
    by_name = [example for example in examples if example.gold.answer_type is None]
    foreign = _foreign(by_name, cuts)
    matched = {
        example.question.id: cut
        for example, cut in zip(by_name, cuts, strict=True)
        if example.fields.get("domain") not in foreign and not cut.unknown
    }
    types = _types(by_name, matched, rows_of, graph)
    resolved: list[Example] = []
    ambiguous: defaultdict[str, list[str]] = defaultdict(list)
    for example in examples:
        gold_nodes: dict[str, float] = {}
        names = matched[example.question.id].names if example.question.id in matched else ()
        for name in names:
            node_type = types.get(_template(example))
            rows = [row for row in rows_of[name] if graph.arrays.type_at(row) == node_type] or rows_of[name]
            ambiguous[example.question.id] += [name] if len(rows) > 1 else []
            gold_nodes |= dict.fromkeys((graph.arrays.ids[row] for row in rows), 1.0)
        gold = Gold(nodes=gold_nodes, answers=names, answer_type="set" if len(names) > 1 else "entity")
        resolved.append(example.model_copy(update={"gold": gold}) if names else example)
    by_id = {example.question.id: cut for example, cut in zip(by_name, cuts, strict=True)}
    return resolved, _KnownAnswers(by_id, ambiguous, frozenset(foreign))


def _foreign(examples: Sequence[Example], cuts: Sequence[_Cut]) -> set[str]:
    """Return the domains with fewer than half of their answers in the graph."""
    counts = Counter(str(example.fields["domain"]) for example in examples)
    matched = Counter(
        str(example.fields["domain"]) for example, cut in zip(examples, cuts, strict=True) if not cut.unknown
    )
    return {domain for domain, count in counts.items() if 2 * matched[domain] < count}


def _template(example: Example) -> str:
    return f"{example.fields.get('domain')}/{example.fields.get('template')}"


def _types(
    examples: Iterable[Example], matched: Mapping[str, _Cut], rows_of: Mapping[str, list[int]], graph: Graph
) -> dict[str, str]:
    """Return the node type of each template whose unambiguous answers are all of one type."""
    types_of: defaultdict[str, set[str]] = defaultdict(set)
    for example in examples:
        for name in matched.get(example.question.id, _Cut()).names:
            if len(rows_of[name]) == 1 and "template" in example.fields:
                types_of[_template(example)].add(graph.arrays.type_at(rows_of[name][0]))
    return {template: next(iter(types)) for template, types in types_of.items() if len(types) == 1}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (" and others" if len(names) > SHOWN else "")


DATASET = Dataset(
    name="grbench",
    about="Graph-CoT's questions over ten graphs (Apache-2.0); `domain`, `template` and `level` are kept.",
    url="https://github.com/PeterGriffinJin/Graph-CoT (data/processed_data/*/data.json)",
    looks_for="one file of JSON lines with qid, question and answer",
    recognises=recognises,
    read=read,
)
