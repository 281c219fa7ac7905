"""The commands that make questions make the ones that they made, from the same seed."""

import pytest

from golden import quizzes, rankings


@pytest.mark.parametrize("graph", quizzes.GRAPHS)
def test_questions_are_as_they_were(graph, tmp_path):
    for file, text in quizzes.made(graph, tmp_path).items():
        expected = (quizzes.FOLDER / file).read_text("utf-8")
        changed = [pair for pair in zip(expected.splitlines(), text.splitlines(), strict=False) if pair[0] != pair[1]]
        if text != expected:
            shown = "expected {}\nactual   {}".format(*changed[0]) if changed else "the number of lines"
            pytest.fail(f"{file} is not as it was. Where it is meant: {rankings.REWRITE}\n{shown}", pytrace=False)
