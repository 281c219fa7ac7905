"""Public questions that come with gold Cypher: right, refused or wrong, by form of the gold, without a model.

    python benchmarks/gold_cypher.py QUESTIONS.csv GRAPH [--database NAME] [--call OLD=NEW ...] [--show VERDICT ...]
                                     [--json FILE]

GRAPH is a graph or a folder of tables. QUESTIONS has the columns `question`, `cypher` and, with `--database`,
`database`; others are not read. Our own Cypher runs each gold statement, and `anchor` is asked the question.
`--call title=name` says what the graph calls a property of the statements. Left out, and counted, are statements that
do not run, name what the graph lacks, return nothing, have an order that is not understood, or cut and go on.

An answer is *right* if it is the gold's whole answer and no more: the names in the first column, the values of a
column, the number, or each row of a table. Texts that contain a word may have it in any case. A `LIMIT` is arbitrary if
the rows have no order, or one that the question does not state (*the first 3*): then any so many of all rows are right,
and so are all. In an order those that tie at the cut may stand for each other. An answer is *refused* if nothing was
presented as one, and *wrong* otherwise: also one of two things that the question asks for.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer import Cypher, Error, Graph, Retriever
from orienteer.cypher import QueryTable, tokenize_cypher
from orienteer.errors import Unknown
from orienteer.records import Result
from people import MOST, is_near, number, opened, told
from report import about, command_line, write_json

Verdict: TypeAlias = Literal["right", "refused", "wrong"]
VERDICTS: tuple[Verdict, ...] = ("right", "refused", "wrong")
CUT = re.compile(r"\s*\bLIMIT\s+(\d+)", re.IGNORECASE)
ORDER = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
DIRECTION = re.compile(r"\s+(?:ASC|DESC)(?:ENDING)?$", re.IGNORECASE)
SKIP = re.compile(r"SKIP\s+\w+", re.IGNORECASE)
BEHIND_ORDER = frozenset(["SKIP", "LIMIT", "WHERE", "RETURN", "WITH", "MATCH", "OPTIONAL", "UNWIND", "CALL", "UNION"])
"""Words that end an order."""
BRACKETS = {"(": ")", "[": "]", "{": "}"}
UNCLEAR = "the order is not understood"
CONTAINS = re.compile(r"([\w.]+) CONTAINS ('[^']*'|\"[^\"]*\")", re.IGNORECASE)
STATED = re.compile(
    r"\b(?:most|least|fewest|(?:high|low|old|young|new|lat|earli|long|short|larg|small|great)est|best|worst|recent)\b"
    r"|\bby (?:the )?(?:number|variety|average|release)",
    re.IGNORECASE,
)
"""What states an order in a question."""
TWO_THINGS = re.compile(r"\band (?:what|who|which|their|the)\b|\bwith their\b", re.IGNORECASE)


class Skipped(Exception):
    """No answer can be judged by a statement; the message is the reason."""


class Order(NamedTuple):
    """What a statement is ordered by."""

    names: list[str]
    """The expressions."""
    begin: int
    """The offset of `ORDER BY`."""
    end: int
    """The offset of its end; a `SKIP` belongs to it."""


class Gold(NamedTuple):
    """What a statement returns."""

    form: Literal["one value", "all", "some", "first in order"]
    columns: list[set[str]]
    """The values of each."""
    others: dict[str, set[str]]
    """What else is in the rows of each value of the first column."""
    right: Callable[[set[str]], bool]
    """Return whether these may be the values of the first column."""


def values(cell: Any) -> list[str]:  # Any: JSON
    """Return the values in a cell as they are compared: a node's name, the members of a list."""
    if isinstance(cell, list):
        return [value for part in cell for value in values(part)]
    if isinstance(cell, dict):
        cell = cell.get("name")
    return [] if cell is None else [told(cell)]


def run(cypher: Cypher, statement: str) -> QueryTable:
    """Return the rows of a statement. Raises `Skipped`."""
    try:
        return cypher.query(statement, limit=None)
    except Unknown as error:
        raise Skipped("names what the graph lacks") from error
    except Error as error:
        raise Skipped("does not run") from error


def gold_of(cypher: Cypher, statement: str, question: str) -> Gold:
    """Return what a statement gives. Raises `Skipped`."""
    rows, cuts = run(cypher, statement).rows, list(CUT.finditer(statement))
    columns = [{value for cell in column for value in values(cell)} for column in zip(*rows, strict=True)]
    if not any(columns):
        raise Skipped("returns nothing")
    others: dict[str, set[str]] = defaultdict(set)
    for first, *rest in rows:
        for name in values(first):
            others[name].update(value for cell in rest for value in values(cell))
    if not cuts:
        return Gold("one value" if len(rows) == len(columns) == 1 else "all", columns, others, columns[0].__eq__)
    if len(cuts) > 1 or re.search(r"\b(?:MATCH|UNWIND)\b", statement[cuts[0].end() :], re.IGNORECASE):
        raise Skipped("cuts and goes on")
    ranked = dict[str, Any]()  # all names, each with what its first row is ordered by; Any: JSON
    uncut, most = CUT.sub("", statement), int(cuts[0][1])
    for row, key in zip(run(cypher, uncut).rows, keys_of(cypher, uncut), strict=True):
        for name in values(row[0]):
            ranked.setdefault(name, key)
    everyone, keys = list(ranked), list(ranked.values())
    if len(everyone) <= most:
        return Gold("all", columns, others, set(everyone).__eq__)
    before, end = keys.index(keys[most - 1]), len(keys) - keys[::-1].index(keys[most - 1])
    is_ordered = ORDER.search(statement) is not None and STATED.search(question) is not None

    def is_right(names: set[str]) -> bool:
        is_few = set(everyone[:before]) <= names <= set(everyone[:end]) and len(names) >= most
        is_any = names <= set(everyone) and len(names) in (most, len(everyone))
        return names == columns[0] or is_few or (is_any and not is_ordered)

    return Gold("first in order" if is_ordered else "some", columns, others, is_right)


def keys_of(cypher: Cypher, statement: str) -> list[list[Any]]:  # Any: JSON
    """Return what each row of a statement is ordered by, an empty list if by nothing. Raises `Skipped`."""
    table, order = run(cypher, statement), order_of(statement)
    names = order.names
    if not set(names) <= set(table.columns):
        head = statement[: order.begin].rstrip()
        is_last = re.search(r"\bRETURN\b(?!.*\}$)", head, re.IGNORECASE | re.DOTALL) is not None
        # The order of a RETURN may use its columns by name, but the RETURN itself cannot.
        keys = {name: f"key_{place}" for place, name in enumerate(names) if not is_last or name not in table.columns}
        asked = ", ".join(f"{name} AS {key}" for name, key in keys.items())
        rows = len(table.rows)
        try:
            table = run(cypher, f"{head}{',' if is_last else ' RETURN'} {asked} {statement[order.begin : order.end]}")
        except Skipped as reason:
            raise Skipped(UNCLEAR) from reason
        if len(table.rows) != rows:
            raise Skipped(UNCLEAR)
        names = [keys.get(name, name) for name in names]
    return [[row[table.columns.index(name)] for name in names] for row in table.rows]


def order_of(statement: str) -> Order:
    """Return the first order of a statement."""
    match = ORDER.search(statement)
    if match is None:
        return Order([], len(statement), len(statement))
    behind, names, begin, depth = statement[match.end() :], list[str](), 0, 0
    for token in tokenize_cypher(behind):
        is_sign = token.kind == "sign"
        depth += (is_sign and token.value in BRACKETS) - (is_sign and token.value in BRACKETS.values())
        is_end = token.kind == "end" or depth < 0
        is_end |= not depth and token.kind == "word" and token.value.upper() in BEHIND_ORDER
        if is_end or (not depth and is_sign and token.value == ","):
            names.append(DIRECTION.sub("", behind[begin : token.start].strip()))
            begin = token.end
        if is_end:
            skip = SKIP.match(behind, token.start)
            return Order(names, match.start(), match.end() + (skip.end() if skip is not None else token.start))
    raise AssertionError("the last token is the end")


def judged(result: Result, gold: Gold, question: str) -> Verdict:
    """Return whether an answer is the gold's."""
    if result.reading is None or not result.reading.complete:
        return "refused" if result.answer is None else "wrong"
    said, names = result.answer or "", {told(hit.name) for hit in result.hits if hit.complete}
    groups = {told(row[0]): told(row[-1]) for row in result.table.rows} if result.table is not None else {}
    if gold.right(set(groups) or names):
        if groups and all(not gold.others[name] or value in gold.others[name] for name, value in groups.items()):
            return "right"
        if not groups and result.answer_kind in ("entity", "set", None):
            return "wrong" if len(gold.columns) > 1 and TWO_THINGS.search(question) else "right"
    parts = {told(part) for part in said.split(", ")}
    is_value = any(column and column in ({told(said)}, parts) for column in gold.columns)
    is_number = gold.form == "one value" and any(is_near(number(said), number(value)) for value in gold.columns[0])
    return "right" if is_value or is_number else "wrong"


def main() -> None:
    """Ask, and print the figures."""
    parser = command_line(__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--database", help="only the questions of this one")
    parser.add_argument("--call", action="append", default=[], metavar="OLD=NEW", help="a property's name in the graph")
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these questions")
    args = parser.parse_args()
    graph = Graph.open(args.graph) if (args.graph / "orienteer.json").exists() else opened(args.graph)
    if graph is None:
        raise SystemExit(1)
    cypher, retriever = Cypher(graph), Retriever(graph, "anchor")
    by_form: dict[str, Counter[Verdict]] = defaultdict(Counter)
    left_out = Counter[str]()
    with args.questions.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if args.database in (None, row.get("database"))]
    for row in rows:
        question, statement = row["question"], CONTAINS.sub(r"toLower(\1) CONTAINS toLower(\2)", row["cypher"])
        for old, new in (call.split("=") for call in args.call):
            statement = re.sub(rf"(?<=\.){re.escape(old)}\b|\b{re.escape(old)}(?=\s*:)", new, statement)
        try:
            gold = gold_of(cypher, statement, question)
        except Skipped as reason:
            left_out[str(reason)] += 1
            continue
        result = retriever.ask(question, k=MOST)
        verdict = judged(result, gold, question)
        by_form[gold.form][verdict] += 1
        if verdict in args.show:
            line = (result.reading and result.reading.text) or (result.refusal and result.refusal.text)
            shown = result.answer or ", ".join(hit.name for hit in result.hits if hit.complete)
            print(f"{verdict:9}{question}\n         {line}  -> {shown[:200]}")
            print(f"         GOLD {gold.form}: {str([sorted(column) for column in gold.columns])[:200]}")
    cypher.close()
    print(f"{'':20}" + "".join(f"{verdict:>9}" for verdict in VERDICTS))
    total = sum(by_form.values(), Counter[Verdict]())
    for name, counts in [*sorted(by_form.items()), ("all", total)]:
        print(f"{name:20}" + "".join(f"{counts[verdict]:9}" for verdict in VERDICTS))
    shares = ", ".join(f"{verdict} {total[verdict] / max(1, total.total()):.1%}" for verdict in VERDICTS)
    print(f"{total.total()} of {len(rows)} questions: {shares}; left out: {dict(left_out) or 'none'}")
    write_json(args.json, {**about(), "by_form": by_form, "left_out": left_out})


if __name__ == "__main__":
    main()
