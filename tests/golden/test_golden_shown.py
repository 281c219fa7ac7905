"""A model is told that something was cut off in the words that it was told before, in either dialect."""

from golden import rankings
from golden.shown import shown
from golden.write import SHOWN


def test_what_is_left_out_and_the_dialects_are_written_as_they_were(tmp_path):
    assert shown(tmp_path).splitlines() == SHOWN.read_text("utf-8").splitlines(), f"Meant? {rankings.REWRITE}"
