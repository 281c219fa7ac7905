"""Files of questions as rows, in any form that a benchmark publishes, and the hash that identifies them."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, get_args

from orienteer.errors import BadInput, BadOption, Error
from orienteer.graph.store import Graph
from orienteer.ingest.bounds import parsed
from orienteer.ingest.formats import format_of
from orienteer.ingest.formats.files import opened, suffix, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.formats.table import NODE_ROWS, refusing
from orienteer.ingest.tables.plan import listing
from orienteer.ingest.tables.values import identifier, plain
from orienteer.lab.evaluation.examples import AnswerType, Example, Gold, QuestionSet
from orienteer.records import JsonValue, Question

# A question as a file holds it: cells by column, or values by key.
QuestionRow: TypeAlias = dict[str, Any]  # Any: a cell of any file format
# The bytes of a JSON file that are read to see the keys of its first object.
PEEKED_BYTES = 1 << 20
SUMS = "SHA256SUMS"  # as `sha256sum` writes it, beside the files of a download


def files_in(path: Path, *, root: Path | None = None) -> list[Path]:
    """Return the visible files of a folder, or the one file; links out of it, or of `root`, are skipped."""
    if path.is_dir():
        return listing(path, root)
    return [path] if path.is_file() else []


def keys(path: Path) -> frozenset[str]:
    """Return the columns of a file, or the keys of its first object; none if no rows can be read."""
    try:
        form = format_of(path)
        if form is not None:
            return frozenset(form.reader.columns(path))
        if suffix(path) != ".json":
            return frozenset()
        with opened(path) as raw:
            head = raw.read(PEEKED_BYTES).decode("utf-8-sig", "ignore").lstrip()
        first = json.JSONDecoder().raw_decode(head.removeprefix("[").lstrip())[0]
    except (Error, ValueError, RecursionError):
        return frozenset()  # reading it will say what is wrong with it
    return frozenset(first) if isinstance(first, dict) else frozenset()


def rows(path: Path) -> list[QuestionRow]:
    """Return the rows of a table, of JSON lines, or of a JSON list. Raises `BadInput` for an unreadable row."""
    form = format_of(path)
    if form is None:
        return list(_json_rows(path))
    drop = refusing(path, "correct or remove the line")
    return [row for batch in form.reader.batches(path, rows=NODE_ROWS, drop=drop, header=True) for row in batch.rows()]


def digest(paths: Iterable[Path]) -> str:
    """Return the sha256 of a file, or of the names and hashes of several. Raises `BadInput` by `SHA256SUMS`."""
    hashes = {}
    for path in paths:
        with path.open("rb") as raw:
            sha256 = hashlib.file_digest(raw, "sha256").hexdigest()
        hashes[path.name if path.name not in hashes else f"{path.parent.name}/{path.name}"] = sha256
        promised = _promised(path)
        if promised not in (None, sha256):
            raise BadInput(
                f"{path} has the sha256 {sha256}, and {SUMS} next to it says {promised}: download the file again; "
                "a newer release may have replaced it"
            )
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listed = "".join(f"{sha}  {name}\n" for name, sha in sorted(hashes.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def fields(row: Mapping[str, Any], *, but: Iterable[str] = ()) -> dict[str, JsonValue]:
    """Return the columns of a row as JSON, without those in `but` and empty ones."""
    left_out = set(but)
    values = {name: plain(value) for name, value in row.items() if name not in left_out}
    return {name: value for name, value in values.items() if value is not None}


def required(row: Mapping[str, Any], name: str, *, path: Path) -> str:
    """Return a cell as text. Raises `BadInput` if it is missing or empty."""
    value = identifier(row.get(name))
    if not value.strip():
        raise BadInput(f"{path}: a row has no {name!r} ({str(dict(row))[:80]}); fill it or remove the row")
    return value


def examples_of(table: Iterable[QuestionRow], make: Callable[[QuestionRow], Example], *, path: Path) -> list[Example]:
    """Return an example for each row. Raises `BadInput` for two with the same id, and for a row of another form."""
    examples = []
    for number, row in enumerate(table, 1):
        try:
            examples.append(make(row))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"{path}, question {number} does not have the form of this data set "
                f"({type(error).__name__}: {str(error)[:80]}); download the file again"
            ) from error
    unique((example.question.id for example in examples), path=path)
    return examples


def as_list(value: Any) -> list[Any]:  # Any: what a table holds
    """Return a list, or the list in a cell of JSON text; an empty cell is an empty list. Raises `TypeError`."""
    value_list = unpacked(value)
    if value_list is not None and value_list != "" and not isinstance(value_list, list):
        raise TypeError(f"{value_list!r} where a list is expected")
    return value_list or []


def unpacked(value: Any) -> Any:  # Any: JSON, or what a table holds
    """Return the list in a JSON text, or any other value unchanged."""
    if isinstance(value, str) and value[:1] == "[":
        try:
            return parsed(value)
        except ValueError:
            return value
    return value


def unique(ids: Iterable[str], *, path: Path) -> None:
    """Raise `BadInput` if two questions have one id: their results would be mixed up."""
    for question_id, count in Counter(ids).items():
        if count > 1:
            raise BadInput(f"{path}: two questions have the id {question_id!r}; give each its own")


def _json_rows(path: Path) -> Iterator[QuestionRow]:
    """Read a `.json` file: a list of objects, or JSON lines under that name, as some benchmarks publish them."""
    if suffix(path) != ".json":
        raise BadInput(f"{path}: {path.suffix or 'a file without a suffix'} is not a format of question files")
    with opened(path) as raw:
        try:
            text = raw.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: byte {error.start:,} is not UTF-8: save it as UTF-8") from error
    if text.lstrip().startswith("["):
        objects = whole_json(path)
        if not all(isinstance(item, dict) for item in objects):
            raise BadInput(f"{path} is a list whose members are not all objects: each question must be a JSON object")
        yield from objects
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield parse(line, path, number)


def _promised(path: Path) -> str | None:
    """Return the hash of a file in the folder's list of hashes, None without one."""
    sums = path.with_name(SUMS)
    if not sums.is_file():
        return None
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        sha, _, name = line.partition(" ")
        if name.lstrip(" *").removeprefix("./") == path.name:
            return sha.lower()
    return None


def with_columns(files: Iterable[Path], columns: frozenset[str], *suffixes: str) -> list[Path]:
    """Return the files that have these columns, of these suffixes if any are given."""
    return [file for file in files if (not suffixes or suffix(file) in suffixes) and keys(file) >= columns]


def the_one(candidates: Sequence[Path], path: Path, *, of: str, or_name: str = "") -> Path:
    """Return the only file. Raises `BadInput` for no file, or several."""
    if len(candidates) != 1:
        names = ", ".join(file.name for file in candidates) or "none"
        raise BadInput(f"{path} holds {len(candidates)} files of {of} ({names}): name the file itself{or_name}")
    return candidates[0]


# The description of a data set: its name, where it is from, how it is recognised and read.


class Reads(Protocol):
    """Reads a data set's questions from a file or a folder."""

    def __call__(self, path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
        """Return the questions. Raises `BadInput` for broken files, `BadOption` for an unknown split."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One benchmark. Nothing is ever downloaded: people get the files from `url`."""

    name: str
    about: str
    """What it is and its terms; how its files are hashed, if not by `digest`."""
    looks_for: str
    """What it is recognised by, as messages put it."""
    recognises: Callable[[Path], bool]
    """Whether a file or a folder has it, by columns, keys and names. Raises nothing."""
    read: Reads
    url: str = ""


def of_split(examples: Sequence[Example], split: str | None, *, path: Path) -> list[Example]:
    """Return the examples of one split, or all of them for None. Raises `BadOption` that lists the splits."""
    chosen = [example for example in examples if split is None or example.fields.get("split") == split]
    if split is not None and not chosen:
        splits = {str(example.fields["split"]) for example in examples if "split" in example.fields}
        raise unknown_split(split, splits, path=path)
    return chosen


def unknown_split(split: str, splits: Iterable[str], *, path: Path) -> BadOption:
    """Return the error for a split that the questions do not have."""
    names = ", ".join(sorted(splits))
    there = f"no split {split!r}. There are: {names}." if names else f"no splits: leave out --split {split}"
    return BadOption(f"{path} has {there}")


# Plain JSON lines, the form that is written here too: `{"id", "question", "nodes", "answers", ...}`.


_ANSWERS = ("answers", "golden_answers", "answer")
_OWN = ("id", "question", "nodes", *_ANSWERS, "answer_type", "unanswerable", "sealed")


def _jsonl_files(path: Path) -> list[Path]:
    """Return the files of JSON lines; without any, the lists of questions and answers."""
    lines = with_columns(files_in(path), frozenset({"question"}), ".jsonl", ".ndjson")
    lists = [file for name in _ANSWERS for file in with_columns(files_in(path), frozenset({"question", name}), ".json")]
    return lines or list(dict.fromkeys(lists))


def read(path: Path, *, split: str | None, graph: Graph | None) -> QuestionSet:
    """Read the questions; one without an id gets its place in the file, from 1."""
    file = the_one(_jsonl_files(path), path, of="questions")
    examples = []
    for number, row in enumerate(rows(file), 1):
        try:
            examples.append(_example(row, number))
        except ValueError as error:
            raise BadInput(f"{file}, question {number}: {error}") from error
    unique((example.question.id for example in examples), path=file)
    return QuestionSet("jsonl", tuple(of_split(examples, split, path=file)), digest([file]))


def _example(row: QuestionRow, number: int) -> Example:
    text, own_id, nodes, answer_type = (row.get(name) for name in ("question", "id", "nodes", "answer_type"))
    answers = next((row[name] for name in _ANSWERS if row.get(name) is not None), None)
    answers = [answers] if isinstance(answers, str) and row.get("answers") is None else answers
    types: tuple[AnswerType, ...] = get_args(AnswerType)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"question is {text!r}; it must be text")
    if isinstance(own_id, list | dict | bool):
        raise ValueError(f"the id is {own_id!r}; it must be text or a number")
    if answer_type is not None and answer_type not in types:
        raise ValueError(f"answer_type is {answer_type!r}; it must be one of: {', '.join(types)}")
    # An empty text among the answers is refused, since every answer would contain it.
    if answers is not None and not _are_texts(answers, list | dict):
        raise ValueError(f"answers is {answers!r}; it must be a list of texts")
    is_unanswerable, sealed = row.get("unanswerable") or False, row.get("sealed") or []
    if not isinstance(is_unanswerable, bool) or (is_unanswerable and (nodes or answers)):
        raise ValueError(
            f"unanswerable is {is_unanswerable!r}; it must be true or false, and true has no gold beside it"
        )
    if not _are_texts(sealed, list | dict):
        raise ValueError(f"sealed is {sealed!r}; it must be a list of hashes")
    return Example(
        question=Question(id=identifier(own_id) or str(number), text=text),
        gold=Gold(
            nodes=_nodes(nodes),
            answers=tuple(map(identifier, answers or ())),
            answer_type=answer_type,
            unanswerable=is_unanswerable,
            sealed=tuple(sealed),
        ),
        fields=fields(row, but=_OWN),
    )


def _are_texts(value: Any, refused: Any) -> bool:  # Any: JSON, and types
    return isinstance(value, list) and not any(
        isinstance(item, refused) or not identifier(item).strip() for item in value
    )


def _nodes(value: Any) -> dict[str, float]:  # Any: JSON
    if value is None:
        return {}
    if _are_texts(value, list | dict | bool):
        return dict.fromkeys(map(identifier, value), 1.0)
    if isinstance(value, dict) and all(
        isinstance(relevance, int | float) and not isinstance(relevance, bool) and math.isfinite(relevance)
        for relevance in value.values()
    ):
        return {node: float(relevance) for node, relevance in value.items() if relevance > 0}
    raise ValueError(f"nodes is {value!r}; it must be a list of ids, or ids with relevances")


DATASET = Dataset(
    name="jsonl",
    about='JSON lines: {"id", "question", "nodes": [ids] or {id: relevance}, "answers": [texts], ...}, also as .gz.',
    looks_for="one .jsonl file whose lines have a 'question', or one .json list with question and answer",
    recognises=lambda path: len(_jsonl_files(path)) == 1,
    read=read,
)
