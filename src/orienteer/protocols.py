"""The protocols: structural, small, synchronous. Concurrency is by threads, since all waiting is on models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, runtime_checkable

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.records import (
    AnswerPart,
    JsonValue,
    Manner,
    Message,
    Observation,
    Price,
    Question,
    Ranked,
    Reading,
    Refusal,
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
    """A vector of length 1 for each text: (texts, dimension)."""


class ChatOptions(TypedDict, total=False):
    """What `LanguageModel.chat` takes besides the messages, for a model that hands it on to another."""

    tools: Sequence[ToolSpec]
    schema: Mapping[str, JsonValue] | None
    sampling: Sampling | None
    seconds: float | None


class LanguageModel(Protocol):
    """One chat call. Raises `ModelError` if the model failed for good; its mistakes in content are data."""

    @property
    def name(self) -> str:
        """The server's name of the model."""

    @property
    def price(self) -> Price | None:
        """The price; None if it is unknown, which never counts as free."""

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

        `seconds` is the caller's time limit, None for none; a model that has a clock raises `ModelLate` after it.
        """


@runtime_checkable
class Streaming(Protocol):
    """A model that streams its words."""

    def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        hear: Callable[[str], None],
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the reply of `chat`, and call `hear` with its words as the server streams them."""


@runtime_checkable
class ProfiledModel(Protocol):
    """A model with a known profile for requests."""

    @property
    def manner(self) -> Manner:
        """The profile."""


def manner_of(model: LanguageModel) -> Manner:
    """Return a model's profile for requests, or an empty one."""
    return model.manner if isinstance(model, ProfiledModel) else Manner()


class Embedder(Protocol):
    """Maps texts to vectors whose products measure how near two texts are in meaning. Safe among threads."""

    @property
    def name(self) -> str:
        """Its name for users: `minilm`, `openai:NAME`, a path."""

    @property
    def fingerprint(self) -> str:
        """A key for caches; it differs if the vectors do."""

    @property
    def usage(self) -> Usage:
        """The cost of its calls so far; nothing for a model on this machine."""

    @property
    def concurrency(self) -> int:
        """The number of calls that may run at once."""

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> Vectors:
        """Return a vector of length 1 for each text, of as much of it as the model reads. Raises `ModelError`."""

    def parts(self, text: str) -> tuple[str, ...]:
        """Return a text in parts, each short enough for the model to read whole; a short text is its only part."""


OpenEmbedder: TypeAlias = Callable[[str], Embedder]
"""Opens an embedder by its name."""


class Embedded(NamedTuple):
    """The vectors of one call of an embedder, and its cost."""

    vectors: Vectors
    usage: Usage


@runtime_checkable
class Metered(Protocol):
    """An embedder whose calls cost money: it reports the cost of each, even if other threads call it."""

    def embed_metered(
        self, texts: Sequence[str], *, kind: Literal["query", "document"], seconds: float | None = None
    ) -> Embedded:
        """Return the vectors of `embed` and their cost. Raises `ModelError`, and `ModelLate` after `seconds`."""


@runtime_checkable
class Batching(Protocol):
    """An embedder on this machine that is faster for a few short texts at once."""

    def embed_together(self, queries: Sequence[str]) -> Vectors:
        """Return the vectors of queries, in one pass; last digits may depend on the other texts."""


class Tool(Protocol):
    """A tool of an agent: data (`spec`) and a function. Its own mistakes raise, the model's are returned as text."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON schema of the arguments."""

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run the tool. Raises `Error` for arguments that it cannot serve, with a message for the model."""


@runtime_checkable
class Closing(Protocol):
    """An object that keeps a resource between calls, such as a process."""

    def close(self) -> None:
        """Release the resource. Closing twice is allowed."""


News: TypeAlias = Step | Ranked | str | Trajectory | AnswerPart
"""An event of a running question: a step, a hit of the final ranking, a note, an agent's trajectory before its first
step, some words of the answer."""


class Run(Protocol):
    """One question's budget, seed and listener."""

    @property
    def random_seed(self) -> int:
        """The seed that everything random in this run derives from."""

    def check(self) -> None:
        """Claim one model call. Raises `BudgetExhausted` if no further one is allowed.

        Raises `ModelError` if the budget cannot be kept because the server does not report the cost of calls.
        """

    def charge(self, usage: Usage, *, is_typical: bool = True) -> None:
        """Settle a claimed call with its cost: exactly once for each claim, even if the call failed.

        The cost of a call that is not typical, such as an embedder's, does not predict the next one's.
        """

    def usage(self) -> Usage:
        """Return the cost so far; its seconds are those since the start."""

    def seconds_left(self) -> float | None:
        """Return the time limit of a call that begins now, in seconds; None without any."""

    def final(self) -> Run:
        """Return this run for its last turn, which may claim one call of the reserve."""

    def without_reserve(self) -> Run:
        """Return this run without the reserve, for a part whose last turns are not the last of the whole."""

    def tell(self, news: News) -> None:
        """Send an event to the listener."""


@runtime_checkable
class StreamingRun(Protocol):
    """A run whose listener may want an answer while it is written."""

    @property
    def hears_parts(self) -> bool:
        """Whether the listener wants each `AnswerPart`."""


class QuestionReader(Protocol):
    """Reads questions about one graph as lines, which are then parsed, checked and executed. Used by many threads."""

    @property
    def name(self) -> str:
        """The name by which it is registered."""

    def read(self, question: str, run: Run) -> Reading | Refusal | RecordedReading:
        """Return the line of a question, or the reason why it has none. A reader never leaves out words in silence.

        A reader that asks a model claims and settles its calls by the run, and may record them. Raises `BadOption` if
        it fails, `ModelError` or `BudgetExhausted` if the model was not heard.
        """


class RecordedReading(NamedTuple):
    """What a reader read, with the record of its calls."""

    read: Reading | Refusal
    trajectories: tuple[Trajectory, ...] = ()
    failed: BudgetExhausted | ModelError | None = None
    """What kept it from reading, if nothing was read: a failed model, a spent budget."""


class Method(Protocol):
    """Question in, ranked evidence out."""

    @property
    def name(self) -> str:
        """The method's one lower-case name."""

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the evidence. A method never sees gold answers."""


@runtime_checkable
class Ranks(Protocol):
    """A method that can rank without excerpts: whoever orders its hits anew shows those that are left."""

    def ranked(self, question: Question, run: Run) -> Result:
        """Return the result of `retrieve` with hits without a text."""


class Reranked(NamedTuple):
    """A reranking, with its trajectories and notes."""

    ids: tuple[str, ...]
    """Best first."""
    trajectories: tuple[Trajectory, ...] = ()
    notes: tuple[str, ...] = ()


@runtime_checkable
class Reranking(Protocol):
    """A reranker that asks a model: its calls are part of the question's budget and record."""

    def rerank(self, question: Question, hits: Sequence[Ranked], run: Run) -> Reranked:
        """Return the ids of all hits; unchanged, with a note, if the model or the budget fails."""


@runtime_checkable
class Exploring(Protocol):
    """A method that can describe its agents before their first step."""

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return the first trajectory of an agent, numbered from 0: without steps."""


@runtime_checkable
class Leaving(Protocol):
    """A method that may leave a question to another."""

    def leaves(self, question: Question, result: Result, then: Method) -> str | None:
        """Return why its own result leaves a question to that method; None if it does not."""


@runtime_checkable
class Answering(Protocol):
    """A method that answers from more than its hits' content, or from less."""

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Find the evidence and answer from it; the call for the answer is claimed from `run.final()`."""
