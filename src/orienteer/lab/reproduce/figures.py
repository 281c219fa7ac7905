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
from orienteer.lab.reproduce.rows import STUDENT, Row, content
from orienteer.lab.training.runs import GrpoConfig, read_recipe
from orienteer.methods.table import method_of
from orienteer.records import Trajectory
from orienteer.serve.cli.app import INTERRUPTED, application
from orienteer.text.sentences import tokens

# Figures by label and column.
Figures: TypeAlias = dict[tuple[str, str], float]
# A part that is there: what steps name in braces.
Place: TypeAlias = dict[str, str]
_FIRST = 5  # a trajectory hits with gold among its first five nodes: ARK, tables 9 and 10


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The making of one row from the data in folders, in a target folder."""

    row: Row
    folders: Sequence[Path]
    target: Path
    flags: Mapping[str, str]
    """Further names that steps have in braces: `model`, `judge`, `student`, `embedder`, `asked`, `quiz`."""
    asked: list[dict[str, Any]] = field(default_factory=list)  # Any: JSON
    """The `line` and `part` of what was asked, how many questions `failed`, and of how many, `n`."""

    def figures(self) -> Figures:
        """Make the row's figures; what is in the folder stays.

        Raises `BadInput` for missing data and `BadOption` for a missing model, before anything is paid.
        """
        row, makers = self.row, {"runs": self._of_runs, "counts": self._counts, "report": self._reported}
        if row.reason is not None:
            raise BadOption(f"{row.id} has no command: {row.reason}")
        missing = [place for part in row.parts for place in self._places(part) if isinstance(place, str)]
        if missing:
            sources = "; ".join(f"{content().data[name].name}: {content().data[name].source}" for name in row.data)
            held = [f"{at} is {'a file' if at.exists() else 'not there'}" for at in self.folders if not at.is_dir()]
            held = held or [f"{one} does not hold all" for one in self.folders] or ["no DATA was given"]
            raise BadInput(f"{', '.join(held)}: {row.id} needs {', '.join(missing)}. It comes from {sources}")
        if "model" in row.takes and not self.flags.get("model"):
            raise BadOption(f"{row.id} asks a model: name one with --model")
        if "embedder" in row.takes:
            file, named = self.target / "graphs" / "embedder.txt", self.flags["embedder"]
            file.parent.mkdir(parents=True, exist_ok=True)
            if (before := file.read_text(encoding="utf-8") if file.exists() else named) != named:
                raise BadOption(f"graphs in {self.target} are made with {before}: give that, or another -o")
            write_whole(file, named)
        if row.kind == "recipe":
            config = read_recipe(GrpoConfig, row.figure, {}).model_dump()
            return {
                (label, "value"): float(config[label]) for label in (row.published.figures if row.published else ())
            }
        return makers[row.kind]()

    def _places(self, part: str) -> list[Place | str]:
        """Return the place of each graph of a part; for a missing one, the files that are expected."""
        name = part.split()[0]
        data = next(data for data in self.row.data if name in (one := content().data[data]).parts | one.joined)
        bases = [base for folder in self.folders for base in (folder, *sorted(folder.glob("*/")))]
        found = list[Place | str]()
        for member in one.joined.get(name, (name,)):
            own = {"data": data, "name": member, "given": ""}
            at = ({**own, **place, "base": str(base)} for place in one.parts[member] for base in bases)
            there = (one for one in at if all(Path(one["base"], one[name]).exists() for name in ("graph", "questions")))
            expected = one.parts[member][0]
            found.append(next(there, f"{expected['graph']} and {expected['questions']}"))
        return found

    def _members(self, part: str) -> list[Place]:
        return [place for place in self._places(part) if isinstance(place, dict)]

    def _graph(self, place: Place, form: str) -> Path:
        """Return the graph of a part, made once."""
        graph = self.target / "graphs" / "-".join(filter(None, (place["data"], place["name"], form)))
        made = content().form.get(form, content().data[place["data"]].made)
        self._once(graph.with_suffix(".json"), made, place, graph)
        if self.row.embedded and not form:
            self._once(graph.with_suffix(".embedded"), ["embed {target} {embedder}"], place, graph)
        return graph

    def _once(self, file: Path, steps: Sequence[str], place: Place, graph: Path) -> None:
        """Run steps unless the file exists, and write the output of the last one into it."""
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, [self._ran(step, place, target=graph) for step in steps][-1])

    def _ran(self, step: str, place: Place, **paths: Path) -> str:
        """Run a command, and return what it printed. Raises its error."""
        files = {name: Path(place["base"], place[name]) for name in ("graph", "questions")}
        quoted = {name: shlex.quote(str(path)) for name, path in {**files, "folder": self.target, **paths}.items()}
        words = shlex.split(step.format(**{**place, **self.flags, **quoted}))
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = application()(args=words, prog_name="orienteer", standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise Error(f"orienteer {shlex.join(words)} ended with {code}: see above, and repeat the command")
        return printed.getvalue()

    def _of_runs(self) -> Figures:
        """Return the measures of methods over questions, and their means over the parts if the row has them."""
        row, figures, asked = self.row, Figures(), dict[str, dict[str, str]]()
        for label, text in row.methods.items():
            method, _, form = (piece.strip() for piece in text.partition("@"))
            config = method_of(method.split()[0]).config_class()
            method, fusion, how = method.partition(" fusion=")
            faithful = " faithful=true" if config is not None and "faithful" in config.model_fields else ""
            asked.setdefault(form, {})[label] = f"{method}{faithful}{fusion}{how}"
        if not self.flags[STUDENT]:
            asked.pop(STUDENT, None)
        for part, (form, methods) in product(row.parts, asked.items()):
            runs, model = self._runs(part, form, list(methods.values()))
            shown = self._shown(runs)
            for label, method in methods.items():
                name = label.replace("MODEL", model).replace("STUDENT", model)
                line = name if not row.by_part else part if len(row.methods) == 1 else f"{part} {name}"
                own = [one for one in shown if one["method"] == method]
                sums = {name: sum(one[name] for one in own) for name in ("failed", "n")}
                self.asked.append({"line": line, "part": part, **sums})
                for measure in row.measures:
                    for value, figure in _measured(measure, method, own, runs).items():
                        column = measure if row.by_part else " ".join(filter(None, (part, value, measure)))
                        figures[line, column] = figure
        for label, measure in product({label for label, _ in figures} if row.averaged else (), row.measures):
            values = [figures.get((label, f"{part} {measure}"), inf) for part in row.parts]
            figures |= {(label, f"average {measure}"): sum(values) / len(values)} if inf not in values else {}
        return figures

    def _runs(self, part: str, form: str, methods: Sequence[str]) -> tuple[list[Path], str]:
        """Ask methods the questions of a part; return a run for each of its graphs, and the model's name."""
        row, runs = self.row, list[Path]()
        who = STUDENT if form == STUDENT else "model"
        model = [*shlex.split(self.flags[who])[1:2], ""][0]
        for place in self._members(part):
            graph = self._graph(place, "" if form == STUDENT else form)
            split = next(iter(part.split()[1:]), row.split or content().data[place["data"]].split)
            names = (graph.name, split, f"k{row.k}", row.answers and "answers", model)
            run = self.target / "runs" / "-".join(str(name) for name in names if name).replace("/", "_")
            words = [f"--method {shlex.quote(method.partition(' fusion=')[0])}" for method in methods]
            words = [*dict.fromkeys(words), f"--split {split}" if split else "", "--answers" if row.answers else ""]
            words += [f"-k {row.k}", "--retry-failed"]
            step = f"eval run {{target}} {{questions}} {{asked}} {{{who}}} {' '.join(words)} -o {{run}}"
            self._ran(step, place, target=graph, run=run)
            scores = [f"--score {score}" for score, of in CRITERIA.items() if {score, *of} & {*row.measures}]
            step = f"eval judge {{run}} {' '.join(scores)} --graph {{target}} {{judge}}"
            if scores:
                self._ran(step, place, target=graph, run=run)
            if any(" fusion=" in method for method in methods):
                fused = run.with_name(f"{run.name}-fused")
                step = "eval fuse {run} --graph {target} -o {fused} --quiet"  # `eval show` prints its note
                self._ran(step, place, target=graph, run=run, fused=fused)
                run = fused
            runs.append(run)
        return runs, model

    def _shown(self, runs: Sequence[Path]) -> list[dict[str, Any]]:  # Any: JSON
        """Return the rows that `eval show` prints of some runs together."""
        # What is said of a run is printed already, unless it was fused.
        words = ["--together"] if len(runs) > 1 else [] if runs[0].name.endswith("-fused") else ["--quiet"]
        words += [f"--by {self.row.by}"] if self.row.by else []
        words += [f"--measure {name}" for name in self.row.measures if name not in _WORK and " " not in name]
        [place, *_] = self._members(self.row.parts[0])
        place = {**place, "runs": shlex.join(map(str, runs))}
        shown: list[dict[str, Any]] = json.loads(self._ran(f"eval show {{runs}} --json {' '.join(words)}", place))
        return shown

    def _counts(self) -> Figures:
        """Return sizes of graphs and of sets of questions; with methods, the counts of types of nodes and edges."""
        figures, row = Figures(), self.row
        wanted = {(label, "count"): what for label, what in row.methods.items()}
        for part in row.parts:
            [place] = self._members(part)
            asked = wanted or {(part, measure): measure for measure in row.measures}
            sets = {"questions": None, "templates": None, "train": "train", "val": "val", "test": "test"}
            counts = dict[str, float]()
            if sets.keys() < {*sets, *asked.values()}:
                graph = Graph.open(self._graph(place, row.forms.get(part, "")))
                counts = _sizes(graph, with_tokens="tokens" in asked.values())
            for what in sets.keys() & {*asked.values()}:
                examples = read_questions(Path(place["base"], place["questions"]), split=sets[what]).examples
                templates = {example.fields.get("template") for example in examples}
                counts[what] = len(templates if what == "templates" else examples)
            figures |= {key: counts.get(what, 0) for key, what in asked.items()}
        return figures

    def _reported(self) -> Figures:
        """Return parts of the report on a graph's build, or of what the last step printed."""
        row, figures = self.row, Figures()
        [place] = self._members(row.parts[0])
        needs_graph = not row.steps or "{target}" in row.steps[0]
        graph = self._graph(place, row.forms.get(place["name"], "")) if needs_graph else self.target
        printed = [self._ran(step, place, target=graph) for step in row.steps]
        report = json.loads(printed[-1] if printed else graph.with_suffix(".json").read_text(encoding="utf-8"))
        for item in (items := row.figure.split(", ")):
            value, name = report, item.rpartition(".")[2]
            for key in item.lstrip("^").split("."):
                value = value[key]
            for (own, column), number in _flat(name, value):
                label = f"{name} {own}" if len(items) > 1 and own != name else own
                figures[(column, label) if item.startswith("^") else (label, column)] = number
        return figures


_WORK = ("calls", "iterations", "tool_calls", "retrievals", "set_joins", "tokens", "output_tokens", "context_tokens",
         "seconds", "tool_failures")  # fmt: skip


def _measured(
    measure: str, method: str, shown: Sequence[Mapping[str, Any]], runs: Sequence[Path]
) -> dict[str, float]:  # Any: JSON
    """Return a measure by the values of the row's field; under "" without one."""
    if " " in measure:
        return _of_trajectories(measure, method, runs)
    measured = dict[str, float]()
    for line in shown:
        own = {"tool_failures": line["tool_failures"], "seconds": line["milliseconds"]["p50"] / 1000, **line["work"]}
        value = own[measure] if measure in _WORK else line["measures"].get(measure, {}).get("mean")
        measured |= {} if value is None else {", ".join(line["by"].values()): value}
    return measured


def _flat(name: str, value: Any) -> Iterator[tuple[tuple[str, str], float]]:  # Any: JSON
    """Yield the numbers of an object by label and column; of a table of percentiles by its logic and percentile."""
    for key, inner in enumerate(value) if isinstance(value, list) else (value or {}).items():
        if isinstance(inner, dict):
            label = f"{inner.pop('logic')} {inner.pop('percentile')}" if isinstance(value, list) else key
            yield from _flat(str(label), inner)
        elif isinstance(inner, int | float):
            yield (name, str(key)), inner


def _of_trajectories(measure: str, method: str, runs: Sequence[Path]) -> dict[str, float]:
    """Return a share of trajectories: of all, of those that hit, or of those that miss; {} without any."""
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
    least, _, most = rest.rstrip("+").partition("-")
    highest = inf if "+" in rest else most or least
    values: list[bool] = {
        "mark": lambda: [rest in trajectory.marks for trajectory in several],
        "global": lambda: [count.is_global_only for count in counts],
        "both": lambda: [not count.is_global_only for count in counts],
        "searches": lambda: [count.is_searching_again for count in counts],
        "along": lambda: [int(least) <= count.neighbourhood <= float(highest) for count in counts],
        # Shares of all calls together.
        "wide": lambda: [wide for count in counts for wide in [True] * count.searches + [False] * count.neighbourhood],
        "deep": lambda: [deep for count in counts for deep in [False] * count.searches + [True] * count.neighbourhood],
    }[kind]()
    return {"": sum(values) / len(values)} if values else {}


def _sizes(graph: Graph, *, with_tokens: bool) -> dict[str, float]:
    """Count `nodes`, `edges`, `similar` and so on, each `node TYPE` and `edge TYPE`, and `edge TYPE -similar- TYPE`."""
    schema, layer = graph.schema, open_layer(graph)
    alike, edges = layer.about.edges if layer else 0, sum(schema.edges.values())
    sizes: dict[str, float] = {f"node {name}": count for name, count in schema.node_types.items()}
    sizes |= {f"edge {name}": count for name, count in schema.edge_types.items()}
    for at, count in schema.edges.items():
        name = f"edge {f' -{at.type}- '.join(sorted((at.source, at.target)))}"
        sizes[name] = sizes.get(name, 0) + count
    texts = zip(graph.arrays.names, graph.arrays.texts, strict=True) if with_tokens else ()
    sizes |= {"node_types": len(schema.node_types), "edge_types": len(schema.edge_types) + bool(layer)}
    sizes |= {"similar": alike, "degree": 2 * edges / max(1, len(graph))}
    return sizes | {"nodes": len(graph), "edges": edges + alike, "tokens": sum(tokens(" ".join(one)) for one in texts)}
