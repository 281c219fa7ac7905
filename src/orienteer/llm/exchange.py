"""One question to a model: a prompt, its values, the schema of the reply, a check, a repair, and the record of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from orienteer.errors import BudgetExhausted, Error, ModelError
from orienteer.llm.calls import Check, exchange
from orienteer.llm.conversation import Conversation
from orienteer.llm.prompts import Prompt
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import decode, faults
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Reply, Sampling, StoppedBy, Trajectory


class Exchange(NamedTuple):
    """What a model was asked, and what it gave."""

    reply: Reply
    value: dict[str, Any] | None  # Any: JSON, as its schema says
    """The object of the reply; None where none was asked for, or where no reply fits the schema, repaired or not."""
    trajectory: Trajectory


def begin(
    model: LanguageModel,
    prompt: Prompt,
    values: Mapping[str, object],
    *,
    question: Question,
    method: str,
    sampling: Sampling,
) -> Trajectory:
    """Return what a question to a model begins with: a trajectory without steps, the prompt's placeholders filled."""
    return Trajectory(
        question=question,
        method=method,
        model=model.name,
        prompt_hash=prompt.sha256,
        sampling=sampling,
        opening=prompt.filled(values),
    )


def first_request(begun: Trajectory, schema: Mapping[str, Any] | None = None) -> ChatRequest:
    """Return the request that `ask` makes of a trajectory, before any repair: its key finds an earlier reply."""
    assert begun.model is not None  # `begin` names it
    return ChatRequest.of(begun.model, begun.opening, schema=schema, sampling=begun.sampling)


def ask(
    model: LanguageModel,
    run: Run,
    begun: Trajectory,
    *,
    schema: Mapping[str, Any] | None = None,
    check: Check | None = None,
    repairs: bool = True,
    agent: int | None = 0,
) -> Exchange:
    """Return what a model gives for the opening of a trajectory; `exchange` says what is repaired.

    Raises `BudgetExhausted` and `ModelError`, which then hold the trajectory as far as it came.
    """
    talk = Conversation(model, begun.opening, sampling=begun.sampling, agent=agent)
    try:
        reply = exchange(talk, run, schema=schema, check=check, repairs=repairs)
    except (BudgetExhausted, ModelError) as failed:
        ending = {"steps": tuple(talk.steps), "stopped_by": ending_of(failed), "error": str(failed)}
        failed.trajectories += (begun.model_copy(update=ending),)
        raise
    content = reply.message.content
    trajectory = begun.model_copy(update={"steps": tuple(talk.steps), "answer": content})
    return Exchange(reply, None if schema is None else object_of(content or "", schema), trajectory)


def ask_for(
    model: LanguageModel, run: Run, prompt: Prompt, schema: Mapping[str, Any], *, question: str, **values: str
) -> Exchange:
    """Return what a model gives for a prompt, asked for the sake of a question. Raises as `ask` does."""
    sampling = Sampling(temperature=0.0, random_seed=run.random_seed)
    values = {**values, "question": question}
    begun = begin(model, prompt, values, question=Question(text=question), method=prompt.name, sampling=sampling)
    return ask(model, run, begun, schema=schema)


def object_of(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object that a text is, None where it is none or does not fit the schema."""
    try:
        value = decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and not faults(value, schema) else None


def ending_of(failed: BudgetExhausted | ModelError) -> StoppedBy:
    """Return what a trajectory was ended by."""
    limit = failed.limit if isinstance(failed, BudgetExhausted) else "error"
    assert limit in get_args(StoppedBy)
    return limit  # type: ignore[return-value]  # one of these, as was seen


def recorded_by(error: Error) -> tuple[Trajectory, ...]:
    """Return the trajectories of the calls that led to an error, those that were sent anything."""
    return tuple(record for record in error.trajectories if isinstance(record, Trajectory) and record.steps)
