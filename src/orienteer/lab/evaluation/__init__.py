"""From questions and gold to figures: data sets, runs, scores, reports."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "datasets": "DATASETS, read_questions",
        "datasets.knowledge_bases": "split_names",
        "datasets.passages": "is_hypergraphrag",
        "datasets.rows": "read as read_jsonl_questions, rows as rows_of_file",
        "examples": "Cell as QuizCell, CELLS as QUIZ_CELLS, Example, Gold, QuestionSet, QuizItem",
        "report.material": "count_calls, GoldNode, Material as ReportMaterial, sweeps as sweeps_of, TrajectoryCounts",
        "report.page": "by_node_property, length_of_text, script_of_name, UNSEEN as UNSEEN_TYPE, write_report",
        "report.payload": "packed as packed_texts, question_texts, TrajectoryPacker",
        "running.asker": "outcome_of, ReplyFolder, ResumableModel, Task as AskTask",
        "running.fusing": "fuse as fuse_run",
        "running.runner": "evaluate, FAILURES as FAILURES_IN_A_ROW, NO_ANSWERS, RunConfig",
        "running.runs": (
            "by_method as lines_by_method, differences as manifest_differences, graph_hash, "
            "joined as joined_manifest, Journal as RunJournal, Line as RunLine, lock as held_run, "
            "MANIFEST as RUN_MANIFEST, prompt_hashes as run_prompt_hashes, QUESTIONS as RUN_QUESTIONS, "
            "QuestionTrajectories, read_manifest, read_run, REPLIES as RUN_REPLIES, RESULTS as RUN_RESULTS, "
            "RunManifest, StoredRun, TRAJECTORIES as RUN_TRAJECTORIES, Work as WorkCounts, work_of"
        ),
        "running.sweep": (
            "axes as sweep_axes, grid as sweep_grid, options_in as options_in_sweep, "
            "select as select_questions, Variant as MethodVariant, variants as method_variants"
        ),
        "scores.comparison": (
            "compare as compare_methods, Comparison, FEWEST as FEWEST_QUESTIONS, FLAT as FLAT_METHODS, "
            "kind_of as kind_of_method"
        ),
        "scores.judge": (
            "carries_evidence, CRITERIA as JUDGE_CRITERIA, gold_evidence, judge_run, JUDGED as JUDGED_FILE, "
            "Judgement, prompt_hashes as judge_prompt_hashes, read_judgements"
        ),
        "scores.measures": (
            "answer_measure, common_subsequence, evidence_recall, items_in as items_in_answer, "
            "normalise as normalise_answer, rank_measure, ranking_of, rouge_l, rouge_n, rouge_words, short_answer"
        ),
        "scores.rewards": (
            "by_cases as reward_by_cases, FAILED_COST, FEW_NODES, FEW_STRINGS, final_answer, MOST_COST, node_reward, "
            "Reward, reward, squad_f1, THRESHOLD as REWARD_THRESHOLD"
        ),
        "scores.scorer": "default_measures, lead_of, scorer as scorer_of",
        "scores.statistics": (
            "differences as paired_differences, EXACT as EXACT_PAIRS, holm as holm_corrected, mean_interval, "
            "mean_intervals, permutation_ps, questions_needed"
        ),
        "scores.published": "published_rows, published_tables, STARK as STARK_GRAPHS",
        "scores.table": "score_runs, value_order",
        "scores.verdicts": "gold_forms, seal, verdict",
    },
)
