"""The last call of a method that only ranks: the bare answer, or the statement that the evidence has none.

The model answers from the hits (`answer`), or from all the evidence that a method has gathered (`answer_from`). It says
in a sentence or a few, with citations, how the answer follows, then `Answer:` and the bare thing; a result has the bare
thing first, as its `answer`, and the sentences as its `long_answer`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from orienteer.display import counted
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.llm import arguments_of
from orienteer.llm.conversation import ask as ask_model, begin, no_answer, prompt_of
from orienteer.llm.spoken import after_thinking, bare, bare_so_far, may_be_thinking
from orienteer.protocols import LanguageModel, Run, StreamingRun
from orienteer.records import AnswerPart, Citation, Question, Refusal, Result, Sampling
from orienteer.retrieval.evidence import Evidence, EvidenceText, Scored, render
from orienteer.retrieval.graph_text import hit_title
from orienteer.retrieval.query import ANSWER_TOKENS
from orienteer.text.sentences import flat, one_line, single_spaced, split
from orienteer.tools.answer import FINISH

NOT_THERE = "not in the evidence"
HITS = 20  # of the ranking are shown to the model
# Characters that a model writes, its thoughts among them, beyond which the rest of an answer is told at once.
_LONGEST_HEARD = 20_000
_COMMENT = 500  # characters of what an agent said at its end
_ANSWER = re.compile(r"(?:(?<!\*)\*+)?\b(?:final\s+)?answer\**\s*[:：]\**", re.IGNORECASE)
# What the end of some words may become, or is: `Answer:` with nothing behind it.
_BEGUN = re.compile(r"\b(f(i(n(a(l\s*)?)?)?)?|(final\s+)?(a(n(s(w(er?)?)?)?)?|answer\**\s*[:：]?\**))\Z", re.IGNORECASE)
_LONGEST_BEGUN = 40  # characters at the end that are looked at for it
_FILLING = " \t\r\n*#"
# The words that there is no answer, and nothing behind them but a sentence of its own.
_DENIAL = re.compile(rf"[\s\"'*`]*{NOT_THERE}[\s\"'*`]*(?:$|[.,:;(–—-]+)", re.IGNORECASE)
_SAID = 500  # characters of a refusal that a model wrote
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


class AnswerParts(NamedTuple):
    """The parts of a reply that answers."""

    text: str
    cited: tuple[str, ...] = ()
    """Ids of the nodes that it cites."""
    notes: tuple[str, ...] = ()
    """What is wrong with the reply."""
    reasoning: str = ""
    """What the reply says before the answer."""


def answer(result: Result, *, model: LanguageModel, run: Run, graph: Graph | None = None) -> Result:
    """Return the result with an answer from its hits. The one call that it takes may use the run's reserve.

    Beside the hits the model sees what agents said when they ended the search, how many nodes were found if that is
    known, and the notes. If passages are among the hits, the model reads every hit whole, as it reads other evidence.

    Without a hit nothing is spent. The answer is None, and the refusal says why if there is none; the notes say why if
    the model fails or the budget is spent. `stopped_by` stays what ended the search.
    """
    if not result.hits:
        return without(result)
    if graph is not None and any(hit.type in PASSAGES for hit in result.hits):
        nodes = tuple(Scored(graph.node(hit.id), hit.score) for hit in result.hits)
        return answer_from(result, render(Evidence(nodes=nodes), graph, ANSWER_TOKENS), model=model, run=run)
    ids = tuple(hit.id for hit in result.hits)
    return ask(result, "answer", _hits(result), lambda text: _by_ids(text, ids), model=model, run=run)


def answer_from(
    result: Result,
    evidence: EvidenceText,
    *,
    model: LanguageModel,
    run: Run,
    prompt: str = "answer-evidence",
    temperature: float = 0.0,
) -> Result:
    """Return the result with an answer from evidence, as `answer` does: first the reasoning, then a short answer.

    The labels that these cite become ids of nodes. If no piece of the evidence has room, there is no answer.
    """
    if evidence.left_out:
        pieces = evidence.left_out + len(evidence.labels)
        left = f"{evidence.left_out} of {pieces} pieces of the evidence had no room in the answer's prompt"
        result = result.model_copy(update={"notes": (*result.notes, left)})
    if not evidence.labels:
        return result if evidence.left_out else without(result)
    user = "\n".join(["Evidence:", evidence.text, *_search_notes(result), "", f"Question: {result.question}"])
    return ask(
        result,
        prompt,
        user,
        lambda text: _by_labels(text, evidence.labels),
        model=model,
        run=run,
        temperature=temperature,  # with a seed, as the courses it is compared with
    )


def ask(
    result: Result,
    prompt: str,
    user: str,
    read: Callable[[str], AnswerParts],
    *,
    model: LanguageModel,
    run: Run,
    temperature: float | None = None,
) -> Result:
    """Return the result with the model's answer to a prompt, `prompts/NAME.md`, and the trajectory of the call.

    With a temperature the call has the run's random seed. If the model says that there is no answer, it is a refusal.
    """
    begun = begin(
        model,
        prompt_of(prompt),
        {"content": user},
        question=Question(text=result.question),
        method="answer",
        sampling=Sampling() if temperature is None else Sampling(temperature=temperature, random_seed=run.random_seed),
    )
    stream = AnswerStream(run, read) if isinstance(run, StreamingRun) and run.hears_parts else None
    hear = None if stream is None else stream.on_text
    try:
        reply, _, done = ask_model(model, run.final(), begun, agent=None, hear=hear)
    except (BudgetExhausted, ModelError) as error:
        trajectories, notes = (*result.trajectories, *error.trajectories), (*result.notes, f"no answer: {error}")
        return result.model_copy(update={"trajectories": trajectories, "notes": notes})
    why = no_answer(reply)
    parts = AnswerParts("") if why else read(single_spaced(after_thinking(reply.message.content or "")))
    if stream is not None:
        stream.end(parts)
    notes = parts.notes if parts.text else (f"no answer: {why or 'the model said nothing'}",)
    text = spoken(parts.text)
    done = done.model_copy(update={"selected": parts.cited, "answer": text, "notes": notes})
    return settled(
        result.model_copy(
            update={
                "answer": parts.text or None,
                "long_answer": parts.reasoning or None,
                "trajectories": (*result.trajectories, done),
                "notes": (*result.notes, *notes),
            }
        )
    )


class AnswerStream:
    """Reports the words of an answer to a run while they are written, exactly as the result will have them.

    What is not yet decided is held back: thoughts before the answer, a bracket that is still open, and what may be the
    beginning of `Answer:`, or of the words that there is none, which are no answer. If the reading of what was told
    changes after all, as by a second `Answer:`, nothing more is told, and the whole answer puts it right.
    """

    def __init__(self, run: Run, read: Callable[[str], AnswerParts]) -> None:
        self._run, self._read = run, read
        self._written, self._told = "", ""

    def on_text(self, part: str) -> None:
        """Process some words of the model, and report those that are decided."""
        self._written += part
        if len(self._written) > _LONGEST_HEARD:
            return  # each part reads all of it
        words = after_thinking(self._written)
        if not may_be_thinking(words):
            self._tell(self._read(single_spaced(_decided(words))))

    def end(self, parts: AnswerParts) -> None:
        """Report the rest of a whole answer, unless its words were not streamed."""
        if self._written:
            self._tell(parts, is_whole=True)

    def _tell(self, parts: AnswerParts, *, is_whole: bool = False) -> None:
        begun = parts.text.lstrip(" \"'*`").casefold()[: len(NOT_THERE)]
        is_none = _denial_in(parts.text) is not None if is_whole else NOT_THERE.startswith(begun)
        text = "" if is_none else parts.text
        words = "\n\n".join(filter(None, (parts.reasoning, text)))
        if words != self._told and words.startswith(self._told):
            self._run.tell(AnswerPart(words.removeprefix(self._told)))
            self._told = words


def _decided(words: str) -> str:
    """Return the beginning of a reply whose reading does not depend on what follows it."""
    if words.rfind("[") > words.rfind("]"):
        words = words[: words.rfind("[")]
    words = bare_so_far(words).rstrip("# \n")
    if (begun := _BEGUN.search(words, max(0, len(words) - _LONGEST_BEGUN))) is not None:
        words = words[: begun.start()].rstrip(_FILLING)
    return words


def without(result: Result) -> Result:
    """Return the result of a search that found nothing: refused, unless the search was cut short."""
    return refused(result) if result.stopped_by in ("finish", "steps") else result


def settled(result: Result) -> Result:
    """Return a result as it is, or refused if a model's answer only says that there is none."""
    is_written = result.answer is not None and result.answer_kind in (None, "text")
    said = _denial_in(result.answer or "") if is_written else None
    return result if said is None else refused(result, " ".join(filter(None, (result.long_answer, said))))


def _denial_in(text: str) -> str | None:
    """Return what stands behind the words that there is no answer, or None if a text does not begin with them."""
    words = _BRACKETS.sub("", text)
    denial = _DENIAL.match(words)
    return None if denial is None else words[denial.end() :].strip(" .)\"'*`")


def refused(result: Result, said: str = "") -> Result:
    """Return a result without an answer, and with a refusal: what was searched, and what a model `said` is lacking.

    A refusal that is there already stays, with a note.
    """
    found = f"{counted(len(result.hits), 'hit')}, and none answers" if result.hits else "no hit"
    what = one_line(single_spaced(said), _SAID)
    text = f"{NOT_THERE}: {result.method} gave {found}{f'; the model says: {what}' if what else ''}"
    without_answer = {"answer": None, "long_answer": None, "answer_kind": None, "citations": ()}
    if result.refusal is not None:
        return result.model_copy(update={**without_answer, "notes": (*result.notes, text)})
    return result.model_copy(update={**without_answer, "refusal": Refusal(kind="not_here", text=text)})


def spoken(text: str) -> str | None:
    """Return an answer as readers take it up: None for an empty one, for one that says there is none `NOT_THERE`."""
    return text or None if _denial_in(text) is None else NOT_THERE


def with_ids(text: str, labels: Mapping[str, Collection[str]]) -> AnswerParts:
    """Return a text with node ids in place of its labels in square brackets.

    Brackets without a label stay as they are. The notes list the names in brackets that are no labels.
    """
    cited: dict[str, None] = {}
    foreign: dict[str, None] = {}

    def spelled(brackets: re.Match[str]) -> str:
        parts = [part.strip() for part in re.split("[,;]", brackets[1]) if part.strip()]
        unknown = [part for part in parts if part.upper() not in labels]
        foreign.update(dict.fromkeys(unknown))
        if unknown == parts:
            return brackets[0]
        ids = [node_id for part in parts for node_id in labels.get(part.upper(), ())]
        cited.update(dict.fromkeys(ids))
        return "".join(f"[{name}]" for name in dict.fromkeys((*ids, *unknown)))

    return AnswerParts(_BRACKETS.sub(spelled, text), tuple(cited), tuple(foreign))


def citations(text: str, ids: Collection[str]) -> AnswerParts:
    """Return a text with the ids that it cites in square brackets, one or several in each pair, in the order of `ids`.

    The notes list what it cites besides.
    """
    rest, cited = text, set[str]()
    for node_id in sorted(ids, key=len, reverse=True):  # ids may hold brackets and commas too
        if f"[{node_id}]" in rest:
            cited.add(node_id)
            rest = rest.replace(f"[{node_id}]", "")
    groups: list[str] = _BRACKETS.findall(rest)
    cited |= {part.strip() for group in groups for part in re.split("[,;]", group)} - {""}
    cited_ids = tuple(node_id for node_id in ids if node_id in cited)
    return AnswerParts(text, cited_ids, tuple(sorted(cited - set(cited_ids))))


def as_written(result: Result) -> Result:
    """Return a result with the kind of the answer that a model wrote, and the hits and other nodes that it cites.

    A reader of the result then looks for no brackets. What a method says itself of its answer stays as it is.
    """
    if result.answer is None or result.citations:
        return result
    known = {hit.id for hit in result.hits} | {node for course in result.trajectories for node in course.selected}
    cited = (*_cited("answer", result.answer, known), *_cited("long_answer", result.long_answer, known))
    return result.model_copy(update={"citations": cited, "answer_kind": result.answer_kind or "text"})


def _cited(field: Literal["answer", "long_answer"], text: str | None, ids: Collection[str]) -> Iterator[Citation]:
    """Yield the brackets of a text with ids, one or several each; an id may contain brackets and commas too."""
    if not text or not ids or "[" not in text:
        return
    whole = "|".join(re.escape(node_id) for node_id in sorted(ids, key=len, reverse=True))
    for brackets in re.finditer(rf"\[(?:({whole})|([^\[\]]+))\]", text):
        parts = [brackets[1]] if brackets[1] else [part.strip() for part in re.split("[,;]", brackets[2] or "")]
        cited = tuple(dict.fromkeys(part for part in parts if part in ids))
        if cited:
            yield Citation(begin=brackets.start(), end=brackets.end(), ids=cited, text=field)


def parted(text: str) -> AnswerParts:
    """Return the answer after the last `Answer:` and the reasoning before it; without one the whole text answers."""
    *before, last = _ANSWER.split(text)
    if before and last.strip():
        return AnswerParts(bare(last.strip()), reasoning=" ".join(before).strip().rstrip("# "))
    text = bare(text)
    is_more = len(list(split(text))) > 1
    return AnswerParts(text, notes=("the answer is not parted from its reasoning",) if is_more else ())


def _by_labels(text: str, labels: Mapping[str, Collection[str]]) -> AnswerParts:
    parts = parted(text)
    if not with_ids(parts.text, dict.fromkeys(labels, ())).text.strip(" ."):
        return AnswerParts("")  # labels alone answer nothing
    answer, reasoning = with_ids(parts.text, labels), with_ids(parts.reasoning, labels)
    cited = tuple(dict.fromkeys((*answer.cited, *reasoning.cited)))
    notes = _notes(AnswerParts(answer.text, cited, (*reasoning.notes, *answer.notes)), "nothing of the evidence")
    return AnswerParts(answer.text, cited, (*notes, *parts.notes), reasoning.text)


def _by_ids(text: str, ids: Collection[str]) -> AnswerParts:
    parts = parted(text)
    answer, reasoning = citations(parts.text, ids), citations(parts.reasoning, ids)
    both = {*answer.cited, *reasoning.cited}
    foreign = tuple(dict.fromkeys((*reasoning.notes, *answer.notes)))
    whole = AnswerParts(parts.text, tuple(node_id for node_id in ids if node_id in both), foreign, parts.reasoning)
    return whole._replace(notes=(*_notes(whole, "no hit", "among the hits"), *parts.notes))


def _notes(parts: AnswerParts, nothing: str, where: str = "in the evidence") -> tuple[str, ...]:
    """Return notes on the citations of an answer; its own notes list those that do not exist."""
    if parts.notes:
        return (f"the answer cites what is not {where}: {', '.join(parts.notes)}",)
    return () if parts.cited or NOT_THERE in parts.text.casefold() else (f"the answer cites {nothing}",)


def _hits(result: Result) -> str:
    lines = [f"Question: {result.question}", "", "Evidence, best first:"]
    first: dict[str, str] = {}
    for hit in result.hits[:HITS]:
        same = f"as for [{first.setdefault(hit.why, hit.id)}]"
        is_said = first[hit.why] != hit.id and len(hit.why) > len(same)  # a shared reason is written once
        lines.append(hit_title(hit))
        lines += [f"  {flat(part)}" for part in (same if is_said else hit.why, hit.text) if part]
    shown = min(HITS, len(result.hits))
    if result.total is not None:
        lines.append(
            f"{result.total} found in all, {min(shown, sum(hit.complete for hit in result.hits))} of them shown"
        )
    elif len(result.hits) > HITS:
        # A ranking is as long as was asked for: its length is no number of anything.
        lines.append(f"the best {HITS} hits are shown")
    return "\n".join([*lines, *_search_notes(result)])


def _search_notes(result: Result) -> list[str]:
    """Return the agents' last comments and the notes of the search, as the model sees them."""
    comments: dict[str, None] = {}
    for trajectory in result.trajectories:
        for call in trajectory.steps[-1].reply.message.tool_calls if trajectory.steps else ():
            # A call that could not be run has not ended the search.
            with suppress(ValueError):
                comment = arguments_of(call, trajectory.tools).value.get("comment") if call.name == FINISH else None
                if isinstance(comment, str) and single_spaced(comment):
                    comments[one_line(single_spaced(comment), _COMMENT)] = None
    parts = (("Said at the end of the search:", comments), ("Notes of the search:", result.notes))
    return [line for head, texts in parts if texts for line in ("", head, *(f"- {text}" for text in texts))]
