"""Graphs and collections that the tests of training share, made once each."""

from __future__ import annotations

import shutil

import pytest

from e2e.conftest import cli, home, process, users_file  # noqa: F401  fixtures of the command line
from orienteer.graph import Graph
from orienteer.lab.training import CollectConfig, collect_trajectories, collected_trajectories
from orienteer.llm import ScriptedModel
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from training import tiny


@pytest.fixture(scope="session")
def worlds(scratch):
    """Give the graphs `books` and `ships`."""
    folder = scratch()
    return {
        name: Graph.from_records(*records, path=folder / name)
        for name, records in (("books", tiny.books()), ("ships", tiny.ships()))
    }


@pytest.fixture(scope="session")
def books(worlds):
    """Give the graph of novels."""
    return worlds["books"]


@pytest.fixture(scope="session")
def taught(worlds, scratch):
    """Give the folder of a collection of the teacher `anchor` over both graphs."""
    folder = scratch()
    collect_trajectories(
        list(worlds.values()),
        folder,
        CollectConfig(teacher="anchor", count=12, patterns=("one_hop", "two_anchors")),
        settings=Settings(),
    )
    return folder


@pytest.fixture(scope="session")
def episodes(taught):
    """Give the trajectories of the collection, those of both graphs."""
    return [trajectory for _, trajectory in collected_trajectories(taught)]


@pytest.fixture(scope="session")
def quizzed(worlds, scratch):
    """Give the folder of a collection of the programs of quizzes."""
    folder = scratch()
    collect_trajectories([worlds["books"]], folder, CollectConfig(teacher="quiz", count=8), settings=Settings())
    return folder


@pytest.fixture
def copied(taught, tmp_path):
    """Give a copy of the collection, which a test may change."""
    return shutil.copytree(taught, tmp_path / "collection")


@pytest.fixture(scope="session")
def play(books):
    """Give a function that has a method answer with a scripted model, and returns its first trajectory."""

    def played(method, turns, question="Which novels are written by Ada Holm?", **options):
        def said(messages, tools, sampling):
            turn = sum(message.role == "assistant" for message in messages)
            return turns[min(turn, len(turns) - 1)]

        agent = Retriever(books, method, model=ScriptedModel(said), settings=Settings(), **options)
        return agent.search(question).trajectories[0]

    return played


# ------------------------------------------------------------------------------------- what needs PyTorch


@pytest.fixture(scope="session")
def base(episodes, scratch):
    """Give the folder of a student that has learnt nothing."""
    pytest.importorskip("torch")
    return tiny.student(scratch(), tiny.texts_of(episodes))


@pytest.fixture(scope="session")
def lesson(worlds, scratch):
    """Give the folder of a collection of four questions about the ships, which a student can know by heart."""
    folder = scratch()
    config = CollectConfig(teacher="anchor", count=4, patterns=("one_hop",))
    collect_trajectories([worlds["ships"]], folder, config, settings=Settings())
    return folder


@pytest.fixture(scope="session")
def pupil(base, lesson, scratch):
    """Give the folder of a training in which a student learns the lesson nearly by heart."""
    from orienteer.lab.training import SftConfig, distil

    folder = scratch()
    settings = {**tiny.SETTINGS, "epochs": "48", "learning_rate": "5e-3", "schedule": "constant", "save_steps": "16"}
    with tiny.no_warnings():
        distil(
            [lesson],
            folder,
            str(base),
            SftConfig.read({**settings, "batch": "4", "micro_batch": "4", "max_length": "900"}),
        )
    return folder
