from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "corpus": "recognize_texts, texts as corpus_texts",
        "grbench": "entries as grbench_entries",
        "instructions": "ALLOWED as ALLOWED_INSTRUCTIONS, parts as pickle_parts, references as pickle_references",
        "ottqa": "segments as ottqa_segments",
        "pickles": "items as pickle_items, load as load_pickle, mapped_pickle, value as pickle_value",
        "stand_ins": (
            "ArrayState, BadPickle, Dictionary as PickledDictionary, Dtype as PickledDtype, "
            "Members as PickledMembers, PickleName"
        ),
        "tensors": "tensor as read_tensor, TensorStorage",
    },
)
