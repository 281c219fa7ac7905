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

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.answer import answer_from
from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.lab.baselines.passages import PassageConfig, course, search, settled, shown
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result
from orienteer.text.lines import one_line
from orienteer.text.sentences import split
from orienteer.tools.parameters import LARGEST_K

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
