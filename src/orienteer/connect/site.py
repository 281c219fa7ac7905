"""The files of a server: every read has a deadline, and redirects to other hosts are refused."""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator
from contextlib import suppress
from http import HTTPStatus
from threading import Lock
from urllib.parse import quote, urljoin, urlsplit

import httpcore2

from orienteer.connect.objects import Address, Objects, Pace, Reply
from orienteer.errors import BadOption, ModelError, ObjectMissing, StoreFailed
from orienteer.llm.address import show
from orienteer.llm.transport import pool_to, time_limit

_HOPS = 3  # redirects that are followed one after another
_TRIES, _FIRST_PAUSE = 3, 0.2  # seconds, twice as many before the third
_PASSING = (HTTPStatus.TOO_MANY_REQUESTS, 500, 502, 503, 504)
_MOVED = (301, 302, 303, 307, 308)
_FAILURES = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.TimeoutException)


class Site(Objects):
    """A graph's files at an http(s) address. Raises as `Objects` does, and `BadOption` for a proxy that is not one."""

    def __init__(self, address: Address) -> None:
        super().__init__(address, str(address))
        host = address.host.encode("idna").decode()
        self._base = "/".join((f"{address.scheme}://{host}", *map(quote, address.parts)))
        self._pools: dict[str, httpcore2.ConnectionPool] = {}
        self._opening = Lock()

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _open(self, name: str, e_tag: str | None, pace: Pace) -> Reply | None:
        url = f"{self._base}/{quote(name)}"
        for _ in range(_HOPS + 1):
            reply = self._request(url, name, e_tag, pace)
            headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in reply.headers}
            if reply.status not in _MOVED:
                return self._read(reply, name, headers, pace, is_conditional=e_tag is not None)
            reply.close()
            url = self._redirected(url, headers.get("location", ""))
        raise StoreFailed(f"{self.name(name)} redirects more than {_HOPS} times: give the address that it leads to")

    def _redirected(self, requested: str, location: str) -> str:
        """Return the target of a redirect. Raises `StoreFailed` unless it is https on the same host."""
        with suppress(ValueError):  # it is not an address, or its port is not valid
            url = urljoin(requested, location)
            to, own = urlsplit(url), urlsplit(self._base)
            _ = to.port  # raises for an invalid one
            if (to.scheme, to.hostname) == ("https", own.hostname) and "@" not in to.netloc and url.isascii():
                return url.partition("#")[0]
        raise StoreFailed(
            f"{self.address} redirects to {show(location)!r:.200}, and only https on the same host is followed: give "
            "that address if you trust it"
        )

    def _request(self, url: str, name: str, e_tag: str | None, pace: Pace) -> httpcore2.Response:
        """Return the reply, read up to its head; retried if the server is away for a moment."""
        host = urlsplit(url).netloc.encode()
        headers = [(b"Host", host), (b"User-Agent", b"orienteer"), (b"Accept-Encoding", b"identity")]
        if e_tag is not None:
            headers.append((b"If-None-Match", e_tag.encode("latin-1", "replace")))
        request = httpcore2.Request("GET", url, headers=headers, extensions={"timeout": {"connect": 5.0}})
        for tried in range(_TRIES):
            is_last = tried == _TRIES - 1 or pace.left() < _FIRST_PAUSE * 4
            try:
                with time_limit(pace.left()):
                    reply = self._pool(url).handle_request(request)
            except _FAILURES as error:
                if is_last or _is_distrust(error):
                    raise self._failure(error, name, pace) from error
            else:
                if is_last or reply.status not in _PASSING:
                    return reply
                reply.close()
            time.sleep(_FIRST_PAUSE * 2**tried)
        raise AssertionError("the last try returns or raises")

    def _pool(self, url: str) -> httpcore2.ConnectionPool:
        scheme, _, rest = url.partition("://")
        origin = f"{scheme}://{rest.partition('/')[0]}"
        with self._opening:
            if origin not in self._pools:
                try:
                    self._pools[origin] = pool_to(origin)
                except ModelError as error:
                    raise BadOption(str(error)) from error
            return self._pools[origin]

    def _read(
        self, reply: httpcore2.Response, name: str, headers: dict[str, str], pace: Pace, *, is_conditional: bool
    ) -> Reply | None:
        """Return a reply with a readable body. Raises for another status than 200, or a compressed body."""
        if reply.status == HTTPStatus.OK and headers.get("content-encoding", "identity") in ("identity", ""):
            return Reply(self._parts(reply, name, pace), headers.get("etag"))
        reply.close()
        if reply.status == HTTPStatus.NOT_MODIFIED and is_conditional:
            return None
        if reply.status == HTTPStatus.OK:
            raise StoreFailed(f"{self.name(name)} comes compressed, which was not requested: serve it as it is")
        if reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise ObjectMissing(f"{self.name(name)} is not there")
        if reply.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise StoreFailed(
                f"{self.address} refuses the request ({reply.status}): a graph at such an address must be readable "
                "without a login"
            )
        raise StoreFailed(f"{self.address} fails ({reply.status}): try again later")

    def _parts(self, reply: httpcore2.Response, name: str, pace: Pace) -> Generator[bytes, None, None]:
        parts = iter(reply.iter_stream())
        try:
            while True:
                with time_limit(pace.left()):
                    part = next(parts, None)
                if part is None:
                    return
                yield part
        except _FAILURES as error:
            raise self._failure(error, name, pace) from error
        finally:
            reply.close()

    def _failure(self, error: Exception, name: str, pace: Pace) -> StoreFailed:
        if _is_distrust(error):
            told = f"{self.address} has a certificate that this machine does not trust"
            return StoreFailed(f"{told}: SSL_CERT_FILE names a file of more authorities")
        if not pace.left():
            return self.slow(name, pace)
        return StoreFailed(f"{self.address} does not answer: check the address and the network")


def _is_distrust(error: BaseException | None) -> bool:
    return error is not None and (isinstance(error, ssl.SSLCertVerificationError) or _is_distrust(error.__context__))
