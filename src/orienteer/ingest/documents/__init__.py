"""Documents and tables -> a chunk graph: read, cut into chunks, joined by order, links, titles and names.

SAGE (paper 004), section 2.1, and the edges of names that its experiments here led to. `run.build_graph` is the way
in; nothing in it needs a model.
"""
