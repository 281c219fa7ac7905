"""Questions about rows of tables in folders of documents: answered rightly, wrongly or not, and by whom.

    python benchmarks/table_rows.py [--data DATA] [--folder NAME]... [--show VERDICT]... [--json FILE]

folders/rows.jsonl asks 75 questions of the folders `office`, `den` and `solar` of folders.py, 60 that tables answer and
15 that nothing does; the truths were computed with pandas. `den` and `solar` are left out if they are not in DATA.
`documents` answers without a model, from its reading of rows (`rows`), by a quotation or by a list of documents.

`form` says how an answer is compared. A `number` must stand in it, within `tolerance`; of a `value` every part must, as
whole words, dates in ISO form or as `also` has them. Of a `set`, it must have all names and no other of its column
(`others`), longer names first. Where the form is `none`, only no answer is right. `also` is as right as the truth;
`open` marks the two questions about which one may differ.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from folders import HERE, PUBLIC, Bench, words_of
from orienteer import Retriever
from orienteer.records import Result
from report import command_line, write_json

FOLDERS, VERDICTS = ("office", *PUBLIC), ("right", "wrong", "refused")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w|[-:]\d)")
"""A number that is no part of a date, a time or a name."""


def names_in(text: str, names: Iterable[str]) -> set[str]:
    """Return the names that stand in a text as whole words, none of them within a longer one."""
    words, found = words_of(text), set()
    for name in sorted(names, key=len, reverse=True):
        if words_of(name) in words:
            found.add(name)
            words = words.replace(words_of(name), " | ")
    return found


def is_right(asked: Mapping[str, Any], answer: str) -> bool:  # Any: JSON
    """Say whether an answer is the truth of a question that has one."""
    for truth in (asked["truth"], *asked.get("also", ())):
        names = truth if isinstance(truth, list) else [truth]
        if asked["form"] == "number":
            near = asked.get("tolerance", 0)
            told = (float(one.replace(",", "")) for one in _NUMBER.findall(answer))
            found = any(math.isclose(one, float(truth), rel_tol=1e-9, abs_tol=near) for one in told)
        elif asked["form"] == "value":
            found = all(words_of(name) in words_of(answer) for name in names)
        else:
            found = names_in(answer, [*names, *asked["others"]]) == set(names)
        if found:
            return True
    return False


def answered_by(result: Result) -> str:
    """Say who gave an answer."""
    if result.answer is None:
        return "nobody"
    if result.answer_kind == "quotation":
        return "a quotation"
    return "rows" if result.reading and result.reading.text else "a list of documents"


def judged(asked: Mapping[str, Any], result: Result) -> str:  # Any: JSON
    """Say whether an answer is right; no answer is where nothing answers."""
    if result.answer is None:
        return "right" if asked["form"] == "none" else "refused"
    return "right" if asked["form"] != "none" and is_right(asked, result.answer) else "wrong"


def main() -> None:
    """Ask, and print what came of it."""
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, help="where den and solar were made")
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--show", action="append", choices=VERDICTS, default=[], help="print these answers")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/orienteer-folders"), help="where all of it is kept")
    options = parser.parse_args()
    bench = Bench(
        argparse.Namespace(**vars(options), split="public", methods="", variants="plain", fresh=False, misspelt=False)
    )
    questions = [json.loads(line) for line in (HERE / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in options.folder or FOLDERS:
        try:
            retriever = Retriever(bench.graph(name, "plain"), "documents")
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        for asked in (one for one in questions if one["folder"] == name):
            result = retriever.ask(asked["question"], k=5)
            verdict, who = judged(asked, result), answered_by(result)
            counts.update((part, who, verdict) for part in (name, "all"))
            if verdict in options.show:
                told = f"{asked['question']}: {result.answer}   TRUTH {asked['truth']}"
                print(f"{verdict:8}{asked['id']:10}{told}")
    print(f"\n{'':10}{'answered by':24}" + "".join(f"{one:>9}" for one in VERDICTS))
    for part, who in sorted({key[:2] for key in counts}):
        print(f"{part:10}{who:24}" + "".join(f"{counts[part, who, one]:9}" for one in VERDICTS))
    write_json(options.json, [[*key, count] for key, count in sorted(counts.items())])


if __name__ == "__main__":
    main()
