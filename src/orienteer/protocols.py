"""The seams. Structural, small, synchronous: width comes from threads, since all waiting is on models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from orienteer.records import (
    AnswerPart,
    JsonValue,
    Manner,
    Message,
    Observation,
    Price,
    Question,
    Ranked,
    Reply,
    Result,
    Sampling,
    Step,
    ToolSpec,
    Trajectory,
    Usage,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One vector a line, each of length 1: (texts, dimension)."""


class LanguageModel(Protocol):
    """One chat call. Raises `ModelError` when the model failed for good; its mistakes in content are data."""

    @property
    def name(self) -> str:
        """The model as its server spells it."""

    @property
    def price(self) -> Price | None:
        """What it costs; None where that is unknown, which never counts as free."""

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        schema: Mapping[str, JsonValue] | None = None,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the model's next message: a call of one of the tools, an object of the schema, or prose.

        `seconds` is how long the caller can wait, None for any time; a model that counts them raises `ModelLate` then.
        """


@runtime_checkable
class Streaming(Protocol):
    """A model whose words can be heard while it writes them."""

    def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        hear: Callable[[str], None],
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the reply that `chat` returns, and call `hear` with its words as they come, where the server does."""


@runtime_checkable
class Known(Protocol):
    """A model of which it is known how it is spoken to."""

    @property
    def manner(self) -> Manner:
        """How."""


def manner_of(model: LanguageModel) -> Manner:
    """Return how a model is spoken to; the manner that says nothing where nobody has found out."""
    return model.manner if isinstance(model, Known) else Manner()


class Embedder(Protocol):
    """Texts to vectors whose products say how near two texts are in meaning. Safe among threads."""

    @property
    def name(self) -> str:
        """What a person types to have it: `minilm`, `openai:NAME`, a path."""

    @property
    def fingerprint(self) -> str:
        """A key for caches, which differs wherever the vectors would."""

    @property
    def usage(self) -> Usage:
        """What its calls have spent so far; nothing for a model that runs here."""

    @property
    def concurrency(self) -> int:
        """How many calls may be under way at one time."""

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> Vectors:
        """Return a vector of length 1 for each text, of as much of it as the model reads. Raises `ModelError`."""

    def parts(self, text: str) -> tuple[str, ...]:
        """Return a text in parts, each short enough for the model to read whole; a short text is its only part."""


OpenEmbedder: TypeAlias = Callable[[str], Embedder]
"""Gives an embedder by its name."""


class Embedded(NamedTuple):
    """The vectors of one call of an embedder, and what it spent."""

    vectors: Vectors
    usage: Usage


@runtime_checkable
class Metered(Protocol):
    """An embedder whose calls cost money: it tells what each spent, also while other threads call it."""

    def embed_metered(
        self, texts: Sequence[str], *, kind: Literal["query", "document"], seconds: float | None = None
    ) -> Embedded:
        """Return what `embed` does and what it spent. Raises `ModelError`, and `ModelLate` after these seconds."""


@runtime_checkable
class Batching(Protocol):
    """An embedder on this machine that is quicker over a few short texts at once."""

    def embed_together(self, queries: Sequence[str]) -> Vectors:
        """Return what `embed` does for queries, in one pass; last digits may depend on the other texts."""


class Tool(Protocol):
    """What an agent may call: data (`spec`) and a function. Its own mistakes raise, the model's come back as text."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON schema of the arguments."""

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run the tool. Raises `Error` for arguments that it cannot serve, with a message for the model."""


@runtime_checkable
class Closing(Protocol):
    """Something that keeps a resource from call to call, as a tool may keep a process."""

    def close(self) -> None:
        """Let the resource go. Closing twice does no harm."""


News: TypeAlias = Step | Ranked | str | Trajectory | AnswerPart
"""What a question tells while it is worked on: a step, a hit of the settled ranking, a note, the trajectory without
steps that a course begins with, some words of the answer."""


class Run(Protocol):
    """One question's allowance, seed and listener."""

    @property
    def random_seed(self) -> int:
        """The seed that everything random in this run derives from."""

    def check(self) -> None:
        """Claim one model call. Raises `BudgetExhausted` when no further one is allowed.

        Raises `ModelError` where the budget cannot be kept because the server does not say what calls use.
        """

    def charge(self, usage: Usage, *, is_typical: bool = True) -> None:
        """Settle a claimed call with what it has spent: exactly once a claim, also where the call failed.

        A call that is not typical, as that of an embedder, says nothing of what the next one may take.
        """

    def usage(self) -> Usage:
        """Return what has been spent so far; its seconds are those since the start."""

    def seconds_left(self) -> float | None:
        """Return how many seconds a call that begins now may take; None where nothing limits it."""

    def final(self) -> Run:
        """Return this run as its last turn sees it: one call of the reserve may be claimed."""

    def without_reserve(self) -> Run:
        """Return this run without access to the reserve, for a part whose last turns are no last turn of the whole."""

    def tell(self, news: News) -> None:
        """Pass news to whoever listens, as they happen."""


@runtime_checkable
class StreamingRun(Protocol):
    """A run whose listener may want an answer while it is written."""

    @property
    def hears_parts(self) -> bool:
        """Whether it does: the run is then told an `AnswerPart` at a time."""


class Method(Protocol):
    """Question in, ranked evidence out."""

    @property
    def name(self) -> str:
        """The method's one lower-case name."""

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the evidence. A method never sees gold answers."""


class Reranked(NamedTuple):
    """A ranking in a second order, and how it came to that."""

    ids: tuple[str, ...]
    """Best first."""
    trajectories: tuple[Trajectory, ...] = ()
    notes: tuple[str, ...] = ()


@runtime_checkable
class Reranking(Protocol):
    """A reranker that asks a model: its calls are part of the question's budget and of its record."""

    def rerank(self, question: Question, hits: Sequence[Ranked], run: Run) -> Reranked:
        """Return the ids of all hits; in the order they had, with a note, where the model or the budget fails it."""


@runtime_checkable
class Exploring(Protocol):
    """A method whose agents' beginnings can be told before they have taken a step."""

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return what one of the agents, from 0, begins with: a trajectory without steps."""


@runtime_checkable
class Answering(Protocol):
    """A method that answers from more than its hits hold, or from less."""

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Find the evidence and answer from it; the call for the answer is claimed from `run.final()`."""
