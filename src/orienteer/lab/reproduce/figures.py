"""A row made again: the commands that it takes, and its figures in the paper's own layout.

Every step is a command of Orienteer, run in this process:

FOLDER/graphs/DATASET-PART[-FORM]       a graph; what its last command printed is in DATASET-PART[-FORM].json
FOLDER/runs/GRAPH-SPLIT-kK[-...]-MODEL  a run of `eval run`; rows that ask the same questions share it
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

from orienteer.errors import BadInput, BadOption, Error
from orienteer.files import write_whole
from orienteer.graph.pieces.similar import open_layer
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.report.material import count_calls
from orienteer.lab.evaluation.running.runs import read_run
from orienteer.lab.evaluation.scores.judge import CRITERIA
from orienteer.lab.reproduce.rows import STUDENT, Row, data_sets, forms
from orienteer.lab.training.runs import GrpoConfig, read_recipe
from orienteer.methods.table import method_of
from orienteer.records import Trajectory
from orienteer.serve.cli.app import application
from orienteer.text.sentences import tokens

# Figures by label and column.
Figures: TypeAlias = dict[tuple[str, str], float]
Asked: TypeAlias = tuple[Path, list[dict[str, Any]]]  # Any: JSON
_FIRST = 5  # a trajectory hits with gold among its first five nodes: ARK, tables 9 and 10
_OF_QUESTIONS = ("questions", "templates", "train", "val", "test")


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a data set that is there."""

    data: str
    part: str
    graph: Path
    questions: Path


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One row, over the data in some folders, made in another."""

    row: Row
    folders: Sequence[Path]
    target: Path
    flags: Mapping[str, str] = field(default_factory=dict)
    """What steps name in braces: `model`, `judge`, `student`, `embedder`, `asked`, `quiz`, `seed`."""
    calls: list[float] = field(default_factory=list)
    """Calls of a model by the runs so far, those of earlier commands included."""

    def figures(self) -> Figures:
        """Make the row's figures; what is in the folder stays.

        Raises `BadInput` for missing data and `BadOption` for a missing model before anything is paid, and whatever a
        step raises.
        """
        row = self.row
        if row.reason is not None:
            raise BadOption(f"{row.id} has no command: {row.reason}")
        missing = [place for part in row.parts for place in self._places(part) if isinstance(place, str)]
        if missing:
            sources = "; ".join(f"{data_sets()[name].name}: {data_sets()[name].source}" for name in row.data)
            held = ", ".join(map(str, self.folders)) or "no DATA"
            raise BadInput(f"{row.id} needs {', '.join(missing)}, which {held} does not hold. It comes from {sources}")
        if row.asks_model and not self.flags.get("model"):
            raise BadOption(f"{row.id} asks a model: name one with --model")
        if row.kind == "recipe":
            config = read_recipe(GrpoConfig, row.figure, {}).model_dump()
            return {
                (label, "value"): float(config[label]) for label in (row.published.figures if row.published else ())
            }
        return {"runs": self._of_runs, "counts": self._counts, "report": self._reported}[row.kind]()

    def _places(self, part: str) -> list[Place | str]:
        """Return where the graphs of a part are, several if it is joined; of a missing one what is expected."""
        name = part.split()[0]
        data, one = next((data, one) for data in self.row.data if name in (one := data_sets()[data]).parts | one.joined)
        bases = [base for folder in self.folders for base in (folder, *sorted(folder.glob("*/")))]
        found = list[Place | str]()
        for member in one.joined.get(name, (name,)):
            paths = [(base / at["graph"], base / at["questions"]) for at in one.parts[member] for base in bases]
            there = next((pair for pair in paths if pair[0].exists() and pair[1].exists()), None)
            found.append(Place(data, member, *there) if there else " and ".join(one.parts[member][0].values()))
        return found

    def _members(self, part: str) -> list[Place]:
        return [place for place in self._places(part) if isinstance(place, Place)]

    def _graph(self, place: Place, form: str = "") -> Path:
        """Return the graph of a part, made once."""
        target = self.target / "graphs" / "-".join(filter(None, (place.data, place.part, form)))
        steps = forms()[form] if form else data_sets()[place.data].made
        self._once(target.with_suffix(".json"), steps, place, target)
        if self.row.embedded and form not in ("alike", "reviews"):
            self._once(target.with_suffix(".embedded"), ["embed {target} {embedder}"], place, target)
        return target

    def _once(self, file: Path, steps: Sequence[str], place: Place, target: Path) -> None:
        """Run steps unless the file is there, and write what the last one printed into it."""
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, [self._ran(step, place, target) for step in steps][-1])

    def _ran(self, step: str, place: Place, target: Path, **more: str) -> str:
        """Run a command, and return what it printed. Raises its error."""
        paths = {"graph": place.graph, "questions": place.questions, "target": target, "folder": self.target}
        names = {name: shlex.quote(str(path)) for name, path in paths.items()}
        flags = {
            name: self.flags.get(name, "")
            for name in ("model", "judge", "student", "embedder", "asked", "quiz", "seed")
        }
        words = shlex.split(step.format(**names, **flags, name=place.part, **more))
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = application()(args=words, prog_name="orienteer", standalone_mode=False)
        if code:
            raise Error(f"orienteer {shlex.join(words)} ended with {code}: see above, and repeat the command")
        return printed.getvalue()

    def _of_runs(self) -> Figures:
        """Return the measures of methods over questions, and their means over the parts if the row has them."""
        row, figures = self.row, Figures()
        asked: dict[tuple[str, str], dict[str, str]] = {}
        for label, text in row.methods.items():
            method, _, form = (piece.strip() for piece in text.partition("@"))
            config = method_of(method.split()[0]).config_class()
            if config is not None and "faithful" in config.model_fields:
                method += " faithful=true"
            group = ("", STUDENT) if form == STUDENT else (form, "model")
            if form != STUDENT or self.flags.get(STUDENT):
                asked.setdefault(group, {})[label] = method
        for part, ((form, who), methods) in product(row.parts, asked.items()):
            runs = [self._run(place, part, form, who, list(methods.values())) for place in self._members(part)]
            for label, method in methods.items():
                name = label.replace("MODEL", _named(self.flags.get(who))).replace(
                    "STUDENT", _named(self.flags.get(who))
                )
                line = name if not row.by_part else part if len(row.methods) == 1 else f"{part} {name}"
                for measure in row.measures:
                    for value, figure in _measured(measure, method, runs).items():
                        column = measure if row.by_part else " ".join(filter(None, (part, value, measure)))
                        figures[line, column] = figure
        for label, measure in product(
            dict.fromkeys(label for label, _ in figures) if row.averaged else (), row.measures
        ):
            values = [figures.get((label, f"{part} {measure}"), inf) for part in row.parts]
            figures |= {(label, f"average {measure}"): sum(values) / len(values)} if inf not in values else {}
        return figures

    def _run(self, place: Place, part: str, form: str, who: str, methods: Sequence[str]) -> Asked:
        """Ask methods the questions of a graph; return the run, and the rows that `eval show` prints."""
        row, target = self.row, self._graph(place, form)
        split = next(iter(part.split()[1:]), row.split or data_sets()[place.data].split)
        names = (target.name, split, f"k{row.k}", row.answers and "answers", _named(self.flags.get(who)))
        run = self.target / "runs" / "-".join(str(name) for name in names if name).replace("/", "_").replace(":", "_")
        at = shlex.quote(str(run))
        given = " ".join([*(f"--method {shlex.quote(method)}" for method in methods), f"-k {row.k} -o {at}"])
        given += (f" --split {split}" if split else "") + (" --answers" if row.answers else "")
        self._ran(f"eval run {{target}} {{questions}} {{asked}} {{{who}}} {{given}}", place, target, given=given)
        scores = [score for score, criteria in CRITERIA.items() if {score, *criteria} & {*row.measures}]
        if scores:
            given = f"{at} {' '.join(f'--score {score}' for score in scores)}"
            self._ran("eval judge {given} --graph {target} {judge}", place, target, given=given)
        has_field = any(row.by in example.fields for example in read_run(run).examples)
        words = [at, *([f"--by {row.by}"] if has_field else [])]
        words += [f"--measure {name}" for name in row.measures if name not in _WORK and " " not in name]
        shown = json.loads(self._ran("eval show {given} --json", place, target, given=" ".join(words)))
        self.calls.append(sum(line["usage"]["calls"] for line in shown if line["method"] in methods))
        return run, shown

    def _counts(self) -> Figures:
        """Return sizes of graphs and of sets of questions; with methods, the counts of types of nodes and edges."""
        figures, row = Figures(), self.row
        for part in row.parts:
            [place] = self._members(part)
            wanted = {label: (label, "count", what) for label, what in row.methods.items()}
            wanted |= {measure: (part, measure, measure) for measure in row.measures}
            for label, column, what in wanted.values():
                if what in _OF_QUESTIONS:
                    split = what if what not in ("questions", "templates") else None
                    examples = read_questions(place.questions, split=split).examples
                    templates = {example.fields.get("template") for example in examples}
                    figures[label, column] = len(templates if what == "templates" else examples)
                else:
                    figures[label, column] = _size(Graph.open(self._graph(place, row.forms.get(part, ""))), what)
        return figures

    def _reported(self) -> Figures:
        """Return parts of the report on a graph's build, or of what the last step printed."""
        row, figures = self.row, Figures()
        [place] = self._members(row.parts[0])
        target = (
            self._graph(place, row.forms.get(place.part, "")) if "{graph}" not in " ".join(row.steps) else self.target
        )
        printed = [self._ran(step, place, target) for step in row.steps]
        report = json.loads(printed[-1] if printed else target.with_suffix(".json").read_text(encoding="utf-8"))
        for item in row.figure.split(", "):
            value = report
            for key in item.lstrip("^").split("."):
                value = value[key]
            for (label, column), number in _flat(item.rpartition(".")[2], value):
                figures[(column, label) if item.startswith("^") else (label, column)] = number
        return figures


_WORK = ("calls", "iterations", "tool_calls", "retrievals", "set_joins", "tokens", "output_tokens", "context_tokens",
         "seconds", "tool_failures")  # fmt: skip


def _measured(measure: str, method: str, runs: Sequence[Asked]) -> dict[str, float]:
    """Return a measure over several runs together, by the values of the row's field; under "" without one."""
    if " " in measure:
        share = _of_trajectories(measure, method, [run for run, _ in runs])
        return {} if share is None else {"": share}
    sums, counts = dict[str, float](), dict[str, float]()
    for line in (line for _, lines in runs for line in lines if line["method"] == method):
        value, score = ", ".join(line["by"].values()), line["measures"].get(measure, {"mean": 0, "n": 0})
        own = {
            "tool_failures": line["tool_failures"] or 0,
            "seconds": line["milliseconds"]["p50"] / 1000,
            **line["work"],
        }
        n = line["n"] if measure in _WORK else score["n"]
        n *= line["work"]["tool_calls"] if measure == "tool_failures" else 1
        sums[value] = sums.get(value, 0) + own.get(measure, score["mean"]) * n
        counts[value] = counts.get(value, 0) + n
    return {value: sums[value] / count for value, count in counts.items() if count}


def _named(flags: str | None) -> str:
    """Return the model that flags name."""
    return shlex.split(flags)[1] if flags else ""


def _flat(name: str, value: Any) -> Iterator[tuple[tuple[str, str], float]]:  # Any: JSON
    """Yield the numbers of an object by label and column; of a table of percentiles by its logic and percentile."""
    for key, inner in enumerate(value) if isinstance(value, list) else (value or {}).items():
        if isinstance(inner, dict):
            label = f"{inner['logic']} {inner['percentile']}" if isinstance(value, list) else key
            yield from _flat(
                str(label), {of: number for of, number in inner.items() if of not in ("logic", "percentile")}
            )
        elif isinstance(inner, int | float):
            yield (name, str(key)), inner


def _of_trajectories(measure: str, method: str, runs: Sequence[Path]) -> float | None:
    """Return a share of trajectories: of all, of those that hit, or of those that miss; None without any."""
    chosen, name = measure.split()
    several: list[Trajectory] = []
    for run in map(read_run, runs):
        gold = {example.question.id: example.gold.nodes for example in run.examples}
        for question, asked, trajectories in run.trajectories():
            for trajectory in trajectories if asked == method else ():
                outcome = "hit" if any(node in gold[question] for node in trajectory.selected[:_FIRST]) else "miss"
                several += [trajectory] if chosen in ("all", outcome) else []
    kind, _, rest = name.partition("_")
    counts = [count for count in map(count_calls, several) if count.calls]
    if kind == "mark":
        values = [float(rest in trajectory.marks) for trajectory in several]
    elif rest == "calls":  # a share of all calls together
        values = [float(at == kind) for count in counts for at in _calls_of(count.searches, count.neighbourhood)]
    elif kind == "along":
        least, _, most = rest.rstrip("+").partition("-")
        end = inf if rest.endswith("+") else int(most or least)
        values = [float(int(least) <= count.neighbourhood <= end) for count in counts]
    elif kind == "searches":
        values = [float(count.is_searching_again) for count in counts]
    else:
        values = [float(count.is_global_only == (kind == "global")) for count in counts]
    return sum(values) / len(values) if values else None


def _calls_of(searches: int, along: int) -> list[str]:
    return ["global"] * searches + ["neighbourhood"] * along


def _size(graph: Graph, what: str) -> float:
    """Count `nodes`, `edges`, `similar` and so on, `node TYPE`, `edge TYPE`, or `edge TYPE -similar- TYPE`."""
    schema, layer = graph.schema, open_layer(graph)
    alike, edges = layer.about.edges if layer else 0, sum(graph.schema.edges.values())
    kind, _, name = what.partition(" ")
    ends = sorted(name.split(" -similar- "))
    if kind == "node":
        return schema.node_types.get(name, 0)
    if kind == "edge" and len(ends) == 1:
        return schema.edge_types.get(name, 0)
    if kind == "edge":
        pairs = [(sorted((at.source, at.target)), count) for at, count in schema.edges.items() if at.type == "similar"]
        return sum(count for pair, count in pairs if pair == ends)
    if kind == "tokens":
        return sum(tokens(f"{graph.arrays.names[row]} {graph.arrays.texts[row]}") for row in range(len(graph)))
    types = {"node_types": len(schema.node_types), "edge_types": len(schema.edge_types) + bool(layer)}
    sizes = {"nodes": len(graph), "edges": edges + alike, "similar": alike, "degree": 2 * edges / max(1, len(graph))}
    return {**types, **sizes}[kind]
