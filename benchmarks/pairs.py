"""Questions that tempt a reader, worded by fresh eyes: right, refused or wrong by kind, without a model.

    python benchmarks/pairs.py [--folder NAME ...] [--fills N] [--show VERDICT] [--json FILE]

Each template of `own/pairs.jsonl` is filled so many times with values of the tables of its folder, chosen by a fixed
seed, and its truth is told by pandas. `--show` prints the questions of `garden` alone: the others are for measuring.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas

from orienteer import Retriever
from people import MOST, VERDICTS, Verdict, judged, opened
from report import command_line, write_json

OWN = Path(__file__).parent / "own"
LOOKED_AT = "garden"
_COLUMN = re.compile(r"(\w+)\.(\w+)(?: where (\w+)==(?:'|\")(\w+)(?:'|\"))?(?: is (.+))?")
_SAYS_NAMES = ("name", "title", "prize")


def tables(folder: str) -> dict[str, Any]:  # Any: pandas frames
    """Return the tables of a folder by name."""
    return {path.stem: pandas.read_csv(path) for path in sorted((OWN / folder).glob("*.csv"))}


def filled(template: dict[str, Any], frames: dict[str, Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Yield values for the slots of a template; none where a slot is not one of a column or of numbers."""
    slots: dict[str, Any] = {}
    for name, source in template["slots"].items():
        if (column := _COLUMN.match(source)) is not None:
            frame = frames[column[1]]
            frame = frame[frame[column[3]] == column[4]] if column[3] else frame
            slots[name] = column[5] or chance.choice(sorted(set(frame[column[2]].dropna().astype(str))))
        elif (numbers := re.match(r"(\d+)\.\.(\d+)", source)) is not None:
            slots[name] = chance.randint(int(numbers[1]), int(numbers[2]))
        elif source[0].isdigit():
            slots[name] = chance.choice(source.split(" ")[0].split("|"))
    slots.update({"decade_end": int(slots["decade"]) + 9} if "decade" in slots else {})
    slots.update({"year2": int(slots["year"]) + 2} if "year2" in template["slots"] else {})
    if "director2" in template["slots"]:
        slots["director2"] = chance.choice(
            sorted(set(frames["person"][frames["person"].profession == "director"].name))
        )
    yield slots


def truth_of(template: dict[str, Any], slots: dict[str, Any], frames: dict[str, Any]) -> tuple[str, Any]:
    """Return the kind and the value of the truth, as `people.judged` takes them."""
    if template["truth_kind"] == "X":
        return "none", None
    text = re.sub(r"\{(\w+)(!r)?\}", lambda m: (repr if m[2] else str)(slots[m[1]]), template["truth"])
    found = eval(text, {"set": set, "len": len}, frames)
    if isinstance(found, pandas.DataFrame):
        return "value", [value for value in found.to_numpy().ravel().tolist() if value == value]
    if isinstance(found, pandas.Series):
        if template["kind"].startswith("top n") and "each" not in template["template"]:
            return "set", list(found.index)
        if "each" in template["template"]:
            return "table", {str(key): float(value) for key, value in found.items()}
        return ("set" if found.name in _SAYS_NAMES else "value"), found.dropna().unique().tolist()
    if isinstance(found, set):
        return "set", sorted(found)
    if hasattr(found, "tolist"):
        found = found.tolist()
    if isinstance(found, bool):
        return "yesno", found
    if found != found:
        return "value", []  # the average of nothing
    return ("value" if isinstance(found, list) else "number"), found


def truths_of_namesakes(template: dict[str, Any], slots: dict[str, Any], frames: dict[str, Any]) -> list[Any]:
    """Return the truth by each of several rows that one slot names: a number is never told of them together."""
    for name, source in template["slots"].items():
        if (column := _COLUMN.match(source)) is not None and column[2] in _SAYS_NAMES[:2] and column[1] in frames:
            frame = frames[column[1]]
            called = frame.index[frame[column[2]] == slots[name]]
            if len(called) > 1:
                alone = ({**frames, column[1]: frame.drop(called.drop(row))} for row in called)
                return [truth_of(template, slots, one)[1] for one in alone]
    return []


def tells_each(answer: str | None, truths: list[Any]) -> bool:
    """Return whether an answer says just these numbers, or yes and no: `12 by the staff:8; 11 by the staff:20`."""
    told = (truth for truth in truths if truth != [])  # the average of nothing
    wanted = {("yes" if truth else "no") if isinstance(truth, bool) else f"{truth:.12g}" for truth in told}
    return {part.partition(" by the ")[0] for part in (answer or "").split("; ")} == wanted


def main() -> None:
    """Ask, and print the figures."""
    parser = command_line(__doc__, ("--json",))
    parser.add_argument("--folder", action="append", default=[], help="only this folder")
    parser.add_argument("--fills", type=int, default=5)
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these of the garden")
    args = parser.parse_args()
    templates = [json.loads(line) for line in (OWN / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    figures: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for folder in args.folder or ["garden", "festival", "hospital"]:
        frames, chance, graph, asked = tables(folder), random.Random(1), opened(OWN / folder), set[str]()
        assert graph is not None
        retriever = Retriever(graph, method="anchor")
        for template in (one for one in templates if one["folder"] == folder):
            for slots in (slots for _ in range(args.fills) for slots in filled(template, frames, chance)):
                question = template["template"].format(**slots)
                if question in asked:
                    continue
                asked.add(question)
                kind, truth = truth_of(template, slots, frames)
                result = retriever.ask(question, k=MOST)
                verdict = judged(result, kind, truth)
                each = truths_of_namesakes(template, slots, frames) if kind in ("number", "yesno") else []
                if each and verdict in ("right", "wrong"):
                    verdict = "right" if tells_each(result.answer, each) else "wrong"
                if kind in ("set", "value") and not truth and verdict == "refused":
                    continue  # nothing meets it: a refusal says as much
                figures[template["kind"]][verdict] += 1
                figures[folder][verdict] += 1
                if verdict in args.show and folder == LOOKED_AT:
                    line = result.reading.text if result.reading is not None else None
                    print(f"{verdict:8}{template['kind']:30}{question}")
                    print(f"        {line or result.notes}  -> {(result.answer or '')[:80]}   TRUTH {str(truth)[:90]}")
    print(f"{'':30}" + "".join(f"{verdict:>9}" for verdict in VERDICTS))
    for name, counts in figures.items():
        print(f"{name:30}" + "".join(f"{counts[verdict]:9}" for verdict in VERDICTS))
    write_json(args.json, figures)


if __name__ == "__main__":
    main()
