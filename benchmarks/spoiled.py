"""Delimited files spoiled as real ones are, one spoil each: how much of the clean table is read, and what is said.

    python benchmarks/spoiled.py [--files NUMBER] [--seed NUMBER] [--only SPOIL ...] [--keep FOLDER] [--json FILE]

Clean tables are made with a seed (five languages; commas, semicolons or tabs), and each file is one of them with one
spoil. *F1* is of cells: a cell is a row's key, a column's name and a text that is not empty, so that what is read into
the wrong column, or under a wrong header, is read too much there and missing here. The clean table is the truth; what a
reader refuses has 0. *Honest* is a file that is read whole, or of which the reader says that something is wrong: by an
error, a warning, a rejected row; ours by a dropped row, or by what the report of an import says that it does not say of
the clean table. What is read wholly or in part, without a word that something is not as it should be, is not.
Readers: Python's csv with its Sniffer, pandas (its python engine), DuckDB by itself and with `store_rejects`, all with
the text decoded by its byte order mark, as UTF-8, or else as Latin-1; and ours, by the table of the file. A peer that
is not installed is left out.
"""

from __future__ import annotations

import codecs
import csv
import importlib.util
import io
import random
import re
import shutil
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from orienteer import Error
from orienteer.ingest.importer import import_graph
from orienteer.ingest.tables.plan import table_of
from report import command_line, write_json

Rows: TypeAlias = list[list[str]]
Cells: TypeAlias = Counter[tuple[str, str, str]]
"""How often a cell is there: the key of its row, its column, its text."""


class Clean(NamedTuple):
    """A clean table; its first column has the keys of its rows."""

    language: str
    delimiter: str
    head: list[str]
    rows: Rows

    @property
    def suffix(self) -> str:
        """Return the suffix of a file that holds it."""
        return ".tsv" if self.delimiter == "\t" else ".csv"

    def text(self, rows: Rows | None = None) -> str:
        """Return the table, or other rows of it, as text."""
        return "".join(map(self.line, [self.head, *(self.rows if rows is None else rows)]))

    def line(self, row: Sequence[str]) -> str:
        """Return a row as a line."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerow(row)
        return text.getvalue()


class Spoiled(NamedTuple):
    """The content of a spoiled file, and the rows that are the truth."""

    content: bytes
    rows: Rows


class Reading(NamedTuple):
    """What a reader makes of a file: its cells, and whether it says that something is wrong."""

    cells: Cells
    is_told: bool


HEADS = {
    "english": ["Code", "Station", "Town", "Opened", "Height", "Visitors", "Remark"],
    "german": ["Kürzel", "Station", "Ort", "Eröffnet", "Höhe", "Gäste", "Bemerkung"],
    "french": ["Code", "Gare", "Ville", "Créée le", "Hauteur", "Visiteurs", "Remarque"],
    "polish": ["Skrót", "Stacja", "Miejscowość", "Otwarcie", "Wysokość", "Goście", "Uwagi"],
    "russian": ["Код", "Станция", "Город", "Открыта", "Высота", "Гости", "Заметка"],
}
WORDS = {
    "english": [
        "Mill",
        "Ferry",
        "Tower",
        "Barrow",
        "Meadow",
        "Quarry",
        "Chapel",
        "Harbour",
        "Weir",
        "Orchard",
        "Beacon",
        "Ford",
    ],
    "german": [
        "Mühle",
        "Fähre",
        "Türmchen",
        "Hügel",
        "Wiese",
        "Steinbruch",
        "Kapelle",
        "Hafenstraße",
        "Wöhr",
        "Gärten",
        "Leuchtfeuer",
        "Furt",
    ],
    "french": [
        "Moulin",
        "Forêt",
        "Clocher",
        "Côte",
        "Prairie",
        "Carrière",
        "Église",
        "Écluse",
        "Étang",
        "Verger",
        "Phare",
        "Gué",
    ],
    "polish": [
        "Młyn",
        "Prom",
        "Wieża",
        "Wzgórze",
        "Łąka",
        "Kamieniołom",
        "Kościół",
        "Przystań",
        "Śluza",
        "Sad",
        "Latarnia",
        "Bród",
    ],
    "russian": [
        "Мельница",
        "Паром",
        "Башня",
        "Холм",
        "Луг",
        "Карьер",
        "Часовня",
        "Гавань",
        "Шлюз",
        "Сад",
        "Маяк",
        "Брод",
    ],
}
LETTERS = {
    "english": ("cp1252",),
    "german": ("cp1252", "latin-1"),
    "french": ("cp1252", "iso8859-15"),
    "polish": ("cp1250", "iso8859-2"),
    "russian": ("cp1251", "koi8-r"),
}
"""Encodings that files of a language are met in, beside UTF-8."""


def clean_table(chance: random.Random) -> Clean:
    """Return a table of 15 to 60 rows: codes, names, dates, numbers and remarks, some of them quoted, some empty."""
    language = chance.choice(sorted(HEADS))
    delimiter = chance.choice(",;\t") if language == "english" else chance.choice(";;;\t")
    words = WORDS[language]

    def row(place: int) -> list[str]:
        height = f"{chance.randint(20, 9900) / 10:.1f}"
        date = f"{chance.randint(1850, 2024)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        remark = chance.choice(
            ["", "", chance.choice(words), f"{chance.choice(words)}{delimiter} {chance.choice(words)}"]
        )
        return [
            f"{chance.choice('ABCDE')}{100 + place}",
            f"{chance.choice(words)} {chance.choice(words)}",
            chance.choice(words),
            date if language == "english" else ".".join(reversed(date.split("-"))),
            height if language == "english" else height.replace(".", ","),
            str(chance.randint(0, 90_000)),
            remark if chance.random() < 0.9 else f'"{remark or words[0]}"',
        ]

    return Clean(language, delimiter, HEADS[language], [row(place) for place in range(chance.randint(15, 60))])


# ----------------------------------------------------------------------------------------------------- the spoils


def _lines(table: Clean) -> list[str]:
    return [table.line(row) for row in (table.head, *table.rows)]


def _joined(table: Clean, lines: Iterable[str]) -> Spoiled:
    return Spoiled("".join(lines).encode(), table.rows)


def nothing(table: Clean, _: random.Random) -> Spoiled:
    """Leave the table as it is."""
    return _joined(table, _lines(table))


def wrong_delimiter(table: Clean, chance: random.Random) -> Spoiled:
    """Separate one row otherwise."""
    lines, place = _lines(table), chance.randint(1, len(table.rows))
    other = chance.choice([each for each in ",;\t|" if each != table.delimiter and each not in lines[place]])
    lines[place] = table._replace(delimiter=other).line(table.rows[place - 1])
    return _joined(table, lines)


def open_quote(table: Clean, chance: random.Random) -> Spoiled:
    """Open a quote that nothing closes."""
    lines, place, column = _lines(table), chance.randint(1, len(table.rows)), chance.choice([1, 2])
    fields = lines[place].split(table.delimiter)
    fields[column] = f'"{fields[column]}'
    lines[place] = table.delimiter.join(fields)
    return _joined(table, lines)


def header_twice(table: Clean, chance: random.Random) -> Spoiled:
    """Repeat the header, as where two files were put together."""
    lines = _lines(table)
    lines.insert(chance.randint(1, len(lines)), lines[0])
    return _joined(table, lines)


def empty_rows(table: Clean, chance: random.Random) -> Spoiled:
    """Put blank lines between rows, or rows of nothing but delimiters."""
    lines, blank = _lines(table), chance.choice(["\n", table.delimiter * (len(table.head) - 1) + "\n"])
    for _ in range(chance.randint(1, 4)):
        lines.insert(chance.randint(1, len(lines)), blank)
    return _joined(table, lines)


def preamble(table: Clean, chance: random.Random) -> Spoiled:
    """Put titles above the header."""
    words = WORDS[table.language]
    above = [
        f"{words[0]} {words[1]}\n",
        f"Export {chance.randint(2001, 2024)}{chance.choice(['', table.delimiter])}\n",
        "\n",
    ]
    return _joined(table, [*above[: chance.randint(1, 3)], *_lines(table)])


def footer(table: Clean, chance: random.Random) -> Spoiled:
    """Put a line of totals, or a source, below the rows."""
    total = sum(int(row[5]) for row in table.rows)
    blank = [""] * 4
    below = [table.line(["Total", *blank, str(total), ""]), f"{len(table.rows)} rows\n", "\nSource: the town hall\n"]
    return _joined(table, [*_lines(table), chance.choice(below)])


def line_ends(table: Clean, chance: random.Random) -> Spoiled:
    """End lines as old Macs do, as Windows does, or both ways."""
    kind = chance.choice(["\r", "\r\n", ""])
    ends = (kind or chance.choice(["\r\n", "\n"]) for _ in range(len(table.rows) + 1))
    return _joined(table, (line[:-1] + end for line, end in zip(_lines(table), ends, strict=True)))


def ragged(table: Clean, chance: random.Random) -> Spoiled:
    """Leave the last cell of a few rows out, or put one too many."""
    rows, lines = [list(row) for row in table.rows], _lines(table)
    is_short = chance.random() < 0.5
    for place in chance.sample(range(len(rows)), chance.randint(1, 3)):
        if is_short:
            rows[place][-1] = ""
        lines[place + 1] = table.line(rows[place][:-1] if is_short else [*rows[place], WORDS[table.language][0]])
    return Spoiled("".join(lines).encode(), rows)


def byte_order_mark(table: Clean, chance: random.Random) -> Spoiled:
    """Begin with a byte order mark: UTF-8, or UTF-16."""
    return Spoiled(table.text().encode(chance.choice(["utf-8-sig", "utf-16"])), table.rows)


def other_letters(table: Clean, chance: random.Random) -> Spoiled:
    """Encode the table as it was usual for its language."""
    return Spoiled(table.text().encode(chance.choice(LETTERS[table.language])), table.rows)


def sep_line(table: Clean, _: random.Random) -> Spoiled:
    """Begin with the line that tells Excel the delimiter."""
    return _joined(table, [f"sep={table.delimiter}\n", *_lines(table)])


def trailing_delimiters(table: Clean, chance: random.Random) -> Spoiled:
    """End each line, or each but the header, with a delimiter."""
    first = chance.choice([0, 1])
    more = (line[:-1] + table.delimiter * (place >= first) + "\n" for place, line in enumerate(_lines(table)))
    return _joined(table, more)


def quoted_newlines(table: Clean, chance: random.Random) -> Spoiled:
    """Break lines within quoted cells."""
    rows = [list(row) for row in table.rows]
    for place in chance.sample(range(len(rows)), chance.randint(1, 6)):
        rows[place][chance.choice([1, 6])] += f"\n{chance.choice(WORDS[table.language])}"
    return Spoiled(table.text(rows).encode(), rows)


def blank_columns(table: Clean, chance: random.Random) -> Spoiled:
    """Put one or two columns without a name and without a value somewhere."""
    places = sorted(chance.sample(range(len(table.head) + 1), chance.randint(1, 2)), reverse=True)

    def wider(row: Sequence[str]) -> list[str]:
        cells = list(row)
        for place in places:
            cells.insert(place, "")
        return cells

    return _joined(table, (table.line(wider(row)) for row in (table.head, *table.rows)))


Spoil: TypeAlias = Callable[[Clean, random.Random], Spoiled]
SPOILS: Mapping[str, Spoil] = {
    spoil.__name__.replace("_", " "): spoil
    for spoil in (
        *(nothing, wrong_delimiter, open_quote, header_twice, empty_rows, preamble, footer, line_ends, ragged),
        *(byte_order_mark, other_letters, sep_line, trailing_delimiters, quoted_newlines, blank_columns),
    )
}

# ---------------------------------------------------------------------------------------------------- the readers


def cells_of(head: Sequence[str], rows: Iterable[Sequence[str]], key: str) -> Cells:
    """Return the cells of a table by the key of their row. Cells behind the last column are in none."""
    cells: Cells = Counter()
    place = list(head).index(key) if key in head else None
    for row in rows:
        own = row[place] if place is not None and place < len(row) else ""
        cells.update((own, head[at] if at < len(head) else "", text) for at, text in enumerate(row) if text)
    return cells


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def by_csv(path: Path, key: str) -> Reading:
    """Read a file as the documentation of Python's csv does."""
    text = _decoded(path)
    try:
        try:
            dialect: Any = csv.Sniffer().sniff(text[:4096], ",;\t|")  # Any: a class or a name
        except csv.Error:
            dialect = "excel"
        rows = list(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error:
        return Reading(Counter(), is_told=True)
    return Reading(cells_of(rows[0], rows[1:], key), is_told=False)


def by_pandas(path: Path, key: str) -> Reading:
    """Read a file by pandas, its delimiter told by it; of rows that are too long it warns."""
    import pandas

    options: dict[str, Any] = {
        "sep": None,
        "engine": "python",
        "index_col": False,
        "on_bad_lines": "warn",
    }  # Any: its own
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            frame = pandas.read_csv(io.StringIO(_decoded(path)), dtype=str, keep_default_na=False, **options)
        except (ValueError, csv.Error):
            return Reading(Counter(), is_told=True)
    rows = frame.fillna("").astype(str).to_numpy().tolist()
    return Reading(cells_of([str(name) for name in frame.columns], rows, key), is_told=bool(told))


def by_duckdb(path: Path, key: str, *, with_rejects: bool = False) -> Reading:
    """Read a file by DuckDB as it does by itself, or leniently: then rows that it rejects are told."""
    import duckdb

    query = f"select * from read_csv(?, all_varchar = true, store_rejects = {with_rejects})"
    with tempfile.NamedTemporaryFile("w", suffix=path.suffix, encoding="utf-8", newline="") as copy:
        copy.write(_decoded(path))
        copy.flush()
        with duckdb.connect() as base:
            try:
                found = base.execute(query, [copy.name])
            except duckdb.Error:
                return Reading(Counter(), is_told=True)
            names = [column[0] for column in found.description]
            rows = [["" if cell is None else cell for cell in row] for row in found.fetchall()]
            rejected = base.execute("select count(*) from reject_errors").fetchone() if with_rejects else None
    return Reading(cells_of(names, rows, key), is_told=bool(rejected and rejected[0]))


def by_orienteer(path: Path, key: str) -> Reading:
    """Read a file as an import does: a refusal, and a dropped row, are told."""
    dropped: list[str] = []
    cells: Cells = Counter()
    try:
        table = table_of(path, is_named=True)
        for batch in table.batches(rows=5_000, drop=lambda reason, line, value: dropped.append(reason)):
            names = list(batch.columns)
            rows = zip(*batch.columns.values(), strict=True)
            cells += cells_of(names, [["" if cell is None else str(cell) for cell in row] for row in rows], key)
    except Error:
        return Reading(Counter(), is_told=True)
    return Reading(cells, is_told=bool(dropped))


def report_lines(path: Path) -> set[str]:
    """Return what an import of a file says is not as it should be, without the folder, and without how many."""
    try:
        report = import_graph([path], None)
    except Error as error:
        lines: Iterable[str] = [str(error)]
    else:
        cuts = (cut.reason for cut in (*report.dropped, *report.merged))
        files = (f"{file.file}: {file.reason}" for file in (*report.ignored, *report.unreadable))
        lines = (*report.notes, *cuts, *files)
    return {re.sub(r"\d+", "#", line.replace(str(path.parent), "")) for line in lines}


READERS: Mapping[str, tuple[str, Callable[[Path, str], Reading]]] = {
    "csv": ("csv", by_csv),
    "pandas": ("pandas", by_pandas),
    "duckdb": ("duckdb", by_duckdb),
    "rejects": ("duckdb", partial(by_duckdb, with_rejects=True)),
    "ours": ("orienteer", by_orienteer),
}
"""Readers, and the packages that they need."""


def f1_of(found: Cells, truth: Cells) -> float:
    """Return the F1 of cells."""
    whole = found.total() + truth.total()
    return 2 * (found & truth).total() / whole if whole else 1.0


class Score(NamedTuple):
    """A reader on a file."""

    f1: float
    is_honest: bool


def scores_of(folder: Path, name: str, table: Clean, spoiled: Spoiled, readers: Iterable[str]) -> dict[str, Score]:
    """Write a spoiled file, and let each reader read it."""
    path = folder / f"{name}{table.suffix}"
    path.write_bytes(spoiled.content)
    key = table.head[0]
    truth = cells_of(table.head, spoiled.rows, key)
    scores = {}
    for reader in readers:
        cells, is_told = READERS[reader][1](path, key)
        f1 = f1_of(cells, truth)
        if reader == "ours" and f1 < 1 and not is_told:
            twin = folder / "clean" / path.name
            twin.parent.mkdir(exist_ok=True)
            twin.write_text(table.text(), encoding="utf-8")
            is_told = bool(report_lines(path) - report_lines(twin))
        scores[reader] = Score(f1, f1 == 1 or is_told)
    return scores


def main() -> None:
    """Spoil tables, read them, and print the figures by spoil."""
    parser = command_line(__doc__)
    parser.add_argument("--files", type=int, default=2_000, help="spoiled files (2,000)")
    parser.add_argument("--seed", type=int, default=7, help="of the tables and the spoils (7)")
    parser.add_argument("--only", action="append", default=[], choices=list(SPOILS), help="only this spoil")
    parser.add_argument("--keep", type=Path, help="leave the files here")
    args = parser.parse_args()
    readers = [name for name, (package, _) in READERS.items() if importlib.util.find_spec(package)]
    kinds = args.only or list(SPOILS)
    scores: dict[str, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    folder = args.keep or Path(tempfile.mkdtemp(prefix="orienteer-spoiled-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for place in range(args.files):
            chance = random.Random(f"{args.seed}-{place}")
            kind, table = kinds[place % len(kinds)], clean_table(chance)
            name = f"{place:05}-{kind.replace(' ', '-')}"
            for reader, score in scores_of(folder, name, table, SPOILS[kind](table, chance), readers).items():
                scores[kind][reader].append(score)
    finally:
        if args.keep is None:
            shutil.rmtree(folder)
    print_table(scores, readers)
    write_json(args.json, {kind: dict(found) for kind, found in scores.items()})


def print_table(scores: Mapping[str, Mapping[str, list[Score]]], readers: Sequence[str]) -> None:
    """Print the mean F1 and the share of honest files by spoil and reader."""
    everything = {name: [score for found in scores.values() for score in found[name]] for name in readers}
    names = "".join(f"{name:>8}" for name in readers)
    print(f"{'':20}{'files':>6}   F1{names}   honest{names}")
    for kind, found in [*scores.items(), ("all", everything)]:
        means = "".join(f"{sum(score.f1 for score in found[name]) / len(found[name]):8.3f}" for name in readers)
        honest = "".join(f"{sum(score.is_honest for score in found[name]) / len(found[name]):8.0%}" for name in readers)
        print(f"{kind:20}{len(found[readers[0]]):6}     {means}         {honest}")


if __name__ == "__main__":
    main()
