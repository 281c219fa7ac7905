"""Fields of other people's knowledge bases -> nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orienteer.ingest.tables.values import is_prose, items, plain, text_of
from orienteer.records import JsonValue, Node

NAMES = ("title", "name", "DisplayName", "case_name")
"""Fields that name a node, best first; after them TYPE_name (`brand_name`)."""
TEXTS = frozenset({"abstract", "description", "feature", "features", "summary", "definition", "text", "plain_text"})
"""Fields that are text however short they are."""
ALIASES = frozenset({"alias", "aliases", "other_names", "synonyms", "synonym"})
INNER_TEXTS = ("text", "desc")
"""Keys of objects in lists that hold the prose (a gene's remarks from the literature, its protein families)."""


def node_of_fields(node_id: str, node_type: str, fields: Mapping[str, Any], text: str | None = None) -> Node:
    """Make a node. Fields of objects count as fields of the node; what says nothing is left out.

    The text is made of the fields that hold prose, unless it is given: prose that it lacks is a property then.
    """  # Any: JSON
    flat = {key: value for key, content in _flat(fields) if (value := plain(content)) is not None}
    named = next((key for key in (*NAMES, f"{node_type}_name") if isinstance(flat.get(key), str)), None)
    name = text_of(flat.pop(named)) if named else node_id
    aliases: list[str] = []
    texts: list[str] = []
    properties: dict[str, JsonValue] = {}
    for key, value in flat.items():
        if key in ALIASES:
            aliases += items(value)
        elif (prose := _prose(key, value)) and (text is None or all(part in text for part in prose)):
            texts.append("\n".join(prose))
        else:
            properties[key] = value
    others = tuple(alias for alias in dict.fromkeys(aliases) if alias != name)
    return Node(node_id, node_type, name, "\n".join(dict.fromkeys(texts)) if text is None else text, others, properties)


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return fields and the fields of objects; an inner one gets its outer's name before it where both exist."""
    for key, value in fields.items():
        if not isinstance(value, Mapping):
            yield key, value
            continue
        for inner, content in value.items():
            yield (f"{key}.{inner}" if inner in fields or isinstance(content, Mapping) else str(inner)), content


def _prose(key: str, value: JsonValue) -> list[str]:
    """Return the parts of a value that is prose; none if it is a property."""
    if isinstance(value, list):
        if value and all(isinstance(member, dict) for member in value):
            several = [
                next((member[key] for key in INNER_TEXTS if isinstance(member.get(key), str)), "") for member in value
            ]
            return list(filter(None, several))
        members = [member for member in value if isinstance(member, str)]
        has_prose = len(members) == len(value) and (key in TEXTS or any(map(is_prose, members)))
        return members if has_prose else []
    return [value] if isinstance(value, str) and (key in TEXTS or is_prose(value)) else []
