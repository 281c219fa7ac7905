"""A statement's tree as openCypher for a server, in the names that its database has."""
