"""A folder that is gone takes its graph in the cache with it, with every byte of its text."""

from __future__ import annotations

import shutil
from pathlib import Path

from orienteer.ingest import graph_directory

_WORD = "quatermass"


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "a.txt").write_text(f"The {_WORD} sails at noon.", encoding="utf-8")
    return path


def _holds(cache: Path, word: str) -> bool:
    return any(word.encode() in file.read_bytes() for file in cache.rglob("*") if file.is_file())


def test_graph_of_a_folder_that_is_gone_is_dropped_at_the_next_reading(tmp_path: Path) -> None:
    cache, told = tmp_path / "cache", list[str]()
    one = graph_directory(_folder(tmp_path / "one"), cache=cache)
    assert _holds(cache, _WORD)
    shutil.rmtree(tmp_path / "one")
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("Nothing of it.", encoding="utf-8")
    (cache / "locks" / "orphans").unlink()  # an hour has passed
    graph_directory(other, cache=cache, progress=lambda stage, count: told.append(stage))
    assert not one.exists()
    assert not _holds(cache, _WORD)
    assert f"dropped from the cache the graph of {tmp_path / 'one'}, which is gone" in told


def test_graph_of_a_folder_on_a_disk_that_is_not_there_stays(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    one = graph_directory(_folder(tmp_path / "disk" / "one"), cache=cache)
    (tmp_path / "disk" / "one").rename(tmp_path / "unmounted")  # what is left is an empty folder
    (cache / "locks" / "orphans").unlink()
    graph_directory(_folder(tmp_path / "other"), cache=cache)
    assert one.exists()
