"""The store: a graph as a folder of arrays, read by many processes at once."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "adjacency": (
            "Adjacency, all_ends as all_edge_ends, bit_widths, EdgeEnds, EdgeWeights, write as write_adjacency, "
            "write_joined as write_joined_adjacency"
        ),
        "builder": "GraphBuilder",
        "columns": "table_of",
        "damage": "damage_told as damage_message, damaged_files, damaged_pieces, find_damage",
        "edges": "CodedColumn, EdgeBatch, EdgeSpool, NodeBatch",
        "embedding": "embed_graph, give_vectors",
        "format": (
            "AGAIN as IMPORT_AGAIN, FORMAT as GRAPH_FORMAT, generation_of, is_graph, MANIFEST, no_link, POINTER, "
            "read_manifest, read_pointer"
        ),
        "names": "CorpusNames, DocumentPart, find_names, parts_of",
        "node_indexer": "NodeIndexer",
        "pieces": "is_damaged as is_piece_damaged, piece as piece_folder, piece_or_made, publish_piece",
        "pieces.incidence": (
            "ABOUT as NAMES_ABOUT, Lists as NumberLists, lists_of as number_lists_of, PIECE as NAMES_PIECE, "
            "read_names as read_incidence_names, write_incidence, write_names as write_incidence_names"
        ),
        "pieces.similar": (
            "LayerAbout, open_layer as open_similar_layer, publish_layer as publish_similar_layer, SimilarPairs"
        ),
        "pieces.tables": "id_of as id_of_row, open_rows, place_of as place_of_row, RowPlace",
        "pieces.vectors": "open_vectors, PIECE as VECTORS_PIECE, read_about as read_about_vectors",
        "properties": "Condition, number_of as number_of_property, parse as parse_conditions, PropertyWriter",
        "publication": "check_target, Digests as FileDigests, publishing",
        "reserved": "PASSAGES",
        "revision": "revise as revise_graph, Revision as GraphRevision",
        "search": (
            "Coverage as WordCoverage, coverage_note, NameSearch, phrases as quoted_phrases, QueryWords, "
            "Rank as NameRank, ReadWords"
        ),
        "store": "Graph",
        "titles": "TitleFinder",
    },
)
