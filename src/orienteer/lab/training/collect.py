"""Collecting a teacher's trajectories (ARK, 001, section 4.3): it resumes, and pays nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from orienteer.agents import traces
from orienteer.display import Count
from orienteer.errors import BadInput, BadOption, ModelError
from orienteer.executors import Executor
from orienteer.files import locked, read_lines, write_whole
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions, read_taught
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.lab.evaluation.running.runner import Progress as RunProgress, RunConfig, evaluate
from orienteer.lab.evaluation.running.runs import RESULTS, StoredRun, graph_hash, read_run
from orienteer.lab.evaluation.running.sweep import Variant, select, variants
from orienteer.lab.quizzes.questions import generate_questions
from orienteer.lab.quizzes.quiz import as_lines, generate_quiz, nodes_in, nodes_of
from orienteer.lab.training.episodes import AnchorTrail, Sample, Stage, quiz_program, rules_of
from orienteer.llm.budget import Budget
from orienteer.protocols import LanguageModel
from orienteer.records import Record, Trajectory, Usage
from orienteer.settings import Settings
from orienteer.text.tokenizer import Tokenizer
from orienteer.version import __version__

# Teachers without a model, and the agent whose episodes they give.
AGENTS: Mapping[str, str] = {"anchor": "ark tools=compact agents=1", "quiz": "graphscout"}
READER = "reader"
_ALWAYS = "check=always"  # a teacher is asked every question
# Receives the graph's name and the number of its results so far, a `Count`.
Progress = Callable[[str, int], None]
_LOCK = ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectConfig:
    """The settings of a collection."""

    teacher: str
    """`anchor`, `quiz`, or a method with its options: `ark agents=1`. `reader` asks its model every question."""
    samples: int = 3
    """Trajectories of each question by a model, each with a random seed of its own: of `ark` with three agents, 3 are
    one question asked once. 1 of a teacher without a model."""
    count: int = 1000
    """Highest number of questions generated for each graph, if none are given."""
    dataset: str | None = None
    """The data set of the given questions, if it is not recognised."""
    split: str | None = None
    """The split that is asked: `train` by default, where the questions have splits."""
    is_test_allowed: bool = False
    """Ask other splits than those that teach."""
    where: tuple[str, ...] = ()
    limit: int | None = None
    """Of the given questions, those that meet conditions, and a sample of so many."""
    patterns: tuple[str, ...] = ()
    """Of generated questions; all by default."""
    rules: tuple[str, ...] = ()
    """Rules by which trajectories are dropped."""
    mistakes: float = 0.0
    """For the teacher `anchor`: share of episodes that begin with a wrong call."""
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

    After any interruption the same call resumes. `executor` asks a teacher with a model, by default in threads of this
    process. Raises `BadInput` if the folder holds another collection, `BadOption` for an unknown teacher or rule,
    `ModelError` if the model failed one question after another.
    """
    _check(config, [graph.path.name for graph in graphs], questions)
    variant, has_model = _variant(config, settings), config.teacher not in AGENTS
    asked, split = (None, None) if questions is None else _asked(questions, config)
    as_set = {name: value for name, value in asdict(config).items() if name in Collection.model_fields}
    own = {"samples": config.samples if has_model else 1, "split": split}
    manifest = Collection(
        **as_set | own,
        agent=AGENTS.get(config.teacher, config.teacher),
        model=model.name if has_model and model is not None else None,
        questions_sha256=asked.sha256 if asked is not None else None,
        question_count=config.count if questions is None else None,
        avoid_sha256=_sha256(avoid),
        orienteer=__version__,
    )
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, busy=f"another process is collecting into {folder}: wait for it, or name another"):
        done = _resumed(folder, manifest)
        collector = _Collector(folder, config, variant, settings, questions, avoid, model, budget, progress, executor)
        # What a failing model left out is asked again; all that is there is kept.
        parts = {part.name: part for part in done.parts if not part.failed}
        for graph in graphs:
            if (part := parts.get(graph.path.name)) is not None and part.graph_sha256 != graph_hash(graph):
                raise BadInput(
                    f"{folder} holds trajectories of another graph {part.name!r}: collect into another folder"
                )
        if done.rules != config.rules:
            parts = {name: collector.sifted_anew(part) for name, part in parts.items()}
        done = done.model_copy(update={"rules": config.rules, "parts": tuple(parts.values()), "is_complete": False})
        _write(folder, done)
        for graph in graphs:
            if graph.path.name not in parts:
                part, usage = collector.collected(graph)
                done = done.model_copy(update={"parts": (*done.parts, part), "usage": done.usage + usage})
                _write(folder, done)
        done = done.model_copy(update={"is_complete": True})
        _write(folder, done)
    return done


def _check(config: CollectConfig, names: Sequence[str], questions: Path | None) -> None:
    """Raise `BadOption` for settings that do not fit one another, or the graphs of these names."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadOption(f"two graphs are called {twice[0]!r}: their folders need names of their own")
    if questions is not None and len(names) > 1:
        raise BadOption(f"the questions in {questions} are about one graph: collect over the others into other folders")
    if questions is None and (config.dataset, config.split, config.where, config.limit) != (None, None, (), None):
        raise BadOption("dataset, split, where and limit choose given questions: name these after the graph")
    rules_of(config.rules)
    if config.mistakes and config.teacher != "anchor":
        raise BadOption(f"mistakes are made for the teacher anchor alone: {config.teacher} makes its own")


def _variant(config: CollectConfig, settings: Settings) -> Variant:
    """Return the method that plays the episodes. Raises `BadOption` for one that does not ask its model always."""
    agent = AGENTS.get(config.teacher, config.teacher)
    [variant] = variants([agent], settings=settings)
    if variant.method.name == READER:
        if variant.options.get("check", "always") != "always":
            raise BadOption(f"{agent!r} asks its model some questions only: leave check out, or set {_ALWAYS}")
        own = " ".join([READER, _ALWAYS, *agent.split(maxsplit=1)[1:]])
        [variant] = variants([own], settings=settings)
    if config.teacher in AGENTS:
        return variant
    if not variant.method.asks_model:
        raise BadOption(f"{variant.label!r} calls no model: teachers without one are {', '.join(AGENTS)}")
    if config.samples % variant.agents:
        raise BadOption(
            f"{config.samples} samples do not fit {variant.agents} agents, each of which gives one trajectory: "
            f"set samples to a multiple of {variant.agents}, or the teacher's option agents=1"
        )
    return variant


@dataclass(frozen=True, slots=True)
class _Collector:
    """Collects the trajectories of one graph after another."""

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
        generated = place / GENERATED
        config = self.config
        if self.questions is None and not generated.exists():
            made: Sequence[Record]
            if config.teacher == "quiz":
                made = generate_quiz(graph, config.count, random_seed=config.random_seed).items
            else:
                made = generate_questions(
                    graph, config.count, random_seed=config.random_seed, patterns=config.patterns
                ).items
            write_whole(generated, as_lines(made))
        given = self.questions
        found = (_asked(given, config, graph)[0] if given else read_questions(generated, graph=graph)).examples
        kept = list(found)
        if self.avoid is not None:
            avoid = [one for file in _files_of(self.avoid) for one in read_questions(file, graph=graph).examples]
            nodes, texts = nodes_of(graph, avoid), set(map(_folded, avoid))
            kept = [one for one in found if _folded(one) not in texts and nodes.isdisjoint(nodes_in(graph, one))]
        if not kept:
            raise BadInput(
                f"none of the {len(found):,} questions about {graph.path.name} may be asked: all are avoided"
            )
        write_whole(place / QUESTIONS, "".join(f"{_as_line(example)}\n" for example in kept))
        asked, avoided = read_questions(place / QUESTIONS, graph=graph), len(found) - len(kept)
        failed = 0
        if config.teacher in AGENTS:
            taught, usage = list(self._episodes(graph, asked.examples)), Usage()
        else:
            taught, usage, errors = self._paid(graph, asked, place)
            answered = [trajectory for trajectory in taught if trajectory.stopped_by != "error"]
            taught, failed = answered, config.samples * len(asked.examples) - len(answered)
            if self._reads:  # a question whose line was not believed has no trajectory, and is not asked again
                failed = len(errors)
            if failed and not taught:
                reason = f" ({errors[-1]})" if errors else ""
                raise ModelError(
                    f"the model answered none of the {len(asked.examples):,} questions about {graph.path.name}"
                    f"{reason}: when that is fixed, repeat the command"
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

    def _episodes(self, graph: Graph, examples: Sequence[Example]) -> Iterator[Trajectory]:
        """Yield the episodes of a teacher without a model."""
        config, stage = self.config, Stage(graph, self.variant, self.settings)
        anchor = None
        if config.teacher == "anchor":
            seed = config.random_seed
            anchor = AnchorTrail(graph, stage, self.settings, mistakes=config.mistakes, random_seed=seed)
        for number, example in enumerate(examples, 1):
            episode = anchor.episode(example) if anchor is not None else quiz_program(stage, example)
            if episode is not None:
                yield episode
            self.progress(graph.path.name, Count(number, of=len(examples)))

    @property
    def _reads(self) -> bool:
        """Whether the teacher is `reader`: its lessons are the calls whose line was believed."""
        return self.variant.method.name == READER

    def _paid(self, graph: Graph, asked: QuestionSet, place: Path) -> tuple[list[Trajectory], Usage, list[str]]:
        """Return the trajectories of a teacher with a model, from a run for each round, what they took, and errors."""
        taught, usage, errors, config = list[Trajectory](), Usage(), list[str](), self.config
        runs = config.samples // self.variant.agents
        total = runs * len(asked.examples)
        questions = {example.question.id: example.question for example in asked.examples}
        places = {question: place for place, question in enumerate(questions)}
        for number in range(runs):
            run = place / f"run-{number + 1}"

            def report(so_far: RunProgress, before: int = number * len(asked.examples)) -> None:
                self.progress(graph.path.name, Count(before + so_far.done, of=total))

            evaluate(
                graph,
                asked,
                [self.variant.label],
                run,
                # Agents of one round have seeds one after another, so rounds must lie that far apart.
                config=RunConfig(
                    random_seed=config.random_seed + number * self.variant.agents,
                    workers=config.workers,
                    retry_failed=True,
                ),
                model=self.model,
                budget=self.budget,
                settings=self.settings,
                progress=report,
                executor=self.executor,
            )
            stored = self._with_unheard(run) if self._reads else read_run(run)
            usage = sum((line.usage for line in stored.lines), usage)
            errors += [line.error for line in stored.lines if line.error is not None]
            taught += [
                trajectory.model_copy(update={"question": questions[question]})
                for question, _, trajectories in sorted(stored.trajectories(), key=lambda one: places[one[0]])
                for trajectory in trajectories
                if trajectory.model is not None
                and (trajectory.reading if self._reads else trajectory.toolbox) is not None
            ]
        return taught, usage, errors

    def _with_unheard(self, run: Path) -> StoredRun:
        """Mark results as failed where rules answered for a model that failed, so that they are asked again."""
        stored = read_run(run)
        failed = {
            question: call.error
            for question, _, calls in stored.trajectories()
            for call in calls
            if call.model is not None and call.stopped_by != "finish"
        }
        lines = [line.model_copy(update={"error": failed.get(line.id) or line.error}) for line in stored.lines]
        write_whole(run / RESULTS, "".join(f"{line.model_dump_json()}\n" for line in lines))
        return read_run(run)

    def sifted_anew(self, part: GraphPart) -> GraphPart:
        """Sift the trajectories of a graph that are there by the rules of now, and return the counts."""
        place = self.folder / part.name
        files = (place / TRAJECTORIES, place / DROPPED)
        taught = [trajectory for file in files if any(read_lines(file)) for trajectory in traces.read(file)]
        return self._sifted(part, taught, read_questions(place / QUESTIONS).examples, place)

    def _sifted(
        self, part: GraphPart, taught: Sequence[Trajectory], examples: Sequence[Example], place: Path
    ) -> GraphPart:
        """Write the trajectories that stay and the dropped ones, and return the counts."""
        rules = rules_of(self.config.rules)
        golds = {example.question.id: example.gold for example in examples}
        siblings: defaultdict[str, list[Trajectory]] = defaultdict(list)
        for trajectory in taught:
            siblings[trajectory.question.id].append(trajectory)
        kept, dropped, counts = list[Trajectory](), list[Trajectory](), Counter[str]()
        for trajectory in taught:
            question = trajectory.question.id
            sample = Sample(trajectory, golds[question], siblings[question])
            faults = [name for name, may_stay in rules.items() if not may_stay(sample)]
            counts.update(faults)
            (dropped if faults else kept).append(trajectory)
        for name, trajectories in ((TRAJECTORIES, kept), (DROPPED, dropped)):
            write_whole(place / name, "".join(f"{trajectory.model_dump_json()}\n" for trajectory in trajectories))
        update = {"trajectories": len(kept), "dropped": dict(counts), "dropped_total": len(dropped)}
        return part.model_copy(update=update)


def _folded(example: Example) -> str:
    """Return a question's words in lower case."""
    return " ".join(Tokenizer.words(example.question.text))


def _as_line(example: Example) -> str:
    """Return a question as a line of a file of questions."""
    gold = example.gold.model_dump(mode="json", include={"nodes", "answers", "answer_type"}, exclude_none=True)
    return json.dumps(
        {"id": example.question.id, "question": example.question.text, **gold, **example.fields}, ensure_ascii=False
    )


def _resumed(folder: Path, manifest: Collection) -> Collection:
    """Return the existing manifest, or the one given. Raises `BadInput` if the folder holds something else."""
    file = folder / MANIFEST
    if not file.exists():
        if foreign := sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".")):
            raise BadInput(f"{folder} holds {foreign[0]} and no collection: name a folder that does not exist yet")
        _write(folder, manifest)
        return manifest
    there = _read_manifest(file)
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
    """Return the files of questions: the given path, or those of each graph of a collection."""
    return sorted(questions.glob(f"*/{QUESTIONS}")) if (questions / MANIFEST).is_file() else [questions]


def _sha256(questions: Path | None) -> str | None:
    """Return the hash of questions, as the reader of their data set gives it."""
    hashes = [read_questions(file).sha256 for file in (_files_of(questions) if questions is not None else ())]
    return hashlib.sha256("".join(hashes).encode()).hexdigest() if len(hashes) > 1 else next(iter(hashes), None)


def _asked(path: Path, config: CollectConfig, graph: Graph | None = None) -> tuple[QuestionSet, str | None]:
    """Return the questions that a student may learn from, of these the chosen ones, and their split."""
    found, split = read_taught(
        path, dataset=config.dataset, split=config.split, is_test_allowed=config.is_test_allowed, graph=graph
    )
    examples = select(found.examples, where=config.where, limit=config.limit, random_seed=config.random_seed)
    return replace(found, examples=examples), split


# A collection: a teacher's trajectories over the questions of some graphs, in a folder.
#
# FOLDER/
#   collection.json        what it was made of, and how many trajectories each rule dropped
#   card.md                the same for a person
#   GRAPH/questions.jsonl  the questions that were asked
#   GRAPH/generated.jsonl  those that were made, the avoided ones among them
#   GRAPH/run-1/ ...       runs as `eval run` writes them, where the teacher needs a model
#   GRAPH/trajectories.jsonl, dropped.jsonl   a trace each: `orienteer trace` reads them


MANIFEST, CARD = "collection.json", "card.md"
QUESTIONS, TRAJECTORIES, DROPPED = "questions.jsonl", "trajectories.jsonl", "dropped.jsonl"
GENERATED = "generated.jsonl"


class GraphPart(Record):
    """The part of a collection about one graph."""

    name: str
    path: str = ""
    """The place of the graph at that time."""
    graph_sha256: str
    questions: int
    """Questions that were asked."""
    avoided: int = 0
    """Questions left out, since they share nodes or their text with those to be avoided."""
    trajectories: int = 0
    """Trajectories that stay."""
    failed: int = 0
    """Trajectories that ended with the model's failure; the same command asks them again."""
    without: int = 0
    """Questions for which the teacher has no trajectory."""
    dropped: dict[str, int] = {}
    """By each rule, how many trajectories it would drop by itself."""
    dropped_total: int = 0


class Collection(Record):
    """The manifest of a collection."""

    version: Literal[1] = 1
    teacher: str
    agent: str
    """The method whose requests a student learns to answer."""
    model: str | None = None
    samples: int
    """Trajectories for each question."""
    split: str | None = None
    where: tuple[str, ...] = ()
    limit: int | None = None
    """Of the given questions, those that were chosen."""
    mistakes: float = 0.0
    random_seed: int
    rules: tuple[str, ...] = ()
    questions_sha256: str | None = None
    """Of the file of questions; None if they were generated."""
    patterns: tuple[str, ...] = ()
    """Of generated questions; all by default."""
    question_count: int | None = None
    """Highest number of questions generated for each graph; None if a file of questions was given."""
    avoid_sha256: str | None = None
    parts: tuple[GraphPart, ...] = ()
    usage: Usage = Usage()
    orienteer: str
    is_complete: bool = False


def read_collection(path: Path) -> Collection:
    """Read the manifest of a collection. Raises `BadInput` if the folder has none, or an unfinished one."""
    collection = _read_manifest(path / MANIFEST)
    if not collection.is_complete:
        raise BadInput(f"{path} is incomplete: rerun the command that wrote it, to resume")
    return collection


def _read_manifest(file: Path) -> Collection:
    try:
        return Collection.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{file.parent} is not a collection ({file.name}: {error.strerror}): name a folder that train collect -o "
            "wrote"
        ) from error
    except ValidationError as error:
        raise BadInput(f"{file} is from another version: collect again, in another folder") from error


def trajectories(*paths: Path, graphs: tuple[str, ...] = ()) -> Iterator[tuple[str, Trajectory]]:
    """Yield the graph's name and each trajectory that stays in collections, of all graphs or of these.

    Raises `BadInput`.
    """
    parts = sorted((part.name, path) for path in paths for part in read_collection(path).parts)
    names = {name for name, _ in parts}
    for name in graphs:
        if name not in names:
            held = ", ".join(map(str, paths))
            raise BadInput(f"{held} holds no graph {name!r}: there are {', '.join(sorted(names))}")
    for name, path in parts:
        if graphs and name not in graphs:
            continue
        file = path / name / TRAJECTORIES
        if not file.exists():
            raise BadInput(f"{file} is gone: collect again, in another folder")
        if any(read_lines(file)):
            yield from ((name, trajectory) for trajectory in traces.read(file))


def splits_of(paths: Sequence[Path]) -> dict[tuple[str, str], set[str]]:
    """Return all splits of the questions in collections, by graph and text."""
    splits: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for file in (file for path in paths for file in path.glob(f"*/{QUESTIONS}")):
        for one in (one for one in read_questions(file).examples if "split" in one.fields):
            splits[file.parent.name, one.question.text].add(str(one.fields["split"]))
    return splits


def card_of(collection: Collection) -> str:
    """Return a summary of a collection for people."""
    total = sum(part.trajectories for part in collection.parts)
    lines = [
        "# A collection of trajectories",
        "",
        f"{total:,} trajectories of {collection.teacher!r}"
        + (f" with {collection.model}" if collection.model else ", without a model")
        + f", as episodes of {collection.agent!r}; {collection.samples} for each question, random seed "
        f"{collection.random_seed}{f', split {collection.split}' if collection.split else ''}; orienteer "
        f"{collection.orienteer}.",
        "",
        "| graph | questions | left out for the test set | without a trajectory | dropped | stay |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {part.name} | {part.questions:,} | {part.avoided:,} | {part.without:,} | {part.dropped_total:,} | "
            f"{part.trajectories:,} |"
            for part in collection.parts
        ),
        "",
    ]
    if collection.rules:
        lines += ["| rule | drops by itself |", "|---|--:|"]
        lines += [
            f"| {rule} | {sum(part.dropped.get(rule, 0) for part in collection.parts):,} |" for rule in collection.rules
        ]
        lines.append("")
    usage = collection.usage
    if usage.calls:
        spent = f"{usage.calls:,} calls, {usage.prompt_tokens + usage.completion_tokens:,} tokens"
        lines += [f"Spent: {spent}{'' if usage.usd is None else f', {usage.usd:.2f} US dollars'}.", ""]
    return "\n".join(lines)
