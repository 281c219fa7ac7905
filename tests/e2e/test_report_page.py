"""The report in a browser: Chromium without a window draws it, its script runs under its own policy, filters filter."""

import json
import re
import shutil
import subprocess
from html import escape

import pytest

from orienteer.graph import Graph
from orienteer.ingest import demo_questions, demo_records

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
PATIENCE = 100  # seconds: a machine that is shared


@pytest.fixture
def page(cli, home):
    """Give the report on a run of two methods over the demo graph."""
    Graph.from_records(*demo_records(), path=home / "demo")
    questions = home / "questions.jsonl"
    rows = [{"question": question.question, "nodes": question.nodes, "hops": 1 + number // 2}
            for number, question in enumerate(demo_questions())]  # fmt: skip
    rows += [{**row, "question": f"Tell me: {row['question']}"} for row in rows]
    rows.append(
        {"question": "<script>document.title = 'taken'</script> Who? \u202e", "nodes": ["person:rob-pike"], "hops": 2}
    )
    questions.write_text("".join(json.dumps({"id": f"q{n}", **row}) + "\n" for n, row in enumerate(rows)))
    ran = cli("eval", "run", "demo", questions, "--method", "bm25", "--method", "anchor", "-o", "run")
    assert ran.code == 0, ran.err
    ran = cli("eval", "report", "run", "-o", "report.html", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["page"] == "report.html"
    assert ran.json["bytes"] == (home / "report.html").stat().st_size
    return home / "report.html"


def browse(page, tmp_path, *options, fragment=""):
    """Return what a browser prints."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", *options]  # fmt: skip
    done = subprocess.run([*command, f"{page.as_uri()}{fragment}"], capture_output=True, timeout=PATIENCE, check=True)
    return done.stdout.decode()


def test_the_page_can_go_to_standard_output_and_bad_targets_are_refused(cli, page, home):
    ran = cli("eval", "report", "run", "-o", "-")
    assert ran.out.rstrip() == page.read_text(encoding="utf-8").rstrip()
    for target in ("nowhere/report.html", "run"):
        ran = cli("eval", "report", "run", "-o", target)
        assert (ran.code, ran.out) == (2, "")
        assert target in ran.err
    assert cli("eval", "report", "demo", "-o", "x.html").code == 2
    assert not (home / "x.html").exists()


@browser
def test_the_script_draws_every_question_and_opens_the_one_that_is_linked(page, tmp_path):
    drawn = browse(page, tmp_path, "--dump-dom", fragment="#question-6")
    assert len(re.findall(r'<details [^>]*id="question-\d+"', drawn)) == 7
    assert "7 questions, 7 of them listed" in drawn
    opened = re.search(r'<details [^>]*id="question-6"[^>]*open.*?</details>', drawn, re.DOTALL)[0]
    assert "&lt;script&gt;document.title" in opened
    assert "Rob Pike (person, person:rob-pike)" in opened
    assert "\u202e" not in drawn
    assert "<title>taken" not in drawn
    assert re.search(r'<h4>bm25<small>[\d.,]+ ms</small></h4><ol><li[^>]*title="\w+:', opened)


@browser
def test_a_question_that_was_read_exactly_has_its_reading_and_a_line_below_what_meets_it(page, tmp_path):
    rows = [json.loads(line) for line in (page.parent / "run" / "results.jsonl").read_text().splitlines()]
    number, row = next(
        (int(row["id"][1:]), row)
        for row in rows
        if row["method"] == "anchor" and row["reading"]["complete"] and 0 < row["reading"]["total"] < 5
    )
    drawn = browse(page, tmp_path, "--dump-dom", fragment=f"#question-{number}")
    assert f"Read as: {escape(row['reading']['text'], quote=False)}" in drawn
    lists = re.search(
        r"<ol>((?:(?!<ol>).)*)</ol><p[^>]*>Nearby: these meet some of it</p><ol[^>]*>(.*?)</ol>", drawn, re.DOTALL
    )
    assert lists[1].count("<li") == row["reading"]["total"]


@browser
def test_filters_and_trajectories_work_by_script(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0]
    steps = """
      const wait = (test) => new Promise((done) => {
        const again = () => test() ? done() : setTimeout(again, 20);
        again();
      });
      (async () => {
        const errors = [];
        window.addEventListener("error", (event) => errors.push(event.message));
        await wait(() => document.querySelector(".q"));
        const set = (id, value) => {
          const one = document.getElementById(id);
          one.value = value;
          one.dispatchEvent(new Event("input", { bubbles: true }));
          return document.getElementById("count").textContent;
        };
        const said = [set("search", "tell me"), set("search", ""), set("field", '["hops","1"]'), set("field", ""),
          set("method1", "0"), set("outcome1", "miss"), set("outcome1", ""), set("sort", "apart"), set("sort", "hard"),
          set("sort", "")];
        const walked = document.querySelectorAll(".q")[1];
        walked.open = true;
        await wait(() => walked.querySelector(".walk"));
        walked.querySelector(".walk").open = true;
        await wait(() => walked.querySelector(".call"));
        document.querySelector('[data-show="MRR"]').click();
        const panels = [...document.querySelectorAll(".panel")];
        const shown = panels.filter((one) => getComputedStyle(one).display !== "none");
        const head = [...document.querySelectorAll(".sortable thead button")].find((one) => one.textContent === "MRR");
        head.click();
        const order = [...document.querySelectorAll(".sortable tbody th")].map((one) => one.textContent);
        const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
        document.title = JSON.stringify({ said, panels: shown.map((one) => one.dataset.measure), order, wide, errors,
          call: walked.querySelector(".call").textContent });
      })();"""
    touched = page.with_name("touched.html")
    touched.write_text(
        text.replace(policy, "").replace("</body>", f"<script>{steps}</script></body>"), encoding="utf-8"
    )
    drawn = browse(touched, tmp_path, "--dump-dom", "--window-size=500,900")
    title = json.loads(re.search("<title>(.*?)</title>", drawn)[1].replace("&quot;", '"').replace("&amp;", "&"))
    run = [json.loads(line) for line in (page.parent / "run" / "results.jsonl").read_text().splitlines()]
    missed = sum(
        line["method"] == "bm25" and not {hit["id"] for hit in line["hits"]} & set(line["gold"]["nodes"])
        for line in run
    )
    counts = [int(re.match(r"\d+", text)[0]) for text in title["said"]]
    assert title["errors"] == []
    assert counts == [3, 7, 4, 7, 7, missed, 7, 7, 7, 7]
    assert set(title["panels"]) == {"MRR"}
    assert title["order"][0].startswith("anchor")
    assert re.match(r"(follow|intersect|search_in_\w+) \{", title["call"])
    assert not title["wide"], "the page scrolls sideways on a telephone"


@browser
def test_it_is_painted_in_light_and_in_dark(page, tmp_path):
    sizes = []
    for scheme in ("1", "0"):
        shot = tmp_path / f"{scheme}.png"
        browse(
            page,
            tmp_path,
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1280,1600",
            f"--screenshot={shot}",
        )
        image = shot.read_bytes()
        assert image.startswith(b"\x89PNG")
        sizes.append(image)
    assert sizes[0] != sizes[1]
    assert min(map(len, sizes)) > 30_000, "next to nothing was painted"
