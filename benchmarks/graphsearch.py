"""What `graphsearch` costs and reads: calls, tokens, gold passages, by a reader that knows the chain of each question.

    python benchmarks/graphsearch.py DATA=GRAPH... [--part NAME]... [--questions N] [--json FILE]

DATA is musique or 2wikimultihopqa, GRAPH its chunk graph. The reader answers over HTTP on loopback from the messages
alone, but for one thing: it knows which passage holds each step of a question (MuSiQue's decomposition, 2Wiki's
evidences), and answers a step where that passage is shown to it; else null and nothing more. So calls and tokens are
those of a reader that makes no mistake, and what is not found is the retriever's fault. Parts:

    forms   calls, tokens and recall of the paper's form and of the lean one: with a reader that keeps to its sub-query
            and with one that tells also what it sees of later ones; with 10 passages and with 30
    drop    gold passages of single steps among the first 1 to 30, and where the list ends as scores drop

Tokens are counted as everywhere in Orienteer (`orienteer.text.sentences.tokens`), of all messages of each request, and
of each reply. Recall is the share of the gold passages that any reading of a question was shown.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.evaluation.datasets import read_questions
from orienteer.evaluation.examples import Example
from orienteer.graph.store import Graph
from orienteer.llm import Allowance, OpenAIConfig, OpenAIModel
from orienteer.llm.prompts import prompt_of
from orienteer.retrieval.bases.table import open_base
from orienteer.retrieval.query import Query
from orienteer.retriever import Retriever
from orienteer.text.lines import single_spaced
from orienteer.text.sentences import split, tokens
from planner import served

BASE = "hippo"
KS = (1, 3, 5, 10, 20, 30)
PROMPTS = (
    *(f"{module}-{channel}" for module in ("decompose", "refine", "ground") for channel in ("semantic", "relational")),
    *("sub-answer", "draft", "verify", "expand", "answer"),
    *(f"lean-{module}" for module in ("decompose", "study", "ground", "verify", "expand", "conclude", "answer")),
)
_PASSAGE = re.compile(r"^\[(([SR])(\d+)\.C\d+)\] (.*) \(\w+\)\n((?:  .*\n?)*)", re.MULTILINE)
_LATER = re.compile(r"^  - #(\d+): ", re.MULTILINE)
_REFERENCE = re.compile(r"#(\d+)")
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
        self._systems = {prompt_of(f"graphsearch-{name}").system: name for name in PROMPTS}
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
            "draft": lambda user: self._explained(),
            "lean-verify": lambda user: self._verdict(),
            "verify": lambda user: {"verdict": "Accept" if self._is_found() else "Reject", "reason": ""},
            "lean-expand": lambda user: {"sub_queries": self._expanded()},
            "expand": lambda user: {"queries": [query["text"] for query in self._expanded()]},
            "lean-conclude": lambda user: {**self._verdict(), **self._answer()},
            "lean-answer": lambda user: self._answer(),
            "answer": lambda user: self._answer(),
        }

    def begin(self, example: Example, steps: Sequence[GoldStep]) -> None:
        """Turn to a question."""
        self._example, self._steps = example, steps
        self._labels: dict[int, str] = {}
        self._numbers = dict(enumerate(range(len(steps)), 1))
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
            Passage(label, int(number), self._ids[_key(name, text)], text)
            for label, _, number, name, text in _PASSAGE.findall(user)
        ]
        self.readings += bool(passages)
        self.passages += len(passages)
        self.shown |= {passage.node for passage in passages}
        number = passages[0].number if passages else 0
        later = map(int, _LATER.findall(user)) if self._looks_ahead else ()
        also = [{"id": at, **said} for at in later if (said := self._read(at, passages))["answer"] is not None]
        return {**self._read(number, passages), "also": also}

    def _read(self, number: int, passages: Sequence[Passage]) -> dict[str, Any]:  # Any: JSON
        place = self._numbers.get(number, -1)
        gold = next((one for one in passages if place >= 0 and one.node == self._steps[place].node), None)
        if gold is None:
            return {"summary": "", "used": [], "answer": None, "confidence": 0}
        step = self._steps[place]
        self._labels[place] = gold.label
        sentences = list(split(single_spaced(gold.text)))
        bearing = [one for one in sentences if step.answer.casefold() in one.casefold()] or sentences
        summary = f"{bearing[0]} [{gold.label}]"
        return {"summary": summary, "used": [gold.label], "answer": step.answer, "confidence": 0.95}

    def _sub_answer(self, user: str) -> dict[str, Any]:  # Any: JSON
        label = next((label for label in self._labels.values() if f"[{label}]" in user), None)
        place = next((place for place, known in self._labels.items() if known == label), None)
        return {"answer": None, "used": []} if place is None else {"answer": self._steps[place].answer, "used": [label]}

    def _grounded(self, user: str) -> str:
        query = user.rpartition("Sub-query to complete: ")[2]
        return _REFERENCE.sub(lambda reference: self._named(int(reference[1])), query)

    def _named(self, number: int) -> str:
        place = self._numbers.get(number, -1)
        if place < 0:
            return "it"
        return self._steps[place].answer if place in self._labels else self._steps[place].text.replace("#", "")

    def _is_found(self) -> bool:
        return len(self._labels) == len(self._steps)

    def _explained(self) -> str:
        return " ".join(
            f"{self._steps[at].text}: {self._steps[at].answer} [{self._labels[at]}]." for at in self._labels
        )

    def _verdict(self) -> dict[str, Any]:  # Any: JSON
        missing = [step.text for at, step in enumerate(self._steps) if at not in self._labels]
        return {"accept": not missing, "missing": missing, "contradictions": []}

    def _expanded(self) -> list[dict[str, Any]]:  # Any: JSON
        """Return a new sub-query, in the words of the question, for each step that was not found; once."""
        asked = list(self._numbers.values())
        missing = [at for at in range(len(self._steps)) if at not in self._labels and asked.count(at) < 2]
        last = max(self._numbers)
        self._numbers |= {last + 1 + place: at for place, at in enumerate(missing)}
        text = self._example.question.text
        return [
            {"id": place, "text": f"{self._steps[at].text.replace('#', '')}? {text}", "triples": [], "deps": []}
            for place, at in enumerate(missing, 1)
        ]

    def _answer(self) -> dict[str, Any]:  # Any: JSON
        is_known = len(self._steps) - 1 in self._labels
        answer = self._example.gold.answers[0] if is_known else None
        return {"answer": answer, "explanation": self._explained(), "cited": list(self._labels.values())}


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
    chains: list[tuple[Example, list[GoldStep]]] = field(default_factory=list)


FORMS: Mapping[str, dict[str, Any]] = {  # Any: options
    "the paper's": {"faithful": True},
    "lean": {},
    "lean, which looks ahead": {},
    "lean, 30 passages": {"passages": 30},
}


def forms_part(asked: Asked) -> dict[str, Any]:
    """Calls, tokens and recall, by form and by number of steps."""
    written: dict[str, Any] = {}
    for form, options in FORMS.items():
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


_SHOWN = ("calls", "prompt tokens", "reply tokens", "passages a reading", "recall", "all gold read", "answered")


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
            text = _REFERENCE.sub(lambda reference, steps=steps: steps[int(reference[1]) - 1].answer, step.text)
            found = base.gather(Query(text, k=max(KS)), Allowance()).semantic().nodes
            ids = [scored.item.id for scored in found]
            ranks.append(ids.index(step.node) if step.node in ids else max(KS))
            scores.append([scored.score for scored in found])
    written = {f"first {k}": {"passages": float(k), "recall": float(np.mean([r < k for r in ranks]))} for k in KS}
    for share in (0.001, 0.01, 0.1):
        written[f"first 10, from {share} of the best"] = _cut(ranks, scores, lambda one, share=share: share * one[0])
    for share in (0.05, 0.2):
        second = _cut(ranks, scores, lambda one, share=share: share * one[min(1, len(one) - 1)])
        written[f"first 10, from {share} of the second"] = second
    for label, row in written.items():
        print(f"  {label:34}  passages {row['passages']:.1f}  recall {row['recall']:.3f}")
    return written


def _cut(
    ranks: Sequence[int], scores: Sequence[Sequence[float]], least: Callable[[Sequence[float]], float]
) -> dict[str, float]:
    kept = [sum(score >= least(one) for score in one[:10]) for one in scores]
    return {
        "passages": float(np.mean(kept)),
        "recall": float(np.mean([r < k for r, k in zip(ranks, kept, strict=True)])),
    }


PARTS: Mapping[str, Callable[[Asked], dict[str, Any]]] = {"forms": forms_part, "drop": drop_part}


def open_asked(pair: str, most: int | None) -> Asked:
    """Return the graph and the questions of `DATA=GRAPH`."""
    data, _, path = pair.partition("=")
    graph = Graph.open(path)
    questions = read_questions(Path(data), graph=graph)
    chains = [(example, steps) for example in questions.examples if (steps := gold_steps(example, graph))]
    return Asked(questions.name, graph, chains[:most])


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure the parts that are named, else all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="DATA=GRAPH")
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--questions", type=int, metavar="N", help="the first N alone")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(list(arguments) if arguments is not None else None)
    written: dict[str, Any] = {}
    for pair in options.data:
        asked = open_asked(pair, options.questions)
        for part in options.part or list(PARTS):
            started = time.perf_counter()
            print(f"\n{asked.name}, {len(asked.chains)} questions: {part}")
            written.setdefault(asked.name, {})[part] = PARTS[part](asked)
            print(f"  {time.perf_counter() - started:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(written, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
