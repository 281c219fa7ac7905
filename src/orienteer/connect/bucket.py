"""The files in a bucket, by a library for S3: read, list, put under a condition, copy, remove.

What it raises quotes requests and replies at length. Here that becomes one sentence of ours with the status and the
store's own code for it, and nothing that was sent.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any, NamedTuple

from orienteer.errors import BadOption, GraphBusy, MissingExtra, ObjectMissing, StoreFailed
from orienteer.ingest.remote.address import Address, endpoint
from orienteer.ingest.remote.objects import Content, Objects, Pace, Reply

CHUNK = 8 << 20
"""Bytes that are read and sent at once."""
_CONNECT, _READ, _WRITE, _WHOLE = timedelta(seconds=5), timedelta(seconds=10), timedelta(minutes=10), timedelta(days=7)
_RETRIES, _RETRY_FOR = 3, timedelta(seconds=20)
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_KEYS = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION"
_AMAZON = "https://s3.amazonaws.com"


class Listed(NamedTuple):
    """What a listing says of a file."""

    size: int
    modified: datetime


class Bucket(Objects):
    """A graph's files in a bucket. Its store is the one that you name in the environment: redirects of it are followed.

    The methods raise as those of `Objects` do.
    """

    def __init__(self, address: Address, *, is_written: bool = False) -> None:
        """Raises `MissingExtra`, and `BadOption` for an endpoint that cannot be used."""
        super().__init__(address, endpoint() or _AMAZON)
        self._store = _store_of(address, is_written=is_written)

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

    def _open(self, name: str, e_tag: str | None, pace: Pace) -> Reply | None:
        import obstore
        from obstore.exceptions import NotModifiedError

        with self._telling(name):
            try:
                reply = obstore.get(self._store, name, options={"if_none_match": e_tag} if e_tag else {})
            except NotModifiedError:
                return None
            return Reply(self._parts(name, reply), reply.meta["e_tag"])

    def _parts(self, name: str, reply: Any) -> Generator[memoryview, None, None]:  # Any: the library's reply
        with self._telling(name):
            for part in reply.stream(min_chunk_size=1):  # for more it would wait, however long
                yield memoryview(part)

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


def _store_of(address: Address, *, is_written: bool) -> Any:  # Any: the library's stores have no common type
    if find_spec("obstore") is None:
        raise MissingExtra(f"{address}", "s3")
    from obstore.store import S3Store

    client: Any = {
        "allow_http": endpoint().startswith("http:"),
        "connect_timeout": _CONNECT,
        "read_timeout": _WRITE if is_written else _READ,  # it runs while a part is sent, too
        "timeout": _WHOLE,  # of a whole file, which may be large
        "user_agent": "orienteer",
    }
    retry: Any = {"max_retries": _RETRIES, "retry_timeout": _RETRY_FOR}
    try:
        return S3Store(address.host, prefix="/".join(address.parts), client_options=client, retry_config=retry)
    except Exception as error:  # noqa: BLE001  # the library has no one class for what it finds in the environment
        raise BadOption(f"{address} cannot be opened: check the variables AWS_... ({type(error).__name__})") from None


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
