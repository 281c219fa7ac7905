from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "grbench": "entries as grbench_entries",
        "ottqa": "recognize_texts, segments as ottqa_segments, texts as corpus_texts",
        "pickles": (
            "ALLOWED as ALLOWED_INSTRUCTIONS, ArrayState, BadPickle, Dictionary as PickledDictionary, "
            "Dtype as PickledDtype, items as pickle_items, load as load_pickle, mapped_pickle, "
            "Members as PickledMembers, parts as pickle_parts, PickleName, references as pickle_references, "
            "tensor as read_tensor, TensorStorage, value as pickle_value"
        ),
    },
)
