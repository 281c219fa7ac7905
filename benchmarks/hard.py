"""Hard questions by the rules, by a model's written lines, and by both readers: right, refused or wrong, and agreement.

    python benchmarks/hard.py [--data FOLDER] [--work FOLDER] [--set NAME] [--graph NAME ...] [--lines FILE ...]
                              [--first] [--check refused|always] [--dump FOLDER] [--show VERDICT] [--json FILE]
                              [--every N] [--model NAME [--no-grammar]]

`hard/questions.jsonl` has 240 questions over Hetionet, Debian and WordNet, 80 each, of the shapes that rules find hard,
worded before any reader saw them. Their golds are expressions over the tables, as those of `intents` are. The set
`fourth` is `own/fourth.jsonl`, with the links put right; `questions` and `third` of `own` have no replies, and are for
`--model`. The replies of a model are played: a file of lines has the one
to each question and, if the program sent it back and another was written, that one too (`again`); `--first` leaves
these out. They were written from the prompts alone, which `--dump` writes, and none was changed after the golds were
looked at. With `--check always`, the default, both readers read each question, and a table tells how they agree.
`--model` asks a model instead, such as `local:smollm2`; `--no-grammar` holds its replies to the JSON schema alone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import people
import readings
from anchor import Graphs
from intents.frames import Frames, frames
from intents.intent import Gold, Number
from intents.loader import NAMES
from orienteer import Retriever
from orienteer.graph.store import Graph
from orienteer.llm.schema import json_object
from orienteer.protocols import LanguageModel, manner_of
from orienteer.reading.line import tried
from orienteer.records import Manner, Message, Reply, Result
from orienteer.settings import read_settings
from people import VERDICTS, Played, Verdict
from report import command_line, write_json

HERE = Path(__file__).parent
LINES = (HERE / "hard" / "lines.jsonl", HERE / "own" / "fourth.lines.jsonl", HERE / "hard" / "fourth.lines.jsonl")
SETS = "hard and fourth if none is named"
AGREEMENT = ("same", "different", "refused by the rules", "refused by the model", "refused by both")


@dataclass(frozen=True)
class Table:
    """The answer is a number for each of these names; a name of none may be left out."""

    rows: dict[str, float]


TruthOf: TypeAlias = "Gold | Table"


@dataclass(frozen=True)
class Asked:
    """A question with what judges its answer."""

    shape: str
    question: str
    judge: Callable[[Result], Verdict]


def gold(expression: str, graph: str) -> TruthOf:
    """Return the truth that an expression tells: `w` has the tables, `n` gives the nodes of these names."""
    tables = frames(graph)
    names = {**NAMES, "Table": Table, "max": max, "sum": sum, "w": tables, "n": partial(named, tables)}
    truth: TruthOf = eval(expression, names)  # our own file, and the names above alone
    return truth


def named(tables: Frames, *names: str) -> frozenset[str]:
    """Return the nodes of any kind with one of these names. Raises `LookupError` if a name has no node."""
    rows = tables.nodes[tables.nodes["name"].isin(names)]
    if missing := set(names) - set(rows["name"]):
        raise LookupError(f"no node has the name {', '.join(sorted(missing))}")
    return frozenset(rows.index)


def judged(result: Result, truth: TruthOf) -> Verdict:
    """Return whether an answer is the gold."""
    if isinstance(truth, Table):
        return people.judged(result, "table", truth.rows)
    if isinstance(truth, Number) and (result.answer or "").endswith("%"):
        return people.judged(result, "number", round(truth.value, 2))
    return readings.judged(result, [truth])


def questions(name: str) -> dict[str, list[dict[str, str]]]:
    """Return the hard questions, or those of `own`, by graph."""
    file = HERE / ("hard/questions.jsonl" if name == "hard" else f"own/{name}.jsonl")
    found = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        own = json.loads(line)
        found[own.get("graph") or own["folder"]].append(own)
    return found


def opened(name: str, graph: str, graphs: Graphs) -> Graph | None:
    """Return a graph of a set; None if its data is absent."""
    if name == "hard":
        return graphs.open(graph)
    mapping = HERE / "own" / f"{graph}.mapping.toml"
    return people.opened(HERE / "own" / graph, mapping if mapping.exists() else None)


def asked(name: str, graph: str, own: Sequence[dict[str, Any]]) -> Iterator[Asked]:  # Any: JSON
    """Yield the questions of a graph, ready to be judged."""
    for one in own:
        if name == "hard":
            judge: Callable[[Result], Verdict] = partial(judged, truth=gold(one["gold"], graph))
        else:
            judge = partial(people.judged, kind=one["truth_kind"], truth=one["truth"])
        yield Asked(one["shape"], one["question"], judge)


class Measured:
    """A model, with its calls, its tokens, and its replies that are JSON with a line."""

    price = None

    def __init__(self, model: LanguageModel, *, keeps_grammar: bool) -> None:
        self._model, self._keeps_grammar = model, keeps_grammar
        self.name = model.name
        self.calls = self.tokens = self.written = self.cut = 0
        self.seconds = 0.0
        self.lines: list[str | None] = []

    @property
    def manner(self) -> Manner:
        """That of the model; without a grammar if it is to have none."""
        own = manner_of(self._model)
        return own.model_copy(update={"keeps_grammar": own.keeps_grammar and self._keeps_grammar})

    def chat(self, messages: Sequence[Message], **options: Any) -> Reply:  # Any: what `LanguageModel` takes
        """Return the reply of the model."""
        reply = self._model.chat(messages, **options)
        spent = reply.usage
        self.calls, self.cut = self.calls + 1, self.cut + reply.truncated
        self.tokens, self.written = self.tokens + spent.prompt_tokens, self.written + spent.completion_tokens
        self.seconds += spent.seconds
        value = json_object(reply.message.content or "") or {}
        self.lines.append(value.get("line"))
        return reply

    def told(self, graph: Graph) -> str:
        """Return what it took, and how many of its lines a program can read."""
        lines, calls = [line for line in self.lines if line is not None], max(1, self.calls)
        read = sum(not isinstance(tried(line, graph), str) for line in lines)
        each = f"{self.seconds / calls:.1f} s, {self.written / calls:.0f} tokens each"
        return f"{self.calls} replies: {self.cut} cut, {len(lines)} lines, {read} that parse; {each}"


class Recorded(Played):
    """A played model that writes each request to a file, if a folder is given."""

    def __init__(self, graph: str, lines: Sequence[Path], folder: Path | None, *, has_second: bool) -> None:
        super().__init__(graph, *lines)
        self._folder = folder / graph if folder else None
        self._numbers: dict[str, int] = {}
        if not has_second:
            for own in self._replies.values():
                own.pop("again", None)

    def chat(self, messages: Sequence[Message], **options: Any) -> Reply:  # Any: what `LanguageModel` takes
        """Return the reply that was written; write what it replies to."""
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
            number = self._numbers.setdefault(messages[1].content or "", len(self._numbers) + 1)
            file = self._folder / f"{number:03}.{len(messages) // 2}.txt"
            file.write_text("\n---\n".join(message.content or "" for message in messages), encoding="utf-8")
        return super().chat(messages, **options)


def model_of(args: argparse.Namespace, graph: str) -> Measured | Recorded:
    """Return the model that is named, or one that plays the replies of a graph."""
    if args.model:
        return Measured(read_settings().open_model(args.model), keeps_grammar=not args.no_grammar)
    return Recorded(graph, args.lines, args.dump, has_second=not args.first)


def agreement(rules: Result, result: Result) -> str:
    """Return how two readers agree, by what the rules alone and both together came to."""
    if rules.reading is None or not rules.reading.complete:
        is_read = result.reading is not None and result.reading.complete
        return "refused by the rules" if is_read else "refused by both"
    if result.refusal is not None and result.refusal.lines:
        return "different"
    return "same" if result.reading is not None and result.reading.agreed else "refused by the model"


def show(by: str, graph: str, one: Asked, result: Result, verdict: Verdict) -> None:
    """Print a question with what became of it."""
    line = result.reading.text if result.reading is not None else None
    why = result.refusal.text if result.refusal is not None else "; ".join(result.notes)
    print(f"{verdict:8}{by:7}{graph:16}{one.shape:24}{one.question}")
    print(f"        {line or why}  -> {(result.answer or '')[:80]}")


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = command_line(__doc__, ("--data", "--work", "--json"))
    parser.add_argument("--set", choices=("hard", "fourth", "questions", "third"), action="append", help=SETS)
    parser.add_argument("--graph", action="append", default=[], metavar="NAME", help="only this graph or folder")
    parser.add_argument("--check", choices=("refused", "always"), default="always", help="when the model is asked")
    parser.add_argument("--lines", type=Path, action="append", metavar="FILE", help="replies; ours if none is named")
    parser.add_argument("--first", action="store_true", help="a line that is sent back is sent again as it was")
    parser.add_argument("--dump", type=Path, metavar="FOLDER", help="write what the model is sent there")
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th question of a graph")
    parser.add_argument("--model", metavar="NAME", help="ask this model, and play no replies")
    parser.add_argument("--no-grammar", action="store_true", help="hold the model to the JSON schema alone")
    args = parser.parse_args()
    args.lines = args.lines or LINES
    return args


def tell(name: str, graph: Graph, model: Measured | Recorded) -> None:
    """Print what a real model wrote."""
    if isinstance(model, Measured):
        print(f"{name}: {model.told(graph)}", flush=True)


def main() -> None:
    """Ask, and print the figures."""
    args = arguments()
    os.environ["ORIENTEER_DATA"] = str(args.data)
    graphs = Graphs(args.data, args.work)
    by_reader: dict[str, Counter[Verdict]] = defaultdict(Counter)
    by_shape: dict[str, Counter[Verdict]] = defaultdict(Counter)
    agreed: dict[str, dict[str, Counter[str]]] = {}
    costs: dict[str, list[int]] = {}
    for name in args.set or ("hard", "fourth"):
        agreed[name] = defaultdict(Counter)
        for graph_name, own in questions(name).items():
            if args.graph and graph_name not in args.graph:
                continue
            if (graph := opened(name, graph_name, graphs)) is None:
                print(f"{graph_name}: left out, {args.data / graph_name} is not there")
                continue
            k = readings.MOST if name == "hard" else people.MOST
            model, own = model_of(args, graph_name), own[:: args.every]
            plain, reader = Retriever(graph, "anchor"), Retriever(graph, "reader", model=model, check=args.check)
            for one in asked(name, graph_name, own):
                rules, result = plain.ask(one.question, k=k), reader.ask(one.question, k=k)
                how = agreement(rules, result)
                by_rules, by_both = one.judge(rules), one.judge(result)
                by_model = by_both
                if how == "different":
                    assert result.refusal is not None
                    by_model = one.judge(plain.ask(one.question, k=k, reading=result.refusal.lines[1]))
                elif how == "refused by the model":
                    by_model = "refused"
                cells = ["n", f"rules {by_rules}", f"model {by_model}"]
                agreed[name][how].update(cells + ["both right"] * (by_rules == by_model == "right"))
                by_reader[f"{graph_name} by rules"][by_rules] += 1
                by_reader[f"{graph_name} by reader"][by_both] += 1
                by_shape[one.shape][by_both] += 1
                if by_both in args.show:
                    show("reader", graph_name, one, result, by_both)
                if by_rules == "wrong" and "wrong" in args.show:
                    show("rules", graph_name, one, rules, by_rules)
            costs[graph_name] = [model.calls, model.tokens, len(own)]
            tell(graph_name, graph, model)
    report(by_shape, by_reader, costs, agreed if args.check == "always" else {})
    write_json(args.json, {"by_shape": by_shape, "by_reader": by_reader, "costs": costs, "agreed": agreed})


def report(
    by_shape: dict[str, Counter[Verdict]],
    by_reader: dict[str, Counter[Verdict]],
    costs: dict[str, list[int]],
    agreed: dict[str, dict[str, Counter[str]]],
) -> None:
    """Print the figures."""
    print(f"{'by reader':32}" + "".join(f"{verdict:>9}" for verdict in VERDICTS))
    for name, counts in [*sorted(by_shape.items()), *by_reader.items()]:
        print(f"{name:32}" + "".join(f"{counts[verdict]:9}" for verdict in VERDICTS))
    for graph_name, (calls, tokens, number) in costs.items():
        print(f"{graph_name}: {calls / number:.2f} calls a question, {tokens / max(1, calls):,.0f} tokens a call")
    cells = [*(f"{by} {verdict}" for by in ("rules", "model") for verdict in VERDICTS), "both right"]
    for name, table in agreed.items():
        print(f"\n{name:24}{'n':>5}" + "".join(f"{cell:>15}" for cell in cells))
        for how in AGREEMENT:
            print(f"{how:24}{table[how]['n']:5}" + "".join(f"{table[how][cell]:15}" for cell in cells))


if __name__ == "__main__":
    main()
