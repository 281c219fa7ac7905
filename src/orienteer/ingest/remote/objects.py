"""The files at an address, by one library for S3 and for HTTP: read, list, put under a condition, copy, remove.

What it raises quotes requests and replies at length. Here that becomes one sentence of ours with the status and the
store's own code for it, and nothing that was sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any, NamedTuple

from orienteer.errors import BadOption, GraphBusy, MissingExtra, NotAGraph, ObjectMissing, StoreFailed
from orienteer.ingest.remote.address import ENDPOINT, Address
from orienteer.llm.address import OFFLINE, is_address, is_loopback, is_offline, show

CHUNK = 8 << 20
"""Bytes that are read, sent and received at once."""
_CONNECT, _READ, _WRITE, _WHOLE = timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=10), timedelta(days=7)
_RETRIES, _RETRY_FOR = 3, timedelta(seconds=20)
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_KEYS = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION"
_AMAZON = "https://s3.amazonaws.com"


class Content(NamedTuple):
    """A small file at an address."""

    text: bytes
    e_tag: str | None
    """What tells this content from another, where the server has such a thing."""


class Listed(NamedTuple):
    """What a listing says of a file."""

    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Objects:
    """The files beneath an address, by their names there. Safe to share among threads.

    Each method raises `StoreFailed` where the store does not answer or refuses, `ObjectMissing` for a file that it
    does not have.
    """

    address: Address
    _store: Any  # the library's stores have no common type

    def read(self, name: str, most: int) -> Content:
        """Return a file of up to so many bytes. Raises `NotAGraph` for a larger one."""
        content = self.read_changed(name, most, e_tag=None)
        assert content is not None  # without a tag nothing is unchanged
        return content

    def read_changed(self, name: str, most: int, *, e_tag: str | None) -> Content | None:
        """Return a file as `read` does; None where it still is the one with this tag."""
        import obstore
        from obstore.exceptions import NotModifiedError

        with self._telling(name):
            try:
                reply = obstore.get(self._store, name, options={"if_none_match": e_tag} if e_tag else {})
            except NotModifiedError:
                return None
            text = bytearray()
            for part in reply.stream(min_chunk_size=1 << 16):
                text += memoryview(part)
                if len(text) > most:
                    raise NotAGraph(f"{self.name(name)} is larger than {most:,} bytes: it is no file of a graph")
            return Content(bytes(text), reply.meta["e_tag"])

    def stream(self, name: str) -> Iterator[memoryview]:
        """Yield a file in parts."""
        import obstore

        with self._telling(name):
            for part in obstore.get(self._store, name).stream(min_chunk_size=CHUNK):
                yield memoryview(part)

    def list(self) -> dict[str, Listed]:
        """Return all files with their names."""
        import obstore

        with self._telling(""):
            pages = obstore.list(self._store)
            return {entry["path"]: Listed(entry["size"], entry["last_modified"]) for page in pages for entry in page}

    def put(self, name: str, content: bytes | Iterator[bytes]) -> None:
        """Write a file, which is there whole or not at all."""
        import obstore

        with self._telling(name):
            obstore.put(self._store, name, content, chunk_size=CHUNK, max_concurrency=4)

    def put_over(self, name: str, content: bytes, before: Content | None) -> None:
        """Replace a file that still is what it was; None stands for no file. Raises `GraphBusy` where it is another.

        A store without conditions is asked what it has just before.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

        told = f"another push to {self.address} was faster, and what it published stays: push again to replace that"
        mode: Any = "create" if before is None else {"e_tag": before.e_tag}  # as the library has it
        with self._telling(name):
            try:
                obstore.put(self._store, name, content, mode=mode)
                return
            except (AlreadyExistsError, PreconditionError):
                raise GraphBusy(told) from None
            except NotSupportedError:
                pass
            except obstore.exceptions.BaseError as error:
                if _status(error) != "501":
                    raise
        if self._now(name, len(content) + CHUNK) != before:
            raise GraphBusy(told)
        self.put(name, content)

    def copy(self, name: str, to: str) -> bool:
        """Copy a file without it coming here; say whether the store could."""
        import obstore

        try:
            with self._telling(name):
                obstore.copy(self._store, name, to)
        except StoreFailed:  # some cannot, or not for a file of this size: it is sent instead
            return False
        return True

    def remove(self, names: Sequence[str]) -> None:
        """Remove files."""
        import obstore

        with self._telling(""):
            obstore.delete(self._store, list(names))

    def name(self, name: str) -> str:
        """Return a file as sentences name it."""
        return f"{self.address}/{name}"

    def _now(self, name: str, most: int) -> Content | None:
        try:
            return self.read(name, most)
        except ObjectMissing:
            return None

    @contextmanager
    def _telling(self, name: str) -> Iterator[None]:
        """Turn what the library raises into a sentence. What it quotes is not kept: it may hold what was signed."""
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            code = _CODE.search(str(error))
            if code is not None and code[1] == "NoSuchBucket":
                raise StoreFailed(f"{self.address}: there is no bucket {self.address.host}: make it first") from None
            raise ObjectMissing(f"{self.name(name)} is not there") from None
        except (BaseError, OSError, ValueError) as error:
            raise StoreFailed(f"{self.address} {_reason(error)}") from None


def objects_at(address: Address, *, is_written: bool = False) -> Objects:
    """Return the files at an address; nothing is asked yet.

    Raises `MissingExtra`, and `BadOption` for an endpoint that cannot be used, or is elsewhere while offline.
    """
    if find_spec("obstore") is None:
        raise MissingExtra(f"{address}", "s3")
    from obstore.store import HTTPStore, S3Store

    server = endpoint() or _AMAZON if address.is_bucket else str(address)
    if is_offline() and not is_loopback(server):
        raise BadOption(f"{address} is not on this machine, and {OFFLINE} is set: unset it, or name a folder")
    client: Any = {
        "allow_http": server.startswith("http:"),
        "connect_timeout": _CONNECT,
        "read_timeout": _WRITE if is_written else _READ,  # it runs while a part is sent, too
        "timeout": _WHOLE,  # of a whole file, which may be large
        "user_agent": "orienteer",
    }
    retry: Any = {"max_retries": _RETRIES, "retry_timeout": _RETRY_FOR}
    try:
        if address.is_bucket:
            prefix = "/".join(address.parts)
            return Objects(address, S3Store(address.host, prefix=prefix, client_options=client, retry_config=retry))
        return Objects(address, HTTPStore.from_url(str(address), client_options=client, retry_config=retry))
    except Exception as error:  # noqa: BLE001  # the library has no one class for what it finds in the environment
        raise BadOption(f"{address} cannot be opened: check the variables AWS_... ({type(error).__name__})") from None


def endpoint() -> str:
    """Return the store that the environment names in place of Amazon's, or nothing. Raises `BadOption`."""
    url = os.environ.get(ENDPOINT, "").strip()
    if url and (show(url) != url or not is_address(url)):
        raise BadOption(f"{ENDPOINT} is {show(url)!r}: write http(s)://HOST:PORT, with no user name, password or query")
    return url.rstrip("/")


def _status(error: BaseException) -> str:
    found = _STATUS.search(str(error))
    return "" if found is None else found[1]


def _reason(error: BaseException) -> str:
    """Say why a request failed, in words of ours: what the library quotes is the store's, or what was sent."""
    status, code = _status(error), _CODE.search(str(error))
    told = " ".join(filter(None, (status, code and code[1])))
    if status in ("401", "403"):
        return f"refuses the request ({told}): {_KEYS}"
    if "169.254." in str(error) or "redential" in str(error):
        return f"cannot be asked without keys: {_KEYS}"
    if told:
        return f"fails ({told}): try again later"
    if "InvalidCertificate" in str(error):
        return "has a certificate that this machine does not trust: SSL_CERT_FILE names a file of more authorities"
    return "does not answer: check the address and the network"
