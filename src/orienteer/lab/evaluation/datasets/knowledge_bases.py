"""Questions over knowledge bases: STaRK, GRBench, and TREC's files.

STaRK   the official folders of csv and split files, and one table with a column for the split:
    qa/{amazon,mag,prime}/stark_qa/stark_qa.csv                        id, query, answer_ids = "[12, 34]"
    qa/{amazon,mag,prime}/stark_qa/stark_qa_human_generated_eval.csv   the questions that people wrote: split `human`
    qa/{amazon,mag,prime}/split/{train,val,test,test-0.1}.index        one question *id* a line, no row numbers
    Node ids are the numbers of the knowledge base as text, as importing it gives them.
GRBench   the questions of Graph-CoT: JSON lines `{"qid", "question", "answer"}`, one file for each of ten graphs:
    {amazon,biomedical,dblp,goodreads,legal}/data.json
    maple/{Biology,Chemistry,Materials_Science,Medicine,Physics}/data.json
    Answers are names, joined by commas if there are several, and names may contain commas too; numbers; True and
    False. With a graph the names become nodes. The published files name no level, but come in blocks of ten for each
    template, and the notebooks that made them have their templates under headings with a level: see `_GRAPHS`. A level
    that a file gives yields to the heading's, and stays for a template that no heading has.
TREC   `NAME.queries` with id and text, `NAME.qrels` with four columns. mFAR publishes STaRK so: a corpus of
    `id<TAB>json`, `NAME.queries` and `NAME.qrels` for each split.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, Error
from orienteer.graph.store import Graph
from orienteer.ingest.formats.files import opened_text, stem, suffix
from orienteer.ingest.tables.values import identifier, number
from orienteer.lab.evaluation.datasets.rows import (
    Dataset,
    QuestionRow,
    digest,
    examples_of,
    fields,
    files_in,
    of_split,
    required,
    rows,
    the_one,
    unique,
    unknown_split,
    with_columns,
)
from orienteer.lab.evaluation.examples import AnswerType, Example, Gold, QuestionSet
from orienteer.records import Question

# STaRK.


_BASES = ("amazon", "mag", "prime")
# Node types that may answer, by knowledge base; every node of PRIME may. The official figures drop other hits.
_CANDIDATES = {"amazon": ("product",), "mag": ("paper",)}
# The split of the questions that people wrote, which have a file of their own.
_HUMAN = "human"


def _stark_files(path: Path) -> list[Path]:
    folders = [path, path / "stark_qa"] if path.is_dir() else [path]
    files = [file for folder in folders for file in files_in(folder, root=folders[0])]
    return with_columns(files, frozenset({"query", "answer_ids"}))


def _is_human(file: Path) -> bool:
    return _HUMAN in stem(file).casefold()


def _read_stark(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read one knowledge base's questions: the generated ones, or those that people wrote for the split `human`."""
    file = _stark_file(path, split)
    base = _knowledge_base(file)
    # The files of the splits, by split; samples of a split (`test-0.1`) do not rename it.
    indexes: dict[str, Path] = {}
    folder = next((folder for folder in (file.parent / "split", file.parent.parent / "split") if folder.is_dir()), None)
    if folder is not None and not _is_human(file):
        indexes = {index.name.removesuffix(".index"): index for index in files_in(folder) if suffix(index) == ".index"}
    split_of = {question: name for name, index in indexes.items() if "-" not in name for question in _ids(index)}
    examples = examples_of(rows(file), lambda row: _stark_example(row, split_of, file), path=file)
    files = [file]
    if split is not None and split in indexes:
        by_id = {example.question.id: example for example in examples}
        chosen = _ids(indexes[split])
        if missing := [question for question in chosen if question not in by_id]:
            raise BadInput(
                f"{indexes[split]} names the question {missing[0]!r}, which is not in the table: "
                "download both from the same release"
            )
        examples = [by_id[question] for question in chosen]
        files.append(indexes[split])
    elif not _is_human(file):
        splits = {*indexes, *(str(example.fields["split"]) for example in examples if "split" in example.fields)}
        if split is not None and split not in splits:
            others = {_HUMAN} if any(map(_is_human, files_in(file.parent))) else set()
            raise unknown_split(split, splits | others, path=file)
        examples = of_split(examples, split, path=file)
        files += indexes.values()
    notes = () if base else ("It is not known which knowledge base this is, so no node types are left out as answers.",)
    return QuestionSet(
        name="stark",
        examples=tuple(examples),
        sha256=digest(files),
        candidates=_CANDIDATES.get(base or ""),
        notes=notes,
        meta={"knowledge_base": base, "human": _is_human(file)},
    )


def _stark_file(path: Path, split: str | None) -> Path:
    """Return the file to read. Raises `BadInput` for no file, or one for each of several knowledge bases."""
    is_human = split == _HUMAN
    if path.is_file() and (split is None or _is_human(path) == is_human):
        return path
    base = _knowledge_base(path) if path.is_file() else None
    tables = _stark_files(path.parent if path.is_file() else path)
    files = [file for file in tables if _is_human(file) == is_human and base in (None, _knowledge_base(file))]
    if len(files) == 1:
        return files[0]
    if not files:
        raise BadInput(f"{path} holds no table of STaRK's questions for the split {split} (query, answer_ids)")
    names = ", ".join(file.name for file in files)
    raise BadInput(f"{path} holds the questions of several knowledge bases ({names}): name one of the files")


def _knowledge_base(file: Path) -> str | None:
    """Return the knowledge base by the names of the file and of its two nearest folders."""
    for name in (stem(file), *(folder.name for folder in list(file.resolve().parents)[:2])):
        words = name.casefold().replace("primekg", "prime").replace("-", "_").split("_")
        base_name = next((base for base in _BASES if base in words), None)
        if base_name is not None:
            return base_name
    return None


def _ids(index: Path) -> list[str]:
    return index.read_text(encoding="utf-8", errors="replace").split()


def _stark_example(row: QuestionRow, split_of: Mapping[str, str], file: Path) -> Example:
    question_id = required(row, "id", path=file)
    own_fields = fields(row, but=("id", "query", "answer_ids"))
    if _is_human(file):
        own_fields["split"] = _HUMAN
    elif question_id in split_of:
        own_fields["split"] = split_of[question_id]
    answers: Any = row["answer_ids"]  # Any: a list, or one written as text
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):  # a literal: nothing in it is run
        answers = ast.literal_eval(answers) if isinstance(answers, str) else answers
    if not isinstance(answers, list) or not all(isinstance(answer_id, int | str) for answer_id in answers):
        raise BadInput(f"{file}: the answer_ids of question {question_id} are not a list of ids: {str(answers)[:60]!r}")
    return Example(
        question=Question(id=question_id, text=required(row, "query", path=file)),
        gold=Gold(nodes=dict.fromkeys(map(identifier, answers), 1.0)),
        fields=own_fields,
    )


# GRBench.


_GRBENCH_COLUMNS = ("qid", "question", "answer")
# Questions a template.
_BLOCK = 10
# By graph its area in the papers' tables, and the level of each template by the heading that it is under, in the order
# of the questions: easy, medium, hard. Two templates of maple stand there the other way round.
_GRAPHS: Mapping[str, tuple[str, str]] = {
    "amazon": ("e-commerce", 8 * "e" + 8 * "m" + 4 * "h"),
    "biomedical": ("healthcare", 7 * "e" + 7 * "m" + 3 * "e" + 10 * "m"),
    "dblp": ("academic", 3 * "e" + 5 * "m" + 4 * "e" + 3 * "m"),
    "goodreads": ("literature", 9 * "e" + 4 * "m" + 4 * "e" + 6 * "m" + 1 * "h"),
    "legal": ("legal", 5 * "e" + 3 * "m" + 2 * "e" + 6 * "m" + 2 * "h"),
    "maple": ("academic", 2 * "e" + 5 * "m" + 2 * "e" + "m" + "e" + 2 * "m" + 1 * "h"),
}
_LEVELS = {"e": "easy", "m": "medium", "h": "hard"}
_MAPLE = ("Biology", "Chemistry", "Materials_Science", "Medicine", "Physics")
_SHOWN = 3


def _grbench_files(path: Path) -> list[Path]:
    """Return the files of questions in a folder, or those of the graphs whose folders it holds."""
    folders = [path, *sorted(path.glob("*/")), *sorted(path.glob("maple/*/"))] if path.is_dir() else [path]
    own, *within = (files_in(folder, root=path) for folder in folders)
    form = frozenset(_GRBENCH_COLUMNS)
    below = (file for files in within for file in files if file.name == "data.json")
    return with_columns(own, form, ".jsonl", ".json") or with_columns(below, form)


def _are_grbench(files: Sequence[Path]) -> bool:
    """Return whether each file is about one graph."""
    return 0 < len(files) == len({_domain_of(file) for file in files})


def _domain_of(file: Path) -> str:
    """Return the graph that questions are about, by the name of their file or else of their folder."""
    name = stem(file) if stem(file) in (*_GRAPHS, *_MAPLE) else file.absolute().parent.name
    return f"maple/{name}" if name in _MAPLE else name


def _read_grbench(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; with a graph, find the nodes that the answers name."""
    files = _grbench_files(path)
    if not _are_grbench(files):
        files = [the_one(files, path, of="GRBench's questions")]
    examples: list[Example] = []
    for file in files:
        table = rows(file)
        has_domains = len(files) > 1 or any(row.get("domain") for row in table)
        examples += examples_of(table, partial(_grbench_example, file=file, has_domains=has_domains), path=file)
    examples = of_split(examples, split, path=path)
    if graph is None:
        return QuestionSet("grbench", tuple(examples), digest(files))
    answers = _GraphAnswers(examples, graph)
    resolved = tuple(map(answers.resolved, examples))
    return QuestionSet("grbench", resolved, digest(files), notes=answers.notes(resolved), remarks=answers.notes)


def _grbench_example(row: QuestionRow, file: Path, *, has_domains: bool) -> Example:
    qid = required(row, "qid", path=file)
    own_fields = fields(row, but=_GRBENCH_COLUMNS)
    domain = own_fields["domain"] = str(own_fields.get("domain", _domain_of(file)))
    area, levels = _GRAPHS.get(domain.partition("/")[0], (None, ""))
    template = own_fields.get("template")
    if not isinstance(template, int | float) and area is not None and qid.isascii() and qid.isdigit():
        template = int(qid) // _BLOCK
    if isinstance(template, int | float):
        own_fields["template"] = template = int(template)
        if level := _LEVELS.get(levels[template : template + 1]):
            own_fields["level"] = level
    own_fields["area"] = own_fields.get("area", area)
    answer = required(row, "answer", path=file).strip()
    # One name or several have no type yet: only a graph can tell them apart.
    answer_type: AnswerType | None = "number" if isinstance(number(answer), int | float) else None
    return Example(
        question=Question(id=f"{domain}-{qid}" if has_domains else qid, text=required(row, "question", path=file)),
        gold=Gold(answers=(answer,), answer_type="boolean" if answer in ("True", "False") else answer_type),
        fields={name: value for name, value in own_fields.items() if value is not None},
    )


class _Cut(NamedTuple):
    """The names in an answer, and the pieces that are not names in the graph."""

    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def split_names(answer: str, names: Mapping[str, object]) -> _Cut:
    """Cut an answer at commas into names that may contain commas: the longest run that is a name, from the left."""
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
    return _Cut(tuple(matched), tuple(piece for piece in unknown if piece))


class _GraphAnswers:
    """The nodes whose exact names the answers of some questions contain.

    A name of several nodes means those of the type that the other answers of its template have, else all of them. A
    question gets no gold nodes if a piece of its answer is not a name in the graph. Nor does any question of a domain
    with fewer than half of its answers in the graph: it is about another graph, and names match by chance.
    """

    def __init__(self, examples: Sequence[Example], graph: Graph) -> None:
        self._arrays = graph.arrays
        self._rows_of: defaultdict[str, list[int]] = defaultdict(list)
        for row, name in enumerate(graph.arrays.names):
            self._rows_of[name].append(row)
        by_name = [example for example in examples if example.gold.answer_type is None]
        self._cuts = {example.question.id: split_names(example.gold.answers[0], self._rows_of) for example in by_name}
        counts = Counter(str(example.fields["domain"]) for example in by_name)
        matched = Counter(
            str(example.fields["domain"]) for example in by_name if not self._cuts[example.question.id].unknown
        )
        self._foreign = {domain for domain, count in counts.items() if 2 * matched[domain] < count}
        # The node type of each template whose unambiguous answers are all of one type.
        types_of: defaultdict[str, set[str]] = defaultdict(set)
        for example in by_name:
            for name in self._names(example):
                if len(self._rows_of[name]) == 1 and "template" in example.fields:
                    types_of[_template(example)].add(self._arrays.type_at(self._rows_of[name][0]))
        self._types = {template: next(iter(types)) for template, types in types_of.items() if len(types) == 1}

    def _names(self, example: Example) -> tuple[str, ...]:
        """Return the names in an answer; none if it is not resolved."""
        cut = self._cuts.get(example.question.id, _Cut())
        return () if cut.unknown or example.fields.get("domain") in self._foreign else cut.names

    def _rows(self, name: str, example: Example) -> list[int]:
        node_type = self._types.get(_template(example))
        return [row for row in self._rows_of[name] if self._arrays.type_at(row) == node_type] or self._rows_of[name]

    def resolved(self, example: Example) -> Example:
        """Return a question with the nodes that its answer names."""
        names = self._names(example)
        if not names:
            return example
        nodes = {self._arrays.ids[row]: 1.0 for name in names for row in self._rows(name, example)}
        gold = Gold(nodes=nodes, answers=names, answer_type="set" if len(names) > 1 else "entity")
        return example.model_copy(update={"gold": gold})

    def notes(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return notes on the answers of these questions that are not clear names of nodes."""
        asked = [example for example in examples if example.question.id in self._cuts]
        unknown = {example.question.id: self._cuts[example.question.id].unknown for example in asked}
        lost = [f"{question} ({pieces[0]!r})" for question, pieces in unknown.items() if pieces]
        foreign = sorted(self._foreign.intersection(str(example.fields["domain"]) for example in examples))
        several = {name for one in asked for name in self._names(one) if len(self._rows(name, one)) > 1}
        notes = []
        if lost:
            notes.append(
                f"{len(lost)} of {len(asked)} answers contain a name that the graph does not have: {_some(lost)}"
            )
        if foreign:
            notes.append(f"The graph has fewer than half of the answers of {_some(foreign)}: another graph's questions")
        if several:
            count = len(several)
            notes.append(f"{count} names stand for several nodes, all of which count as gold: {_some(sorted(several))}")
        return tuple(notes)


def _template(example: Example) -> str:
    return f"{example.fields.get('domain')}/{example.fields.get('template')}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" and others" if len(names) > _SHOWN else "")


# TREC.


_QUERIES, _QRELS = "queries", "qrels"


def _trec_kind(file: Path) -> tuple[str, str] | None:
    """Return the kind and the split in a file's name (`val.queries`, `qrels.test.tsv`), or None for any other."""
    words = [word for word in file.name.casefold().removesuffix(".gz").split(".") if word not in ("tsv", "txt")]
    for kind in (_QUERIES, _QRELS):
        if kind in words or (words[:1] and words[0].endswith(f"_{kind}")):
            return kind, ".".join(word for word in words if word != kind).removesuffix(f"_{kind}")
    return None


def _trec_pairs(path: Path) -> dict[str, tuple[Path, Path]]:
    """Return the files of queries and qrels by split; for a file, the file and its counterpart."""
    own = None if path.is_dir() else _trec_kind(path)
    files = {kind: file for file in files_in(path if path.is_dir() else path.parent) if (kind := _trec_kind(file))}
    splits = sorted({split for _, split in files} if own is None else {own[1]})
    if path.is_file() and own is None:
        return {}
    by_split = {
        split: (files.get((_QUERIES, split)) or files.get((_QUERIES, "")), files.get((_QRELS, split)))
        for split in splits
    }
    return {split: (queries, qrels) for split, (queries, qrels) in by_split.items() if queries and qrels}


def _is_trec(path: Path) -> bool:
    pairs = _trec_pairs(path)
    try:
        return bool(pairs) and all(
            next(_columns(queries, 2), None) and next(_columns(qrels, 4), None) for queries, qrels in pairs.values()
        )
    except Error:
        return False


def _read_trec(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the queries with their judgements, if any; a relevance of 0 or less is not gold."""
    pairs = _trec_pairs(path)
    if not pairs:
        raise BadInput(f"{path} holds no queries and qrels: name a folder with NAME.queries and NAME.qrels")
    if split is not None and split not in pairs:
        raise unknown_split(split, [name for name in pairs if name], path=path)
    chosen = {split: pairs[split]} if split is not None else pairs
    examples: list[Example] = []
    lost: list[str] = []
    for name, (queries, qrels) in chosen.items():
        judged: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for query_id, _, document, relevance in _columns(qrels, 4):
            try:
                value = float(relevance)
            except ValueError as error:
                raise BadInput(
                    f"{qrels}: {relevance!r} is not a relevance: the four columns are query, 0, node, relevance"
                ) from error
            if not math.isfinite(value):
                raise BadInput(
                    f"{qrels}: the relevance {relevance!r} of {document!r} for {query_id!r} is not a finite number"
                )
            if value > 0:
                judged[query_id][document] = value
        several = queries in [other for label, (other, _) in pairs.items() if label != name]
        for query_id, text in _columns(queries, 2):
            if several and query_id not in judged:
                continue  # one file has the queries of all splits
            question = Question(id=query_id, text=text.strip())
            gold = Gold(nodes=judged.get(query_id, {}))
            examples.append(Example(question=question, gold=gold, fields={"split": name} if name else {}))
        ids = {example.question.id for example in examples}
        lost += [query_id for query_id in judged if query_id not in ids]
    unique((example.question.id for example in examples), path=path)
    files = list(dict.fromkeys(file for pair in chosen.values() for file in pair))
    notes = (f"{len(lost)} queries have judgements and no text, so they are not asked: {lost[0]}",) if lost else ()
    return QuestionSet("trec", tuple(examples), digest(files), notes=notes)


def _columns(file: Path, count: int) -> Iterator[list[str]]:
    """Read lines of columns: two with a tab between them, four with any space. Raises `BadInput` for another line."""
    with opened_text(file) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t", 1) if count == 2 else line.split()
            if len(columns) != count or not all(column.strip() for column in columns):
                raise BadInput(f"{file}, line {number}: {line.strip()[:60]!r} does not have {count} columns")
            yield columns


STARK = Dataset(
    name="stark",
    about=(
        "Questions over the semi-structured knowledge bases AMAZON, MAG and PRIME (CC BY 4.0). Answers changed between "
        "releases, so the hash of the table and of the split that was read goes with every figure."
    ),
    url="https://huggingface.co/datasets/snap-stanford/stark",
    looks_for="a table with the columns query and answer_ids (qa/{amazon,mag,prime}/stark_qa/stark_qa.csv)",
    recognises=lambda path: bool(_stark_files(path)),
    read=_read_stark,
)
GRBENCH = Dataset(
    name="grbench",
    about="Graph-CoT's questions over ten graphs (Apache-2.0), with their `domain`, `area`, `template` and `level`.",
    url="https://github.com/PeterGriffinJin/Graph-CoT (data/processed_data/*/data.json)",
    looks_for="JSON lines with qid, question and answer, a file for each graph or one for all",
    recognises=lambda path: _are_grbench(_grbench_files(path)),
    read=_read_grbench,
)
TREC = Dataset(
    name="trec",
    about="Queries (id, tab, text) with judgements in TREC's four columns, as mFAR publishes STaRK; one pair a split.",
    looks_for="NAME.queries and NAME.qrels, or queries.tsv and qrels.tsv",
    recognises=_is_trec,
    read=_read_trec,
)
