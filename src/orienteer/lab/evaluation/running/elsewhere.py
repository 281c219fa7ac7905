"""How questions are asked in a process that is not the run's: what it opens there, by paths and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.executors.executor import Place, Worker
from orienteer.graph.store import Graph
from orienteer.ingest.sources import graph_directory
from orienteer.lab.evaluation.running.asker import Asker, Outcome, Task
from orienteer.lab.evaluation.running.manifest import graph_hash
from orienteer.lab.evaluation.running.replies import ReplyFolder
from orienteer.lab.evaluation.running.sweep import Variant
from orienteer.llm.budget import Budget
from orienteer.protocols import LanguageModel
from orienteer.settings import Settings

_FEWEST_PLACES = 8  # for calls under way at once


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRecipe:
    """What an `Asker` is made of where the questions are asked. Settings that are pickled leave their keys behind."""

    graph: Path
    published_at: str | None
    """The address of a graph that was pulled from there; each machine pulls it into its own cache."""
    graph_sha256: str
    run: Path
    """The folder of the run, on the machine that writes it."""
    variants: tuple[Variant, ...]
    question: str
    """Any of the questions."""
    model: str | None
    budget: Budget
    k: int
    random_seed: int
    answers: bool
    settings: Settings

    def open(self, place: Place) -> Worker[Task, Outcome]:
        """Open graph, model and methods. Raises `BadInput` for another graph, and as `Graph.open` and `Asker` do."""
        graph = Graph.open(self._directory(), embedder=self.settings.open_embedder)
        if graph_hash(graph) != self.graph_sha256:
            if self.published_at is not None:
                raise BadInput(f"{self.published_at} was published anew since this run began: repeat the command")
            raise BadInput(
                f"{self.graph} is another graph there than here: copy it anew, name a path that all machines share, or "
                "push it (orienteer push) and name its address"
            )
        model = None
        if self.model is not None:
            settings = _shared(self.settings, place.processes)
            model = model_for(settings, self.variants, place.at_once, name=self.model)
        asker = Asker(
            graph,
            ReplyFolder(self.run),
            model=model,
            budget=self.budget,
            k=self.k,
            random_seed=self.random_seed,
            answers=self.answers,
            settings=self.settings,
            open_replies=place.open_replies,
        )
        asker.prepare(self.variants, self.question)
        return Worker(asker.ask, asker.stopping.set)

    def _directory(self) -> Path:
        """Return the graph directory on this machine."""
        if self.published_at is None:
            return self.graph
        return graph_directory(Path(self.published_at), cache=self.settings.cache)


def model_for(
    settings: Settings, variants: Sequence[Variant], questions: int, *, name: str | None = None
) -> LanguageModel:
    """Open a model with a place for each call that so many questions at once may have under way."""
    places = questions * max(variant.agents for variant in variants)
    server = {"concurrency": max(_FEWEST_PLACES, places), **settings.server}
    return replace(settings, server=server).open_model(name)


def _shared(settings: Settings, processes: int) -> Settings:
    """Return the settings of one of several processes: it has its share of the calls under way, at least 1."""
    limit = settings.server.get("concurrency")
    if not isinstance(limit, int):
        return settings
    return replace(settings, server={**settings.server, "concurrency": max(1, limit // processes)})
