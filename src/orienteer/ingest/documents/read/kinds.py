"""What a file is, by its name and, where that does not tell, by its first bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from orienteer.ingest.formats.files import opened, suffix
from orienteer.ingest.formats.letters import SAMPLE, is_text
from orienteer.plugins import registered

Kind: TypeAlias = Literal[
    "markdown", "html", "text", "table", "converted", "office", "mail", "notebook", "book", "registered", "unknown"
]
"""`registered` is read by an installed package; `unknown` is what only the bytes tell: lines if they are text."""
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys([".md", ".markdown", ".mdx", ".mkd"], "markdown"),
    **dict.fromkeys([".html", ".htm", ".xhtml"], "html"),
    **dict.fromkeys([".txt", ".text", ".rst", ".adoc", ".org"], "text"),
    **dict.fromkeys([".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq"], "table"),
    ".pdf": "converted",
    **dict.fromkeys([".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".potx"], "office"),
    **dict.fromkeys([".xlsx", ".xlsm", ".ods"], "office"),
    ".eml": "mail",
    ".ipynb": "notebook",
    ".epub": "book",
}
"""What a file is by its suffix. Texts, and tables in text, may be packed with gzip."""
_OWN = frozenset(name.removeprefix(".") for name in KINDS)
"""Suffixes that no package may register a reader for, without their dot."""
_LANGUAGES = (
    "py pyi pyx js mjs cjs jsx ts tsx java kt kts scala groovy c h cc cpp cxx hpp hh cs m mm go rs swift rb php pl pm "
    "lua r jl hs ml mli fs ex exs erl clj lisp el scm sh bash zsh fish ps1 bat cmd sql proto graphql vue svelte css "
    "scss less tex bib toml ini cfg conf cnf properties env yaml yml json json5 jsonc xml xsd xsl xslt plist rss atom "
    "log diff patch cmake mk gradle tf dockerfile lock srt vtt po pot ics vcf"
)
CODE = frozenset(f".{name}" for name in _LANGUAGES.split())
"""Suffixes of texts whose lines mean something, however they read."""
_PACKED_WITHIN = frozenset([".parquet", ".pq", ".pdf", ".epub"]) | {
    name for name, kind in KINDS.items() if kind == "office"
}
"""Suffixes of files that nobody packs again, and that are not read where somebody has."""

OTHER_PROGRAMS = "of programs whose files are not read: save them as PDF, .docx or text"
PICTURES, SOUND, ARCHIVES, PROGRAMS, DATABASES = "pictures", "sound and films", "archives", "programs", "databases"
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
"""Why files are left out by their suffix, without a look into them."""
_FIRST_BYTES: Mapping[bytes, str] = {
    **dict.fromkeys([b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0"], PICTURES),
    **dict.fromkeys([b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3", b"RIFF"], SOUND),
    **dict.fromkeys(
        [b"PK\3\4", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd"], ARCHIVES
    ),
    **dict.fromkeys([b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\0asm", b"!<arch>"], PROGRAMS),
    b"SQLite format 3": DATABASES,
    b"%PDF": "PDF by another name: give them the suffix .pdf",
    b"\xd0\xcf\x11\xe0": OTHER_PROGRAMS,
}
"""What a file without text is, by its first bytes."""


def kind_of(path: Path) -> Kind | None:
    """Return what a file is by its name; None if that says that it holds no text."""
    name = suffix(path)
    if name not in KINDS and name.removeprefix(".") in registered("readers", _OWN):
        return "registered"
    is_packed = path.suffix.lower() == ".gz"
    return None if name in _OTHERS or (is_packed and name in _PACKED_WITHIN) else KINDS.get(name, "unknown")


def why_left_out(path: Path) -> str:
    """Return why a file is left out by its name."""
    if path.suffix.lower() == ".gz":
        return ARCHIVES if _OTHERS.get(suffix(path)) == ARCHIVES else PACKED_TWICE
    return _OTHERS[suffix(path)]


def why_no_text(path: Path) -> str:
    """Return why a file of an unknown kind is left out, by its first bytes; nothing if they are text.

    Raises `BadInput`, `OSError`.
    """
    if path.stat().st_size == 0:
        return EMPTY
    with opened(path) as stream:
        head = stream.read(SAMPLE)
    if is_text(head):
        return ""
    return next((reason for first, reason in _FIRST_BYTES.items() if head.startswith(first)), NO_TEXT)
