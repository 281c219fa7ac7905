"""What holds processes and threads ends though it be freed in a thread that holds the locks which all threads share.

The garbage collector runs in whatever thread makes the next object, in the midst of Python's own code as well.
"""

import concurrent.futures.thread
import threading
from contextlib import ExitStack

import pytest

from orienteer.cypher import ConfinedEngine, Cypher
from orienteer.llm import ScriptedModel
from orienteer.retriever import Retriever
from orienteer.sandbox import Limits, open_interpreter
from orienteer.tools import CodeInterpreter, Session

pytestmark = pytest.mark.process

SHARED = [
    (concurrent.futures.thread, "_global_shutdown_lock"),
    (threading, "_active_limbo_lock"),
    (threading, "_shutdown_locks_lock"),  # Python 3.11 and 3.12
]
LONG = 20.0


def interpreter(tier):
    def begun(graph):
        opened = open_interpreter(tier, {}, Limits())
        assert opened.run("print(1)").printed == "1\n"
        return opened

    return begun


def tool(graph):
    return CodeInterpreter(Session(graph))


def cypher(graph):
    asked = Cypher(graph, ConfinedEngine)
    assert asked.query("RETURN 1").rows == ((1,),)
    return asked


def stream(graph):
    def policy(messages, tools, sampling):
        return [("finish", {})]

    begun = Retriever(graph, "ark", model=ScriptedModel(policy), agents=1).stream("salt")
    next(begun)
    return begun


@pytest.mark.parametrize(
    "begun", [interpreter("monty"), interpreter("cpython"), tool, cypher, stream], ids=["monty", "cpython", *"tcs"]
)
def test_it_ends_though_the_thread_holds_what_others_wait_for(small, begun):
    kept = [begun(small)]
    may_drop, is_dropped = threading.Event(), threading.Event()

    def drop():
        may_drop.wait(LONG)
        kept.clear()
        is_dropped.set()

    threading.Thread(target=drop, daemon=True).start()
    with ExitStack() as held:
        for module, name in SHARED:
            if hasattr(module, name):
                held.enter_context(getattr(module, name))
        may_drop.set()
        assert is_dropped.wait(LONG)
