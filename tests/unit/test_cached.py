"""The cache: nobody else reads it or puts anything there; a folder that is gone takes its graph with it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from fakes.stores import FileServer
from orienteer import Graph
from orienteer.connect import GraphAtAddress
from orienteer.errors import BadOption
from orienteer.index import CacheWriter, VectorCache, vector_folder_of, vector_keys_of
from orienteer.ingest import ReplyCache, graph_directory
from orienteer.llm import Abilities, keep_abilities, recall_abilities

pytestmark = pytest.mark.slow

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


# ------------------------------------------------------------------------------------- whose it is


def _graph_of_a_folder(cache: Path) -> None:
    graph_directory(_folder_once(cache.parent / "sources"), cache=cache)


def _folder_once(path: Path) -> Path:
    return path if path.exists() else _folder(path)


def _graph_at_an_address(cache: Path) -> None:
    site = cache.parent / "site"
    if not site.exists():
        Graph.from_records([{"id": "a", "type": "t"}], [], path=site / "small")
    server = FileServer(site)
    try:
        GraphAtAddress(f"{server.url}/small").pulled(cache, tell=lambda stage, count: None)
    finally:
        server.close()


def _vectors(cache: Path) -> None:
    CacheWriter(vector_folder_of(cache, "a" * 64)).add(vector_keys_of(["a"]), np.ones((1, 3), np.float32))


def _replies(cache: Path) -> None:
    ReplyCache(cache / "replies")


def _servers(cache: Path) -> None:
    keep_abilities(Abilities(url="http://localhost/v1", model="m", probed="2026-11-28T00:00:00+00:00"), cache)


MAKERS = [
    pytest.param(maker, id=maker.__name__.strip("_"))
    for maker in (_graph_of_a_folder, _graph_at_an_address, _vectors, _replies, _servers)
]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture(params=[0o022, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_made_in_the_cache_is_closed_to_others(tmp_path: Path, make: Callable[[Path], None]) -> None:
    cache = tmp_path / "new" / "cache"
    cache.parent.mkdir()
    make(cache)
    assert _mode(cache) == 0o700
    assert {_mode(folder) for folder in cache.iterdir()} == {0o700}


@posix
@pytest.mark.parametrize("make", MAKERS)
def test_folders_that_an_earlier_version_left_open_are_closed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    cache = tmp_path / "cache"
    make(cache)
    for folder in (cache, *cache.iterdir()):
        folder.chmod(0o755)
    shutil.rmtree(cache / "vectors", ignore_errors=True)
    for graph in (cache / "graphs").glob("*"):
        shutil.rmtree(graph)  # so that it is made again
    make(cache)
    assert {_mode(folder) for folder in cache.iterdir()} == {0o700}
    assert _mode(cache) == 0o755  # it may hold other things of its owner


@posix
@pytest.mark.parametrize("make", MAKERS)
def test_cache_that_others_may_write_to_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    cache = tmp_path / "cache"
    make(cache)
    within = [folder for folder in cache.iterdir() if folder.name != "locks"]
    for mode in (0o777, 0o775, 0o1777):
        for folders in ([cache], within):
            for folder in folders:
                folder.chmod(mode)
            with pytest.raises(
                BadOption, match=rf"(?s)may write to the cache .*chmod 700 {folders[0]}.*ORIENTEER_CACHE"
            ):
                make(cache)  # which would read what is there
            for folder in folders:
                folder.chmod(0o700)


@posix
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only the superuser can give a folder away")
@pytest.mark.parametrize("make", MAKERS)
def test_cache_of_another_user_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    cache = tmp_path / "cache"
    make(cache)
    os.chown(cache, 12345, 12345)
    with pytest.raises(BadOption, match=r"(?s)belongs to the user 12345.*chown -R 0 .*ORIENTEER_CACHE"):
        make(cache)
    os.chown(cache, 0, 0)
    for folder in cache.iterdir():
        os.chown(folder, 12345, 12345)
    with pytest.raises(BadOption, match="belongs to the user 12345"):
        make(cache)


@posix
def test_what_others_could_have_put_there_is_not_read(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    _servers(cache)
    _vectors(cache)
    assert recall_abilities(cache, "http://localhost/v1", "m") is not None
    cache.chmod(0o777)
    assert recall_abilities(cache, "http://localhost/v1", "m") is None
    with pytest.raises(BadOption, match="may write to the cache"):
        VectorCache(vector_folder_of(cache, "a" * 64))
