"""Documents -> a graph knowledge base: entities, statements and where each was said, beside the chunks of a build.

`merger.Merger` takes what a chunk says and makes nodes and edges of it; what a chunk says is told by a model
(`asking`), by the statistics of the corpus (`counting`), or by whoever has records (`records`).
"""
