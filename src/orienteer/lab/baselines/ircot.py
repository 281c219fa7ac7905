"""`ircot`: a chain of thought in which each sentence is a search, and the passages found are read for the next one.

Paper: Trivedi et al. 2023, Interleaving retrieval with chain-of-thought reasoning; a baseline of GraphSearch (002,
table 4). Its defaults: at most 8 sentences, at most 15 passages in all, 2, 4, 6 or 8 a search by data set.

1. a search with the question finds the first passages;
2. the model writes the next sentence of the chain from question, passages and chain; of several sentences the first new
   one counts;
3. the chain ends where a sentence says "answer is", or at the limit; else a search with the sentence adds new passages,
   up to the limit, and 2 follows;
4. for an answer, a reader reasons once more over the question and all passages.

A course of n sentences is n calls and at most n searches; the reader is one call more.

Deviations:
1. Passages stand in the order in which they were found, which is the ranking; the paper shuffles them for the prompt.
2. At most 20 passages, since every method here ranks 20, and 4 a search; the paper's 15 is `k=15`.
3. No worked examples: the prompts are our own and describe the sentence; the paper shows up to 15 examples.
4. The reader cites the passages, and may say that they do not hold the answer; the paper's always answers.
5. Searches rank by `mode`, hybrid where there are vectors; the paper's are BM25.
6. Rules for several scripts part sentences, in place of a parser for English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.answer import answer_from, citations, spoken, with_ids
from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.lab.baselines.text_rag import PassageConfig, course, search, settled, shown
from orienteer.llm.spoken import after_thinking
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result
from orienteer.text.sentences import one_line, split
from orienteer.tools.texts import LARGEST_K

STOP = "answer is"
"""What a sentence says that ends the chain."""
_SENTENCE = 1_000  # characters of a sentence that the chain keeps and a search takes


class IrCotConfig(PassageConfig):
    """IRCoT's settings."""

    max_steps: int = Field(default=8, ge=1, le=LARGEST_K)
    """Sentences of the chain at the most. The paper's number."""
    paragraphs: int = Field(default=4, ge=1, le=LARGEST_K)
    """Passages that a search may add. The paper tunes 2, 4, 6 or 8 for each data set; `k` is the most in all."""


class _Collection(NamedTuple):
    result: Result
    rows: tuple[int, ...]
    """The rows collected, in the order of finding."""


class IrCot:
    """Sentence, search, sentence, search; then a reader."""

    name = "ircot"

    def __init__(self, graph: Graph, model: LanguageModel, config: IrCotConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or IrCotConfig()
        self._settled = settled(graph, self.config)  # raises `BadOption` before a model is paid

    def retrieve(self, question: Question, run: Run) -> Result:
        """Interleave sentences and searches, and return what was collected; the reader is not asked."""
        return self._explored(question, run).result

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Interleave, then let the reader answer from all that was collected."""
        result, rows = self._explored(question, run)
        evidence = shown(self._graph, rows, self._settled.context_tokens)
        return answer_from(result, evidence, model=model, run=run, prompt="ircot-read")

    def _explored(self, question: Question, run: Run) -> _Collection:
        config = self._settled
        workflow = course(self._graph, self._model, run, question=question, method=self.name, config=config)
        chain = _ThoughtChain(self._graph, workflow, config)
        result = workflow.follow_and_rank(chain.run, chain.ranking)
        return _Collection(result, tuple(chain.collected) if result.stopped_by != "error" else ())


@dataclass(slots=True)
class _ThoughtChain:
    """One question's chain of thought, and the passages collected for it."""

    graph: Graph
    workflow: Workflow
    config: IrCotConfig
    sentences: list[str] = field(default_factory=list)
    collected: dict[int, str] = field(default_factory=dict)
    """Rows in the order of finding, with the reason of each."""

    def run(self) -> None:
        """Write sentences and search with them until the chain ends."""
        question = self.workflow.question.text
        self._collect(question, "found by the question")
        for number in range(1, self.config.max_steps + 1):
            sentence = self._next(question)
            if not sentence:
                self.workflow.notes.append(f"the model wrote no new sentence in step {number}: the chain ends there")
                return
            self.sentences.append(sentence)
            if STOP in sentence.casefold():
                return
            self._collect(sentence, f"found by sentence {number}: {one_line(sentence)}")
        self.workflow.notes.append(f"the chain came to no answer in {self.config.max_steps} sentences")

    def ranking(self) -> Sequence[Ranked]:
        """Return what was collected, in the order of finding."""
        return self.workflow.present(self.collected)

    def _collect(self, query: str, why: str) -> None:
        k = self.workflow.question.k
        if len(self.collected) >= k:
            return
        rows = search(self.workflow, query, self.config.paragraphs)
        new = [row for row in rows if row not in self.collected]
        self.collected |= dict.fromkeys(new[: k - len(self.collected)], why)

    def _next(self, question: str) -> str:
        """Return the first sentence that the model adds to the chain, empty where it adds none."""
        passages = shown(self.graph, self.collected, self.config.context_tokens)
        reply = self.workflow.ask(
            "ircot", question=question, passages=passages.text, chain=" ".join(self.sentences) or "(empty)"
        )
        earlier = {sentence.casefold() for sentence in self.sentences}
        sentences = (sentence[:_SENTENCE] for sentence in split(" ".join(reply.split())))
        new = (text for text in sentences if any(map(str.isalpha, text)) and text.casefold() not in earlier)
        return next(new, "")


# `search-o1`: a model reasons, asks for searches by marks in its reasoning, and reads only what matters of each.
#
# Paper: Li et al. 2025, Search-o1: agentic search-enhanced large reasoning models; a baseline of GraphSearch (002,
# table 4). The authors' settings: 10 documents a search, 5 searches and 10 turns at the most.
#
# 1. the model reasons on from the question and the chain so far;
# 2. where it writes `<search>words</search>`, its turn ends there, and the words are searched for;
# 3. a second prompt, reason-in-documents, shows the chain, the words and the documents, and asks for what the chain
# needs
#    of them; that alone enters the chain, as `<result>...</result>`, and 1 follows;
# 4. where it writes `<answer>...</answer>`, the course ends.
#
# There is a call a turn, and one more for each search that found something. A repeated search, or one beyond the limit,
# is not made, and the chain says so.
#
# The ranking holds the documents that the answer cites, then those that reason-in-documents cites, in the order of the
# chain, then the others found, by place. Without any search, plain search stands in, and the notes say so.
#
# Deviations:
# 1. No stop token: some servers take none, others drop the mark with what follows. The whole reply is read, thinking
#    aloud included, and everything after the first complete mark is dropped: a model that runs on makes up its own
#    results. A last mark that is not closed counts, for servers that do stop there.
# 2. The chain goes into the next request as text, not as the beginning of the model's own reply: chat servers cannot
#    continue one, and their templates drop the reasoning of earlier turns.
# 3. Marks are our own short ones, and are taken out of all that enters the chain.
# 4. Documents are passages of the graph, whole; the authors fetch web pages and cut them at 3,000 characters.
# 5. Reason-in-documents cites the documents it uses, in a form that a program can read; so may the answer.
# 6. The answer rests on the documents, and may be that they do not hold one. The authors let a model answer from
# memory,
#    and fall back on its answer without any search.
# 7. A turn without a search and without an answer's marks ends the course: its last line stands for the answer, and the
#    notes say so.


EMPTY = "The search found nothing."
AGAIN = "You have searched for this before: see above."
NONE_LEFT = "No search is left: answer from what you have."
_SEARCH = re.compile(r"<search>((?:(?!<search>).)*?)(?:</search>|\Z)", re.IGNORECASE | re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)
_MARKS = re.compile(r"</?(?:search|result|answer|think)>", re.IGNORECASE)
_THOUGHT_OUT = "</think>"
_THOUGHT = 4_000  # characters of a turn, or of what documents say, that the chain keeps


class SearchO1Config(PassageConfig):
    """Search-o1's settings."""

    documents: int = Field(default=10, ge=1, le=LARGEST_K)
    """Passages that a search gives. The authors' number."""
    max_searches: int = Field(default=5, ge=1, le=LARGEST_K)
    """Searches at the most. The authors' number."""
    max_turns: int = Field(default=10, ge=1, le=LARGEST_K)
    """Turns of reasoning at the most. The authors' number."""


class SearchO1:
    """Reason, search, read what was found, reason on."""

    name = "search-o1"

    def __init__(self, graph: Graph, model: LanguageModel, config: SearchO1Config | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or SearchO1Config()
        self._settled = settled(graph, self.config)  # raises `BadOption` before a model is paid

    def retrieve(self, question: Question, run: Run) -> Result:
        """Let the model reason and search until it answers."""
        config = self._settled
        workflow = course(self._graph, self._model, run, question=question, method=self.name, config=config)
        chain = _ReasoningChain(self._graph, workflow, config)
        result = workflow.follow_and_rank(chain.run, chain.ranking)
        return result.model_copy(update={"answer": chain.answer, "long_answer": chain.reasoning})


class _ReasoningTurn(NamedTuple):
    """A reply up to its first mark."""

    thought: str
    query: str | None = None
    answer: str | None = None


@dataclass(slots=True)
class _ReasoningChain:
    """One question's reasoning, and the documents found for it."""

    graph: Graph
    workflow: Workflow
    config: SearchO1Config
    answer: str | None = None
    reasoning: str | None = None
    """The whole chain, where there is an answer."""
    turns: list[str] = field(default_factory=list)
    searched: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Rows by the query that found them."""
    cited: dict[int, str] = field(default_factory=dict)
    """Rows that reason-in-documents has drawn on."""
    named: dict[int, str] = field(default_factory=dict)
    """Rows that the answer cites."""

    def run(self) -> None:
        """Take turns until the model answers or may go no further."""
        for number in range(1, self.config.max_turns + 1):
            left = self.config.max_searches - len(self.searched) if number < self.config.max_turns else 0
            reply = self.workflow.ask_aloud(
                "search-o1",
                question=self.workflow.question.text,
                chain="\n\n".join(self.turns) or "(empty)",
                left=f"Searches left: {left}." if left else NONE_LEFT,
            )
            turn = _read(reply)
            if turn.query is None:
                self._end(turn, number)
                return
            result = self._result(turn, left)
            self.turns.append(f"{turn.thought}\n<search>{turn.query}</search>\n<result>{result}</result>".lstrip())
        self.workflow.notes.append(f"no answer after {self.config.max_turns} turns")

    def ranking(self) -> Sequence[Ranked]:
        """Return the rows found: those that the answer cites, those that were drawn on, the others by place."""
        places = [
            (place, number, row, query)
            for number, (query, rows) in enumerate(self.searched.items())
            for place, row in enumerate(rows)
        ]
        others: dict[int, str] = {}
        for _, _, row, query in sorted(places):
            others.setdefault(row, f"found by {query!r}")
        reasons = dict(self.named)
        for row, why in (*self.cited.items(), *others.items()):
            reasons.setdefault(row, why)
        if not reasons:
            self.workflow.notes.append("nothing was found by the model's searches: found by plain search")
            rows = search(self.workflow, self.workflow.question.text, self.workflow.question.k)
            reasons = dict.fromkeys(rows, "found by plain search")
        return self.workflow.present(reasons)

    def _result(self, turn: _ReasoningTurn, left: int) -> str:
        """Return what enters the chain for a search."""
        query = turn.query or ""
        if query in self.searched:
            return AGAIN
        if left < 1:
            return NONE_LEFT
        rows = search(self.workflow, query, self.config.documents)
        self.searched[query] = rows
        return self._reasoned(turn, rows) if rows else EMPTY

    def _reasoned(self, turn: _ReasoningTurn, rows: Sequence[int]) -> str:
        """Return what reason-in-documents takes from some rows for the chain, ids in place of its labels."""
        documents = shown(self.graph, rows, self.config.context_tokens)
        reply = self.workflow.ask(
            "search-o1-documents",
            question=self.workflow.question.text,
            chain="\n\n".join([*self.turns, turn.thought]).strip() or "(empty)",
            query=turn.query,
            documents=documents.text,
        )
        summary = with_ids(_clean(reply), documents.labels)
        if not summary.text:
            self.workflow.notes.append(f"nothing was said of the documents found by {turn.query!r}")
        for node in summary.cited:
            self.cited.setdefault(self.graph.arrays.row(node), f"drawn on for {turn.query!r}")
        return summary.text[:_THOUGHT] or EMPTY

    def _end(self, turn: _ReasoningTurn, number: int) -> None:
        """Take the answer, or the last line where the marks are missing."""
        words = turn.answer
        if words is None:
            words = next((line for line in reversed(turn.thought.splitlines()) if line.strip()), "")
            instead = "its last line stands for one" if words else "it said nothing"
            self.workflow.notes.append(f"the model gave no answer in its marks in turn {number}: {instead}")
        rows = dict.fromkeys(row for some in (self.cited, *self.searched.values()) for row in some)
        answer = citations(_clean(words), [self.graph.arrays.ids[row] for row in rows])
        self.named = {self.graph.arrays.row(node): "cited in the answer" for node in answer.cited}
        if answer.notes:
            self.workflow.notes.append(f"the answer cites what was not found: {', '.join(answer.notes)}")
        self.answer = spoken(answer.text)
        if self.answer is not None:
            self.reasoning = "\n".join(_MARKS.sub("", text) for text in (*self.turns, turn.thought)).strip() or None


def _read(reply: str) -> _ReasoningTurn:
    """Read a reply: its first complete mark counts, a search also where the model only thinks aloud."""
    search = _SEARCH.search(reply)
    before = reply if search is None else reply[: search.start()]
    thought = reply.rfind(_THOUGHT_OUT)  # an answer before that is only considered
    is_thinking = thought < 0 and "<think>" in before
    answer = None if is_thinking else _ANSWER.search(before, max(thought, 0))
    if search is not None and answer is None:
        return _ReasoningTurn(_clean(before, keeps_lines=True), query=_clean(search[1]))
    return _ReasoningTurn(_clean(after_thinking(reply), keeps_lines=True), answer=None if answer is None else answer[1])


def _clean(text: str, *, keeps_lines: bool = False) -> str:
    """Return a text without marks, so that it can feign none; in one line unless its lines are kept."""
    bare = _MARKS.sub(" ", text)
    return bare.strip()[-_THOUGHT:] if keeps_lines else one_line(" ".join(bare.split()), _THOUGHT)
