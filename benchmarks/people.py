"""Folders of people's own, and what they ask of them: right, refused or wrong, by shape, without a model.

    python benchmarks/people.py [--data FOLDER] [--questions FILE] [--folder NAME ...] [--mapped] [--lines FILE]
                                [--show VERDICT] [--json FILE]

Each folder is imported as it stands, with no option, and each question is asked by `anchor`. The questions come with
the data (`people/questions.jsonl`); `--questions` takes others of the same form, whose folders stand beside that file.
With `--mapped` a folder is imported by the mapping `FOLDER.mapping.toml` beside the questions, where there is one.
With `--lines` they are asked by `reader`, and the file has what the model replies to a question that the rules refuse:
whoever wrote it saw nothing but the prompts.
A question is *right* where the whole answer is the truth: every node of a set by its name and no other, the number, yes
or no, the value, each group of a table; or where the truth is nothing, and it was refused. It is
*refused* where nothing was presented as an answer, and *wrong* where anything else was. Truths that end with `?` are
one of several that the wording allows: what differs from them is not counted as wrong, but as open.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from orienteer import Error, Graph, Retriever
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.records import Message, Reply, Result, Usage
from report import command_line, write_json

Verdict: TypeAlias = Literal["right", "refused", "wrong", "open"]
VERDICTS: tuple[Verdict, ...] = ("right", "refused", "wrong", "open")
KINDS = {"S": "set", "SN": "set", "N": "number", "B": "yesno", "V": "value", "T": "table", "X": "none", "P": "path"}
"""Short names of kinds of truth in the data, and the names that questions of ours use."""
MOST = 10_000


def opened(folder: Path, mapping: Path | None = None) -> Graph | None:
    """Return the graph of a folder; None, with the reason printed, where it cannot be imported."""
    out = Path(tempfile.mkdtemp(prefix="orienteer-people-")) / folder.name
    try:
        import_graph([folder], out, options=ImportOptions(mapping=mapping))
        return Graph.open(out)
    except Error as error:
        print(f"{folder.name}: no graph: {str(error).splitlines()[0][:160]}")
        return None


def told(text: object) -> str:
    """Return a value as it is compared: numbers without their form, texts without case and spaces."""
    try:
        return f"{float(str(text).replace(',', '')):.6g}"
    except ValueError:
        return " ".join(str(text).casefold().split())


def number(text: str) -> float:
    """Return the number that a text begins with; NaN if it begins with none."""
    try:
        return float(text.split()[0].replace(",", ""))
    except ValueError:
        return float("nan")


def judged(result: Result, kind: str, truth: Any) -> Verdict:  # Any: the truth as JSON has it
    """Return whether an answer is the truth."""
    is_open, kind = kind.endswith("?"), kind.rstrip("?")
    kind = KINDS.get(kind, kind)
    is_read = result.reading is not None and result.reading.complete
    if not is_read:
        if result.answer is not None:
            return "open" if is_open else "wrong"
        return "right" if kind == "none" else "refused"
    if kind == "none" and result.answer is None and not any(hit.complete for hit in result.hits):
        return "open"  # it was read, and nothing was found
    if kind != "none" and is_right(result, kind, truth):
        return "right"
    return "open" if is_open else "wrong"


def is_right(result: Result, kind: str, truth: Any) -> bool:
    """Return whether the whole answer of a question that was read is the truth."""
    if kind == "set":
        return is_right_set(result, set(map(told, truth)))
    if kind == "yesno":
        return result.answer == ("yes" if truth else "no")
    if kind == "table":
        rows = truth.items() if isinstance(truth, dict) else truth
        return is_right_table(result, {told(name): " ".join(map(str, value)) for name, *value in rows})
    if kind == "path":
        return bool(result.hits) and result.answer is not None
    values = truth if isinstance(truth, list) else [truth]
    if result.answer is None:
        return kind == "value" and not values and not any(hit.complete for hit in result.hits)
    if kind == "number":
        # of a name that is of several types each answer is said: `5 by the track; 21 by the artist`
        parts = result.answer.split("; ") if " by the " in result.answer else [result.answer]
        if result.answer.endswith("%"):
            return round(number(result.answer), decimals(values[0])) == float(values[0])
        return any(is_near(number(part), float(values[0])) for part in parts)
    whole = told(result.answer) == told(", ".join(map(str, values)))
    return whole or {told(part) for part in result.answer.split(", ")} == set(map(told, values))


def decimals(truth: object) -> int:
    """Return how many decimals a truth has."""
    return len(str(truth).partition(".")[2])


def is_near(value: float, wanted: float) -> bool:
    """Return whether two numbers are one but for rounding."""
    return value == wanted if wanted.is_integer() else abs(value - wanted) <= max(0.006, 5e-4 * abs(wanted))


def is_right_set(result: Result, wanted: set[str]) -> bool:
    """Return whether the hits are the nodes of these names, or ids."""
    if result.answer and result.reading is not None and result.reading.senses:  # each answer of a name is said
        said = (part.rpartition(" by the ")[0].split(", ") for part in result.answer.split("; "))
        return wanted in [set(map(told, names)) for names in said]
    complete = [hit for hit in result.hits if hit.complete]
    keys = {told(hit.id.rpartition(":")[2]) for hit in complete if hit.type == complete[0].type}
    are_keys = len(keys) == len(complete) and wanted == keys
    # each by its name, or as "match 306": of no name, or where the truth calls it so
    called = [(told(hit.name), told(f"{hit.type} {hit.id.rpartition(':')[2]}")) for hit in complete]
    is_called = wanted == {key if key in wanted else name for name, key in called}
    return (are_keys or is_called) and result.answer_kind in ("entity", "set", "text", None)


def is_right_table(result: Result, wanted: dict[str, str]) -> bool:
    """Return whether an answer says these values of these groups, and no more; a group of nothing may be left out."""
    rows = dict[str, str]()
    for part in (result.answer or "").split("; "):
        name, _, value = part.rpartition(": ")
        rows[told(re.sub(r" \((?:[\w-]+:[^)]*|[anrv]\d{8})\)$", "", name))] = value  # a namesake is told with its id
    are_near = all(
        told(rows.get(name, 0)) == told(value) or is_near(number(rows.get(name, "0")), number(value))
        for name, value in wanted.items()
    )
    return bool(rows) and are_near and not rows.keys() - wanted.keys()


class Played:
    """A model that gives each question the reply that was written for it, and the second one if it is sent back."""

    name, price = "played", None

    def __init__(self, folder: str, *lines: Path) -> None:
        written = [json.loads(line) for file in lines for line in file.read_text(encoding="utf-8").splitlines()]
        self._replies = {own["question"]: own for own in written if own["folder"] == folder}
        self.calls = self.tokens = 0

    def chat(self, messages: Sequence[Message], **options: Any) -> Reply:  # Any: what `LanguageModel` takes
        """Return the line for the question that ends the prompt."""
        self.calls += 1
        self.tokens += sum(len(message.content or "") for message in messages) // 4
        own = self._replies.get((messages[1].content or "").rpartition("Question: ")[2].strip())
        if own and len(messages) > 2:
            own = own.get("again", own)
        reply = {"line": own and own["line"], "unread": own["unread"] if own else ["the question"]}
        return Reply(message=Message(role="assistant", content=json.dumps(reply)), usage=Usage(calls=1))


def main() -> None:
    """Ask, and print the figures."""
    parser = command_line(__doc__, ("--data", "--json"))
    parser.add_argument("--questions", type=Path, help="questions of the same form; folders beside it")
    parser.add_argument("--folder", action="append", default=[], help="only this folder")
    parser.add_argument("--mapped", action="store_true", help="by FOLDER.mapping.toml beside the questions, if any")
    parser.add_argument("--lines", type=Path, help="replies of a model, a JSON object a line: folder, question, line")
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these questions")
    args = parser.parse_args()
    file = args.questions or args.data / "people" / "questions.jsonl"
    asked = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        asked[question["folder"]].append(question)
    by_shape: dict[str, Counter[Verdict]] = defaultdict(Counter)
    by_folder: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for folder, questions in asked.items():
        if args.folder and folder not in args.folder:
            continue
        mapping = file.parent / f"{folder}.mapping.toml"
        graph = opened(file.parent / folder, mapping if args.mapped and mapping.exists() else None)
        model = Played(folder, args.lines) if args.lines else None
        retriever = Retriever(graph, "reader" if model else "anchor", model=model) if graph is not None else None
        for question in questions:
            kind, truth = question["truth_kind"], question["truth"]
            if retriever is None:
                verdict: Verdict = "refused"
            else:
                result = retriever.ask(question["question"], k=MOST)
                verdict = judged(result, kind, truth)
                if verdict in args.show:
                    line = result.reading.text if result.reading is not None else None
                    why = result.refusal.text if result.refusal is not None else "; ".join(result.notes)
                    print(f"{verdict:8}{folder:9}{question['shape']:14}{question['question']}")
                    print(f"        {line or why}  -> {(result.answer or '')[:80]}   TRUTH {kind} {str(truth)[:90]}")
            by_shape[question["shape"]][verdict] += 1
            by_folder[folder][verdict] += 1
        if model is not None:
            print(f"{folder}: {model.calls} calls of {model.tokens / max(1, model.calls):,.0f} tokens")
    print(f"{'':20}" + "".join(f"{verdict:>9}" for verdict in VERDICTS))
    for name, counts in [*sorted(by_shape.items()), *by_folder.items()]:
        print(f"{name:20}" + "".join(f"{counts[verdict]:9}" for verdict in VERDICTS))
    total = sum(by_folder.values(), Counter[Verdict]())
    shares = ", ".join(f"{verdict} {total[verdict] / max(1, total.total()):.1%}" for verdict in VERDICTS)
    print(f"{'all':20}" + "".join(f"{total[verdict]:9}" for verdict in VERDICTS) + f"   of {total.total()}: {shares}")
    write_json(args.json, {"by_shape": by_shape, "by_folder": by_folder})


if __name__ == "__main__":
    main()
