"""One question to a model: a prompt, its values, the schema of the reply, a check, a repair, and the record of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, get_args

from orienteer.errors import BudgetExhausted, Error, ModelError
from orienteer.llm.conversation import Conversation, Hear
from orienteer.llm.prompts import Prompt
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import decode, faults
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question, Reply, Sampling, StoppedBy, Trajectory

Check: TypeAlias = Callable[[JsonValue], Sequence[str]]
"""Says what is wrong with a reply beyond its schema, a sentence for each fault."""

_LONGEST_FAULT = 2_000
"""Characters of what is said about a reply: it repeats the model's names, of any length, and is paid for."""


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
        prompt=prompt.name,
        prompt_version=prompt.version,
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
    hear: Hear | None = None,
) -> Exchange:
    """Return what a model gives for the opening of a trajectory, after one repair turn where a schema is not kept.

    An object that fits the schema may be judged further by `check`; without `repairs` the first reply stays as it is,
    and so it does where nothing is left to spend on a repair. What is wrong with the repaired reply is for the caller
    to see. `hear` is called with the words of the first reply as they are written. Each request is claimed from the
    run, charged to it, and a step of the trajectory.

    Raises `BudgetExhausted` and `ModelError`, which then hold the trajectory as far as it came.
    """
    talk = Conversation(model, begun.opening, sampling=begun.sampling, agent=agent)
    try:
        reply = talk.turn(run, schema=schema, hear=hear).reply
        if repairs and schema is not None and (fault := _fault(reply, schema, check)) is not None:
            with suppress(BudgetExhausted):
                reply = talk.turn(run, notice=fault, schema=schema).reply.model_copy(update={"repaired": 1})
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


def _fault(reply: Reply, schema: Mapping[str, Any], check: Check | None) -> str | None:
    """Return what to tell the model about a reply; None where it is sound."""
    try:
        value = decode(reply.message.content or "")
    except ValueError as error:
        fault = f"Your reply is no JSON: {error}."
    else:
        if wrong := faults(value, schema):
            fault = f"Your reply does not fit its schema: {_cut('; '.join(wrong))}."
        elif check is not None and (wrong := tuple(check(value))):
            fault = f"Your reply cannot be used: {_cut('; '.join(wrong))}."
        else:
            return None
    cut = "Your reply was cut off at the length limit; be shorter. " if reply.truncated else ""
    return f"{cut}{fault} Send it again, right."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FAULT else f"{text[:_LONGEST_FAULT]} ..."
