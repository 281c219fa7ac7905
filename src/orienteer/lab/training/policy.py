"""The policy: a student as the model of an agent's loop, where many conversations at once are one batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from orienteer.agents.dialect import read_calls
from orienteer.errors import ModelError
from orienteer.lab.training.rows import prompt_of
from orienteer.lab.training.student import torch
from orienteer.llm.replies import ChatRequest
from orienteer.llm.wire import body_of
from orienteer.records import JsonValue, Manner, Message, Price, Raw, Reply, Sampling, ToolSpec, Usage

GATHER_SECONDS = 0.02
"""How long a batch waits for one more conversation: tools answer in milliseconds, so those of a batch meet again."""


Sampler: TypeAlias = Callable[[Sequence[list[int]], float, int], Sequence[list[int]]]
"""Goes on from prompts, given as token ids, at a temperature, by so many tokens at the most; returns those of each."""


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
        """`manner` says in which dialect agents are to speak to it; where it says none, natively.

        `temperature` goes before that of a request; `most_tokens` are those of a reply.

        `batch_tokens` bounds what one batch holds, prompts and replies together.
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

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the student's next message. Raises `ModelError` for a prompt that is too long; schemas are ignored."""
        began = time.monotonic()
        wanted = sampling if sampling is not None else Sampling()
        body = body_of(ChatRequest.of(self._name, messages, tools, schema, sampling), lacks=frozenset())
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
            message=read_calls(message, turn=len(messages)).message if tools else message,
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
        """Sample by transformers, as `Sampler` says."""
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
