"""ARK (paper 001; 000 is the same system): the equations and rules of section 3 and appendix A.2, one test each."""

import itertools
import json
import math
import re
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.graph import Graph
from orienteer.index import concatenate_lists, shuffle_lists, vote_lists
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Edge, Node, Question, ToolCall
from orienteer.tools import PLAIN_PARAMETERS, Toolbox, open_plain

K1, B = 1.2, 0.75
WORDS = ["amber", "basalt", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "joust", "kelp", "lunar"]
NODE_TYPES, EDGE_TYPES = ("Stone", "Tree", "Bird"), ("near", "feeds", "shades")
PAPER_TOOLS = {
    "search_in_graph": {"query", "size"},
    "search_in_neighborhood": {"node_index", "query", "node_type", "edge_type"},
    "add_to_answer": {"answer_nodes"},
    "finish": {"comment"},
}


def world():
    """Return random nodes and edges: types, both directions, parallel edges and loops, no node with 20 neighbours."""
    random = np.random.default_rng(5)
    nodes = [
        Node(
            f"n{number:02}",
            str(random.choice(NODE_TYPES)),
            f"thing {number}",
            " ".join(random.choice(WORDS, size=int(random.integers(3, 30)))),
        )
        for number in range(60)
    ]
    ends = random.integers(0, 60, size=(200, 2))
    edges = [Edge(f"n{a:02}", str(random.choice(EDGE_TYPES)), f"n{b:02}") for a, b in ends.tolist()]
    return nodes, edges


NODES, EDGES = world()
HUB = [
    Node("hub", "Hub", "hub"),
    *(Node(f"s{at:02}", "Spoke", f"spoke {at}", f"{'delta ' * at}reed") for at in range(30)),
]
HUB_EDGES = [Edge("hub", "has", f"s{at:02}") for at in range(30)]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    return lambda nodes, edges=(): Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("graph") / "graph")


@pytest.fixture(scope="module")
def graph(make):
    return make(NODES, EDGES)


@pytest.fixture(scope="module")
def hub(make):
    return make(HUB, HUB_EDGES)


def paper_tools(graph):
    return open_plain(graph, "lexical", PLAIN_PARAMETERS)


def call(graph, name, **arguments):
    return paper_tools(graph).observe(ToolCall(id="1", name=name, arguments=json.dumps(arguments)))


def neighbors(graph, node, **arguments):
    return call(graph, "search_in_neighborhood", node_index=node, **arguments)


def rel(graph, nodes, query):
    """Return BM25 in float64 as its formula reads (Lucene's): the score of each node that has a word of the query."""
    texts = {node.id: graph.arrays.tokenizer.terms(f"{node.name} {node.text}") for node in nodes}
    mean = sum(map(len, texts.values())) / len(texts)
    scores = Counter()
    for term in dict.fromkeys(graph.arrays.tokenizer.terms(query)):
        having = [node_id for node_id, terms in texts.items() if term in terms]
        idf = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for node_id in having:
            count = texts[node_id].count(term)
            scores[node_id] += idf * count / (count + K1 * (1 - B + B * len(texts[node_id]) / mean))
    return scores


def top(scores, k):
    return tuple(sorted(scores, key=lambda node_id: (-scores[node_id], node_id))[:k])


def n_f(node, node_types=None, edge_types=None):
    """Return N_F(v) as the paper defines it."""
    types = {one.id: one.type for one in NODES}
    around = set()
    for edge in EDGES:
        for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
            if near == node != far and (not edge_types or edge.type in edge_types):
                around.add(far)
    return {far for far in around if not node_types or types[far] in node_types}


def script(*turns):
    """Return a policy that plays these turns, repeating the last, whoever asks."""
    return lambda messages, tools, sampling: turns[min(turn_of(messages), len(turns) - 1)]


def scripts(*agents):
    """Return a policy with a script for each agent, told apart by their seeds."""
    policies = [script(*turns) for turns in agents]
    return lambda messages, tools, sampling: policies[sampling.random_seed](messages, tools, sampling)


def turn_of(messages):
    return sum(message.role == "assistant" for message in messages)


def add(*nodes):
    return ("add_to_answer", {"answer_nodes": [{"node_index": node, "reasoning": f"fits {node}"} for node in nodes]})


FINISH = ("finish", {})
SEARCH = ("search_in_graph", {"query": "delta"})


def ask(graph, policy, *, seed=0, rerank=None, **options):
    ark = Ark(graph, ScriptedModel(policy), ArkConfig(**{"faithful": True, **options}), rerank=rerank)
    return ark.retrieve(Question(text="Which one?"), Allowance(random_seed=seed))


def ids(result):
    return [hit.id for hit in result.hits]


# ------------------------------------------------------------------------------------- 3.1 Search_G(q, k)


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("query", ["delta", "kelp lunar joust", "amber basalt cedar delta ember fjord grove"])
def test_search_g_is_the_top_k_of_rel_over_all_nodes(graph, query, k):
    assert call(graph, "search_in_graph", query=query, size=k).nodes == top(rel(graph, NODES, query), k)


def test_search_g_takes_5_unless_the_agent_asks_otherwise(graph):
    assert call(graph, "search_in_graph", query="delta ember").nodes == top(rel(graph, NODES, "delta ember"), 5)


def test_all_thirty_results_that_the_first_strategy_asks_for_are_shown(make):
    long = make([Node(f"p{at:02}", "Product", f"camping thing {at}", "delta " + "word " * 200) for at in range(40)])
    assert len(call(long, "search_in_graph", query="delta camping", size=30).nodes) == 30


def test_rel_scores_text_attributes_and_no_edges(graph):
    assert call(graph, "search_in_graph", query="feeds shades near Stone Tree Bird", size=60).nodes == ()


# ------------------------------------------------------------------------------------- 3.1 N_F(v)

SUBSETS = [list(some) for size in range(1, 4) for some in itertools.combinations(range(3), size)]


@pytest.mark.parametrize("node", ["n00", "n07", "n31"])
def test_n_f_keeps_neighbours_whose_type_is_in_f_v_and_whose_edge_is_in_f_e(graph, node):
    for of_nodes, of_edges in itertools.product([[], *SUBSETS], repeat=2):
        node_types = [NODE_TYPES[at] for at in of_nodes]
        edge_types = [EDGE_TYPES[at] for at in of_edges]
        filters = {"node_type": node_types} if node_types else {}
        filters |= {"edge_type": edge_types} if edge_types else {}
        found = neighbors(graph, node, **filters).nodes
        assert set(found) == n_f(node, node_types, edge_types)
        assert len(found) == len(set(found))


def test_n_is_open_a_loop_does_not_make_a_node_its_own_neighbour(make):
    loops = make([Node("a"), Node("b")], [Edge("a", "is", "a"), Edge("a", "is", "b")])
    assert neighbors(loops, "a").nodes == ("b",)


def test_edges_count_regardless_of_direction(make):
    both = make([Node("a"), Node("b"), Node("c")], [Edge("a", "to", "b"), Edge("c", "to", "a")])
    assert set(neighbors(both, "a", edge_type="to").nodes) == {"b", "c"}


def test_direction_and_relation_are_shown(make):
    both = make([Node("a"), Node("b"), Node("c")], [Edge("a", "to", "b"), Edge("c", "by", "a")])
    lines = neighbors(both, "a").text.splitlines()
    assert any("-to->" in line and "[b]" in line for line in lines)
    assert any("<-by-" in line and "[c]" in line for line in lines)


def test_a_neighbour_is_reached_over_one_edge_only(make):
    chain = make([Node("a"), Node("b"), Node("c")], [Edge("a", "to", "b"), Edge("b", "to", "c")])
    assert neighbors(chain, "a", query="c").nodes == ("b",)


def test_hops_are_not_bounded_they_come_from_composed_calls(make):
    chain = [Node(f"v{at}", text=f"word{at}") for at in range(9)]
    long = make(chain, [Edge(f"v{at}", "to", f"v{at + 1}") for at in range(8)])
    found = ["v0"]
    for _ in range(8):
        found.append(next(one for one in neighbors(long, found[-1]).nodes if one not in found))
    assert found == [f"v{at}" for at in range(9)]


# ------------------------------------------------------------------------------------- 3.1 Neighbors(v, q, F)


def test_neighbors_takes_the_20_best_of_n_f_by_rel(hub):
    scores = rel(hub, HUB, "delta")
    assert neighbors(hub, "hub", query="delta").nodes == top(scores, 20)


def test_neighbors_come_in_the_order_of_rel_and_nothing_else(make):
    # Long texts score low: the one node with both words stands behind those that have one word often.
    texts = {f"a{at}": "delta delta delta" for at in range(3)} | {"z": f"delta ember {'reed ' * 200}"}
    nodes = [Node("v"), *(Node(node_id, text=text) for node_id, text in texts.items()), Node("e", text="ember")]
    graph = make(nodes, [Edge("v", "to", node_id) for node_id in (*texts, "e")])
    expected = top(rel(graph, nodes, "delta ember"), 5)
    assert expected[0] != "z"  # else this shows nothing
    assert neighbors(graph, "v", query="delta ember").nodes == expected


@pytest.mark.parametrize("query", ["delta", "amber kelp"])
def test_neighbors_ranks_the_filtered_ones(graph, query):
    scores = rel(graph, NODES, query)
    kept = n_f("n07", ["Stone", "Tree"], ["near", "feeds"])
    found = neighbors(graph, "n07", query=query, node_type=["Stone", "Tree"], edge_type=["near", "feeds"]).nodes
    assert set(found) == kept
    assert [scores[one] for one in found] == sorted((scores[one] for one in kept), reverse=True)


def test_the_subquery_and_the_filters_are_optional(graph):
    assert set(neighbors(graph, "n07").nodes) == n_f("n07")
    assert len(neighbors(graph, "n07").nodes) < 20  # else the page would hide some


def test_rel_of_nought_is_a_rank_and_no_reason_to_drop(graph):
    assert set(neighbors(graph, "n07", query="zebra of the savannah").nodes) == n_f("n07")


def test_the_budget_of_20_neighbours_is_fixed(hub):
    assert len(neighbors(hub, "hub").nodes) == 20
    assert neighbors(hub, "hub", k=30).error == "BadCall"


# ------------------------------------------------------------------------------------- 3 the trajectory


def test_s_t_holds_the_question_and_the_history(graph):
    seen = []

    def policy(messages, tools, sampling):
        seen.append(tuple(messages))
        return [[SEARCH], [SEARCH, SEARCH], [FINISH]][turn_of(messages)]

    ask(graph, policy, agents=1)
    assert len(seen) == 3
    for before, after in itertools.pairwise(seen):
        assert after[: len(before)] == before
        assert len(after) > len(before)
    assert "Which one?" in seen[0][-1].content


def test_a_t_is_a_sequence_of_invocations_with_an_observation_each(graph):
    other = ("search_in_neighborhood", {"node_index": "n07"})
    [trajectory] = ask(graph, script([SEARCH, other, add("n01")], [FINISH]), agents=1).trajectories
    step = trajectory.steps[0]
    assert [one.name for one in step.reply.message.tool_calls] == ["search_in_graph", other[0], "add_to_answer"]
    assert [one.call_id for one in step.observations] == [one.id for one in step.reply.message.tool_calls]
    assert step.observations[0].nodes == top(rel(graph, NODES, "delta"), 5)
    assert set(step.observations[1].nodes) == n_f("n07")


def test_select_appends_and_earlier_selections_rank_higher(graph):
    result = ask(graph, script([add("n05", "n01")], [add("n03")], [add("n01", "n00")], [FINISH]), agents=1)
    assert result.trajectories[0].selected == ("n05", "n01", "n03", "n00")
    assert ids(result) == ["n05", "n01", "n03", "n00"]
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


def test_finish_ends(graph):
    [trajectory] = ask(graph, script([add("n05")], [FINISH], [add("n06")]), agents=1).trajectories
    assert len(trajectory.steps) == 2
    assert (trajectory.selected, trajectory.stopped_by) == (("n05",), "finish")


def test_finish_ends_also_without_a_selection(graph):
    result = ask(graph, script([FINISH], [add("n06")]), agents=1)
    assert (result.hits, result.stopped_by) == ((), "finish")


def test_t_max_ends_with_what_was_selected(graph):
    [trajectory] = ask(graph, script([add("n05")], [SEARCH]), agents=1).trajectories
    assert len(trajectory.steps) == 20
    assert (trajectory.selected, trajectory.stopped_by) == (("n05",), "steps")


def test_nothing_is_selected_for_an_agent_that_selected_nothing(graph):
    assert ask(graph, script([SEARCH])).hits == ()


# ------------------------------------------------------------------------------------- 3.2 parallel exploration


def test_n_independent_instances_of_the_same_agent(graph):
    result = ask(graph, scripts([[add("n01")], [FINISH]], [[add("n02")], [FINISH]], [[FINISH]]))
    assert [one.selected for one in result.trajectories] == [("n01",), ("n02",), ()]
    assert len({(one.opening, one.tools, one.prompt_hash) for one in map(_hashable, result.trajectories)}) == 1
    for trajectory in result.trajectories:
        others = {"n01", "n02"} - set(trajectory.selected)
        assert not any(other in one.text for step in trajectory.steps for one in step.observations for other in others)


def _hashable(trajectory):
    return trajectory.model_copy(update={"tools": tuple(tool.model_dump_json() for tool in trajectory.tools)})


def test_the_instances_run_in_parallel(graph):
    together = threading.Barrier(3, timeout=5)

    def policy(messages, tools, sampling):
        if turn_of(messages) == 0:
            together.wait()  # breaks, and fails the test, unless three agents wait at one time
        return [FINISH]

    assert ask(graph, policy).stopped_by == "finish"


def test_each_agent_produces_an_ordered_list_of_its_own(graph):
    result = ask(graph, scripts([[add("n01", "n02")], [FINISH]], [[add("n02", "n01")], [FINISH]], [[FINISH]]))
    assert [one.selected for one in result.trajectories] == [("n01", "n02"), ("n02", "n01"), ()]


def test_the_lists_are_concatenated_in_agent_order(graph):
    result = ask(graph, scripts([[add("n09")], [FINISH]], [[add("n05")], [FINISH]], [[add("n01")], [FINISH]]))
    assert ids(result) == ["n09", "n05", "n01"]  # same votes, same places: only L tells them apart


def test_every_node_of_l_is_ranked_once(graph):
    result = ask(graph, scripts(*[[[add("n01", "n02", "n01")], [add("n02", "n03")], [FINISH]]] * 3))
    assert ids(result) == ["n01", "n02", "n03"]


def test_nodes_are_ordered_by_decreasing_frequency():
    assert [tuple(one) for one in vote_lists([["a", "b"], ["c", "b"], ["c", "d", "b"]])] == [
        ("b", 3),
        ("c", 2),
        ("a", 1),
        ("d", 1),
    ]


def test_frequency_counts_agents_and_not_repeats():
    assert [tuple(one) for one in vote_lists([["a", "b", "b", "b"], ["a"]])] == [("a", 2), ("b", 1)]


def test_ties_go_to_the_earliest_place_in_any_trajectory_and_not_in_the_concatenation():
    lists = [["a", "b", "c"], ["d", "e"]]
    assert [one.id for one in vote_lists(lists)] == ["a", "d", "b", "e", "c"]
    assert [one.id for one in concatenate_lists(lists)] == ["a", "b", "c", "d", "e"]  # the other rule differs here


def test_the_earliest_place_may_be_in_a_later_trajectory():
    assert [one.id for one in vote_lists([["p", "y", "x"], ["x", "y"]])] == ["x", "y", "p"]


def test_the_rule_of_ties_holds_from_agents_to_hits(graph):
    result = ask(graph, scripts([[add("n01", "n02", "n03")], [FINISH]], [[add("n04", "n05")], [FINISH]], [[FINISH]]))
    assert ids(result) == ["n01", "n04", "n02", "n05", "n03"]
    assert {hit.votes for hit in result.hits} == {1}


@given(st.lists(st.lists(st.sampled_from("abcdefgh")), max_size=5))
def test_the_final_ranking_as_section_3_2_words_it(lists):
    joined = [item for one in lists for item in dict.fromkeys(one)]
    earliest = {item: min(list(dict.fromkeys(one)).index(item) for one in lists if item in one) for item in joined}
    expected = sorted(set(joined), key=lambda item: (-joined.count(item), earliest[item], joined.index(item)))
    assert [one.id for one in vote_lists(lists)] == expected
    assert [one.votes for one in vote_lists(lists)] == [joined.count(item) for item in expected]


def test_the_ranking_is_cut_at_20(graph):
    many = [f"n{at:02}" for at in range(30)]
    assert ids(ask(graph, script([add(*many)], [FINISH]))) == many[:20]


# ------------------------------------------------------------------------------------- A.2 and what is recorded


def test_the_defaults_of_appendix_a2():
    config = ArkConfig()
    assert (config.agents, config.max_steps, config.fusion) == (3, 20, "vote")
    assert Question(text="").k == 20


def test_seeds_and_temperature_are_recorded_and_the_seeds_differ(graph):
    sampled = []

    def policy(messages, tools, sampling):
        sampled.append(sampling)
        return [FINISH]

    result = ask(graph, policy, seed=40, temperature=0.3)
    recorded = [one.sampling for one in result.trajectories]
    assert sorted(one.random_seed for one in recorded) == sorted(one.random_seed for one in sampled)
    assert len({one.random_seed for one in recorded}) == 3
    assert {one.temperature for one in recorded} == {one.temperature for one in sampled} == {0.3}
    again = ask(graph, policy, seed=40, temperature=0.3)
    assert [one.sampling for one in again.trajectories] == recorded
    other = ask(graph, policy, seed=41, temperature=0.3)
    assert [one.sampling for one in other.trajectories] != recorded


def offered(graph, **options):
    """Return the tools that a model is really offered, and the system prompt."""
    seen = []

    def policy(messages, tools, sampling):
        seen.append((tools, messages[0].content))
        return [FINISH]

    ask(graph, policy, agents=1, **options)
    return seen[0]


def parameters(tools):
    return {tool.name: set(tool.parameters["properties"]) for tool in tools}


@pytest.mark.parametrize("options", [{"faithful": True}, {"faithful": False}])
def test_defaults_are_the_same_in_schema_prompt_and_code(graph, hub, options):
    tools, prompt = offered(graph, **options)
    described = {
        (tool.name, name): int(stated[1])
        for tool in tools
        for name, one in tool.parameters["properties"].items()
        if (stated := re.search(r"default (\d+)", one.get("description", ""))) and name in ("k", "size")
    }
    assert described["search_in_graph", "size" if options["faithful"] else "k"] == 5
    assert described.get(("search_in_neighborhood", "k"), 20) == 20
    assert not re.search(r"default", prompt)  # else it has to be read here
    toolbox = paper_tools(hub) if options["faithful"] else Toolbox.full(hub)
    sizes = {
        name: len(toolbox.observe(ToolCall(id="1", name=name, arguments=json.dumps(arguments))).nodes)
        for name, arguments in {
            "search_in_graph": {"query": "reed"},
            "search_in_neighborhood": {"node_index" if options["faithful"] else "node": "hub"},
        }.items()
    }
    assert sizes == {"search_in_graph": 5, "search_in_neighborhood": 20}


# ------------------------------------------------------------------------------------- faithful, and the ablations


@pytest.mark.parametrize("options", [{"faithful": True}, {"faithful": False, "tools": "paper"}])
def test_the_paper_has_four_tools(graph, options):
    assert parameters(offered(graph, **options)[0]) == PAPER_TOOLS


def test_ours_has_more(make):
    assert set(PAPER_TOOLS) < set(parameters(Toolbox.full(make([Node("a")], [])).specs))


ABLATIONS = {
    "global-only": {name: one for name, one in PAPER_TOOLS.items() if name != "search_in_neighborhood"},
    "no-query": PAPER_TOOLS | {"search_in_neighborhood": {"node_index", "node_type", "edge_type"}},
    "no-filters": PAPER_TOOLS | {"search_in_neighborhood": {"node_index", "query"}},
}


@pytest.mark.parametrize("tools", ABLATIONS)
@pytest.mark.parametrize("faithful", [True, False])
def test_table_2_takes_one_part_out(graph, tools, faithful):
    assert parameters(offered(graph, faithful=faithful, tools=tools)[0]) == ABLATIONS[tools]


def test_table_2_without_neighbors_the_tool_is_not_there_at_all(graph):
    turns = [[("search_in_neighborhood", {"node_index": "n07"})], [FINISH]]
    [trajectory] = ask(graph, script(*turns), agents=1, tools="global-only").trajectories
    assert trajectory.steps[0].observations[0].error == "BadCall"


@pytest.mark.parametrize(
    ("tools", "arguments"),
    [
        ("no-query", {"query": "delta"}),
        ("no-filters", {"node_type": ["Stone"]}),
        ("no-filters", {"edge_type": ["near"]}),
    ],
)
def test_table_2_what_is_taken_out_cannot_be_used(graph, tools, arguments):
    turns = [[("search_in_neighborhood", {"node_index": "n07", **arguments})], [FINISH]]
    [trajectory] = ask(graph, script(*turns), agents=1, tools=tools).trajectories
    assert trajectory.steps[0].observations[0].error == "BadCall"


@pytest.mark.parametrize(("tools", "word"), [("no-query", "query"), ("no-filters", "filter")])
def test_table_2_the_tool_does_not_speak_of_what_it_lacks(graph, tools, word):
    [spec] = [one for one in offered(graph, tools=tools)[0] if one.name == "search_in_neighborhood"]
    assert word not in spec.description.casefold()


def test_table_2_the_prompt_does_not_speak_of_the_tool_that_is_not_there(graph):
    assert "search_in_neighborhood" not in offered(graph, tools="global-only")[1]


def test_table_3_ordering_concatenates_and_keeps_first_appearances(graph):
    turns = scripts([[add("n01", "n02")], [FINISH]], [[add("n03", "n02")], [FINISH]], [[add("n03")], [FINISH]])
    assert ids(ask(graph, turns, fusion="order")) == ["n01", "n02", "n03"]
    assert ids(ask(graph, turns, fusion="vote")) == ["n03", "n02", "n01"]


def test_table_3_random_shuffles_the_union_by_a_seed(graph):
    many = [f"n{at:02}" for at in range(15)]
    turns = script([add(*many)], [FINISH])
    first = ids(ask(graph, turns, fusion="random", seed=1))
    assert sorted(first) == many
    assert ids(ask(graph, turns, fusion="random", seed=1)) == first
    orders = {tuple(ids(ask(graph, turns, fusion="random", seed=seed, agents=1))) for seed in range(5)}
    assert len(orders) == 5


def test_table_3_random_favours_no_place():
    firsts = Counter(shuffle_lists([["a", "b", "c"], ["a"]], np.random.default_rng(seed))[0].id for seed in range(600))
    assert all(150 < firsts[one] < 250 for one in "abc")  # 200 each expected, five standard deviations either way


def test_table_8_one_agent_with_30_steps(graph):
    [trajectory] = ask(graph, script([SEARCH]), agents=1, max_steps=30).trajectories
    assert len(trajectory.steps) == 30


def test_table_8_three_agents_with_10_steps(graph):
    assert [len(one.steps) for one in ask(graph, script([SEARCH]), max_steps=10).trajectories] == [10, 10, 10]


@pytest.mark.parametrize("plain", [{"faithful": True}, {"tools": "paper"}, {"tools": "no-query"}])
@pytest.mark.parametrize("option", [{"early_stop": True}, {"fill": True}, {"more_tools": ("count_words",)}])
def test_faithful_and_the_ablations_allow_no_options(plain, option):
    with pytest.raises(BadOption, match="not the paper's"):
        ArkConfig(**plain, **option)


@pytest.mark.parametrize("plain", [{"faithful": True}, {"tools": "paper"}, {"tools": "no-query"}])
@pytest.mark.parametrize("limits", [{"node_types": ("Stone",)}, {"where": ("year > 2000",)}])
def test_faithful_and_the_ablations_allow_no_filters(graph, plain, limits):
    model = ScriptedModel(lambda *_: pytest.fail("it was paid"))
    with pytest.raises(BadOption, match="not the paper's"):
        Ark(graph, model, ArkConfig(**plain)).retrieve(Question(text="Which one?", **limits), Allowance())


def test_faithful_allows_no_reranker(graph):
    with pytest.raises(BadOption):
        ask(graph, script([FINISH]), rerank=lambda question, hits: [])


EVERYTHING = [
    [SEARCH, ("search_in_graph", {"query": "delta", "size": 140}), ("search_in_graph", {"query": "zebra"})],
    [
        ("search_in_neighborhood", {"node_index": "n07"}),
        ("search_in_neighborhood", {"node_index": "n07", "query": "delta"}),
    ],
    [("search_in_neighborhood", {"node_index": "n07", "node_type": ["Rock"]})],
    [("search_in_neighborhood", {"node_index": "nobody"}), ("nothing", {}), add("n01", "n02")],
    [FINISH],
]


def test_faithful_knows_no_saved_sets_in_replies_prompt_or_schema(graph):
    [trajectory] = ask(graph, script(*EVERYTHING), agents=1).trajectories
    texts = [one.text for step in trajectory.steps for one in step.observations]
    texts += [message.content for message in trajectory.opening]
    texts += [tool.model_dump_json() for tool in trajectory.tools]
    assert len(trajectory.steps) == len(EVERYTHING)
    assert not [text for text in texts if re.search(r"@\d|saved set", text)]


def test_faithful_offers_no_pages(hub):
    assert "offset" not in neighbors(hub, "hub").text


def test_faithful_takes_types_as_they_are_and_lists_them(graph):
    found = neighbors(graph, "n07", node_type="Stones")
    assert found.error == "UnknownType"
    assert all(name in found.text for name in NODE_TYPES)


def test_faithful_searches_by_bm25_alone_and_has_the_three_strategies(graph):
    prompt = offered(graph)[1]
    assert "size=30" in prompt  # the first strategy: nothing is named, thirty results, about fifteen taken
    assert prompt.count("search_in_neighborhood") >= 2
    assert all(name in prompt for name in (*NODE_TYPES, *EDGE_TYPES))
