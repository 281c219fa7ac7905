"""Graphs as tools of other people's agents, by the Model Context Protocol: `orienteer mcp`, and `/mcp` of a server.

`tools` has the table of tools, which loads no graph; `asking` answers a question with progress; `server` puts them
behind the protocol, which comes with the extra `mcp`; `stdio` and `http` are the two ways to it.
"""
