"""The interfaces for people and programs: command line, HTTP, MCP, agents' files."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "chat.conversation": "COMMANDS as CHAT_COMMANDS",
        "cli.app": "application as command_line, COMMANDS, main",
        "cli.arguments": "TotalBudgetFlags",
        "cli.background": "seconds_left, start_vectors, VectorsProcess",
        "cli.doctor": "does_answer as does_host_answer, EXTRAS as DOCTOR_EXTRAS",
        "cli.output": "Output as CommandOutput",
        "cli.serve": "serve as serve_command",
        "door": (
            "checked_k, KEYS as KEYS_VARIABLE, MOST_HITS, served_budget, served_method, served_methods, ServeOptions"
        ),
        "follow_up": "FollowUp, Turn, understood_alone",
        "graphs": "Answering, named_folders, ServedGraph, ServedGraphs",
        "http.app": "application as http_application",
        "http.bodies": "AskBody, MOST_BYTES as MOST_BODY_BYTES",
        "http.chat_messages": "ChatBody, chore_reply",
        "http.connections": "Connection",
        "http.feedback": "FeedbackFile",
        "http.guard": "Guard, MOST_OF_AN_ADDRESS, rules as guard_rules, UPKEEP",
        "http.look_ups": "LOOK_UPS",
        "http.metrics": "Metrics",
        "http.page_files": "page_files as read_page_files",
        "http.problems": "Problem",
        "http.questions": "question_routes",
        "http.running": "Question as RunningQuestion, smaller_budget",
        "http.server": "configuration as uvicorn_configuration, listening as listening_socket",
        "http.site": "LOOK_UP_THREADS, Site as HttpSite",
        "http.slots": "Slots as QuestionSlots",
        "http.sse": "EventReply",
        "http.workers": "Workers",
        "install.agents": (
            "AGENTS as KNOWN_AGENTS, ALL as ALL_AGENTS, chosen_agents, DETECTED as DETECTED_AGENTS, "
            "Places as AgentPlaces"
        ),
        "install.command": "absolute as absolute_path, entry_name, launcher, name_for, own_names, served_graphs, server_words",
        "install.difference": "difference as unified_diff",
        "install.edits": "CannotEdit, cut_value, NotOurs as NotOurEntry, put_value",
        "install.instructions": (
            "BLOCK as INSTRUCTIONS_BLOCK, is_sealed as is_sealed_file, sealed as sealed_file, skill as skill_file, "
            "with_block as with_instructions"
        ),
        "install.jsonc": "EDITOR as JSONC_EDITOR, parse as parse_jsonc",
        "install.originals": "write_change",
        "install.plan": "plan_install, plan_uninstall",
        "install.toml_edit": "EDITOR as TOML_EDITOR",
        "making": "Stage as BuildStage, told_of as build_progress_of",
        "mcp.http": "http_face as mcp_http_face, Sessions as McpSessions",
        "mcp.server": "server as mcp_server",
        "mcp.stdio": "serve as serve_stdio",
        "mcp.tools": (
            "ASK as ASK_TOOL, checked as checked_call, look_up as look_up_tool, MOST_ROWS as MOST_TOOL_ROWS, tools_of"
        ),
        "views.graph_info": "beneath as relative_paths, info as graph_info",
        "views.outside": "for_outside, machine_paths, message_outside",
        "views.pages": (
            "ask as ask_page, intersect as intersect_page, list_groups as groups_page, list_nodes as nodes_page, "
            "neighbors as neighbors_page, node as node_page, node_named, paths as paths_page, schema as schema_page, "
            "search as search_page, search_by as search_page_by, searcher as searcher_of"
        ),
        "views.records": "NeighborsPage",
        "views.subgraph": "facets as facets_page, subgraph as subgraph_page",
        "word_search": "Search as WordSearch",
    },
)
