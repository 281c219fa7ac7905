"""Files whole or not at all, links followed, pipes written straight into; files of lines, mended after a kill."""

import os
import threading

import pytest

from orienteer.errors import Error
from orienteer.files import append_line, exchange, mend, replacing, write_whole


def names(folder):
    return [one.name for one in folder.iterdir()]


def test_a_file_is_there_whole(tmp_path):
    write_whole(tmp_path / "a", "ä\n")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "ä\n"
    assert names(tmp_path) == ["a"]


def test_what_stood_there_stays_where_the_writing_fails(tmp_path):
    (tmp_path / "a").write_text("before")

    def fail():
        with replacing(tmp_path / "a") as file:
            file.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (tmp_path / "a").read_text() == "before"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_followed(tmp_path, is_there):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real", tmp_path / "link"
    if is_there:
        real.write_text("before")
    link.symlink_to(real)
    write_whole(link, "after")
    assert link.is_symlink()
    assert real.read_text() == "after"


def test_somebody_elses_file_is_exchanged_with_its_mode_through_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"before\r\n")
    real.chmod(0o640)
    link.symlink_to(real)
    exchange(link, b"before\r\n", b"after\r\n")
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"after\r\n", 0o640)
    exchange(tmp_path / "new", None, b"x")
    assert ((tmp_path / "new").read_bytes(), (tmp_path / "new").stat().st_mode & 0o777) == (b"x", 0o600)
    exchange(tmp_path / "new", b"x", None)
    assert sorted(names(tmp_path)) == ["link", "real"]


@pytest.mark.parametrize(("before", "after"), [(None, b"ours"), (b"old", b"ours"), (b"old", None)])
def test_a_file_that_holds_something_else_is_not_exchanged(tmp_path, before, after):
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(Error, match="has changed since it was read"):
        exchange(tmp_path / "a", before, after)
    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert names(tmp_path) == ["a"]


def test_a_pipe_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()


def test_a_long_name_has_room_for_its_temporary_one(tmp_path):
    name = "a" * 250
    write_whole(tmp_path / name, "x")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("length", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_mending_finds_the_last_line_however_far_back(tmp_path, length):
    file = tmp_path / "f"
    for before in (b"", b"a\nb\n"):
        file.write_bytes(before + b"x" * length)
        mend(file)
        assert file.read_bytes() == before


def test_a_disk_that_is_full_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("os.write", lambda _, data: len(data) - 1)
    with pytest.raises(OSError, match="No space left"):
        append_line(tmp_path / "f", "a")
