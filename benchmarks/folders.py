"""A folder of documents, and what people ask of it: passages found, answers quoted, and what is rightly refused.

    python benchmarks/folders.py [--data FOLDER] [--folder NAME]... [--split dev] [--methods auto,bm25] [--json FILE]

Three folders: `sqlite`, documentation in HTML; `office`, what an invented harbour office has lying about, made by
office.py; `code`, a part of the running Python's library. The first is in the public domain; get it with

    apt-get download sqlite3-doc && dpkg -x sqlite3-doc_*.deb FOLDER

and hand FOLDER to `--data`; without it that folder is left out. The questions were written against 3.40.1. Pages that
repeat others (indexes, the release log page by page, the whole interface in one page) are not copied.

Two more folders, `den` and `solar`, are made of other people's documents by `python benchmarks/public_folders.py DATA`.
`--data DATA --split public` asks the 120 questions of folders/public.jsonl of them, in further shapes.

The other questions stand in folders/dev.jsonl and folders/held.jsonl, in ten shapes. Whoever builds looks at dev alone:
of `held` nothing but totals is printed. Gold is a span of text in a file: it is found at rank r if hit r comes from
that file and its whole passage holds the span; case, punctuation and white space do not count, and of a span with ` | `
the cells must stand in that order in one line. `top 1` asks for any gold, `top 5` and `top 20` for all of it; of golds
with the same `part`, and of all where `any` is true, one suffices. `file 5` asks for the files alone. `--check`
verifies that every span stands in its file as the product reads it.

`--misspelt` changes a letter of each question's rarest word, of five letters or more, before it is asked.

Each method is asked of a graph without vectors and of one with the local embedder, `minilm`. Peers over the same
passages: SQLite's FTS5 with `porter`, bm25s with English stop words, and tantivy with its English stemmer, where they
are installed; and ripgrep, which ranks files by how many words of the question they hold.
Gains over the first method of the same graph are paired; all intervals are 95 %. An answer without a model, quoted or
read of rows, is right if it has all parts of the truth or holds a span of gold, a list of documents if it has the files
of all gold and no other.

With `--replies` a model answers: `documents` is asked 42 questions of the half that `--split` names, 30 with an answer
and 12 without, drawn once. The file has a reply for each prompt, a JSON object a line: `prompt`, by which the file
PROMPT.txt is called that `--prompts FOLDER` writes for every prompt without a reply, and `reply`. Whoever writes the
replies sees nothing but the prompts; then the next round asks what comes after them. Printed are right, right as far as
it goes (and says what is lacking), refused and wrong answers, calls and prompt tokens (characters / 4).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from office import make_office
from orienteer import BuildOptions, Error, Graph, Retriever, build_graph
from orienteer.errors import ModelError
from orienteer.graph.embedding import embed_graph
from orienteer.index.embedders import open_embedder
from orienteer.lab.evaluation.scores.statistics import differences, mean_interval
from orienteer.records import Message, Reply, Result, Usage
from orienteer.text import numbers_in, spelled_numbers
from report import command_line, write_json

HERE = Path(__file__).parent / "folders"
PUBLIC = ("den", "solar")
FOLDERS = ("sqlite", "office", "code", *PUBLIC)
SHAPES = (
    "look-up",
    "definition",
    "table row",
    "table and text",
    "joined by name",
    "joined without name",
    "which documents",
    "comparison",
    "paraphrase",
    *("how-to", "number or date", "misspelt", "two parts", "why"),
    "not answerable",
)
METHODS = ("auto", "bm25", "hybrid", "sage", "hippo")
PEERS = ("fts5", "bm25s", "tantivy", "ripgrep")
VARIANTS = ("plain", "minilm")
K = 20
MEASURES = ("top 1", "top 5", "top 20", "file 5")
REPEATED = re.compile(
    r"(releaselog|search\.d|images)/|(doc_\w+_crossref|requirements|capi3ref|fileformat2|keyword_index|sitemap|oldnews"
    r"|34to35|consortium_agreement-20071201)\.html"
)
"""Pages of the documentation that hold what other pages hold."""
_LISTS = json.loads((HERE / "words.json").read_text(encoding="utf-8"))
"""The modules of Python's library that are asked about, and the words that ripgrep is not asked for."""
_WORD = re.compile(r"\w+")


def words_of(text: str) -> str:
    """Return the words of a text in lower case, one space before and after each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def holds(text: str, span: str) -> bool:
    """Say whether a text holds a span; of a row, its cells in order in one line."""
    if " | " not in span:
        return words_of(span) in words_of(text)
    cells = [words_of(one) for one in span.split(" | ")]
    return any(_in_order(words_of(line), cells) for line in text.splitlines())


def _in_order(line: str, cells: Sequence[str]) -> bool:
    at = 0
    for cell in cells:
        found = line.find(cell, at)
        if found < 0:
            return False
        at = found + len(cell) - 1
    return True


class Gold(NamedTuple):
    """A span of text in a file. Of those with the same part any one suffices."""

    file: str
    span: str
    part: int


@dataclass(frozen=True)
class Asked:
    """A question, and what answers it; no gold where nothing does."""

    id: str
    folder: str
    shape: str
    question: str
    gold: tuple[Gold, ...]
    answer: str | None
    split: str


class Passage(NamedTuple):
    """What a hit stands for."""

    file: str
    text: str
    shown: str = ""
    """What a person is shown of it; empty for a peer that shows nothing."""


@dataclass
class Found:
    """What a method gave for a question."""

    passages: list[Passage]
    seconds: float
    is_refused: bool = False
    quotation: str | None = None
    answer: str | None = None
    """What was answered, quoted or not."""


Method = Callable[[str], Found]


@dataclass
class Scores:
    """Figures of one method over one graph, by question."""

    name: str
    rows: dict[str, dict[str, float]] = field(default_factory=dict)


def misspelt(asked: Asked, counts: Counter[str]) -> str:
    """Return a question with another letter in its rarest word; `counts` has the passages with each word."""
    random_of = random.Random(asked.id)  # the same each time
    words = [word for word in _WORD.findall(asked.question) if len(word) > 4 and word.isalpha()]
    known = [word for word in words if counts[word.casefold()]]
    if not known:
        return asked.question
    rarest = min(known, key=lambda word: counts[word.casefold()])
    while True:
        at, letter = random_of.randrange(len(rarest)), random_of.choice("abcdefghijklmnopqrstuvwxyz")
        other = f"{rarest[:at]}{letter}{rarest[at + 1 :]}"
        if not counts[other.casefold()]:
            return asked.question.replace(rarest, other)


def read_asked(split: str) -> list[Asked]:
    """Read the questions of a split, or of both."""
    found = []
    for name in ("dev", "held") if split == "all" else (split,):
        for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            gold = tuple(Gold(**{"part": 0 if one["any"] else at, **each}) for at, each in enumerate(one["gold"]))
            told = {key: one[key] for key in ("id", "folder", "shape", "question", "answer", "split")}
            found.append(Asked(gold=gold, **told))
    return found


def made_sqlite(data: Path | None, target: Path) -> None:
    """Copy the documentation, without the pages that repeat others."""
    places = [data, data / "sqlite", data / "usr/share/doc/sqlite3"] if data else []
    source = next((one for one in places if (one / "lang_select.html").exists()), None)
    if source is None:
        raise FileNotFoundError("no documentation of SQLite there: see --help for how to get it")
    for path in sorted(source.rglob("*.html")):
        name = path.relative_to(source)
        if not REPEATED.match(name.as_posix()):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)


def made_code(library: Path, target: Path) -> None:
    """Copy a part of Python's library: its sources and what is written about them."""
    for module in _LISTS["modules"]:
        paths = [library / f"{module}.py", *sorted((library / module).rglob("*"))]
        for path in paths:
            if path.is_file() and path.suffix in (".py", ".rst", ".md", ".txt"):
                (target / path.relative_to(library)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / path.relative_to(library))


class Bench:
    """The folders, their graphs, and the questions."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.cache: Path = options.cache
        self.data: Path | None = options.data
        self.is_fresh: bool = options.fresh
        self.methods: list[str] = options.methods.split(",") if options.methods else [*METHODS, *PEERS]
        self.misspells: bool = options.misspelt
        self.variants: list[str] = options.variants.split(",")
        self.asked = [one for one in read_asked(options.split) if one.folder in (options.folder or FOLDERS)]
        self.passages: dict[str, int] = {}

    def folder(self, name: str) -> Path:
        """Return where a folder lies, made if it is not there. Raises `FileNotFoundError` without its source."""
        if name in PUBLIC:
            if self.data is None or not (self.data / name).is_dir():
                raise FileNotFoundError("it is not in --data: python benchmarks/public_folders.py DATA makes it")
            return self.data / name
        target = self.cache / "folders" / name
        if target.exists() and self.is_fresh:
            shutil.rmtree(target)
        if not target.exists():
            making = target.with_name(f"{name}.part")
            shutil.rmtree(making, ignore_errors=True)
            makers: Mapping[str, Callable[[], object]] = {
                "sqlite": lambda: made_sqlite(self.data, making),
                "office": lambda: make_office(making),
                "code": lambda: made_code(Path(sysconfig.get_path("stdlib")), making),
            }
            making.mkdir(parents=True)
            makers[name]()
            making.rename(target)
        return target

    def graph(self, name: str, variant: str) -> Graph:
        """Return the graph of a folder, built if it is not there; prose is cut by tokens in both variants."""
        folder = self.folder(name)
        target = self.cache / f"{name}-{variant}"
        if self.is_fresh or not target.exists():
            embedder = None if variant == "plain" else open_embedder(variant)
            cache = self.cache / "vectors"
            options = BuildOptions(chunks="tokens", force=True)
            report = build_graph([folder], target, options=options, embedder=embedder, cache=cache)
            if embedder is not None:
                embed_graph(Graph.open(target), embedder, cache=cache)
            left = len(report.skipped) + len(report.unreadable)
            told = (
                f"{report.documents} documents, {report.chunks} chunks, {report.tables} tables, {left} files left out"
            )
            print(f"{name}-{variant}: {told}, {report.seconds:.1f} s")
        return Graph.open(target)


def passages_of(graph: Graph) -> Iterator[Passage]:
    """Yield every passage of a graph: chunks and tables, with their titles."""
    for one in graph.arrays.ids:
        node = graph.node(one)
        if node.type in ("chunk", "table"):
            yield Passage(str(node.properties["file"]), f"{node.name}\n{node.text}")


def retrieving(graph: Graph, method: str) -> Method:
    """Return one of the product's methods, as a person asks it."""
    retriever = Retriever(graph, method=method)

    def ask(question: str) -> Found:
        started = time.perf_counter()
        result = retriever.ask(question, k=K)
        spent = time.perf_counter() - started
        passages = []
        for hit in result.hits:
            node = graph.node(hit.id)
            file = hit.source.file if hit.source else str(node.properties.get("file", hit.id))
            shown = getattr(hit, "excerpt", None) or hit.text or ""
            passages.append(Passage(file or "", f"{node.name}\n{node.text}", str(shown)))
        refusal = result.refusal
        quotation = result.answer if result.answer_kind == "quotation" else None
        return Found(passages, spent, refusal is not None and refusal.kind == "not_here", quotation, result.answer)

    return ask


Ranking = Callable[[str], Iterable[int]]


def over(graph: Graph, index: Callable[[list[str]], Ranking]) -> Method:
    """Return a peer that indexes the texts of the same passages and ranks them by their places."""
    passages = list(passages_of(graph))
    rank = index([one.text for one in passages])

    def ask(question: str) -> Found:
        started = time.perf_counter()
        places = list(rank(question))
        return Found([passages[place] for place in places], time.perf_counter() - started)

    return ask


def fts5(texts: list[str]) -> Ranking:
    """SQLite's FTS5 with the stemmer `porter`: any word of the question."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize = 'porter unicode61')")
    table.executemany("INSERT INTO passages(rowid, text) VALUES (?, ?)", enumerate(texts))
    query = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"

    def rank(question: str) -> Iterable[int]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        return [row for (row,) in table.execute(query, (words, K))]

    return rank


def bm25s(texts: list[str]) -> Ranking:
    """The library bm25s with its English stop words."""
    import bm25s as engine

    index = engine.BM25()
    index.index(engine.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def rank(question: str) -> Iterable[int]:
        tokens = engine.tokenize([question], stopwords="en", show_progress=False)
        rows, scores = index.retrieve(tokens, k=min(K, len(texts)), show_progress=False)
        return [int(row) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    return rank


def tantivy(texts: list[str]) -> Ranking:
    """Tantivy with its English stemmer: any word of the question."""
    import tantivy as engine

    fields = engine.SchemaBuilder()
    fields.add_text_field("text", tokenizer_name="en_stem")
    fields.add_unsigned_field("place", stored=True)
    index = engine.Index(fields.build())
    writer = index.writer()
    for place, text in enumerate(texts):
        writer.add_document(engine.Document(text=text, place=place))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def rank(question: str) -> Iterable[int]:
        query = index.parse_query(" ".join(_WORD.findall(question.casefold())), ["text"])
        return [searcher.doc(address)["place"][0] for _, address in searcher.search(query, K).hits]

    return rank


INDEXES = {"fts5": fts5, "bm25s": bm25s, "tantivy": tantivy}


def ripgrep(folder: Path, program: str) -> Method:
    """Return ripgrep: files by how many words of the question they hold, then by how often."""

    def ask(question: str) -> Found:
        started = time.perf_counter()
        distinct: dict[str, int] = defaultdict(int)
        times: dict[str, int] = defaultdict(int)
        for word in dict.fromkeys(_WORD.findall(question.casefold())):
            if word in _LISTS["stop words"]:
                continue
            command = [program, "-i", "-w", "-F", "--count-matches", "--no-messages", "--", word, "."]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            for line in done.stdout.splitlines():
                path, _, count = line.rpartition(":")
                distinct[path.removeprefix("./")] += 1
                times[path.removeprefix("./")] += int(count)
        best = sorted(distinct, key=lambda path: (-distinct[path], -times[path], path))[:K]
        return Found([Passage(path, "") for path in best], time.perf_counter() - started)

    return ask


def opened(bench: Bench, name: str, variant: str) -> Iterator[tuple[str, Method]]:
    """Yield the methods that a graph has what it takes for; peers once, beside the graph without vectors."""
    graph = bench.graph(name, variant)
    bench.passages[name] = sum(1 for _ in passages_of(graph))
    program = shutil.which("rg")
    for method in bench.methods:
        if method in PEERS:
            if variant != bench.variants[0]:
                continue
            try:
                if method in INDEXES:
                    yield method, over(graph, INDEXES[method])
                elif program is not None:
                    yield method, ripgrep(bench.folder(name), program)
            except ImportError as error:
                sys.stderr.write(f"{method} is left out: {error}\n")
            continue
        if method == "hybrid" and variant == "plain":
            continue
        try:
            yield f"{method}, {variant}", retrieving(graph, method)
        except Error as error:
            sys.stderr.write(f"{method} on {name}-{variant}: {error}\n")


def ranks(asked: Asked, found: Found, *, is_files: bool) -> list[int]:
    """Return the best rank of each part of the gold, from 1; 0 where it was not found. Files count once."""
    best: dict[int, int] = {}
    order = list(dict.fromkeys(one.file for one in found.passages))
    for gold in asked.gold:
        if is_files:
            place = order.index(gold.file) + 1 if gold.file in order else 0
        else:
            place = next((at for at, one in enumerate(found.passages, 1) if is_gold(one, gold)), 0)
        known = best.setdefault(gold.part, place)
        best[gold.part] = min(known, place) or max(known, place)
    return list(best.values())


def is_gold(passage: Passage, gold: Gold) -> bool:
    """Say whether a passage holds a span of gold."""
    return passage.file == gold.file and holds(passage.text, gold.span)


def measured(asked: Asked, found: Found) -> dict[str, float]:
    """Return the figures of a question: of any, and of one that has an answer."""
    row = {
        "seconds": found.seconds,
        "refused": float(found.is_refused),
        "answered": float(found.quotation is not None),
        "told": float(found.answer is not None),
    }
    if not asked.gold:
        return row
    places, files = ranks(asked, found, is_files=False), ranks(asked, found, is_files=True)
    row |= {
        "top 1": float(1 in places),
        "top 5": float(all(0 < one <= 5 for one in places)),
        "top 20": float(all(0 < one <= K for one in places)),
        "file 5": float(all(0 < one <= 5 for one in files)),
    }
    # Of the hits that hold gold, how many show it or the answer.
    holding = [(one, gold.span) for one in found.passages for gold in asked.gold if one.shown and is_gold(one, gold)]
    row["holding"] = len(holding)
    row["showing"] = sum(holds(one.shown, span) or has_answer(one.shown, asked.answer) for one, span in holding)
    told = found.answer or ""
    is_list = asked.shape == "which documents" and set(told.split(", ")) == {gold.file for gold in asked.gold}
    has_gold = any(holds(told, gold.span) for gold in asked.gold)
    row["right"] = float(is_list or has_gold or has_answer(told, asked.answer))
    if asked.shape == "look-up":
        row["quoted"] = float(found.quotation is not None and has_answer(found.quotation, asked.answer))
    return row


def has_answer(text: str, answer: str | None) -> bool:
    """Say whether a text has an answer: each of its parts."""
    parts = [one for one in (answer or "").split(";") if one.strip()]
    return bool(parts) and all(holds(text, one.strip()) for one in parts)


def ask_all(bench: Bench) -> dict[str, Scores]:
    """Ask every method every question."""
    scores: dict[str, Scores] = {}
    for name in FOLDERS:
        some = [one for one in bench.asked if one.folder == name]
        if not some:
            continue
        try:
            bench.folder(name)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        for variant in bench.variants:
            said = {one.id: one.question for one in some}
            if bench.misspells:
                texts = (passage.text for passage in passages_of(bench.graph(name, variant)))
                counts = Counter(word for text in texts for word in set(words_of(text).split()))
                said = {one.id: misspelt(one, counts) for one in some}
            for label, method in opened(bench, name, variant):
                method("once to warm up")
                rows = scores.setdefault(label, Scores(label)).rows
                rows.update({one.id: measured(one, method(said[one.id])) for one in some})
    return scores


def table(asked: Sequence[Asked], scores: Mapping[str, Scores]) -> dict[str, Any]:  # Any: JSON
    """Return every method's figures over some questions."""
    ids = [one.id for one in asked if one.gold]
    none = [one.id for one in asked if not one.gold]
    written: dict[str, Any] = {}
    for label, one in scores.items():
        its = [each for each in ids if each in one.rows]
        if not its:
            continue
        first = next(iter(scores.values()), one)
        base = next((each for each in scores.values() if _variant(each.name) == _variant(label)), first)
        row: dict[str, Any] = {"n": len(its)}
        for measure in ("file 5",) if label == "ripgrep" else MEASURES:
            values = [100 * one.rows[each][measure] for each in its]
            row[measure] = list(mean_interval(values))
            if base is not one and all(each in base.rows for each in its):
                theirs = [100 * base.rows[each][measure] for each in its]
                row[f"{measure} over {base.name}"] = list(mean_interval(differences(values, theirs)))
        row["refused, answerable"] = _share(one, "refused", its)
        row["refused, not answerable"] = _share(one, "refused", none)
        row["answered, not answerable"] = _share(one, "answered", none)
        row["quoted"] = _share(one, "quoted", its)
        showing, holding = (sum(one.rows[each][figure] for each in its) for figure in ("showing", "holding"))
        row["excerpt shows"] = 100 * showing / holding if holding else None
        row["p50 ms"] = 1000 * float(np.median([each["seconds"] for each in one.rows.values()]))
        written[label] = row
    return written


def _variant(label: str) -> str:
    return label.partition(", ")[2] or VARIANTS[0]


def _share(scores: Scores, figure: str, ids: Sequence[str]) -> float | None:
    some = [scores.rows[one][figure] for one in ids if figure in scores.rows.get(one, {})]
    return 100 * float(np.mean(some)) if some else None


def show(title: str, rows: Mapping[str, Any]) -> None:
    """Print a table of every method."""
    print(f"\n{title}")
    heads = (
        *("refused, answerable", "refused, not answerable", "answered, not answerable"),
        *("excerpt shows", "quoted", "p50 ms"),
    )
    told = "  refused of answerable, of not; not answerable but quoted; shows; quoted; ms"
    print(f"{'':16}" + "".join(f"{one:>22}" for one in MEASURES) + told)
    for label, row in rows.items():
        said = "".join(f"{_interval(row.get(one)):>22}" for one in MEASURES)
        rest = "".join("       -" if row[one] is None else f"{row[one]:8.1f}" for one in heads)
        print(f"{label:16}{said}{rest}")
    for label, row in rows.items():
        gains = {key: row[key] for key in row if " over " in key}
        if gains:
            said = "  ".join(
                f"{key.partition(' over ')[0]} {gain[0]:+.1f} [{gain[1]:+.1f}, {gain[2]:+.1f}]"
                for key, gain in gains.items()
            )
            print(f"{label:16}over {next(iter(gains)).partition(' over ')[2]}: {said}")


def show_answers(asked: Sequence[Asked], scores: Mapping[str, Scores]) -> None:
    """Print how many questions each method of the product answered without a model, and how many it refused."""
    said = "n, quoted, right, else answered, right, refused; of not answerable n, quoted, else answered, refused"
    print(f"\nanswers, of answerable: {said}")
    for label, one in scores.items():
        counts = []
        for has_gold in (True, False) if label not in PEERS else ():
            rows = [one.rows[each.id] for each in asked if bool(each.gold) is has_gold and each.id in one.rows]
            counts.append(len(rows))
            for is_quoted in (1.0, 0.0):
                some = [row for row in rows if row["told"] and row["answered"] == is_quoted]
                counts += [len(some), *([round(sum(row["right"] for row in some))] if has_gold else [])]
            counts.append(round(sum(row["refused"] for row in rows)))
        if counts:
            print(f"{label:16}" + "".join(f"{count:7}" for count in counts))


def _interval(one: Sequence[float] | None) -> str:
    return f"{one[0]:.1f} [{one[1]:5.1f}, {one[2]:5.1f}]" if one else "-"


def show_parts(parts: Mapping[str, Mapping[str, Any]], measure: str) -> None:
    """Print one measure by part: a line for each, a column for each method."""
    labels = list(dict.fromkeys(label for rows in parts.values() for label in rows if measure in rows[label]))
    print(f"\n{measure:24}{'n':>4}" + "".join(f"{one:>15}" for one in labels))
    for name, rows in parts.items():
        n = max((row["n"] for row in rows.values()), default=0)
        print(f"{name:24}{n:4}" + "".join(f"{_plain(rows.get(one, {}).get(measure)):>15}" for one in labels))


def _plain(value: Sequence[float] | float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else f"{value[0]:.1f}"


def raw(path: Path) -> str:
    """Return the text of a file that the product does not read; of a mail, what it says."""
    if path.suffix != ".eml":
        return path.read_text(encoding="utf-8")
    mail = message_from_bytes(path.read_bytes(), policy=policy.default)
    body = mail.get_body()
    return "\n".join([*(f"{name}: {value}" for name, value in mail.items()), body.get_content() if body else ""])


def check(bench: Bench) -> int:
    """Print every span that does not stand in its file as the product reads it; of held questions ids alone."""
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    bad = unread = 0
    for name in dict.fromkeys(one.folder for one in bench.asked):
        for passage in passages_of(bench.graph(name, "plain")):
            texts[name, passage.file].append(passage.text)
    for one in bench.asked:
        for gold in one.gold:
            held = sum(holds(text, gold.span) for text in texts[one.folder, gold.file])
            path = bench.folder(one.folder) / gold.file
            if not texts[one.folder, gold.file] and path.exists():
                unread += 1
                held = int(holds(raw(path), gold.span))
            if not held:
                bad += 1
                print(f"{one.id}: {gold.file}: {gold.span if one.split != 'held' else '(held)'}")
    print(f"{bad} spans are not where they should be; {unread} stand in files that are not read today")
    return bad


# A model over documents, by replies that were written from the prompts.

VERDICTS = ("right", "part", "refused", "wrong", "open", "unheard")


class Played:
    """A model that gives each prompt the reply that was written for it, and keeps the prompts without one."""

    name, price = "played", None

    def __init__(self, replies: Path, prompts: Path | None) -> None:
        lines = replies.read_text(encoding="utf-8").splitlines() if replies.exists() else []
        self._replies = {one["prompt"]: one["reply"] for one in map(json.loads, filter(None, lines))}
        self._prompts = prompts
        self.missing = 0

    def chat(self, messages: Sequence[Message], **options: Any) -> Reply:  # Any: what `LanguageModel` takes
        """Return the reply of a prompt. Raises `ModelError` if there is none yet."""
        text = "\n\n====\n\n".join(message.content or "" for message in messages)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        if key not in self._replies:
            self.missing += 1
            if self._prompts is not None:
                self._prompts.mkdir(parents=True, exist_ok=True)
                (self._prompts / f"{key}.txt").write_text(text, encoding="utf-8")
            raise ModelError(f"no reply was written for the prompt {key}")
        reply = self._replies[key]
        usage = Usage(calls=1, prompt_tokens=sum(len(message.content or "") for message in messages) // 4)
        content = reply if isinstance(reply, str) else json.dumps(reply)
        return Reply(message=Message(role="assistant", content=content), usage=usage)


def drawn(asked: Sequence[Asked]) -> list[Asked]:
    """Return 30 questions with an answer and 12 without; those for documents themselves take no model."""
    some = sorted((one for one in asked if one.shape != "which documents"), key=lambda one: one.id)
    random.Random(42).shuffle(some)  # a draw that repeats
    return [
        one
        for has_gold, most in ((True, 30), (False, 12))
        for one in [o for o in some if bool(o.gold) == has_gold][:most]
    ]


def judged(asked: Asked, result: Result) -> str:
    """Say whether an answer is the truth; `open` if its words do not tell, and a person has to look.

    It is right if it has all parts of the truth, or its numbers and names and cites passages that hold the gold; `part`
    if it says what is lacking. An answer where there is none is wrong, and so is one that cites no passage with gold.
    """
    if any("was not heard" in note for note in result.notes):
        return "unheard"
    if result.answer is None:
        return "refused"
    if not asked.gold:
        return "wrong"
    told, truth = " ".join((result.answer, *(one.quote for one in result.citations))), asked.answer or ""
    if has_answer(told, truth):
        return "right"
    if any(note.startswith("not answered") for note in result.notes):
        return "part"
    names = {word for word in _WORD.findall(truth) if word[0].isupper()}
    told_numbers = numbers_in(told) | spelled_numbers(told)
    has_all = names <= set(_WORD.findall(told)) and numbers_in(truth.replace("..", " ")) <= told_numbers
    is_telling = bool(names or numbers_in(truth))
    return ("right" if is_telling else "open") if has_all else "open"


def play(bench: Bench, replies: Path, prompts: Path | None, shown: Sequence[str]) -> None:
    """Ask the drawn questions with written replies, and print what came of them; those of some verdicts one by one."""
    model, rows = Played(replies, prompts), list[tuple[Asked, str, Result]]()
    for name in dict.fromkeys(one.folder for one in drawn(bench.asked)):
        retriever = Retriever(bench.graph(name, "plain"), "documents", model=model)
        for one in (asked for asked in drawn(bench.asked) if asked.folder == name):
            result = retriever.ask(one.question, k=K)
            rows.append((one, judged(one, result), result))
            if rows[-1][1] in shown:
                why = result.answer or (result.refusal.text if result.refusal else "")
                print(f"{rows[-1][1]:8}{one.id:12}{one.question}\n        {why}   TRUTH {one.answer}")
    print(f"\n{'':24}{'n':>4}" + "".join(f"{one:>9}" for one in VERDICTS) + f"{'calls':>9}{'tokens':>9}")
    parts = {shape: [row for row in rows if row[0].shape == shape] for shape in SHAPES}
    parts |= {"answerable": [row for row in rows if row[0].gold], "all": rows}
    for label, part in parts.items():
        if part:
            counts = "".join(f"{sum(given == verdict for _, given, _ in part):9}" for verdict in VERDICTS)
            calls, tokens = (
                np.mean([getattr(result.usage, field) for *_, result in part]) for field in ("calls", "prompt_tokens")
            )
            print(f"{label:24}{len(part):4}{counts}{calls:9.2f}{tokens:9,.0f}")
    places = [one.source.place for *_, result in rows for one in result.citations if one.source is not None]
    told = sum(len(result.citations) for *_, result in rows)
    print(f"{len(places)} of {told} citations have a place; {model.missing} prompts have no reply yet")


def main() -> None:
    """Ask, and print what was found."""
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, help="where SQLite's documentation was unpacked, and den and solar made")
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--split", choices=("dev", "held", "all", "public"), default="dev")
    parser.add_argument("--methods", help=f"some of {','.join((*METHODS, *PEERS))}")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="plain,minilm or one of them")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/orienteer-folders"), help="where all of it is kept")
    parser.add_argument(
        "--fresh", action="store_true", help="make folders and graphs anew; vectors come from the cache"
    )
    parser.add_argument("--misspelt", action="store_true", help="change a letter of each question's rarest word")
    parser.add_argument("--check", action="store_true", help="verify the spans, and ask nothing")
    parser.add_argument("--replies", type=Path, help="replies of a model by prompt; asks 42 questions of one half")
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these answers")
    parser.add_argument("--prompts", type=Path, help="a folder for the prompts that have no reply yet")
    options = parser.parse_args()
    bench = Bench(options)
    if options.replies is not None:
        bench.asked = [one for one in bench.asked if options.split in (one.split, "all")]
        play(bench, options.replies, options.prompts, options.show if options.split == "dev" else ())
        return
    if options.check:
        sys.exit(bool(check(bench)))
    scores = ask_all(bench)
    if not scores:
        sys.exit("no folder to ask")
    whole = table(bench.asked, scores)
    answerable = sum(bool(one.gold) for one in bench.asked)
    told = ", ".join(f"{name} {count:,}" for name, count in bench.passages.items())
    print(f"\n{len(bench.asked)} questions of {options.split}, {answerable} of them answerable; passages: {told}")
    show("all", whole)
    show_answers(bench.asked, scores)
    shapes = [shape for shape in SHAPES[:-1] if any(one.shape == shape for one in bench.asked)]
    folders = [name for name in FOLDERS if any(one.folder == name for one in bench.asked)]
    by_shape = {shape: table([one for one in bench.asked if one.shape == shape], scores) for shape in shapes}
    by_folder = {name: table([one for one in bench.asked if one.folder == name], scores) for name in folders}
    for measure in MEASURES:
        show_parts({**by_shape, **by_folder}, measure)
    show_parts(by_folder, "refused, not answerable")
    is_open = options.split in ("dev", "public")
    questions = {label: one.rows for label, one in scores.items()} if is_open else {}
    written = {"all": whole, "shapes": by_shape, "folders": by_folder, "questions": questions}
    write_json(options.json, written)


if __name__ == "__main__":
    main()
