"""Questions made from a graph, with proved answers: by rules, or by a model that explores. GraphScout (003), 3.3.

`questions` and `quiz` call one `generator`. A `plan` is a question as data; a `drawer` draws it over the graph's
`steps`. `gold` finds its answers, `proof` asks Cypher for them and holds the reasons to drop a draft, and
`question_writer` puts it into words.
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "drawer": "Drawer as PlanDrawer",
        "explore.exploration": "explore as explore_graph, ExploreConfig",
        "explore.query_shape": "read_shape, walked as ids_walked",
        "explore.report": (
            "ATTEMPTS as ORDER_ATTEMPTS, check as check_report, CheckedReport, Maker as ItemMaker, Objectives, "
            "QuizOrder, report_of"
        ),
        "explore.scout": "piece as subgraph_text, Scout, ScoutConfig, walk as random_walk, Walker",
        "gold": "holding as rows_that_satisfy, MOST_IN_SET, solve as solve_plan",
        "kinds": (
            "AXES as KIND_AXES, definitions as kind_definitions, kappa as cohen_kappa, sort_questions, statistics_of"
        ),
        "paraphrase": "paraphrase as paraphrase_questions",
        "plan": (
            "Constraint, difficulty as plan_difficulty, EdgeStep, fits as fits_cell, PATTERNS as PLAN_PATTERNS, "
            "QuestionPlan, WalkCondition"
        ),
        "proof": (
            "anchor_fault, Fault as ProofFault, faults as item_faults, is_leaking as is_leaking_answer, "
            "Ledger as QuestionLedger, literal_query, MOST_EDGES, node_fault, prove as prove_query, "
            "REASONS as DROP_REASONS"
        ),
        "question_writer": "QuestionWriter, singular as singular_predicate, whether as whether_question",
        "questions": "generate_questions",
        "quiz": (
            "as_lines as questions_as_lines, balance as quiz_balance, generate_quiz, nodes_of as nodes_of_quiz, "
            "read_quiz"
        ),
        "steps": "Steps as GraphSteps",
    },
)
