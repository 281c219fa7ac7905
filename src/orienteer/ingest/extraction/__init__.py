"""Documents -> a graph knowledge base: entities, statements and where each was said, beside the chunks of a build.

`merger.Merger` takes what a chunk says and makes nodes and edges of it. A model says it (`by_model`), the statistics of
the corpus (`by_statistics`), or whoever has records (`records`).
"""
