"""The second tier: what a run gives, what is kept between runs, what holds the process, and when it is refused."""

import gc
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from orienteer.errors import BadOption, UnsafeSandbox
from orienteer.sandbox import confining, cpython
from orienteer.sandbox.cpython import CPythonInterpreter, unheld
from orienteer.sandbox.interpreter import Limits
from orienteer.sandbox.opening import open_interpreter

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the second tier needs Linux")
HEADERS = ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h")


@pytest.fixture
def opened():
    """Give a function that opens an interpreter; all of them are closed at the end."""
    made = []

    def opened_with(functions=None, **limits):
        made.append(CPythonInterpreter(functions or {}, Limits(**limits)))
        return made[-1]

    yield opened_with
    for one in made:
        one.close()


def is_there(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def ends(process):
    """Tell whether a process ends within some seconds."""
    for _ in range(200):
        if not is_there(process):
            return True
        time.sleep(0.05)
    return False


# ---------------------------------------------------------------------------------------------------------------- runs


def test_state_is_kept_until_it_is_closed(opened):
    interpreter = opened()
    assert interpreter.run("x = [1]\ndef f(y):\n    return x + [y]").error is None
    assert interpreter.run("import math\nprint(f(2), math.pi > 3)").printed == "[1, 2] True\n"
    process = interpreter.process
    interpreter.close()
    interpreter.close()
    assert not is_there(process)
    ran = interpreter.run("print(x)")
    assert "NameError: name 'x' is not defined" in ran.error
    assert not ran.is_lost


def test_the_whole_of_python_is_there(opened):
    code = """
        import collections, csv, decimal, heapq, json, operator, re, statistics, string
        from dataclasses import dataclass
        import numpy as np

        class Base:
            @property
            def three(self):
                return 3

        class Derived(Base):
            def walk(self):
                yield from range(self.three)

        @dataclass(frozen=True)
        class Point:
            x: int

        print(sorted(Derived().walk(), key=operator.neg), heapq.nlargest(1, [1, 5, 2]), statistics.median([1, 2, 9]))
        print(np.arange(4).reshape(2, 2) @ np.ones(2), Point(1), next(x for x in "ab"), decimal.Decimal("0.1") * 3)
    """
    ran = opened(memory_mb=256).run(textwrap.dedent(code))
    assert ran.error is None
    assert ran.printed == "[2, 1, 0] [5] 2\n[1. 5.] Point(x=1) a 0.3\n"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n\ny = x / 0", "line 3: y = x / 0\nZeroDivisionError: division by zero"),
        ("x = 1\nif x\n", "line 2: if x\nSyntaxError: expected ':'"),
        ("def f(y):\n    return y['a']\nf({})", "line 3: f({})\nline 2, in f: return y['a']\nKeyError: 'a'"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("raise SystemExit", None),
        ("raise KeyboardInterrupt", "line 1: raise KeyboardInterrupt\nKeyboardInterrupt"),
        ("import json\njson.loads('{')", "line 2: json.loads('{')\njson.decoder.JSONDecodeError: Expecting property"),
    ],
)
def test_errors_come_with_their_line(opened, code, error):
    ran = opened().run(code)
    assert ran.error == error if error is None else ran.error.startswith(error)
    assert not ran.is_lost


def test_an_error_in_earlier_code_shows_its_line(opened):
    interpreter = opened()
    interpreter.run("def f():\n    return undefined")
    ran = interpreter.run("f()")
    assert ran.error == (
        "line 1: f()\nline 2 of earlier code, in f: return undefined\nNameError: name 'undefined' is not defined"
    )


def test_deep_errors_show_both_ends(opened):
    ran = opened().run("def f(n):\n    return f(n + 1)\n\nf(0)")
    lines = ran.error.splitlines()
    assert lines[0] == "line 4: f(0)"
    assert "more ..." in lines[3]
    assert lines[-1].startswith("RecursionError")
    assert len(lines) == 8


def test_a_module_that_is_not_there_is_named(opened):
    ran = opened().run("import pandas as pd")
    assert ran.missing == "module pandas"
    assert ran.error.endswith("ModuleNotFoundError: No module named 'pandas'")


def test_output_is_capped_at_both_ends(opened):
    interpreter = opened(output_characters=100)
    ran = interpreter.run("for i in range(10_000):\n    print(i)")
    text = "".join(f"{i}\n" for i in range(10_000))
    head, gap, tail = ran.printed.partition(f"\n... {ran.left_out:,} characters left out ...\n")
    assert gap
    assert len(head) + len(tail) <= 100
    assert len(head) + len(tail) + ran.left_out == len(text)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert interpreter.run("print('short')").printed == "short\n"


def test_both_streams_are_read(opened):
    ran = opened().run("import sys, warnings\nprint('a', file=sys.stderr)\nprint('b')\nwarnings.warn('c')")
    assert ran.printed.startswith("a\nb\n")
    assert "UserWarning: c" in ran.printed


def test_half_a_character_is_no_fault(opened):
    ran = opened().run("print('\\ud800')\nraise ValueError('\\udfff')")
    assert ran.printed == "?\n"
    assert ran.error.endswith("ValueError: ?")
    assert opened().run("x = '\ud800'\nprint(x)").printed == "?\n"


def test_what_is_drawn_at_random_is_drawn_again(opened):
    code = "import random\nprint(random.random(), {'some', 'words', 'in', 'a', 'set'})"
    assert opened().run(code).printed == opened().run(code).printed


# --------------------------------------------------------------------------------------------------------------- calls


def test_functions_are_called_in_this_process(opened):
    def add(first, second=1, *, third=None):
        return {"sum": first + second, "third": third, "process": os.getpid()}

    interpreter = opened({"add": add})
    ran = interpreter.run(
        "a = add(1)\nb = add(1, second=2, third=[{'x': (1, 2)}])\nprint(a['sum'], b['sum'], b['third'])"
    )
    assert ran.printed == "2 3 [{'x': [1, 2]}]\n"
    assert interpreter.run("print(a['process'])").printed == f"{os.getpid()}\n"
    assert interpreter.run("import numpy\nprint(add(numpy.int64(5))['sum'])").printed == "6\n"


def test_our_errors_are_exceptions_in_the_code(opened):
    def refuse():
        raise BadOption("no such thing; nearest: 'other'")

    interpreter = opened({"refuse": refuse})
    assert interpreter.run("refuse()").error == "line 1: refuse()\nRuntimeError: no such thing; nearest: 'other'"
    ran = interpreter.run("try:\n    refuse()\nexcept Exception as error:\n    print('caught', error)")
    assert ran.printed == "caught no such thing; nearest: 'other'\n"
    assert "missing a required" in opened({"one": lambda x: x}).run("one()").error


def test_a_bug_of_a_function_is_raised_here_and_ends_the_process(opened):
    def broken():
        return [][1]

    interpreter = opened({"broken": broken})
    interpreter.run("x = 1")
    process = interpreter.process
    with pytest.raises(IndexError):
        interpreter.run("broken()")
    assert not is_there(process)
    assert "NameError" in interpreter.run("x").error


def test_calls_are_bounded(opened):
    made = []
    interpreter = opened({"call": lambda: made.append(1)}, calls=3)
    ran = interpreter.run("for _ in range(10):\n    call()")
    assert ran.error.endswith("RuntimeError: this run has made 3 calls, and may make no more")
    assert len(made) == 3
    assert interpreter.run("call()").error is None


# -------------------------------------------------------------------------------------------------------------- limits


def test_what_takes_too_long_is_killed_and_its_output_shown(opened):
    interpreter = opened(seconds=0.3)
    process = interpreter.run("x = 1") and interpreter.process
    ran = interpreter.run("print('begun')\nwhile True:\n    pass")
    assert ran.is_lost
    assert ran.printed == "begun\n"
    assert (
        ran.error == "TimeoutError: the code took longer than 0.3 s and was stopped; what earlier code defined is lost"
    )
    assert not is_there(process)
    assert "NameError" in interpreter.run("x").error


def test_a_function_that_takes_too_long_counts(opened):
    ran = opened({"slow": lambda: time.sleep(0.5)}, seconds=0.2).run("slow()")
    assert ran.is_lost
    assert "0.2 s" in ran.error


def test_memory_is_bounded_and_kept_state_lives(opened):
    interpreter = opened(memory_mb=64)
    interpreter.run("small = 7")
    ran = interpreter.run("large = bytearray(100 << 20)")
    assert ran.error.endswith("MemoryError")
    assert not ran.is_lost
    assert interpreter.run("print(small)").printed == "7\n"


def test_state_that_fills_all_memory_is_given_up(opened):
    interpreter = opened(memory_mb=64)
    ran = interpreter.run("kept = []\nwhile True:\n    kept.append(bytearray(1 << 20))")
    assert ran.is_lost
    assert "MemoryError" in ran.error
    assert interpreter.run("print(6 * 7)").printed == "42\n"


def test_a_process_that_dies_is_told_and_started_again(opened):
    interpreter = opened()
    ran = interpreter.run("import ctypes\nctypes.string_at(0)")
    assert ran.is_lost
    assert ran.error == "the interpreter broke: it died of SIGSEGV; what earlier code defined is lost"
    assert interpreter.run("print(1)").printed == "1\n"
    process = interpreter.process
    os.kill(process, signal.SIGKILL)
    assert ends(process)
    assert interpreter.run("print(2)").is_lost
    assert interpreter.run("print(2)").printed == "2\n"


def test_who_forgets_to_close_leaves_no_process():
    interpreter = CPythonInterpreter({}, Limits())
    interpreter.run("x = 1")
    process = interpreter.process
    del interpreter
    gc.collect()
    assert not is_there(process)


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)"])
def test_it_ends_with_its_parent(code):
    program = textwrap.dedent("""
        import sys
        from orienteer.sandbox.cpython import CPythonInterpreter
        from orienteer.sandbox.interpreter import Limits
        interpreter = CPythonInterpreter({"say": lambda: print(interpreter.process, flush=True)}, Limits(seconds=60))
        interpreter.run("say()\\n" + sys.argv[1])
    """)
    with subprocess.Popen([sys.executable, "-c", program, code], stdout=subprocess.PIPE, text=True) as parent:
        process = int(parent.stdout.readline())
        assert is_there(process)
        parent.kill()
    assert ends(process)


# --------------------------------------------------------------------------------------------------------------- walls


def test_what_holds_it_here(opened):
    interpreter = opened()
    interpreter.run("x = 1")
    assert {"memory", "writing", "lifeline"} <= interpreter.held
    assert unheld(interpreter.held) is None
    if platform.machine() in ("x86_64", "aarch64"):
        assert "seccomp" in interpreter.held
    assert ("landlock" in interpreter.held) == (confining.landlock_version() > 0)
    assert ("own user" in interpreter.held) <= (os.getuid() == 0)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_kernel_says_so_too(opened):
    interpreter = opened()
    interpreter.run("x = 1")
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{interpreter.process}/status").read_text().splitlines())
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapInh"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    assert status["Threads"] == "1"
    if "seccomp" in interpreter.held:
        assert status["Seccomp"] == "2"
    limits = Path(f"/proc/{interpreter.process}/limits").read_text()
    assert re.search(r"Max processes +0 +0 ", limits)
    assert re.search(r"Max file size +0 +0 ", limits)
    assert re.search(r"Max core file size +0 +0 ", limits)


def test_nothing_of_ours_is_inherited(opened, monkeypatch, tmp_path):
    monkeypatch.setenv("ORIENTEER_API_KEY", "secret")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        ran = opened().run(
            "import os, fcntl\nfound = []\nfor fd in range(64):\n    try:\n        fcntl.fcntl(fd, fcntl.F_GETFD)\n"
            "        found.append(fd)\n    except OSError:\n        pass\nprint(len(found), sorted(os.environ))"
        )
    # three that lead nowhere, requests, answers, the lifeline
    assert ran.printed == "6 ['LC_CTYPE', 'OPENBLAS_NUM_THREADS', 'PYTHONHASHSEED']\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_becomes_a_user_of_its_own(opened, monkeypatch):
    everybodys = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    asked = "import sys; sys.exit(sys.version_info < (3, 11))"
    if everybodys is None or subprocess.run([everybodys, "-c", asked], check=False).returncode:
        pytest.skip("needs a Python that everybody can read")
    monkeypatch.setattr(sys, "executable", everybodys)
    first, second = opened(), opened()
    users = {one.run("import os\nprint(os.getuid(), os.getgid())").printed for one in (first, second)}
    assert len(users) == 2
    assert not any(user.startswith("0 ") for user in users)
    assert {"own user", "process limit"} <= first.held


def test_sides_that_nothing_holds():
    everything = {"landlock", "seccomp", "memory"}
    assert unheld(everything) is None
    assert unheld({"own user", "own network", "process limit", "memory"}) is None  # an old system, started by root
    assert "files: Landlock" in unheld(everything - {"landlock"})
    assert "memory" in unheld(everything - {"memory"})
    assert unheld({"own user", "seccomp", "memory"}) is None  # the same, with a filter
    assert "files: Landlock" in unheld({"seccomp", "process limit", "memory"})  # the same, started by somebody else
    assert "changes of files" in unheld({"landlock", "process limit", "own network", "memory"})
    refused = unheld({"landlock", "memory", "writing", "lifeline", "own network"})  # root, a processor with no filter
    assert "processes: seccomp, or a start as another user than root" in refused
    assert "the network" in unheld({"landlock", "own user", "process limit", "memory"})


def test_a_system_that_holds_nothing_is_refused(opened, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UnsafeSandbox, match="needs Linux.*monty"):
        opened().run("x = 1")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("pass", "did not start"),
        ("import os; os.write(1, b'\\xff' * 100)", "did not start"),
        ("import os; os.write(1, message({'ready': []})); os.read(0, 1)", "files.*network.*processes.*memory"),
        ("import os; os.write(1, message({'ready': ['memory', 'seccomp']})); os.read(0, 1)", "files: Landlock"),
    ],
)
def test_a_process_that_is_not_held_sees_no_code(opened, monkeypatch, tmp_path, program, said):
    interpreter = opened()
    played(monkeypatch, tmp_path, program)
    with pytest.raises(UnsafeSandbox, match=said):
        interpreter.run("x = 1")
    assert interpreter.process is None


MESSAGE = "import json, struct, sys, os, time\ndef message(one):\n    data = json.dumps(one).encode()\n"
MESSAGE += "    return struct.pack('!I', len(data)) + data\n"
READY = "os.write(1, message({'ready': ['memory', 'seccomp', 'landlock']})); os.read(0, 1000); "


def played(monkeypatch, folder, program):
    """Put another program in the worker's place."""
    place = folder / "worker.py"
    place.write_text(MESSAGE + program)
    monkeypatch.setattr(cpython, "_PROGRAM", place)


@pytest.mark.parametrize(
    "program",
    [
        "os.write(1, b'garbage and more of it')",
        "os.write(1, struct.pack('!I', 5) + b'[1,2]')",
        "os.write(1, struct.pack('!I', 4_000_000_000)); time.sleep(9)",
        "os.write(1, struct.pack('!I', 30_000) + b'[' * 30_000); time.sleep(9)",
        "os.write(1, struct.pack('!I', 5000) + b'9' * 5000); time.sleep(9)",
        "os.write(1, message({'ended': 7, 'printed': '', 'left_out': 0})); time.sleep(9)",
        "os.write(1, message({'ended': 1, 'printed': 5, 'left_out': 0})); time.sleep(9)",
        "os.write(1, message({'ended': 1})); time.sleep(9)",
        "os.write(1, message({'call': 'eval', 'positional': [], 'named': {}})); time.sleep(9)",
        "os.write(1, message({'call': 'given', 'positional': 1, 'named': {}})); time.sleep(9)",
        "os.write(1, message({'call': {}, 'positional': [], 'named': {}})); time.sleep(9)",
        "os.write(1, b'\\0'); time.sleep(9)",
        "time.sleep(9)",
        "sys.exit(4)",
        "[os.write(1, message({'call': 'given', 'positional': ['x' * 9000], 'named': {}})) for _ in range(10**6)]",
    ],
)
def test_a_process_that_lies_costs_its_run_and_no_more(opened, monkeypatch, tmp_path, program):
    interpreter = opened({"given": lambda text: text}, seconds=0.3)
    played(monkeypatch, tmp_path, READY + program)
    ran = interpreter.run("x = 1")
    assert ran.is_lost
    assert ran.error.endswith("what earlier code defined is lost")
    assert interpreter.process is None


@pytest.mark.parametrize("program", ["time.sleep(9)", "sys.exit(4)"])
def test_a_process_that_does_not_listen_is_no_fault_of_ours(opened, monkeypatch, tmp_path, program):
    interpreter = opened(seconds=0.3)
    played(monkeypatch, tmp_path, READY + program)
    ran = interpreter.run("x = 1\n" * 1_000_000)
    assert ran.is_lost


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs /proc")
def test_many_descriptors_of_ours_are_no_fault(opened):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1_300:
        pytest.skip("not so many descriptors may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_300, hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert opened({"one": lambda: 1}).run("print(one())").printed == "1\n"
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_is_said_between_runs_ends_it(opened, monkeypatch, tmp_path):
    ended = {"ended": 1, "printed": "one", "left_out": 0}
    interpreter = opened(seconds=2)
    played(
        monkeypatch,
        tmp_path,
        READY + f"os.write(1, message({ended!r}) + message({ended | {'ended': 2}!r})); time.sleep(9)",
    )
    assert interpreter.run("x = 1").printed == "one"
    assert interpreter.run("x = 2").is_lost


def test_claims_of_a_process_are_held_to_the_limits(opened, monkeypatch, tmp_path):
    ended = {"ended": 1, "printed": "word " * 50_000, "left_out": -9, "error": "e" * 50_000, "missing": "m" * 50_000}
    interpreter = opened(seconds=5, output_characters=1_000)
    played(monkeypatch, tmp_path, READY + f"os.write(1, message({ended!r})); time.sleep(9)")
    ran = interpreter.run("x = 1")
    assert len(ran.printed) < 1_400
    assert ran.left_out > 200_000
    assert len(ran.error) <= 4_000
    assert len(ran.missing) <= 200


# ---------------------------------------------------------------------------------------------------------- the filter


def allows(program, processor, number, arguments=()):
    """Run a filter as the kernel would: an oracle for the four kinds of step that it may have."""
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, processor, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("<HBBI", program))
    place, value = 0, 0
    while True:
        kind, yes, no, operand = steps[place]
        place += 1
        if kind == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif kind == 0x15:
            place += yes if value == operand else no
        elif kind == 0x45:
            place += yes if value & operand else no
        else:
            assert kind == 0x06
            assert operand in (0x7FFF0000, 0x0005000D)
            return operand == 0x7FFF0000


@pytest.mark.parametrize(("machine", "column", "processor"), [("x86_64", 0, 0xC000003E), ("aarch64", 1, 0xC00000B7)])
def test_the_filter_leaves_what_is_listed_and_nothing_else(monkeypatch, machine, column, processor):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program = confining.filter_program()
    listed = {numbers[column] for numbers in confining.CALLS.values()} - {None}
    partly = {confining.OPENAT[column], confining.FCNTL[column]}
    for number in (*range(1_000), *range(0x40000000, 0x40000400), 0xFFFFFFFF):
        if number not in partly:
            assert allows(program, processor, number) == (number in listed)
        assert not allows(program, 0x40000003, number)  # the 32-bit calls of the same machine
    for flags in range(1 << 13):
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        assert allows(program, processor, confining.OPENAT[column], (0, 0, flags)) == (not writes)
    for command in range(2_000):
        named = command in (0, 1, 2, 3, 1030)
        assert allows(program, processor, confining.FCNTL[column], (0, command)) == named


@pytest.mark.skipif(confining.filter_program() is None, reason="the calls of this processor are not known")
def test_the_kernel_refuses_every_other_call(opened):
    column = 0 if platform.machine() == "x86_64" else 1
    listed = {numbers[column] for numbers in (*confining.CALLS.values(), confining.OPENAT, confining.FCNTL)}
    others = [number for number in (*range(600), *range(0x40000000, 0x40000258)) if number not in listed]
    code = f"""
        import ctypes
        library = ctypes.CDLL(None, use_errno=True)
        let_through = []
        for number in {others}:
            ctypes.set_errno(0)
            if library.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 13:
                let_through.append(number)
        print(let_through)
    """
    ran = opened().run(textwrap.dedent(code))
    assert ran.printed == "[]\n", ran.error
    assert len(others) > 1_000


def test_no_filter_for_an_unknown_processor(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    assert confining.filter_program() is None
    assert confining.filter_calls() is False


@pytest.mark.parametrize(("column", "header"), list(enumerate(HEADERS)))
def test_the_numbers_are_the_kernels(column, header):
    if not Path(header).exists():
        pytest.skip(f"no {header}")
    known = {}
    for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text()):
        known.setdefault(name.replace("fstatat", "newfstatat").replace("newnewfstatat", "newfstatat"), int(number))
    wanted = {**confining.CALLS, "openat": confining.OPENAT, "fcntl": confining.FCNTL}
    assert {name: numbers[column] for name, numbers in wanted.items()} == {name: known.get(name) for name in wanted}


def test_the_tier_is_had_by_name():
    interpreter = open_interpreter("cpython", {}, Limits())
    assert interpreter.tier == "cpython"
    assert interpreter.run("print(1)").printed == "1\n"
    interpreter.close()
