"""Checks of a database server for questions in place: what must hold, what should, and the remedies."""

from __future__ import annotations

import time

from orienteer.connect.bolt import Server, statement_error
from orienteer.connect.in_place.edges import full_text_index
from orienteer.connect.in_place.graph import require_read_only
from orienteer.connect.source import DatabaseCounts, count_all, unique_property
from orienteer.errors import BadInput, DatabaseAway, DatabaseRefused, Error, QueryStopped
from orienteer.ingest.databases import Finding

ASKED_SECONDS = 1.0
"""The time limit of the trial statement."""
TRIAL_SECONDS = 5.0
"""About the time of the trial statement if nobody stops it."""
TRIAL_ROWS = 20_000
"""Rows that are requested to see whether the server truncates results."""
_BUSY = "UNWIND range(1, 1000) AS a UNWIND range(1, $n) AS b WITH a, b WHERE (a * b) % 7 = 3 RETURN count(*) AS count"
_LEAST_PASSES, _MOST_PASSES = 200, 2_000_000  # `$n` in it


def examine(server: Server) -> tuple[Finding, ...]:
    """Check a database and its server, without writing. Raises `DatabaseAway`, `DatabaseRefused`, `BadInput`."""
    counts = count_all(server)
    if not counts.nodes:
        raise BadInput(f"{server.address} holds no node: check the name of the database")
    return (
        Finding("server", "well", server.agent),
        Finding("database", "well", f"{counts.nodes:,} nodes, {len(counts.labels):,} labels, {counts.edges:,} edges"),
        _writing(server),
        _words(server, counts),
        _ids(server, counts),
        _rows(server),
        _time(server),
        _ending(server),
        _errors(server),
    )


def _writing(server: Server) -> Finding:
    try:
        require_read_only(server)
    except DatabaseRefused:
        return Finding(
            "writing",
            "problem",
            "the server would let this user write: questions in place are refused",
            "name a user who only reads in NEO4J_USERNAME; docs/guides/databases.md says how to make one",
        )
    return Finding("writing", "well", "a trial to make a node was refused by the server")


def _words(server: Server, counts: DatabaseCounts) -> Finding:
    try:
        index = full_text_index(server)
    except BadInput:
        return Finding(
            "search",
            "problem",
            "there is no full-text index of nodes, which searches go to",
            "make one over the properties with names and texts, best by a label that all nodes bear",
        )
    covers = ", ".join(index.labels)
    told = f"the full-text index {index.name} over {', '.join(index.properties)} of {covers}"
    without = sum(count for labels, count in counts.sets.items() if not set(labels) & set(index.labels))
    if without:
        remedy = "give all nodes a label in common, and make one index by it"
        return Finding(
            "search", "warning", f"{told}; {without:,} nodes are not in it, and no search finds them", remedy
        )
    return Finding("search", "well", told)


def _ids(server: Server, counts: DatabaseCounts) -> Finding:
    name = unique_property(server)
    if not name:
        return Finding(
            "ids",
            "warning",
            "no property tells every node from every other: ids are the database's own, which may change",
            "give nodes a property id of their own, where ids are to be kept",
        )
    statement = "SHOW INDEXES YIELD labelsOrTypes, properties, entityType"
    labels = [
        label
        for of, properties, kind in server.rows(statement)
        if kind == "NODE" and list(properties or ())[:1] == [name]
        for label in of or ()
    ]
    whole = [label for label, count in counts.labels.items() if count == counts.nodes]
    told = f"the property {name!r}"
    if set(labels) & set(whole) or set(counts.labels) <= set(labels):
        return Finding("ids", "well", f"{told}, with an index by {', '.join(labels)}")
    by = f" by the label {whole[0]}, which all nodes bear" if whole else " by each label"
    return Finding("ids", "warning", f"{told}, without an index that covers all nodes", f"make an index of {name}{by}")


def _rows(server: Server) -> Finding:
    number = sum(1 for _ in server.stream("UNWIND range(1, $n) AS x RETURN x", n=TRIAL_ROWS))
    if number < TRIAL_ROWS:
        return Finding(
            "rows",
            "problem",
            f"the server gives this user {number:,} of {TRIAL_ROWS:,} rows, and does not say that it cuts",
            "lift the limit of rows of this user; in ArcadeDB resultSetLimit of its group is -1 for none",
        )
    return Finding("rows", "well", f"results of {TRIAL_ROWS:,} rows come whole")


def _time(server: Server) -> Finding:
    """Run a statement of some seconds with a limit of one."""
    number, took = _LEAST_PASSES, 0.0
    while took < 2 * ASKED_SECONDS and number < _MOST_PASSES:
        started = time.monotonic()
        try:
            list(server.ask(_BUSY, {"n": number}, ASKED_SECONDS))
        except QueryStopped:
            took = time.monotonic() - started
            own = "when it is asked to" if took < 2 * ASKED_SECONDS else "by a limit of its own"
            return Finding("time", "well", f"the server stops a statement {own}: this one after {took:.1f} s")
        took = time.monotonic() - started
        number = min(int(number * max(2.0, min(10.0, TRIAL_SECONDS / max(took, 0.01)))), _MOST_PASSES)
    return Finding(
        "time",
        "warning",
        f"asked to stop a statement after {ASKED_SECONDS:g} s, the server did not: it came to its end, in {took:.1f} s",
        "set a limit of the server's own; in ArcadeDB -Darcadedb.command.timeout=60000, which by default is none",
    )


def _ending(server: Server) -> Finding:
    try:
        server.rows("SHOW TRANSACTIONS YIELD transactionId, currentQuery")
    except Error:
        return Finding(
            "ending",
            "warning",
            "this user cannot list statements, so one that outlasts its time is only cut off, and may go on there",
            "let the user list and end its own statements, or see that the server has a limit of time",
        )
    return Finding("ending", "well", "a statement that outlasts its time can be ended on the server")


def _errors(server: Server) -> Finding:
    """Check the message for an invalid statement: models correct their statements by it."""
    try:
        server.rows("RETURN nosuchfunction(1) AS x")
    except DatabaseAway as error:
        said = statement_error(error) or str(error)
        if "nosuchfunction" in said.casefold():
            return Finding("errors", "well", "the server says what is wrong with a statement")
    return Finding(
        "errors",
        "warning",
        "the server does not say what is wrong with a statement, and a model cannot mend it",
        "let it say so; in ArcadeDB -Darcadedb.server.mode=development does",
    )
