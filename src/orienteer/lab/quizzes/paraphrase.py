"""Questions in a model's words, checked: nothing that is asked may be lost, nothing that answers may be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.lab.quizzes.kinds import PACKAGE
from orienteer.lab.quizzes.proof import is_leaking
from orienteer.lab.quizzes.questions import GeneratedQuestion
from orienteer.llm.conversation import ask, begin, prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Sampling

_WORKERS = 8
_LONGEST = 600  # characters of a question


@dataclass(frozen=True, slots=True)
class Paraphrased:
    """The questions, in other words where a model found sound ones, and why the others stayed as they were."""

    questions: tuple[GeneratedQuestion, ...]
    kept_plain: Counter[str]
    """Questions that stayed as they were, by reason."""
    stopped: BudgetExhausted | ModelError | None
    """What ended the work early."""


def paraphrase(
    graph: Graph,
    questions: Sequence[GeneratedQuestion],
    *,
    model: LanguageModel,
    run: Run,
    progress: Callable[[str, int], None] = lambda stage, count: None,
) -> Paraphrased:
    """Return questions as a model puts them, their first words kept in `plain`.

    A paraphrase that loses an anchor's name or the words of the constraint, or that names an answer, is dropped. When
    the budget of `run` is spent, or the model fails for good, the rest stay as they are; `stopped` says so.
    """
    state = _State(graph, model, run, progress)
    with ThreadPoolExecutor(_WORKERS) as pool:
        done = tuple(pool.map(state.paraphrase, questions))
    return Paraphrased(done, state.kept_plain, state.stopped)


class _State:
    """What the threads share."""

    def __init__(self, graph: Graph, model: LanguageModel, run: Run, progress: Callable[[str, int], None]) -> None:
        self._graph, self._model, self._run, self._progress = graph, model, run, progress
        self._lock, self._done = Lock(), 0
        self.kept_plain = Counter[str]()
        self.stopped: BudgetExhausted | ModelError | None = None

    def paraphrase(self, question: GeneratedQuestion) -> GeneratedQuestion:
        text = self._ask(question.question) if self.stopped is None else None
        fault = "not asked: the work had ended" if text is None else fault_of(self._graph, question, text)
        with self._lock:
            self._done += 1
            self._progress("paraphrases", self._done)
            if fault is not None:
                self.kept_plain[fault] += 1
        if fault is not None or text == question.question:
            return question
        return question.model_copy(update={"question": text, "plain": question.question})

    def _ask(self, text: str) -> str | None:
        prompt, sampling = prompt_of("paraphrase", PACKAGE), Sampling(random_seed=self._run.random_seed)
        question = Question(text=text)
        begun = begin(self._model, prompt, {"content": text}, question=question, method="paraphrase", sampling=sampling)
        try:
            reply = ask(self._model, self._run, begun).reply
        except (BudgetExhausted, ModelError) as error:
            self.stopped = self.stopped or error
            return None
        return (reply.message.content or "").strip()


def fault_of(graph: Graph, question: GeneratedQuestion, text: str) -> str | None:
    """Return why a paraphrase cannot stand for a question; None where it can."""
    if not text or len(text) > _LONGEST or "\n" in text:
        return "no single line of text"
    folded = f" {' '.join(graph.arrays.tokenizer.words(text))} "
    for anchor in question.anchors:
        name = graph.arrays.names[graph.arrays.row(anchor)]
        words = " ".join(graph.arrays.tokenizer.words(name))
        if (f" {words} " if words else name) not in (folded if words else text):
            return "an anchor's name is lost"
    phrase = str(question.constraint["phrase"]) if question.constraint else ""
    if not set(graph.arrays.tokenizer.terms(phrase)) <= set(graph.arrays.tokenizer.terms(text)):
        return "the words of the constraint are lost"
    if is_leaking(graph, text, (graph.arrays.row(node) for node in question.nodes)):
        return "an answer is named"
    return None
