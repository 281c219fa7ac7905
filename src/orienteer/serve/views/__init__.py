"""What every face shows of a graph: the command line, HTTP, MCP and Python make the same records by the same functions.

`records` has the records, which load no graph; `pages` makes them; `subgraph` and `facets` make those that a picture
needs; `outside` says how a record or an error leaves this machine.
"""
