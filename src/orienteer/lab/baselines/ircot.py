"""`ircot`: a chain of thought in which each sentence is a search, and the passages found are read for the next one.

Paper: Trivedi et al. 2023, Interleaving retrieval with chain-of-thought reasoning; a baseline of GraphSearch (002,
table 4). Its defaults: at most 8 sentences, at most 15 passages in all, 2, 4, 6 or 8 a search by data set.

1. a search with the question finds the first passages;
2. the model writes the next sentence of the chain from question, passages and chain; of several sentences the first new
   one counts;
3. the chain ends if a sentence says "answer is", or at the limit; else a search with the sentence adds new passages,
   up to the limit, and 2 follows;
4. for an answer, a reader reasons once more over the question and all passages.

A course of n sentences is n calls and at most n searches; the reader is one call more.

Deviations:
1. Passages keep the order in which they were found, which is the ranking; the paper shuffles them for the prompt.
2. At most 20 passages, since every method here ranks 20, and 4 a search; the paper's 15 is `k=15`.
3. No worked examples: the prompts are our own and describe the sentence; the paper shows up to 15 examples.
4. The reader cites the passages, and may say that they do not hold the answer; the paper's always answers.
5. Searches rank by `mode`, hybrid where there are vectors; the paper's are BM25.
6. Rules for several scripts split sentences, in place of a parser for English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pydantic import Field, field_validator

from orienteer.agents.answer import answer_from, citations, with_ids
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.lab.baselines.baseline import Baseline
from orienteer.llm.spoken import after_thinking
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question, Ranked, Result
from orienteer.retrieval.evidence import Evidence, EvidenceText, Scored, render
from orienteer.retrieval.query import ANSWER_TOKENS, AUTO, Spaces, checked_mode_or_auto
from orienteer.text.sentences import one_line, split
from orienteer.tools.texts import LARGEST_K, SEARCH_PASSAGES
from orienteer.tools.toolbox import Toolbox, open_passages

# What both methods share: they search passages, as `naive` does, and read them whole (002, table 4).


class PassageConfig(WorkflowConfig):
    """The options of both."""

    mode: Mode = AUTO
    """How searches rank: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    context_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    """Size of the passages that a prompt shows: that of a retriever's answer, so that both read as much."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)


_P = TypeVar("_P", bound=PassageConfig)


class PassageMethod(Baseline[_P]):
    """A method with the search of passages as its one tool."""

    def __init__(self, graph: Graph, model: LanguageModel, config: _P | None = None) -> None:
        super().__init__(graph, model, config)
        # Raises `BadOption` for a mode that the graph does not have, before a model is paid.
        self._mode = Spaces(graph, self.config.mode).mode

    def start(self, question: Question, run: Run, toolbox: Toolbox | None = None) -> Workflow:
        """Return the course of a question, before its first step."""
        config = self.config.model_copy(update={"mode": self._mode})
        tools = open_passages(self._graph, self._mode, question.k, has_filters=True, has_answer=False)
        return Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=tools
        )

    def passages(self, rows: Iterable[int]) -> EvidenceText:
        """Return the texts of some rows for a prompt, labelled in their order."""
        nodes = tuple(Scored(self._graph.arrays.node_at(row), 1.0) for row in rows)
        return render(Evidence(nodes=nodes), self._graph, self.config.context_tokens)


def search(workflow: Workflow, query: str, k: int) -> tuple[int, ...]:
    """Return the rows of the best passages that pass the question's filters."""
    question = workflow.question
    filters: dict[str, JsonValue] = {"node_types": list(question.node_types), "where": list(question.where)}
    filters = {name: value for name, value in filters.items() if value}
    return tuple(map(workflow.graph.arrays.row, workflow.use(SEARCH_PASSAGES, query=query, k=k, **filters).nodes))


STOP = "answer is"
"""The words of a sentence that end the chain."""
_SENTENCE = 1_000  # characters of a sentence that the chain keeps and a search takes


class IrCotConfig(PassageConfig):
    """IRCoT's settings."""

    max_steps: int = Field(default=8, ge=1, le=LARGEST_K)
    """Sentences of the chain at the most. The paper's number."""
    paragraphs: int = Field(default=4, ge=1, le=LARGEST_K)
    """Passages that a search may add. The paper tunes 2, 4, 6 or 8 for each data set; `k` is the most in all."""


class IrCot(PassageMethod[IrCotConfig]):
    """Sentence, search, sentence, search; then a reader."""

    name = "ircot"
    settings = IrCotConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Interleave sentences and searches, and return what was collected; the reader is not asked."""
        return self._explored(question, run)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Interleave, then let the reader answer from all that was collected."""
        result, rows = self._explored(question, run)
        return answer_from(result, self.passages(rows), model=model, run=run, prompt="ircot-read")

    def _explored(self, question: Question, run: Run) -> tuple[Result, tuple[int, ...]]:
        """Return the result, and the rows collected in the order of finding."""
        config, workflow = self.config, self.start(question, run)
        collected: dict[int, str] = {}

        def collect(query: str, why: str) -> None:
            if len(collected) < question.k:
                new = [row for row in search(workflow, query, config.paragraphs) if row not in collected]
                collected.update(dict.fromkeys(new[: question.k - len(collected)], why))

        def think() -> None:
            collect(question.text, "found by the question")
            chain: list[str] = []
            for number in range(1, config.max_steps + 1):
                # Models repeat the chain before they add to it: the first new sentence counts.
                reply = workflow.ask(
                    "ircot",
                    question=workflow.question.text,
                    passages=self.passages(collected).text,
                    chain=" ".join(chain) or "(empty)",
                )
                earlier = {sentence.casefold() for sentence in chain}
                sentences = (sentence[:_SENTENCE] for sentence in split(" ".join(reply.split())))
                new = (text for text in sentences if any(map(str.isalpha, text)) and text.casefold() not in earlier)
                sentence = next(new, "")
                if not sentence:
                    workflow.notes.append(f"the model wrote no new sentence in step {number}: the chain ends there")
                    return
                chain.append(sentence)
                if STOP in sentence.casefold():
                    return
                collect(sentence, f"found by sentence {number}: {one_line(sentence)}")
            workflow.notes.append(f"the chain came to no answer in {config.max_steps} sentences")

        result = workflow.follow_and_rank(think, lambda: workflow.present(collected))
        return result, tuple(collected) if result.stopped_by != "error" else ()


# `search-o1`: a model reasons, asks for searches by marks in its reasoning, and reads only what matters of each.
#
# Paper: Li et al. 2025, Search-o1; a baseline of GraphSearch (002,
# table 4). The authors' settings: 10 documents a search, 5 searches and 10 turns at most.
#
# 1. the model reasons on from the question and the chain so far;
# 2. at `<search>words</search>` its turn ends, and the words are searched for;
# 3. a second prompt, reason-in-documents, shows the chain, the words and the documents, and asks for what the chain
#    needs of them; that alone enters the chain, as `<result>...</result>`, and 1 follows;
# 4. at `<answer>...</answer>` the course ends.
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
#    memory, and fall back on its answer without any search.
# 7. A turn without a search and without an answer's marks ends the course: its last line is taken for the answer, and
#    the notes say so.

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


class _Turn(NamedTuple):
    """A reply up to its first mark."""

    thought: str
    query: str | None = None
    answer: str | None = None


@dataclass(slots=True)
class _Chain:
    """One question's reasoning, and the documents found for it."""

    answer: str | None = None
    reasoning: str | None = None
    """The whole chain, if there is an answer."""
    turns: list[str] = field(default_factory=list)
    searched: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Rows by the query that found them."""
    cited: dict[int, str] = field(default_factory=dict)
    """Rows that reason-in-documents has drawn on."""
    named: dict[int, str] = field(default_factory=dict)
    """Rows that the answer cites."""


class SearchO1(PassageMethod[SearchO1Config]):
    """Reason, search, read what was found, reason on."""

    name = "search-o1"
    settings = SearchO1Config

    def retrieve(self, question: Question, run: Run) -> Result:
        """Let the model reason and search until it answers."""
        workflow, chain = self.start(question, run), _Chain()
        result = workflow.follow_and_rank(lambda: self._reason(workflow, chain), lambda: _ranking(workflow, chain))
        return result.model_copy(update={"answer": chain.answer, "long_answer": chain.reasoning})

    def _reason(self, workflow: Workflow, chain: _Chain) -> None:
        config = self.config
        for number in range(1, config.max_turns + 1):
            left = config.max_searches - len(chain.searched) if number < config.max_turns else 0
            reply = workflow.ask_aloud(
                "search-o1",
                question=workflow.question.text,
                chain="\n\n".join(chain.turns) or "(empty)",
                left=f"Searches left: {left}." if left else NONE_LEFT,
            )
            turn = _read(reply)
            if turn.query is None:
                # Without the marks of an answer the last line counts.
                arrays, words = workflow.graph.arrays, turn.answer
                if words is None:
                    words = next((line for line in reversed(turn.thought.splitlines()) if line.strip()), "")
                    instead = "its last line stands for one" if words else "it said nothing"
                    workflow.notes.append(f"the model gave no answer in its marks in turn {number}: {instead}")
                cited_rows = dict.fromkeys(row for some in (chain.cited, *chain.searched.values()) for row in some)
                answer = citations(_clean(words), [arrays.ids[row] for row in cited_rows])
                chain.named = {arrays.row(node): "cited in the answer" for node in answer.cited}
                if answer.notes:
                    workflow.notes.append(f"the answer cites what was not found: {', '.join(answer.notes)}")
                chain.answer = answer.text or None
                if chain.answer is not None:
                    chain.reasoning = (
                        "\n".join(_MARKS.sub("", text) for text in (*chain.turns, turn.thought)).strip() or None
                    )
                return
            result = AGAIN if turn.query in chain.searched else NONE_LEFT
            if turn.query not in chain.searched and left > 0:
                rows = search(workflow, turn.query, config.documents)
                chain.searched[turn.query] = rows
                result = self._reason_in_documents(workflow, chain, turn, rows) if rows else EMPTY
            chain.turns.append(f"{turn.thought}\n<search>{turn.query}</search>\n<result>{result}</result>".lstrip())
        workflow.notes.append(f"no answer after {config.max_turns} turns")

    def _reason_in_documents(self, workflow: Workflow, chain: _Chain, turn: _Turn, rows: Sequence[int]) -> str:
        """Return the part of some documents that the chain needs, ids in place of its labels."""
        documents = self.passages(rows)
        reply = workflow.ask(
            "search-o1-documents",
            question=workflow.question.text,
            chain="\n\n".join([*chain.turns, turn.thought]).strip() or "(empty)",
            query=turn.query,
            documents=documents.text,
        )
        summary = with_ids(_clean(reply), documents.labels)
        if not summary.text:
            workflow.notes.append(f"nothing was said of the documents found by {turn.query!r}")
        for node in summary.cited:
            chain.cited.setdefault(workflow.graph.arrays.row(node), f"drawn on for {turn.query!r}")
        return summary.text[:_THOUGHT] or EMPTY


def _ranking(workflow: Workflow, chain: _Chain) -> Sequence[Ranked]:
    """Return the rows found: those that the answer cites, those that were drawn on, the others by place."""
    places = sorted(
        (place, number, row, query)
        for number, (query, rows) in enumerate(chain.searched.items())
        for place, row in enumerate(rows)
    )
    reasons = dict(chain.named)
    for row, why in (*chain.cited.items(), *((row, f"found by {query!r}") for _, _, row, query in places)):
        reasons.setdefault(row, why)
    if not reasons:
        workflow.notes.append("nothing was found by the model's searches: found by plain search")
        rows = search(workflow, workflow.question.text, workflow.question.k)
        reasons = dict.fromkeys(rows, "found by plain search")
    return workflow.present(reasons)


def _read(reply: str) -> _Turn:
    """Parse a reply: its first complete mark counts, a search even in the model's thoughts."""
    search = _SEARCH.search(reply)
    before = reply if search is None else reply[: search.start()]
    thought = reply.rfind(_THOUGHT_OUT)  # an answer before that is only considered
    is_thinking = thought < 0 and "<think>" in before
    answer = None if is_thinking else _ANSWER.search(before, max(thought, 0))
    if search is not None and answer is None:
        return _Turn(_clean(before, keeps_lines=True), query=_clean(search[1]))
    return _Turn(_clean(after_thinking(reply), keeps_lines=True), answer=None if answer is None else answer[1])


def _clean(text: str, *, keeps_lines: bool = False) -> str:
    """Return a text without marks, so that it can feign none; in one line unless its lines are kept."""
    bare = _MARKS.sub(" ", text)
    return bare.strip()[-_THOUGHT:] if keeps_lines else one_line(" ".join(bare.split()), _THOUGHT)
