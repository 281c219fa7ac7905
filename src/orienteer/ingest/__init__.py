"""From other people's files to a graph."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "bounds": "check_readable, DEEPEST as DEEPEST_JSON, memory_told, MOST_HELD, parsed as parsed_json",
        "cached": "cached_graphs, cached_path, drop_orphans",
        "demo": "demo_questions, demo_records",
        "documents.amendment": "CHANGED as CHANGED_KEY, file_changes, listed_changes",
        "documents.build_report": "BuildEstimate, BuildReport",
        "documents.config": "BuildConfig",
        "documents.cut.chunks": (
            "boundaries as chunk_boundaries, merged as merged_cuts, prose_chunks, sentences as block_sentences, "
            "split_sections, windows as sentence_windows"
        ),
        "documents.cut.contents": "is_contents",
        "documents.cut.document_nodes": "DocumentNodeMaker, FREE as FREE_CHARACTERS, MOST_SAID",
        "documents.cut.metadata": "CHUNK_SCHEMA, MetadataForm, TABLE_SCHEMA",
        "documents.cut.replies": "CostEstimate, FILE as REPLIES_FILE, NodeReader, ReplyCache",
        "documents.cut.segments": "describe as describe_column, joinable_columns, segments as table_segments",
        "documents.embedder": "CachedEmbedder",
        "documents.intake": "Shelf as NodeSpool",
        "documents.join.pairs": (
            "link_edges, mention_edges, order_edges, shared_edges, shared_pairs, Targets as LinkTargets"
        ),
        "documents.join.similar_chunks": (
            "compare as compare_parts, compared as compared_parts, figures_of as similarity_figures, similar_edges"
        ),
        "documents.join.similar_nodes": "link_graph, LinkConfig",
        "documents.join.similarity": (
            "Candidates, correlations as signal_correlations, cosines as pair_cosines, distinct_pairs, "
            "nearest as nearest_rows, overlaps as pair_overlaps, percentile_table, RowPairs"
        ),
        "documents.previous": "Previous as PreviousGraph",
        "documents.read.blocks": (
            "Block, Blocks, Document, Grid, MOST_BLOCKS, Page, Place as BlockPlace, Prose, Span as TextSpan"
        ),
        "documents.read.book": "read_book",
        "documents.read.collection": (
            "documents as documents_of_table, is_questions as is_question_table, roles_of as roles_of_columns"
        ),
        "documents.read.conversion_worker": "main as convert_requests",
        "documents.read.converter": "Converter",
        "documents.read.data": "read_data",
        "documents.read.files": "File as SourceFile, holds_prose, listing as list_documents",
        "documents.read.forms": "fitted as fitted_forms, forms_of as forms_of_markup",
        "documents.read.ignore_rules": "pattern_of as ignore_pattern_of",
        "documents.read.kinds": "kind_within, NotRead",
        "documents.read.lines": "is_log, read_lines as read_prose_lines, read_log, reads_as_prose",
        "documents.read.mail": "mailbox_mails, read_mail",
        "documents.read.markdown": "anchor_of, html_of as markdown_as_html, read_markdown, read_plain",
        "documents.read.notebook": "read_notebook",
        "documents.read.office": "read_office",
        "documents.read.pdf": "Bounds as PdfBounds, read_pdf",
        "documents.read.readers": "DocumentReader, plain_page as sectioned_text",
        "documents.read.selection": "ALL as ALL_FILES, Selection",
        "documents.read.titles": "cleaned as cleaned_title",
        "documents.read.webpage": "read_html",
        "documents.run": "build_graph, BuildOptions, estimate_build, VECTORS_GONE",
        "documents.so_far": "Interim as PartialGraph, SoFar as PartialBuilder",
        "export": "export_graph",
        "extraction.extraction": "collocations as collocations_of",
        "extraction.merger": "CoOccurrences, distinct as distinct_names, Merger, NamePlaces, synonym_edges",
        "extraction.records": (
            "edge_type, entity_type, ExtractedEntity, ExtractionSummary, folded as folded_name, "
            "Member as StatementMember, Reject as RejectedRecords, relation as relation_statement, Statement, "
            "triple as triple_statement"
        ),
        "formats": (
            "CONTAINERS as CONTAINER_SUFFIXES, format_of, FORMATS, GRAPHS as GRAPH_SUFFIXES, RDF as RDF_SUFFIXES"
        ),
        "formats.arrow": "CODED_FROM, has_arrow",
        "formats.delimited": "DelimitedText, named as column_names",
        "formats.edge_list": "is_edge_list",
        "formats.element_maker": "ElementMaker",
        "formats.elements": "EdgeElement, NodeElement",
        "formats.files": "opened as open_unpacked",
        "formats.gexf": "Gexf",
        "formats.gml": "Gml",
        "formats.graphml": "GraphMl",
        "formats.jsonl": "JsonLines",
        "formats.letters": "decoded as decoded_text, read_text",
        "formats.neo4j_admin": "header_of",
        "formats.nested": "tables_within as nested_tables",
        "formats.node_link": "NodeLink",
        "formats.objects": "tables_of_lines as tables_of_json_lines",
        "formats.parquet": "checked as checked_parquet, fitting as rows_that_fit, MOST_BATCH, Parquet",
        "formats.parquet_pages": "pages as parquet_pages",
        "formats.rdf.parser": "BASE as RDF_BASE, RdfDocument, SYNTAXES as RDF_SYNTAXES",
        "formats.records": "FieldDialect",
        "formats.sqlite": "SqliteTable, stored_tables, SUFFIXES as DATABASE_SUFFIXES",
        "formats.table": "Batch, FEWEST_CELLS, MOST_EMPTY, Reader as FormatReader",
        "formats.xml_stream": "Names as XmlNames",
        "graph": "Graph",
        "importer": "import_graph, ImportOptions, validate as validate_sources",
        "layouts": "KnownLayout",
        "provenance": "is_stale, skipped_groups, stamps_of",
        "report": "Report as ImportReport, Tally as DropCounts",
        "sources": "graph_at, graph_directory",
        "tables.cells": "prefixed as prefixed_texts",
        "tables.columns": "Columns as ColumnSpec, EDGE_NAMES, ENDS as END_NAMES, NODE_NAMES",
        "tables.labels": "Labels",
        "tables.mapping": (
            "ColumnLink, FileMapping, IGNORED as IGNORED_ROLE, link_of, PLAIN as PLAIN_ROLES, PROPERTY as PROPERTY_ROLE"
        ),
        "tables.mapping_file": "read_mappings, written as mappings_as_toml",
        "tables.mirror": "clean as clean_edges",
        "tables.nodes": "NodeMaker",
        "tables.profile": "NULL_WORDS",
        "tables.spec": "spec_of",
        "tables.type_names": "edge_type_of, node_type_of, without_key",
        "tables.values": (
            "identifier as id_text, items as list_members, number as number_or_text, opened as object_in_cell, "
            "plain as plain_value"
        ),
        "update.ledger": "read_ledger, row_hashes",
        "update.update": "update_graph",
    },
)
