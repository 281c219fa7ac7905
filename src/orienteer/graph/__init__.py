"""The store: a graph as a folder of arrays, read by many processes at once."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "adjacency": (
            "Adjacency, EdgeEnds, EdgeWeights, all_ends as all_edge_ends, bit_widths, write as write_adjacency, "
            "write_joined as write_joined_adjacency"
        ),
        "builder": "GraphBuilder",
        "damage": "damage_told as damage_message, damaged_files, damaged_pieces, find_damage",
        "edges": "CodedColumn, EdgeBatch, EdgeSpool",
        "embedding": "embed_graph, give_vectors",
        "format": (
            "AGAIN as IMPORT_AGAIN, FORMAT as GRAPH_FORMAT, MANIFEST, POINTER, generation_of, is_graph, no_link, "
            "read_manifest, read_pointer"
        ),
        "names.chunk_titles": "DocumentPart, parts_of",
        "names.mentions": "CorpusNames, find_names",
        "names.titles": "TitleFinder",
        "node_batch": "NodeBatch",
        "node_indexer": "NodeIndexer",
        "pieces": "is_damaged as is_piece_damaged, piece as piece_folder, piece_or_made, publish_piece",
        "pieces.incidence": (
            "ABOUT as NAMES_ABOUT, Lists as NumberLists, PIECE as NAMES_PIECE, lists_of as number_lists_of, "
            "read_names as read_incidence_names, write_incidence, write_names as write_incidence_names"
        ),
        "pieces.similar": (
            "LayerAbout, SimilarPairs, open_layer as open_similar_layer, publish_layer as publish_similar_layer"
        ),
        "pieces.vectors": "PIECE as VECTORS_PIECE, open_vectors, read_about as read_about_vectors",
        "properties": "Condition, PropertyWriter, number_of as number_of_property, parse as parse_conditions",
        "publication": "Digests as FileDigests, check_target, publishing",
        "reserved": "PASSAGES",
        "revision": "Revision as GraphRevision, revise as revise_graph",
        "search.names": "NameSearch, Rank as NameRank, phrases as quoted_phrases",
        "search.query_words": "Coverage as WordCoverage, QueryWords, coverage_note",
        "search.read_words": "ReadWords",
        "store": "Graph",
    },
)
