"""What touches another system: Bolt, databases in place, buckets, Ray."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "bolt": "database_login, Server",
        "cluster": "Cluster, Failure as NodeFailure, KeptReplies, NodeProcess, ReplyKeeper",
        "in_place.contents": "SeenColumn",
        "in_place.edges": "EdgesInPlace, full_text_index, NamesInPlace, TextInPlace",
        "in_place.graph": "GraphInPlace, PropertiesInPlace",
        "in_place.statements": "written_for_server",
        "opencypher.server_names": "Fields as ServerFields, NameProperties, ServerNames, TypeLabels",
        "objects": "address_of, Content",
        "pull": "GraphAtAddress, objects_at",
        "push": "push_graph",
        "source": "import_database",
        "update": "update_database",
    },
)
