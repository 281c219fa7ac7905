"""A small graph of medicine that the tests of the tools share: two nodes have one name, two edges run parallel."""

import json

from orienteer.records import Edge, Node, ToolCall

NODES = [
    Node("c1", "Compound", "Aspirin", "relieves pain and fever"),
    Node("c2", "Compound", "Ibuprofen", "relieves pain"),
    Node("c3", "Compound", "Quinine", "against malaria"),
    Node("d1", "Disease", "Jaundice", "yellow skin and yellow eyes"),
    Node("d2", "Disease", "Malaria", "fever that comes back"),
    Node("d3", "Disease", "Headache", "pain in the head"),
    Node("g1", "Gene", "TP53", "tumour suppressor", aliases=("p53 protein",)),
    Node("g2", "Gene", "HBB", "beta globin"),
    Node("s1", "Symptom", "Jaundice", "a yellow colour"),
    Node("s2", "Symptom", "Fever", "a high temperature"),
    Node("x1", "Film", "Blade Runner (1982)", "robots"),
]
EDGES = [
    Edge("c1", "treats", "d3"),
    Edge("c2", "treats", "d3"),
    Edge("c3", "treats", "d2"),
    Edge("c1", "palliates", "d2"),
    Edge("c1", "palliates", "d3"),
    Edge("d2", "associates", "g2"),
    Edge("d1", "associates", "g1"),
    Edge("d2", "presents", "s1"),
    Edge("d2", "presents", "s2"),
    Edge("d1", "presents", "s2"),
]


def ask(toolbox, name, **arguments):
    return toolbox.observe(ToolCall(id="1", name=name, arguments=json.dumps(arguments)))


def members(toolbox, name):
    """Return the ids of a saved set."""
    return {toolbox.session.graph.arrays.ids[row] for row in toolbox.session.sets[int(name[1:]) - 1]}
