"""The numpy kernels in loops that numba compiles (extra `fast`): equal results, for processes that live long.

Nothing here is loaded unless it is asked for: importing numba costs more than most commands take.
"""

from __future__ import annotations

from importlib.util import find_spec

from orienteer.errors import MissingExtra


def is_available() -> bool:
    """Tell whether numba is installed, without loading it."""
    return find_spec("numba") is not None


def require(what: str) -> None:
    """Raise `MissingExtra` where numba is not installed; `what` names the feature that needs it."""
    if not is_available():
        raise MissingExtra(what, "fast")
