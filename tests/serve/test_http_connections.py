"""Connections that take long, or too many: each of them ends, and whoever comes meanwhile gets in."""

import socket
import sys
import threading
import time
from contextlib import ExitStack, suppress

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving
from orienteer.serve import EventReply

GET = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n"
POST = b"POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
SPEED = 20  # seconds of the server in one of the test


@pytest.fixture(scope="module")
def quick(small):
    """Give a client of a server whose seconds are short."""
    with serving({"small": small}, speed=SPEED, has_mcp=True) as client:
        yield client


def connected(client, *, source="127.0.0.1", receives=None):
    connection = socket.socket()
    if receives is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    connection.settimeout(10)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", client.port))
    return connection


def reply_of(connection):
    """Read a reply of `/health`."""
    read = b""
    while b'{"status":"ok"}' not in read:
        part = connection.recv(4_096)
        assert part, read
        read += part


def seconds_until_closed(connections, *, drip=b"", begun=None):
    """Return how many of the server's seconds since `begun` each connection stays open, on which bytes drip."""
    begun, seconds = time.monotonic() if begun is None else begun, {}
    while connections.keys() - seconds.keys():
        assert time.monotonic() < begun + 15, f"these stay open: {connections.keys() - seconds.keys()}"
        for name, connection in connections.items():
            if name not in seconds and is_closed(connection, drip):
                seconds[name] = SPEED * (time.monotonic() - begun)
        time.sleep(0.01)
    return seconds


def is_closed(connection, drip):
    connection.settimeout(0)
    try:
        connection.sendall(drip)
        while connection.recv(4_096):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


HEADS = {"nothing": b"", "a line": b"GET /hea", "lines": GET, "a field": GET + b"x-a: "}


@pytest.mark.parametrize("drip", [b"", b"a"], ids=["silent", "dripping"])
def test_a_head_that_never_ends_is_waited_for_ten_seconds(quick, drip):
    # Before the first connection: what this test does in between may take several of the server's seconds.
    begun = time.monotonic()
    with ExitStack() as stack:
        connections = {name: stack.enter_context(connected(quick)) for name in (*HEADS, "a second one")}
        for name, sent in HEADS.items():
            connections[name].sendall(sent)
        connections["a second one"].sendall(GET + b"\r\n")
        reply_of(connections["a second one"])
        connections["a second one"].sendall(GET)
        seconds = seconds_until_closed(connections, drip=drip, begun=begun)
    assert all(8 < each < 60 for each in seconds.values()), seconds
    assert quick.get("/health").status == 200


def test_a_body_that_never_ends_is_not_waited_for_for_ever_whether_anybody_reads_it_or_not(quick):
    with ExitStack() as stack:
        paths = (b"/health", b"/api/search", b"/mcp", b"/v1/chat/completions", b"/nope")
        connections = {path: stack.enter_context(connected(quick)) for path in paths}
        for path, connection in connections.items():
            connection.sendall(POST % path + b"{")
        seconds_until_closed(connections)


def test_a_connection_is_kept_while_its_requests_come(quick):
    with connected(quick) as connection:
        for _ in range(3):
            connection.sendall(GET + b"\r\n")
            reply_of(connection)
            time.sleep(15 / SPEED)  # longer than a head may take


def test_whoever_comes_gets_in_while_others_hold_all_connections(small):
    with serving({"small": small}, most_connections=10) as client, ExitStack() as held:
        for _ in range(30):
            held.enter_context(connected(client)).sendall(GET)
            assert client.get("/health").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one address of this machine")
def test_the_one_who_holds_the_most_makes_room(small):
    with serving({"small": small}, most_connections=10) as client, ExitStack() as held:
        patient = held.enter_context(connected(client, source="127.0.0.2"))
        patient.sendall(GET)
        for _ in range(30):
            held.enter_context(connected(client)).sendall(GET)
        patient.sendall(b"\r\n")
        reply_of(patient)


class Large:
    """An application with a reply of 20 MB, as one piece or as events."""

    def __init__(self, is_stream):
        self.is_stream, self.is_over = is_stream, threading.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return

        async def chunks():
            for _ in range(20):
                yield b" " * 1_000_000

        if self.is_stream:
            await EventReply(chunks(), self.is_over.set)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b" " * 20_000_000})
        self.is_over.set()


def read_all(connection, pause=0.0):
    size = 0
    while part := connection.recv(1 << 20):
        size += len(part)
        time.sleep(pause)
    return size


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "events"])
def test_a_reply_that_nobody_takes_is_given_up(small, is_stream):
    large = Large(is_stream)
    with (
        serving({"small": small}, speed=3 * SPEED, around=lambda app: _lifespan(app, large)) as client,
        connected(client, receives=4_096) as connection,
    ):
        connection.sendall(GET + b"\r\n")
        assert large.is_over.wait(10)
        time.sleep(70 / (3 * SPEED))
        with suppress(ConnectionError):  # as it should be
            assert read_all(connection) < 20_000_000


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "events"])
def test_a_reply_that_is_taken_slowly_comes_whole(small, is_stream):
    large = Large(is_stream)
    with (
        serving({"small": small}, speed=3 * SPEED, around=lambda app: _lifespan(app, large)) as client,
        connected(client, receives=1 << 20) as connection,
    ):
        connection.sendall(GET + b"connection: close\r\n\r\n")
        assert read_all(connection, 0.02) >= 20_000_000


def _lifespan(app, other):
    """Return an application that begins and ends as ours, and answers as another."""

    async def either(scope, receive, send):
        await (app if scope["type"] == "lifespan" else other)(scope, receive, send)

    return either
