"""The engines that answer Cypher over our own graphs, and where the algebra differs from ladybug, with the reason."""

from orienteer.cypher import ArraysEngine, LadybugEngine

ENGINES = {"ladybug": LadybugEngine, "arrays": ArraysEngine}

DIFFERENT = {
    "it has no copy, no process and no extra of its own": (
        "test_a_property_is_copied_whole_or_not_at_all",
        "test_the_copy_is_a_piece",
        "test_without_the_engine_the_extra_is_named",
        "worker",
        "test_a_long_query_holds_nobody_up",
        "test_after_a_query_without_memory",
        "test_another_fault_of_the_disk",
        "test_memory_is_bounded",
        "test_many_descriptors",
        "test_another_engine_fills_the_seam",
    ),
    "openCypher: a pattern in OPTIONAL MATCH, EXISTS or [ | ] that fits nothing gives null, false, [], with a note": (
        "WHERE NOT (n)-[:gene]->() RETURN n-BadQuery",
        "OPTIONAL MATCH (n)-[:gene]->(m) RETURN m-BadQuery",
        "RETURN [(n)-[:gene]->(m) | m.id]-BadQuery",
    ),
    "openCypher: a pattern's list may stand anywhere, begin anywhere and hold null; loops are edges": (
        "WHERE 'C' IN [(n)--(m) | m.name]",
        "RETURN [(n)--(m) | [(m)--(k) | k.name]]",
        "RETURN [x IN l | [(n)--(m) | m.name]]",
        "RETURN [(a:Gene)--(b) | b.name]",
        "RETURN [(n)-[*1..2]-(m) | 1]",
        "RETURN [(n)--(m) | null]",
        "test_patterns_in_brackets_are_lists",
        "loops_are_left_out",
    ),
    "openCypher: OPTIONAL MATCH, EXISTS and COUNT may have several parts, or none that is known": (
        "test_conditions_of_several_parts_are_refused",
        "test_a_condition_that_the_engine_gives_no_order_for_is_noted",
        "test_an_optional_match_of_parts_is_refused",
        "test_a_node_without_a_name_is_no_variable",
    ),
    "a property that other types have is null, with a note": (
        "MATCH (n:Order) RETURN n.score",
        "MATCH (n:Doctor) RETURN n.code",
        "MATCH (n:Body_Part) RETURN n.code",
    ),
    "it reads properties with long, mixed, nested and large values": (
        "n.blob",
        "n.mixed",
        "n.nested",
        "n.big",
        "r.note",
        "test_parallel_edges_their_properties",
    ),
    "openCypher: lists and CASE may have values of several kinds, null too; parameters may be maps": (
        "CASE WHEN n.ok THEN 1 ELSE 'a' END",
        "[1, 'a']",
        "[1, null]",
        "test_parameters_are_values_and_never_text",
        "map-parameter",
    ),
    "CASE keeps 3 a whole number beside 2.5": ("test_values_of_nodes", "test_values_of_statements"),
    "openCypher: a list's items may be compared with names outside the list": (
        "[m IN ms WHERE m.name = n.name]",
        "any(m IN ms WHERE toLower(m.name) = 'x')",
        "[m IN ms | m.name + '!']",
    ),
    "it writes floats exactly, splits at any text, compares and divides whole numbers exactly; null has no type": (
        "toString(n.score)",
        "toString(1.5)",
        "'a' + 1.5",
        "split('abc', toLower('B'))",
        "9223372036854775806.0",
        "(-9223372036854775807 - 1) % -1",
        "RETURN type(null)",
    ),
    "hostile statements of the algebra have tests of their own": ("hostile",),
}


def why_different(test):
    """Return why the algebra answers a test otherwise than ladybug, by the test's name; None if it does not."""
    return next((reason for reason, parts in DIFFERENT.items() if any(part in test for part in parts)), None)
