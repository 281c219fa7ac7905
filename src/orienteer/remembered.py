"""Caches the values of a method in its object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple, Unpack

_Owner = TypeVar("_Owner")
_Key = TypeVarTuple("_Key")
_Value = TypeVar("_Value")
# None may be a value.
_MISSING: Any = object()


def cached_method(
    most: int,
) -> Callable[[Callable[[_Owner, Unpack[_Key]], _Value]], Callable[[_Owner, Unpack[_Key]], _Value]]:
    """Cache up to `most` values of a method by its positional arguments; one more clears the cache.

        >>> class Stemmer:
        ...     @cached_method(2)
        ...     def stem(self, word):
        ...         print("stems", word)
        ...         return word.removesuffix("s")
        >>> stemmer = Stemmer()
        >>> stemmer.stem("dogs"), stemmer.stem("dogs")
        stems dogs
        ('dog', 'dog')

    Safe among threads, which may compute a value twice. The cache is in the object: `functools.lru_cache` over a bound
    method, stored in its object, would refer back to it, and such a cycle waits for the garbage collector with all that
    the object holds, such as the open files of a graph.
    """

    def decorate(method: Callable[[_Owner, Unpack[_Key]], _Value]) -> Callable[[_Owner, Unpack[_Key]], _Value]:
        attribute = f"_cached_{method.__name__}"

        @wraps(method)
        def value_of(owner: _Owner, *key: *_Key) -> _Value:
            values: dict[Any, Any] = owner.__dict__.setdefault(attribute, {})  # Any: the types of keys and values vary
            # One look-up: another thread may clear the cache.
            value: _Value = values.get(key, _MISSING)
            if value is _MISSING:
                value = method(owner, *key)
                if len(values) >= most:
                    values.clear()
                values[key] = value
            return value

        return value_of

    return decorate
