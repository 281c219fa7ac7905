"""Write the benchmark `exact` (src/orienteer/lab/exact), and check that its open golds are what its programs give.

    python benchmarks/exact.py [--data FOLDER] [--worded FILE ...]

The split `dev` is `hard/questions.jsonl`, whose golds are expressions over the tables of a graph (`intents/frames.py`);
pandas computes them, and never the package. `--worded` adds a file of further questions with such golds and their
splits; a gold of the split `hidden` is sealed, and its expression is written nowhere. Without it the questions that the
benchmark has are kept as they are, and the command ends with 1 if a gold of `dev` or `test` is not what its program
gives today.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hard
from intents.frames import frames
from intents.intent import Nodes, Number, Refusal, Top, Values, YesNo
from orienteer.lab.evaluation.examples import Gold
from orienteer.lab.evaluation.scores.verdicts import gold_forms, sealed
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
        return {"answers": [f"{name}: {value:.10g}" for name, value in truth.rows.items()], "answer_type": "set"}
    if isinstance(truth, Values):
        return {"answers": sorted(truth.texts)}
    assert isinstance(truth, Nodes | Top)
    if len(truth.ids) > MOST or (isinstance(truth, Top) and len(truth.ids) != truth.size):
        return None
    names = frames(graph).nodes.loc[sorted(truth.ids), "name"]
    kind = "set" if len(truth.ids) > 1 else "entity"
    return {"nodes": sorted(truth.ids), "answers": sorted(set(names)), "answer_type": kind}


def lines(worded: list[Path]) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Yield the questions of all splits with their golds."""
    for file in [Path(hard.__file__).parent / "hard/questions.jsonl", *worded]:
        for text in file.read_text(encoding="utf-8").splitlines():
            own = json.loads(text)
            gold = resolved(hard.gold(own["gold"], own["graph"]), own["graph"])
            if gold is None or any(edge in own["gold"] for edge in PARTIAL):
                continue
            line = {"split": own.get("split", "dev"), "graph": own["graph"], "shape": own["shape"]}
            line |= {"question": own["question"], **gold}
            yield line | ({} if line["split"] == "hidden" else {"program": own["gold"]})


def numbered(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Give each question its id, and seal the golds of the hidden ones."""
    counts: dict[str, int] = {}
    for line in found:
        name = f"{line['split']}-{line['graph'].partition('_')[0]}"
        counts[name] = counts.get(name, 0) + 1
        line = {"id": f"{name}-{counts[name]}", **line}
        if line["split"] == "hidden":
            own = {key: line.pop(key) for key in ("nodes", "answers", "answer_type", "unanswerable") if key in line}
            gold = Gold(**own | {"nodes": dict.fromkeys(own.get("nodes", ()), 1.0)})
            line["sealed"] = sorted(sealed(line["id"], form) for form in gold_forms(gold))
        yield line


def main() -> int:
    """Write the questions, or check them."""
    parser = command_line(__doc__, ("--data",))
    parser.add_argument("--worded", type=Path, action="append", default=[], metavar="FILE", help="further questions")
    args = parser.parse_args()
    if args.worded:
        written = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in numbered(lines(args.worded)))
        FILE.write_text(written, encoding="utf-8")
        return 0
    failed = 0
    for text in FILE.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if "program" in line:
            gold = resolved(hard.gold(line["program"], line["graph"]), line["graph"]) or {}
            if any(line[key] != value for key, value in gold.items()):
                failed += 1
                print(f"{line['id']}: {gold} by its program")
    print(f"{failed} golds differ from what their programs give")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
