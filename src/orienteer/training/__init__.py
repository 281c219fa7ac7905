"""Small models that learn to use the tools: episodes of a teacher, what is learnt from them, and what is made of it.

collect     a teacher's trajectories over questions, in a folder (ARK, 001, section 4.3)
episodes    episodes of teachers that are no models: the trail of `anchor`, the program of a quiz
rows        trajectories as token ids, with the tokens that are the model's own marked
sft, grpo   training (ARK, 001, section 4.3 and A.2; GraphScout, 003, section 3.4): the extra `train`
export      a student as a GGUF file with its card
"""
