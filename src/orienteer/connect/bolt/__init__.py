"""Talking to a graph database over Bolt."""
