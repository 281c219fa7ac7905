"""What every tier of the sandbox keeps, whatever code it is given."""

import importlib
import inspect
import pkgutil
import time
from importlib.util import find_spec

import pytest

import orienteer.sandbox
from orienteer.errors import BadOption, BadQuery, UnsafeSandbox
from orienteer.sandbox import CPythonInterpreter, Interpreter, Limits, MontyInterpreter, open_interpreter

pytestmark = pytest.mark.process
NEEDS_MONTY = pytest.mark.skipif(find_spec("pydantic_monty") is None, reason="the extra sandbox is not installed")
TIERS = [pytest.param(MontyInterpreter, id="monty", marks=NEEDS_MONTY), pytest.param(CPythonInterpreter, id="cpython")]


class Bug(Exception):
    """What only a fault of our own raises."""


def answer(query, params=None, limit=None):
    if query == "wrong":
        raise BadQuery("No node type 'Gen'. Near: Gene.")
    if query == "bug":
        raise Bug
    if query == "slow":
        time.sleep(0.6)
    return [{"query": query, "params": params, "limit": limit}]


def opened(kind, **limits):
    interpreter = kind({"cypher": answer}, Limits(**{"memory_mb": 200, **limits}))
    try:
        interpreter.run("")
    except UnsafeSandbox as error:
        pytest.skip(f"this system cannot hold the tier: {error}")
    return interpreter


@pytest.fixture(scope="module", params=TIERS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def tier(kind):
    interpreter = opened(kind, seconds=20.0, output_characters=400, calls=5)
    yield interpreter
    interpreter.close()


def test_every_tier_is_in_the_list():
    found = set()
    for module in pkgutil.iter_modules(orienteer.sandbox.__path__, "orienteer.sandbox."):
        if not module.name.endswith("worker"):  # a script, not a module
            for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if one.__module__ == module.name and {"tier", "run", "close"} <= set(vars(one)):
                    found.add(one)
    assert found - {Interpreter} == {one.values[0] for one in TIERS}


def test_it_says_which_it_is(kind, tier):
    assert f"{tier.tier}interpreter" == kind.__name__.lower()


def test_names_stay_from_run_to_run_and_after_an_error(tier):
    assert tier.run("x = [1]\ndef double(n): return 2 * n").error is None
    assert tier.run("x.append(double(4))\n1 / 0").error == "line 2: 1 / 0\nZeroDivisionError: division by zero"
    assert tier.run("print(x)").printed == "[1, 8]\n"


def test_nothing_but_what_is_printed_comes_back(tier):
    found = tier.run("40 + 2")
    assert (found.printed, found.error, found.missing, found.is_lost, found.left_out) == ("", None, None, False, 0)
    assert tier.run("").error is None
    assert tier.run("# a remark").error is None


def test_functions_are_called_and_their_errors_are_exceptions_of_the_code(tier):
    code = "print(cypher('a', limit=2, params={'k': [1, 2.5, None, True, 'é']}))"
    assert tier.run(code).printed == "[{'query': 'a', 'params': {'k': [1, 2.5, None, True, 'é']}, 'limit': 2}]\n"
    caught = tier.run("try:\n    cypher('wrong')\nexcept Exception as error:\n    print('told', error)")
    assert (caught.printed, caught.error) == ("told No node type 'Gen'. Near: Gene.\n", None)
    found = tier.run("y = 1\ncypher('wrong')")
    assert found.error.startswith("line 2: cypher('wrong')\n")
    assert found.error.endswith("No node type 'Gen'. Near: Gene.")


@pytest.mark.parametrize(
    "call",
    [
        *("cypher()", "cypher('a', rows=1)", "cypher('a', {'f': print})", "fetch('a')"),
        *("cypher('a', limit=-10**5000)", "cypher('a', [{'n': 10**5000}])", "cypher('a', {10**5000: 1})"),
    ],
)
def test_a_wrong_call_is_an_error_of_the_code(tier, call):
    found = tier.run(call)
    assert found.error.startswith(f"line 1: {call}\n")
    assert not found.is_lost


def test_a_bug_of_a_function_is_raised_and_the_next_run_is_answered(kind):
    interpreter = opened(kind)
    with pytest.raises(Bug):
        interpreter.run("try:\n    cypher('bug')\nexcept BaseException:\n    print('hidden')")
    assert interpreter.run("print(1)").printed == "1\n"
    interpreter.close()


def test_calls_are_counted_for_each_run(tier):
    code = "n = 0\ntry:\n    while True:\n        cypher('a')\n        n += 1\nexcept Exception as error:\n    print(n)"
    assert [tier.run(code).printed for _ in range(2)] == ["5\n", "5\n"]


def test_output_is_kept_at_both_ends_and_counted(tier):
    found = tier.run("for n in range(2000): print('line', n)")
    whole = "".join(f"line {n}\n" for n in range(2000))
    head, gap, tail = found.printed.partition("\n... ")
    told, _, tail = tail.partition(" characters left out ...\n")
    assert gap
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert int(told.replace(",", "")) == found.left_out
    assert len(head) + len(tail) + found.left_out == len(whole)
    assert len(head) + len(tail) <= 400


@pytest.mark.parametrize("code", ["while True: pass", "print('begun')\ncypher('slow')\nprint('over')"])
def test_what_takes_too_long_is_stopped_and_the_state_is_lost(kind, code):
    interpreter = opened(kind, seconds=0.4)
    interpreter.run("x = 1")
    found = interpreter.run(code)
    assert found.is_lost
    assert "longer than 0.4 s" in found.error
    assert "over" not in found.printed
    assert "NameError" in interpreter.run("x").error
    interpreter.close()


@pytest.mark.parametrize("code", ["x = 'a' * 10**10", "x = []\nwhile True: x.append(list(range(1000)))"])
def test_memory_is_bounded(kind, code):
    interpreter = opened(kind, memory_mb=100)
    found = interpreter.run(code)
    assert "MemoryError" in found.error or found.is_lost
    assert interpreter.run("print(1)").printed == "1\n"
    interpreter.close()


@pytest.mark.parametrize("code", ["print(x", "def f(:\n    pass", "x = = 1", "\x00", "print('\ud800' 1)"])
def test_bad_syntax_is_told(tier, code):
    found = tier.run(code)
    assert found.error
    assert not found.is_lost
    assert found.missing is None


def test_what_is_drawn_at_random_and_the_order_of_sets_repeat(kind):
    code = "import random\nprint(random.random(), {'a', 'b', 'c', 'd'}, hash('a'))"
    first, second = opened(kind), opened(kind)
    assert first.run(code).printed == second.run(code).printed
    first.close()
    second.close()


def test_closing_ends_the_state_and_twice_is_no_fault(kind):
    interpreter = opened(kind)
    interpreter.run("x = 1")
    interpreter.close()
    interpreter.close()
    assert "NameError" in interpreter.run("x").error
    interpreter.close()


def test_a_tier_that_there_is_not_is_told():
    with pytest.raises(BadOption, match="'docker'.*auto, monty, cpython"):
        open_interpreter("docker", {}, Limits())
