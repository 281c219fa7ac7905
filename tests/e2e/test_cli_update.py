"""`orienteer import --update` at the command line: what is printed, as text and as JSON, and refused."""

import json

import pytest


@pytest.fixture
def harbour(home):
    folder = home / "harbour"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name,type\npearl,Pearl,ship\nholm,Holm,port\n")
    (folder / "edges.csv").write_text("source,relation,target\npearl,calls_at,holm\n")
    return folder


def test_what_changed_is_printed(harbour, cli):
    first = cli("import", harbour, "-o", "graph", "--update")
    assert first.code == 0
    assert first.out.startswith("imported everything: graph was no graph\n2 nodes")
    with (harbour / "nodes.csv").open("a") as file:
        file.write("gull,Gull,ship\n")
    second = cli("import", harbour, "-o", "graph", "--update")
    assert "1 changed" in second.out.splitlines()[0]
    assert "nodes: 1 came, 0 changed, 0 went" in second.out
    report = json.loads(cli("import", harbour, "-o", "graph", "--update", "--json").out)
    assert (report["whole"], report["files"]["unchanged"], report["nodes"]) == (None, 2, 3)
    assert report["nodes_changed"] == {"came": 0, "changed": 0, "went": 0}
    assert cli("show", "graph", "gull").code == 0


def test_other_sources_are_refused(harbour, home, cli):
    cli("import", harbour, "-o", "graph", "--update")
    other = cli("import", harbour / "nodes.csv", "-o", "graph", "--update")
    assert other.code == 2
    assert "--force imports it whole" in other.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["harbour", "--update", "--changed-by", "changed"], "--changed-by is about databases"),
        (["harbour", "--replan"], "--replan is about a graph's plan, which --update keeps: give both"),
        (["harbour", "--changed-by", "changed"], "--changed-by selects the rows that --update reads again: give both"),
        (["bolt://localhost/films", "harbour", "--update"], "a database is imported alone"),
    ],
)
def test_a_property_that_tells_changes_is_for_updates_of_databases(arguments, message, harbour, home, cli):
    refused = cli("import", *arguments, "-o", "graph")
    assert (refused.code, message in refused.err) == (2, True)
    assert not (home / "graph").exists()


def test_what_a_new_plan_would_decide_is_printed(home, cli):
    shop = home / "shop"
    shop.mkdir()
    (shop / "customers.csv").write_text("customer_id,name,since\nC7,Ada,31/12/2019\nC8,Bob,14/02/2020\n")
    cli("import", shop, "-o", "graph", "--update")
    with (shop / "customers.csv").open("a") as file:
        file.write("C9,Eve,soon\n")
    told = cli("import", shop, "-o", "graph", "--update").out
    assert "since would be property" in told
    assert "is kept as date d/m/y, texts of another form as since_text; --replan makes it so" in told
    report = json.loads(cli("import", shop, "-o", "graph", "--update", "--json").out)
    assert [(each["column"], each["kept"], each["new"]) for each in report["otherwise"]] == [
        ("since", "date d/m/y", "property")
    ]
    assert "would be" not in cli("import", shop, "-o", "graph", "--update", "--replan").out
