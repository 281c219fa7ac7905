"""The files in a bucket, by a library for S3: read, list, write, copy, remove.

The library's errors quote requests and replies at length. Ours have the status and the store's code alone.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
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


class ListedFile(NamedTuple):
    """A file in a listing."""

    size: int
    modified: datetime


class Bucket(Objects):
    """A graph's files in a bucket. The store is the user's own choice, so its redirects are followed.

    The methods raise as those of `Objects` do.
    """

    def __init__(self, address: Address, *, is_written: bool = False) -> None:
        """Raises `MissingExtra`, and `BadOption` for an endpoint that cannot be used."""
        super().__init__(address, endpoint() or _AMAZON)
        self._store = _store_of(address, is_written=is_written)

    def list(self) -> dict[str, ListedFile]:
        """Return all files by name."""
        import obstore

        with self._translating(""):
            pages = obstore.list(self._store)
            return {
                entry["path"]: ListedFile(entry["size"], entry["last_modified"]) for page in pages for entry in page
            }

    def put(self, name: str, content: bytes | Iterator[bytes]) -> None:
        """Write a file atomically."""
        import obstore

        with self._translating(name):
            obstore.put(self._store, name, content, chunk_size=CHUNK, max_concurrency=4)

    def put_over(self, name: str, content: bytes, before: Content | None) -> None:
        """Replace a file if its content still is `before`, None for a missing file; else raise `GraphBusy`.

        If the store has no conditional writes, the file is read just before.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

        lost_race = (
            f"another push to {self.address} was faster, and what it published stays: push again to replace that"
        )
        mode: Any = "create" if before is None else {"e_tag": before.e_tag}  # Any: as the library has it
        with self._translating(name):
            try:
                obstore.put(self._store, name, content, mode=mode)
                return
            except (AlreadyExistsError, PreconditionError):
                raise GraphBusy(lost_race) from None
            except NotSupportedError:
                pass
            except obstore.exceptions.BaseError as error:
                if _status(error) != "501":
                    raise
        now: Content | None = None
        with suppress(ObjectMissing):
            now = self.read(name, len(content) + CHUNK)
        if now != before:
            raise GraphBusy(lost_race)
        self.put(name, content)

    def copy(self, name: str, to: str) -> bool:
        """Copy a file within the store; return whether the store could."""
        import obstore

        try:
            with self._translating(name):
                obstore.copy(self._store, name, to)
        except StoreFailed:
            # Some stores cannot, or not for a file of this size; the caller then sends the file.
            return False
        return True

    def remove(self, names: Sequence[str]) -> None:
        """Remove files."""
        import obstore

        with self._translating(""):
            obstore.delete(self._store, list(names))

    def _open(self, name: str, e_tag: str | None, pace: Pace) -> Reply | None:
        import obstore
        from obstore.exceptions import NotModifiedError

        with self._translating(name):
            try:
                reply = obstore.get(self._store, name, options={"if_none_match": e_tag} if e_tag else {})
            except NotModifiedError:
                return None
        # The library would wait for larger chunks.
        e_tag, chunks = reply.meta["e_tag"], reply.stream(min_chunk_size=1)

        def parts() -> Generator[memoryview, None, None]:
            with self._translating(name):
                for chunk in chunks:
                    yield memoryview(chunk)

        return Reply(parts(), e_tag)

    @contextmanager
    def _translating(self, name: str) -> Iterator[None]:
        """Translate errors of the library. Their text is dropped: it may quote signed requests."""
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            code = _CODE.search(str(error))
            if code is not None and code[1] == "NoSuchBucket":
                raise StoreFailed(
                    f"{self.address}: the bucket {self.address.host} does not exist: create it first"
                ) from None
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
    """Return the reason why a request failed, as the end of a message."""
    status, code = _status(error), _CODE.search(str(error))
    failure = " ".join(filter(None, (status, code and code[1])))
    if status in ("401", "403"):
        return f"refuses the request ({failure}): {_KEYS}"
    if "169.254." in str(error) or "redential" in str(error):
        return f"cannot be asked without keys: {_KEYS}"
    if failure:
        return f"fails ({failure}): try again later"
    if "InvalidCertificate" in str(error):
        return "has a certificate that this machine does not trust: SSL_CERT_FILE names a file of more authorities"
    return "does not answer: check the address and the network"
