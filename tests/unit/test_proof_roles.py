"""What the nodes of a proof are in it."""

from orienteer import Graph, Retriever

NODES = "id,name,type\naspirin,Aspirin,Compound\nasthma,Asthma,Disease\ntnf,TNF,Gene\n"
EDGES = "source,target,type\naspirin,asthma,treats\nasthma,tnf,associates\n"


def test_roles_are_named_nodes_and_the_kinds_between(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "nodes.csv").write_text(NODES)
    (tmp_path / "tables" / "edges.csv").write_text(EDGES)
    graph = Graph.from_csv(tmp_path / "tables")
    result = Retriever(graph, "anchor").ask("Which compounds treat a disease that associates TNF?")
    assert {end.id: end.role for end in result.hits[0].ends} == {"asthma": "Disease", "tnf": "named"}
