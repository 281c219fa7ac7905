"""The interfaces for people and programs: command line, HTTP, MCP, agents' files."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "chat.conversation": "COMMANDS as CHAT_COMMANDS",
        "cli.app": "application as command_line, COMMANDS, main, registered_tables as command_tables",
        "cli.arguments": "TotalBudgetFlags",
        "cli.background": "seconds_left, start_vectors, VectorsProcess",
        "cli.doctor": "does_answer as does_host_answer, EXTRAS as DOCTOR_EXTRAS",
        "cli.output": "Output as CommandOutput",
        "cli.serve": "serve as serve_command",
        "door": (
            "FollowUp, KEYS as KEYS_VARIABLE, served_budget, served_method, served_methods, ServeOptions, Turn, "
            "understood_alone"
        ),
        "graphs": (
            "Answering, interim_note as build_progress_of, named_folders, ServedGraph, ServedGraphs, "
            "Stage as BuildStage"
        ),
        "http.app": "application as http_application, page_files as read_page_files",
        "http.bodies": "AskBody, ChatBody, chore_reply, MOST_BYTES as MOST_BODY_BYTES",
        "http.guard": "Guard, MOST_OF_AN_ADDRESS, Problem, rules as guard_rules, UPKEEP",
        "http.look_ups": "LOOK_UPS",
        "http.questions": "EventReply, Question as RunningQuestion, question_routes, smaller_budget",
        "http.server": "configuration as uvicorn_configuration, Connection, listening as listening_socket, Workers",
        "http.site": "FeedbackFile, LOOK_UP_THREADS, Metrics, Site as HttpSite, Slots as QuestionSlots",
        "install.agents": (
            "absolute as absolute_path, AGENTS as KNOWN_AGENTS, ALL as ALL_AGENTS, chosen_agents, "
            "DETECTED as DETECTED_AGENTS, entry_name, launcher, name_for, own_names, Places as AgentPlaces, "
            "served_graphs, server_words"
        ),
        "install.files": (
            "CannotEdit, difference as unified_diff, edited as edited_file, FORMS as FILE_FORMS, "
            "is_sealed as is_sealed_file, NotOurs as NotOurEntry, sealed as sealed_file, "
            "with_block as with_instructions, write_change"
        ),
        "install.plan": "BLOCK as INSTRUCTIONS_BLOCK, plan_install, plan_uninstall, SKILL as SKILL_TEXT",
        "mcp.http": "http_face as mcp_http_face, Sessions as McpSessions",
        "mcp.server": "serve as serve_stdio, server as mcp_server",
        "mcp.tools": (
            "ASK as ASK_TOOL, checked as checked_call, look_up as look_up_tool, MOST_ROWS as MOST_TOOL_ROWS, "
            "reply_of as reply_of_result, tools_of"
        ),
        "views.answers": "facets as facets_page",
        "views.documents": "PagePictures",
        "views.outside": "for_outside, json_outside, machine_paths, message_outside",
        "views.pages": (
            "info as graph_info, intersect as intersect_page, list_nodes as nodes_page, "
            "neighbors as neighbors_page, node as node_page, node_named, paths as paths_page, relative_paths, "
            "schema as schema_page, search as search_page, searcher as searcher_of, subgraph as subgraph_page"
        ),
        "views.records": "NeighborsPage",
        "word_search": "Search as WordSearch",
    },
)
