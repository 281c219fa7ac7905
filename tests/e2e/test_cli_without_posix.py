"""The commands work without what Windows lacks: its modules, calls and signals are taken away from a real process.

That is no Windows: paths, links and open files behave as here. What it shows is that no command needs POSIX.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("pypdfium2", reason="the extra docs is not installed")

WITHOUT = """
import asyncio, concurrent.futures.thread, ctypes, json, multiprocessing, os, platform, select, selectors, shutil
import signal, socket, ssl, subprocess, sys, sysconfig, tempfile, threading, types, urllib.request, webbrowser, zoneinfo
import httpx2, jinja2, markdown_it, numpy, platformdirs, pydantic, pypdfium2, rich.console, selectolax, typer, yaml

locks = []
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *lock: locks.append(lock), LK_NBLCK=1)
for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[module] = None
for call in ("fork", "geteuid", "getuid", "killpg", "mkfifo", "pwrite", "set_blocking", "setsid"):
    delattr(os, call)
for name in ("SIGALRM", "SIGCONT", "SIGHUP", "SIGPROF", "SIGSTOP", "SIGXFSZ", "setitimer", "siginterrupt"):
    delattr(signal, name)
sys.platform = "win32"

from orienteer.serve import main

codes = []
for command in json.loads(sys.argv[1]):
    sys.argv = ["orienteer", *command]
    print("##", *command, flush=True)
    try:
        main()
    except SystemExit as end:
        codes.append(end.code or 0)
    else:
        codes.append(0)
    sys.stdout.flush()
print("codes", codes)
print("locks", len(locks))
"""


@pytest.fixture
def sources(tmp_path):
    for name in ("tables", "papers"):
        (tmp_path / name).mkdir()
    (tmp_path / "tables" / "people.csv").write_text("id,name,boss\n1,Ada,2\n2,Bo,\n", encoding="utf-8")
    (tmp_path / "papers" / "salt.md").write_text("# Salt\n\nAda Holm directed Salt in 2001.\n", encoding="utf-8")
    (tmp_path / "papers" / "ferry.pdf").write_bytes(page("The night ferry to Borkholm leaves from pier seven."))
    return tmp_path


def page(text):
    """Return a PDF of one line, written by hand."""
    content = f"BT /F1 18 Tf 40 300 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 400] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return out + end % (table, len(out))


@pytest.mark.process
def test_tables_documents_pdf_and_cypher_need_no_posix(sources):
    commands = [
        ["import", "tables", "-o", "graph"],
        ["ask", "graph", "Who is the boss of Ada?"],
        ["import", "tables", "-o", "graph", "--update"],
        ["build", "papers", "-o", "documents"],
        ["ask", "documents", "Where does the night ferry leave from?"],
        ["cypher", "graph", "MATCH (n:person) RETURN count(n)"],
        ["search", "graph", "ada"],
        ["doctor", "graph"],
        ["export", "graph", "-o", "out.graphml", "--to", "graphml"],
        ["cache", "info"],
    ]
    environment = {**os.environ, "ORIENTEER_CACHE": str(sources / "cache"), "ORIENTEER_VECTORS": "off"}
    command = [sys.executable, "-c", WITHOUT, json.dumps(commands)]
    ran = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in ran.stderr, ran.stderr[-2000:]
    assert f"codes {[0] * len(commands)}" in ran.stdout, ran.stdout + ran.stderr
    assert "locks 0" not in ran.stdout, "each writer took Windows' lock"
    said = dict(part.split("\n", 1) for part in ran.stdout.split("## ")[1:])
    assert "\nBo\n" in said["ask graph Who is the boss of Ada?"]
    assert "pier seven" in said["ask documents Where does the night ferry leave from?"]
    assert "2" in said["cypher graph MATCH (n:person) RETURN count(n)"]
