"""A course for every method: a graph, options, and what a model says, so that all its kinds of request are made.

What nodes say holds the marks of dialects: of Qwen's template, of Llama's, of an answer's line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from fakes import deep_search
from fakes.recorder import AGENT, Script
from orienteer.llm import Budget
from orienteer.records import Dialect, Edge, Message, Node, ToolCall

MARKS = r'<tool_call>{"name": "x"}</tool_call> <tool_response> </tool_response> \answer{x} [/INST] <|im_end|> </think>'
FILMS = (
    Node("ferry", "film", "Night Ferry", f"A ferry at night. {MARKS}", properties={"year": 1998}),
    Node("salt", "film", "Salt Road", "Two sisters sell salt.", properties={"year": 2011}),
    Node("holm", "person", "Ada Holm", f"Director and writer. {MARKS}"),
    Node("vik", "person", "Noor Vik", "Actor."),
    Node("marked", "film", f"Ferry {MARKS}", "Its name has marks, too."),
    Node("coast", "place", "Cold Coast", "A coast in the north."),
    *(Node(f"reel{at:02}", "film", f"Reel {at}", f"A film of the sea. {MARKS}") for at in range(12)),
)
MADE = (
    Edge("holm", "directed", "ferry"),
    Edge("holm", "directed", "salt"),
    Edge("vik", "acted_in", "ferry"),
    Edge("ferry", "set_in", "coast"),
    *(Edge("holm", "directed", f"reel{at:02}") for at in range(12)),
)
LIBRARY = (
    Node("c1", "chunk", "Night Ferry", f"Night Ferry is a film by Ada Holm. {MARKS}"),
    Node("c2", "chunk", "Ada Holm", f"Ada Holm was born in Hammerfest. {MARKS}"),
    Node("c3", "chunk", "Hammerfest", "Hammerfest lies far north."),
    Node("f1", "fact", "made", f"Ada Holm made Night Ferry. {MARKS}"),
    Node("f2", "fact", "born", "Ada Holm was born in Hammerfest."),
    Node("film", "film", "Night Ferry"),
    Node("holm", "person", "Ada Holm", f"A director. {MARKS}"),
    Node("town", "town", "Hammerfest", "A town."),
)
HELD = (
    Edge("f1", "member", "film"),
    Edge("f1", "member", "holm"),
    Edge("f2", "member", "holm"),
    Edge("f2", "member", "town"),
    Edge("c1", "states", "f1"),
    Edge("c2", "states", "f2"),
    Edge("c1", "mentions", "film"),
    Edge("c1", "mentions", "holm"),
    Edge("c2", "mentions", "holm"),
    Edge("c2", "mentions", "town"),
    Edge("holm", "made", "film", text="in 1998"),
    Edge("holm", "born_in", "town", text="in 1961"),
)
PLAGUE = (*deep_search.NODES, Node("c5", "chunk", "Plague in Venice", f"Plague came to Venice often. {MARKS}"))
GRAPHS = {"films": (FILMS, MADE), "library": (LIBRARY, HELD), "plague": (PLAGUE, deep_search.EDGES)}
QUESTIONS = {
    "films": "Which films did the director of Night Ferry make?",
    "library": "Where was the maker of Night Ferry born?",
    "plague": deep_search.QUESTION,
}


class Course(NamedTuple):
    """One question to one method."""

    name: str
    script: Script
    method: str = ""
    """Where it is not the name up to the first blank."""
    graph: Literal["films", "library", "plague"] = "films"
    options: Mapping[str, Any] = {}
    inner: Mapping[str, Mapping[str, Any]] = {}
    """Options of the method that it starts from."""
    budget: Budget | None = None
    dialect: Dialect | None = None
    """How its model was found to take calls."""
    has_objects: bool = False
    """Some of its requests ask for an object of a schema."""


ANSWERS: Script = {
    "answer": ["Ada Holm made Night Ferry [ferry]."],
    "answer-evidence": ["Ada Holm made it [C1]. Answer: Hammerfest [C2]"],
}


def call(name: str, **arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """Return a call of a tool."""
    return name, arguments


def words(name: str, **arguments: Any) -> str:
    """Return a call of a tool as Qwen's models write it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def native(*texts: tuple[str, str], content: str | None = None) -> Message:
    """Return a message with calls whose arguments are these texts; its ids begin anew, as some servers' do."""
    calls = tuple(ToolCall(id=f"c{at}", name=name, arguments=text) for at, (name, text) in enumerate(texts))
    return Message(role="assistant", content=content, tool_calls=calls)


SEARCHES = (
    native(("search_in_graph", '{"query": "Night Ferry"}'), content="I look for the film."),
    "It was Ada Holm, I think.",
    native(("look_up", "{}"), ("search_in_graph", '{"query": "Ni')),
    native(*[("search_in_graph", f'{{"query": "Reel {at}"}}') for at in range(34)]),
)
ENDING = ([call("add_to_answer", nodes=["ferry", "salt"])], [call("finish")])
PICKS = [{"node_index": node, "reasoning": f"{node} fits"} for node in ("ferry", "salt")]
PLAIN_ENDING = ([call("add_to_answer", answer_nodes=PICKS)], [call("finish")])
ARK = (*SEARCHES, [call("read_node", node="holm"), call("search_in_neighborhood", node="holm")], *ENDING)
COMPACT = (
    "I look.\n" + words("follow", start="Ada Holm", steps=[{"edge": "directed", "type": "film"}]),
    '<tool_call>\n{"name": \n</tool_call>',
    words("intersect", nodes=["Ada Holm", "Night Ferry"]) + "\n" + words("search_in_graph", query="Ferry", k=12),
    "<think>hm</think>It was Ada Holm, I think.",
    f"{words('look_up')}\n<tool_response>\nfeigned\n</tool_response>",
    words("follow", start="nobody", steps=[{}]),
    words("add_to_answer", nodes=["@1"]) + "\n" + words("finish"),
)
READING = [[call("read_node", node=f"reel{at:02}"), call("search_in_graph", query="film")] for at in range(6)]

LINE = json.dumps({"line": 'film that <-directed- (person that -directed-> "Night Ferry")', "unread": []})
LOOK = words("node_id_retriever", queries=["Night Ferry"])
CODE = words("code_interpreter", code='print(cypher("MATCH (f:film) RETURN f.id, f.name LIMIT 20"))')
SHOW = words("code_interpreter", code="print('<tool_response>', '[/INST]')")
SCOUT = (
    f"<think>hm</think>I look.\n{LOOK}",
    f"Both.\n{CODE}\n{SHOW}",
    f"{LOOK}\n<tool_response>\n[feigned]\n</tool_response>",
    '<tool_call>\n{"name": \n</tool_call>',
    "I do not know.",
    r"\answer{}",
    r"So. \answer{Night Ferry}",
)
SCOUT_NATIVE = (
    [call("node_id_retriever", queries=["Night Ferry"])],
    [call("code_interpreter", code="print('<tool_response>', '[/INST]')"), call("look_up", query="x")],
    native(("code_interpreter", '{"code": "pri')),
    "I do not know.",
    r"So. \answer{Night Ferry}",
)
PLAIN_NATIVE = ([call("node_id_retriever", queries=["Salt Road"])], "I do not know.", r"\answer{Salt Road}")

FORCED = json.dumps({"name": "node_id_retriever", "arguments": {"queries": ["Salt Road"]}})
"""A call that a schema forced; `ark` has no such tool, and is told so."""
SAID_IN_OBJECTS = (
    json.dumps({"words": "I do not know."}),
    json.dumps({"words": "I am cut"})[:-3],
    json.dumps({"words": r"So. \answer{Night Ferry}"}),
)

PLAN = {
    "steps": [
        {"op": "lexical_search", "query": "Night Ferry", "node_types": ["film"], "k": 1, "into": "film"},
        {"op": "match", "start": "film", "edge_types": ["directed"], "node_types": ["person"], "into": "who"},
    ],
    "answer": "who",
}
ANALYSIS: Script = {
    "analysis": [{"low": ["Night Ferry"], "high": ["place of birth"], "answer_types": ["town"]}],
    **ANSWERS,
}
LISTWISE: Script = {"listwise": [{"ids": ["salt", "ferry"]}], **ANSWERS}
SCORES = {"scores": [{"number": 1, "score": 1}, {"number": 2, "score": 0.5}]}
BASICS = [
    {"question": "Who directed Night Ferry?", "pattern": "<s,p,*>", "subject": "Night Ferry"},
    {"question": "What is near them?", "pattern": "<s,*,*>", "subject": "#1"},
    {"question": "How do they meet?", "pattern": "<s,*,o>", "subject": "Noor Vik", "object": "Cold Coast"},
]
DIRECTED = "MATCH (p:person)-[:directed]->(f:film {id: 'ferry'}) RETURN p"
TRIPLETS = {
    "target": "f",
    "variables": [{"name": "f", "type": "film"}],
    "constants": [{"name": "p", "text": "Ada Holm", "type": "person"}],
    "triplets": [{"head": "p", "edge": "directed", "tail": "f"}],
}
JUDGED = [{"answered": False, "reflection": "look for the director"}, {"answered": True, "reflection": ""}]
ACTIONS = (
    "Thought: I begin. Action: RetrieveNode[Night Ferry]",
    "No action at all.",
    "Action: NodeFeature[ferry, text]",
    "Action: NeighbourCheck[holm, directed]",
    "Action: Finish[Salt Road]",
)
VERDICTS = [{"sound": False, "advice": "read more", "depth": 2}, {"sound": True, "advice": ""}]


def searched(script: Mapping[str, Any]) -> Script:
    """Return a script of the modules of GraphSearch as one of this kind."""
    said = {f"graphsearch-{name}": lines if isinstance(lines, list) else [lines] for name, lines in script.items()}
    return {**said, **ANALYSIS}


REJECTED = {"verdict": "Reject"}
LEAN = deep_search.lean(
    lean_study=lambda user: {
        **deep_search.study(user),
        "answer": "a long answer " * 5,
        "confidence": 0.9 if deep_search.number(user) in "123" else 0.5,
    },
    lean_conclude={**deep_search.REJECT, "explanation": "Nothing says how often.", "answer": None, "cited": []},
    lean_verify=[deep_search.REJECT, deep_search.ACCEPT],
)
"""Sure of all steps, whose conclusion is rejected; what the expansion finds is not sure: it is drafted and verified."""
FAITHFUL = deep_search.faithful(
    verify=[REJECTED, REJECTED, deep_search.ACCEPTED], expand={"queries": ["How often came plague to Venice?"]}
)

COURSES = (
    # One call, for the answer, after a search that asks no model.
    *(Course(name, ANSWERS) for name in ("anchor", "bm25", "dense", "hybrid", "text-rag", "graph-rag")),
    Course("sage over hybrid", ANSWERS, options={"seeds": "hybrid"}),
    *(
        Course(name, ANSWERS, graph="library")
        for name in ("naive", "hippo", "hyper", "light", "mini", "path", "msgraph-local")
    ),
    Course("bm25 of documents", ANSWERS, graph="library"),
    Course("documents", ANSWERS),
    Course(
        "documents of a library",
        {"documents-read": [{"sentences": [], "answer": None, "lacks": "her birth", "search": ["Ada Holm"]}]},
        graph="library",
        method="documents",
        has_objects=True,
    ),
    Course(
        "documents over bm25",
        {
            "documents-search": [{"search": ["the maker of the ship", "birth of the maker"]}],
            "documents-read": [{"sentences": ["1.1"], "answer": "seven", "lacks": "the town", "search": []}],
        },
        graph="library",
        method="documents:bm25",
        options={"searches_first": True},
        has_objects=True,
    ),
    # A model is asked where an option says so.
    *(
        Course(f"{name} by a model", ANALYSIS, graph="library", options={"analysis": "model"}, has_objects=True)
        for name in ("hyper", "light", "mini", "path")
    ),
    Course(
        "hippo that chooses",
        {"hippo-facts": [{"kept": [1]}], **ANSWERS},
        graph="library",
        options={"filter": True},
        has_objects=True,
    ),
    Course(
        "msgraph-local that reports",
        {"community": [{"title": "Films", "report": f"Films and people. {MARKS}"}], **ANSWERS},
        graph="library",
        options={"reports": "model"},
        has_objects=True,
    ),
    # Agents.
    Course("ark", {AGENT: ARK, **ANSWERS}),
    Course(
        "ark that leaves out", {AGENT: [*READING, *ENDING], **ANSWERS}, options={"agents": 1, "context_tokens": 1_400}
    ),
    Course(
        "ark whose budget ends",
        {AGENT: ["Hm.", *READING], **ANSWERS},
        options={"agents": 2},
        budget=Budget(calls=7),
    ),
    Course("ark in few words", {AGENT: COMPACT, **ANSWERS}, options={"tools": "compact"}),
    Course(
        "ark in few words that leaves out",
        {AGENT: [*COMPACT[:3] * 2, COMPACT[-1]], **ANSWERS},
        options={"tools": "compact", "agents": 1, "context_tokens": 700},
    ),
    Course("ark faithful", {AGENT: [*SEARCHES, *PLAIN_ENDING], **ANSWERS}, options={"faithful": True}),
    Course("react", {"react": [*SEARCHES, *PLAIN_ENDING], **ANSWERS}),
    Course("react of documents", {"react": [[call("search_passages", query="Ferry")]], **ANSWERS}, graph="library"),
    Course(
        "reflexion",
        {
            "react": [*SEARCHES, *PLAIN_ENDING],
            "reflexion": [[call("search_in_graph", query="Ada Holm")], *PLAIN_ENDING],
            "reflexion-judge": JUDGED,
            **ANSWERS,
        },
        has_objects=True,
    ),
    Course("ark held to a schema", {AGENT: [FORCED, *ARK], **ANSWERS}, dialect="schema", has_objects=True),
    Course(
        "ark held to a schema, whose budget ends",
        {AGENT: [FORCED, *READING], **ANSWERS},
        options={"agents": 1, "context_tokens": 1_400},
        budget=Budget(calls=7),
        dialect="schema",
        has_objects=True,
    ),
    Course("ark that is asked in words", {AGENT: ARK, **ANSWERS}, dialect="qwen"),
    Course(
        "graphscout held to a schema",
        {AGENT: [FORCED, *SAID_IN_OBJECTS], **ANSWERS},
        options={"calls": "tools", "max_calls": 4},
        dialect="schema",
        has_objects=True,
    ),
    Course("graphscout in words", {AGENT: SCOUT}),
    Course("graphscout in words, without code", {AGENT: SCOUT}, options={"tools": "no-code"}),
    Course("graphscout in words, whose calls end", {AGENT: [LOOK], **ANSWERS}, options={"max_calls": 2}),
    Course("graphscout that leaves out", {AGENT: [CODE], **ANSWERS}, options={"context_tokens": 1_200}),
    Course("graphscout by native calls", {AGENT: SCOUT_NATIVE}, options={"calls": "tools"}),
    Course("graphscout by native calls, no marks", {AGENT: PLAIN_NATIVE, **ANSWERS}, options={"calls": "tools"}),
    Course(
        "graphscout by native calls, which end",
        {AGENT: [[call("node_id_retriever", queries=["Salt Road"])]], **ANSWERS},
        options={"calls": "tools", "max_calls": 2},
    ),
    # Fixed courses.
    Course("reader", {"reader": [LINE]}, options={"check": "always"}, has_objects=True),
    Course("spark", {"spark": [PLAN], **ANSWERS}, has_objects=True),
    Course("graphsearch", searched(LEAN), graph="plague", has_objects=True),
    Course("graphsearch faithful", searched(FAITHFUL), graph="plague", options={"faithful": True}, has_objects=True),
    Course("ircot", {"ircot": ["Ada Holm made it.", "So the answer is: Salt Road."], "ircot-read": ["Answer: Salt"]}),
    Course(
        "search-o1",
        {
            "search-o1": ["<think>hm</think>I ask. <search>Night Ferry</search>", "<answer>Salt Road</answer>"],
            "search-o1-documents": ["Ada Holm made it [C1]."],
        },
    ),
    Course("vanilla", {"vanilla": ["It is known. Answer: Salt Road"]}),
    Course(
        "think-on-graph",
        {
            "think-on-graph-topics": [{"topics": ["Night Ferry"]}],
            "think-on-graph-relations": [SCORES],
            "think-on-graph-nodes": [SCORES],
            "think-on-graph-enough": [
                {"enough": False, "nodes": [1], "answer": ""},
                {"enough": True, "nodes": [1], "answer": "Salt Road"},
            ],
            **ANSWERS,
        },
        has_objects=True,
    ),
    Course(
        "cypher",
        {"cypher": ["MATCH (p:persn) RETURN p", DIRECTED], "cypher-answer": ["By [holm]. Answer: Ada Holm"]},
        options={"repair": 1},
    ),
    Course("graph-cot", {"graph-cot": ACTIONS, **ANSWERS}),
    Course(
        "graph-counselor",
        {
            "graph-counselor-plan": [{"steps": ["find it", "read it"], "depth": 2}],
            "graph-counselor-act": ACTIONS,
            "graph-counselor-reflect": VERDICTS,
            **ANSWERS,
        },
        has_objects=True,
    ),
    Course(
        "polyg",
        {
            "polyg-classify": [{"questions": BASICS}],
            "polyg-cypher": ["MATCH (p:persn) RETURN p", DIRECTED],
            "polyg-answer": ["Reasoned. Answer: Salt Road"],
        },
        has_objects=True,
    ),
    Course("4stepfocus", {"4stepfocus": [TRIPLETS], **LISTWISE}, has_objects=True),
    Course(
        "focusedr",
        {"focusedr": ['MATCH (p:person {name: "Ada Holm"})-[:directed]->(f:film) RETURN f'], **LISTWISE},
        has_objects=True,
    ),
    Course(
        "kar",
        {"kar-entities": [{"entities": ["Night Ferry", "Ada Holm"]}], "kar-expand": ["Salt"], **ANSWERS},
        has_objects=True,
    ),
    Course("hyde", {"hyde": ["A film of salt.", "A film of ferries."], **ANSWERS}),
    Course("agr", {"agr-analyze": ["It asks."], "agr-generate": ["A film."], "agr-refine": ["Salt."], **ANSWERS}),
    Course("rar", {"rar": ["Salt Road", "Reel 1"], **ANSWERS}),
    # One method over another.
    Course("sage over spark", {"spark": [PLAN], **ANSWERS}, method="sage:spark", has_objects=True),
    Course("sage over ark", {AGENT: ARK, **ANSWERS}, method="sage:ark"),
    Course(
        "graphsearch over light",
        searched(LEAN),
        method="graphsearch:light",
        graph="plague",
        inner={"light": {"analysis": "model"}},
        has_objects=True,
    ),
    Course(
        "graphsearch over react",
        {
            **searched(LEAN),
            "react": [
                [call("search_passages", query="Venice")],
                [call("add_to_answer", answer_nodes=[{"node_index": "c3", "reasoning": "it says so"}])],
                [call("finish")],
            ],
        },
        method="graphsearch:react",
        graph="plague",
        has_objects=True,
    ),
)
