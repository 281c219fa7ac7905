"""Trajectories as rows of training: the requests as they were sent, the replies as they came, and whose each token is.

One source writes prompts and tools in training, evaluation and serving: `agents.requests` gives each request exactly,
and the student's own chat template turns it into text as a server would. A course whose requests only grow is one row;
where an observation was left out or a thought dropped, the next request begins a row of its own.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from orienteer.agents.replay import SentRequest, requests
from orienteer.errors import BadInput
from orienteer.lab.evaluation.running.runs import failed_calls
from orienteer.records import Reply, Trajectory

IGNORED = -100
"""The label of a token that no loss is taken of, as in PyTorch's cross entropy."""
_PROBE = "\u2045probe\u2046"


class Template(Protocol):
    """A tokenizer with its chat template, as far as rows need one: those of transformers fit."""

    def apply_chat_template(self, conversation: list[dict[str, Any]], **options: Any) -> Any:
        """Return the text of a conversation."""

    def __call__(self, text: str, *, add_special_tokens: bool) -> Any:
        """Return the token ids of a text, as the member `input_ids`."""


class Part(NamedTuple):
    """A stretch of text."""

    text: str
    is_learnt: bool
    """The model's own words, of which the loss is taken; else the prompt's."""


class Row(NamedTuple):
    """A sequence of tokens to learn from."""

    input_ids: list[int]
    labels: list[int]
    """The token where it is learnt, `IGNORED` elsewhere."""


@dataclass
class RowCount:
    """What became of trajectories."""

    trajectories: int = 0
    rows: int = 0
    tokens: int = 0
    learnt: int = 0
    """Tokens that are learnt."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Rows that are not learnt whole, by the reason."""


def rows(
    trajectories: Iterable[Trajectory],
    template: Template,
    *,
    max_length: int,
    learns_failed: bool = True,
    count: RowCount | None = None,
) -> Iterator[Row]:
    """Yield the rows of trajectories, none longer than `max_length` tokens: later turns that do not fit are left out.

    Without `learns_failed`, replies whose calls failed are in the rows and not learnt. Raises `BadInput` if the
    template cannot write their calls of tools.
    """
    count = RowCount() if count is None else count
    for trajectory in trajectories:
        count.trajectories += 1
        for parts in parts_of(trajectory, template, learns_failed=learns_failed):
            row, is_whole = _tokens(parts, template, max_length)
            if not is_whole:
                count.left_out["longer than max_length"] = count.left_out.get("longer than max_length", 0) + 1
            if row is not None:
                count.rows += 1
                count.tokens += len(row.input_ids)
                count.learnt += sum(label != IGNORED for label in row.labels)
                yield row


def parts_of(trajectory: Trajectory, template: Template, *, learns_failed: bool = True) -> list[list[Part]]:
    """Return the texts of each row of a trajectory. Raises `BadInput` for a template that cannot write them."""
    texts: list[list[Part]] = []
    for request in requests(trajectory):
        step = trajectory.steps[request.step - 1]
        if request.is_refused or step.error is not None:
            continue  # it was not answered
        is_learnt = learns_failed or not failed_calls(step)
        prompt = prompt_of(request.body(), template)
        reply, end = _reply(request, step.reply, template, prompt)
        before = "".join(part.text for part in texts[-1]) if texts else None
        if before is not None and prompt.startswith(before):
            texts[-1] += [Part(prompt[len(before) :], is_learnt=False), Part(reply + end, is_learnt)]
        else:
            texts.append([Part(prompt, is_learnt=False), Part(reply + end, is_learnt)])
    return texts


def learnt_texts(row: Row, decode: Any) -> list[str]:  # Any: a tokenizer's `decode`
    """Return each stretch of a row that is learnt, decoded: the proof of what a student is trained on."""
    texts: list[str] = []
    stretch: list[int] = []
    for label in (*row.labels, IGNORED):
        if label != IGNORED:
            stretch.append(label)
        elif stretch:
            texts.append(decode(stretch))
            stretch = []
    return texts


def prompt_of(body: Mapping[str, Any], template: Template) -> str:  # Any: JSON
    """Return the text of a request's body, up to where the model begins to write.

    Raises `BadInput` for a template that does not write its tools.
    """
    return _rendered(template, body["messages"], body.get("tools"), add_generation_prompt=True)


def _reply(request: SentRequest, reply: Reply, template: Template, prompt: str) -> tuple[str, str]:
    """Return the text of the reply and its end mark.

    Words are those of the raw reply. Native calls are written as the template writes them, since a server gives them
    read; they have to come right after the prompt, or the template shows the model another conversation than it had.
    """
    raw = reply.raw
    if raw is not None and raw.calls is None:
        return raw.text or "", "" if reply.truncated else _end(template)
    body = request.body()
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.message.tool_calls
    ]
    message = {"role": "assistant", "content": reply.message.content or "", "tool_calls": calls}
    whole = _rendered(template, [*body["messages"], message], body.get("tools"))
    if calls and not all(call.name in whole[len(prompt) :] for call in reply.message.tool_calls):
        raise BadInput(
            "the student's chat template does not write calls of tools: name another with --set template=FILE"
        )
    if not whole.startswith(prompt):
        raise BadInput(
            "the student's chat template writes a conversation anew with each turn, so what was learnt would not be "
            "what is asked: name another with --set template=FILE"
        )
    said = whole[len(prompt) :].removesuffix("\n")
    return said.removesuffix(_end(template)) if reply.truncated else said, ""


def _end(template: Template) -> str:
    """Return the mark that ends a reply, such as `<|im_end|>`."""
    opening = [{"role": "user", "content": "."}]
    whole = _rendered(template, [*opening, {"role": "assistant", "content": _PROBE}], None)
    return whole.rpartition(_PROBE)[2].strip()


def _rendered(
    template: Template,
    messages: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]] | None,
    *,
    add_generation_prompt: bool = False,
) -> str:
    """Return a conversation as text. Arguments of calls are objects to a template, and texts in a request."""
    opened = []
    for message in messages:
        calls = []
        for call in message.get("tool_calls") or ():
            function = dict(call["function"])
            with contextlib.suppress(ValueError):  # they stay texts if they are not JSON
                function["arguments"] = json.loads(function["arguments"])
            calls.append({**call, "function": function})
        opened.append({**message, "tool_calls": calls} if calls else message)
    text = template.apply_chat_template(
        opened, tools=tools, tokenize=False, add_generation_prompt=add_generation_prompt
    )
    if tools and text == template.apply_chat_template(
        opened, tokenize=False, add_generation_prompt=add_generation_prompt
    ):
        raise BadInput("the student's chat template does not write tools: name another with --set template=FILE")
    return str(text)


def _tokens(parts: Sequence[Part], template: Template, max_length: int) -> tuple[Row | None, bool]:
    """Return a row with as many whole turns as fit, None where none does, and whether all of them did."""
    ids: list[int] = []
    labels: list[int] = []
    fits, is_whole = 0, True
    for part in parts:
        tokens = list(template(part.text, add_special_tokens=False)["input_ids"])
        ids += tokens
        labels += tokens if part.is_learnt else [IGNORED] * len(tokens)
        if len(ids) > max_length:
            is_whole = False
            break
        if part.is_learnt:
            fits = len(ids)
    return Row(ids[:fits], labels[:fits]) if fits else None, is_whole
