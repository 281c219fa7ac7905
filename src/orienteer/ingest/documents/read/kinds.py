"""The kind of a file, by its first bytes, or by its name if the bytes leave it open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import opened, suffix
from orienteer.ingest.formats.letters import SAMPLE, decoded, is_text
from orienteer.plugins import registered

Kind: TypeAlias = Literal[
    "markdown", "html", "text", "data", "table", "pdf", "office", "mail", "mailbox", "notebook", "book",
    "registered", "unknown"
]  # fmt: skip
"""`registered` is read by an installed package. `unknown` is decided by the bytes; text is read as lines."""
_KIND_NAMES: Mapping[Kind, str] = {
    "markdown": "md markdown mdx mkd",
    "html": "html htm xhtml",
    "text": "txt text rst adoc org",
    "table": "csv tsv tab jsonl ndjson parquet pq",
    "pdf": "pdf",
    "office": "docx docm dotx pptx pptm ppsx potx xlsx xlsm ods",
    "mail": "eml",
    "mailbox": "mbox",
    "notebook": "ipynb",
    "book": "epub",
}
KINDS: Mapping[str, Kind] = {f".{name}": kind for kind, names in _KIND_NAMES.items() for name in names.split()}
"""The kind by suffix. Texts, and tables in text, may be packed with gzip."""
_OWN = frozenset(name.removeprefix(".") for name in KINDS)
"""Suffixes that packages cannot register readers for, without their dot."""
_DATA_NAMES = "yaml yml json json5 jsonc geojson webmanifest toml ini cfg conf cnf env properties"
_DATA = frozenset(f".{name}" for name in _DATA_NAMES.split())
"""Suffixes of texts of keys and values."""
_LANGUAGES = (
    "py pyi pyx js mjs cjs jsx ts tsx java kt kts scala groovy c h cc cpp cxx hpp hh cs m mm go rs swift rb php pl pm "
    "lua r jl hs ml mli fs ex exs erl clj lisp el scm sh bash zsh fish ps1 bat cmd sql proto graphql vue svelte css "
    "scss less tex bib xml xsd xsl xslt plist rss atom log diff patch cmake mk gradle tf dockerfile lock srt vtt po "
    "pot ics vcf"
)
CODE = frozenset(f".{name}" for name in _LANGUAGES.split())
"""Suffixes of texts that are read line by line."""
_BYTES: frozenset[Kind] = frozenset(["pdf", "office", "book"])
"""Kinds of binary files."""
_PACKED_WITHIN = {".parquet", ".pq", *(name for name, kind in KINDS.items() if kind in _BYTES)}
"""Suffixes of packed formats; they are not read if packed again."""
OTHER_PROGRAMS = "of programs whose files are not read: save them as PDF, .docx or text"
PICTURES, SOUND, ARCHIVES, PROGRAMS, DATABASES = "pictures", "sound and films", "archives", "programs", "databases"
_LOOK = 1 << 13
"""Bytes that are examined to distinguish texts."""
PACKED_TWICE, NO_TEXT, EMPTY = "packed with gzip, which is of no use here: unpack them", "no text", "empty"
_OTHERS: Mapping[str, str] = {
    f".{name}": reason
    for reason, names in {
        PICTURES: "png jpg jpeg jpe gif bmp tif tiff webp ico icns heic heif avif svg svgz psd xcf cr2 nef ai eps",
        SOUND: "mp3 wav flac ogg oga opus m4a aac wma mp4 m4v mkv mov avi webm wmv mpg mpeg flv 3gp",
        ARCHIVES: "zip tar tgz tbz tbz2 txz xz bz2 7z rar zst lz lz4 lzma cab iso dmg deb rpm jar war whl egg",
        PROGRAMS: "exe dll so dylib class pyc pyo pyd elc wasm msi apk",
        DATABASES: "db sqlite sqlite3 mdb accdb",
        "fonts": "ttf otf woff woff2 eot pfb pfm",
        "arrays and models": "npy npz pkl pickle pt pth onnx safetensors gguf h5 hdf5 arrow feather",
        OTHER_PROGRAMS: "doc xls ppt odt odp rtf msg vsd vsdx djvu ps mobi azw azw3",
    }.items()
    for name in names.split()
}
"""Why files are skipped by suffix. Those of other programs are skipped only if they are not text."""
_FIRST_BYTES: Mapping[bytes, str] = {
    **dict.fromkeys([b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0"], PICTURES),
    **dict.fromkeys([b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3", b"RIFF"], SOUND),
    **dict.fromkeys([b"PK\3\4", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd"], ARCHIVES),
    **dict.fromkeys([b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\0asm", b"!<arch>"], PROGRAMS),
    **dict.fromkeys([b"\xd0\xcf\x11\xe0", b"{\\rtf", b"%!PS"], OTHER_PROGRAMS),
    b"\x1f\x8b": "packed with gzip: give them the suffix .gz",
    b"SQLite format 3": DATABASES,
}
"""The kind of an unsupported file, by its first bytes."""
_PACKED: Mapping[re.Pattern[bytes], Kind] = {
    re.compile(rb"PK\x01\x02.{42}(?:word|ppt|xl)/", re.DOTALL): "office",
    re.compile(rb"mimetypeapplication/epub\+zip"): "book",
    re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet"): "office",
    re.compile(rb"mimetypeapplication/vnd\.(?:oasis|sun)"): "unknown",
}
"""The kind of a ZIP archive, by its first entry or the list of entries at its end."""
_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_NOTEBOOK = re.compile(r'\s*\{\s*"(?:cells"\s*:\s*\[\s*\{\s*"(?:attachments|cell_type|id|execution_count)|nbformat)"')
_VALUES = re.compile(r'\s*+\{\s*+"[^"\n]*"\s*:|(?:[ \t]*+(?:[#;][^\n]*+)?+\n)*+\[[\w .:"-]+\][ \t]*\n\s*[\w.-]+[ \t]*=')
"""How JSON begins, and a text with a `[section]` of values."""
HEAD = re.compile(r"(?P<name>[!-9;-~]+):(?:[ \t]|$)")
"""The header of a mail: its name and a colon."""
_SENT = frozenset(["from", "date", "message-id", "received", "return-path"])
KNOWN_HEADS = _SENT | {"to", "cc", "subject", "delivered-to", "mime-version", "content-type", "reply-to"}
"""Headers that distinguish a mail from other texts with names and values, in lower case."""
_LEAST_HEADS = 3
MAIL_BEGINS = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,200}?\d{4}[^\r\n]{0,80}\r?\n(?=[!-9;-~]+:)")
"""The line before each mail of a mailbox: `From ADDRESS DATE`."""


def kind_of(path: Path) -> Kind | None:
    """Return the kind of a file by its name, or None if it is skipped. Its bytes may contradict the name."""
    name = suffix(path)
    if name not in KINDS and name.removeprefix(".") in registered("readers", _OWN):
        return "registered"
    is_packed = path.suffix.lower() == ".gz"
    is_other = _OTHERS.get(name, OTHER_PROGRAMS) != OTHER_PROGRAMS
    return None if is_other or (is_packed and name in _PACKED_WITHIN) else KINDS.get(name, "unknown")


def why_left_out(path: Path) -> str:
    """Return why the name of a file makes it skipped."""
    if path.suffix.lower() == ".gz":
        return ARCHIVES if _OTHERS.get(suffix(path)) == ARCHIVES else PACKED_TWICE
    return _OTHERS[suffix(path)]


class NotRead(BadInput):
    """The bytes of a file are of an unsupported kind."""


def kind_within(path: Path, named: Kind) -> Kind:
    """Return the kind of a file by its first bytes, or by its name if they leave it open.

    `named` is its kind by name. Raises `NotRead` for unsupported kinds, `BadInput`, `OSError`.
    """
    if path.stat().st_size == 0:
        raise NotRead(EMPTY)
    if named == "registered":
        return named
    is_packed = path.suffix.lower() == ".gz"
    with opened(path) if is_packed else path.open("rb") as stream:
        head = stream.read(SAMPLE)
    kind = _kind_of_bytes(path, head, named)
    if is_packed and kind in _BYTES:
        raise NotRead(PACKED_TWICE)
    return kind


def _kind_of_bytes(path: Path, head: bytes, named: Kind) -> Kind:
    if head.startswith(b"%PDF-") or (b"%PDF-" in head[:1024] and (named == "pdf" or not is_text(head))):
        return "pdf"
    if head.startswith(b"PAR1"):
        return "table"
    reason = next((reason for first, reason in _FIRST_BYTES.items() if head.startswith(first)), "")
    if reason == OTHER_PROGRAMS and named == "office":
        return named
    if reason == ARCHIVES and (kind := _kind_of_archive(path, head, named)) is not None:
        return kind
    if is_text(head) and reason != OTHER_PROGRAMS:
        return _kind_of_text(decoded(head[:_LOOK], is_part=True)[0], suffix(path), named)
    if not reason and named in ("table", *_BYTES):
        return named  # its reader says what is wrong with it
    raise NotRead(reason or _OTHERS.get(suffix(path), NO_TEXT))


def _kind_of_archive(path: Path, head: bytes, named: Kind) -> Kind | None:
    """Return the kind of a ZIP archive by its first and last bytes, or by its name if it is broken."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - SAMPLE))
        ends = head + stream.read(SAMPLE)
    found = next((kind for pattern, kind in _PACKED.items() if pattern.search(ends)), None)
    if found == "unknown" and named != "office":
        raise NotRead(OTHER_PROGRAMS)
    return next((kind for kind in (found, named) if kind in _BYTES), None)


def _kind_of_text(text: str, name: str, named: Kind) -> Kind:
    """Return the kind of a text by its beginning. Names of programs and tables are trusted."""
    if name in _DATA:
        return "data"
    if name in CODE or named == "registered":
        return named
    if _PAGE.match(text):
        return "html"
    if named not in ("table", "markdown", "html", "notebook"):  # a manual may show a mail
        if MAIL_BEGINS.match(text.encode(errors="replace")):
            return "mailbox"
        if _is_mail(text, is_named=named == "mail"):
            return "mail"
    if named not in ("table", "markdown") and _NOTEBOOK.match(text):
        return "notebook"
    if named == "notebook" and text.lstrip().startswith("{"):
        return named
    if named in ("unknown", "mail", "mailbox", "notebook", *_BYTES):
        return "data" if _VALUES.match(text) else "unknown"
    return named


def _is_mail(text: str, *, is_named: bool) -> bool:
    """Return whether a text begins like an e-mail: only with headers, several of them known.

    One known header is enough if `is_named`.
    """
    names, is_ended = set[str](), False
    for line in text.split("\n"):
        head, is_ended = HEAD.match(line.rstrip("\r")), not line.strip()  # an empty line parts them from the text
        if head is not None:
            names.add(head["name"].casefold())
        elif is_ended or not names or line[:1] not in (" ", "\t"):
            break
    known = names & KNOWN_HEADS
    return bool(known) if is_named else is_ended and len(known) >= _LEAST_HEADS and bool(known & _SENT)
