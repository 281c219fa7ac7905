"""Questions about the Human Disease Ontology that are kept from whoever builds the reader.

Where a question does not say that a kind has to be a direct one, the kinds of kinds are right as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from .frames import Frames
from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import highest


def _disease(d: Frames, *names: str) -> frozenset[str]:
    return d.named(*names, kind="node")


def _kinds(d: Frames, *names: str) -> frozenset[str]:
    return d.into("is_a", _disease(d, *names))


def _all_kinds(d: Frames, *names: str) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    edge: Iterable[str] = _disease(d, *names)
    while edge := d.into("is_a", edge) - found:
        found |= edge
    return found


def _all_classes(d: Frames, ids: frozenset[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    edge: Iterable[str] = ids
    while edge := d.out("is_a", edge) - found:
        found |= edge
    return found


def _synonymous(d: Frames, synonym: str) -> frozenset[str]:
    """Return the only disease with a synonym."""
    synonyms = d.nodes["synonyms"].explode()
    (id_,) = synonyms.index[synonyms == synonym]
    return frozenset([id_])


def _beside_gout(d: Frames) -> frozenset[str]:
    return d.into("is_a", d.out("is_a", _disease(d, "gout")))


INTENTS = (
    Intent(
        "kinds of diabetes",
        "reversed_hop",
        (
            "Which diseases are a kind of diabetes mellitus?",
            "types of diabetes mellitus",
            "Diabetes mellitus comes in several forms. Which ones are there?",
        ),
        lambda d: Nodes(_kinds(d, "diabetes mellitus")),
        (lambda d: Nodes(_all_kinds(d, "diabetes mellitus")),),
    ),
    Intent(
        "class of surfer's eye",
        "alias",
        (
            "What kind of disease is surfer's eye?",
            "surfer's eye class of disease",
            "My cousin has surfer's eye. What sort of a disease does that count as?",
        ),
        lambda d: Nodes(d.out("is_a", _synonymous(d, "surfer's eye"))),
        (lambda d: Nodes(_all_classes(d, _synonymous(d, "surfer's eye"))),),
    ),
    Intent(
        "beside gout",
        "two_hops",
        (
            "Which other diseases belong to the same class as gout?",
            "diseases with the same parent as gout",
            "Gout falls under some class of disease. What else falls directly under that class?",
        ),
        lambda d: Nodes(_beside_gout(d) - _disease(d, "gout")),
        (lambda d: Nodes(_beside_gout(d)),),
    ),
    Intent(
        "number of leukemias",
        "count_hop",
        (
            "How many diseases are directly classified as leukemia?",
            "number of direct subtypes of leukemia",
            "Just one level down, how many kinds of leukemia are there?",
        ),
        lambda d: Number(len(_kinds(d, "leukemia"))),
    ),
    Intent(
        "is asthma bronchial",
        "yes_no",
        (
            "Is asthma a bronchial disease?",
            "asthma is a bronchial disease?",
            "Would you say that asthma comes under bronchial disease?",
        ),
        lambda d: YesNo(_disease(d, "asthma") <= _kinds(d, "bronchial disease")),
    ),
    Intent(
        "lymphoma or leukemia",
        "comparison",
        (
            "Which has more direct subtypes, lymphoma or leukemia?",
            "more direct subtypes: lymphoma vs leukemia",
            "If you count the kinds right below each, is lymphoma or leukemia the one with more of them?",
        ),
        lambda d: highest(d.degrees("is_a", "node", by="target")[sorted(_disease(d, "lymphoma", "leukemia"))]),
    ),
    Intent(
        "acquired amyloidosis",
        "intersection_names",
        (
            "Which diseases are both an acquired metabolic disease and an amyloidosis?",
            "acquired metabolic disease AND amyloidosis",
            "Anything that counts as an amyloidosis and at the same time as an acquired metabolic disease?",
        ),
        lambda d: Nodes(_kinds(d, "acquired metabolic disease") & _kinds(d, "amyloidosis")),
        (lambda d: Nodes(_all_kinds(d, "acquired metabolic disease") & _all_kinds(d, "amyloidosis")),),
    ),
    Intent(
        "discoverer of keratoconus",
        "not_here",
        (
            "Who is the discoverer of keratoconus?",
            "keratoconus discoverer",
            "Somebody must have been the first to see keratoconus. Who is named as its discoverer?",
        ),
        lambda _: Refusal("not_here", "discoverer"),
    ),
)
