"""The command line says of itself what it said: the help of every command, and the table of methods."""

from golden import commands, rankings
from golden.write import HELP, METHODS

MEANT = f"Where it is meant: {rankings.REWRITE}"


def test_the_help_is_as_it_was():
    assert commands.help_tree().splitlines() == HELP.read_text("utf-8").splitlines(), MEANT


def test_the_table_of_methods_is_as_it_was():
    assert commands.methods().splitlines() == METHODS.read_text("utf-8").splitlines(), MEANT
