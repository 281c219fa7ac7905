"""What is owed to whoever sends something that is not one JSON-RPC message: an error, with its id if it has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import mcp_types as types

from orienteer.llm.schema import decode

_MOST_ERRORS = 100
"""Messages of a batch that are answered."""
_NO_MESSAGE = "this is not a JSON-RPC message: send an object with jsonrpc, id, method and params"
_BATCH = "batches are not read: send each message by itself"


class Received(NamedTuple):
    """What came in."""

    message: types.JSONRPCMessage | None = None
    """None if it is not one message."""
    errors: tuple[types.JSONRPCError, ...] = ()
    """The replies to what is not one message."""


def received(text: bytes | str) -> Received:
    """Return a message, or the errors to reply with.

    `{"jsonrpc": "2.0", "id": 7, ...}` with half a surrogate pair in it is answered with id 7, JSON that is broken with
    id null, a batch with the id of each of its requests.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Received(errors=(_error(None, types.PARSE_ERROR, f"this is not JSON: {error}"),))
    if isinstance(value, list):
        ids: list[types.RequestId | None] = list(islice(_ids(value), _MOST_ERRORS))
        return Received(errors=tuple(_error(each, types.INVALID_REQUEST, _BATCH) for each in ids or [None]))
    try:
        decode(text if isinstance(text, str) else text.decode())
    except ValueError as error:
        return Received(errors=(_error(_id_of(value), types.PARSE_ERROR, f"this cannot be read: {error}"),))
    try:
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        return Received(errors=(_error(_id_of(value), types.INVALID_REQUEST, _NO_MESSAGE),))
    if "id" in value and _id_of(value) is None and "method" in value:
        wrong = "the id of a request is a text or a whole number"
        return Received(errors=(_error(None, types.INVALID_REQUEST, wrong),))
    return Received(message)


def _ids(batch: list[Any]) -> Iterator[types.RequestId]:  # Any: JSON
    for each in batch:
        if (request_id := _id_of(each)) is not None:
            yield request_id


def _id_of(value: Any) -> types.RequestId | None:  # Any: JSON
    request_id = value.get("id") if isinstance(value, dict) else None
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


def _error(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
