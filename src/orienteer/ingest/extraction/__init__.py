"""Documents become a knowledge graph: entities, statements and their sources are added to the chunks of a build.

`merger.Merger` makes nodes and edges of records, from a model (`by_model`) or statistics of the corpus
(`extraction`).
"""
