"""A graph that stays in its database: what agents' tools ask of one, answered by the server."""
