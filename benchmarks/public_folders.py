"""Make the folders `den` and `solar` of the benchmark `folders.py` out of Debian packages and source packages of PyPI.

    python benchmarks/public_folders.py DATA      (makes DATA/den and DATA/solar; downloads are kept in DATA/dl)

`den` is what a person has on a home computer: help of a money program, a manual of a home server, game guides, family
tree and laboratory manuals, mails, logs, configurations. `solar` is the shared folder of a solar energy project. What
is copied stands in folders/public.toml. What the packages do not have as Word, PowerPoint, Excel, PDF or mail is
converted here from their own text: nothing is invented, and the original page is left out. The documents are not ours,
so only this recipe is kept.

It needs apt-get and dpkg-deb of Debian 12, catdoc, pip, and the packages beautifulsoup4, openpyxl, python-docx,
python-pptx and reportlab. With the same versions of these the same files come of it each time. A Debian package whose
version is gone is taken in the current one, and that is said.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from email.message import EmailMessage
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

import office
from report import command_line

RECIPE = tomllib.loads((office.HERE / "public.toml").read_text(encoding="utf-8"))
YEAR = 2020
"""When the office files say that they were written."""
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
ROLE = re.compile(r":[\w:]+:`[~!]?([^`<]+?)(?: <[^>]*>)?`")
At: TypeAlias = Mapping[str, Path]
"""Where each package lies."""
Part: TypeAlias = tuple[str, str | list[list[str]]]
"""A part of a document: its kind (`h1` to `h5`, `p`, `li`, `pre`, `table`), and its text or rows."""


def fetch(kept: Path) -> dict[str, Path]:
    """Download and unpack what is not there yet, and return where each package lies."""
    at = {}
    for name, version in RECIPE["debs"].items():
        at[name] = kept / "x" / name
        if not at[name].exists():
            _fetch_deb(name, version, kept / "deb", at[name])
    for name, version in RECIPE["sdists"].items():
        at[name] = kept / "sx" / f"{name}-{version}"
        if not at[name].exists():
            archive = kept / "sd" / f"{name}-{version}.tar.gz"
            if not archive.exists():
                archive.parent.mkdir(parents=True, exist_ok=True)
                load = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d"]
                subprocess.run([*load, str(archive.parent), f"{name}=={version}"], check=True)
            with tarfile.open(archive) as tar:
                tar.extractall(kept / "sx", filter="data")
    return at


def _fetch_deb(name: str, version: str, kept: Path, target: Path) -> None:
    kept.mkdir(parents=True, exist_ok=True)
    if not list(kept.glob(f"{name}_*.deb")):
        wanted = ["apt-get", "download", f"{name}={version}"]
        if subprocess.run(wanted, cwd=kept, check=False).returncode:
            sys.stderr.write(f"{name} {version} is gone; taking the current one\n")
            subprocess.run(["apt-get", "download", name], cwd=kept, check=True)
    target.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", str(next(kept.glob(f"{name}_*.deb"))), str(target)], check=True)


def write(content: bytes, target: Path) -> None:
    """Write a file, and the folders it lies in."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def copy(at: At, line: Mapping[str, Any], target: Path) -> None:  # Any: TOML
    """Copy what a line of the recipe names, unpacked. Raises `FileNotFoundError` if a file is not there."""
    package, _, inner = line["from"].partition("/")
    without = [one[1:] for one in line["files"] if one.startswith("!")]
    for one in line["files"]:
        pattern, _, name = one.partition(" -> ")
        source = at[package] / inner
        found = sorted(source.glob(pattern)) or sorted(source.glob(f"{pattern}.gz"))
        if not found and not one.startswith("!"):
            raise FileNotFoundError(f"{source} has no {pattern}")
        for path in found:
            if path.is_file() and not any(fnmatch(path.name, each) for each in without):
                content = path.read_bytes()
                content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
                write(content, target / line["to"] / (name or path.name.removesuffix(".gz")))


def parts_of(page: Path) -> list[Part]:
    """Return the headings, paragraphs, list items and tables of a page of HTML, in order."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(page.read_text(encoding="utf-8", errors="replace"), "html.parser")
    for gone in soup.select("div.toc, script, style, header, footer"):
        gone.decompose()
    found: list[Part] = []
    for tag in soup.find_all(["h1", "h2", "h3", "h4", "h5", "p", "li", "table", "pre"]):
        if tag.name == "table":
            found.append(("table", _rows_of(tag)))
        elif not tag.find_parent("table") and not (tag.name == "li" and tag.find("p")):
            text = tag.get_text() if tag.name == "pre" else " ".join(tag.get_text().split())
            kind = "li" if tag.name == "p" and tag.find_parent("li") else tag.name
            if (text or tag.name != "p") and found[-1:] != [(kind, text)]:
                found.append((kind, text))
    return found


def _rows_of(tag: Any) -> list[list[str]]:  # Any: a tag or a string
    for image in tag.find_all("img"):  # icons for yes and no
        image.replace_with({"(./)": "yes", "{*}": "yes", "{X}": "no", "{o}": "no"}.get(image.get("alt"), ""))
    lines = [row.find_all(["td", "th"]) for row in tag.find_all("tr")]
    return [[" ".join(cell.get_text(" ").split()) for cell in line] for line in lines if line]


def plain(text: str) -> list[tuple[str, str]]:
    """Return headings and paragraphs of a simple text in RST or Markdown, without its marks."""
    text = re.sub(r"^\.\. .*\n(?:[ \t]+.*\n)*", "", text, flags=re.M)
    text = re.sub(r":[\w:]+:`~?([^`<]+?)(?: <[^>]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<]+?)\s*<[^>]*>`_+|`([^`]+)`_", lambda found: found[1] or found[2], text)
    found: list[tuple[str, str]] = []
    for block in re.split(r"\n\s*\n", text.replace("``", "").replace("**", "")):
        lines = block.strip("\n").splitlines()
        if len(lines) >= 2 and re.fullmatch(r"([=\-^~\"#*+])\1{2,}", lines[1].strip()):
            found.append(("h1" if lines[1][0] == "=" else "h2", lines[0].strip()))
            lines = lines[2:]
        if lines and re.match(r"#+ ", lines[0]):
            found.append(("h2", lines[0].lstrip("# ")))
            lines = lines[1:]
        if lines and lines[0].strip():
            is_list = re.match(r"\s*(\d+\.|[*-]) ", lines[0])
            items = re.split(r"\n(?=\s*(?:\d+\.|[*-]) )", "\n".join(lines)) if is_list else ["\n".join(lines)]
            found += [("p", " ".join(item.split())) for item in items]
    return found


def _still(content: bytes) -> bytes:
    return office.still(content, YEAR, zipfile.ZIP_DEFLATED)


def docx(parts: Sequence[Part]) -> bytes:
    """Return a Word file with headings, lists and tables."""
    from docx import Document

    document = Document()
    for kind, what in parts:
        if isinstance(what, list):
            table = document.add_table(rows=0, cols=max(len(row) for row in what))
            table.style = "Table Grid"
            for row in what:
                for cell, text in zip(table.add_row().cells, row, strict=False):
                    cell.text = text
            continue
        text = re.sub(r"[\x00-\x08\x0b-\x1f]", " ", what)
        if kind[0] == "h":
            document.add_heading(text, level=max(1, int(kind[1]) - 1))
        else:
            document.add_paragraph(text, style="List Bullet" if kind == "li" else None)
    held = io.BytesIO()
    document.save(held)
    return _still(held.getvalue())


def pdf(parts: Sequence[tuple[str, str]], title: str) -> bytes:
    """Return a PDF with headings."""
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

    styles, story = getSampleStyleSheet(), []
    for kind, text in parts:
        style = {"h1": "Title", "h2": "Heading2"}.get(kind, "BodyText")
        story += [Paragraph(escape(text), styles[style]), Spacer(1, 4)]
    held = io.BytesIO()
    SimpleDocTemplate(held, title=title, invariant=1).build(story)
    return held.getvalue()


def cell(text: str) -> int | float | str:
    """Return what a cell holds: a number if it can be read as one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def cells(table: Path) -> list[office.Row]:
    """Return the rows of a CSV file."""
    with table.open(encoding="utf-8", newline="") as file:
        return [[cell(text) for text in row] for row in csv.reader(file)]


def mailbox(mails: Sequence[bytes], sender: bytes) -> bytes:
    """Return a mailbox of mails, each under a line of its sender and date."""
    return b"".join(b"From " + sender + b"\n" + re.sub(rb"^From ", b">From ", one, flags=re.M) for one in mails)


def server(manual: Path, to: Path) -> None:
    """Lay down the manual of the home server."""
    for page in sorted(manual.glob("*.part.html")):
        name = page.name.removesuffix(".part.html")
        if name in RECIPE["manual"]["left_out"]:
            continue
        if name in RECIPE["manual"]["word"]:
            write(docx(parts_of(page)), to / f"{RECIPE['manual']['word'][name]}.docx")
        elif name == "Introduction":
            write(
                _still(office.deck(list(slides_of(parts_of(page))), has_title=False)), to / "What a FreedomBox is.pptx"
            )
        elif name == "Firewall":
            tables = [what for _, what in parts_of(page) if isinstance(what, list)]
            sheets = {f"ports {number}": rows for number, rows in enumerate(tables, 1)}
            write(_still(office.xlsx(sheets)), to / "firewall ports.xlsx")
        else:
            head = f"<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>{name}</title></head><body>\n"
            body = page.read_text(encoding="utf-8")
            write(f"{head}{body}\n</body></html>\n".encode(), to / "freedombox" / f"{name}.html")


def slides_of(parts: Sequence[Part]) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading that has text of its own, and that text."""
    slides: list[tuple[str, list[str]]] = []
    for kind, text in parts:
        if isinstance(text, str) and kind[0] == "h":
            slides.append((text, []))
        elif isinstance(text, str) and kind in ("p", "li") and slides:
            slides[-1][1].append(text)
    return (slide for slide in slides if slide[1])


def aptitudes(text: str) -> dict[str, list[office.Row]]:
    """Return the table of a game's text, and the lines around it."""
    notes, rows = list[office.Row](), list[office.Row]()
    for line in map(str.strip, text.splitlines()):
        found = re.split(r"\s{2,}|(?<=[\d-])\s+(?=[-+\d])", line)
        if re.match(r"-{5,}", line) or not line:
            continue
        if line.split()[:2] == ["Arm", "Ddg"]:
            if not rows:
                rows.append(["Species", *line.replace("|", " ").split()])
        elif len(found) >= 6:
            rows.append([one if one.startswith("+") else cell(one) for one in found])
        else:
            notes.append([line])
    return {"notes": notes, "aptitudes": rows}


def den(at: At, to: Path) -> None:
    """Make what of `den` is not copied."""
    server(at["freedombox-doc-en"] / "usr/share/freedombox/manual/en", to / "server")
    for name in RECIPE["logs"]:  # without the notes of the testers
        tests = at["fail2ban"] / "usr/lib/python3/dist-packages/fail2ban/tests"
        lines = (tests / "files/logs" / name).read_bytes().splitlines(keepends=True)
        kept = (line for line in lines if line.strip() and not line.startswith(b"#"))
        write(b"".join(kept), to / "server/logs" / f"{name}.log")
    mails = []
    for name in RECIPE["mails"]:
        path = at["hyperkitty"] / "hyperkitty/tests/testdata" / f"{name}.txt"
        text = path.read_bytes().rstrip() + b"\n\n"
        mails.append(text.partition(b"\n")[2] if text.startswith(b"From ") else text)
    write(mailbox(mails, b"someone Mon Jan  1 00:00:00 2018"), to / "mail/lists.mbox")
    wide = (at["crawl-common"] / "usr/share/crawl/docs/aptitudes-wide.txt").read_text(encoding="utf-8")
    write(_still(office.xlsx(aptitudes(wide))), to / "games/crawl/aptitudes.xlsx")


def release(page: Path) -> EmailMessage:
    """Return what is new in a release as a mail."""
    text = re.sub(r"^\.\. _.*\n", "", page.read_text(encoding="utf-8"), flags=re.M)
    text = ROLE.sub(r"\1", text).replace("``", "").strip() + "\n"
    when = re.search(rf"\(({MONTHS})\w*\.? (\d+),? (\d{{4}})\)", text)
    mail = EmailMessage()
    mail["From"] = "pvlib python maintainers <maintainers@pvlib.example>"
    mail["To"] = "pvlib python users <users@pvlib.example>"
    mail["Subject"] = f"pvlib python {page.stem} released"
    if when:
        mail["Date"] = f"{int(when[2])} {when[1]} {when[3]} 12:00:00 +0000"
    mail["Message-ID"] = f"<{page.stem}@pvlib.example>"
    mail.set_content(text, cte="8bit")
    return mail


def webinar(notebook: Path) -> list[tuple[str, list[str]]]:
    """Return the slides of a notebook: headings, what stands under them, and how code begins."""
    slides: list[tuple[str, list[str]]] = []
    for one in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(one["source"]).strip()
        if one["cell_type"] == "markdown":
            text = re.sub(r"<[^>]+>", "", text).strip()
            lines = [line for line in text.splitlines() if line.strip()]
            head = re.match(r"#+\s*(.*)", text)
            if head:
                slides.append((head[1].strip(), lines[1:]))
            elif slides:
                slides[-1][1].extend(lines)
        elif one["cell_type"] == "code" and slides:
            slides[-1][1].extend(text.splitlines()[:6])
    return slides


def printed(notebook: Path) -> str:
    """Return what the cells of a notebook printed."""
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [out for one in found for out in one.get("outputs", []) if out.get("output_type") == "stream"]
    lines = [line for out in outputs for line in "".join(out["text"]).splitlines()]
    return "\n".join(lines) + "\n"


def solar(at: At, to: Path) -> None:
    """Make what of `solar` is not copied."""
    news = sorted((at["pvlib"] / "docs/sphinx/source/whatsnew").glob("v0.1[0-4].*"))
    for page in news:
        if page.name.startswith("v0.10."):
            write(release(page).as_bytes(), to / "mail" / f"pvlib {page.stem} released.eml")
    later = [release(page).as_bytes() + b"\n" for page in news if not page.name.startswith("v0.10.")]
    write(mailbox(later, b"maintainers@pvlib.example Mon Jan  1 00:00:00 2024"), to / "mail/announcements.mbox")
    rows = [row[:14] for row in cells(at["pvlib"] / "pvlib/data/sam-library-sandia-modules-2015-6-30.csv")]
    write(_still(office.xlsx({"modules": [rows[0], *rows[3::4]]})), to / "data/sandia modules (every fourth).xlsx")
    turbines = {"turbines": cells(at["windpowerlib"] / "windpowerlib/oedb/turbine_data.csv")}
    write(_still(office.xlsx(turbines)), to / "wind/turbines.xlsx")
    text = (at["rdtools"] / "docs/sphinx/source/index.rst").read_text(encoding="utf-8")
    write(pdf(plain(text), "RdTools Overview"), to / "rdtools/RdTools overview.pdf")
    bifacial(at["bifacial_radiance"], to / "bifacial")


def bifacial(package: Path, to: Path) -> None:
    """Make what of `solar/bifacial` is not copied."""
    text = (package / "docs/sphinx/source/user_guide/package_overview.rst").read_text(encoding="utf-8")
    write(docx(plain(text)), to / "guide/package overview.docx")
    _, head, body = (package / "paper/paper.md").read_text(encoding="utf-8").split("---", 2)
    title = re.findall(r"^title: '(.*)'", head, re.M)[0]
    by = "Silvana Ayala Pelaez, Chris Deline. National Renewable Energy Laboratory (NREL). 15 October 2019"
    body = re.sub(r"!\[[^]]*\]\([^)]*\)(\{[^}]*\})?", "", body)
    write(pdf([("h1", title), ("p", by), *plain(body)], title), to / "JOSS paper.pdf")
    paper = package / "bifacial_radiance/data/gencumsky/Solar Irradiation Modelling.doc"
    told = subprocess.run(["catdoc", "-w", "-d", "utf-8", str(paper)], capture_output=True, check=True).stdout
    lines = [line for line in told.decode("utf-8").splitlines() if line.strip()]
    heads = re.compile(r"Stage \d|Solar Irradiation|References")
    parts = [("h2" if heads.match(line) else "p", line.strip()) for line in lines]
    write(docx(parts), to / "Solar Irradiation Modelling.docx")
    tutorials = package / "docs/tutorials"
    write(_still(office.deck(webinar(tutorials / "Webinar_Slides.ipynb"), has_title=False)), to / "Webinar slides.pptx")
    log = printed(next(tutorials.glob("2 - *.ipynb")))
    write(log.encode(), to / "runs/single axis yearly.log")


def main() -> None:
    """Make both folders."""
    parser = command_line(__doc__, ())
    parser.add_argument("data", type=Path)
    data: Path = parser.parse_args().data.resolve()
    at = fetch(data / "dl")
    for name, make in (("den", den), ("solar", solar)):
        shutil.rmtree(data / name, ignore_errors=True)
        for line in RECIPE["copies"][name]:
            copy(at, line, data / name)
        make(at, data / name)
        sizes = [path.stat().st_size for path in (data / name).rglob("*") if path.is_file()]
        print(f"{name}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
