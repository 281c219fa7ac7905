"""A student as a GGUF file: its weights come back, engines load it, and its card says what it is for."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from orienteer.errors import BadInput, Error
from orienteer.lab.training import SftConfig, Training, distil, export_student, open_student, save_student
from training import tiny

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
gguf = pytest.importorskip("gguf")
pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore")]  # what the libraries tell each other

BITS = {"f16": 2**-11, "q8_0": 1 / 254 + 2**-10}
"""By precision, how far a weight may be off: of itself, or of the greatest of its block of 32. Scales are halves."""


@pytest.fixture(scope="module", params=["llama", "qwen3"])
def made(request, episodes, lesson, scratch):
    """Give the file that a student came from, and the folder of its training, of both kinds of attention."""
    folder = scratch()
    folder.mkdir()
    with tiny.no_warnings():
        random = tiny.student(folder / "random", tiny.texts_of(episodes), kind=request.param)
        base_gguf = tiny.as_gguf(random, folder / "base.gguf")
        settings = {**tiny.SETTINGS, "max_steps": "2", "batch": "4", "micro_batch": "4", "learning_rate": "1e-3"}
        distil([lesson], folder / "t", str(base_gguf), SftConfig.read({**settings, "max_length": "900"}))
    return random, base_gguf, folder / "t"


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_a_gguf_file_is_opened_as_the_model_that_it_was(made):
    random, base_gguf, _ = made
    student = open_student(str(base_gguf))
    before, after = weights(random), student.model.state_dict()
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert student.base == base_gguf
    text = "Find the ships that are moored in Varberg.<|im_end|>\n"
    ids = [one.tokenizer(text, add_special_tokens=False)["input_ids"] for one in (student, open_student(str(random)))]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("precision", list(BITS))
def test_its_weights_come_back(made, tmp_path, precision):
    """Read by transformers, which turns the rows of queries and keys back by itself."""
    _, base_gguf, training = made
    export_student(training, tmp_path / "s.gguf", precision=precision)
    trained, again = weights(training / "model"), open_student(str(tmp_path / "s.gguf")).model.state_dict()
    assert any(not torch.equal(trained[name], weight) for name, weight in weights(made[0]).items()), "it was trained"
    for name, weight in trained.items():
        if weight.ndim == 1:
            assert torch.equal(again[name], weight), "vectors stay as they are"
            continue
        blocks = weight.reshape(-1, 32)
        off = (again[name].reshape(-1, 32) - blocks).abs()
        most = blocks.abs() if precision == "f16" else blocks.abs().amax(dim=1, keepdim=True)
        assert (off <= most * BITS[precision] * 1.01 + 1e-7).all(), name


def test_the_file_says_what_the_base_says_but_for_name_and_bits(made, tmp_path):
    _, base_gguf, training = made
    export_student(training, tmp_path / "s.gguf", precision="f16")
    old, new = gguf.GGUFReader(base_gguf), gguf.GGUFReader(tmp_path / "s.gguf")
    apart = {"general.name", "general.file_type"}
    said = [
        {
            name: value.contents()
            for name, value in one.fields.items()
            if not name.startswith("GGUF.") and name not in apart
        }
        for one in (old, new)
    ]
    assert said[0] == said[1]
    assert new.fields["general.name"].contents() == "s"
    assert {tensor.name: tuple(tensor.shape) for tensor in new.tensors} == {
        tensor.name: tuple(tensor.shape) for tensor in old.tensors
    }
    assert {tensor.tensor_type.name for tensor in new.tensors} == {"F16", "F32"}


def test_the_card_beside_it_tells_how_it_is_asked_and_made(made, tmp_path):
    *_, training = made
    card = export_student(training, tmp_path / "s.gguf")
    assert card == tmp_path / "s.card.json"
    told = json.loads(card.read_text())
    assert (told["agent"], told["dialect"], told["file"]) == ("ark tools=compact agents=1", "terse", "s.gguf")
    assert "--method ark --set tools=compact --set agents=1 --model local:s.gguf" in told["use"]
    assert re.fullmatch(r"sft: 4 rows, 2 steps, \d+ s", told["trained"])
    assert told["settings"]["learning_rate"] == 1e-3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.card.json", "s.gguf"], "and nothing half written"


def test_the_card_says_that_training_ended_early(made, tmp_path):
    """Else a student of 60 rows seems to have learnt them all."""
    training = shutil.copytree(made[2], tmp_path / "t")
    file = training / "training.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"stopped": "20 minutes were over"}))
    told = json.loads(export_student(training, tmp_path / "s.gguf").read_text())
    assert re.fullmatch(r"sft: 4 rows, 2 steps, \d+ s; 20 minutes were over", told["trained"])


def test_an_engine_loads_it_and_says_something(made, tmp_path):
    """In a process of its own: an engine that cannot read a file ends the process."""
    _needs_an_engine()
    *_, training = made
    export_student(training, tmp_path / "s.gguf")
    assert said_by_an_engine(tmp_path / "s.gguf")


def _needs_an_engine():
    """Skip where llama.cpp is not installed. It is not imported: beside PyTorch it ends the process."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")


ENGINE = """
import json, sys, urllib.request
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.use_jinja = 512, 1, True
params.hostnames, params.port = ["127.0.0.1"], 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
body = {"messages": [{"role": "user", "content": "Where is it moored?"}], "max_tokens": 8, "temperature": 0}
request = urllib.request.Request(
    f"{server.listening_address}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
)
reply = json.loads(urllib.request.urlopen(request).read())
print("USED", json.dumps(reply["usage"]))
"""


def said_by_an_engine(file):
    """Return how many tokens llama.cpp writes when it is asked; its words differ from machine to machine."""
    env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    ran = subprocess.run(
        [sys.executable, "-c", ENGINE, file], capture_output=True, text=True, timeout=100, check=False, env=env
    )
    found = re.search(r"USED (.*)", ran.stdout)
    assert found, ran.stderr[-2000:]
    return json.loads(found[1])["completion_tokens"]


# ---------------------------------------------------------------------------------------------------------- bad input


def test_a_base_of_another_model_is_refused(made, episodes, tmp_path):
    _, base_gguf, training = made
    other = "qwen3" if "llama" in json.loads((made[0] / "config.json").read_text())["model_type"] else "llama"
    wrong = tiny.as_gguf(tiny.student(tmp_path / "o", tiny.texts_of(episodes), kind=other), tmp_path / "o.gguf")
    with pytest.raises(BadInput, match="the base is of another model than") as told:
        export_student(training, tmp_path / "s.gguf", base=wrong)
    assert "\n" not in str(told.value)
    assert not list(tmp_path.glob("s.*"))


def test_a_base_with_other_sizes_is_refused(made, episodes, tmp_path):
    kind = json.loads((made[0] / "config.json").read_text())["model_type"]
    random = tiny.student(tmp_path / "o", tiny.texts_of(episodes)[:5], kind=kind)
    wrong = tiny.as_gguf(random, tmp_path / "o.gguf")
    with pytest.raises(BadInput, match="the base is of another model than"):
        export_student(made[2], tmp_path / "s.gguf", base=wrong)


def test_a_base_that_is_no_gguf_is_refused(made, tmp_path):
    for name, content in (("a.gguf", b"hello"), ("b.gguf", b""), ("c.gguf", b"GGUF" + bytes(200))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput, match="is not a GGUF file"):
            export_student(made[2], tmp_path / "s.gguf", base=tmp_path / name)
    with pytest.raises((BadInput, OSError)):
        export_student(made[2], tmp_path / "s.gguf", base=tmp_path / "nowhere.gguf")


def test_a_base_of_an_unknown_kind_is_refused(made, tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "g.gguf", "gemma3")
    writer.add_block_count(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(
        BadInput, match="is a model of the kind gemma3, and how llama.cpp writes that is not known here"
    ):
        export_student(made[2], tmp_path / "s.gguf", base=tmp_path / "g.gguf")


def test_without_a_base_one_is_asked_for(pupil, tmp_path):
    with pytest.raises(BadInput, match="does not say which GGUF file it came from"):
        export_student(pupil, tmp_path / "s.gguf")


def test_an_unfinished_training_is_not_exported(made, tmp_path):
    shutil.copytree(made[2], tmp_path / "t")
    file = tmp_path / "t" / "training.json"
    file.write_text(file.read_text().replace('"is_complete": true', '"is_complete": false'))
    with pytest.raises(BadInput, match="is not at its end: repeat the command that began it"):
        export_student(tmp_path / "t", tmp_path / "s.gguf")


def test_a_student_that_is_gone_or_damaged_is_told(made, tmp_path):
    shutil.copytree(made[2], tmp_path / "t")
    weights = tmp_path / "t" / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(BadInput):
        export_student(tmp_path / "t", tmp_path / "s.gguf", base=made[1])
    weights.unlink()
    with pytest.raises(BadInput):
        export_student(tmp_path / "t", tmp_path / "s.gguf", base=made[1])
    assert not list(tmp_path.glob("s.*"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_disk_that_is_full_leaves_the_file_that_was_there(made, tmp_path):
    import resource

    (tmp_path / "s.gguf").write_text("the old one")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises((Error, OSError)):
            export_student(made[2], tmp_path / "s.gguf")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["s.gguf"]
    assert (tmp_path / "s.gguf").read_text() == "the old one"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_smollm2_comes_back_and_an_engine_loads_it(tmp_path):
    """The real one: 135 million weights, quantised at first."""
    _needs_an_engine()
    try:
        student = open_student("smollm2")
    except BadInput as error:
        pytest.skip(str(error))
    training = Training(
        kind="sft", student="smollm2", collection_sha256="0", agent="ark tools=compact agents=1", dialect="terse",
        settings={}, is_complete=True,
    )  # fmt: skip
    save_student(student, student.model, tmp_path, training)
    (tmp_path / "training.json").write_text(training.model_dump_json())
    export_student(tmp_path, tmp_path / "s.gguf", precision="f16")
    again = open_student(str(tmp_path / "s.gguf")).model.state_dict()
    own = student.model.state_dict()
    assert all(torch.allclose(again[name], own[name], rtol=2**-11, atol=1e-7) for name in own)
    assert said_by_an_engine(tmp_path / "s.gguf")
