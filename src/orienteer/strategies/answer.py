"""The last call of a method that only ranks: a short answer from its hits, citing ids, or that they do not hold one."""

from __future__ import annotations

import hashlib
import re
import time
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm import call
from orienteer.llm.spoken import after_thinking
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Message, Question, Ranked, Result, Step, StoppedBy, Trajectory
from orienteer.tools.render import one_line

NOT_THERE = "not in the evidence"
HITS = 20  # of the ranking are shown to the model


def answer(result: Result, *, model: LanguageModel, run: Run) -> Result:
    """Return the result with an answer from its hits; the one call it takes may come out of the run's reserve.

    Without a hit nothing is spent. Where the model fails or the budget is spent, the answer is None and the notes say
    why; so it is where the search itself did not come to its end. What ended the search stays what ended the result.
    """
    if not result.hits:
        came_to_its_end = result.stopped_by in ("finish", "steps")
        return result.model_copy(update={"answer": NOT_THERE if came_to_its_end else None})
    prompt = _prompt()
    opening = (Message(role="system", content=prompt), Message(role="user", content=_evidence(result)))
    trajectory = Trajectory(
        question=Question(text=result.question),
        method="answer",
        model=model.name,
        prompt_hash=hashlib.sha256(prompt.encode()).hexdigest(),
        opening=opening,
    )
    started = time.monotonic()
    try:
        reply = call(model, opening, run=run.final())
    except (BudgetExhausted, ModelError) as error:
        return _failed(result, trajectory, error)
    step = Step(reply=reply, seconds=time.monotonic() - started, agent=None)
    run.tell(step)
    said = " ".join(after_thinking(reply.message.content or "").split())
    cited = _citations(said, result.hits)
    notes = _notes(said, cited)
    text = NOT_THERE if said.casefold().strip(" .\"'*`") == NOT_THERE else said or None
    done = trajectory.model_copy(update={"steps": (step,), "selected": cited.hits, "answer": text, "notes": notes})
    return result.model_copy(
        update={
            "answer": text,
            "trajectories": (*result.trajectories, done),
            "notes": (*result.notes, *notes),
        }
    )


def _failed(result: Result, trajectory: Trajectory, error: BudgetExhausted | ModelError) -> Result:
    stopped_by: StoppedBy = error.limit if isinstance(error, BudgetExhausted) else "error"  # type: ignore[assignment]
    failed = trajectory.model_copy(update={"stopped_by": stopped_by, "error": str(error)})
    return result.model_copy(
        update={
            "trajectories": (*result.trajectories, failed),
            "notes": (*result.notes, f"no answer: {error}"),
        }
    )


def _evidence(result: Result) -> str:
    lines = [f"Question: {result.question}", "", "Evidence, best first:"]
    for hit in result.hits[:HITS]:
        lines.append(f"[{hit.id}] {one_line(hit.name)} ({hit.type})")
        lines += [f"  {' '.join(part.splitlines())}" for part in (hit.why, hit.text) if part]
    if result.notes:
        lines += ["", "Notes of the search:", *(f"- {note}" for note in result.notes)]
    return "\n".join(lines)


class _Citations(NamedTuple):
    hits: tuple[str, ...]
    """Ids of hits, in the order of the ranking."""
    foreign: tuple[str, ...]


def _citations(said: str, hits: tuple[Ranked, ...]) -> _Citations:
    """Return what an answer cites in square brackets, one id or several in each."""
    rest, cited = said, set[str]()
    for node_id in sorted((hit.id for hit in hits), key=len, reverse=True):  # ids may hold brackets and commas too
        if f"[{node_id}]" in rest:
            cited.add(node_id)
            rest = rest.replace(f"[{node_id}]", "")
    groups: list[str] = re.findall(r"\[([^\[\]]+)\]", rest)
    cited |= {part.strip() for group in groups for part in re.split("[,;]", group)} - {""}
    known = tuple(hit.id for hit in hits if hit.id in cited)
    return _Citations(known, tuple(sorted(cited - set(known))))


def _notes(said: str, cited: _Citations) -> tuple[str, ...]:
    """Say what is wrong with an answer."""
    if not said:
        return ("no answer: the model said nothing",)
    if cited.foreign:
        return (f"the answer cites what is not among the hits: {', '.join(cited.foreign)}",)
    return () if cited.hits or NOT_THERE in said.casefold() else ("the answer cites no hit",)


@cache
def _prompt() -> str:
    return files("orienteer.strategies").joinpath("prompts/answer.md").read_text(encoding="utf-8").strip()
