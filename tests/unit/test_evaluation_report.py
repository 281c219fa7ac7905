"""The report: its figures are those of the table and of hand counts, and nobody's text becomes markup."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import given, strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from fakes.inside import inside
from orienteer.errors import BadOption
from orienteer.files import append_line
from orienteer.graph import Graph
from orienteer.lab.evaluation import (
    RUN_TRAJECTORIES,
    UNSEEN_TYPE,
    Example,
    Gold,
    GoldNode,
    QuestionTrajectories,
    ReportMaterial,
    RunLine,
    RunManifest,
    StoredRun,
    TrajectoryCounts,
    TrajectoryPacker,
    by_node_property,
    compare_methods,
    count_calls,
    graph_hash,
    length_of_text,
    packed_texts,
    score_runs,
    script_of_name,
    sweeps_of,
    work_of,
    write_report,
)
from orienteer.page import LETTER_WIDTH, PLOT_FRAME, PlotPoint, draw_scatter, page_pieces
from orienteer.records import (
    Message,
    Node,
    Observed,
    Question,
    Ranked,
    Reading,
    Refusal,
    Reply,
    Step,
    ToolCall,
    Trajectory,
    Usage,
)

pytestmark = pytest.mark.slow

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>&amp;\"'\u202egnp.exe\x00\x1b[31m\u2028"
CLEANED = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>&amp;\"'gnp.exe  [31m "


def hits(*ids):
    return tuple(Ranked(id=node_id, type=node_id[0] * 3, name=f"Name {node_id}", score=1.0) for node_id in ids)


def line(number, ids=(), *, method="bm25", nodes=("a",), answers=(), **other):
    gold = Gold(nodes=dict.fromkeys(nodes, 1.0), answers=answers)
    shown = {"question": f"Question {number}?", "hits": hits(*ids), "gold": gold, **other}
    return RunLine(id=f"q{number}", method=method, **shown)


def step(*calls, content=None):
    """Make a step of (name, arguments, nodes, error) calls."""
    tool_calls = [ToolCall(id=f"c{place}", name=call[0], arguments=call[1]) for place, call in enumerate(calls)]
    observed = tuple(
        Observed(call_id=f"c{place}", text=f"saw {call[2]}", nodes=tuple(call[2]), error=call[3] if call[3:] else None)
        for place, call in enumerate(calls)
    )
    message = Message(role="assistant", content=content, tool_calls=tuple(tool_calls))
    return Step(reply=Reply(message=message, usage=Usage(calls=1)), observations=observed)


def trajectory(*steps, **other):
    return Trajectory(question=Question(text="?"), method="ark", steps=steps, **other)


def make_run(path, *lines, trajectories=None, **manifest):
    facts = {
        "graph": "g", "graph_sha256": "g", "nodes": 1, "edges": 0, "dataset": "jsonl", "questions_sha256": "q",
        "count": len(lines), "orienteer": "0", "python": "3", "created": "now", **manifest,
    }  # fmt: skip
    examples = {
        line.id: Example(question=Question(id=line.id, text=line.question), gold=line.gold, fields=line.fields)
        for line in lines
    }
    path.mkdir(exist_ok=True)
    for (number, method), those in (trajectories or {}).items():
        append_line(
            path / RUN_TRAJECTORIES,
            QuestionTrajectories(id=f"q{number}", method=method, trajectories=those).model_dump_json(),
        )
    return StoredRun(path, RunManifest(**facts), tuple(examples.values()), lines)


class Page(HTMLParser):
    """What a browser makes of a page: its tags, its text, the scripts and what is packed in them."""

    def __init__(self, text):
        super().__init__()
        self.source, self.tags, self.attributes, self.scripts = text, set(), [], []
        self.cells, self.text, self._script, self._section = [], [], None, ""
        self.rows, self._in_cell = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self._script = None
        if tag == "script":
            self._script = [dict(attrs), ""]
            self.scripts.append(self._script)
        if tag == "section":
            self._section = dict(attrs)["id"]
        if tag == "tr":
            self.cells.append([])
            self.rows.append((self._section, self.cells[-1]))
        if tag in ("td", "th"):
            self._in_cell = True
            self.cells[-1].append([dict(attrs), ""])

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, text):
        if self._script is not None:
            self._script[1] += text
            return
        self.text.append(text)
        if self._in_cell:
            self.cells[-1][-1][1] += text

    def packed(self, name):
        """Unpack what an element holds."""
        (text,) = (text for attributes, text in self.scripts if attributes.get("id") == name)
        return json.loads(zlib.decompress(base64.b64decode(text)))

    def part(self, section):
        """Return the rows of a part of the page that have cells, as texts."""
        return [[text for _, text in cells] for place, cells in self.rows if place == section and cells]

    def row(self, begin):
        """Return the cells of the row of a method in the first table."""
        return next(cells for place, cells in self.rows if place == "table" and cells[0][1].startswith(begin))


@pytest.fixture
def report(tmp_path):
    """Give a function that writes a report and reads it again."""

    def make(*runs, **options):
        file = tmp_path / "report.html"
        write_report(runs, file, **options)
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
        return Page(file.read_text(encoding="utf-8"))

    return make


@pytest.fixture
def two(tmp_path):
    """Give a run of two methods, twelve questions, two kinds, one failure."""
    lines = []
    for number in range(12):
        fields = {"hops": 1 + number % 2, "anchors": [f"n{number}"]}
        lines.append(line(number, ["x", "a"] if number % 3 else ["a"], fields=fields, seconds=0.01))
        error = {"error": "429 <b>Too many</b>"} if number == 4 else {}
        ranked = [] if error else ["a", "x"]
        used = Usage(calls=2, prompt_tokens=100, completion_tokens=20, usd=0.001)
        lines.append(line(number, ranked, method="ark", fields=fields, seconds=0.5, usage=used, **error))
    return make_run(tmp_path / "run", *lines)


def test_the_page_needs_nothing_but_itself(report, two):
    page = report(two)
    loading = [value for name, value in page.attributes if name in ("src", "href", "action", "data", "srcset")]
    assert loading
    assert all(value.startswith("#") for value in loading)
    assert not re.search(r"@import|url\(|//[a-z]+\.", page.source)
    (script,) = (text for attributes, text in page.scripts if "type" not in attributes)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in page.source.split("</head>")[0]
    assert "default-src 'none'" in page.source


def test_the_table_has_the_figures_of_eval_show_and_the_verdict_is_of_compare(report, two):
    page = report(two)
    assert compare_methods([two]).verdict in "".join(page.text)
    for row in score_runs([two]):
        values = [
            float(attributes["data-value"]) for attributes, _ in page.row(row.method)[1:] if "data-value" in attributes
        ]
        tokens = row.usage.tokens / row.n
        for figure in (
            row.n,
            row.failed,
            *(measure.mean for measure in row.measures.values()),
            tokens,
            *row.milliseconds.values(),
        ):
            assert any(value == pytest.approx(figure) for value in values), figure


def test_the_best_of_each_measure_is_marked_and_published_rows_stand_beside(report, two, tmp_path):
    assert re.search(r'(?s)<th scope="row">.{0,90}ark<small>graph</small></th>.*?class="best"', report(two).source)
    stark = make_run(tmp_path / "stark", *two.lines, dataset="stark prime", graph="prime")
    page = report(stark)
    assert ("class", "published") in page.attributes
    assert "mfar" in page.row("mfar")[0][1]


def test_hostile_texts_stay_text_everywhere(report, tmp_path):
    hit = Ranked(id=HOSTILE, type=HOSTILE, name=HOSTILE, score=1.0, why=HOSTILE, text=HOSTILE)
    gold = Gold(nodes={HOSTILE: 1.0}, answers=(HOSTILE,))
    bad = trajectory(
        step(("search_in_graph", HOSTILE, [HOSTILE]), content=HOSTILE),
        selected=(HOSTILE,),
        answer=HOSTILE,
        error=HOSTILE,
    )
    lines = [
        RunLine(id=f"{number}{HOSTILE}", method=name, question=HOSTILE, hits=(hit,), gold=gold, answer=HOSTILE,
             fields={HOSTILE: f"{number % 2}{HOSTILE}"}, notes=(HOSTILE,), error=HOSTILE if number == 1 else None,
             work=work_of([bad]))
        for number in range(6) for name in ("bm25", HOSTILE)
    ]  # fmt: skip
    run = make_run(
        tmp_path / "run", *lines, graph=HOSTILE, dataset=HOSTILE, model=HOSTILE, notes=(HOSTILE,), answers=True
    )
    append_line(
        run.path / RUN_TRAJECTORIES,
        QuestionTrajectories(id=f"0{HOSTILE}", method=HOSTILE, trajectories=(bad,)).model_dump_json(),
    )
    page = report(run)
    assert len([script for script, _ in page.scripts if "type" not in script]) == 1
    assert "img" not in page.tags
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert not set(page.source) & {"\u202e", "\x00", "\x1b", "\u2028"}
    assert "gnp.exe" in "".join(page.text)
    assert "alert(1)" not in "".join(text for _, text in page.scripts)
    questions = page.packed("data")
    assert questions["methods"] == ["bm25", CLEANED]
    question = questions["questions"][0]
    assert question["text"] == question["results"][1]["answer"] == question["results"][1]["hits"][0][0] == CLEANED
    (packed_trajectory,) = page.packed("t0-1")
    assert (
        packed_trajectory["steps"][0]["text"]
        == packed_trajectory["steps"][0]["calls"][0]["arguments"]
        == packed_trajectory["selected"][0][0]
        == CLEANED
    )


def test_the_page_holds_how_a_question_was_read_what_meets_it_and_why_none_does(report, tmp_path):
    reading = Reading(text='x that -r-> "Y"', complete=True, total=1)
    whole, part = (hit.model_copy(update={"complete": hit.id == "a"}) for hit in hits("a", "b"))
    refusal = Refusal(kind="unknown_name", words=("Mars",), text="not in this graph: 'Mars'")
    walked = trajectory(step(("follow", "{}", ["a"])), reading=reading, selected=("a",), nearby=("b",))
    run = make_run(
        tmp_path / "run",
        line(0, method="anchor", reading=reading).model_copy(update={"hits": (whole, part), "work": work_of([walked])}),
        line(1, ["a"], method="anchor", reading=Reading(not_understood=("Mars",)), refusal=refusal),
        line(2, ["a"], method="anchor"),
        trajectories={(0, "anchor"): (walked,)},
    )
    page = report(run)
    exact, refused, ranked = (question["results"][0] for question in page.packed("data")["questions"])
    assert (exact["reading"], exact["meeting"], "refusal" in exact) == ('x that -r-> "Y"', 1, False)
    assert [(hit[1], hit[-1]) for hit in exact["hits"]] == [("a", 0), ("b", 1)]
    assert (refused["refusal"], "reading" in refused) == ("not in this graph: 'Mars'", False)
    assert not {"reading", "refusal", "meeting"} & set(ranked)
    assert [hit[-1] for hit in refused["hits"] + ranked["hits"]] == [0, 0]
    (steps,) = page.packed("t0-0")
    assert (steps["reading"], steps["selected"], steps["nearby"]) == ('x that -r-> "Y"', [["a", 1]], [["b", 0]])


@given(st.lists(st.text()))
def test_what_is_packed_in_pieces_comes_out_whole_and_is_base64(texts):
    encoded = "".join(packed_texts(texts))
    assert re.fullmatch("[A-Za-z0-9+/]*={0,2}", encoded)
    assert zlib.decompress(base64.b64decode(encoded)).decode() == "".join(texts)


def test_a_template_escapes_what_is_no_markup_however_it_is_put_together(tmp_path, monkeypatch):
    package = tmp_path / "made_up"
    (package / "templates").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "x.css").write_text("b {}")
    (package / "templates" / "x.html").write_text(
        "{% macro bold(x) %}<b>{{ x }}</b>{% endmacro %}{{ text }}|{{ bold(text) }}|{{ bold('') ~ text }}|"
        "{{ [bold(''), text]|join }}|<i title=\"{{ text }}\">{{ markup }}</i>"
    )
    monkeypatch.syspath_prepend(tmp_path)
    values = {"text": 'x<\x07\u202e">', "markup": Markup("<u>\u202e</u>")}
    escaped = "x&lt; &#34;&gt;"
    assert "".join(page_pieces("made_up", "x.html", style="x.css", **values)) == (
        f'{escaped}|<b>{escaped}</b>|<b></b>{escaped}|<b></b>{escaped}|<i title="{escaped}"><u></u></i>'
    )
    with pytest.raises(UndefinedError):
        "".join(page_pieces("made_up", "x.html", style="x.css", text="x"))


def test_calls_are_counted_by_hand():
    walk = count_calls(
        trajectory(
            step(("search_in_graph", '{"query": "a"}', ["a"])),
            step(("search_in_neighborhood", '{"node": "a"}', ["b"]), ("follow", "{}", [], "BadOption")),
            step(
                ("search_in_graph", '{ "query":"a" }', []), ("read_node", "{}", ["a"]), ("add_to_answer", "{}", ["a"])
            ),
            step(("search_in_graph", "not json", ["a"])),
        )
    )
    assert (walk.searches, walk.neighbourhood, walk.others, walk.calls) == (3, 2, 1, 6)
    assert (walk.empty, walk.refused, walk.repeated) == (1, 1, 1)
    assert (walk.is_reanchored, walk.is_searching_again, walk.is_global_only) == (True, True, False)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("g", (False, False, True)),
        ("gg", (False, True, True)),
        ("gn", (False, False, False)),
        ("ng", (True, True, False)),
        ("gi", (False, False, False)),
        ("n", (False, False, False)),
    ],
)
def test_reanchoring_and_breadth_alone(names, expected):
    tools = {"g": "search_in_graph", "n": "follow", "i": "intersect"}
    walk = count_calls(trajectory(*(step((tools[name], "{}", ["a"])) for name in names)))
    assert (walk.is_reanchored, walk.is_searching_again, walk.is_global_only) == expected


def test_tool_use_by_outcome_and_evidence_are_those_counted_by_hand(report, tmp_path):
    search, along = step(("search_in_graph", "{}", ["x"])), step(("follow", "{}", ["a"]))
    by_result = {
        (0, "ark"): (trajectory(search, selected=("x", "a")), trajectory(search, along, selected=("y",))),
        (1, "ark"): (trajectory(search, selected=("a",)),),
        (2, "ark"): (),
    }
    lines = [
        line(0, ["a"], method="ark", nodes=("a", "b")),
        line(1, ["x"], method="ark"),
        line(2, ["x"], method="ark", error="no"),
    ]
    run = make_run(tmp_path / "run", *lines, trajectories=by_result)
    material = ReportMaterial([run], graph=None, measure=None, random_seed=0)
    counts = TrajectoryCounts()
    counts.read(run, material.columns)
    curve = counts.curve(material.columns[0])
    assert curve == pytest.approx([0.0, 0.5 / 3])
    page = report(run)
    every, hit, miss, of_hit, of_miss = (cells for cells in page.part("tools") if cells[0].startswith("ark"))
    assert every[1:3] == ["3", "1.33"]
    assert every[4:] == ["75 %", "67 %", "0 %", "0 %", "0 %", "0 %", "0 %"]
    # The first agents of both questions find a gold node, although the second question is lost.
    assert (hit[0], hit[1:3], hit[4:6]) == ("arkhit (Hit@5)", ["2", "1"], ["100 %", "0 %"])
    assert (hit[7:9], miss[0], miss[1:3], miss[7:9]) == (["100", "0"], "arkmiss", ["1", "2"], ["0", "100"])
    assert (of_hit[0], of_hit[1:3], of_hit[7:9]) == ("arkquestion: hit (Hit@5)", ["2", "1.5"], ["50", "50"])
    assert (of_miss[0], of_miss[1:3], of_miss[7:9]) == ("arkquestion: miss", ["1", "1"], ["100", "0"])


def test_success_of_a_trajectory_counts_only_candidates_as_its_questions_does(tmp_path):
    search = step(("search_in_graph", "{}", ["x"]))
    others = [f"x{number}" for number in range(5)]
    hits = tuple(Ranked(id=one, type="review", name=one, score=1) for one in others)
    hits += (Ranked(id="a", type="product", name="a", score=0),)
    asked = line(0, method="ark").model_copy(update={"hits": hits})
    chosen = (*others, "a")
    for candidates, success in ((("product",), 1.0), (None, 0.0)):
        run = make_run(
            tmp_path / str(success),
            asked,
            trajectories={(0, "ark"): (trajectory(search, selected=chosen),)},
            candidates=candidates,
        )
        counts = TrajectoryCounts()
        counts.read(run, ReportMaterial([run], graph=None, measure=None, random_seed=0).columns)
        assert [one.success for one in counts.calls[0]["q0"]] == [success]


def test_gold_nodes_are_found_by_their_kind(build, tmp_path):
    nodes = [
        {"id": "a", "type": "person", "name": "Ada", "text": "x" * 150},
        {"id": "b", "type": "place", "name": "Łódź", "text": ""},
        {"id": "c", "type": "place", "name": "林檎", "text": "y" * 3000},
    ]
    graph = build(nodes)
    lines = line(0, ["a", "c"], nodes=("a", "b", "c")), line(1, ["a"], nodes=("b",)), line(2, ["b"], nodes=("b", "zz"))
    run = make_run(tmp_path / "run", *lines, graph_sha256=graph_hash(graph))
    material = ReportMaterial([run], graph=graph, measure=None, random_seed=0)
    common = frozenset({"person", "place"})

    def recall(name, kind):
        table = by_node_property(material, name, kind, common)
        return {value: (those[0].n, round(those[0].measures["Recall@20"].mean, 3)) for value, those in table.items()}

    assert recall("node type", lambda node: node.type) == {"person": (1, 1.0), "place": (3, 0.5), UNSEEN_TYPE: (1, 0.0)}
    assert recall("script", script_of_name) == {
        "CJK": (1, 1.0),
        "Latin": (3, round((0.5 + 0 + 1) / 3, 3)),
        UNSEEN_TYPE: (1, 0.0),
    }
    assert list(recall("length", length_of_text)) == ["no description", "100 to 499", "2,000 and more", UNSEEN_TYPE]
    alone = ReportMaterial([run], graph=None, measure=None, random_seed=0)
    assert alone.gold["a"] == GoldNode("aaa", "Name a")
    with pytest.raises(BadOption, match="is not the graph"):
        ReportMaterial([make_run(tmp_path / "other", *lines)], graph=graph, measure=None, random_seed=0)


@pytest.mark.parametrize(
    ("name", "script"),
    [("Ada", "Latin"), ("Łódź", "Latin"), ("Москва", "Cyrillic"), ("東京タワー", "CJK"), ("서울", "Hangul"),
     ("ΑΒΓ and Δ", "Greek"), ("ﬁn Ａｄａ", "Latin"), ("12-3", "no letters"), ("", "no letters"), ("قاهرة", "Arabic")],
)  # fmt: skip
def test_scripts_of_names(name, script):
    assert script_of_name(GoldNode("t", name)) == script


def test_a_sweep_is_laid_out_by_its_options(report, tmp_path):
    methods = {f"ark agents={a} max_steps={t}": {"agents": a, "max_steps": t, "k": 20} for t in (5, 10) for a in (3, 1)}
    lines = [line(n, ["a"] if n < a else ["x"], method=name, usage=Usage(seconds=a * 2.0), seconds=1.0)
             for name, a in zip(methods, (3, 1, 3, 1), strict=True) for n in range(4)]  # fmt: skip
    run = make_run(tmp_path / "run", *lines, methods=methods)
    (sweep,) = sweeps_of(ReportMaterial([run], graph=None, measure=None, random_seed=0).columns)
    assert dict(sweep.axes) == {"agents": ("1", "3"), "max_steps": ("5", "10")}
    assert sweep.cells["3", "10"].method == "ark agents=3 max_steps=10"
    page = report(run)
    heat = [cells for cells in page.part("landscape") if cells[0] in ("1", "3")]
    assert heat == [["1", ".250", ".250"], ["3", ".750", ".750"]] * 2 + [["1", "2 s", "2 s"], ["3", "6 s", "6 s"]]


def test_trajectories_are_cut_to_the_room_there_is(two, tmp_path):
    text = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(90))  # does not deflate well
    long = trajectory(
        *(step(("search_in_graph", f"{number} {text}", ["a"]), content=text[number:]) for number in range(9))
    )
    work = work_of([long])
    lines = tuple(line.model_copy(update={"work": work}) for line in two.lines)
    material = ReportMaterial([make_run(tmp_path / "r", *lines)], graph=None, measure=None, random_seed=0)
    for room, is_whole in ((10_000_000, True), (24 * 2_000, False), (1, False)):
        file = StringIO()
        packer = TrajectoryPacker(material, file, room=room)
        for column in material.columns:
            for key in column.lines:
                packer.add(column, key, [long])
        elements = [element for _, element in packer.elements()]
        assert len(elements) == 24
        assert packer.shortened == 0 if is_whole else packer.shortened > 12
        first = json.loads(zlib.decompress(base64.b64decode(elements[0])))
        if room == 1:
            assert first == {"left_out": 9}
        else:
            assert sum(map(len, elements)) <= room
            shown = first[0]["steps"][0]["text"]
            match = re.fullmatch(r"(.+) … \(([\d,]+) more characters\)", shown, re.DOTALL)
            assert len(match[1]) + int(match[2].replace(",", "")) == len(text)


def test_every_question_is_there_with_ranks_failures_and_kinds(report, two):
    page = report(two)
    content = page.packed("data")
    assert content["fields"] == {"hops": ["1", "2"]}
    assert [question["results"][0]["rank"] for question in content["questions"]] == [
        1 if n % 3 == 0 else 2 for n in range(12)
    ]
    failed = content["questions"][4]["results"][1]
    assert (failed["error"], failed["rank"]) == ("429 <b>Too many</b>", 0)
    assert content["questions"][4]["kinds"] == {"hops": ["1"]}
    assert page.row("ark")
    assert "1 result failed" in "".join(page.text)
    assert ("href", "#question-4") in page.attributes
    assert "anchors" in "".join(page.text)  # named as a field that is not split by


def test_only_candidates_are_ranked_where_the_benchmark_says_so(report, tmp_path):
    run = make_run(tmp_path / "run", line(0, ["x", "a"]), line(1, ["a"]), candidates=("aaa",))
    (first, _) = report(run).packed("data")["questions"]
    assert (first["results"][0]["rank"], first["results"][0]["outside"]) == (1, 1)
    assert [hit[1] for hit in first["results"][0]["hits"]] == ["a"]


def test_runs_that_cannot_be_compared_are_still_reported(report, two, tmp_path):
    other = make_run(tmp_path / "other", line(0, ["a"]), questions_sha256="another")
    page = report(two, other)
    assert "There is no verdict" in "".join(page.text)
    content = page.packed("data")
    assert content["methods"] == ["bm25 [run]", "ark", "bm25 [other]"]
    assert [result is None for result in content["questions"][-1]["results"]] == [True, True, False]


def test_a_run_without_results_gold_or_fields_makes_a_page(report, tmp_path):
    empty = StoredRun(tmp_path, make_run(tmp_path / "a", line(0)).manifest, (), ())
    assert "no results to compare" in "".join(report(empty).text)
    page = report(make_run(tmp_path / "b", line(0, ["a"], nodes=(), answers=("x",), answer="x"), answers=True))
    assert "No question has gold nodes" in "".join(page.text)
    result = page.packed("data")["questions"][0]["results"][0]
    assert ("rank" in result, result["exact"]) == (False, 1.0)
    assert "Judged answers" in "".join(page.text)  # among what is not in the report, and what to do


def test_what_is_asked_wrongly_is_refused_and_leaves_the_old_page(report, two, tmp_path, monkeypatch):
    report(two)
    file = tmp_path / "report.html"
    old = file.read_bytes()
    with pytest.raises(BadOption, match="no run"):
        write_report([], file)
    with pytest.raises(BadOption, match="no measure 'Hit@'"):
        write_report([two], file, measure="Hit@")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(inside(write_report), "question_texts", broken)
    with pytest.raises(OSError, match="No space"):
        write_report([two], file)
    assert file.read_bytes() == old
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_measure_can_be_chosen(report, two):
    page = report(two, measure="Recall@1")
    assert compare_methods([two], measure="Recall@1").verdict in "".join(page.text)
    assert ("data-show", "Recall@1") in page.attributes


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1)), min_size=1, max_size=14))
def test_labels_of_a_plot_meet_neither_each_other_nor_a_mark(places):
    points = [PlotPoint(f"method {n}", "red", x, y, y, y) for n, (x, y) in enumerate(places)]
    plot = draw_scatter(points, "ms", "Hit@1")
    labels = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)" class="label">([^<]+)', plot.svg)
    assert len(labels) + plot.unnamed == len(points)
    boxes = []
    for x, y, anchor, name in labels:
        width = LETTER_WIDTH * len(name)
        left = float(x) - {"start": 0, "middle": width / 2, "end": width}[anchor]
        boxes.append((left, float(y) - 11, left + width, float(y) + 3))
    marks = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)"', plot.svg)]
    assert all(0 <= x <= PLOT_FRAME.width and 0 <= y <= PLOT_FRAME.height for x, y in marks)
    for number, box in enumerate(boxes):
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in marks)
        for other in boxes[:number]:
            apart = 0.2  # written to a tenth
            assert (
                box[0] >= other[2] - apart or other[0] >= box[2] - apart
                or box[1] >= other[3] - apart or other[1] >= box[3] - apart
            )  # fmt: skip


def test_costs_are_placed_by_their_logarithm_and_nought_apart():
    plot = draw_scatter([PlotPoint(str(n), "red", x, 0.5) for n, x in enumerate((0, 1, 10, 100))], "USD", "Hit@1")
    marks = dict(re.findall(r'<title>(\d): [^<]*</title><circle cx="([-\d.]+)"', plot.svg))
    zero, first, ten, hundred = (float(marks[str(n)]) for n in range(4))
    assert zero < first < ten < hundred
    assert ten - first == pytest.approx(hundred - ten, abs=0.2)
    assert ">none<" in plot.svg


def test_the_graph_beside_a_run_is_used_where_it_is_that_very_graph(report, tmp_path):
    nodes = [Node("a", "person", "Ada", "x" * 150), Node("x", "place", "Xanten")]
    graph = Graph.from_records(nodes, [], path=tmp_path / "g")
    right = make_run(tmp_path / "right", line(0, ["x"]), graph_sha256=graph_hash(graph))
    page = report(right)
    assert [row[:2] for row in page.part("nodes") if row[1] != "n"] == [
        ["person", "1"],
        ["Latin", "1"],
        ["100 to 499", "1"],
    ]
    wrong = make_run(tmp_path / "wrong", line(0, ["x"]))
    page = report(wrong)
    assert [row[:2] for row in page.part("nodes") if row[1] != "n"] == [[UNSEEN_TYPE, "1"], [UNSEEN_TYPE, "1"]]
    assert "--graph" in "".join(page.text)


def test_nothing_is_the_best_where_methods_were_asked_different_questions(report, tmp_path):
    long = make_run(tmp_path / "long", *(line(number, ["x", "a"], method="ark") for number in range(4)))
    short = make_run(tmp_path / "short", *(line(number, ["a"]) for number in range(2)))
    page = report(long, short)
    shown_text = "".join(page.text)
    assert 'class="best"' not in page.source
    assert "not asked the same questions" in shown_text
    assert "The verdict is on 2 questions that every method was asked, the table on more." in shown_text
    assert "the table on more" not in "".join(report(long).text)


def test_one_step_is_no_curve(report, tmp_path):
    search = step(("search_in_graph", "{}", ["a"]))
    lines = [line(0, ["a"], method=name) for name in ("ark", "naive")]
    by_result = {(0, "ark"): (trajectory(search, search),), (0, "naive"): (trajectory(search),)}
    page = report(make_run(tmp_path / "run", *lines, trajectories=by_result))
    assert "In one step, without a curve: naive 1.00." in "".join(page.text)
    assert page.source.count('class="curve"') == 1


def test_what_questions_took_by_kind_is_of_hand_counts(report, tmp_path):
    def line_of(number, level, words, tools, failed, method="graphscout"):
        work = {"iterations": 1, "tool_calls": tools, "failed_calls": failed}
        usage = Usage(calls=2, prompt_tokens=100, completion_tokens=words)
        return line(number, ["a"], method=method, fields={"level": level}, usage=usage, work=work)

    lines = [line_of(number, "easy", 10, 2, 1) for number in range(8)]
    lines += [line_of(number, "hard", 40, 6, 0) for number in (8, 9)]
    lines += [line_of(number, "hard", 60, 0, 0) for number in (10, 11)]
    lines += [
        line(graph_line.id[1:], ["a"], fields=graph_line.fields) for graph_line in lines
    ]  # bm25 takes nothing of a model
    page = report(make_run(tmp_path, *lines))
    effort_rows = [[text for _, text in cells] for section, cells in page.rows if section == "effort"]
    assert effort_rows == [
        ["method", "n", "output tokens", "tool calls", "tokens", "calls of the model", "failed calls"],
        ["graphscout", "12", "23.3", "2.33", "123", "2", "28.6 %"],
        ["level", "method", "n", "output tokens", "tool calls", "tokens", "calls of the model", "failed calls"],
        ["easy", "graphscout", "8", "10", "2", "110", "2", "50.0 %"],
        ["hard", "graphscout", "4", "50", "3", "150", "2", "0.0 %"],
    ]
    plain = report(make_run(tmp_path / "plain", *lines[12:]))
    assert "What it took" not in plain.text
    assert any("no method of these runs called a model" in text for text in plain.text)
