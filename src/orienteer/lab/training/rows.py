"""Trajectories as rows of training: the requests as they were sent, the replies as they came, and whose each token is.

One source writes prompts and tools in training, evaluation and serving: `agents.requests` gives each request exactly,
and the student's own chat template turns it into text as a server would. A course whose requests only grow is one row;
if an observation was left out or a thought dropped, the next request begins a row of its own.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, Unpack

from orienteer.agents.dialect import read_calls
from orienteer.errors import BadInput, ModelError
from orienteer.lab.evaluation.running.runs import failed_calls
from orienteer.lab.replay import SentRequest, requests
from orienteer.lab.training.runs import torch
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import json_object
from orienteer.llm.wire import body_of
from orienteer.protocols import ChatOptions
from orienteer.reading.by_model import SCHEMA
from orienteer.records import Manner, Message, Price, Raw, Reply, Step, Trajectory, Usage

# The label of a token that no loss is taken of, as in PyTorch's cross entropy.
IGNORED = -100
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
    """Whether the model wrote it: the loss is taken of these tokens only."""


class Row(NamedTuple):
    """A sequence of tokens to learn from."""

    input_ids: list[int]
    labels: list[int]
    """The token if it is learnt, else `IGNORED`."""


@dataclass
class RowCount:
    """Counts of trajectories, rows and tokens."""

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
            # A row ends with a whole turn: half of one would teach to stop early.
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
            row = Row(ids[:fits], labels[:fits]) if fits else None
            if not is_whole:
                count.left_out["longer than max_length"] = count.left_out.get("longer than max_length", 0) + 1
            if row is not None:
                count.rows += 1
                count.tokens += len(row.input_ids)
                count.learnt += sum(label != IGNORED for label in row.labels)
                yield row


def parts_of(trajectory: Trajectory, template: Template, *, learns_failed: bool = True) -> list[list[Part]]:
    """Return the texts of each row of a trajectory. Raises `BadInput` for a template that cannot write them.

    A reply that was sent back for another one is part of a row, and not learnt. That of `reader` is learnt in the form
    that its grammar has.
    """
    texts: list[list[Part]] = []
    for request in requests(trajectory):
        step = trajectory.steps[request.step - 1]
        if request.is_refused or step.error is not None:
            continue  # it was not answered
        following = trajectory.steps[request.step : request.step + 1]
        is_learnt = (learns_failed or not failed_calls(step)) and not any(_replaces(after, step) for after in following)
        prompt = prompt_of(request.body(), template)
        reply, end = _reply(request, step.reply, template, prompt)
        if is_learnt and step.reply_schema == SCHEMA and (value := json_object(step.reply.message.content or "")):
            # a teacher writes JSON in any form; the grammar that a student is held to has one
            reply = json.dumps({name: value[name] for name in SCHEMA["properties"]}, ensure_ascii=False)
        before = "".join(part.text for part in texts[-1]) if texts else None
        if before is not None and prompt.startswith(before):
            texts[-1] += [Part(prompt[len(before) :], is_learnt=False), Part(reply + end, is_learnt)]
        else:
            texts.append([Part(prompt, is_learnt=False), Part(reply + end, is_learnt)])
    return texts


def _replaces(step: Step, before: Step) -> bool:
    """Return whether a reply that had to be an object was sent back, and another one came in its place."""
    is_repair = step.notice is not None and before.reply_schema is not None and step.reply_schema == before.reply_schema
    is_object = not before.unread and not before.reply.message.tool_calls
    return is_repair and is_object and step.reply.message.content != before.reply.message.content


def learnt_texts(row: Row, decode: Any) -> list[str]:  # Any: a tokenizer's `decode`
    """Return each learnt stretch of a row, decoded, to show a person what a student learns."""
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
    """Return a request as text, up to the model's first token. Raises `BadInput` if its tools are missing."""
    return _rendered(template, body["messages"], body.get("tools"), add_generation_prompt=True)


def _reply(request: SentRequest, reply: Reply, template: Template, prompt: str) -> tuple[str, str]:
    """Return the text of the reply and its end mark."""
    raw = reply.raw
    if raw is not None and raw.calls is None:
        return raw.text or "", "" if reply.truncated else _end(template)
    body = request.body()
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.message.tool_calls
    ]
    # A server returns native calls read, so the template writes them again; they have to come right after the prompt,
    # or the template shows the model another conversation than it had.
    message = {"role": "assistant", "content": reply.message.content or "", "tool_calls": calls}
    whole = _rendered(template, [*body["messages"], message], body.get("tools"))
    if calls and not all(call.name in whole[len(prompt) :] for call in reply.message.tool_calls):
        raise BadInput(
            "the student's chat template does not write calls of tools: name another with --set template=FILE"
        )
    if not whole.startswith(prompt):
        raise BadInput(
            "the student's chat template rewrites a conversation with each turn, so the student would be asked "
            "something else than it learnt: name another with --set template=FILE"
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


# The policy: a student as the model of an agent's loop, with many conversations in one batch.


# How long a batch waits for one more conversation: tools answer in milliseconds, so those of a batch meet again.
GATHER_SECONDS = 0.02


# Continues prompts, given as token ids, at a temperature, by at most so many tokens; returns those of each.
Sampler: TypeAlias = Callable[[Sequence[list[int]], float, int], Sequence[list[int]]]


class _Prompt(NamedTuple):
    """A prompt that is waiting for its reply."""

    token_ids: list[int]
    temperature: float
    most_tokens: int
    sampled: Future[list[int]]


class _Conversation(threading.local):
    """The conversation of this thread so far: its text and its tokens."""

    text = ""
    token_ids: tuple[int, ...] = ()


class Policy:
    """A student that answers requests, from as many threads as like: a `LanguageModel`, used as a context manager.

    A conversation keeps the tokens that were sampled: a later prompt goes on from them and is not tokenized again.
    Each reply carries the token ids of its prompt and its own (`Raw`).
    """

    def __init__(
        self,
        model: Any,  # Any: a causal language model of transformers
        tokenizer: Any,  # Any: its tokenizer
        *,
        name: str,
        manner: Manner | None = None,
        temperature: float | None = None,
        most_tokens: int = 256,
        most_prompt_tokens: int = 8192,
        batch_tokens: int = 200_000,
    ) -> None:
        """`manner` has the dialect for agents; without one they speak to it natively.

        `temperature` overrides that of a request; `most_tokens` limits a reply, `batch_tokens` a batch of prompts and
        their replies.
        """
        self._model, self._tokenizer, self._name = model, tokenizer, name
        self.manner = manner or Manner()
        self._temperature, self._most_tokens = temperature, most_tokens
        self._most_prompt_tokens, self._batch_tokens = most_prompt_tokens, batch_tokens
        ends = model.generation_config.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        self._ends = {*listed, tokenizer.eos_token_id} - {None}
        self._waiting: SimpleQueue[_Prompt | None] = SimpleQueue()
        self._conversation = _Conversation()
        self._sampler: Sampler = self._generated
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._serve, name="policy", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def use(self, model: Any) -> None:  # Any: as above
        """Sample from this model from now on: a trainer wraps the one it was given."""
        self._model = model

    def sample_by(self, sampler: Sampler) -> None:
        """Have another engine sample from now on, one that has the same weights."""
        self._sampler = sampler

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def price(self) -> Price:
        """Nothing: it runs here."""
        return Price(prompt=0.0, completion=0.0)

    def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        """Return the student's next message. Raises `ModelError` for a prompt that is too long; schemas are ignored."""
        began = time.monotonic()
        request = ChatRequest.of(self._name, messages, **options)
        wanted, body = request.sampling, body_of(request, lacks=frozenset())
        text, so_far = prompt_of(body, self._tokenizer), self._conversation
        is_going_on = so_far.text and text.startswith(so_far.text)
        prompt_ids = [
            *(so_far.token_ids if is_going_on else ()),
            *self._tokenizer(text[len(so_far.text) if is_going_on else 0 :], add_special_tokens=False)["input_ids"],
        ]
        if len(prompt_ids) > self._most_prompt_tokens:
            raise ModelError(f"a prompt of {len(prompt_ids)} tokens: {self._name} takes {self._most_prompt_tokens}")
        temperature = self._temperature if self._temperature is not None else wanted.temperature
        most = min(self._most_tokens, wanted.max_tokens or self._most_tokens)
        asked = _Prompt(prompt_ids, 1.0 if temperature is None else temperature, most, Future())
        self._waiting.put(asked)
        sampled = asked.sampled.result()
        is_ended = sampled[-1] in self._ends
        said = self._tokenizer.decode(sampled[:-1] if is_ended else sampled)
        so_far.text = text + self._tokenizer.decode(sampled)
        so_far.token_ids = (*prompt_ids, *sampled)
        message = Message(role="assistant", content=said)
        return Reply(
            # Calls of tools that went natively are read as a server reads them.
            message=read_calls(message, turn=len(messages)).message if request.tools else message,
            raw=Raw(
                text=said,
                finish_reason="stop" if is_ended else "length",
                prompt_token_ids=tuple(prompt_ids),
                token_ids=tuple(sampled),
            ),
            usage=Usage(
                calls=1,
                prompt_tokens=len(prompt_ids),
                completion_tokens=len(sampled),
                seconds=time.monotonic() - began,
            ),
            truncated=not is_ended,
        )

    def _serve(self) -> None:
        """Answer the waiting prompts, a batch after another, until the end is asked for."""
        with ThreadPoolExecutor(1) as sampler:
            batch: list[_Prompt] = []
            while True:
                # All that arrive in short succession are one batch; the first of them may take any time.
                try:
                    asked = self._waiting.get(timeout=GATHER_SECONDS if batch else None)
                except Empty:
                    self._answer(batch, sampler)
                    batch = []
                    continue
                if asked is None:
                    self._answer(batch, sampler)
                    return
                batch.append(asked)

    def _answer(self, batch: Sequence[_Prompt], sampler: ThreadPoolExecutor) -> None:
        """Answer prompts in parts of like temperature and length that fit the memory, the shortest first."""
        parts: list[list[_Prompt]] = []
        for asked in sorted(batch, key=lambda asked: (asked.temperature, len(asked.token_ids))):
            longest = len(asked.token_ids) + asked.most_tokens
            is_like = bool(parts) and parts[-1][0].temperature == asked.temperature
            if is_like and (len(parts[-1]) + 1) * longest <= self._batch_tokens:
                parts[-1].append(asked)
            else:
                parts.append([asked])
        for part in parts:
            most = max(asked.most_tokens for asked in part)
            done = sampler.submit(self._sampler, [asked.token_ids for asked in part], part[0].temperature, most)
            if (error := done.exception()) is not None:  # the waiting threads receive it, whatever it is
                for asked in part:
                    asked.sampled.set_exception(error)
                continue
            for asked, reply in zip(part, done.result(), strict=True):
                # With the mark of its end, unless it was cut.
                ended = (place for place, token in enumerate(reply[: asked.most_tokens]) if token in self._ends)
                asked.sampled.set_result(reply[: next(ended, asked.most_tokens - 1) + 1])

    def _generated(self, prompts: Sequence[list[int]], temperature: float, most: int) -> list[list[int]]:
        """Sample by transformers, as a `Sampler` does."""
        pytorch, model = torch(), self._model
        longest, pad = max(map(len, prompts)), self._tokenizer.pad_token_id
        padded = [[pad] * (longest - len(prompt)) + prompt for prompt in prompts]
        masks = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        chance = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        was_training = model.training
        model.eval()
        try:
            with pytorch.no_grad():
                out = model.generate(
                    input_ids=pytorch.tensor(padded, device=model.device),
                    attention_mask=pytorch.tensor(masks, device=model.device),
                    max_new_tokens=most,
                    eos_token_id=sorted(self._ends),
                    pad_token_id=pad,
                    use_cache=True,
                    **(chance if temperature > 0 else {"do_sample": False}),
                )
        finally:
            model.train(was_training)
        return [reply[longest:].tolist() for reply in out]
