"""What touches another system: Bolt, databases in place, buckets, Ray."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "bolt.server": "Server",
        "cluster": "Cluster",
        "in_place.graph": "GraphInPlace",
        "in_place.words": "full_text_index",
        "node": "Failure as NodeFailure, KeptReplies, NodeProcess, ReplyKeeper",
        "opencypher.names": "Fields as ServerFields, NameProperties, ServerNames, TypeLabels",
        "opencypher.statements": "written_for_server",
        "update.from_database": "update_database",
    },
)
