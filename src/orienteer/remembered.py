"""Values that an object makes once and keeps for itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple, Unpack

_Owner = TypeVar("_Owner")
_Key = TypeVarTuple("_Key")
_Value = TypeVar("_Value")
_NOTHING: Any = object()
"""What stands for a value that is not there: None may be one."""


def remembered(
    most: int,
) -> Callable[[Callable[[_Owner, Unpack[_Key]], _Value]], Callable[[_Owner, Unpack[_Key]], _Value]]:
    """Remember up to `most` values of a method by its arguments, in the object that it is called on.

        >>> class Stemmer:
        ...     @remembered(2)
        ...     def stem(self, word):
        ...         print("stems", word)
        ...         return word.removesuffix("s")
        >>> stemmer = Stemmer()
        >>> stemmer.stem("dogs"), stemmer.stem("dogs")
        stems dogs
        ('dog', 'dog')

    With one value more it begins anew. Arguments go by their place. Safe among threads, which may make a value twice.

    `functools.lru_cache` over a bound method, kept in its object, would refer back to the object: a circle, which waits
    for the garbage collector with all that the object holds, such as the open files of a graph.
    """

    def remembering(make: Callable[[_Owner, Unpack[_Key]], _Value]) -> Callable[[_Owner, Unpack[_Key]], _Value]:
        place = f"_remembered_{make.__name__}"

        @wraps(make)
        def value_of(owner: _Owner, *key: *_Key) -> _Value:
            values: dict[Any, Any] = owner.__dict__.setdefault(place, {})  # Any: the types of keys and values vary
            value: _Value = values.get(key, _NOTHING)
            if value is _NOTHING:
                value = make(owner, *key)
                if len(values) >= most:
                    values.clear()
                values[key] = value
            return value

        return value_of

    return remembering
