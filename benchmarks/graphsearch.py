"""What `graphsearch` costs and reads: calls, tokens, gold passages, by a reader that knows the chain of each question.

    python benchmarks/graphsearch.py DATA=GRAPH... [--part NAME]... [--form NAME]... [--questions N] [--json FILE]

DATA is musique or 2wikimultihopqa, GRAPH its chunk graph. The reader answers over HTTP on loopback from the messages
alone, but for one thing: it knows which passage holds each step of a question (MuSiQue's decomposition, 2Wiki's
evidences), and answers a step where that passage is shown to it; else null and nothing more. So calls and tokens are
those of a reader that makes no mistake, and what is not found is the retriever's fault. Of an earlier version the
figures come by PYTHONPATH. Parts:

    forms   calls, tokens and recall of the paper's form and of the lean one: with a reader that keeps to its sub-query
            and with one that tells also what it sees of later ones; with 10 passages and with 30
    drop    gold passages of single steps among the first 1 to 30, and where the list ends as scores drop

Tokens are counted as everywhere in Orienteer (`orienteer.text.sentences.tokens`), of all messages of each request, and
of each reply. Recall is the share of the gold passages that any reading of a question was shown.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.llm import Allowance, OpenAIConfig, OpenAIModel
from orienteer.llm.conversation import prompt_of
from orienteer.retrieval.bases.table import open_base
from orienteer.retrieval.query import Query
from orienteer.retriever import Retriever
from orienteer.text.sentences import single_spaced, split, tokens
from report import command_line, write_json
from scripted import served

BASE = "hippo"
CHANNELS = ("", "S", "R")
"""Before the numbers of sub-queries: none in the lean form."""
KS = (1, 3, 5, 10, 20, 30)
_FAMILY = "graphsearch-"
_PASSAGE = re.compile(r"^\[(([SR])(\d+)\.C\d+)\] (.*) \(\w+\)\n((?:  .*\n?)*)", re.MULTILINE)
_SUB_QUERY = re.compile(r"^Sub-query ([SR]?)\d+: ", re.MULTILINE)
_FOLLOWING = "Later sub-queries"
_LATER = re.compile(r"^  - #(\d+): ", re.MULTILINE)
_REFERENCE = re.compile(r"#(\d+)")
AIM = (4, 7000)
"""Calls, and tokens, of a question of two steps."""
_HEAD = 60
"""Characters of a passage that tell it from others of its title."""


class GoldStep(NamedTuple):
    """One step of a question."""

    text: str
    """With `#1` for the answer of the first step."""
    triple: tuple[str, str, str]
    answer: str
    node: str
    """The id of the passage that holds it."""
    needs: tuple[int, ...]


class Passage(NamedTuple):
    """A passage as a reader is shown it."""

    label: str
    channel: str
    """S or R."""
    number: int
    """Of the sub-query that it was found for."""
    node: str
    text: str


def gold_steps(example: Example, graph: Graph) -> list[GoldStep]:
    """Return the steps that a question was made of; none where its data set does not tell them."""
    if decomposition := example.fields.get("decomposition"):
        return [_musique_step(at, step) for at, step in enumerate(decomposition, 1)]  # type: ignore[arg-type]  # JSON
    titles = {graph.node(node).name.casefold(): node for node in example.gold.nodes}
    lines: Any = example.fields.get("evidences", [])  # Any: JSON
    triples = [triple for line in lines if (triple := line.split("\t"))[0].casefold() in titles]
    steps = []
    for at, (subject, predicate, value) in enumerate(triples, 1):
        before = [place for place, triple in enumerate(triples[: at - 1], 1) if triple[2] == subject]
        name, unknown = (f"#{before[0]}", f"?x{before[0]}") if before else (subject, subject)
        triple = (unknown, predicate, f"?x{at}")
        steps.append(GoldStep(f"{predicate} of {name}", triple, value, titles[subject.casefold()], tuple(before[:1])))
    return steps


def _musique_step(at: int, step: Mapping[str, Any]) -> GoldStep:  # Any: JSON
    text = str(step["question"])
    subject, _, predicate = (part.strip() for part in text.partition(">>"))
    triple = (re.sub(r"#(\d+)", r"?x\1", subject), predicate, f"?x{at}") if predicate else ("", "", "")
    needs = tuple(dict.fromkeys(int(number) for number in _REFERENCE.findall(text) if int(number) < at))
    return GoldStep(text.replace(" >> ", ": "), triple, str(step["answer"]), str(step["pid"]), needs)


class Reader:
    """A model that knows the passage of each step. It plays every prompt of both forms."""

    def __init__(self, graph: Graph, *, looks_ahead: bool) -> None:
        self._looks_ahead = looks_ahead
        self._ids = {
            _key(name, text): node
            for name, text, node in zip(graph.arrays.names, graph.arrays.texts, graph.arrays.ids, strict=True)
        }
        self._systems = {prompt_of(f"{_FAMILY}{name}").system: name for name in _prompts()}
        self._lock = threading.Lock()
        self._played: Mapping[str, Callable[[str], Any]] = {
            "lean-decompose": lambda user: {"sub_queries": self._plan()},
            "decompose-semantic": lambda user: {"sub_queries": [step.text for step in self._steps]},
            "decompose-relational": lambda user: {"sub_queries": [{"triples": [_spo(step)]} for step in self._steps]},
            "lean-study": self._studied,
            "refine-semantic": lambda user: self._studied(user)["summary"] or "Nothing.",
            "refine-relational": lambda user: "Nothing.",
            "sub-answer": self._sub_answer,
            "lean-ground": lambda user: {"text": self._grounded(user), "triples": []},
            "ground-semantic": lambda user: {"query": self._grounded(user)},
            "ground-relational": lambda user: {"triples": [{"s": self._grounded(user), "p": "", "o": "?x"}]},
            "draft": self._explained,
            "lean-verify": self._verdict,
            "verify": lambda user: {"verdict": "Accept" if self._verdict(user)["accept"] else "Reject"},
            "lean-expand": lambda user: {"sub_queries": self._expanded(user)},
            "expand": lambda user: {"queries": [query["text"] for query in self._expanded(user, refers=False)]},
            "lean-conclude": lambda user: {**self._verdict(user), **self._answer(user)},
            "lean-answer": self._answer,
            "answer": self._answer,
        }

    def begin(self, example: Example, steps: Sequence[GoldStep]) -> None:
        """Turn to a question."""
        self._example, self._steps = example, steps
        self._places = {f"{channel}{at}": at - 1 for channel in CHANNELS for at in range(1, len(steps) + 1)}
        """Of steps, by the names of the sub-queries that ask for them."""
        self._labels: dict[str, set[int]] = {}
        """Places of the steps that a passage was said to hold, by its label."""
        self.shown: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.prompt_tokens = self.reply_tokens = self.readings = self.passages = 0

    def reply(self, body: dict[str, Any]) -> str:  # Any: JSON
        """Return what is said to a request."""
        messages = [str(message["content"]) for message in body["messages"]]
        name = next(name for text, name in self._systems.items() if messages[0].startswith(text))
        with self._lock:
            said = self._played[name](messages[1])
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            self.calls[name] += 1
            self.prompt_tokens += sum(map(tokens, messages))
            self.reply_tokens += tokens(text)
        return text

    # ---------------------------------------------------------------------------------------------------- what it says

    def _plan(self) -> list[dict[str, Any]]:  # Any: JSON
        return [
            {"id": at, "text": step.text, "triples": [_spo(step)] if step.triple[1] else [], "deps": list(step.needs)}
            for at, step in enumerate(self._steps, 1)
        ]

    def _studied(self, user: str) -> dict[str, Any]:  # Any: JSON
        passages = [
            Passage(label, channel, int(number), self._ids[_key(name, text)], text)
            for label, channel, number, name, text in _PASSAGE.findall(user)
        ]
        self.readings += bool(passages)
        self.passages += len(passages)
        self.shown |= {passage.node for passage in passages}
        read = self._read(passages[0].number if passages else 0, passages)
        if _FOLLOWING not in user:  # as it was before: a reading told of its own sub-query alone
            return read
        later = map(int, _LATER.findall(user)) if self._looks_ahead else ()
        also = [{"id": at, **said} for at in later if (said := self._read(at, passages))["answer"] is not None]
        return {**read, "also": also}

    def _read(self, number: int, passages: Sequence[Passage]) -> dict[str, Any]:  # Any: JSON
        place = self._place(passages[0].channel, number) if passages else None
        gold = next((one for one in passages if place is not None and one.node == self._steps[place].node), None)
        if place is None or gold is None:
            return {"summary": "", "used": [], "answer": None, "confidence": 0}
        step = self._steps[place]
        self._labels.setdefault(gold.label, set()).add(place)
        sentences = list(split(single_spaced(gold.text)))
        bearing = [one for one in sentences if step.answer.casefold() in one.casefold()] or sentences
        summary = f"{bearing[0]} [{gold.label}]"
        return {"summary": summary, "used": [gold.label], "answer": step.answer, "confidence": 0.95}

    def _place(self, channel: str, number: int) -> int | None:
        """Return the place of the step that a sub-query asks for; in the lean form both channels share the names."""
        return self._places.get(f"{channel}{number}", self._places.get(str(number)))

    def _found(self, user: str) -> dict[int, str]:
        """Return the label that carries each step, of the labels that stand in a message."""
        shown = [(label, places) for label, places in self._labels.items() if f"[{label}]" in user]
        return {place: label for label, places in sorted(shown) for place in sorted(places)}

    def _sub_answer(self, user: str) -> dict[str, Any]:  # Any: JSON
        for place, label in self._found(user).items():
            return {"answer": self._steps[place].answer, "used": [label]}
        return {"answer": None, "used": []}

    def _grounded(self, user: str) -> str:
        found, query = self._found(user), user.rpartition("Sub-query to complete: ")[2]

        def as_told(reference: re.Match[str]) -> str:
            place = self._place("", int(reference[1]))
            if place is None:
                return "it"
            return self._steps[place].answer if place in found else self._steps[place].text.replace("#", "")

        return _REFERENCE.sub(as_told, query)

    def _explained(self, user: str) -> str:
        found = self._found(user)
        return " ".join(f"{self._steps[at].text}: {self._steps[at].answer} [{found[at]}]." for at in found)

    def _verdict(self, user: str) -> dict[str, Any]:  # Any: JSON
        found = self._found(user)
        missing = [step.text for at, step in enumerate(self._steps) if at not in found]
        return {"accept": not missing, "missing": missing, "contradictions": []}

    def _expanded(self, user: str, *, refers: bool = True) -> list[dict[str, Any]]:  # Any: JSON
        """Return a new sub-query, with the words of the question, for each step that was not found; once.

        `refers` says whether it may take the answer of another new one.
        """
        found, [channel, *_] = self._found(user), _SUB_QUERY.findall(user)
        named = {name: at for name, at in self._places.items() if name.rstrip("0123456789") == channel}
        asked = list(named.values())
        missing = [at for at in range(len(self._steps)) if at not in found and asked.count(at) < 2]
        self._places |= {f"{channel}{len(named) + number}": at for number, at in enumerate(missing, 1)}
        numbers = {at: number for number, at in enumerate(missing, 1)} if refers else {}

        def as_told(reference: re.Match[str]) -> str:
            at = int(reference[1]) - 1
            if at in numbers:
                return f"#{numbers[at]}"
            return self._steps[at].answer if at in found else "it"

        queries = []
        for number, step in enumerate((self._steps[at] for at in missing), 1):
            text = f"{_REFERENCE.sub(as_told, step.text)}? {self._example.question.text}"
            deps = [numbers[at - 1] for at in step.needs if at - 1 in numbers]
            queries.append({"id": number, "text": text, "triples": [], "deps": deps})
        return queries

    def _answer(self, user: str) -> dict[str, Any]:  # Any: JSON
        found, needed = self._found(user), {at - 1 for step in self._steps for at in step.needs}
        is_known = found.keys() >= set(range(len(self._steps))) - needed
        answer = self._example.gold.answers[0] if is_known else None
        return {"answer": answer, "explanation": self._explained(user), "cited": list(found.values())}


def _prompts() -> list[str]:
    """Return the names of the prompts that the installed version has, without their family's."""
    names = (file.name.removesuffix(".md") for file in files("orienteer.methods").joinpath("prompts").iterdir())
    return sorted(name.removeprefix(_FAMILY) for name in names if name.startswith(_FAMILY))


def _key(name: str, text: str) -> tuple[str, str]:
    return single_spaced(name), single_spaced(text)[:_HEAD]


def _spo(step: GoldStep) -> dict[str, str]:
    return dict(zip("spo", step.triple, strict=True))


# --------------------------------------------------------------------------------------------------------------- parts


@dataclass
class Asked:
    """A chunk graph and the questions whose chain is known."""

    name: str
    graph: Graph
    chains: Sequence[tuple[Example, list[GoldStep]]]
    forms: Sequence[str]


FORMS: Mapping[str, dict[str, Any]] = {  # Any: options
    "the paper's": {"faithful": True},
    "lean": {},
    "lean, which looks ahead": {},
    "lean, 30 passages": {"passages": 30},
}


def forms_part(asked: Asked) -> dict[str, Any]:
    """Calls, tokens and recall, by form and by number of steps."""
    written: dict[str, Any] = {}
    for form in asked.forms:
        options = FORMS[form]
        reader = Reader(asked.graph, looks_ahead=form.endswith("ahead"))
        with served(reader.reply) as url:
            model = OpenAIModel("reader", OpenAIConfig(base_url=url))
            retriever = Retriever(asked.graph, f"graphsearch:{BASE}", model=model, **options)
            rows = [_row(retriever, reader, example, steps) for example, steps in asked.chains]
            model.close()
        written[form] = _means(rows)
        written[form]["two steps"] = _means([row for row in rows if row["steps"] == 2])
        for label, means in ((form, written[form]), (f"{form}, two steps", written[form]["two steps"])):
            print(f"  {label:34} ", "  ".join(f"{name} {means[name]:,.2f}" for name in _SHOWN))
    return written


_SHOWN = (
    "calls",
    "prompt tokens",
    "reply tokens",
    "passages a reading",
    "recall",
    "all gold read",
    "answered",
    "within the aim",
)


def _row(retriever: Retriever, reader: Reader, example: Example, steps: Sequence[GoldStep]) -> dict[str, float]:
    reader.begin(example, steps)
    result = retriever.ask(example.question.text)
    assert result.stopped_by == "finish", result.notes
    gold = set(example.gold.nodes)
    return {
        "steps": len(steps),
        "calls": result.usage.calls,
        "prompt tokens": reader.prompt_tokens,
        "reply tokens": reader.reply_tokens,
        "tokens": reader.prompt_tokens + reader.reply_tokens,
        "within the aim": result.usage.calls <= AIM[0] and reader.prompt_tokens + reader.reply_tokens < AIM[1],
        "passages a reading": reader.passages / max(1, reader.readings),
        "recall": len(gold & reader.shown) / len(gold),
        "all gold read": gold <= reader.shown,
        "answered": (result.answer or "").startswith(example.gold.answers[0]),
        **{f"calls of {name}": count for name, count in reader.calls.items()},
    }


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:  # Any: JSON
    names = dict.fromkeys(name for row in rows for name in row)
    means = {name: float(np.mean([row.get(name, 0.0) for row in rows])) for name in names}
    return {"questions": len(rows), **means, "most tokens": max((row["tokens"] for row in rows), default=0)}


def drop_part(asked: Asked) -> dict[str, Any]:
    """Gold passages of single steps among the first few, and where the list ends as scores drop."""
    base = open_base(BASE, asked.graph, {})
    ranks: list[int] = []
    scores: list[list[float]] = []
    for _, steps in asked.chains:
        for step in steps:
            answers = {str(at): earlier.answer for at, earlier in enumerate(steps, 1)}
            text = _REFERENCE.sub(partial(_told, answers), step.text)
            found = base.gather(Query(text, k=max(KS)), Allowance()).semantic().nodes
            ids = [scored.item.id for scored in found]
            ranks.append(ids.index(step.node) if step.node in ids else max(KS))
            scores.append([scored.score for scored in found])
    written = {f"first {k}": {"passages": float(k), "recall": float(np.mean([r < k for r in ranks]))} for k in KS}
    for share in (0.001, 0.01, 0.1):
        written[f"first 10, from {share} of the best"] = _cut(ranks, scores, share, of=0)
    for share in (0.05, 0.2):
        second = _cut(ranks, scores, share, of=1)
        written[f"first 10, from {share} of the second"] = second
    for label, row in written.items():
        print(f"  {label:34}  passages {row['passages']:.1f}  recall {row['recall']:.3f}")
    return written


def _told(answers: Mapping[str, str], reference: re.Match[str]) -> str:
    return answers[reference[1]]


def _cut(ranks: Sequence[int], scores: Sequence[Sequence[float]], share: float, *, of: int) -> dict[str, float]:
    """Return what is read and found where a list ends below a share of its first score, or its second."""
    kept = [sum(score >= share * one[min(of, len(one) - 1)] for score in one[:10]) for one in scores]
    return {
        "passages": float(np.mean(kept)),
        "recall": float(np.mean([r < k for r, k in zip(ranks, kept, strict=True)])),
    }


PARTS: Mapping[str, Callable[[Asked], dict[str, Any]]] = {"forms": forms_part, "drop": drop_part}


def open_asked(pair: str, most: int | None, forms: Sequence[str]) -> Asked:
    """Return the graph and the first questions of `DATA=GRAPH`."""
    data, _, path = pair.partition("=")
    graph = Graph.open(path)
    questions = read_questions(Path(data), graph=graph)
    chains = [(example, steps) for example in questions.examples if (steps := gold_steps(example, graph))]
    return Asked(questions.name, graph, chains[:most], forms)


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure the parts that are named, else all."""
    parser = command_line(__doc__)
    parser.add_argument("data", nargs="+", metavar="DATA=GRAPH")
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--form", action="append", choices=list(FORMS), help="of the part forms")
    parser.add_argument("--questions", type=int, metavar="N", help="the first N alone")
    options = parser.parse_args(list(arguments) if arguments is not None else None)
    written: dict[str, Any] = {}
    for pair in options.data:
        asked = open_asked(pair, options.questions, options.form or list(FORMS))
        for part in options.part or list(PARTS):
            started = time.perf_counter()
            print(f"\n{asked.name}, {len(asked.chains)} questions: {part}")
            written.setdefault(asked.name, {})[part] = PARTS[part](asked)
            print(f"  {time.perf_counter() - started:.0f} s")
    write_json(options.json, written)


if __name__ == "__main__":
    main()
