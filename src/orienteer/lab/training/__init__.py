"""Small models that learn to use the tools: episodes of a teacher, training, export.

collect     a teacher's trajectories over questions, in a folder (ARK, 001, section 4.3)
episodes    episodes of teachers without a model: the trail of `anchor`, the program of a quiz
rows        trajectories as token ids, with the model's own tokens marked; the policy of training by reward
sft, grpo   training (ARK, 001, section 4.3 and A.2; GraphScout, 003, section 3.4): the extra `train`
export      a student as a GGUF file with its card
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "collect": (
            "collect as collect_trajectories, CollectConfig, read_collection, trajectories as collected_trajectories"
        ),
        "export": "export as export_student",
        "grpo": (
            "Collapse as RewardCollapse, Deck as QuestionDeck, Episodes as EpisodePlayer, "
            "GraphQuestion, grpo_trainer, reinforce, row_of as row_of_episode, samples_by_vllm, vllm_sampler"
        ),
        "rows": (
            "IGNORED as IGNORED_TOKEN, learnt_texts, parts_of as parts_of_trajectory, prompt_of as prompt_tokens_of, "
            "Policy as StudentPolicy, RowCount, rows as training_rows"
        ),
        "runs": (
            "GrpoConfig, open_student, read_recipe, read_training, save as save_student, SftConfig, source_of, Training"
        ),
        "sft": "choose_trajectories, distil",
    },
)
