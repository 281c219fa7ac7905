"""PDF files in a process of their own: what they hold, and what broken ones cost."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

import office_files as office
from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.ingest import Converter, SourceFile

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def convert():
    pytest.importorskip("pypdfium2")
    with Converter(seconds=60) as converter:
        yield lambda path: converter(SourceFile(path, path.name, "converted"), "A Title")


@pytest.mark.server
def test_a_pdf_has_its_pages(convert, tmp_path):
    office.pdf(tmp_path / "a.pdf", "First page here.\nMore of it.", "Second page.")
    found = convert(tmp_path / "a.pdf")
    assert [(block.text, block.place.page) for block in found.blocks] == [
        ("First page here. More of it.", 1),
        ("Second page.", 2),
    ]
    assert (found.title, found.has_title) == ("A Title", False)


@pytest.mark.parametrize(
    ("named", "title"),
    [("Untitled", "Annual report"), ("report_v3.docx", "Annual report"), ("Ferries 2024", "Ferries 2024")],
)
def test_the_title_of_a_pdf_is_its_own_or_its_largest_line(convert, tmp_path, named, title):
    office.pdf(tmp_path / "x.pdf", "Annual report\nmore words of the page\nand more of them", title=named, large=True)
    assert convert(tmp_path / "x.pdf").title == title
    office.pdf(tmp_path / "y.pdf", "Annual report\nmore words", title="Microsoft Word - y.doc")
    assert convert(tmp_path / "y.pdf").title == "A Title"


def test_what_has_a_password_says_so(convert, tmp_path):
    office.pdf(tmp_path / "secret.pdf", "words", password=True)
    with pytest.raises(BadInput, match="^encrypted: save it without a password"):
        convert(tmp_path / "secret.pdf")


def test_a_picture_of_text_says_so(convert, tmp_path):
    office.pdf(tmp_path / "a.pdf", "")
    with pytest.raises(BadInput, match="no text"):
        convert(tmp_path / "a.pdf")


@pytest.mark.parametrize("data", [b"%PDF", b"%PDF-1.4 nothing more", b"no pdf at all"])
def test_broken_files_are_one_line_and_the_process_goes_on(convert, tmp_path, data):
    (tmp_path / "bad.pdf").write_bytes(data)
    with pytest.raises(BadInput) as raised:
        convert(tmp_path / "bad.pdf")
    assert "\n" not in str(raised.value)
    office.pdf(tmp_path / "good.pdf", "Still here.")
    assert next(iter(convert(tmp_path / "good.pdf").blocks)).text == "Still here."


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_conversion_that_dies_is_told_and_started_again(tmp_path):
    pytest.importorskip("pypdfium2")
    path = Path(tmp_path / "a.pdf")
    office.pdf(path, "Words.")
    with Converter(seconds=60) as converter:
        started = converter._started().popen
        started.kill()
        started.wait()
        assert next(iter(converter(SourceFile(path, "a.pdf", "converted"), "T").blocks)).text == "Words."


# --------------------------------------------------------------------------------------------- what a parser may do

ATTACKS = {  # what a file could have its parser do, if it had a fault; each prints what it got, or dies of an error
    "read a file of the person's": "open({secret!r}).read()",
    "read the file that it converts": "open({file!r}, 'rb').read()",
    "list a folder of the person's": "os.listdir({folder!r})",
    "list what else is installed": "os.listdir(os.path.dirname(os.path.dirname(pypdfium2.__file__)))",
    "write a file": "open({folder!r} + '/leak', 'w')",
    "write beside its own code": "open(pypdfium2.__file__, 'a')",
    "make a folder": "os.mkdir({folder!r} + '/leak')",
    "remove a file": "os.unlink({secret!r})",
    "rename a file": "os.rename({secret!r}, {secret!r} + '2')",
    "change rights": "os.chmod({secret!r}, 0o777)",
    "make a link": "os.symlink({secret!r}, {folder!r} + '/leak')",
    "call a server": "socket.socket()",
    "call a process": "socket.socket(socket.AF_UNIX)",
    "fork": "os.fork()",
    "start a program": "subprocess.run(['/bin/true'])",
    "start a thread": "threading.Thread(target=print).start()",
    "send a signal": "os.kill(os.getppid(), 0)",
    "read the parent's environment": "open(f'/proc/{{os.getppid()}}/environ').read()",
    "take its limits off": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "take all memory": "bytearray(6 << 30)",
    "keep on when the parent ends": "os.close(int(sys.argv[1]))",
    "import a package of the person's": "__import__('mine')",
    "know a key": "os.environ['ORIENTEER_API_KEY']",
    "write where libraries keep things": "tempfile.TemporaryFile()",
}
REFUSED = {  # what an attack dies of, where that is not a PermissionError: one that is misspelt dies of something else
    "start a thread": "RuntimeError: can't start new thread",
    "take all memory": "takes too much memory",
    "import a package of the person's": "ModuleNotFoundError: No module named 'mine'",
    "know a key": "KeyError: 'ORIENTEER_API_KEY'",
    "write where libraries keep things": "FileNotFoundError: [Errno 2] No usable temporary directory",
}
READER = """
import os, resource, signal, socket, subprocess, sys, tempfile, threading
import pypdfium2
from orienteer.ingest import Page, convert_requests
def read(data, bounds, begin):
    return Page(repr(eval(data.decode())))
if __name__ == "__main__":
    convert_requests(read)
"""
FAILING = """
import ctypes, sys
from orienteer.ingest import convert_requests, read_pdf
module = sys.modules[read_pdf.__module__]
def failing(document, number, page=module._page):
    while number in (2, 5):
        ctypes.string_at(0) if number == 5 else None
    return page(document, number)
module._page = failing
if __name__ == "__main__":
    convert_requests()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there the clock ends a page, and costs its file")
def test_pages_that_never_end_or_crash_cost_only_themselves(tmp_path, monkeypatch):
    """The library cannot be interrupted, so the process dies on such a page, and the others are read again."""
    pytest.importorskip("pypdfium2")
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.setattr(inside(Converter), "_MODULE", "failing")
    monkeypatch.setattr(inside(Converter), "PAGE_SECONDS", 0.3)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    office.pdf(tmp_path / "a.pdf", *[f"This is page {at} with {'word ' * at}" for at in range(1, 7)])
    with Converter(seconds=60) as converter:
        document = converter(SourceFile(tmp_path / "a.pdf", "a.pdf", "converted"), "T")
        assert [block.place.page for block in document.blocks] == [1, 3, 4, 6]
        assert document.notes[0] == "page 2 was not read: takes more than 0.3 s of processor time"
        assert document.notes[1].startswith("page 5 was not read: the library ended on it")
        monkeypatch.setattr(inside(Converter), "MOST_FAILURES", 1)
        document = converter(SourceFile(tmp_path / "a.pdf", "a.pdf", "converted"), "T")
    assert [block.place.page for block in document.blocks] == [1, 3, 4]
    assert document.notes[0] == "pages 1 to 4 of 6: the next ones ended the process that reads it"


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    """Give a function that runs code in the converter's place, with its walls, and returns what came of it."""
    pytest.importorskip("pypdfium2")
    folder = tmp_path_factory.mktemp("parser")
    (folder / "played_converter.py").write_text(READER.format())
    (folder / "mine.py").write_text("")
    (folder / "secret").write_text("secret")
    names = {"secret": str(folder / "secret"), "file": str(folder / "a.pdf"), "folder": str(folder)}
    with Converter(seconds=60) as converter:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(inside(Converter), "_MODULE", "played_converter")
            patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
            patch.setenv("ORIENTEER_API_KEY", "secret")
            converter._started()

        def run(code):
            (folder / "a.pdf").write_text(code.format(**names))
            return converter(SourceFile(folder / "a.pdf", "a.pdf", "converted"), "A Title").title

        run.held = lambda: converter.held
        run.begun = sorted(one.name for one in folder.iterdir())
        yield run
        assert sorted(one.name for one in folder.iterdir() if one.name not in ("a.pdf", "__pycache__")) == run.begun
        assert (folder / "secret").read_text() == "secret"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the walls are Linux's")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_parser_that_was_taken_over_has_nothing_to_take(parser, name, record_property):
    assert parser("1 + 1") == "2"
    if not {"landlock", "seccomp", "memory"} <= parser.held():
        pytest.skip("this kernel has not all walls")
    with pytest.raises(BadInput, match=re.escape(REFUSED.get(name, "(PermissionError: "))):
        parser(ATTACKS[name])
    record_property("corpus", "attacks on the converter")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the walls are Linux's")
def test_what_reading_takes_is_there(parser):
    assert parser("len(pypdfium2.PdfDocument.new())") == "0"
    assert parser("'é'.encode('cp1026').decode('mac_latin2') and '日'.encode('shift_jis')") == "b'\\x93\\xfa'"
    assert parser("__import__('sqlite3').sqlite_version > '3'") == "True"


PLACE = "{'headings': 'x', 'page': None, 'span': None, 'anchors': [], 'line': None, 'is_navigation': False}"
LIES = [
    "os.write(1, b'garbage and more of it')",
    "os.write(1, struct.pack('!I', 4_000_000_000)); time.sleep(60)",
    "say([])",
    "say({})",
    "say({'begins': 1}); os.kill(os.getpid(), 9)",
    "say({'begins': 2}); say({'begins': 1})",
    "say({'title': 'x'})",
    "say({'title': 1, 'blocks': [], 'notes': []})",
    "say({'title': 'x', 'blocks': [{'text': 1}], 'notes': []})",
    f"say({{'title': 'x', 'blocks': [{{'text': 'x', 'is_code': False, 'links': [], 'place': {PLACE}}}], 'notes': []}})",
    "say({'title': 'x', 'blocks': [{'header': ['x'], 'rows': [[1]], 'caption': '', 'links': [], 'rest_joins': False, "
    "'place': {}}], 'notes': []})",
    "say({'error': {}})",
    "say({'error': 'a' * 10_000 + chr(10) + 'b'})",
    "os.kill(os.getpid(), 9)",
]
LIAR = """
import json, os, struct, sys, time
def say(content):
    data = json.dumps(content).encode()
    os.write(1, struct.pack("!I", len(data)) + data)
say({"ready": []})
while head := sys.stdin.buffer.read(4):
    if head == bytes(4):
        break
    sys.stdin.buffer.read(struct.unpack("!I", head)[0])
"""


@pytest.mark.parametrize("lie", LIES)
def test_a_converter_that_lies_costs_its_file_and_no_more(tmp_path, monkeypatch, lie):
    (tmp_path / "liar.py").write_text(f"{LIAR}{lie}\ntime.sleep(60)\n")
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    monkeypatch.setattr(inside(Converter), "_MODULE", "liar")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Converter(seconds=20) as converter, pytest.raises(BadInput) as raised:
        converter(SourceFile(tmp_path / "a.pdf", "a.pdf", "converted"), "T")
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_a_process_that_does_not_start_is_told(tmp_path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    monkeypatch.setattr(inside(Converter), "_MODULE", "no_such_module")
    with Converter(seconds=20) as converter, pytest.raises(BadInput, match="did not start.*exit code 1"):
        converter(SourceFile(tmp_path / "a.pdf", "a.pdf", "converted"), "T")


def test_a_file_that_cannot_be_read_is_told(convert, tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        convert(tmp_path / "gone.pdf")
    office.pdf(tmp_path / "a.pdf", "Words.")
    assert convert(tmp_path / "a.pdf").blocks
