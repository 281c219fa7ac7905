"""All processes that work for us: what they are given, and that they end with us, whoever of us ends and however."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import office_files as office
from orienteer.sandbox import (
    PYTHON_FLAGS,
    DeadlinePassed,
    PipeClosed,
    PipeError,
    Worker,
    WorkerNotReady,
    launched_confined,
    package_paths,
    tie_lifetime,
)

pytestmark = [
    pytest.mark.corpus("attacks on workers"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc, which Linux has"),
]
SECRET = "sk-" + "0dd5eed"
ECHO = """
import struct, sys
while head := sys.stdin.buffer.read(4):
    data = sys.stdin.buffer.read(struct.unpack("!I", head)[0])
    sys.stdout.buffer.write(head + data)
    sys.stdout.buffer.flush()
"""
OPENED = """
    from orienteer.sandbox import Limits
    from orienteer.sandbox import open_interpreter
    interpreter = open_interpreter({tier!r}, {{}}, Limits(seconds=100))
    interpreter.run("1")
    say({process})
    interpreter.run("while True: pass")
"""
CYPHER = """
    from orienteer import Cypher, Graph
    from orienteer.ingest import demo_records
    graph = Graph.from_records(*demo_records())
    Cypher(graph).query("RETURN 1")
    say(next(one._worker for one in Cypher(graph).engine._turns.processes if one._worker).popen.pid)
    many = "range(1, 10000)"
    slow = f"UNWIND {many} AS a UNWIND {many} AS b UNWIND {many} AS c RETURN sum(a * b * c)"
    from orienteer.errors import QueryStopped
    while True:
        try:
            Cypher(graph).query(slow, seconds=100)
        except QueryStopped:
            pass
"""
CONVERTER = """
    from pathlib import Path
    from orienteer.ingest import Converter
    from orienteer.ingest import SourceFile as File
    with Converter(seconds=100) as converter:
        say(converter._started().popen.pid)
        converter(File(Path(sys.argv[1]), "a.pdf", "converted"), "")
"""
WORKERS = {
    "monty": ("pydantic_monty", OPENED.format(tier="monty", process="interpreter._session.worker_pid")),
    "cpython": ("orienteer", OPENED.format(tier="cpython", process="interpreter.process")),
    "cypher": ("orienteer", CYPHER),
    "converter": ("pypdfium2", CONVERTER),
}


@pytest.mark.parametrize("name", WORKERS)
def test_it_ends_with_its_parent_in_the_midst_of_its_work_and_knows_no_key(name, becomes, tmp_path):
    package, code = WORKERS[name]
    pytest.importorskip(package)
    office.pdf(tmp_path / "a.pdf", *["\n".join(["a line of words"] * 40)] * 600)
    program = f"import sys\ndef say(process): print(process, flush=True)\n{textwrap.dedent(code)}"
    command = [sys.executable, "-c", program, str(tmp_path / "a.pdf")]
    kept = {**os.environ, "ORIENTEER_API_KEY": SECRET, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=kept) as parent:
        try:
            process = int(parent.stdout.readline())
            environment = Path(f"/proc/{process}/environ").read_bytes()
            limits = Path(f"/proc/{process}/limits").read_text()
            time.sleep(0.2)  # it works
            is_working = parent.poll() is None and Path(f"/proc/{process}").exists()
        finally:
            parent.kill()
    assert is_working
    assert becomes(process, "")
    assert SECRET.encode() not in environment
    assert b"\0HOME=" not in b"\0" + environment
    assert b"\0TMPDIR=" not in b"\0" + environment
    assert "Max file size             0                    0 " in limits


@pytest.fixture
def echo():
    processes = []

    def started(program=ECHO, *, longest=1000):
        processes.append(Worker([sys.executable, *PYTHON_FLAGS, "-c", program], longest=longest))
        return processes[-1]

    yield started
    for process in processes:
        process.end()


def exchanged(worker, content):
    worker.pipe.send(content, time.monotonic() + 20)
    return worker.pipe.receive(time.monotonic() + 20)


def test_the_end_of_the_thread_that_started_it_is_not_its_own(echo):
    processes = []
    thread = threading.Thread(target=lambda: processes.append(echo()))
    thread.start()
    thread.join()
    assert processes[0].is_tied
    assert exchanged(processes[0], {"still": "here"}) == {"still": "here"}


def test_it_does_nothing_until_it_is_to_go_on(echo, becomes):
    worker = echo()
    assert exchanged(worker, {"a": 1}) == {"a": 1}
    worker.pause()
    assert becomes(worker.popen.pid, "T")
    worker.pipe.send({"b": 2}, time.monotonic() + 20)
    with pytest.raises(DeadlinePassed):
        worker.pipe.receive(time.monotonic() + 0.1)
    worker.go_on()
    assert worker.pipe.receive(time.monotonic() + 20) == {"b": 2}


def test_one_that_stands_still_is_ended_too(echo, becomes):
    worker = echo()
    worker.pause()
    worker.end()
    worker.end()
    assert becomes(worker.popen.pid, "")


def test_its_end_is_told(echo):
    worker = echo("raise SystemExit(3)")
    with pytest.raises(PipeClosed) as raised:
        exchanged(worker, {})
    assert worker.cause(raised.value) == "it ended with exit code 3"


SAYS = """
import json, os, struct, sys, time
def say(content):
    data = json.dumps(content).encode()
    os.write(1, struct.pack("!I", len(data)) + data)
"""


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("sys.exit(3)", "it ended with exit code 3"),
        ("os.kill(os.getpid(), 11)", "it died of SIGSEGV"),
        ("os.write(1, b'garbage'); time.sleep(60)", "it sent a message of more than 1,000 bytes"),
        ("say([]); time.sleep(60)", "it sent something that is not a message"),
        ("say({}); time.sleep(60)", "it did not report how it is confined"),
        ("say({'ready': 1}); time.sleep(60)", "it did not report how it is confined"),
        ("say({'extra': 'docs'})", "it lacks the extra docs"),
        ("os.close(1); time.sleep(60)", "it ended"),
        ("time.sleep(60)", "it was not ready after 0.5 s"),
    ],
)
def test_one_that_is_never_ready_is_ended_and_told_why(echo, program, why):
    worker = echo(SAYS + program)
    with pytest.raises(WorkerNotReady) as raised:
        worker.ready(0.5 if "after" in why else 20)
    assert str(raised.value) == why
    assert not worker.is_running


def test_one_that_is_ready_says_what_holds_it(echo):
    assert echo(SAYS + "say({'ready': ['a', 'b']}); time.sleep(60)").ready(20) == {"a", "b", "lifeline"}


def test_a_message_that_is_too_long_is_not_read(echo):
    with pytest.raises(PipeError, match="more than 1,000 bytes"):
        exchanged(echo(), {"a": "x" * 1000})


def test_what_is_large_goes_both_ways_in_parts(echo):
    content = {"a": "x" * 3_000_000}
    program = ECHO.replace(
        "sys.stdout.buffer.write(head + data)",
        "sys.stdout.buffer.write(head); [\n    sys.stdout."
        "buffer.write(data[at:at + 1000]) for at in range(0, len(data), 1000)]",
    )
    assert exchanged(echo(program, longest=4_000_000), content) == content


def test_it_begins_with_nothing_open_but_its_pipes(echo, tmp_path):
    program = """
import json, os, struct, sys
data = json.dumps({"open": sorted(map(int, os.listdir("/proc/self/fd"))), "lifeline": int(sys.argv[-1])}).encode()
sys.stdout.buffer.write(struct.pack("!I", len(data)) + data)
sys.stdout.buffer.flush()
sys.stdin.read()
"""
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        message = echo(program).pipe.receive(time.monotonic() + 20)
    assert len(set(message["open"]) - {0, 1, 2, message["lifeline"]}) == 1  # the folder that it lists


def test_packages_are_found_wherever_it_is_started(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["src", "", "/elsewhere"]))
    monkeypatch.setenv("PYTHONHOME", "/home/of/python")
    packages = package_paths()
    assert packages["PYTHONPATH"].split(os.pathsep) == [str(Path("src").absolute()), "/elsewhere"]
    assert packages["PYTHONHOME"] == "/home/of/python"
    assert set(packages) == {"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE"}


def test_a_worker_that_cannot_start_leaves_nothing_open():
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(OSError, match="no-such-program"):
            Worker(["/no-such-program"], longest=10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_kernel_kills_when_the_other_end_closes_though_it_be_stopped():
    theirs, ours = os.pipe()
    with subprocess.Popen(["sleep", "60"], pass_fds=(theirs,)) as process:
        assert tie_lifetime(process.pid, theirs)
        os.close(theirs)
        process.send_signal(signal.SIGSTOP)
        assert process.poll() is None
        os.close(ours)
        assert process.wait(20) == -signal.SIGKILL


FORKED = """
    import os, sys
    {setup}
    child = os.fork()
    if not child:
        try:
            {theirs}
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    {ours}
"""
SANDBOXED = """from orienteer.sandbox import Limits
    from orienteer.sandbox import open_interpreter
    interpreter = open_interpreter({tier!r}, {{}}, Limits(seconds=20))
    interpreter.run("x = 'ours'")"""


def test_a_forked_process_does_not_run_code_in_the_worker_of_the_other():
    source = FORKED.format(
        setup=SANDBOXED.format(tier="cpython"),
        theirs="print(interpreter.run(\"x = 'theirs'\").is_lost, interpreter.run('print(1)').printed, flush=True)",
        ours="print(interpreter.run('print(x)').printed)",
    )
    assert _printed(source) == ["True", "1", "ours"]


def test_monty_does_not_start_in_a_process_that_was_forked_from_its_own():
    pytest.importorskip("pydantic_monty")
    refused = """for one in (interpreter, open_interpreter("monty", {}, Limits())):
                try:
                    one.run("x = 'theirs'")
                except UnsafeSandbox:
                    print("refused", flush=True)
                one.close()"""
    source = FORKED.format(
        setup="from orienteer.errors import UnsafeSandbox\n    " + SANDBOXED.format(tier="monty"),
        theirs=refused,
        ours="print(interpreter.run('print(x)').printed)",
    )
    assert _printed(source) == ["refused", "refused", "ours"]


def test_a_forked_process_does_not_ask_the_engine_of_the_other():
    source = FORKED.format(
        setup="""from orienteer import Cypher, Graph
    from orienteer.ingest import demo_records
    graph = Graph.from_records(*demo_records())
    Cypher(graph).query("RETURN 1")
    process = Cypher(graph).engine._turns.processes[0]
    pid = process._worker.popen.pid""",
        theirs="print(Cypher(graph).query('RETURN 2').rows, process._worker.popen.pid != pid, flush=True)",
        ours="print(Cypher(graph).query('RETURN 3').rows, process._worker.popen.pid == pid)",
    )
    assert _printed(source) == ["((2,),)", "True", "((3,),)", "True"]


def _printed(source):
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_nothing_is_collected_while_any_thread_launches():
    collecting, is_first_over = [], threading.Event()
    is_second_begun = threading.Event()

    def second():
        is_second_begun.set()
        is_first_over.wait(20)
        collecting.append(gc.isenabled())

    thread = threading.Thread(
        target=launched_confined, args=(second, Path(sys.executable)), kwargs={"longest": 1 << 20}
    )

    def first():
        thread.start()
        is_second_begun.wait(20)

    launched_confined(first, Path(sys.executable), longest=1 << 20)
    is_first_over.set()
    thread.join()
    assert (collecting, gc.isenabled()) == ([False], True)
