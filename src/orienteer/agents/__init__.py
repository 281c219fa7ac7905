"""The one loop of an agent, its endings, and its trajectories."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "agent": (
            "Agent, answer_in, ANSWER_NOW, ByFinish, CALL_A_TOOL, EMPTY as EMPTY_ANSWER, LAST_CALL, LAST_TURN, "
            "NO_ANSWER, NO_MORE, read as read_answer_line"
        ),
        "answer": "answer as answer_from_hits, as_written as answer_as_written, NOT_THERE, settled as answer_settled",
        "dialect": "dialect_for, DIALECTS, harmless as without_marks, read_calls, room_for, write_words",
        "events": "DoneEvent, Event, StepEvent",
        "traces": "check_writable, read as read_trajectories, STANDARD as STANDARD_STREAM, write as write_trajectories",
        "workflow": "Workflow, WorkflowConfig",
    },
)
