"""Small PDF, Word and spreadsheet files, made by hand, so that tests hold no binary files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

_TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/styles.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
_RELATIONS = """<?xml version="1.0"?><Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
 Target="word/document.xml"/></Relationships>"""
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_SPACE = " ".join(
    [
        'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
        f'xmlns:r="{_OFFICE}/relationships" xmlns:m="{_OFFICE}/math"',
        f'xmlns:a="{_DRAWING}/main" xmlns:wp="{_DRAWING}/wordprocessingDrawing" xmlns:c="{_DRAWING}/chart"',
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"',
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"',
    ]
)
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
    for level in (1, 2, 3)
)
_STYLES += '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
_ROOTS = {"header": "hdr", "footer": "ftr"}


def docx(path: Path, *, body: str, parts: Mapping[str, str] = {}, links: Mapping[str, str] = {}) -> None:
    """Write a Word file; `body` is its WordprocessingML. See `heading`, `paragraph`, `table`.

    `parts` are further ones by their kind, as `header` or `comments`, with what stands in their root, or, if it begins
    so, the whole XML; a number behind the kind parts several. `links` are the addresses of links by their id.
    """
    files = {"styles": _STYLES, **parts}
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/relationships/{name.rstrip("0123456789")}" Target="{name}.xml"/>'
        for name in files
    )
    relations += "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/relationships/hyperlink" Target="{to}" TargetMode="External"/>'
        for name, to in links.items()
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/_rels/document.xml.rels", f'<Relationships xmlns="{space}">{relations}</Relationships>')
        for name, content in files.items():
            root = _ROOTS.get(name.rstrip("0123456789"), name)
            whole = content if content.startswith("<?xml") else f"<w:{root} {_SPACE}>{content}</w:{root}>"
            archive.writestr(f"word/{name}.xml", whole)
        archive.writestr(
            "word/document.xml", f"<?xml version='1.0'?><w:document {_SPACE}><w:body>{body}</w:body></w:document>"
        )


def paragraph(text: str, *, style: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    lines = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


def pdf(path: Path, *pages: str, title: str = "", large: bool = False, password: bool = False) -> None:
    """Write a PDF with a page for each text; its lines stand one below the other."""
    streams = []
    for text in pages:
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        lines = lines.replace("Td ", "Td /F1 12 Tf ", 1) if large else lines
        streams.append(f"BT /F1 {24 if large else 12} Tf 72 720 Td {lines}ET")
    key = "00" * 32
    drawn_pdf(
        path,
        *streams,
        title=title,
        trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >> /ID [<00> <00>]"
        if password
        else "",
    )


def drawn_pdf(
    path: Path,
    *streams: str,
    title: str = "",
    catalog: str = "",
    trailer: str = "",
    page: str = "",
    resources: str = "",
    objects: dict[int, str] | None = None,
) -> None:
    """Write a PDF with a page for each stream of operators: `text_at` makes them. F1 is Helvetica, F2 Courier.

    Page n is object n * 10. Further `objects` have numbers of their own, and may take the place of a page.
    """
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /{} >>"
    numbered = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        2: f"<< /Type /Pages /Kids [{' '.join(f'{10 * at} 0 R' for at in range(1, len(streams) + 1))}] "
        f"/Count {len(streams)} >>",
        3: font.format("Helvetica"),
        4: font.format("Courier"),
        5: f"<< /Title ({title}) >>",
    }
    for at, stream in enumerate(streams, 1):
        numbered[10 * at] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {10 * at + 1} 0 R {page} "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> {resources} >> >>"
        )
        numbered[10 * at + 1] = f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"
    numbered |= objects or {}
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = {}
    for number, one in numbered.items():
        places[number] = out.tell()
        out.write(f"{number} 0 obj\n{one}\nendobj\n".encode("latin-1"))
    start = out.tell()
    out.write(b"xref\n0 1\n0000000000 65535 f \n")
    for number, place in places.items():
        out.write(b"%d 1\n%010d 00000 n \n" % (number, place))
    size = max(places) + 1
    out.write(f"trailer << /Size {size} /Root 1 0 R /Info 5 0 R {trailer} >>\nstartxref\n{start}\n%%EOF".encode())
    path.write_bytes(out.getvalue())


def text_at(x: float, y: float, text: str, *, size: float = 12, font: str = "F1", turn: str = "1 0 0 1") -> str:
    """Return the operators that write a line."""
    return f"BT /{font} {size} Tf {turn} {x} {y} Tm ({text}) Tj ET "


def bomb(path: Path, *, megabytes: int) -> None:
    """Write an archive that unpacks to this many megabytes of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(megabytes << 20))
