"""One question to a model whose reply is an object of a schema, and the record of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from string import Template
from typing import Any, NamedTuple

from orienteer.llm import call
from orienteer.llm.prompts import prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Message, Question, Sampling, Step, Trajectory


class Asked(NamedTuple):
    """What a model gave."""

    found: dict[str, Any] | None  # Any: JSON, as its schema says
    """The object; None where the reply fits no schema even after a repair."""
    trajectory: Trajectory


def ask_for(
    model: LanguageModel, run: Run, prompt: str, schema: Mapping[str, Any], *, question: str, **values: str
) -> Asked:
    """Return what a model gives for the prompt `prompts/NAME.md`, asked for the sake of a question.

    Raises `BudgetExhausted` before the call, `ModelError`.
    """
    text = prompt_of(prompt, "orienteer.retrieval")
    opening = (
        Message(role="system", content=text.system),
        Message(role="user", content=Template(text.user).substitute(values, question=question)),
    )
    sampling = Sampling(temperature=0.0, random_seed=run.random_seed)
    started = time.monotonic()
    reply = call(model, opening, run=run, schema=schema, sampling=sampling)
    step = Step(reply=reply, seconds=time.monotonic() - started)
    run.tell(step)
    trajectory = Trajectory(
        question=Question(text=question),
        method=prompt,
        model=model.name,
        prompt_hash=text.sha256,
        sampling=sampling,
        opening=opening,
        steps=(step,),
        answer=reply.message.content,
    )
    try:
        found = decode(reply.message.content or "")
    except ValueError:
        return Asked(None, trajectory)
    return Asked(found if isinstance(found, dict) and not faults(found, schema) else None, trajectory)
