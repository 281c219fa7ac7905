"""Answers word by word over `/v1`, asked by the official SDK, while a model's server over HTTP still writes them."""

import threading

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

import openai

from fakes import Answer, FakeServer
from fakes.http_site import events_of, serving
from orienteer.llm import OpenAIConfig, OpenAIModel

ASKED = [{"role": "user", "content": "Was it Guido van Rossum?"}]
GUIDO = "person:guido-van-rossum"
WORDS = ("He did ", "it", f" [{GUIDO}", "].\nAns", "wer: Guido ", "van Rossum")
MODEL = "orienteer/languages:bm25"


class Scripted:
    """A server of a graph, whose model is behind another server, and the SDK as its client."""

    def __init__(self, languages, answer):
        self.model_server = FakeServer(lambda body, before: answer)
        config = OpenAIConfig(base_url=self.model_server.url, api_key="none", retries=0)
        self._site = serving({"languages": languages}, model=OpenAIModel("fake", config))

    def __enter__(self):
        self.model_server.__enter__()
        self.client = self._site.__enter__()
        self.sdk = openai.OpenAI(base_url=f"{self.client.url}/v1", api_key="none", max_retries=0)
        return self

    def __exit__(self, *error):
        self.sdk.close()
        self._site.__exit__(*error)
        self.model_server.__exit__(*error)

    def stream(self, **more):
        return self.sdk.chat.completions.create(model=MODEL, messages=ASKED, stream=True, **more)

    def text(self):
        return "".join(words_in(chunk) for chunk in self.stream())

    def whole(self):
        return self.sdk.chat.completions.create(model=MODEL, messages=ASKED).choices[0].message.content


def words_in(chunk):
    return (chunk.choices[0].delta.content or "") if chunk.choices else ""


def hits_of(whole):
    """Return the numbered hits of a whole answer, which begin at the first line that is one."""
    return whole[whole.index("\n[1] ") + 1 :]


def test_the_first_words_come_before_the_last_are_written(languages):
    gate = threading.Event()
    with Scripted(languages, Answer(content="".join(WORDS), parts=WORDS, held=gate)) as scripted:
        chunks = iter(scripted.stream())
        first = next(words for chunk in chunks if (words := words_in(chunk)))
        assert first == "He did"
        assert not gate.is_set()  # the model's server still holds all but its first words
        gate.set()
        rest = list(chunks)
        text = first + "".join(map(words_in, rest))
        whole = scripted.whole()
    number = hits_of(whole).split(f"`{GUIDO}`")[0].rpartition("[")[2].partition("]")[0]
    assert text == f"He did it [{number}].\n\nGuido van Rossum\n\n{hits_of(whole)}"
    assert whole.startswith(f"Guido van Rossum\n\nHe did it [{number}].\n\n[1] ")
    assert rest[-1].choices[0].finish_reason == "stop"
    assert rest[-1].model_extra["orienteer"]["answer"] == "Guido van Rossum"


def test_a_server_that_does_not_stream_is_answered_whole(languages):
    with Scripted(languages, Answer(content=f"He did [{GUIDO}]. Answer: Guido")) as scripted:
        assert scripted.text() == scripted.whole()


def test_what_is_read_otherwise_than_it_was_told_is_put_right(languages):
    twice = ("One. ", "Answer: two", ". Answer: ", "three.")
    with Scripted(languages, Answer(content="".join(twice), parts=twice)) as scripted:
        text, whole = scripted.text(), scripted.whole()
    told = "(the words above are not the answer as it was read, which is this:)"
    assert text == f"One.\n\ntwo.\n\n{told}\n\n{whole}"
    assert whole.startswith("three.")


def test_a_stream_that_breaks_off_is_an_error_or_says_that_no_answer_came(languages):
    with (
        Scripted(languages, Answer(parts=("He did ", "it"), dropped="within")) as scripted,
        scripted.client.stream("/v1/chat/completions", {"model": MODEL, "messages": ASKED, "stream": True}) as lines,
    ):
        text = b"".join(lines).decode()
    assert '"content": "He did"' in text
    assert "(no answer came of the words above)" in text


def test_that_nothing_is_there_is_said_once(languages):
    none = ("Not in ", "the evidence.")
    with Scripted(languages, Answer(content="".join(none), parts=none)) as scripted:
        text = scripted.text()
    assert text.startswith("not in the evidence: bm25 gave ")
    assert "\n\n[1] " in text
    assert text.lower().count("not in the evidence") == 1


@pytest.mark.parametrize("parts", [("N", "o"), ("It is so. Answer: Not", " in the evidence room")])
def test_an_answer_that_begins_so_is_streamed_whole(languages, parts):
    with Scripted(languages, Answer(content="".join(parts), parts=parts)) as scripted:
        text = scripted.text()
    assert text.startswith("".join(parts).replace(" Answer: ", "\n\n"))
    assert "(" not in text.partition("[1]")[0]


def test_words_before_it_stay_and_the_refusal_follows(languages):
    none = ("Nobody says. ", "Answer: not in", " the evidence")
    with Scripted(languages, Answer(content="".join(none), parts=none)) as scripted:
        text = scripted.text()
    assert text.startswith("Nobody says.\n\n(no answer came of the words above)\n\nnot in the evidence: bm25 gave ")


def test_a_question_that_no_rule_reads_says_so_before_its_nearest_hits(languages):
    with serving({"languages": languages}) as client:
        body = {"model": "orienteer/languages:anchor", "messages": [{"role": "user", "content": "Who blorped Python?"}]}
        reply = client.post("/v1/chat/completions", body).json
    text = reply["choices"][0]["message"]["content"]
    assert text.startswith(reply["orienteer"]["refusal"]["text"])
    assert "\n\n[1] " in text


def test_a_client_that_shows_sources_is_told_them_beside_the_words(languages):
    with Scripted(languages, Answer(content="".join(WORDS), parts=WORDS)) as scripted:
        chunks = list(
            scripted.stream(
                extra_headers={"X-OpenWebUI-Chat-Id": "1"}, stream_options={"include_usage": True}, temperature=0.1
            )
        )
    events = [chunk.model_extra["event"] for chunk in chunks if "event" in (chunk.model_extra or {})]
    assert GUIDO in [event["data"]["source"]["id"] for event in events if event["type"] == "source"]
    assert chunks[-1].usage.total_tokens == 110


def test_events_have_the_hits_before_the_words_that_cite_them(languages):
    with Scripted(languages, Answer(content="".join(WORDS), parts=WORDS)) as scripted:
        body = {"question": ASKED[0]["content"], "method": "bm25", "k": 5}
        with scripted.client.stream("/api/ask", body) as lines:
            events = list(events_of(lines))
    kinds = [event["event"] for event in events]
    assert kinds.count("hit") == 5
    last_hit = len(kinds) - 1 - kinds[::-1].index("hit")
    assert last_hit < kinds.index("answer_part")
    done = events[-1]["data"]["result"]
    parts = [event["data"]["text"] for event in events if event["event"] == "answer_part"]
    assert "".join(parts) == f"{done['long_answer']}\n\n{done['answer']}"
