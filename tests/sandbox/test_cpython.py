"""The second tier: what a run gives, what is kept between runs, and what a run may take."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.sandbox import CPythonInterpreter, Limits, landlock_version, open_interpreter

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the second tier needs Linux")


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


SPINNING = """
import sys
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
real = frame.f_globals["_receive"]
def receive(stream):
    global went_on
    while True:
        went_on += 1
went_on = 0
frame.f_globals["_receive"] = receive
"""


def used(process):
    """Return the time on the processor that a process has had, in ticks of the system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("code", ["x = 1", SPINNING, "import signal\nsignal.signal(signal.SIGCONT, lambda *_: None)"])
def test_nothing_runs_between_runs(opened, becomes, code):
    interpreter = opened(seconds=1)
    assert interpreter.run(code).error is None
    process = interpreter.process
    assert becomes(process, "T")
    begun = used(process)
    time.sleep(0.1)
    assert used(process) == begun
    again = interpreter.run("print(6 * 7)")
    assert again.is_lost == (code == SPINNING)
    assert again.is_lost or (again.printed == "42\n" and interpreter.process == process)


@pytest.mark.skipif(landlock_version() == 0, reason="without Landlock nothing is opened at all")
def test_the_library_is_imported_from_folders_that_cannot_be_listed(opened):
    code = """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        names = ("site-packages", "dist-packages", "ensurepip/_bundled", "..", "", "test", "json", "lib-dynload")
        for name in names:
            try:
                print(name, len(os.listdir(os.path.join(os.path.dirname(os.__file__), name))) > 0)
            except FileNotFoundError:
                print(name, False)
            except PermissionError:
                print(name, None)
        missing = []
        for name in sorted(sys.stdlib_module_names - {"antigravity", "this", "ensurepip", "idlelib"}):
            try:
                __import__(name)
            except ModuleNotFoundError:  # it is another system's
                pass
            except Exception as error:
                missing.append((name, error))
        print(missing)
    """
    ran = opened(seconds=60, memory_mb=1024).run(textwrap.dedent(code))
    assert ran.error is None
    *listed, missing = ran.printed.splitlines()
    counts = dict(line.rpartition(" ")[::2] for line in listed)
    assert counts.pop("json") == "True"
    assert counts.pop("lib-dynload") in ("True", "False")
    assert set(counts.values()) <= {"None", "False"}
    assert missing == "[]"


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
    processes = []
    interpreter = opened({"call": lambda: processes.append(1)}, calls=3)
    ran = interpreter.run("for _ in range(10):\n    call()")
    assert ran.error.endswith("RuntimeError: this run has made 3 calls, and may make no more")
    assert len(processes) == 3
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


CLOSING = """
import fcntl, os, time
for fd in range(64):
    try:
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ASYNC:
            os.close(fd)
    except OSError:
        pass
time.sleep(60)
"""


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)", CLOSING])
def test_it_ends_with_its_parent(code):
    program = textwrap.dedent("""
        import sys
        from orienteer.sandbox import CPythonInterpreter
        from orienteer.sandbox import Limits
        interpreter = CPythonInterpreter({"say": lambda: print(interpreter.process, flush=True)}, Limits(seconds=60))
        interpreter.run("say()\\n" + sys.argv[1])
    """)
    with subprocess.Popen([sys.executable, "-c", program, code], stdout=subprocess.PIPE, text=True) as parent:
        process = int(parent.stdout.readline())
        assert is_there(process)
        parent.kill()
    assert ends(process)


def test_the_tier_is_had_by_name():
    interpreter = open_interpreter("cpython", {}, Limits())
    assert interpreter.tier == "cpython"
    assert interpreter.run("print(1)").printed == "1\n"
    interpreter.close()
