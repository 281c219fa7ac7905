"""A data set's own triples with the passages that state them: 2WikiMultiHopQA's `evidences`.

They are gold: they answer the data set's questions, and exactly the gold passages state them. A graph with them
measures how well triples are used, never how well they are found. Its provenance says so under `gold`, and every
evaluation on the same data set repeats it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, BadOption
from orienteer.ingest.bounds import parsed
from orienteer.ingest.extraction.merger import Merger
from orienteer.ingest.extraction.records import ExtractedEntity, Statement, folded, triple
from orienteer.ingest.formats import format_of
from orienteer.ingest.formats.files import whole_json
from orienteer.ingest.formats.table import NODE_ROWS, refusing
from orienteer.ingest.tables.plan import listing
from orienteer.ingest.tables.values import identifier, plain
from orienteer.records import JsonValue, Node

DATASET = "2wikimultihopqa"
PROVENANCE = "gold"
"""The key in a graph's provenance for the data set of its gold."""
EVIDENCES, PASSAGE_IDS, FACTS = "evidences", "gold_pids", "supporting_facts"
PARTS = 3


class GoldTriple(NamedTuple):
    """One triple of a question's evidence, and the passages that state it."""

    subject: str
    predicate: str
    object: str
    passages: tuple[str, ...]
    """Ids of the passages titled by its subject; else of those with both ends, or one of them."""
    titles: bool
    """Its subject is the title of those passages."""


class PassageEvidence(NamedTuple):
    """The records of one passage."""

    entities: tuple[ExtractedEntity, ...]
    """The entity of its title, if it is the subject of a triple."""
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class GoldTriples:
    """The triples of a data set, each once, in the order of its questions."""

    file: Path
    triples: tuple[GoldTriple, ...]
    lost: int
    """Triples that no gold passage of their question names: left out."""

    @property
    def provenance(self) -> dict[str, JsonValue]:
        """Return the entry for the graph's provenance."""
        return {PROVENANCE: {"dataset": DATASET, "questions": self.file.name, "triples": len(self.triples)}}

    @property
    def note(self) -> str:
        """Return the note for a person."""
        lost = f"; {self.lost} that no gold passage names are left out" if self.lost else ""
        return (
            f"{len(self.triples)} gold triples of {DATASET} are in the graph: its figures on these questions are no "
            f"measure of finding{lost}"
        )

    def into(self, merger: Merger) -> None:
        """Merge the records of each passage."""
        for passage, evidence in self.by_passage().items():
            merger.add(passage, evidence.entities, evidence.statements)

    def by_passage(self) -> dict[str, PassageEvidence]:
        """Return the records of each passage by its id, in the order of the triples."""
        evidence: dict[str, PassageEvidence] = {}
        for gold_triple in self.triples:
            statement = triple(gold_triple.subject, gold_triple.predicate, gold_triple.object)
            titled = (ExtractedEntity(gold_triple.subject, is_title=True),) if gold_triple.titles else ()
            for passage in gold_triple.passages:
                before = evidence.get(passage, PassageEvidence((), ()))
                entities = tuple(dict.fromkeys((*before.entities, *titled)))
                evidence[passage] = PassageEvidence(entities, (*before.statements, statement))
        return evidence


class _QuestionEvidence(NamedTuple):
    """The evidence of a question."""

    triples: tuple[tuple[str, str, str], ...]
    ids: frozenset[str]
    titles: frozenset[str]
    """Folded titles of its gold passages, if it has no ids of them."""


def gold_of(sources: Sequence[Path], passages: Iterable[Node]) -> GoldTriples:
    """Return the triples of the data set of a build. Raises `BadOption` if it has none, `BadInput`."""
    file = recognize(sources[0]) if len(sources) == 1 else None
    if file is None:
        where = ", ".join(map(str, sources))
        raise BadOption(
            f"gold: {where} has no table of questions with {EVIDENCES} in it, as {DATASET} has: leave gold out"
        )
    return read(file, passages)


def recognize(source: Path) -> Path | None:
    """Return the only file of questions with evidences in a folder, or in the folder of a file; else None."""
    files: list[Path] = []
    for path in listing(source if source.is_dir() else source.parent):
        form = format_of(path)
        if form is None:
            has_evidences = path.suffix == ".json" and path.stem == DATASET
        else:
            has_evidences = EVIDENCES in form.reader.columns(path)
        files += [path] if has_evidences else []
    return files[0] if len(files) == 1 else None


def read(file: Path, passages: Iterable[Node]) -> GoldTriples:
    """Return the triples of a file of questions with their passages among these. Raises `BadInput`."""
    questions = [_evidence_of(row, number, file) for number, row in enumerate(_rows(file), 1)]
    ids = {passage_id for question in questions for passage_id in question.ids}
    titles = {title for question in questions for title in question.titles}
    by_id: dict[str, Node] = {}
    by_title: defaultdict[str, list[Node]] = defaultdict(list)
    for node in passages:
        title = folded(node.name)
        if node.id in ids:
            by_id[node.id] = node
        if title in titles:
            by_title[title].append(node)
    tied: dict[tuple[str, str, str], _Support] = {}
    for question in questions:
        gold = [by_id[passage_id] for passage_id in sorted(question.ids) if passage_id in by_id]
        gold += [node for title in sorted(question.titles) for node in by_title[title]]
        for wanted in question.triples:
            support = _support(wanted, gold)
            before = tied.get(wanted, _Support((), is_title=False))
            # Another question may have a passage that states it more clearly.
            if not before.passages or support.is_title > before.is_title:
                tied[wanted] = support
            elif support.is_title == before.is_title:
                tied[wanted] = before._replace(passages=tuple(dict.fromkeys((*before.passages, *support.passages))))
    triples = tuple(GoldTriple(*parts, *support) for parts, support in tied.items() if support.passages)
    return GoldTriples(file, triples, len(tied) - len(triples))


class _Support(NamedTuple):
    """The passages that state a triple."""

    passages: tuple[str, ...]
    is_title: bool


def _support(wanted: tuple[str, str, str], gold: Collection[Node]) -> _Support:
    """Return the passages titled by a triple's subject; else those with both ends, the subject or the object."""
    subject, _, object_ = map(folded, wanted)
    texts = {node.id: f"{folded(node.name)} {folded(node.text)}" for node in gold}
    titled = tuple(node.id for node in gold if folded(node.name) == subject)
    ways = (
        tuple(node_id for node_id, text in texts.items() if subject in text and object_ in text),
        tuple(node_id for node_id, text in texts.items() if subject in text),
        tuple(node_id for node_id, text in texts.items() if object_ in text),
    )
    return _Support(titled, is_title=True) if titled else _Support(next(filter(None, ways), ()), is_title=False)


def _evidence_of(
    row: Mapping[str, Any], number: int, file: Path
) -> _QuestionEvidence:  # Any: whatever a file format can hold
    ids = [identifier(passage_id) for passage_id in _members(row.get(PASSAGE_IDS))]
    facts = [] if ids else _members(row.get(FACTS))
    try:
        triples = tuple(_triple(evidence) for evidence in _members(row.get(EVIDENCES)))
        titles = frozenset(folded(fact[0]) for fact in facts)
    except (IndexError, TypeError, ValueError) as error:
        raise BadInput(
            f"{file}, question {number}: its evidence is not triples ({error}); fetch the file again"
        ) from error
    return _QuestionEvidence(triples, frozenset(ids), titles)


def _triple(value: Any) -> tuple[str, str, str]:  # Any: JSON
    """Return a triple given as a list of three texts, or as one text with tabs."""
    parts = value.split("\t") if isinstance(value, str) else list(value)
    subject, predicate, object_ = (" ".join(identifier(part).split()) for part in parts)
    if not (subject and predicate and object_):
        raise ValueError(f"a part of {parts} is empty")
    return subject, predicate, object_


def _members(value: Any) -> list[Any]:  # Any: what a table holds
    """Return the members of a list, which may be a JSON text; of anything else none."""
    if isinstance(value, str) and value[:1] == "[":
        try:
            value = parsed(value)
        except ValueError:
            return []
    members = plain(value)
    return members if isinstance(members, list) else []


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table, or the objects of HippoRAG's list. Raises `BadInput`."""
    form = format_of(file)
    if form is None:
        read = whole_json(file)
        if not isinstance(read, list) or not all(isinstance(row, dict) for row in read):
            raise BadInput(f"{file} is no list of questions")
        yield from read
        return

    drop = refusing(file, "mend or remove the line")
    for batch in form.reader.batches(file, rows=NODE_ROWS, drop=drop, header=True):
        yield from batch.rows()
