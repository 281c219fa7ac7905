"""Questions about genes and the Gene Ontology that are kept from whoever builds the reader."""

from __future__ import annotations

from .frames import Frames
from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import highest


def _gene(g: Frames, *symbols: str) -> frozenset[str]:
    return g.named(*symbols, kind="gene")


def _synonymous(g: Frames, synonym: str) -> frozenset[str]:
    """Return the only gene with a synonym."""
    synonyms = g.nodes.loc[sorted(g.all("gene")), "synonyms"].explode()
    (id_,) = synonyms.index[synonyms == synonym]
    return frozenset([id_])


def _located(g: Frames, *components: str) -> frozenset[str]:
    return g.into("located_in", g.named(*components, kind="cellular_component"))


def _involved(g: Frames, *processes: str) -> frozenset[str]:
    return g.into("involved_in", g.named(*processes, kind="biological_process"))


def _enabling(g: Frames, *functions: str) -> frozenset[str]:
    return g.into("enables", g.named(*functions, kind="molecular_function"))


INTENTS = (
    Intent(
        "functions of LCT",
        "one_hop",
        (
            "Which molecular functions does LCT enable?",
            "LCT molecular functions",
            "I'm reading up on LCT. What can it do, in terms of molecular function?",
        ),
        lambda g: Nodes(g.out("enables", _gene(g, "LCT"))),
    ),
    Intent(
        "genes of the exocyst",
        "reversed_hop",
        (
            "Which genes are located in the exocyst?",
            "genes in exocyst",
            "Tell me what genes one finds at the exocyst.",
        ),
        lambda g: Nodes(_located(g, "exocyst")),
    ),
    Intent(
        "parts of autophagosome assembly",
        "reversed_hop",
        (
            "Which biological processes are part of autophagosome assembly?",
            "processes that are parts of autophagosome assembly",
            "What processes make up autophagosome assembly, as parts of it?",
        ),
        lambda g: Nodes(g.into("part of", g.named("autophagosome assembly", kind="biological_process"))),
    ),
    Intent(
        "where beta-globin is",
        "alias",
        (
            "In which cellular components is beta-globin located?",
            "beta-globin location",
            "Where in the cell does one come across beta-globin? The components, please.",
        ),
        lambda g: Nodes(g.out("located_in", _synonymous(g, "beta-globin"))),
    ),
    Intent(
        "circadian rhythm and glucose",
        "intersection_names",
        (
            "Which genes are involved in both circadian rhythm and glucose homeostasis?",
            "genes circadian rhythm AND glucose homeostasis",
            "Are there any genes with a role in circadian rhythm that have one in glucose homeostasis too?",
        ),
        lambda g: Nodes(_involved(g, "circadian rhythm") & _involved(g, "glucose homeostasis")),
    ),
    Intent(
        "processes of oxygen carriers",
        "two_hops",
        (
            "In which biological processes are the genes that enable oxygen carrier activity involved?",
            "biological processes of genes with oxygen carrier activity",
            "Take the genes that have oxygen carrier activity. Which processes do they take part in?",
        ),
        lambda g: Nodes(g.out("involved_in", _enabling(g, "oxygen carrier activity"))),
    ),
    Intent(
        "pairing outside the complex",
        "negation",
        (
            "Which genes are involved in homologous chromosome pairing at meiosis but not located in the synaptonemal "
            "complex?",
            "genes homologous chromosome pairing at meiosis, not in synaptonemal complex",
            "I'd like the genes for homologous chromosome pairing at meiosis, without those found in the synaptonemal "
            "complex.",
        ),
        lambda g: Nodes(_involved(g, "homologous chromosome pairing at meiosis") - _located(g, "synaptonemal complex")),
    ),
    Intent(
        "number of processes of BRCA1",
        "count_hop",
        (
            "How many biological processes is BRCA1 involved in?",
            "number of biological processes BRCA1",
            "BRCA1 seems to be in everything: how many biological processes does it take part in, exactly?",
        ),
        lambda g: Number(len(g.out("involved_in", _gene(g, "BRCA1")))),
    ),
    Intent(
        "mitochondrial diphosphate kinases",
        "intersection_verbs",
        (
            "Which genes enable nucleoside diphosphate kinase activity and are located in the mitochondrion?",
            "nucleoside diphosphate kinase activity genes in mitochondrion",
            "What about genes that sit in the mitochondrion and have got nucleoside diphosphate kinase activity?",
        ),
        lambda g: Nodes(_enabling(g, "nucleoside diphosphate kinase activity") & _located(g, "mitochondrion")),
    ),
    Intent(
        "TNF or TP53",
        "comparison",
        (
            "Which gene is involved in more biological processes, TNF or TP53?",
            "more biological processes: TNF or TP53",
            "TNF and TP53 are both busy genes. Which of the two takes part in more biological processes?",
        ),
        lambda g: highest(g.degrees("involved_in", "gene")[sorted(_gene(g, "TNF", "TP53"))]),
    ),
    Intent(
        "is CFTR in the early endosome",
        "yes_no",
        (
            "Is CFTR located in the early endosome?",
            "CFTR in early endosome?",
            "Could it be that one finds CFTR in the early endosome?",
        ),
        lambda g: YesNo(_gene(g, "CFTR") <= _located(g, "early endosome")),
    ),
    Intent(
        "a gene that is not there",
        "unknown_name",
        (
            "In which cellular components is ZORBLAX9 located?",
            "ZORBLAX9 cellular component",
            "A colleague mentioned ZORBLAX9 to me. In which parts of the cell is that found?",
        ),
        lambda _: Refusal("unknown_name", "ZORBLAX9"),
    ),
)
