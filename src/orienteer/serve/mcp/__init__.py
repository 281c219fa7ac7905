"""Graphs as tools of third-party agents, by the Model Context Protocol: `orienteer mcp`, and `/mcp` of a server."""
