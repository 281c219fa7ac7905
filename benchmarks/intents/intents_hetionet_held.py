"""Questions about Hetionet that are kept from whoever builds the reader: do not open this file to build it."""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, Values, YesNo


def _disease(graph: Frames, *names: str) -> frozenset[str]:
    return graph.named(*names, kind="Disease")


def _compound(graph: Frames, *names: str) -> frozenset[str]:
    return graph.named(*names, kind="Compound")


def _treating(graph: Frames, *diseases: str) -> frozenset[str]:
    return graph.into("CtD", _disease(graph, *diseases))


def _causing(graph: Frames, *effects: str) -> frozenset[str]:
    return graph.into("CcSE", graph.named(*effects, kind="Side Effect"))


def _genes(graph: Frames, *diseases: str) -> frozenset[str]:
    return graph.out("DaG", _disease(graph, *diseases))


def _of_class(graph: Frames, name: str) -> frozenset[str]:
    return graph.out("PCiC", graph.named(name, kind="Pharmacologic Class"))


def _classes_behind_narcolepsy(graph: Frames) -> Gold:
    return Nodes(graph.into("PCiC", graph.into("CbG", _genes(graph, "narcolepsy"))))


def _morphine_or_ibuprofen(graph: Frames) -> Gold:
    effects = graph.degrees("CcSE", "Compound")[sorted(_compound(graph, "Morphine", "Ibuprofen"))]
    return Top(groups(effects, 1), 1)


INTENTS = (
    Intent(
        "what haloperidol palliates",
        "one_hop",
        (
            "Which diseases does haloperidol palliate?",
            "diseases palliated by haloperidol",
            "I'd like to know what haloperidol palliates.",
        ),
        lambda graph: Nodes(graph.out("CpD", _compound(graph, "Haloperidol"))),
    ),
    Intent(
        "diseases of the cochlea",
        "reversed_hop",
        (
            "Which diseases localize to the cochlea?",
            "diseases localized to cochlea",
            "What are the diseases that are known to localize in the cochlea?",
        ),
        lambda graph: Nodes(graph.into("DlA", graph.named("cochlea", kind="Anatomy"))),
    ),
    Intent(
        "diseases of SERT",
        "alias",
        (
            "Which diseases are associated with SERT?",
            "sert associated diseases",
            "Give me all diseases that have an association with the gene SERT.",
        ),
        lambda graph: Nodes(graph.into("DaG", graph.named("SLC6A4", kind="Gene"))),
    ),
    Intent(
        "compounds for Graves",
        "alias",
        (
            "Which compounds treat DOID:12361?",
            "compounds that treat doid:12361",
            "Show me what compounds are used to treat the disease with the identifier DOID:12361.",
        ),
        lambda graph: Nodes(_treating(graph, "Graves' disease")),
    ),
    Intent(
        "compounds for Paget",
        "partial_name",
        (
            "Which compounds treat Paget's disease?",
            "drugs treating paget's disease",
            "What are the compounds that a person with Paget's disease could be treated with?",
        ),
        lambda graph: Nodes(_treating(graph, "Paget's disease of bone")),
    ),
    Intent(
        "diseases treated by diphosphonates",
        "two_hops",
        (
            "Which diseases are treated by compounds that the class Diphosphonates includes?",
            "diseases treated by compounds included in diphosphonates",
            "The pharmacologic class Diphosphonates includes some compounds. Which diseases do those treat?",
        ),
        lambda graph: Nodes(graph.out("CtD", _of_class(graph, "Diphosphonates"))),
    ),
    Intent(
        "symptoms of diseases like nephrolithiasis",
        "possessive",
        (
            "Which symptoms do nephrolithiasis's similar diseases present?",
            "symptoms of diseases resembling nephrolithiasis",
            "What symptoms are presented by any of the diseases that resemble nephrolithiasis?",
        ),
        lambda graph: Nodes(graph.out("DpS", graph.both("DrD", _disease(graph, "nephrolithiasis")))),
    ),
    Intent(
        "classes behind narcolepsy genes",
        "three_hops",
        (
            "Which pharmacologic classes include compounds that bind genes associated with narcolepsy?",
            "pharmacologic classes of compounds binding genes associated with narcolepsy",
            "Find the genes associated with narcolepsy, then the compounds that bind them, "
            "then the pharmacologic classes that include those compounds.",
        ),
        _classes_behind_narcolepsy,
    ),
    Intent(
        "genes of leprosy and Crohn's disease",
        "intersection_names",
        (
            "Which genes are associated with both leprosy and Crohn's disease?",
            "genes associated with leprosy and also with crohn's disease",
            "List the genes that leprosy is associated with and that Crohn's disease is associated with as well.",
        ),
        lambda graph: Nodes(_genes(graph, "leprosy") & _genes(graph, "Crohn's disease")),
    ),
    Intent(
        "for epilepsy, binding ABCB1",
        "intersection_verbs",
        (
            "Which compounds treat epilepsy syndrome and bind ABCB1?",
            "compounds binding abcb1 that treat epilepsy syndrome",
            "Of those compounds that treat epilepsy syndrome, which ones bind the gene ABCB1?",
        ),
        lambda graph: Nodes(
            _treating(graph, "epilepsy syndrome") & graph.into("CbG", graph.named("ABCB1", kind="Gene"))
        ),
    ),
    Intent(
        "palliate osteoarthritis, not rheumatoid arthritis",
        "negation",
        (
            "Which compounds palliate osteoarthritis but not rheumatoid arthritis?",
            "compounds palliating osteoarthritis except those palliating rheumatoid arthritis",
            "What palliates osteoarthritis without palliating rheumatoid arthritis?",
        ),
        lambda graph: Nodes(
            graph.into("CpD", _disease(graph, "osteoarthritis"))
            - graph.into("CpD", _disease(graph, "rheumatoid arthritis"))
        ),
    ),
    Intent(
        "for asthma without two effects",
        "neither_nor",
        (
            "Which compounds treat asthma but cause neither nausea nor headache?",
            "compounds treating asthma that cause neither headache nor nausea",
            "Show the compounds that treat asthma, other than the ones that cause nausea or headache.",
        ),
        lambda graph: Nodes(_treating(graph, "asthma") - _causing(graph, "Nausea", "Headache")),
    ),
    Intent(
        "genes of otosclerosis or panic disorder",
        "disjunction",
        (
            "Which genes are associated with otosclerosis or panic disorder?",
            "genes associated with either panic disorder or otosclerosis",
            "Please list each gene that is associated with otosclerosis, with panic disorder, or with both.",
        ),
        lambda graph: Nodes(_genes(graph, "otosclerosis", "panic disorder")),
    ),
    Intent(
        "number of genes of asthma and obesity",
        "count_intersection",
        (
            "How many genes are associated with both asthma and obesity?",
            "number of genes associated with obesity and asthma",
            "How large is the number of genes that are associated with asthma and also with obesity?",
        ),
        lambda graph: Number(len(_genes(graph, "asthma") & _genes(graph, "obesity"))),
    ),
    Intent(
        "number of genes of psoriasis or vitiligo",
        "count_disjunction",
        (
            "How many genes are associated with psoriasis or vitiligo?",
            "number of genes associated with either vitiligo or psoriasis",
            "Count the genes with an association to at least one of psoriasis and vitiligo.",
        ),
        lambda graph: Number(len(_genes(graph, "psoriasis", "vitiligo"))),
    ),
    Intent(
        "number of diseases",
        "count_kind",
        (
            "How many diseases are there?",
            "disease count",
            "What number of diseases does this graph contain?",
        ),
        lambda graph: Number(len(graph.all("Disease"))),
    ),
    Intent(
        "commonest symptom",
        "superlative_count",
        (
            "Which symptom is presented by the most diseases?",
            "symptom with the most diseases",
            "What is the one symptom that more diseases present than any other?",
        ),
        lambda graph: Top(groups(graph.degrees("DpS", "Symptom", by="target"), 1), 1),
    ),
    Intent(
        "three commonest side effects",
        "top_count",
        (
            "Which three side effects are caused by the most compounds?",
            "top 3 side effects by number of compounds",
            "Give me the 3 most common side effects, judged by how many compounds cause them.",
        ),
        lambda graph: Top(groups(graph.degrees("CcSE", "Side Effect", by="target"), 3), 3),
    ),
    Intent(
        "ATC codes of donepezil",
        "property_lookup",
        (
            "What are the ATC codes of donepezil?",
            "donepezil atc codes",
            "Which ATC codes does the compound donepezil have?",
        ),
        lambda graph: Values(
            frozenset(graph.nodes["atc_codes"][sorted(_compound(graph, "Donepezil"))].str.split("|").explode())
        ),
    ),
    Intent(
        "number of WikiPathways",
        "property_equals",
        (
            "How many pathways have the source wikipathways?",
            "number of pathways with source = wikipathways",
            "For how many of the pathways is wikipathways given as the source?",
        ),
        lambda graph: Number(int((graph.values("Pathway", "source") == "wikipathways").sum())),
    ),
    Intent(
        "genes bound by 200 compounds",
        "threshold",
        (
            "Which genes are bound by at least 200 compounds?",
            "genes bound by >= 200 compounds",
            "List the genes for which there are 200 or more compounds that bind them.",
        ),
        lambda graph: Nodes(chosen(counts := graph.degrees("CbG", "Gene", by="target"), counts >= 200)),
    ),
    Intent(
        "topiramate and migraine",
        "yes_no",
        (
            "Does topiramate treat migraine?",
            "is migraine treated by topiramate",
            "Can you confirm that topiramate treats migraine?",
        ),
        lambda graph: YesNo(bool(_compound(graph, "Topiramate") & _treating(graph, "migraine"))),
    ),
    Intent(
        "morphine against ibuprofen",
        "comparison",
        (
            "Which causes more side effects, morphine or ibuprofen?",
            "ibuprofen vs morphine, more side effects",
            "Between morphine and ibuprofen, which compound has the greater number of side effects?",
        ),
        _morphine_or_ibuprofen,
    ),
    Intent(
        "benzodiazepines for epilepsy",
        "two_conditions",
        (
            "Which compounds included in Benzodiazepines treat epilepsy syndrome?",
            "benzodiazepines that treat epilepsy syndrome",
            "Of the compounds that the class Benzodiazepines includes, list those that treat epilepsy syndrome.",
        ),
        lambda graph: Nodes(_of_class(graph, "Benzodiazepines") & _treating(graph, "epilepsy syndrome")),
    ),
    Intent(
        "what causes hypertension",
        "shared_name",
        (
            "How many compounds cause hypertension?",
            "number of compounds causing hypertension",
            "Hypertension as a side effect: how many compounds cause it?",
        ),
        lambda graph: Number(len(_causing(graph, "Hypertension"))),
    ),
    Intent(
        "genes of dengue",
        "unknown_name",
        (
            "Which genes are associated with dengue?",
            "dengue genes",
            "Does metformin treat dengue?",
        ),
        lambda graph: Refusal("unknown_name", "dengue"),
    ),
    Intent(
        "price of allopurinol",
        "not_here",
        (
            "What is the price of allopurinol?",
            "allopurinol price",
            "Could you tell me the price that allopurinol has?",
        ),
        lambda graph: Refusal("not_here", "price"),
    ),
    Intent(
        "safest for asthma",
        "unclear",
        (
            "What is the safest compound that treats asthma?",
            "safest asthma drug",
            "Which one of the drugs that treat asthma is the safest?",
        ),
        lambda graph: Refusal("not_understood", "safest"),
    ),
    Intent(
        "migraine compound with most side effects",
        "superlative_count",
        (
            "Which compound that treats migraine causes the most side effects?",
            "compound treating migraine with the most side effects",
            "Among the compounds that treat migraine, which one has the highest number of side effects that it causes?",
        ),
        lambda graph: Top(groups(graph.degrees("CcSE", "Compound")[sorted(_treating(graph, "migraine"))], 1), 1),
    ),
)
