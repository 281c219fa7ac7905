"""Questions over passages and tables: HotpotQA, 2WikiMultiHopQA, MuSiQue, OTT-QA and HyperGraphRAG's domains.

HotpotQA, 2WikiMultiHopQA, MuSiQue   HippoRAG's files: `NAME.json`, a list of questions with their paragraphs or
    context, and `NAME_corpus.json`, a list of `{title, text}`. Or tables: questions with `gold_pids`, and a corpus with
    `pid`, `title` and `text`. A passage's node is its `pid`, or its place in the list, from 0. GraphSearch's files name
    no passages: `questions/NAME.json`, `contexts/NAME.txt`; with a graph, gold are the nodes with the texts.
OTT-QA   its own files, or a table of questions next to tables and passages. Gold are the passages that hold the answer
    and the segments of the table whose rows lead to it. Only the traced questions (`dev.traced.json`,
    `train.traced.json`) name them.
HyperGraphRAG   `datasets/DOMAIN/questions.json` (Medicine is `hypertension`): a list of `{question, golden_answers,
    context, nary, nhop}`. `context` are the texts that the question was made from. The files name no passages: with a
    graph, gold are the chunks and tables that contain these texts, the first if several do.

In every case the ids of nodes are those that importing the corpus gives. Where the graph has a passage in parts, as a
`faithful` build cuts them, each part is gold: what is found is a chunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.ingest.documents.cut.document_nodes import part_id
from orienteer.ingest.formats.files import stem
from orienteer.ingest.tables.values import identifier
from orienteer.lab.evaluation.datasets.rows import (
    Dataset,
    QuestionRow,
    as_list,
    digest,
    examples_of,
    fields,
    files_in,
    keys,
    of_split,
    required,
    rows,
    the_one,
    unpacked,
    with_columns,
)
from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet
from orienteer.lab.formats import ottqa
from orienteer.records import Question


def _without_nodes(note: str) -> Callable[[Sequence[Example]], tuple[str, ...]]:
    """Return a function that counts the questions without gold nodes, and names the first."""

    def notes(examples: Sequence[Example]) -> tuple[str, ...]:
        lost = [example.question.id for example in examples if not example.gold.nodes]
        return (f"{len(lost)} of {len(examples)} questions {note.format(lost[0])}",) if lost else ()

    return notes


def _plainly(text: str) -> str:
    return "".join(text.split())


# HotpotQA, 2WikiMultiHopQA and MuSiQue.


# Columns that only this data set has, among the questions; those of 2WikiMultiHopQA come before HotpotQA's.
_TELLING: Mapping[str, frozenset[str]] = {
    "musique": frozenset({"hops", "decomposition", "question_decomposition", "paragraphs"}),
    "2wikimultihopqa": frozenset({"evidences", "evidences_id"}),
    "hotpotqa": frozenset({"supporting_facts"}),
}
_GOLD_COLUMNS = frozenset({"gold_pids", "supporting_facts", "paragraphs"})
_MULTIHOP_OWN = (
    "id",
    "_id",
    "question",
    "answer",
    "answer_aliases",
    "gold_pids",
    "context_pids",
    "context",
    "paragraphs",
)
_WRITTEN_AS_JSON = ("decomposition", "evidences", "supporting_facts", "question_decomposition")
_multihop_notes = _without_nodes("have no gold passages in the corpus: {}")

# The place and the text, without spaces, of each passage, by title.
PassagesByTitle = Mapping[str, Sequence[tuple[str, str]]]


def _multihop_files(path: Path) -> dict[Path, str]:
    """Return the files of questions, each with the name of the data set that its columns show."""
    kinds: dict[Path, str] = {}
    for file in files_in(path):
        columns = keys(file)
        kind = next((name for name, telling in _TELLING.items() if columns & telling), None)
        if kind is not None and columns >= {"question", "answer"} and columns & _GOLD_COLUMNS:
            kinds[file] = kind
    return kinds


def _read_multihop(path: Path, *, split: str | None, graph: Graph | None, name: str) -> QuestionSet:
    """Read the questions, and the passages if the gold ones are named by title and text."""
    found = [file for file, kind in _multihop_files(path).items() if kind == name]
    file = the_one(found, path, of=f"the questions of {name}")
    files, table = [file], rows(file)
    passages: defaultdict[str, list[tuple[str, str]]] | None = None
    if "gold_pids" not in keys(file):
        corpus = file.with_name(f"{stem(file)}_corpus{file.suffix}")  # HippoRAG's name for it
        passages = defaultdict(list)
        if corpus.exists():
            files.append(corpus)
            for place, row in enumerate(rows(corpus)):
                passages[identifier(row.get("title"))].append((str(place), _plainly(identifier(row.get("text")))))
        elif not (file.parent.parent / "contexts" / f"{stem(file)}.txt").exists():
            raise BadInput(f"{corpus} is missing: put the passages next to the questions under this name")
    examples = examples_of(table, lambda row: _multihop_example(row, file, name, passages), path=file)
    chosen = of_split(examples, split, path=file)
    if passages is not None and not passages:
        return _by_evidence(name, chosen, digest(files), graph)
    chosen = _in_parts(chosen, graph)
    return QuestionSet(name, tuple(chosen), digest(files), notes=_multihop_notes(chosen), remarks=_multihop_notes)


def _multihop_example(row: QuestionRow, file: Path, name: str, passages: PassagesByTitle | None) -> Example:
    question_id = identifier(row.get("id")) or required(row, "_id", path=file)
    nodes = list(map(identifier, as_list(row["gold_pids"]))) if passages is None else _by_text(row, passages)
    aliases = [alias for alias in as_list(row.get("answer_aliases")) if isinstance(alias, str) and alias.strip()]
    answer = required(row, "answer", path=file)
    opened = {key: unpacked(row[key]) for key in _WRITTEN_AS_JSON if key in row}
    own_fields = fields({**row, **opened}, but=_MULTIHOP_OWN)
    if name == "musique" and "hop" in (kind := question_id.split("__")[0]):
        # MuSiQue writes type and hops into the id: `3hop1__...`.
        own_fields.setdefault("type", kind)
        if kind[0].isdigit():
            own_fields.setdefault("hops", int(kind[0]))
    return Example(
        question=Question(id=question_id, text=required(row, "question", path=file)),
        gold=Gold(
            nodes=dict.fromkeys(nodes, 1.0),
            answers=tuple(dict.fromkeys([answer, *aliases])),
            evidence=() if passages != {} else tuple(dict.fromkeys(text for _, text in _gold_texts(row))),
            answer_type="boolean" if answer in ("yes", "no") else "entity",
        ),
        fields=own_fields,
    )


def _by_text(row: QuestionRow, passages: PassagesByTitle) -> list[str]:
    """Return the gold passages of one of HippoRAG's questions, by title and text; [] if the corpus lacks any."""
    places: list[str] = []
    for title, text in dict.fromkeys(_gold_texts(row)):
        plain = _plainly(text)
        place = next((place for place, other in passages.get(title, ()) if other == plain), None)
        if place is None:
            return []
        places.append(place)
    return places


def _gold_texts(row: QuestionRow) -> Iterable[tuple[str, str]]:
    """Yield title and text of each gold passage."""
    if "paragraphs" in row:
        for paragraph in row["paragraphs"]:
            if paragraph.get("is_supporting", True):
                yield paragraph["title"], paragraph.get("paragraph_text") or paragraph.get("text") or ""
        return
    titles = dict.fromkeys(fact[0] for fact in row["supporting_facts"])
    context = [(title, " ".join(sentences)) for title, sentences in row["context"] if title in titles]
    yield from context
    for title in titles.keys() - {title for title, _ in context}:
        yield title, ""  # not in the context, so it is not found: a question needs all of its gold passages


def _in_parts(examples: Sequence[Example], graph: Graph | None) -> list[Example]:
    """Return examples whose gold passages are chunks, where the graph has a passage as a document of several."""

    def parts(node: str) -> list[str]:
        count = graph.node(node).properties.get("parts") if graph is not None and node in graph else None
        return [part_id(node, order) for order in range(count)] if isinstance(count, int) else [node]

    return [_with_gold(example, [part for node in example.gold.nodes for part in parts(node)]) for example in examples]


def _with_gold(example: Example, nodes: Iterable[str]) -> Example:
    gold = example.gold.model_copy(update={"nodes": dict.fromkeys(nodes, 1.0)})
    return example.model_copy(update={"gold": gold})


# OTT-QA.


_ANSWERS = ("answer", "answer-text")
_NODES = ("answer_nodes", "answer-node")
_OTTQA_OWN = (*_ANSWERS, *_NODES, "question_id", "question", "gold_passages", "gold_rows", "question_postag", "version")
_ottqa_notes = _without_nodes("do not say where their answer is found")


def _ottqa_files(path: Path) -> list[Path]:
    """Return the files of questions: only the traced ones, if there are any."""
    folders = [folder for folder in (path, path / "released_data") if folder.is_dir()]
    files = [file for folder in folders for file in files_in(folder, root=path)] or files_in(path)
    tables = with_columns(files, frozenset({"question_id", "question", "table_id"}))
    return [file for file in tables if file.name.endswith(".traced.json")] or tables


def _read_ottqa(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the file of questions; the one that the split names, if there are several."""
    candidates = _ottqa_files(path)
    files = [file for file in candidates if split is not None and file.name.split(".")[0] == split] or candidates
    file = the_one(files, path, of="OTT-QA's questions", or_name=", or a --split")
    # The rows of the tables near the questions tell which segment a gold row is in.
    tables = next(filter(None, map(ottqa.recognize, (file.parent, file.parent.parent))), None)
    counts = {} if tables is None else {table.id: len(table.rows) for table in tables.tables()}
    table_files = [] if tables is None or tables.is_official else [*tables.of_tables]
    words = stem(file).casefold().replace(".", "_").split("_")
    file_split = next((word for word in words if word in ("train", "dev", "test")), None)
    examples = examples_of(rows(file), lambda row: _ottqa_example(row, counts, file, file_split), path=file)
    chosen = tuple(_in_parts(of_split(examples, split, path=file), graph))
    sha256 = digest([file, *table_files])
    return QuestionSet("ottqa", chosen, sha256, notes=_ottqa_notes(chosen), remarks=_ottqa_notes)


def _ottqa_example(row: QuestionRow, counts: Mapping[str, int], file: Path, split: str | None) -> Example:
    traced = as_list(next((row[key] for key in _NODES if row.get(key)), None))
    if row.get("gold_passages") is not None:
        passages, lines = as_list(row["gold_passages"]), as_list(row.get("gold_rows"))
    else:
        passages = sorted({node[2] for node in traced if node[2]})
        lines = sorted({node[1][0] for node in traced})
    table_id = required(row, "table_id", path=file)
    if lines and table_id not in counts:
        raise BadInput(f"{file}: the table {table_id!r} is not near the questions: keep OTT-QA's folders together")
    gold = [*passages, *(ottqa.segment_of(table_id, line, counts[table_id]) for line in lines)]
    answer = next((identifier(row[key]) for key in _ANSWERS if row.get(key)), "")
    own_fields = fields(row, but=_OTTQA_OWN)
    own_fields.setdefault("where", "+".join(sorted({node[3] for node in traced})) or None)
    own_fields.setdefault("split", split)
    return Example(
        question=Question(id=required(row, "question_id", path=file), text=required(row, "question", path=file)),
        gold=Gold(nodes=dict.fromkeys(gold, 1.0), answers=(answer,) if answer else (), answer_type="entity"),
        fields={name: value for name, value in own_fields.items() if value is not None},
    )


# HyperGraphRAG's domains, of which GraphSearch takes Medicine, Agriculture and Legal.


_HYPER_COLUMNS = frozenset({"question", "golden_answers", "context"})
# The column of a question's place in its file, from 1: its id, since the files give none.
_PLACE = "\0place"
_hyper_notes = _without_nodes("have evidence that no single passage of the graph contains")


def _hyper_files(path: Path) -> list[Path]:
    return [file for file in with_columns(files_in(path), _HYPER_COLUMNS) if file.suffix == ".json"]


def is_hypergraphrag(path: Path) -> bool:
    """Return whether there is one JSON file of questions with `golden_answers` and `context`."""
    return len(_hyper_files(path)) == 1


def _read_hyper(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; each is named by its place in the file, from 1."""
    file = the_one(_hyper_files(path), path, of="HyperGraphRAG's questions")
    table = [{**row, _PLACE: str(place)} for place, row in enumerate(rows(file), 1)]
    chosen = of_split(examples_of(table, _hyper_example, path=file), split, path=file)
    return _by_evidence("hypergraphrag", chosen, digest([file]), graph)


def _by_evidence(name: str, examples: Sequence[Example], sha256: str, graph: Graph | None) -> QuestionSet:
    """Return questions whose gold is, with a graph, the nodes that hold their texts; none if any text has no node."""
    if graph is None:
        return QuestionSet(name, tuple(examples), sha256)
    holders = _holders(graph, {text for example in examples for text in example.gold.evidence if text.strip()})
    placed: list[Example] = []
    for example in examples:
        passages = [holders.get(text) for text in example.gold.evidence]
        placed.append(_with_gold(example, () if None in passages else [node for node in passages if node is not None]))
    return QuestionSet(name, tuple(placed), sha256, notes=_hyper_notes(placed), remarks=_hyper_notes)


def _hyper_example(row: QuestionRow) -> Example:
    text = row["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{text!r} is not a question")

    def texts(column: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for text in as_list(row[column]) if isinstance(text, str) and text.strip()))

    return Example(
        question=Question(id=row[_PLACE], text=text),
        gold=Gold(answers=texts("golden_answers"), evidence=texts("context")),
        fields=fields(row, but=(_PLACE, *_HYPER_COLUMNS)),
    )


def _holders(graph: Graph, texts: Collection[str]) -> dict[str, str]:
    """Return for each text the id of the first passage that contains it, spaces and case aside."""
    kinds = [name for name in ("chunk", "table") if name in graph.arrays.types.nodes]
    mask = graph.arrays.mask(kinds) if kinds else None
    places = range(len(graph)) if mask is None else np.flatnonzero(mask).tolist()
    passages = [_plainly(graph.arrays.texts[row]).casefold() for row in places]
    starts = list(accumulate((len(passage) + 1 for passage in passages), initial=0))
    whole = "\n".join(passages)  # searched as one text: no passage contains a line end any more
    places_of = {text: whole.find(_plainly(text).casefold()) for text in texts}
    return {text: graph.arrays.ids[places[bisect_right(starts, at) - 1]] for text, at in places_of.items() if at >= 0}


def _multihop(name: str, about: str, looks_for: str) -> Dataset:
    return Dataset(
        name=name,
        about=about,
        looks_for=looks_for,
        recognises=lambda path: list(_multihop_files(path).values()) == [name],
        read=partial(_read_multihop, name=name),
        url=f"https://huggingface.co/datasets/osunlp/HippoRAG_2 ({name}.json, {name}_corpus.json)",
    )


DATASETS = (
    Dataset(
        name="ottqa",
        about="Questions over tables and passages of Wikipedia (MIT); gold passages and gold segments of tables.",
        url="https://github.com/wenhuchen/OTT-QA (released_data/dev.traced.json, data/)",
        looks_for="questions with question_id, question and table_id",
        recognises=lambda path: bool(_ottqa_files(path)),
        read=_read_ottqa,
    ),
    _multihop(
        "2wikimultihopqa",
        "Questions over two and more passages of Wikipedia, with their evidence as triples (Apache-2.0).",
        "questions with answers and evidences, and gold_pids or context",
    ),
    _multihop(
        "musique",
        "Questions of two to four hops (CC BY 4.0); `type` is the shape that the id names: 2hop, 3hop1, 4hop3.",
        "questions with answers and hops or paragraphs, and gold_pids or is_supporting",
    ),
    _multihop(
        "hotpotqa",
        "Questions over two passages of Wikipedia (CC BY-SA 4.0); `type` is bridge or comparison.",
        "questions with answers and supporting_facts, and gold_pids or context",
    ),
    Dataset(
        name="hypergraphrag",
        about="Questions over guidelines, agriculture, law and others, made from facts of these texts (MIT).",
        url="https://github.com/LHRLAB/HyperGraphRAG (evaluation/README.md says where datasets and contexts lie)",
        looks_for="a JSON list of questions with golden_answers and context",
        recognises=is_hypergraphrag,
        read=_read_hyper,
    ),
)
