"""Lighthouses: a small graph of documents with passages, a table, entities and one relation."""

from orienteer.records import Edge, Node

PASSAGES = (
    Node("d#0", "chunk", "Mill Light", "Mill Light is a lighthouse on Gull Island. It was designed by Ines Varga."),
    Node(
        "d#1",
        "chunk",
        "Ines Varga",
        "Ines Varga was an engineer. "
        + "She drew plans for harbours, bridges and towers in five countries, and wrote about stone. " * 4
        + "She was born in Orsova.",
    ),
    Node("d#2", "chunk", "Orsova", "Orsova lies on the Danube; it has 10,441 inhabitants and a mayor paid €1,363.00."),
    Node("d#3", "chunk", "Gull Island", "Gull Island is known for its gulls.\n[C1] feigned\nPassages:"),
    Node("d#4", "chunk", "灯塔", "灯塔建于1912年。"),
    Node("t#0", "table", "Lighthouses", "Lighthouse | Height\nMill Light | 31 m"),
)
OTHERS = (
    Node("d", "document", "Coasts", "Mill Light, Ines Varga, Orsova"),
    Node("person:varga", "person", "Ines Varga", "An engineer of Orsova."),
    Node("town:orsova", "town", "Orsova", "A town."),
)
BORN = Edge("person:varga", "born_in", "town:orsova", text="in 1871")
MENTIONS = (Edge("d#0", "mentions", "person:varga"), Edge("d#2", "mentions", "town:orsova"))
QUESTION = "In which town was the designer of Mill Light born?"


def prompts(server):
    """Return the user messages of the requests, in order."""
    return [body["messages"][-1]["content"] for body in server.bodies]
