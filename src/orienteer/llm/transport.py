"""The connection to a server, with bounds: no redirects, a largest reply, a deadline over the whole call.

A server may be hostile or broken. The time-outs of an HTTP client count between two reads, so a byte now and then, or
interim answers without end, would hold it forever; here every read ends by the deadline of its call. A reply is read
and unpacked whole, up to a largest size. With ORIENTEER_OFFLINE set, no other machine is ever connected to.
"""

from __future__ import annotations

import math
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from orienteer.errors import ModelError, ModelLate, ModelRefused
from orienteer.llm.address import OFFLINE, is_loopback, is_of_this_machine, is_offline, show

LARGEST_REPLY = 16 << 20
"""Bytes of a reply, unpacked: 64 vectors of 8,192 dimensions take about 10 MB as JSON, a book of text one."""
_AT_ONCE = 1 << 16  # bytes that are unpacked, or sent, at one time
_CONNECTIONS = 1_000  # more than any `concurrency`: calls wait for their slot before they come here

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


def seconds_left() -> float:
    """Return the seconds until the deadline of the call under way; infinity without one."""
    return _deadline.get() - time.monotonic()


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Bound a call with all its attempts; None adds no bound."""
    until = math.inf if seconds is None else time.monotonic() + seconds
    token = _deadline.set(min(_deadline.get(), until))
    try:
        yield
    finally:
        _deadline.reset(token)


class NotSentError(httpx2.TransportError):
    """No connection was made, so the server has seen nothing: the request may be repeated."""

    is_late = False
    """Whether that was for want of time."""


class Transport(httpx2.BaseTransport):
    """Sends requests to one server. The read time-out bounds a whole attempt.

    Raises `NotSentError` if the request can be repeated, and our errors if not: `ModelError` for a reply that is too
    large or not packed as gzip, and for one that did not arrive, because the server may be working on it and every
    attempt is paid; `ModelLate` after the time that `time_limit` allows, `ModelRefused` for another machine while
    offline. The request's extension `on_bytes` is called with the bytes of a sound reply as they arrive.
    """

    def __init__(self, base_url: str) -> None:
        self._pool = pool_to(base_url)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply, read and unpacked."""
        # A proxy of this machine would carry it elsewhere.
        _refuse_another(request.url.host)
        url, seconds = show(str(request.url)), request.extensions["timeout"]["read"]
        if seconds_left() <= 0:
            raise ModelLate(f"{url} did not answer before the question's budget of seconds ended")
        is_sent = False

        def note(event: str, _details: Mapping[str, object]) -> None:
            # Until the body is written whole, no server can have begun to answer.
            nonlocal is_sent
            is_sent = is_sent or event.endswith("send_request_body.complete")

        failures = (
            httpcore2.TimeoutException,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.ProxyError,
        )
        try:
            with time_limit(seconds):
                return self._reply(request, note)
        except failures as error:
            is_late = isinstance(error, httpcore2.TimeoutException)
            if not is_sent:
                unsent = NotSentError(str(error))
                unsent.is_late = is_late
                raise unsent from error
            if is_late:
                within = "in time" if seconds is None else f"within {seconds:g} s"
                cause, advice = f"{url} did not answer {within}", "raise timeout_seconds if it is slow"
            else:
                cause = f"{url} cut the connection before it had answered ({error})"
                advice = "see what it logs"
            if seconds_left() <= 0:
                raise ModelLate(f"{cause}, and the question's budget of seconds is over") from error
            raise ModelError(
                f"{cause}: it is not asked again, for it may have begun, and each attempt is paid; {advice}"
            ) from error

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _reply(self, request: httpx2.Request, note: Callable[[str, Mapping[str, object]], None]) -> httpx2.Response:
        url, headers = request.url, httpx2.Headers(request.headers)
        headers["accept-encoding"] = "gzip"  # the packing that is unpacked here
        reply = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=headers.raw,
                content=request.read(),
                extensions={"timeout": request.extensions["timeout"], "trace": note},
            )
        )
        try:
            reply_headers = httpx2.Headers(reply.headers)
            # The words of a refusal are no part of an answer.
            on_bytes = request.extensions.get("on_bytes") if reply.status == 200 else None
            body = _body(reply.iter_stream(), reply_headers, show(str(url)), on_bytes)
        finally:
            reply.close()
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            reply_headers.pop(name, None)
        # JSON is UTF-8. A server could name a codec that unpacks, or hangs.
        reply_headers["content-type"] = "application/json"
        return httpx2.Response(reply.status, headers=reply_headers, content=body)


def pool_to(base_url: str) -> httpcore2.ConnectionPool:
    """Return connections to one server, whose steps end by `time_limit`.

    Raises `ModelRefused` if the environment names a wrong proxy or list of authorities.
    """
    # Plain http to this machine checks no certificates, and to load their list takes 80 ms.
    if urlsplit(base_url).scheme == "http" and is_loopback(base_url):
        authorities = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        try:
            authorities = httpx2.create_ssl_context()
        except OSError as error:
            raise ModelRefused(
                f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {error}"
            ) from error
    return httpcore2.ConnectionPool(
        ssl_context=authorities,
        proxy=_proxy_to(base_url),
        max_connections=_CONNECTIONS,
        keepalive_expiry=30.0,
        network_backend=_Network(),
    )


class _Network(httpcore2.SyncBackend):
    """Connections whose reads and writes keep to the deadline of the call that they serve."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        _refuse_another(host)
        connect = super().connect_tcp
        return _Stream(connect(host, port, _rest(timeout, httpcore2.ConnectTimeout), local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _rest(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Each part may be taken a little at a time, within the time-out.
        for start in range(0, len(buffer), _AT_ONCE):
            self._inner.write(buffer[start : start + _AT_ONCE], _rest(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        rest = _rest(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, rest))

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


def _refuse_another(host: str) -> None:
    """Raise `ModelRefused` for another machine while offline."""
    if is_offline() and not is_of_this_machine(host):
        raise ModelRefused(f"{host} is another machine, and {OFFLINE} allows this one only: unset it")


def _rest(timeout: float | None, late: type[httpcore2.TimeoutException]) -> float | None:
    """Return a step's time limit. Raises `late` if no time is left."""
    left = seconds_left()
    if left <= 0:
        raise late("the time of the call is over")
    return timeout if left == math.inf else left if timeout is None else min(timeout, left)


def _body(parts: Iterable[bytes], headers: httpx2.Headers, url: str, on_bytes: Callable[[bytes], None] | None) -> bytes:
    """Return a body, unpacked, and call `on_bytes` with each piece of it.

    Raises `ModelError` beyond the largest size, or for a packing other than gzip.
    """
    packing = headers.get("content-encoding", "identity").strip().casefold()
    if packing not in ("identity", "gzip", "x-gzip", ""):
        raise ModelError(f"{url} answered packed as {packing!r}, which it was not asked for: only gzip is read")
    body, received = bytearray(), 0
    member = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing.endswith("gzip") else None
    try:
        for part in parts:
            # Packed bytes count as well: they may unpack to nothing, without end.
            received += len(part)
            while True:
                # Unpacked so little at a time that a bomb is stopped at the largest size.
                piece = part if member is None else member.decompress(part, _AT_ONCE)
                body += piece
                if on_bytes is not None:
                    on_bytes(piece)
                if max(len(body), received) > LARGEST_REPLY:
                    raise ModelError(f"{url} answered with more than {LARGEST_REPLY >> 20} MB: no larger reply is read")
                part = b"" if member is None else member.unconsumed_tail
                if member is not None and member.eof and (part := member.unused_data):
                    member = zlib.decompressobj(zlib.MAX_WBITS | 16)  # gzip may have several members
                if not part:
                    break
    except zlib.error as error:
        raise ModelError(f"{url} answered with invalid gzip ({error})") from error
    return bytes(body)


def _proxy_to(base_url: str) -> httpcore2.Proxy | None:
    """Return the proxy that the environment names for an address; no proxy can reach this machine's own servers.

    Raises `ModelRefused` for a proxy that is not http:// or https://.
    """
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    address = proxies.get(parts.scheme, proxies.get("all"))
    if address is None:
        return None
    try:
        proxy = httpx2.Proxy(address if "://" in address else f"http://{address}")
        if proxy.url.scheme not in ("http", "https"):
            raise ValueError(proxy.url.scheme)
    except (ValueError, httpx2.InvalidURL) as error:
        raise ModelRefused(
            f"the environment names the proxy {show(address)!r}, which is not an http:// or https:// address: "
            "name another, or leave the server out of it with NO_PROXY"
        ) from error
    url = proxy.url
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
    )
