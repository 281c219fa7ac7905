"""Benchmarks in the forms in which they are published: STaRK, GRBench, the multi-hop three, OTT-QA."""

import json
from collections import Counter

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.lab.evaluation import read_questions, split_names
from orienteer.records import Node


def by_id(questions):
    """Return the examples by question id."""
    return {example.question.id: example for example in questions.examples}


def write_lines(path, *rows):
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# --------------------------------------------------------------------------------------------------------------- STaRK


@pytest.fixture
def amazon(tmp_path):
    qa = tmp_path / "qa" / "amazon"
    (qa / "stark_qa").mkdir(parents=True)
    (qa / "split").mkdir()
    (qa / "stark_qa" / "stark_qa.csv").write_text(
        'id,query,answer_ids\n30,"Which box, please?","[12, 34]"\n4,Which lid?,[7]\n9,Which bag?,[8]\n'
    )
    (qa / "stark_qa" / "stark_qa_human_generated_eval.csv").write_text('id,query,answer_ids\n0,my box,"[12]"\n')
    for name, ids in {"train": "30\n", "val": "4\n", "test": "9\n", "test-0.1": "9\n"}.items():
        (qa / "split" / f"{name}.index").write_text(ids)
    return qa


def test_stark_with_its_splits(amazon):
    questions = read_questions(amazon)
    assert (questions.name, questions.candidates, questions.meta["knowledge_base"]) == ("stark", ("product",), "amazon")
    assert by_id(questions)["30"].gold.nodes == {"12": 1.0, "34": 1.0}
    assert {key: example.fields for key, example in by_id(questions).items()} == {
        "30": {"split": "train"},
        "4": {"split": "val"},
        "9": {"split": "test"},
    }
    assert list(by_id(read_questions(amazon, split="val"))) == ["4"]
    assert list(by_id(read_questions(amazon, split="test-0.1"))) == ["9"]
    assert read_questions(amazon / "stark_qa" / "stark_qa.csv", split="val") == read_questions(amazon, split="val")
    assert read_questions(amazon, split="val").sha256 != read_questions(amazon, split="train").sha256
    with pytest.raises(BadOption, match=r"There are: human, test, test-0\.1, train, val"):
        read_questions(amazon, split="dev")


def test_starks_human_questions(amazon):
    human = read_questions(amazon, split="human")
    assert by_id(human)["0"].fields == {"split": "human"}
    assert read_questions(amazon / "stark_qa" / "stark_qa.csv", split="human") == human
    assert read_questions(amazon / "stark_qa" / "stark_qa_human_generated_eval.csv").examples == human.examples


def test_starks_ids_are_literals_and_never_run(amazon):
    table = amazon / "stark_qa" / "stark_qa.csv"
    for cell in ("__import__('os').system('true')", "[x for x in ()]", "12", "{1: 2}", "[1.5]"):
        table.write_text(f'id,query,answer_ids\n30,q,"{cell}"\n')
        with pytest.raises(BadInput, match="answer_ids of question 30"):
            read_questions(amazon)


def test_a_split_of_another_release(amazon):
    (amazon / "split" / "val.index").write_text("4\n77\n")
    with pytest.raises(BadInput, match="'77', which is not in the table"):
        read_questions(amazon, split="val")


def test_every_node_of_prime_may_answer(amazon):
    prime = amazon.rename(amazon.with_name("primekg"))
    assert (
        read_questions(prime).candidates,
        read_questions(prime).notes,
        read_questions(prime).meta["knowledge_base"],
    ) == (None, (), "prime")
    other = prime.rename(prime.parent.parent / "other")
    questions = read_questions(other)
    assert questions.candidates is None
    assert "not known which knowledge base" in questions.notes[0]


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "splits", "candidates"),
    [  # paper 001 has the sizes of the splits
        ("amazon_synthesized", {"train": 5910, "val": 1548}, ("product",)),
        ("mag_synthesized", {"train": 7993, "val": 2665}, ("paper",)),
        ("primekg_synthesized", {"train": 6162, "val": 2241}, None),
        ("amazon_human_generated_eval", {"human": 81}, ("product",)),
        ("mag_human_generated_eval", {"human": 84}, ("paper",)),
        ("primekg_human_generated_eval", {"human": 109}, None),
    ],
)
def test_the_real_starks(data_folder, file, splits, candidates):
    pytest.importorskip("pyarrow")
    path = data_folder / "stark_qa" / f"{file}.parquet"
    assert {name: len(read_questions(path, split=name).examples) for name in splits} == splits
    assert read_questions(path).candidates == candidates
    assert all(example.gold.nodes for example in read_questions(path).examples)


# ------------------------------------------------------------------------------------------------------------- GRBench

NODES = (
    Node("s1", "symptom", "Purpura"),
    Node("s2", "symptom", "Purpura, Schoenlein-Henoch"),
    Node("s3", "symptom", "Fever"),
    Node("s4", "symptom", "Ague"),
    Node("d1", "disease", "Ague"),
    Node("x1", "disease", "True"),
)


def _grbench(tmp_path, *answers, domain="clinic", **more):
    rows = [
        {"domain": domain, "qid": str(at), "question": "?", "answer": answer, **more}
        for at, answer in enumerate(answers)
    ]
    return write_lines(tmp_path / "data.jsonl", *rows)


def test_names_may_hold_commas():
    names = {"a": 1, "a, b": 1, "b": 1, "c, d, e": 1}
    assert split_names("a, b, c, d, e", names) == (("a, b", "c, d, e"), ())
    assert split_names("b,a", names) == (("b", "a"), ())
    assert split_names("a, x, c, d", names) == (("a",), ("x", "c", "d"))
    assert split_names("", names) == ((), ())


def test_answers_become_nodes(tmp_path, build):
    file = _grbench(tmp_path, "Purpura, Schoenlein-Henoch, Fever", "True", "12", "0.5", "Fever", "Purpura, Cough")
    bare = read_questions(file)
    assert [example.gold.answer_type for example in bare.examples] == [None, "boolean", "number", "number", None, None]
    questions = read_questions(file, graph=build(NODES))
    gold = [example.gold for example in questions.examples]
    assert (list(gold[0].nodes), gold[0].answer_type) == (["s2", "s3"], "set")
    assert gold[0].answers == ("Purpura, Schoenlein-Henoch", "Fever")
    assert [gold_of.nodes for gold_of in gold[1:4]] == [{}, {}, {}]
    assert (list(gold[4].nodes), gold[4].answer_type) == (["s3"], "entity")
    assert (gold[5].nodes, gold[5].answers) == ({}, ("Purpura, Cough",))
    assert questions.notes == ("1 of 3 answers contain a name that the graph does not have: clinic-5 ('Cough')",)


def test_the_other_answers_of_a_template_tell_which_node_is_meant(tmp_path, build):
    graph = build(NODES)
    questions = read_questions(_grbench(tmp_path, "Fever", "Ague", template=3), graph=graph)
    assert list(by_id(questions)["clinic-1"].gold.nodes) == ["s4"]
    assert questions.notes == ()
    untold = read_questions(_grbench(tmp_path, "Ague", template=3), graph=graph)
    assert set(by_id(untold)["clinic-0"].gold.nodes) == {"s4", "d1"}
    assert "1 names stand for several nodes" in untold.notes[0]


def test_questions_about_another_graph_have_no_nodes(tmp_path, build):
    questions = read_questions(_grbench(tmp_path, "Fever", "Dolica", "Acme", domain="amazon"), graph=build(NODES))
    assert not any(example.gold.nodes for example in questions.examples)
    assert "fewer than half of the answers of amazon" in questions.notes[1]


def test_notes_are_of_the_questions_that_are_asked(tmp_path, build):
    questions = read_questions(_grbench(tmp_path, "Fever", "Ague", "Cough, Fever", "Purpura"), graph=build(NODES))
    assert len(questions.notes) == 2
    assert questions.notes_on(questions.examples) == questions.notes
    assert questions.notes_on(questions.examples[:1]) == ()
    assert questions.notes_on(questions.examples[1:2]) == (
        "1 names stand for several nodes, all of which count as gold: Ague",
    )
    assert questions.notes_on(questions.examples[2:]) == (
        "1 of 2 answers contain a name that the graph does not have: clinic-2 ('Cough')",
    )


# Read by hand in the headings of Graph-CoT's notebooks: a question of the published file, and its level.
HEADINGS = {
    ("amazon", 0): "easy",
    ("amazon", 80): "medium",
    ("amazon", 160): "hard",
    ("biomedical", 69): "easy",
    ("biomedical", 130): "medium",
    ("biomedical", 140): "easy",
    ("biomedical", 269): "medium",
    ("dblp", 30): "medium",
    ("dblp", 100): "easy",
    ("dblp", 149): "medium",
    ("goodreads", 89): "easy",
    ("goodreads", 170): "medium",
    ("goodreads", 239): "hard",
    ("legal", 79): "medium",
    ("legal", 80): "easy",
    ("legal", 179): "hard",
    ("maple/Physics", 69): "medium",
    ("maple/Physics", 90): "medium",
    ("maple/Physics", 109): "easy",
    ("maple/Physics", 130): "hard",
}
# The same by the words of a template, as the notebooks spell it under the heading.
WORDED = (
    ("amazon", "What is the category of item", "easy"),
    ("amazon", "How many items are in brand", "easy"),
    ("amazon", "What is the exact matched item", "hard"),
    ("biomedical", "How many compounds can be used to treat", "easy"),
    ("biomedical", "How many diseases present the exact same symptoms", "medium"),
    ("dblp", "How many papers cite the paper", "easy"),
    ("dblp", "Which is the most cited paper by author", "easy"),
    ("goodreads", "What book should be recommended", "hard"),
    ("legal", "Who are the attorneys", "easy"),
    ("legal", "Find a case which can support", "hard"),
    ("maple", "Which is the most cited paper by author", "medium"),
    ("maple", "How many papers did author", "easy"),
    ("maple", "Who is the closest collaborator", "medium"),
)
SIZES = {"amazon": 200, "biomedical": 270, "dblp": 150, "goodreads": 240, "legal": 180}
MAPLE = ("Biology", "Chemistry", "Materials_Science", "Medicine", "Physics")
GRAPHS = {**SIZES, **{f"maple/{name}": 140 for name in MAPLE}}


def test_levels_templates_and_areas_of_the_published_folders_and_of_one_file(tmp_path):
    rows = []
    for domain, size in GRAPHS.items():
        (tmp_path / "published" / domain).mkdir(parents=True)
        own = [{"qid": str(qid), "question": "?", "answer": "x"} for qid in range(size)]
        write_lines(tmp_path / "published" / domain / "data.json", *own)
        rows += [{"domain": domain, **row, "template": None, "level": None} for row in own]
    whole = by_id(read_questions(tmp_path / "published"))
    single = read_questions(write_lines(tmp_path / "all.jsonl", *rows)).examples
    assert [(one.question.id, one.fields) for one in single] == [(key, one.fields) for key, one in whole.items()]
    levels = Counter(example.fields["level"] for example in whole.values())
    assert levels == {"easy": 700, "medium": 920, "hard": 120}
    assert {place: whole[f"{place[0]}-{place[1]}"].fields["level"] for place in HEADINGS} == HEADINGS
    assert whole["maple/Physics-139"].fields["template"] == 13
    assert Counter(example.fields["area"] for example in whole.values()) == {
        "academic": 850, "e-commerce": 200, "literature": 240, "healthcare": 270, "legal": 180,
    }  # fmt: skip
    for place in ("maple/Physics", "maple"):
        examples = read_questions(tmp_path / "published" / place).examples
        assert all(whole[one.question.id].fields == one.fields for one in examples if "/" in one.question.id)
        assert Counter(one.fields["level"] for one in examples)["hard"] * 14 == len(examples)
    own = [{**rows[0], "level": "hard"}, {**rows[0], "qid": "999", "level": "hard"}]
    heading, unknown = read_questions(write_lines(tmp_path / "own.jsonl", *own)).examples
    assert (heading.fields["level"], unknown.fields["level"]) == ("easy", "hard")
    shas = {read_questions(tmp_path / "published").sha256}
    (tmp_path / "published" / "legal" / "data.json").write_text('{"qid": 0, "question": "?", "answer": "y"}\n')
    assert read_questions(tmp_path / "published").sha256 not in shas  # no file is left out of it


@pytest.mark.data
def test_the_real_grbench_has_the_levels_of_the_headings(data_folder):
    examples = read_questions(data_folder / "grbench").examples
    biomedical = [example for example in examples if example.fields["domain"] == "biomedical"]
    assert (len(examples), len(biomedical)) == (678, 113)
    assert sum(bool(example.fields["edges_complete"]) for example in biomedical) == 77
    easy = {example.fields["template"] for example in biomedical if example.fields["level"] == "easy"}
    assert easy == {*range(7), 14, 15, 16}  # its own column calls 14 to 16 medium
    for domain, words, level in WORDED:
        said = [
            one for one in examples if one.fields["domain"].startswith(domain) and one.question.text.startswith(words)
        ]
        assert said
        assert {one.fields["level"] for one in said} == {level}, words


# ------------------------------------------------------------------------------------------------- the multi-hop three

CONTEXT = [["Ferry", ["A boat. ", "It swims."]], ["Salt", ["It is white."]], ["Ash", ["Grey."]]]
CORPUS = [
    {"title": "Salt", "text": "Another salt."},
    {"title": "Salt", "text": "It is white."},
    {"title": "Ferry", "text": "A boat. It swims."},
    {"title": "Ash", "text": "Grey."},
]


def _hippo(folder, name, *questions):
    (folder / f"{name}.json").write_text(json.dumps(questions))
    (folder / f"{name}_corpus.json").write_text(json.dumps(CORPUS))
    return folder


def test_hotpotqa_in_hipporags_files(tmp_path):
    facts = [["Ferry", 0], ["Ferry", 1], ["Salt", 0]]
    row = {"_id": "h1", "question": "?", "answer": "yes", "type": "bridge", "level": "hard", "supporting_facts": facts,
           "context": CONTEXT}  # fmt: skip
    questions = read_questions(_hippo(tmp_path, "hotpotqa", row))
    example = questions.examples[0]
    assert (questions.name, questions.notes) == ("hotpotqa", ())
    assert set(example.gold.nodes) == {"1", "2"}
    assert (example.gold.answers, example.gold.answer_type) == (("yes",), "boolean")
    assert example.fields == {"type": "bridge", "level": "hard", "supporting_facts": facts}


def test_2wikimultihopqa_in_hipporags_files(tmp_path):
    row = {"_id": "w1", "question": "?", "answer": "Ada", "type": "inference", "supporting_facts": [["Ash", 0]],
           "context": CONTEXT, "evidences": [["Ash", "is", "grey"]]}  # fmt: skip
    questions = read_questions(_hippo(tmp_path, "2wikimultihopqa", row))
    assert questions.name == "2wikimultihopqa"
    assert questions.examples[0].gold.nodes == {"3": 1.0}
    assert questions.examples[0].fields["evidences"] == [["Ash", "is", "grey"]]


def test_musique_in_hipporags_files(tmp_path):
    paragraphs = [
        {"idx": 0, "title": "Salt", "paragraph_text": "It is white.", "is_supporting": True},
        {"idx": 1, "title": "Ash", "paragraph_text": "Grey.", "is_supporting": False},
        {"idx": 2, "title": "Ferry", "paragraph_text": "A boat.  It swims.", "is_supporting": True},
    ]
    row = {"id": "3hop1__1_2_3", "question": "?", "answer": "Ada", "answer_aliases": ["A. Holm", "Ada"],
           "answerable": True, "paragraphs": paragraphs}  # fmt: skip
    example = read_questions(_hippo(tmp_path, "musique", row)).examples[0]
    assert set(example.gold.nodes) == {"1", "2"}
    assert example.gold.answers == ("Ada", "A. Holm")
    assert example.fields == {"answerable": True, "type": "3hop1", "hops": 3}


def test_gold_passages_that_the_corpus_lacks(tmp_path):
    row = {"_id": "h1", "question": "?", "answer": "x", "supporting_facts": [["Ferry", 0], ["Tar", 0]],
           "context": [*CONTEXT, ["Tar", ["Black."]]]}  # fmt: skip
    questions = read_questions(_hippo(tmp_path, "hotpotqa", row))
    assert questions.examples[0].gold.nodes == {}
    assert questions.notes == ("1 of 1 questions have no gold passages in the corpus: h1",)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("hotpotqa", {"supporting_facts": [5], "context": [["Salt", ["x"]]]}),
        ("hotpotqa", {"supporting_facts": [["Salt", 0]], "context": {"title": ["Salt"]}}),
        ("musique", {"paragraphs": ["Salt"]}),
        ("musique", {"paragraphs": [{"title": "Salt"}], "answer_aliases": {"a": "b"}}),
    ],
)
def test_questions_of_another_shape_are_told(tmp_path, name, row):
    _hippo(tmp_path, name, {"id": "1", "question": "?", "answer": "x", "context": [], **row})
    with pytest.raises(BadInput, match="question 1 does not have the form of this data set"):
        read_questions(tmp_path / f"{name}.json", dataset=name)


def test_supporting_facts_that_the_context_lacks_are_no_smaller_gold(tmp_path):
    row = {"_id": "h1", "question": "?", "answer": "x", "supporting_facts": [["Ferry", 0], ["Tar", 0]],
           "context": CONTEXT}  # fmt: skip
    questions = read_questions(_hippo(tmp_path, "hotpotqa", row))
    assert questions.examples[0].gold.nodes == {}
    assert questions.notes == ("1 of 1 questions have no gold passages in the corpus: h1",)


def test_blank_aliases_are_no_answers(tmp_path):
    row = {"id": "2hop__1", "question": "?", "answer": "x", "answer_aliases": ["", "y"], "paragraphs": []}
    assert read_questions(_hippo(tmp_path, "musique", row)).examples[0].gold.answers == ("x", "y")


def test_several_in_one_folder_need_a_name(tmp_path):
    hotpot = {"_id": "h1", "question": "?", "answer": "x", "supporting_facts": [], "context": []}
    musique = {"id": "2hop__1_2", "question": "?", "answer": "x", "paragraphs": []}
    _hippo(tmp_path, "hotpotqa", hotpot)
    _hippo(tmp_path, "musique", musique)
    with pytest.raises(BadInput, match="--dataset"):
        read_questions(tmp_path)
    assert read_questions(tmp_path, dataset="musique").examples[0].question.id == "2hop__1_2"
    assert read_questions(tmp_path / "hotpotqa.json").name == "hotpotqa"
    (tmp_path / "musique_corpus.json").unlink()
    with pytest.raises(BadInput, match=r"musique_corpus\.json is missing"):
        read_questions(tmp_path, dataset="musique")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "count", "field", "values"),
    [
        ("hotpotqa", 268, "type", {"bridge", "comparison"}),
        ("2wikimultihopqa", 122, "type", {"compositional", "bridge_comparison", "comparison", "inference", None}),
        ("musique", 110, "hops", {2, 3, 4}),
        ("ottqa", 673, "where", {"passage", "table", "passage+table"}),
    ],
)
def test_the_real_passages(data_folder, name, count, field, values):
    pytest.importorskip("pyarrow")
    questions = read_questions(data_folder / name)
    assert (questions.name, len(questions.examples)) == (name, count)
    assert {example.fields.get(field) for example in questions.examples} == values
    assert all(example.gold.nodes and example.gold.answers for example in questions.examples)


# -------------------------------------------------------------------------------------------------------------- OTT-QA


def test_ottqa_in_its_own_files(tmp_path):
    for name in ("traindev_tables_tok", "traindev_request_tok"):
        (tmp_path / "data" / name).mkdir(parents=True)
    rows = [[[f"song {number}", []]] for number in range(27)]
    table = {"uid": "Songs_0", "title": "Songs", "header": [["Name", []]], "data": rows}
    (tmp_path / "data" / "traindev_tables_tok" / "Songs_0.json").write_text(json.dumps(table))
    (tmp_path / "released_data").mkdir()
    nodes = [
        ["Salt", [3, 0], "/wiki/Salt", "passage"],
        ["x", [26, 0], None, "table"],
        ["Salt", [4, 0], "/wiki/Salt", "passage"],
    ]
    row = {"question_id": "o1", "question": "?", "table_id": "Songs_0", "answer-text": "Ada", "answer-node": nodes,
           "question_postag": "WP"}  # fmt: skip
    (tmp_path / "released_data" / "dev.traced.json").write_text(json.dumps([row]))
    (tmp_path / "released_data" / "dev.json").write_text(json.dumps([row]))
    example = read_questions(tmp_path).examples[0]
    assert set(example.gold.nodes) == {"/wiki/Salt", "Songs_0#0", "Songs_0#2"}
    assert example.gold.answers == ("Ada",)
    assert example.fields == {"table_id": "Songs_0", "where": "passage+table", "split": "dev"}
    row["answer-node"] = [["x", [27, 0], None, "table"]]
    (tmp_path / "released_data" / "dev.traced.json").write_text(json.dumps([row]))
    with pytest.raises(BadInput, match="27 rows and no row 27"):
        read_questions(tmp_path)
    for odd in ({"answer-node": [["x"]]}, {"gold_passages": "[broken"}, {"gold_passages": "Salt"}):
        (tmp_path / "released_data" / "dev.traced.json").write_text(json.dumps([{**row, **odd}]))
        with pytest.raises(BadInput, match="question 1 does not have the form"):
            read_questions(tmp_path)
