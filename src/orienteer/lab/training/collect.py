"""Collecting a teacher's trajectories (ARK, 001, section 4.3): taken up where it was, and nothing paid twice."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from orienteer.agents import replay
from orienteer.display import Count
from orienteer.errors import BadInput, BadOption, ModelError
from orienteer.executors.executor import Executor
from orienteer.files import locked, read_lines, write_whole
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.lab.evaluation.running.manifest import graph_hash
from orienteer.lab.evaluation.running.runner import Progress as RunProgress
from orienteer.lab.evaluation.running.runner import RunConfig, evaluate
from orienteer.lab.evaluation.running.runs import read_run
from orienteer.lab.evaluation.running.sweep import Variant, variants
from orienteer.lab.quizzes.file import as_lines, nodes_in, nodes_of
from orienteer.lab.quizzes.questions import generate_questions
from orienteer.lab.quizzes.quiz import generate_quiz
from orienteer.lab.training.collection import (
    CARD,
    DROPPED,
    GENERATED,
    MANIFEST,
    QUESTIONS,
    TRAJECTORIES,
    Collection,
    GraphPart,
    card_of,
)
from orienteer.lab.training.episodes import AnchorTrail, Stage, quiz_program
from orienteer.lab.training.rules import Sample, broken, rules_of
from orienteer.llm.budget import Budget
from orienteer.protocols import LanguageModel
from orienteer.records import Record, Trajectory, Usage
from orienteer.settings import Settings
from orienteer.text.tokenizer import Tokenizer
from orienteer.version import __version__

AGENTS: Mapping[str, str] = {"anchor": "ark tools=compact agents=1", "quiz": "graphscout"}
"""Teachers without a model, and the agent whose episodes they give."""
Progress = Callable[[str, int], None]
"""Told the graph's name and how many results of it are done, a `Count`."""
_LOCK = ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectConfig:
    """What is collected."""

    teacher: str
    """`anchor`, `quiz`, or a method with its options: `ark agents=1`."""
    samples: int = 3
    """Times that a model is asked each question, each with a random seed of its own; each agent is a trajectory. 1 of a
    teacher without a model."""
    count: int = 1000
    """Questions that are generated for each graph at the most, where none are given."""
    patterns: tuple[str, ...] = ()
    """Of generated questions; all where none is named."""
    rules: tuple[str, ...] = ()
    """Rules by which trajectories are dropped."""
    mistakes: float = 0.0
    """Of the teacher `anchor`: share of episodes that begin with a call gone wrong."""
    random_seed: int = 0
    workers: int | None = None


def collect(
    graphs: Sequence[Graph],
    folder: Path,
    config: CollectConfig,
    *,
    questions: Path | None = None,
    avoid: Path | None = None,
    model: LanguageModel | None = None,
    budget: Budget | None = None,
    settings: Settings,
    progress: Progress = lambda graph, done: None,
    executor: Executor | None = None,
) -> Collection:
    """Collect trajectories over some graphs into a folder, and return its manifest.

    Whatever ends this, the same call goes on from there. `executor` says where a teacher with a model is asked, in
    threads of this process if nothing else is said. Raises `BadInput` where the folder holds another collection,
    `BadOption` for an unknown teacher or rule, `ModelError` where the model has failed one question after another.
    """
    names = [graph.path.name for graph in graphs]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadOption(f"two graphs are called {twice[0]!r}: their folders need names of their own")
    rules_of(config.rules)
    if questions is not None and len(graphs) > 1:
        raise BadOption(f"the questions in {questions} are about one graph: collect over the others into other folders")
    if config.mistakes and config.teacher != "anchor":
        raise BadOption(f"mistakes are made for the teacher anchor alone: {config.teacher} makes its own")
    has_model = config.teacher not in AGENTS
    agent = config.teacher if has_model else AGENTS[config.teacher]
    [variant] = variants([agent], settings=settings)
    if has_model and not variant.method.needs_model:
        raise BadOption(f"{variant.label!r} calls no model: teachers without one are {', '.join(AGENTS)}")
    manifest = Collection(
        teacher=config.teacher,
        agent=agent,
        model=model.name if has_model and model is not None else None,
        samples=config.samples if has_model else 1,
        mistakes=config.mistakes,
        random_seed=config.random_seed,
        rules=config.rules,
        questions_sha256=_sha256(questions),
        question_count=config.count if questions is None else None,
        patterns=config.patterns,
        avoid_sha256=_sha256(avoid),
        orienteer=__version__,
    )
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, busy=f"another process is collecting into {folder}: wait for it, or name another"):
        done = _begun(folder, manifest)
        desk = _Desk(folder, config, variant, settings, questions, avoid, model, budget, progress, executor)
        # What a failing model left out is asked again; all that is there is kept.
        parts = {part.name: part for part in done.parts if not part.failed}
        for graph in graphs:
            if (part := parts.get(graph.path.name)) is not None and part.graph_sha256 != graph_hash(graph):
                raise BadInput(
                    f"{folder} holds trajectories of another graph {part.name!r}: collect into another folder"
                )
        if done.rules != config.rules:
            parts = {name: desk.sifted_anew(part) for name, part in parts.items()}
        done = done.model_copy(update={"rules": config.rules, "parts": tuple(parts.values()), "is_complete": False})
        _write(folder, done)
        for graph in graphs:
            if graph.path.name not in parts:
                part, usage = desk.collected(graph)
                done = done.model_copy(update={"parts": (*done.parts, part), "usage": done.usage + usage})
                _write(folder, done)
        done = done.model_copy(update={"is_complete": True})
        _write(folder, done)
    return done


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where the trajectories of one graph after another are collected."""

    folder: Path
    config: CollectConfig
    variant: Variant
    settings: Settings
    questions: Path | None
    avoid: Path | None
    model: LanguageModel | None
    budget: Budget | None
    progress: Progress
    executor: Executor | None

    def collected(self, graph: Graph) -> tuple[GraphPart, Usage]:
        """Write the trajectories of a graph, and return what there is of it and what it took."""
        place = self.folder / graph.path.name
        place.mkdir(exist_ok=True)
        asked, avoided = self._asked(graph, place)
        failed, config = 0, self.config
        if config.teacher in AGENTS:
            taught, usage = list(self._shown(graph, asked.examples)), Usage()
        else:
            taught, usage = self._paid(graph, asked, place)
            answered = [trajectory for trajectory in taught if trajectory.stopped_by != "error"]
            taught, failed = answered, config.samples * len(asked.examples) * self.variant.agents - len(answered)
            if not taught:
                raise ModelError(
                    f"the model answered none of the {len(asked.examples):,} questions about {graph.path.name}"
                    f"{self._fault(place)}: when that is mended, repeat the command"
                )
        part = GraphPart(
            name=graph.path.name,
            path=str(graph.path.absolute()),
            graph_sha256=graph_hash(graph),
            questions=len(asked.examples),
            avoided=avoided,
            failed=failed,
            without=len(asked.examples) - len({trajectory.question.id for trajectory in taught}),
        )
        return self._sifted(part, taught, asked.examples, place), usage

    def _asked(self, graph: Graph, place: Path) -> tuple[QuestionSet, int]:
        """Return the questions that may be asked, as they are then written down, and how many may not be."""
        generated = place / GENERATED
        if self.questions is None and not generated.exists():
            write_whole(generated, as_lines(self._generated(graph)))
        found = read_questions(self.questions or generated, graph=graph).examples
        kept = list(found)
        if self.avoid is not None:
            files = _files_of(self.avoid)
            nodes = frozenset[str]().union(*(nodes_of(graph, file) for file in files))
            texts = {_folded(example) for file in files for example in read_questions(file, graph=graph).examples}
            kept = [
                example
                for example in found
                if _folded(example) not in texts and nodes.isdisjoint(nodes_in(graph, example))
            ]
        if not kept:
            raise BadInput(
                f"none of the {len(found):,} questions about {graph.path.name} may be asked: all are avoided"
            )
        write_whole(place / QUESTIONS, "".join(f"{_as_line(example)}\n" for example in kept))
        return read_questions(place / QUESTIONS, graph=graph), len(found) - len(kept)

    def _generated(self, graph: Graph) -> Iterable[Record]:
        config = self.config
        if config.teacher == "quiz":
            return generate_quiz(graph, config.count, random_seed=config.random_seed).items
        return generate_questions(graph, config.count, random_seed=config.random_seed, patterns=config.patterns).items

    def _shown(self, graph: Graph, examples: Sequence[Example]) -> Iterator[Trajectory]:
        """Yield the episodes of a teacher without a model."""
        stage = Stage(graph, self.variant, self.settings)
        anchor = (
            AnchorTrail(
                graph,
                stage,
                self.settings,
                mistakes=self.config.mistakes,
                random_seed=self.config.random_seed,
            )
            if self.config.teacher == "anchor"
            else None
        )
        for number, example in enumerate(examples, 1):
            episode = anchor.episode(example) if anchor is not None else quiz_program(stage, example)
            if episode is not None:
                yield episode
            self.progress(graph.path.name, Count(number, of=len(examples)))

    def _paid(self, graph: Graph, asked: QuestionSet, place: Path) -> tuple[list[Trajectory], Usage]:
        """Return the trajectories of a teacher with a model, from a run for each sample, and what they took."""
        taught, usage, config = list[Trajectory](), Usage(), self.config
        total = config.samples * len(asked.examples)
        for number in range(config.samples):
            run = place / f"run-{number + 1}"
            before = number * len(asked.examples)
            evaluate(
                graph,
                asked,
                [self.variant.label],
                run,
                # Agents of one sample have seeds one after another, so samples must lie that far apart.
                config=RunConfig(
                    random_seed=config.random_seed + number * self.variant.agents,
                    workers=config.workers,
                    retry_failed=True,
                ),
                model=self.model,
                budget=self.budget,
                settings=self.settings,
                progress=partial(self._tell, graph.path.name, before, total),
                executor=self.executor,
            )
            stored = read_run(run)
            usage = sum((line.usage for line in stored.lines), usage)
            questions = {example.question.id: example.question for example in asked.examples}
            places = {question: place for place, question in enumerate(questions)}
            taught += [
                trajectory.model_copy(update={"question": questions[question]})
                for question, _, trajectories in sorted(stored.trajectories(), key=lambda one: places[one[0]])
                for trajectory in trajectories
                if trajectory.model is not None and trajectory.toolbox is not None
            ]
        return taught, usage

    def _fault(self, place: Path) -> str:
        """Return why the last question of the first run failed."""
        errors = [line.error for line in read_run(place / "run-1").lines if line.error is not None]
        return f" ({errors[-1]})" if errors else ""

    def _tell(self, graph: str, before: int, total: int, so_far: RunProgress) -> None:
        self.progress(graph, Count(before + so_far.done, of=total))

    def sifted_anew(self, part: GraphPart) -> GraphPart:
        """Sift the trajectories of a graph that are there by the rules of now, and return the counts."""
        place = self.folder / part.name
        files = (place / TRAJECTORIES, place / DROPPED)
        taught = [trajectory for file in files if any(read_lines(file)) for trajectory in replay.read(file)]
        return self._sifted(part, taught, read_questions(place / QUESTIONS).examples, place)

    def _sifted(
        self, part: GraphPart, taught: Sequence[Trajectory], examples: Sequence[Example], place: Path
    ) -> GraphPart:
        """Write the trajectories that stay and those that are dropped, and return the counts."""
        rules = rules_of(self.config.rules)
        golds = {example.question.id: example.gold for example in examples}
        beside: defaultdict[str, list[Trajectory]] = defaultdict(list)
        for trajectory in taught:
            beside[trajectory.question.id].append(trajectory)
        kept, dropped, counts = list[Trajectory](), list[Trajectory](), Counter[str]()
        for trajectory in taught:
            question = trajectory.question.id
            faults = broken(Sample(trajectory, golds[question], beside[question]), rules)
            counts.update(faults)
            (dropped if faults else kept).append(trajectory)
        for name, trajectories in ((TRAJECTORIES, kept), (DROPPED, dropped)):
            write_whole(place / name, "".join(f"{trajectory.model_dump_json()}\n" for trajectory in trajectories))
        update = {"trajectories": len(kept), "dropped": dict(counts), "dropped_total": len(dropped)}
        return part.model_copy(update=update)


def _folded(example: Example) -> str:
    """Return a question's words, case and marks aside."""
    return " ".join(Tokenizer.words(example.question.text))


def _as_line(example: Example) -> str:
    """Return a question as a line of a file of questions."""
    gold = example.gold.model_dump(mode="json", include={"nodes", "answers", "answer_type"}, exclude_none=True)
    return json.dumps(
        {"id": example.question.id, "question": example.question.text, **gold, **example.fields}, ensure_ascii=False
    )


def _begun(folder: Path, manifest: Collection) -> Collection:
    """Return the manifest that is there with the graphs that are done, or the one given.

    Raises `BadInput` where the folder holds another collection, or something else.
    """
    file = folder / MANIFEST
    if not file.exists():
        if foreign := sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".")):
            raise BadInput(f"{folder} holds {foreign[0]} and no collection: name a folder that does not exist yet")
        _write(folder, manifest)
        return manifest
    try:
        there = Collection.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise BadInput(f"{file} is no manifest of this version: collect anew, in another folder") from error
    if not there.parts and not any(folder.glob("*/run-1")):  # a command that went wrong before its first question
        for made in folder.glob(f"*/{GENERATED}"):
            made.unlink()
        _write(folder, manifest)
        return manifest
    progress = {"parts", "usage", "is_complete", "orienteer", "rules"}
    old, new = there.model_dump(exclude=progress), manifest.model_dump(exclude=progress)
    if differs := [f"{name} ({old[name]}, now {new[name]})" for name in new if old[name] != new[name]]:
        raise BadInput(f"{folder} holds another collection: {'; '.join(differs)}. Collect as before, or elsewhere")
    return there


def _write(folder: Path, collection: Collection) -> None:
    write_whole(folder / MANIFEST, collection.model_dump_json(indent=1) + "\n")
    write_whole(folder / CARD, card_of(collection))


def _files_of(questions: Path) -> list[Path]:
    """Return a file of questions, or the folder of a data set, as it is; of a collection those of each graph."""
    return sorted(questions.glob(f"*/{QUESTIONS}")) if (questions / MANIFEST).is_file() else [questions]


def _sha256(questions: Path | None) -> str | None:
    """Return the hash of questions: of a file's bytes, else the one that the reader of a data set gives."""
    if questions is None:
        return None
    hashes = [
        hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else read_questions(file).sha256
        for file in _files_of(questions)
    ]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
