"""Every method over every question, written down as it goes, to be taken up again after any end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pydantic import Field

from orienteer.errors import BadInput, BadOption, ModelError
from orienteer.executors import Executor, Job, Threads, Worker
from orienteer.files import write_whole
from orienteer.graph.store import Graph
from orienteer.ingest.stores import origin_of
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.lab.evaluation.running import runs
from orienteer.lab.evaluation.running.asker import Asker, AskingRecipe, Outcome, ReplyFolder, Task, model_for
from orienteer.lab.evaluation.running.sweep import Variant, notes_on, select, variants
from orienteer.llm.budget import Budget
from orienteer.options import Options
from orienteer.protocols import LanguageModel, manner_of
from orienteer.records import Usage
from orienteer.retriever import LIMITS
from orienteer.settings import Settings, read_settings

# Questions at once under methods that need a model: all their waiting is on it.
WORKERS = 8
# Failures of the model in a row after which a run ends: a dead server measures nothing.
FAILURES = 20
NO_ANSWERS = "answers were asked for without a model: methods that only rank give none"
# The method that ranks nothing.
ANSWERS_ONLY = "vanilla"
Outcomes: TypeAlias = Generator[Outcome, None, None]


class RunConfig(Options):
    """How questions are asked."""

    k: int = Field(default=20, ge=0)
    """Hits of a ranking at the most."""
    random_seed: int = 0
    """The seed of all random choices: the sample that a limit draws, and those of methods."""
    split: str | None = None
    """Which split of the data set the questions are, to be written down."""
    where: tuple[str, ...] = ()
    """Conditions on the questions' fields."""
    limit: int | None = None
    """How many of the questions are asked, drawn with the random seed."""
    answers: bool = False
    """Ask for answers too: a further call of the model under methods that only rank."""
    workers: int | None = Field(default=None, ge=1)
    """Questions at once. None is 8 under methods that call a model and 1 under others. If both kinds run, the others
    are always asked alone, so that their times are their own."""
    retry_failed: bool = False
    """Ask those questions again that failed in an earlier attempt."""


class Progress(NamedTuple):
    """The progress of a run."""

    done: int
    """Results so far, those of earlier attempts included."""
    total: int
    failed: int
    usage: Usage
    """The usage of all results of the run."""
    asked: int
    """Results of this attempt."""
    seconds: float
    """Since this attempt began."""

    def after(self, line: runs.Line, seconds: float) -> Progress:
        """Return the progress with one more result."""
        failed = self.failed + (line.error is not None)
        return Progress(self.done + 1, self.total, failed, self.usage + line.usage, self.asked + 1, seconds)


def evaluate(
    graph: Graph,
    questions: QuestionSet,
    methods: Sequence[str],
    path: Path,
    *,
    config: RunConfig | None = None,
    options: Mapping[str, str] | None = None,
    model: LanguageModel | None = None,
    budget: Budget | None = None,
    settings: Settings | None = None,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
) -> Progress:
    """Ask every question under every method, and write the run at `path`; what is written there already stays.

    A method may have options, `ark agents=1`; `options` apply to each method that knows them. A question that fails is
    stored with its error. After any interruption the same call resumes: no result is made twice, and no reply is paid
    twice. `progress` receives each result. `executor` asks the questions, by default in threads of this process;
    elsewhere the model is opened by its name and the settings.

    Raises `BadInput` if the run was made under other conditions, and `ModelError` if the model failed one question
    after another.
    """
    config = RunConfig() if config is None else config
    settings = read_settings() if settings is None else settings
    budget = settings.limits() if budget is None else budget
    chosen = variants(methods, options=options, settings=settings)
    if not config.answers and any(variant.method.name == ANSWERS_ONLY for variant in chosen):
        raise BadOption(f"{ANSWERS_ONLY} ranks nothing, it only answers: add --answers, or leave it out")
    examples = select(questions.examples, where=config.where, limit=config.limit, random_seed=config.random_seed)
    # A model is opened only if anything is asked of it, with a place for each call that may be under way.
    uses_model = config.answers or any(variant.method.asks_model for variant in chosen)
    if model is None and settings.model is not None and uses_model:
        model = model_for(settings, chosen, config.workers or WORKERS)
    used = model if uses_model else None
    recipe = AskingRecipe(
        graph=graph.path.absolute(),
        published_at=origin_of(graph.path),
        graph_sha256=runs.graph_hash(graph),
        run=path.absolute(),
        variants=tuple(chosen),
        question=examples[0].question.text,
        model=None if used is None else used.name,
        budget=budget,
        k=config.k,
        random_seed=config.random_seed,
        answers=config.answers,
        settings=settings,
    )
    asker = Asker(recipe, graph, model)
    asker.prepare()
    manifest = runs.RunManifest(
        graph=graph.path.name,
        graph_sha256=recipe.graph_sha256,
        nodes=graph.arrays.manifest.nodes,
        edges=graph.arrays.manifest.edges,
        dataset=questions.name,
        questions_sha256=questions.sha256,
        count=len(examples),
        candidates=questions.candidates,
        # As it will be read again.
        methods=json.loads(json.dumps({variant.label: variant.all_options() for variant in chosen}, default=repr)),
        prompts=runs.prompt_hashes(
            (variant.method.name for variant in chosen), answers=config.answers and used is not None
        ),
        model=recipe.model,
        base_url=getattr(used, "base_url", None),
        dialect=None if used is None else manner_of(used).dialect,
        budget={} if used is None else budget.model_dump(),
        notes=(*notes_on(questions, examples, graph), *([NO_ANSWERS] if config.answers and used is None else [])),
        **runs.provenance(),
        **config.model_dump(exclude={"workers", "retry_failed"}),
    )
    claim(path)
    with runs.lock(path):
        manifest = begin(path, manifest, examples)
        journal = runs.Journal(path, forgets_failed=config.retry_failed)
        run = _Run(path, manifest, asker, recipe, journal, executor or Threads())
        return run.work(examples, chosen, config.workers, progress or (lambda _: None))


@dataclass
class _Run:
    """One attempt at a run whose folder is ours."""

    path: Path
    manifest: runs.RunManifest
    asker: Asker
    recipe: AskingRecipe
    journal: runs.Journal
    executor: Executor

    def __post_init__(self) -> None:
        self._replies = ReplyFolder(self.path)

    def work(
        self,
        examples: Sequence[Example],
        methods: Sequence[Variant],
        workers: int | None,
        progress: Callable[[Progress], None],
    ) -> Progress:
        """Ask what has no result yet: first under methods without a model, one by one, then question by question."""
        costly = [variant for variant in methods if self.asker.uses_model(variant)]
        alone = [Task(example, variant) for variant in methods if variant not in costly for example in examples]
        together = [Task(example, variant) for example in examples for variant in costly]
        pairs = [task.pair for task in (*alone, *together)]
        done, failed = self.journal.done.intersection(pairs), self.journal.failed.intersection(pairs)
        so_far = Progress(len(done), len(pairs), len(failed), self.journal.usage, 0, 0.0)
        alone, together = ([task for task in tasks if task.pair not in done] for tasks in (alone, together))
        if together:
            self._replies.prepare()
        if count := self._replies.count([task.pair for task in together]):
            note = f"gone on with {count} replies of the model to questions that had been cut off or failed"
            self._write({"notes": (*self.manifest.notes, f"{note}, on {runs.now()}")})
        progress(so_far)
        here = Worker(self.asker.ask, self.asker.stopping.set)
        is_alone = (workers or self.executor.places or 1) == 1 or bool(costly)
        executor, at_once = (Threads(), 1) if is_alone else (self.executor, workers or 1)
        limit = None if is_alone else workers
        job = Job(name="eval", here=here, recipe=self.recipe, threads=at_once, limit=limit, waits=False)
        so_far = self._write_all(executor.results(job, alone), so_far, progress, has_replies=False)
        job = Job(name="eval", here=here, recipe=self.recipe, threads=workers or WORKERS, limit=workers, waits=True)
        so_far = self._write_all(self.executor.results(job, together), so_far, progress, has_replies=True)
        self._replies.clear()
        return so_far

    def _write_all(
        self, results: Outcomes, so_far: Progress, progress: Callable[[Progress], None], *, has_replies: bool
    ) -> Progress:
        started = time.monotonic() - so_far.seconds
        failures = 0
        with closing(results) as outcomes:
            for line, trajectories, served in outcomes:
                self.journal.add(line, trajectories)
                if has_replies and line.error is None:  # asked again, one that failed takes up where it was
                    self._replies.forget((line.id, line.method))
                before = self.manifest.served_model
                names = {*(before.split(", ") if before else ()), *served}
                if (name := ", ".join(sorted(names)) or None) != before:
                    self._write({"served_model": name})
                so_far = so_far.after(line, time.monotonic() - started)
                progress(so_far)
                failures = failures + 1 if line.error is not None and line.stopped_by not in LIMITS else 0
                if failures >= FAILURES:
                    again = "" if self.journal.forgets_failed else " with --retry-failed"
                    raise ModelError(
                        f"{failures} questions in a row failed, the last with: {line.error}. What is done stays in "
                        f"{self.path}; when that is fixed, repeat the command{again}"
                    )
        return so_far

    def _write(self, update: Mapping[str, object]) -> None:
        self.manifest = self.manifest.model_copy(update=update)
        write_whole(self.path / runs.MANIFEST, self.manifest.model_dump_json(indent=1) + "\n")


def claim(path: Path) -> None:
    """Make the folder, or check that it is a run's. Raises `BadInput` if it holds something else."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{path} is a file: name a folder for the run")
    if path.is_dir() and not (path / runs.MANIFEST).exists():
        ours = {runs.QUESTIONS, runs.RESULTS, runs.TRAJECTORIES, runs.REPLIES, runs.LOCK}
        foreign = sorted(
            entry.name for entry in path.iterdir() if entry.name not in ours and not entry.name.startswith(".")
        )
        if foreign:
            raise BadInput(f"{path} is no run and holds {foreign[0]}: name a folder that does not exist yet")
    path.mkdir(parents=True, exist_ok=True)


def begin(path: Path, manifest: runs.RunManifest, examples: Sequence[Example]) -> runs.RunManifest:
    """Write conditions and questions, or resume the existing ones. Raises `BadInput` if they differ."""
    for left in [file for name in (runs.MANIFEST, runs.QUESTIONS) for file in path.glob(f".{name}.*")]:
        left.unlink()  # by a process that was killed while it wrote
    old = runs.read_manifest(path) if (path / runs.MANIFEST).exists() else None
    if old is not None:
        if differs := runs.differences(old, manifest):
            raise BadInput(
                f"{path} holds a run with other settings: {'; '.join(differs)}. "
                "Use the same settings, or another folder"
            )
        manifest = runs.joined(old, manifest)
    if manifest != old:
        write_whole(path / runs.QUESTIONS, "".join(f"{example.model_dump_json()}\n" for example in examples))
        write_whole(path / runs.MANIFEST, manifest.model_dump_json(indent=1) + "\n")
    return manifest
