"""The methods that need no model rank as they did: the same nodes in the same order, for the same scores."""

import pytest

from golden import rankings


@pytest.mark.parametrize("world", rankings.names(is_data=False))
def test_rankings_are_as_they_were(world, tmp_path):
    texts = rankings.differences(world, rankings.rank(world, tmp_path, None))
    if texts:
        pytest.fail(rankings.message(texts), pytrace=False)


@pytest.mark.data
@pytest.mark.parametrize("world", rankings.names(is_data=True))
def test_rankings_over_real_data_are_as_they_were(world, tmp_path, data_folder):
    pytest.importorskip("pyarrow")
    texts = rankings.differences(world, rankings.rank(world, tmp_path, data_folder))
    if texts:
        pytest.fail(rankings.message(texts), pytrace=False)


def test_every_file_is_of_a_world():
    files = {file.stem for file in rankings.FOLDER.iterdir()}
    assert files == {*rankings.names(is_data=False), *rankings.names(is_data=True)}
