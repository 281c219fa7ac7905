"""Questions about Hetionet that whoever builds the reader may look at."""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, Values, YesNo


def _treating(graph: Frames, *diseases: str) -> frozenset[str]:
    return graph.into("CtD", graph.named(*diseases, kind="Disease"))


def _causing(graph: Frames, *effects: str) -> frozenset[str]:
    return graph.into("CcSE", graph.named(*effects, kind="Side Effect"))


def _genes(graph: Frames, *diseases: str) -> frozenset[str]:
    return graph.out("DaG", graph.named(*diseases, kind="Disease"))


def _like_warfarin(graph: Frames) -> Gold:
    similar = graph.both("CrC", graph.named("Warfarin", kind="Compound"))
    return Nodes(graph.out("CtD", similar))


def _leprosy_pathways(graph: Frames) -> Gold:
    return Nodes(graph.out("GpPW", graph.out("CbG", _treating(graph, "leprosy"))))


def _asthma_or_psoriasis(graph: Frames) -> Gold:
    diseases = graph.named("asthma", "psoriasis", kind="Disease")
    return Top(groups(graph.degrees("DaG", "Disease")[sorted(diseases)], 1), 1)


INTENTS = (
    Intent(
        "what metformin treats",
        "one_hop",
        (
            "What does metformin treat?",
            "diseases treated by metformin",
            "Could you list all of the diseases that metformin is used to treat?",
        ),
        lambda graph: Nodes(graph.out("CtD", graph.named("Metformin", kind="Compound"))),
    ),
    Intent(
        "what causes gingival hyperplasia",
        "reversed_hop",
        (
            "Which compounds cause gingival hyperplasia?",
            "gingival hyperplasia caused by compounds",
            "Gingival hyperplasia is a side effect of some compounds. Which compounds cause it?",
        ),
        lambda graph: Nodes(_causing(graph, "Gingival hyperplasia")),
    ),
    Intent(
        "what binds HER2",
        "alias",
        (
            "Which compounds bind HER2?",
            "compounds that bind her2",
            "Give me the compounds known to bind the gene HER2.",
        ),
        lambda graph: Nodes(graph.into("CbG", graph.named("ERBB2", kind="Gene"))),
    ),
    Intent(
        "symptoms of Tourette",
        "partial_name",
        (
            "Which symptoms does Tourette syndrome present?",
            "tourette symptoms",
            "What are the symptoms that Gilles de la Tourette presents?",
        ),
        lambda graph: Nodes(graph.out("DpS", graph.named("Gilles de la Tourette syndrome", kind="Disease"))),
    ),
    Intent(
        "side effects of kidney stone compounds",
        "two_hops",
        (
            "Which side effects are caused by compounds that treat nephrolithiasis?",
            "side effects of compounds treating nephrolithiasis",
            "What are the side effects that the compounds used for treating nephrolithiasis cause?",
        ),
        lambda graph: Nodes(graph.out("CcSE", _treating(graph, "nephrolithiasis"))),
    ),
    Intent(
        "diseases of compounds like warfarin",
        "possessive",
        (
            "What diseases do warfarin's similar compounds treat?",
            "diseases treated by compounds resembling warfarin",
            "Some compounds resemble warfarin; which diseases are treated by them?",
        ),
        _like_warfarin,
    ),
    Intent(
        "pathways behind leprosy compounds",
        "three_hops",
        (
            "In which pathways do the genes participate that are bound by compounds treating leprosy?",
            "pathways of genes bound by compounds that treat leprosy",
            "Take the compounds that treat leprosy and the genes which they bind. "
            "What pathways do those genes participate in?",
        ),
        _leprosy_pathways,
    ),
    Intent(
        "hypertension and migraine",
        "intersection_names",
        (
            "Which compounds treat both hypertension and migraine?",
            "drugs treating hypertension and migraine",
            "Is there any drug that treats migraine and also treats hypertension? List them all.",
        ),
        lambda graph: Nodes(_treating(graph, "hypertension") & _treating(graph, "migraine")),
    ),
    Intent(
        "treat hypertension, cause gingival hyperplasia",
        "intersection_verbs",
        (
            "Which compounds treat hypertension and cause gingival hyperplasia?",
            "compounds treating hypertension that cause gingival hyperplasia",
            "Of the drugs that treat hypertension, which ones have gingival hyperplasia as a side effect?",
        ),
        lambda graph: Nodes(_treating(graph, "hypertension") & _causing(graph, "Gingival hyperplasia")),
    ),
    Intent(
        "treat rheumatoid arthritis, not psoriasis",
        "negation",
        (
            "Which compounds treat rheumatoid arthritis but not psoriasis?",
            "compounds for treating rheumatoid arthritis, except those treating psoriasis",
            "List the compounds that treat rheumatoid arthritis and don't treat psoriasis.",
        ),
        lambda graph: Nodes(_treating(graph, "rheumatoid arthritis") - _treating(graph, "psoriasis")),
    ),
    Intent(
        "leprosy or nephrolithiasis",
        "disjunction",
        (
            "Which compounds treat leprosy or nephrolithiasis?",
            "compounds treating either leprosy or nephrolithiasis",
            "Show me everything that treats leprosy, nephrolithiasis, or both.",
        ),
        lambda graph: Nodes(_treating(graph, "leprosy", "nephrolithiasis")),
    ),
    Intent(
        "number of compounds for asthma",
        "count_hop",
        (
            "How many compounds treat asthma?",
            "number of drugs that treat asthma",
            "What is the total number of compounds by which asthma is treated?",
        ),
        lambda graph: Number(len(_treating(graph, "asthma"))),
    ),
    Intent(
        "number of genes of asthma, not of obesity",
        "count_negation",
        (
            "How many genes are associated with asthma but not with obesity?",
            "number of genes associated with asthma and not associated with obesity",
            "Leaving out the genes associated with obesity, how many genes are associated with asthma?",
        ),
        lambda graph: Number(len(_genes(graph, "asthma") - _genes(graph, "obesity"))),
    ),
    Intent(
        "most side effects",
        "superlative_count",
        (
            "Which compound causes the most side effects?",
            "compound with the most side effects",
            "Looking at all compounds, which one causes the greatest number of side effects?",
        ),
        lambda graph: Top(groups(graph.degrees("CcSE", "Compound"), 1), 1),
    ),
    Intent(
        "five diseases by genes",
        "top_count",
        (
            "Which five diseases are associated with the most genes?",
            "top 5 diseases by number of associated genes",
            "Give me the 5 diseases that have the highest number of genes associated with them.",
        ),
        lambda graph: Top(groups(graph.degrees("DaG", "Disease"), 5), 5),
    ),
    Intent(
        "InChIKey of metformin",
        "property_lookup",
        (
            "What is the InChIKey of metformin?",
            "metformin inchikey",
            "I'd need metformin's InChIKey, please.",
        ),
        lambda graph: Values(frozenset(graph.nodes["inchikey"][sorted(graph.named("Metformin", kind="Compound"))])),
    ),
    Intent(
        "classes of physiologic effects",
        "property_equals",
        (
            "Which pharmacologic classes have the class type Physiologic Effect?",
            "pharmacologic classes, class type = physiologic effect",
            "List every pharmacologic class whose class type is Physiologic Effect.",
        ),
        lambda graph: Nodes(
            chosen(types := graph.values("Pharmacologic Class", "class_type"), types == "Physiologic Effect")
        ),
    ),
    Intent(
        "compounds without ATC codes",
        "property_missing",
        (
            "How many compounds have no ATC codes?",
            "number of compounds without atc codes",
            "For how many of the compounds are the ATC codes missing?",
        ),
        lambda graph: Number(len(graph.lacking("Compound", "atc_codes"))),
    ),
    Intent(
        "metformin and asthma",
        "yes_no",
        (
            "Does metformin treat asthma?",
            "is asthma treated by metformin",
            "Is metformin one of the compounds that treat asthma?",
        ),
        lambda graph: YesNo(bool(graph.named("Metformin", kind="Compound") & _treating(graph, "asthma"))),
    ),
    Intent(
        "compounds for Zika",
        "unknown_name",
        (
            "Which compounds treat Zika?",
            "zika drugs",
            "How many compounds are there that treat Zika?",
        ),
        lambda graph: Refusal("unknown_name", "Zika"),
    ),
    Intent(
        "weight of metformin",
        "not_here",
        (
            "What is the molecular weight of metformin?",
            "metformin molecular weight",
            "Can you tell me metformin's molecular weight?",
        ),
        lambda graph: Refusal("not_here", "molecular weight"),
    ),
    Intent(
        "compounds for more than 12 diseases",
        "threshold",
        (
            "Which compounds treat more than 12 diseases?",
            "compounds treating over 12 diseases",
            "List all compounds for which the number of diseases they treat is greater than 12.",
        ),
        lambda graph: Nodes(chosen(diseases := graph.degrees("CtD", "Compound"), diseases > 12)),
    ),
    Intent(
        "diseases with headache",
        "shared_name",
        (
            "Which diseases present headache?",
            "diseases with the symptom headache",
            "For which diseases is headache a symptom?",
        ),
        lambda graph: Nodes(graph.into("DpS", graph.named("Headache", kind="Symptom"))),
    ),
    Intent(
        "asthma against psoriasis",
        "comparison",
        (
            "Which disease is associated with more genes, asthma or psoriasis?",
            "asthma vs psoriasis: more associated genes",
            "Between psoriasis and asthma, which one has the larger number of associated genes?",
        ),
        _asthma_or_psoriasis,
    ),
    Intent(
        "for hypertension without two effects",
        "neither_nor",
        (
            "Which compounds treat hypertension but cause neither nausea nor headache?",
            "compounds treating hypertension, causing neither headache nor nausea",
            "List those compounds treating hypertension that don't cause nausea and don't cause headache.",
        ),
        lambda graph: Nodes(_treating(graph, "hypertension") - _causing(graph, "Nausea", "Headache")),
    ),
    Intent(
        "beta2-agonists for asthma",
        "two_conditions",
        (
            "Which compounds that treat asthma are included in Adrenergic beta2-Agonists?",
            "compounds treating asthma, included in adrenergic beta2-agonists",
            "Of the compounds treating asthma, which does the pharmacologic class Adrenergic beta2-Agonists include?",
        ),
        lambda graph: Nodes(
            _treating(graph, "asthma")
            & graph.out("PCiC", graph.named("Adrenergic beta2-Agonists", kind="Pharmacologic Class"))
        ),
    ),
    Intent(
        "compounds for exactly 11 diseases",
        "threshold",
        (
            "Which compounds treat exactly 11 diseases?",
            "compounds treating exactly 11 diseases",
            "Show the compounds whose number of treated diseases is 11.",
        ),
        lambda graph: Nodes(chosen(diseases := graph.degrees("CtD", "Compound"), diseases == 11)),
    ),
)
