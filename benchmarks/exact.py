"""Check that the open golds of the benchmark `exact` (src/orienteer/lab/exact) are what their programs give.

    python benchmarks/exact.py [--data FOLDER] [--worded FILE ...]

A program is an expression over the tables of a graph (`intents/frames.py`); pandas computes it, never the package. The
split `dev` has those of `hard/questions.jsonl`. The command ends with 1 if a gold is not what its program gives today.
`--worded` adds the questions of a file: `graph`, `shape`, `split`, `question`, and the expression as `gold`. A gold of
the split `hidden` is sealed, and its expression is written nowhere.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import hard
from intents.frames import frames
from intents.intent import Nodes, Number, Refusal, Top, Values, YesNo
from orienteer.lab.evaluation.examples import Gold
from orienteer.lab.evaluation.scores.verdicts import gold_forms, seal
from report import command_line

FILE = Path(__file__).parents[1] / "src/orienteer/lab/exact/questions.jsonl"
MOST = 100  # nodes of an answer
PARTIAL = ("AeG", "GpBP", "GpMF", "GpCC")  # edges of Hetionet that the data here holds a part of


def resolved(truth: hard.TruthOf, graph: str) -> dict[str, Any] | None:  # Any: JSON
    """Return the gold of a question as its line has it; None for one with too many nodes, or with ties at its end."""
    if isinstance(truth, Refusal):
        return {"unanswerable": True}
    if isinstance(truth, YesNo):
        return {"answers": [str(truth.is_true)], "answer_type": "boolean"}
    if isinstance(truth, Number):
        return {"answers": [f"{truth.value:.10g}"], "answer_type": "number"}
    if isinstance(truth, hard.Table):
        return {"answers": sorted(f"{name}: {value:.10g}" for name, value in truth.rows.items()), "answer_type": "set"}
    if isinstance(truth, Values):
        return {"answers": sorted(truth.texts)}
    assert isinstance(truth, Nodes | Top)
    if len(truth.ids) > MOST or (isinstance(truth, Top) and len(truth.ids) != truth.size):
        return None
    names = frames(graph).nodes.loc[sorted(truth.ids), "name"]
    kind = "set" if len(truth.ids) > 1 else "entity"
    return {"nodes": sorted(truth.ids), "answers": sorted(set(names)), "answer_type": kind}


def lines(worded: list[Path]) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Yield the questions of files with their golds."""
    for file in worded:
        for text in file.read_text(encoding="utf-8").splitlines():
            own = json.loads(text)
            gold = resolved(hard.gold(own["gold"], own["graph"]), own["graph"])
            if gold is None or any(edge in own["gold"] for edge in PARTIAL):
                continue
            line = {name: own[name] for name in ("split", "graph", "shape", "question")} | gold
            yield line | ({} if line["split"] == "hidden" else {"program": own["gold"]})


def numbered(found: Iterator[dict[str, Any]], ids: Iterable[str]) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Give each question its id, after those that are there, and seal the golds of the hidden ones."""
    counts = Counter(one.rpartition("-")[0] for one in ids)
    for line in found:
        name = f"{line['split']}-{line['graph'].partition('_')[0]}"
        counts[name] += 1
        line = {"id": f"{name}-{counts[name]}", **line}
        if line["split"] == "hidden":
            own = {key: line.pop(key) for key in ("nodes", "answers", "answer_type", "unanswerable") if key in line}
            gold = Gold(**own | {"nodes": dict.fromkeys(own.get("nodes", ()), 1.0)})
            line["sealed"] = sorted(seal(line["id"], form) for form in gold_forms(gold))
        yield line


def main() -> int:
    """Check the questions, and add others."""
    parser = command_line(__doc__, ("--data",))
    parser.add_argument("--worded", type=Path, action="append", default=[], metavar="FILE", help="further questions")
    args = parser.parse_args()
    there = [json.loads(text) for text in FILE.read_text(encoding="utf-8").splitlines()]
    with FILE.open("a", encoding="utf-8") as file:
        for line in numbered(lines(args.worded), [line["id"] for line in there]):
            file.write(f"{json.dumps(line, ensure_ascii=False)}\n")
    failed = 0
    for line in there:
        if "program" in line:
            gold = resolved(hard.gold(line["program"], line["graph"]), line["graph"]) or {}
            if any(line[key] != value for key, value in gold.items()):
                failed += 1
                print(f"{line['id']}: {gold} by its program")
    print(f"{failed} golds differ from what their programs give")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
