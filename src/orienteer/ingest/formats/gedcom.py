"""GEDCOM: the people and the families of a family tree, as genealogy programs write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST
from orienteer.ingest.formats.letters import read_text
from orienteer.ingest.formats.nested import NestedTable
from orienteer.ingest.formats.table import columns_of

SUFFIXES = (".ged",)
TABLES = {"INDI": "person", "FAM": "family"}
"""The records that become tables."""
LINE = re.compile(r"\s*(\d{1,2}) +(?:(@[^@]+@) +)?(\w+)(?: (.*))?")
TAGS: Mapping[str, str] = {
    **{"NAME": "name", "GIVN": "given name", "SURN": "surname", "NICK": "nickname"},
    **{"SEX": "sex", "TITL": "title", "BIRT": "birth", "CHR": "christening"},
    **{"BAPM": "baptism", "DEAT": "death", "BURI": "burial", "MARR": "marriage"},
    **{"DIV": "divorce", "ENGA": "engagement", "DATE": "date", "PLAC": "place"},
    **{"OCCU": "occupation", "RESI": "residence", "EDUC": "education", "RELI": "religion"},
    **{"NATI": "nationality", "CAUS": "cause", "NOTE": "note", "ADDR": "address"},
    **{"HUSB": "husband", "WIFE": "wife", "CHIL": "child", "FAMC": "child in family"},
    **{"FAMS": "spouse in family", "EMIG": "emigration", "IMMI": "immigration", "EVEN": "event"},
    **{"CHAN": "changed"},
}
"""What tags mean."""
LEADS = {"INDI": ("FAM", ("child in family", "spouse in family")), "FAM": ("INDI", ("husband", "wife", "child"))}
"""By the tag of a table, the tag of the other one, and the columns that lead there."""


def tables_of(path: Path) -> list[NestedTable]:
    """Return the tables of people and of families. Raises `BadInput` for a file that has neither."""
    records: dict[str, list[dict[str, list[str]]]] = {tag: [] for tag in TABLES}
    stack: list[str] = []
    record: dict[str, list[str]] | None = None
    text, _ = read_text(path)
    for level, mark, tag, value in _lines(text):
        if level == 0:
            record = None
            if tag in TABLES:
                record = {"id": [mark.strip("@") or f"{tag}-{len(records[tag]) + 1}"]}
                records[tag].append(record)
        elif record is not None:
            del stack[level - 1 :]
            if tag not in ("CONC", "CONT"):
                stack.append(TAGS.get(tag, tag.lower()))
                _add(record, " ".join(stack), value)
            elif stack:  # it goes on with the value before it
                values = record.setdefault(" ".join(stack), [""])
                values[-1] += ("\n" if tag == "CONT" else "") + value
    tables = []
    for tag, several in records.items():
        rows = [{key: each[0] if len(each) == 1 else each for key, each in one.items()} for one in several]
        if rows:
            leads = dict.fromkeys(LEADS[tag][1], (LEADS[tag][0], "id"))
            tables.append(NestedTable(TABLES[tag], tag, columns_of(rows), leads))
    if not tables:
        raise BadInput(f"{path} holds no person and no family: is it a GEDCOM file?")
    return tables


def _lines(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield the level, mark, tag and value of each line; lines of another form say nothing."""
    for line in text.split("\n"):
        found = LINE.fullmatch(line.rstrip())
        if found is not None and int(found[1]) < DEEPEST:
            yield int(found[1]), found[2] or "", found[3].upper(), found[4] or ""


def _add(record: dict[str, list[str]], key: str, value: str) -> None:
    """Add a value to a record."""
    value = value.strip()
    if key == "name":
        value = re.sub(r" +", " ", value.replace("/", " ")).strip()  # slashes are about the surname
    elif re.fullmatch("@[^@]+@", value):
        value = value.strip("@")
    if value:
        record.setdefault(key, []).append(value)
