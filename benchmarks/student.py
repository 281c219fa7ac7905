"""A student of 135M parameters on graphs that it never saw: base, distilled, trained by reward, beside its teacher.

    python benchmarks/worlds.py OUT/worlds
    python benchmarks/student.py collect OUT --graph OUT/worlds/* DIR ... --test DIR ... [--number N]
    python benchmarks/student.py train OUT [--student MODEL] [--seed K] [--sft NAME=VALUE ...] [--grpo NAME=VALUE ...]
    python benchmarks/student.py measure OUT --test DIR ... [--model NAME=FOLDER ...]
    python benchmarks/student.py report OUT

`collect` writes the teacher's trajectories over the graphs to learn from, and questions of the test graphs, whose nodes
and texts no training has seen. `train` distils and then trains by reward, a seed at a call. `measure` asks the test
questions of a student, greedily (a folder of transformers, or `local:FILE.gguf`), and of `anchor`; `report` prints all
that was measured, with 95 % intervals by the bootstrap over questions, the seeds of a student averaged.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orienteer.files import write_whole
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.running.runner import RunConfig, evaluate
from orienteer.lab.evaluation.running.runs import failed_calls, read_run
from orienteer.lab.quizzes.questions import generate_questions
from orienteer.lab.quizzes.quiz import as_lines
from orienteer.lab.training.collect import CARD, QUESTIONS, CollectConfig, collect
from orienteer.lab.training.grpo import reinforce
from orienteer.lab.training.rows import Policy
from orienteer.lab.training.runs import MODEL, GrpoConfig, SftConfig, open_student, read_recipe
from orienteer.lab.training.sft import distil
from orienteer.llm.address import PACKAGED
from orienteer.records import Trajectory
from orienteer.settings import read_settings
from report import command_line

AGENT = "ark tools=compact agents=1 temperature=0 max_steps=5"
PATTERNS = ("one_hop", "two_hops", "two_anchors", "three_anchors")
TEST_SEED = 7


@dataclass(frozen=True)
class Figure:
    """What one model did on the questions of one pattern of one graph."""

    model: str
    graph: str
    pattern: str
    hits: tuple[bool, ...]
    """Whether the first node is gold, a question each, in the order of their ids."""
    f1: tuple[float, ...]
    """F1 of the nodes chosen, a question each."""
    calls: int
    valid: int
    """Calls that could be read and did not come back as errors; a turn of prose counts as one that could not."""
    turns: int
    tokens: int
    seconds: float


def collected(options: argparse.Namespace) -> None:
    """Collect trajectories over the graphs to learn from, and questions of the test graphs."""
    graphs = [Graph.open(path) for path in options.graph]
    config = CollectConfig(teacher="anchor", count=options.number, patterns=PATTERNS, mistakes=options.mistakes)
    collect(graphs, options.out / "collection", config, settings=read_settings(), progress=_told)
    print((options.out / "collection" / CARD).read_text(encoding="utf-8"))
    for path in options.test:
        file = options.out / "test" / path.name / QUESTIONS
        file.parent.mkdir(parents=True, exist_ok=True)
        made = generate_questions(Graph.open(path), options.tests, random_seed=TEST_SEED, patterns=PATTERNS)
        write_whole(file, as_lines(made.items))


def trained(options: argparse.Namespace) -> None:
    """Distil a student, and train it by reward."""
    seed = {"random_seed": str(options.seed)}
    place = options.out / f"seed-{options.seed}"
    sft = read_recipe(SftConfig, options.recipe, {**_pairs(options.sft), **seed})
    done = distil([options.out / "collection"], place / "sft", options.student, sft, progress=_told)
    _resources(place / "sft", done.seconds)
    if not options.grpo:
        return
    paths = {path.name: path for path in options.graph}
    grpo = read_recipe(GrpoConfig, None, {**_pairs(options.grpo), **seed})
    graphs = {name: Graph.open(path) for name, path in paths.items()}
    again = reinforce(
        options.out / "collection",
        place / "grpo",
        str(place / "sft" / MODEL),
        grpo,
        graphs,
        settings=read_settings(),
        progress=_told,
    )
    _resources(place / "grpo", again.seconds)


def measured(options: argparse.Namespace) -> None:
    """Ask the test questions of models, and of `anchor`."""
    for path in options.test:
        graph = Graph.open(path)
        asked = read_questions(options.out / "test" / path.name / QUESTIONS, graph=graph)
        settings = read_settings()
        for model in options.model:
            name, _, where = model.partition("=")
            run = options.out / "runs" / f"{path.name}--{name}"
            config = RunConfig(k=100, workers=options.workers)
            if where == "anchor":
                evaluate(graph, asked, ["anchor"], run, config=RunConfig(k=100), settings=settings)
            elif where.startswith("local:"):
                alone = RunConfig(k=100, workers=1)
                evaluate(graph, asked, [AGENT], run, config=alone, model=settings.open_model(where), settings=settings)
            else:
                student = open_student(where)
                network = student.model.to("cuda") if _has_gpu() else student.model
                with Policy(network, student.tokenizer, name=name, most_tokens=128) as policy:
                    evaluate(graph, asked, [AGENT], run, config=config, model=policy, settings=settings)
            for figure in figures(name, path.name, run):
                hits = f"{sum(figure.hits)} of {len(figure.hits)}"
                print(f"{figure.model} {figure.graph} {figure.pattern}: first node right in {hits}")


def figures(model: str, graph: str, run: Path) -> Iterator[Figure]:
    """Yield the figures of a run, by pattern."""
    stored = read_run(run)
    lines = {line.id: line for line in stored.lines}
    courses: dict[str, Trajectory] = {}
    for question, _, trajectories in stored.trajectories():
        courses.setdefault(question, trajectories[0])
    by_pattern: defaultdict[str, list[str]] = defaultdict(list)
    for key, line in lines.items():
        by_pattern[str(line.fields["pattern"])].append(key)
    for pattern, keys in sorted(by_pattern.items()):
        keys.sort()
        of_pattern = [(lines[key], courses.get(key)) for key in keys]
        # What an agent chose; a list that was filled up would hide that it chose nothing.
        chosen = [course.selected if course is not None else line.ranking for line, course in of_pattern]
        golds = [set(line.gold.nodes) for line, _ in of_pattern]
        steps = [step for _, course in of_pattern if course is not None for step in course.steps]
        failed = sum(map(failed_calls, steps))
        made = sum(len(step.reply.message.tool_calls) + step.unread for step in steps)
        prose = sum(not step.reply.message.tool_calls and not step.unread for step in steps)
        yield Figure(
            model=model,
            graph=graph,
            pattern=pattern,
            hits=tuple(bool(some) and some[0] in gold for some, gold in zip(chosen, golds, strict=True)),
            f1=tuple(round(_f1(set(some), gold), 4) for some, gold in zip(chosen, golds, strict=True)),
            calls=made + prose,
            valid=made - min(made, failed),
            turns=len(steps),
            tokens=sum(line.usage.prompt_tokens + line.usage.completion_tokens for line, _ in of_pattern),
            seconds=sum(line.seconds for line, _ in of_pattern),
        )


def reported(options: argparse.Namespace) -> None:
    """Print all that was measured as a table; the seeds of one kind of student are put together."""
    together: defaultdict[tuple[str, str, str], list[Figure]] = defaultdict(list)
    for run in sorted((options.out / "runs").iterdir()):
        graph, _, name = run.name.partition("--")
        for figure in figures(name, graph, run):
            for pattern in (figure.pattern, "all"):
                together[name.rstrip("0123456789").rstrip("-"), graph, pattern].append(figure)
    print("| model | graph | questions | n | seeds | Hit@1 | F1 of the nodes | valid calls | turns | tokens |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for (kind, graph, pattern), some in sorted(together.items()):
        seeds = len({figure.model for figure in some})
        calls = sum(figure.calls for figure in some)
        hits = by_question(some, "hits")
        turns, tokens = (
            sum(getattr(figure, name) for figure in some) / sum(len(figure.hits) for figure in some)
            for name in ("turns", "tokens")
        )
        valid = f"{sum(figure.valid for figure in some) / calls:.1%}" if calls else "-"
        print(
            f"| {kind} | {graph} | {pattern} | {len(hits)} | {seeds} | {mean(hits)} | {mean(by_question(some, 'f1'))} "
            f"| {valid} | {turns:.1f} | {tokens:,.0f} |"
        )


def by_question(some: Sequence[Figure], name: str) -> np.ndarray:
    """Return the mean over the seeds for each question: (questions,). Seeds answer the same questions."""
    by_seed: defaultdict[str, list[float]] = defaultdict(list)
    for figure in some:
        by_seed[figure.model] += getattr(figure, name)
    scores: np.ndarray = np.asarray(list(by_seed.values()), float).mean(axis=0)
    return scores


def mean(values: np.ndarray) -> str:
    """Return a mean with the bootstrap's interval of 95 % over the questions: (questions,)."""
    chance = np.random.default_rng(0)
    means = values[chance.integers(0, len(values), (2000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.3f} [{low:.2f}, {high:.2f}]"


def _f1(chosen: set[str], gold: set[str]) -> float:
    return 2 * len(chosen & gold) / (len(chosen) + len(gold)) if chosen or gold else 0.0


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _resources(place: Path, seconds: float) -> None:
    """Write what a training took, once."""
    if (place / "resources.json").exists():
        return
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = {"seconds": round(seconds, 1), "memory_gb": round(kilobytes / 2**20, 2)}
    if _has_gpu():
        import torch

        took["gpu_gb"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    print(place, took)
    write_whole(place / "resources.json", json.dumps(took) + "\n")


_LAST = [0.0]


def _told(what: str, done: int) -> None:
    if time.monotonic() - _LAST[0] > 10:
        _LAST[0] = time.monotonic()
        print(what, done, "of", getattr(done, "of", "?"), flush=True)


def _pairs(pairs: Iterable[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the parts."""
    parser = command_line(__doc__, ())
    parts = parser.add_subparsers(required=True)
    for part in (collected, trained, measured, reported):
        name = {"collected": "collect", "trained": "train", "measured": "measure", "reported": "report"}[part.__name__]
        one = parts.add_parser(name, help=part.__doc__)
        one.set_defaults(part=part)
        one.add_argument("out", type=Path)
        one.add_argument("--graph", type=Path, nargs="*", default=[])
        one.add_argument("--test", type=Path, nargs="*", default=[])
        one.add_argument("--model", nargs="*", default=["anchor=anchor"])
        one.add_argument("--number", type=int, default=300)
        one.add_argument("--mistakes", type=float, default=0.0)
        one.add_argument("--tests", type=int, default=150)
        one.add_argument("--student", default=PACKAGED)
        one.add_argument("--recipe", default="smollm2-compact")
        one.add_argument("--seed", type=int, default=0)
        one.add_argument("--sft", nargs="*", default=[])
        one.add_argument("--grpo", nargs="*", default=[])
        one.add_argument("--workers", type=int, default=16)
    options = parser.parse_args(arguments)
    options.part(options)


if __name__ == "__main__":
    main()
