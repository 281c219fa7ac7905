"""The teacher `reader`: each lesson is a question and the line that was believed, as it will be asked of a student."""

from __future__ import annotations

import json

import pytest

from fakes import Answer, FakeServer
from gbnf import Gbnf
from orienteer.errors import BadOption, ModelError
from orienteer.lab.replay import requests as requests_of
from orienteer.lab.training import (
    CollectConfig,
    collect_trajectories,
    collected_trajectories,
    learnt_texts,
    read_collection,
    training_rows,
)
from orienteer.llm import GRAMMAR, ScriptedModel
from orienteer.records import Manner, Message, Reply, Usage
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from training.tiny import END, Bytes

WIDE = 1_000_000
HOLM, TOWN = 'novel that -written_by-> "Ada Holm"', 'novel that -set_in-> "Lodz"'
BOTH, ALONE, DOUBTED, SENT_BACK, WIDER, REFUSED, APART = (
    "Which novels are written by Ada Holm?",
    "What did Ada Holm put on paper, that novel stuff?",
    "Whatever novels did Noor Vik put down?",
    "Whatever novels did Ines Varga put down?",
    "Whatever novels play round Lodz?",
    "Whatever did Tomas Lind drink?",
    "Which writers are born in Lodz?",
)


def line(text, *unread):
    return json.dumps({"line": text, "unread": list(unread)})


REPLIES = {
    BOTH: (line(HOLM),),
    ALONE: (line(HOLM),),
    DOUBTED: (line('novel that -written_by-> "Noor Vik" or "Nobody"'), line('novel that -written_by-> "Noor Vik"')),
    SENT_BACK: (line('writer that is "Ines Varga"'), line('writer that is "Ines Varga"')),
    WIDER: (line(TOWN), line(TOWN)),
    REFUSED: (line(None, "drink"),),
    APART: (line('writer that is "Ada Holm" and -born_in-> "Lodz"'), line('novel that -set_in-> "Lodz"')),
}
GOLD = {BOTH: ["n0", "n4"], ALONE: ["n0", "n4"], DOUBTED: ["n1", "n5"], SENT_BACK: ["n2", "n6"], WIDER: ["n1"]}
BELIEVED = {BOTH, ALONE, DOUBTED, SENT_BACK, WIDER}
RIGHT = {BOTH, ALONE, DOUBTED}


def replied(messages):
    """Return what the teacher says: a question's first reply, or the next one if that was sent back."""
    question = messages[1].rpartition("Question: ")[2].strip()
    return REPLIES[question][min(len(messages) // 2 - 1, len(REPLIES[question]) - 1)]


@pytest.fixture
def taught_by(books, tmp_path):
    """Give a function that collects what `reader` makes of the questions, by a scripted model."""
    file = tmp_path / "asked.jsonl"
    rows = [{"id": f"q{at}", "question": text, "nodes": GOLD.get(text, ["w2"])} for at, text in enumerate(REPLIES)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def made(*, model=None, teacher="reader", folder="lessons", **config):
        model = model or ScriptedModel(lambda messages, *_: replied([message.content for message in messages]))
        config = CollectConfig(teacher=teacher, samples=1, **config)
        done = collect_trajectories(
            [books], tmp_path / folder, config, questions=file, model=model, settings=Settings()
        )
        return done.parts[0], {one.question.text: one for _, one in collected_trajectories(tmp_path / folder)}

    return made


def test_the_lessons_are_the_lines_that_were_believed(taught_by):
    part, lessons = taught_by()
    assert set(lessons) == BELIEVED, "a line apart from the rules', or none, is no lesson"
    assert (part.trajectories, part.without, part.failed) == (len(BELIEVED), len(REPLIES) - len(BELIEVED), 0)
    for question, lesson in lessons.items():
        assert (lesson.prompt, lesson.model is not None) == ("reader", True)
        assert lesson.steps[-1].reply.message.content == REPLIES[question][-1]
        assert lesson.reading.complete
    assert lessons[BOTH].reading.by == "both"
    assert lessons[ALONE].reading.by == "model"


def test_a_lesson_has_what_its_line_gives(taught_by):
    _, lessons = taught_by()
    assert {question: set(lessons[question].selected) for question in RIGHT} == {
        question: set(GOLD[question]) for question in RIGHT
    }
    assert lessons[ALONE].answer == "Salt Road, Long Shore"


def test_gold_judges_the_line_and_not_its_words(taught_by):
    """A line whose first node is right, and which gives others too, teaches to ask for too much."""
    part, lessons = taught_by(rules=("gold",))
    assert set(lessons) == RIGHT
    assert part.dropped == {"gold": len(BELIEVED - RIGHT)}


def test_a_number_is_judged_by_the_answer(books, tmp_path):
    file, question = tmp_path / "n.jsonl", "Whatever number of novels did Ada Holm put down?"
    counted = line('count novel that -written_by-> "Ada Holm"')
    for answer, stays in (("2", 1), ("3", 0)):
        file.write_text(json.dumps({"id": "a", "question": question, "answers": [answer], "answer_type": "number"}))
        done = collect_trajectories(
            [books],
            tmp_path / answer,
            CollectConfig(teacher="reader", samples=1, rules=("gold",)),
            questions=file,
            model=ScriptedModel(lambda *_: counted),
            settings=Settings(),
        )
        assert done.parts[0].trajectories == stays


def test_the_rows_learn_the_last_line_alone(taught_by):
    """What was sent back for another line is shown, and not learnt; a line that was meant so is learnt both times."""
    template = Bytes()
    _, lessons = taught_by()
    for question, lesson in lessons.items():
        [row] = training_rows([lesson], template, max_length=WIDE)
        said = REPLIES[question]
        kept = said if len(set(said)) == 1 and len(lesson.steps) == len(said) else said[-1:]
        assert learnt_texts(row, template.decode) == [f"{text}{END}" for text in kept], question
        *_, last = requests_of(lesson)
        prompt = template.apply_chat_template(last.body()["messages"], tokenize=False, add_generation_prompt=True)
        assert template.decode(row.input_ids) == f"{prompt}{said[-1]}{END}"


FORMS = (
    lambda value: json.dumps(value, separators=(",", ":")),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(dict(reversed(value.items()))),
)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_learnt_is_of_the_grammar_that_a_student_is_held_to(taught_by, books, form):
    """Whatever form of JSON the teacher writes: a grammar has one, and forbids the others."""

    def teacher(messages, *_):
        return form(json.loads(replied([message.content for message in messages])))

    _, lessons = taught_by(model=ScriptedModel(teacher))
    assert set(lessons) == BELIEVED
    template = Bytes()
    for question, lesson in lessons.items():
        student = Held()
        Retriever(books, "reader", model=student, check="always").ask(question)
        *_, row = training_rows([lesson], template, max_length=WIDE)
        *_, said = learnt_texts(row, template.decode)
        assert said == f"{REPLIES[question][-1]}{END}"
        assert Gbnf(student.grammar).matches(said.removesuffix(END)), question


class Held:
    """A model that keeps grammars, and writes no line."""

    name, price = "held", None
    manner = Manner(keeps_schema=True, keeps_grammar=True)

    def chat(self, messages, *, schema=None, **options):
        self.grammar = schema[GRAMMAR]
        return Reply(message=Message(role="assistant", content=line(None)), usage=Usage(calls=1))


@pytest.mark.parametrize("question", sorted(BELIEVED))
def test_a_student_is_asked_what_was_learnt_from(taught_by, books, cli, question):
    """Byte for byte, as `ask --method reader` asks it of what no rule reads, and by check=always of all."""
    lesson = taught_by()[1][question]
    sent = []

    def student(body, before):
        sent.append(body)
        return Answer(content=replied([message["content"] for message in body["messages"]]))

    with FakeServer(student) as server:
        ran = cli(
            *("ask", books.path, question, "--method", "reader"),
            *(("--set", "check=always") if question == BOTH else ()),
            *("--model", lesson.model, "--base-url", server.url),
        )
    assert ran.code == 0, ran.err
    learnt = [request.body() for request in requests_of(lesson)]
    assert [json.dumps(body["messages"]) for body in sent] == [json.dumps(body["messages"]) for body in learnt]


def test_the_teacher_is_asked_every_question_and_not_otherwise(taught_by):
    with pytest.raises(BadOption, match="'reader check=refused' asks its model some questions only"):
        taught_by(teacher="reader check=refused")
    assert set(taught_by(teacher="reader check=always spelling=false")[1]) == BELIEVED


def test_a_model_that_failed_is_asked_again_though_rules_answered(taught_by, tmp_path):
    def dead(messages, *_):
        raise ModelError("the server is away")

    with pytest.raises(ModelError, match="repeat the command"):
        taught_by(model=ScriptedModel(dead))

    def flaky(messages, *_):
        if BOTH in messages[1].content:
            raise ModelError("the server is away")
        return replied([message.content for message in messages])

    part, lessons = taught_by(model=ScriptedModel(flaky))
    assert (part.failed, set(lessons)) == (1, BELIEVED - {BOTH})
    part, lessons = taught_by()
    assert (part.failed, set(lessons)) == (0, BELIEVED)
    assert read_collection(tmp_path / "lessons").agent == "reader"


def test_lessons_at_the_command_line(books, tmp_path, home, cli):
    """No line is believed of one question, and `train grpo` plays no single calls."""
    file = tmp_path / "asked.jsonl"
    rows = ({"id": text, "question": text, "nodes": GOLD.get(text, [])} for text in (ALONE, REFUSED))
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def teacher(body, before):
        return Answer(content=replied([message["content"] for message in body["messages"]]))

    with FakeServer(teacher) as server:
        ran = cli(
            *("train", "collect", books.path, file, "--teacher", "reader", "-n", "1", "--rule", "gold"),
            *("-o", "lines", "--model", "fake", "--base-url", server.url),
        )
    assert ran.code == 0, ran.err
    assert "1 trajectory in lines, 2 calls" in ran.out
    assert "without a trajectory: no line of the model was believed" in ran.err
    shown = cli("trace", "show", "lines/books/trajectories.jsonl")
    assert shown.code == 0, shown.err
    ran = cli("train", "grpo", "lines", "--student", home, "-o", "trained")
    assert ran.code == 2
    assert "has single calls of reader, and no episodes to play: distil them with train sft" in ran.err
