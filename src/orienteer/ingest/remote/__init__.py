"""Graphs at an address: `address` says which they are, `objects` reads and writes there, `push` and `pull` do it."""
