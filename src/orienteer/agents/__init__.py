"""The one loop of an agent, what ends it, and the trajectories that it leaves."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "agent": "ANSWER_NOW, Agent, ByFinish, CALL_A_TOOL, EMPTY as EMPTY_ANSWER, LAST_TURN, NO_ANSWER, NO_MORE",
        "answer": "NOT_THERE, answer as answer_from_hits, as_written as answer_as_written",
        "answer_line": "answer_in, read as read_answer_line",
        "dialect": "DIALECTS, dialect_for, harmless as without_marks, read_calls, room_for, write_words",
        "events": "DoneEvent, Event, StepEvent",
        "lint": "lint as lint_trajectory, together as joined_lints",
        "replay": (
            "STANDARD as STANDARD_STREAM, check_writable, diff as diff_trajectories, read as read_trajectories, "
            "replay as replay_trajectory, write as write_trajectories"
        ),
        "requests": "SentRequest, requests as requests_of",
        "workflow": "Workflow, WorkflowConfig",
    },
)
