"""Questions in a model's words, checked: nothing that is asked may be lost, nothing that answers may be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.lab.quizzes.generator import Ask, Progress, ask_each
from orienteer.lab.quizzes.kinds import PACKAGE
from orienteer.lab.quizzes.proof import is_leaking
from orienteer.lab.quizzes.questions import GeneratedQuestion
from orienteer.llm.conversation import begin, prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Sampling

_WORKERS = 8
_LONGEST = 600  # characters of a question


@dataclass(frozen=True, slots=True)
class Paraphrased:
    """The questions, in other words if a model found sound ones, and why the others stayed as they were."""

    questions: tuple[GeneratedQuestion, ...]
    kept_plain: Counter[str]
    """Questions that stayed as they were, by reason."""
    stopped: BudgetExhausted | ModelError | None
    """The error that ended the work early."""


def paraphrase(
    graph: Graph,
    questions: Sequence[GeneratedQuestion],
    *,
    model: LanguageModel,
    run: Run,
    progress: Progress = lambda stage, count: None,
) -> Paraphrased:
    """Return questions as a model puts them, their first words kept in `plain`.

    A paraphrase that loses an anchor's name or the words of the constraint, or that names an answer, is dropped. When
    the budget of `run` is spent, or the model fails for good, the rest stay as they are; `stopped` says so.
    """
    prompt, sampling = prompt_of("paraphrase", PACKAGE), Sampling(random_seed=run.random_seed)

    def work(question: GeneratedQuestion, ask: Ask) -> tuple[GeneratedQuestion, str | None]:
        old = question.question
        asked = Question(text=old)
        exchange = ask(
            begin(model, prompt, {"content": old}, question=asked, method="paraphrase", sampling=sampling), None
        )
        text = "" if exchange is None else (exchange.reply.message.content or "").strip()
        fault = "not asked: the work had ended" if exchange is None else fault_of(graph, question, text)
        if fault is None and text != old:
            question = question.model_copy(update={"question": text, "plain": old})
        return question, fault

    done, stopped = ask_each(
        questions, work, model=model, run=run, workers=_WORKERS, stage="paraphrases", progress=progress
    )
    kept_plain = Counter(fault for _, fault in done if fault is not None)
    return Paraphrased(tuple(question for question, _ in done), kept_plain, stopped)


def fault_of(graph: Graph, question: GeneratedQuestion, text: str) -> str | None:
    """Return the fault of a paraphrase, or None if it can replace the question."""
    tokenizer = graph.arrays.tokenizer
    if not text or len(text) > _LONGEST or "\n" in text:
        return "no single line of text"
    folded = f" {' '.join(tokenizer.words(text))} "
    for anchor in question.anchors:
        name = graph.arrays.names[graph.arrays.row(anchor)]
        words = " ".join(tokenizer.words(name))
        if (f" {words} " if words else name) not in (folded if words else text):
            return "an anchor's name is lost"
    phrase = str(question.constraint["phrase"]) if question.constraint else ""
    if not set(tokenizer.terms(phrase)) <= set(tokenizer.terms(text)):
        return "the words of the constraint are lost"
    if is_leaking(graph, text, (graph.arrays.row(node) for node in question.nodes)):
        return "an answer is named"
    return None
