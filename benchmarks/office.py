"""Make the folder `office` of the benchmark `folders.py`: what the harbour office of an invented town has lying about.

    python benchmarks/office.py TARGET

Hand-written documents stand in folders/office.md, each under a line `@@ PATH`, whose suffix says what file is made of
it; the words of everything else, minutes, mails and tables that look alike, stand in folders/office.toml. The same
files come of it each time. It needs openpyxl and python-pptx, of the extra `test`; Word and PDF are written
here.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from report import command_line

HERE = Path(__file__).parent / "folders"
SEED = 20221
YEARS = range(2018, 2023)
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SLOT = re.compile(r"\{(\w+)\}")
Block = tuple[str, str]
"""The kind of a line (`title`, `head`, `item`, `text`) and its words."""
Row = list[Any]  # Any: words and numbers


class Words:
    """Random choices that are the same under every Python, and phrases made of them."""

    def __init__(self, about: Mapping[str, Any], seed: int) -> None:  # Any: TOML
        self.about = about
        self._random = random.Random(seed)

    def below(self, size: int) -> int:
        """Return a number from 0 to size - 1."""
        return int(self._random.random() * size)

    def one(self, some: Sequence[Any]) -> Any:  # Any: what stands in the list
        """Return one of some."""
        return some[self.below(len(some))]

    def phrase(self, pattern: str) -> str:
        """Fill the slots of a pattern, each with something else than the slot before."""
        used: set[str] = set()

        def fill(found: re.Match[str]) -> str:
            left = [one for one in self.about["slots"][found[1]] if one not in used]
            used.add(chosen := self.one(left))
            return str(chosen)

        said = _SLOT.sub(fill, pattern)
        return said[0].upper() + said[1:]

    def paragraph(self, topic: Mapping[str, Sequence[str]]) -> str:
        """Put a paragraph together: how it begins, goes on and ends."""
        return " ".join(self.phrase(self.one(topic[part])) for part in ("first", "middle", "last"))

    def two(self, some: Sequence[Any]) -> list[Any]:  # Any: what stands in the list
        """Return two different ones of some."""
        first = self.below(len(some))
        return [some[first], some[(first + 1 + self.below(len(some) - 1)) % len(some)]]

    def item(self, topic: Mapping[str, Sequence[str]]) -> str:
        """Put two paragraphs together that begin, go on and end differently."""
        pairs = [self.two(topic[part]) for part in ("first", "middle", "last")]
        return "\n".join(" ".join(self.phrase(one) for one in part) for part in zip(*pairs, strict=True))


def written() -> Iterator[tuple[str, str]]:
    """Yield the hand-written documents: path and Markdown."""
    for part in (HERE / "office.md").read_text(encoding="utf-8").split("@@ ")[1:]:
        path, _, text = part.partition("\n")
        yield path.strip(), text.strip() + "\n"


def blocks(text: str) -> list[Block]:
    """Part Markdown into titles, headings, items and paragraphs."""
    kinds = {"# ": "title", "## ": "head", "- ": "item"}
    found = []
    for line in filter(None, (one.strip() for one in text.splitlines())):
        mark = next((one for one in ("## ", "# ", "- ") if line.startswith(one)), "")
        found.append((kinds.get(mark, "text"), line.removeprefix(mark)))
    return found


def docx(text: str) -> bytes:
    """Return a Word file with headings."""
    styles = {"title": "Heading1", "head": "Heading2"}
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{styles.get(kind, "Normal")}"/></w:pPr>'
        f'<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r></w:p>'
        for kind, words in blocks(text)
    )
    named = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{label}"/></w:style>'
        for name, label in (("Normal", "Normal"), ("Heading1", "heading 1"), ("Heading2", "heading 2"))
    )
    office, package = "http://schemas.openxmlformats.org", "application/vnd.openxmlformats"
    word = f"{package}-officedocument.wordprocessingml"
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types">'
        f'<Default Extension="rels" ContentType="{package}-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{word}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{word}.styles+xml"/></Types>',
        "_rels/.rels": _relation(office, "officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": _relation(office, "styles", "styles.xml"),
        "word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {space}>{named}</w:styles>",
    }
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2022, 1, 1, 0, 0, 0)), head + content)
    return held.getvalue()


def _relation(office: str, kind: str, target: str) -> str:
    relation = f"{office}/officeDocument/2006/relationships/{kind}"
    return (
        f'<Relationships xmlns="{office}/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{relation}" Target="{target}"/></Relationships>'
    )


def pdf(text: str) -> bytes:
    """Return a PDF in Helvetica, A5, wrapped, with a page number at the foot of each page."""
    lines: list[tuple[int, str]] = []  # size of type and words; empty words for a gap
    for kind, words in blocks(text):
        size = {"title": 18, "head": 14}.get(kind, 11)
        lines += [(8, ""), *((size, one) for one in _wrapped(words, 62 * 11 // size))]
    pages: list[list[str]] = [[]]
    height = 540
    for size, words in lines:
        if height - size < 60:
            pages.append([])
            height = 540
        height -= size + 3
        if words:
            safe = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            pages[-1].append(f"BT /F1 {size} Tf 40 {height} Td ({safe}) Tj ET")
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids = []
    for number, page in enumerate(pages, 1):
        stream = "\n".join([*page, f"BT /F1 8 Tf 205 25 Td ({number}) Tj ET"])
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
        kids.append(len(objects) + 1)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(f'{one} 0 R' for one in kids)}] /Count {len(kids)} >>"
    return _pdf_file(objects)


def _pdf_file(objects: Sequence[str]) -> bytes:
    held, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(held))
        held += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(held)}\n%%EOF\n"
    return held + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def _wrapped(words: str, width: int) -> list[str]:
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def pptx(text: str) -> bytes:
    """Return a deck: a title slide, and a slide for each heading."""
    slides: list[tuple[str, list[str]]] = []
    for kind, words in blocks(text):
        if kind in ("title", "head"):
            slides.append((words, []))
        else:
            slides[-1][1].append(words)
    return deck(slides, has_title=True)


def deck(slides: Sequence[tuple[str, Sequence[str]]], *, has_title: bool) -> bytes:
    """Return a deck of headings and lines; the first may be its title."""
    from pptx import Presentation

    made = Presentation()
    for number, (head, lines) in enumerate(slides):
        slide: Any = made.slides.add_slide(made.slide_layouts[0 if has_title and not number else 1])
        slide.shapes.title.text = head
        slide.placeholders[1].text = "\n".join(lines)
    held = io.BytesIO()
    made.save(held)
    return still(held.getvalue())


def eml(text: str) -> bytes:
    """Return a mail: its head is what stands before the first empty line."""
    head, _, body = text.partition("\n\n")
    message = EmailMessage()
    for line in head.splitlines():
        name, _, value = line.partition(": ")
        message[name] = value
    message.set_content(body)
    return message.as_bytes()


def xlsx(sheets: Mapping[str, Sequence[Row]]) -> bytes:
    """Return a workbook."""
    from openpyxl import Workbook  # type: ignore[import-untyped]

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    held = io.BytesIO()
    book.save(held)
    return still(held.getvalue())


def still(content: bytes, year: int = 2022, compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return an office file as if it had been written at a time that never changes."""
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as given, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in given.namelist():
            part = given.read(name)
            if name == "docProps/core.xml":
                part = _TIME.sub(f"{year}-01-01T00:00:00Z".encode(), part)
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), part, compression)
    return held.getvalue()


def table(rows: Sequence[Row]) -> bytes:
    """Return a CSV file."""
    held = io.StringIO()
    csv.writer(held, lineterminator="\n").writerows(rows)
    return held.getvalue().encode()


MAKERS: Mapping[str, Callable[[str], bytes]] = {".docx": docx, ".pdf": pdf, ".pptx": pptx, ".eml": eml}


def minutes(words: Words, own: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the minutes of each month, with the item that was written for it before its last."""
    topics = words.about["topics"]
    for year in YEARS:
        for month in range(1, 13):
            path = f"minutes/{year}-{month:02}.docx"
            items = [f"## {name}\n{in_office(words.item(topic), year)}" for name, topic in topics.items()]
            when = date(year, month, 3 + words.below(20))
            title = f"# Minutes of the harbour board, {when:%-d %B %Y}"
            yield path, docx("\n".join([title, *items[:-1], own.get(path, ""), items[-1]]))


def in_office(text: str, year: int) -> str:
    """Put those in the place of their successors who held it in that year."""
    if year < 2020:
        text = text.replace("Tobias Renfrew", "Ingrid Sallow").replace("Constance Abery", "Lionel Abery")
    return text


def mails(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield everyday mails that look alike."""
    about = words.about["mail"]
    for number in range(45):
        when = date(2019, 1, 4) + timedelta(days=31 * number + words.below(20))
        sender = words.phrase("{person}").split()[-1].lower()
        head = f"From: {sender}@marrowick-harbour.example\nTo: office@marrowick-harbour.example"
        subject = words.phrase(words.one(about["subjects"]))
        body = f"{in_office(words.paragraph(about), when.year)}\n\n{words.phrase('{person}').split()[0]}"
        yield (
            f"mail/{when}-{number:02}.eml",
            eml(f"{head}\nDate: {when:%a, %d %b %Y} 09:12:00 +0000\nSubject: {subject}\n\n{body}"),
        )


def yearly(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield the annual reports."""
    topics = words.about["topics"]
    for year in range(2016, 2023):
        parts = [f"# Annual report {year}"]
        for name in ("Traffic", "Repairs and upkeep", "Dues", "Safety", "Moorings", "Neighbours", "Staff"):
            parts += [f"## {name}", *(in_office(words.item(topics[name]), year) for _ in range(2))]
        calls, landed = 2100 + words.below(600), 7900 + words.below(1500)
        parts += [
            "## The year in figures",
            f"The harbour counted {calls:,} calls and {landed:,} tonnes landed in {year}.",
        ]
        yield f"reports/annual-{year}.pdf", pdf("\n".join(parts))


def tariffs(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield the tariff of each year: dues by class and length, services, storage."""
    about = words.about["tariffs"]
    for year in range(2016, 2024):
        rate = 1 + 0.03 * (year - 2016)
        dues: list[Row] = [["Class", "Length from, m", "Length to, m", "Per night, crowns", "Per year, crowns"]]
        for number, (name, base) in enumerate(about["classes"]):
            for length in range(0, 60, 6):
                price = round(base * (1 + length / 7) * rate, 1)
                dues.append([name, length, length + 6, price, round(price * (88 + 3 * number))])
        served: list[Row] = [
            ["Service", "Crowns", "Remark"],
            *(
                [name, round(cost * rate, 1), "" if cost < 1000 else "by appointment"]
                for name, cost in about["services"]
            ),
        ]
        stored: list[Row] = [
            ["Goods", "Free days", "Crowns a day, covered", "Crowns a day, open"],
            *(
                [name, (number * 5) % 9 + 1, round((7 + number) * rate, 1), round((3 + number) * rate, 1)]
                for number, name in enumerate(about["goods"])
            ),
        ]
        yield f"tariffs/tariff-{year}.xlsx", xlsx({"Dues": dues, "Services": served, "Storage": stored})


def rosters(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield the rosters of two years, by quarter: pilots, watch and crane of each day."""
    about = words.about["rosters"]
    for year in (2021, 2022):
        for quarter in range(4):
            start = date(year, 3 * quarter + 1, 1)
            end = date(year + (quarter == 3), (3 * quarter + 3) % 12 + 1, 1)
            days = [start + timedelta(days=one) for one in range((end - start).days)]
            pilots: list[Row] = [[f"{day}", *words.two(about["pilots"]), words.below(5)] for day in days]
            watch: list[Row] = [
                [f"{day}", *words.two(about["watch"]), words.one(("", "", "", "swapped", "half"))] for day in days
            ]
            crane: list[Row] = [
                [f"{day}", words.one(about["crane"]), f"{words.below(9) + 1} lifts"]
                for day in days
                if day.weekday() < 5
            ]
            yield (
                f"rosters/roster-{year}-q{quarter + 1}.xlsx",
                xlsx(
                    {
                        "Pilots": [["Date", "First pilot", "Second pilot", "Ships"], *pilots],
                        "Watch": [["Date", "Day", "Night", "Remark"], *watch],
                        "Crane": [["Date", "Driver", "Work"], *crane],
                    }
                ),
            )


def stores(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield the counts of the stores: a sheet for each place."""
    about = words.about["stores"]
    for year in (2020, 2022):
        sheets: dict[str, list[Row]] = {}
        for place in about["places"]:
            rows: list[Row] = [["Number", "Item", "Lot", "Shelf", "In stock", "Least", "Supplier"]]
            for number in range(60):
                item = about["items"][(number * 7 + words.below(2)) % len(about["items"])]
                size = f"lot {words.one('JKLMNPRST')}{words.below(90) + 10}"
                code = f"{place[0]}{year % 100}-{number + 101}"
                shelf = f"{words.one('ABCDEF')}{words.below(9) + 1}"
                rows.append([code, item, size, shelf, words.below(80), words.below(12), words.one(about["firms"])])
            sheets[place] = rows
        yield f"stores/count-{year}.xlsx", xlsx(sheets)


def ships(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield the register of vessels, the berths, and the arrivals of three years."""
    about = words.about["ships"]
    fixed, half, rest, berths = (about[part] for part in ("fixed", "half", "rest", "berths"))
    known = (*fixed, *words.about["slots"]["boat"])
    names = [*known, *(f"{one} {two}" for one in half for two in rest)]
    rows: list[Row] = [["Number", "Name", "Skipper", "Length m", "Built", "Home port", "Berth"]]
    for number, name in enumerate(names):
        skipper = f"{words.one(about['first_names'])} {words.one(about['skippers'])}"
        if skipper in {one[0] for one in fixed.values()}:  # they have one boat each
            skipper = f"Edda {skipper.split()[1]}"
        who, length, built = fixed.get(name, (skipper, round(6 + 0.1 * words.below(220), 1), 1955 + words.below(66)))
        port = words.one(("Marrowick", "Marrowick", "Ossel", "Calder Bay", "Skarn"))
        rows.append([f"MK{number + 201}", name, who, length, built, port, words.one(berths)])
    yield "registers/vessels.csv", table(rows)
    shape: list[Row] = [["Berth", "Old number", "New number", "Length m", "Depth at lowest tide m", "Shore power"]]
    for number, berth in enumerate(berths):
        shape.append(
            [
                berth,
                7 - number,
                number + 11,
                40 + 17 * number,
                about["depths"][number],
                ("none", "32 A", "63 A")[number % 3],
            ]
        )
    yield "registers/berths.csv", table(shape)
    for year in (2019, 2020, 2021):
        calls: list[Row] = [["Date", "Time", "Vessel", "From", "Cargo", "Tonnes", "Berth"]]
        for number in range(400):
            day = date(year, 1, 1) + timedelta(days=number * 364 // 400)
            calls.append(
                [
                    f"{day}",
                    f"{words.below(24):02}:{words.below(60):02}",
                    words.one(names),
                    words.one(("sea", "sea", "Ossel", "Calder Bay", "Skarn")),
                    words.one(about["cargo"]),
                    round(0.1 * words.below(300), 1),
                    words.one(berths),
                ]
            )
        yield f"exports/arrivals-{year}.csv", table(calls)


def machines(words: Words) -> Iterator[tuple[str, bytes]]:
    """Yield a notebook and a log."""
    cells = words.about["notebook"]["cells"]
    book = {
        "cells": [
            {
                "cell_type": kind,
                "metadata": {},
                "source": text.splitlines(keepends=True),
                **({"outputs": [], "execution_count": None} if kind == "code" else {}),
            }
            for kind, text in cells
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    yield "analysis/tide-residuals.ipynb", json.dumps(book, indent=1).encode()
    lines = []
    now = datetime(2022, 2, 14, 18, 0, tzinfo=UTC)
    said = words.about["log"]["said"]
    for number in range(420):
        now += timedelta(seconds=40 + words.below(160))
        lines.append(f"{now:%Y-%m-%d %H:%M:%S} INFO  tower {words.phrase(words.one(said)).lower()}")
        if number == 133:
            lines.append(f"{now:%Y-%m-%d %H:%M:%S} ERROR radar magnetron overcurrent, tripped; kettle suspected")
        if number == 251:
            lines.append(f"{now:%Y-%m-%d %H:%M:%S} WARN  gate barrier arm struck by vehicle, plate unreadable")
    yield "logs/tower-2022-02-14.log", ("\n".join(lines) + "\n").encode()


def make_office(target: Path) -> int:
    """Write the folder, and return how many files it has."""
    about = tomllib.loads((HERE / "office.toml").read_text(encoding="utf-8"))
    about["stores"]["firms"] = about["slots"]["firm"]
    own = dict(written())
    items = {path: text for path, text in own.items() if path.startswith("minutes/")}
    files = {path: MAKERS.get(Path(path).suffix, str.encode)(text) for path, text in own.items() if path not in items}
    for number, some in enumerate((mails, yearly, rosters, stores, ships, machines)):
        files |= dict(some(Words(about, SEED + number)))
    files |= dict(minutes(Words(about, SEED + 100), items)) | dict(tariffs(Words(about, SEED)))
    for path, content in files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(content)
    return len(files)


if __name__ == "__main__":
    parser = command_line(__doc__, ())
    parser.add_argument("target", type=Path)
    print(f"{make_office(parser.parse_args().target)} files")
