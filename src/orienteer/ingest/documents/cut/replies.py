"""What a model replies about chunks and tables, kept in the cache: nothing is paid for twice, even after a kill."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from orienteer.display import counted
from orienteer.errors import BadOption, ModelRefused
from orienteer.executors import Executor, Job, Place, Threads, Worker
from orienteer.files import make_cache_folder
from orienteer.graph.builder import Progress
from orienteer.llm.budget import Allowance
from orienteer.llm.conversation import ask, first_request
from orienteer.llm.replies import ChatRequest, ReplyFile, ReplyStore
from orienteer.llm.schema import json_object
from orienteer.protocols import LanguageModel
from orienteer.records import Message, Node, Price, Record, Reply, Trajectory, Usage
from orienteer.text.sentences import CHARACTERS_A_TOKEN, tokens

FILE = "replies.jsonl"
SHORTEST = 8
"""Tokens of a text; there is nothing to say about a shorter one."""
CONCURRENCY = 8
"""Calls at a time to a model that does not say how many it takes."""
BATCH = 256
"""Nodes between two reports of progress."""
# Factor for the parts of a request besides its words, such as role marks and schemas.
_OVERHEAD = 1.1
# Size of the second reply relative to the first, for estimates.
_AGAIN = 0.3
# Status codes for a text that is too long for the server, or unreadable.
_OF_CHUNK = frozenset({400, 413, 422})


def is_replies(folder: Path) -> bool:
    """Return whether a folder holds replies and nothing else; those of earlier versions, in other files, count too."""
    names = [file.name for file in folder.iterdir()]
    return bool(names) and all(name.startswith("replies.") for name in names)


class ReplyCache:
    """Replies by request, in a folder. Safe among threads and processes.

    Raises `BadOption` where the folder cannot be written.
    """

    def __init__(self, folder: Path, *, store: ReplyStore | None = None) -> None:
        """`store` has the replies of the folder's file where that lies on another machine."""
        self.folder = folder
        self._file: ReplyStore = ReplyFile(folder / FILE) if store is None else store
        if store is not None:
            return
        with self._trouble():
            make_cache_folder(folder.parent, folder.name)
            (folder / FILE).touch()

    def get(self, request: ChatRequest) -> str | None:
        """Return the model's earlier reply to a request, or None."""
        with self._trouble():
            reply = self._file.get(request.key)
        return None if reply is None else reply.message.content

    def put(self, request: ChatRequest, content: str) -> None:
        """Keep a reply."""
        with self._trouble():
            self._file.add(request.key, Reply(message=Message(role="assistant", content=content)))

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BadOption(
                f"the cache of replies {self.folder} cannot be read and written ({error}): set ORIENTEER_CACHE to a "
                "folder that can"
            ) from error


class NodeForm(Protocol):
    """What a model is asked about a node. It can be pickled."""

    def schema_of(self, node: Node) -> dict[str, Any] | None:  # Any: a JSON schema
        """Return the JSON schema of the reply about a node; None for a node that the model is not asked about."""

    def begun(self, node: Node, model: LanguageModel) -> Trajectory:
        """Return the opening of the question about a node."""

    def is_kept(self, content: str) -> bool:
        """Return whether a reply is kept; if not, the next build asks again."""

    def reply_tokens(self, node: Node) -> float:
        """Estimate the tokens of a reply."""


class ReadNode(NamedTuple):
    """A model's replies about a node, and their cost."""

    node: Node
    replies: tuple[str, ...] = ()
    usage: Usage = Usage()
    refused: ModelRefused | None = None
    """The reason why there is no further reply."""


@dataclass(frozen=True, slots=True)
class NodeReader:
    """Has a model read nodes. Each reply is stored as it comes. Safe among threads."""

    form: NodeForm
    model: LanguageModel
    replies: ReplyCache
    again: str = ""
    """A second question, for what the first reply lacks; if empty, there is none."""

    def read(self, node: Node) -> ReadNode:
        """Return the replies about a node, cached or new. Raises `ModelError`."""
        schema, run, replies = self.form.schema_of(node), Allowance(), list[str]()
        if schema is None:
            return ReadNode(node)
        begun = self.form.begun(node, self.model)
        try:
            replies.append(self._reply(run, begun, schema))
            if self.again and json_object(replies[0]) is not None:
                replies.append(self._reply(run, self._second(begun, replies[0]), schema))
        except ModelRefused as error:
            if error.status not in _OF_CHUNK:
                raise
            return ReadNode(node, tuple(replies), run.usage(), error)
        return ReadNode(node, tuple(replies), run.usage())

    def _reply(self, run: Allowance, begun: Trajectory, schema: Mapping[str, Any]) -> str:  # Any: a JSON schema
        request = first_request(begun, schema)
        content = self.replies.get(request)
        if content is None:
            content = ask(self.model, run, begun, schema=schema).reply.message.content or ""
            if self.form.is_kept(content):
                self.replies.put(request, content)
        return content

    def job(self, name: str, concurrency: int) -> Job[Node, ReadNode]:
        """Return the reading as a job for an executor."""
        recipe = ReadingRecipe(self.form, self.model.name, self.replies.folder.absolute(), self.again)
        return Job(name=name, here=Worker(self.read), recipe=recipe, threads=concurrency, limit=concurrency)

    def estimate(self, nodes: Iterable[Node], price: Price | None) -> CostEstimate:
        """Estimate the cost of reading the nodes, without a call."""
        paid, whole = Counter[str](), Counter[str]()
        for node in nodes:
            schema = self.form.schema_of(node)
            if schema is None:
                continue
            begun = self.form.begun(node, self.model)
            size = len(json.dumps(schema)) / CHARACTERS_A_TOKEN
            size += sum(tokens(message.content or "") for message in begun.opening)
            reply_tokens = self.form.reply_tokens(node)
            reply = self.replies.get(first_request(begun, schema))
            for is_second in (False, True) if self.again else (False,):
                if is_second:
                    size += reply_tokens + tokens(self.again)
                    reply_tokens *= _AGAIN
                    if reply is not None:
                        reply = self.replies.get(first_request(self._second(begun, reply), schema))
                prompt, completion = int(size * _OVERHEAD), int(reply_tokens)
                whole.update(calls=1, prompt_tokens=prompt, completion_tokens=completion, total=prompt + completion)
                if reply is None:
                    paid.update(calls=1, prompt_tokens=prompt, completion_tokens=completion)
        tokens_paid = {name: paid[name] for name in ("prompt_tokens", "completion_tokens")}
        usd = None if price is None else round(price.usd(**tokens_paid, cached_tokens=0), 4)
        calls, cached = paid["calls"], whole.pop("calls", 0) - paid["calls"]
        return CostEstimate(calls=calls, cached=cached, **tokens_paid, usd=usd, whole=whole)

    def _second(self, begun: Trajectory, reply: str) -> Trajectory:
        """Return the opening of the second question."""
        more = (Message(role="assistant", content=reply), Message(role="user", content=self.again))
        return begun.model_copy(update={"opening": (*begun.opening, *more)})


@dataclass(frozen=True, slots=True)
class ReadingRecipe:
    """How another process reads nodes."""

    form: NodeForm
    model: str
    replies: Path
    """The folder of replies, on the machine that builds."""
    again: str

    def open(self, place: Place) -> Worker[Node, ReadNode]:
        """Open the model by its name. Raises as its opener does."""
        replies = ReplyCache(self.replies, store=place.open_replies(self.replies / FILE))
        return Worker(NodeReader(self.form, place.opener.open_model(self.model), replies, self.again).read)


@dataclass(slots=True)
class Asker:
    """Has a model read all nodes of a build, which goes on from there if it was killed, and counts the cost."""

    reader: NodeReader
    concurrency: int
    progress: Progress
    executor: Executor = field(default_factory=Threads)
    run: Allowance = field(default_factory=Allowance)
    failed: list[str] = field(default_factory=list)
    """The ids of nodes whose reply was of no use even after the repair."""

    @property
    def model(self) -> LanguageModel:
        """Return the model."""
        return self.reader.model

    @property
    def usage(self) -> Usage:
        """Return the cost."""
        return self.run.usage()

    def asked(
        self, name: str, stage: str, nodes: Iterable[Node], *, skips: bool
    ) -> Generator[list[ReadNode], None, None]:
        """Yield the replies about the nodes, batch by batch, in order. Close it: calls under way are then kept.

        `stage` is what progress is called. With `skips`, a node that the model's server refuses has no reply, unless
        all of the first ones are refused. Raises `ModelError`.
        """
        done, has_reply = 0, False
        with closing(self.executor.results(self.reader.job(name, self.concurrency), nodes, in_order=True)) as results:
            while some := list(islice(results, BATCH)):
                refused = next((read.refused for read in some if read.refused), None)
                has_reply |= any(read.replies for read in some)
                if refused is not None and not (skips and has_reply):
                    raise refused
                for read in some:
                    self.run.charge(read.usage)
                yield some
                done += len(some)
                self.progress(stage, done)


class CostEstimate(Record):
    """The cost of asking a model. Tokens are counted by words, so they may be off by some tenths; so may the price."""

    calls: int
    cached: int
    """Replies that are in the cache already."""
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None if the model's price is not known."""
    whole: dict[str, int] = {}
    """The tokens, with those of cached replies."""

    def render(self, model: str) -> str:
        """Return the estimate as a line for people."""
        usd = "its price is not known ([price] of the settings)"
        if self.usd is not None:
            usd = f"about {self.usd:,.{2 if self.usd >= 1 else 4}f} USD"
        return (
            f"{model}: {counted(self.calls, 'call')} ({self.cached:,} replies are there already), about "
            f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens, {usd}"
        )
