"""docs/guides/tables.md lists the known names of columns, in their order, and the words for nothing: no others."""

import re
from pathlib import Path

import pytest

from orienteer.ingest import EDGE_NAMES, END_NAMES, IGNORED_ROLE, NODE_NAMES, NULL_WORDS, PLAIN_ROLES, PROPERTY_ROLE

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "tables.md").read_text(encoding="utf-8")


def listed(heading, row):
    """Return the names in a row of the table under a heading."""
    table = PAGE.split(f"| {heading} | |", 1)[1].split("\n\n", 1)[0]
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {row} |")]
    return re.findall(r"`([^`]+)`", line)


@pytest.mark.parametrize("role", NODE_NAMES)
def test_names_of_columns_of_nodes(role):
    assert listed("of nodes", role) == list(NODE_NAMES[role])


@pytest.mark.parametrize("role", EDGE_NAMES)
def test_names_of_columns_of_edges(role):
    assert listed("of edges", role) == list(EDGE_NAMES[role])


def test_names_of_ends():
    assert [tuple(pair.split()) for pair in listed("of edges", "ends")] == list(END_NAMES)


def test_words_for_nothing():
    (line,) = [line for line in PAGE.splitlines() if line.startswith("**Missing values.**")]
    assert re.findall(r"`([^`]+)`", line.split(" and empty cells")[0]) == list(NULL_WORDS)


def test_roles():
    for role in (*PLAIN_ROLES, PROPERTY_ROLE, IGNORED_ROLE):
        assert f"`{role}`" in PAGE
