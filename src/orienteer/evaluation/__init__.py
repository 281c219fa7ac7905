"""From questions and gold to figures: data sets, runs, scores, reports."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "datasets": "DATASETS, read_questions",
        "datasets.grbench": "split_names",
        "datasets.hypergraphrag": "recognises as is_hypergraphrag",
        "datasets.jsonl": "read as read_jsonl_questions",
        "datasets.rows": "rows as rows_of_file",
        "examples": "Example, Gold, QuestionSet",
        "quiz_item": "CELLS as QUIZ_CELLS, Cell as QuizCell, QuizItem",
        "report.breakdowns": "UNSEEN as UNSEEN_TYPE, by_node_property, length_of_text, script_of_name",
        "report.material": "GoldNode, Material as ReportMaterial, sweeps as sweeps_of",
        "report.page": "write_report",
        "report.payload": "TrajectoryPacker, packed as packed_texts, question_texts",
        "report.tools": "TrajectoryCounts, count_calls",
        "running.asker": "Task as AskTask, outcome_of",
        "running.journal": "Journal as RunJournal",
        "running.manifest": (
            "differences as manifest_differences, graph_hash, joined as joined_manifest, "
            "prompt_hashes as run_prompt_hashes"
        ),
        "running.replies": "ReplyFolder, ResumableModel",
        "running.runner": "FAILURES as FAILURES_IN_A_ROW, NO_ANSWERS, RunConfig, evaluate",
        "running.runs": (
            "Line as RunLine, MANIFEST as RUN_MANIFEST, QUESTIONS as RUN_QUESTIONS, REPLIES as RUN_REPLIES, "
            "RESULTS as RUN_RESULTS, RunManifest, StoredRun, TRAJECTORIES as RUN_TRAJECTORIES, "
            "Told as QuestionTrajectories, Work as WorkCounts, by_method as lines_by_method, held as held_run, "
            "read_manifest, read_run, work_of"
        ),
        "running.selection": "notes_on as notes_on_selection, select as select_questions",
        "running.sweep": (
            "Variant as MethodVariant, axes as sweep_axes, grid as sweep_grid, options_in as options_in_sweep, "
            "variants as method_variants"
        ),
        "scores.answers": "answer_measure, items_in as items_in_answer, normalise as normalise_answer, short_answer",
        "scores.comparison": (
            "Comparison, FEWEST as FEWEST_QUESTIONS, FLAT as FLAT_METHODS, compare as compare_methods, "
            "kind_of as kind_of_method"
        ),
        "scores.judge": (
            "CRITERIA as JUDGE_CRITERIA, JUDGED as JUDGED_FILE, Judgement, carries_evidence, gold_evidence, "
            "judge_run, prompt_hashes as judge_prompt_hashes, read_judgements"
        ),
        "scores.lead": "lead_of",
        "scores.measures": "evidence_recall, rank_measure, ranking_of",
        "scores.published": "STARK as STARK_GRAPHS, published_rows",
        "scores.rewards": (
            "FAILED_COST, FEW_NODES, FEW_STRINGS, MOST_COST, Reward, THRESHOLD as REWARD_THRESHOLD, "
            "by_cases as reward_by_cases, final_answer, node_reward, reward, squad_f1"
        ),
        "scores.rouge": "common_subsequence, rouge_l, rouge_n, rouge_words",
        "scores.scorer": "default_measures, scorer as scorer_of",
        "scores.statistics": (
            "EXACT as EXACT_PAIRS, differences as paired_differences, holm as holm_corrected, mean_interval, "
            "mean_intervals, permutation_ps, questions_needed"
        ),
        "scores.table": "score_runs, value_order",
    },
)
