from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "grbench": "entries as grbench_entries",
        "ottqa": "recognize_texts, segments as ottqa_segments, texts as corpus_texts",
        "pickles": "items as pickle_items, load as load_pickle, tensor as read_tensor",
    },
)
