"""Questions about Debian's packages that whoever builds the reader may look at."""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, Values, YesNo


def _maintained(graph: Frames, maintainer: str) -> frozenset[str]:
    return graph.into("maintained_by", [f"mnt:{maintainer}"])


def _size_of_section(graph: Frames, section: str) -> Gold:
    sizes = graph.values("package", "installed_size_kb")
    return Number(float(sizes[sorted(graph.into("in_section", [f"sec:{section}"]))].mean()), tolerance=0.51)


INTENTS = (
    Intent(
        "recommended by VLC",
        "one_hop",
        (
            "What does vlc recommend?",
            "packages recommended by vlc",
            "Tell me which other packages the vlc package recommends.",
        ),
        lambda graph: Nodes(graph.out("recommends", ["pkg:vlc"])),
    ),
    Intent(
        "suggesting gnuplot",
        "reversed_hop",
        (
            "Which packages suggest gnuplot?",
            "gnuplot suggested by which packages",
            "I'd like a list of those packages by which gnuplot is suggested.",
        ),
        lambda graph: Nodes(graph.into("suggests", ["pkg:gnuplot"])),
    ),
    Intent(
        "packages of the Octave group",
        "partial_name",
        (
            "Which packages does the Octave Group maintain?",
            "packages maintained by octave group",
            "Give me a list of all the packages that are maintained by the Octave group.",
        ),
        lambda graph: Nodes(_maintained(graph, "Debian Octave Group")),
    ),
    Intent(
        "maintainers of what recommends gimp",
        "two_hops",
        (
            "Who are the maintainers of the packages that recommend gimp?",
            "maintainers of packages recommending gimp",
            "Some packages recommend gimp. Which maintainers maintain them?",
        ),
        lambda graph: Nodes(graph.out("maintained_by", graph.into("recommends", ["pkg:gimp"]))),
    ),
    Intent(
        "packages of tmux's maintainer",
        "possessive",
        (
            "Which packages does tmux's maintainer maintain?",
            "packages of tmux's maintainer",
            "What are the packages maintained by the maintainer of tmux?",
        ),
        lambda graph: Nodes(graph.into("maintained_by", graph.out("maintained_by", ["pkg:tmux"]))),
        also=(
            lambda graph: Nodes(
                graph.into("maintained_by", graph.out("maintained_by", ["pkg:tmux"])) - frozenset(["pkg:tmux"])
            ),
        ),
    ),
    Intent(
        "depending on libsodium23 and libssl3",
        "intersection_names",
        (
            "Which packages depend on both libsodium23 and libssl3?",
            "packages depending on libssl3 and libsodium23",
            "List every package that has libsodium23 as well as libssl3 among the things it depends on.",
        ),
        lambda graph: Nodes(graph.into("depends", ["pkg:libsodium23"]) & graph.into("depends", ["pkg:libssl3"])),
    ),
    Intent(
        "editors of the Emacsen team",
        "two_conditions",
        (
            "Which packages in the section editors are maintained by the Debian Emacsen team?",
            "section editors, maintained by debian emacsen team",
            "I want the packages that the Debian Emacsen team maintains and that are in the editors section.",
        ),
        lambda graph: Nodes(graph.into("in_section", ["sec:editors"]) & _maintained(graph, "Debian Emacsen team")),
    ),
    Intent(
        "strategy games of others",
        "negation",
        (
            "Which packages have the tag game::strategy but are not maintained by the Debian Games Team?",
            "packages with tag game::strategy, not maintained by Debian Games Team",
            "List packages tagged game::strategy, leaving out the ones that the Debian Games Team maintains.",
        ),
        lambda graph: Nodes(graph.into("has_tag", ["tag:game::strategy"]) - _maintained(graph, "Debian Games Team")),
    ),
    Intent(
        "recommending gimp or inkscape",
        "disjunction",
        (
            "Which packages recommend gimp or inkscape?",
            "packages recommending either inkscape or gimp",
            "Show me all packages that recommend at least one of gimp and inkscape.",
        ),
        lambda graph: Nodes(graph.into("recommends", ["pkg:gimp", "pkg:inkscape"])),
    ),
    Intent(
        "number of packages of the Octave group",
        "count_hop",
        (
            "How many packages does the Debian Octave Group maintain?",
            "number of packages maintained by Debian Octave Group",
            "What's the count of packages whose maintainer is the Debian Octave Group?",
        ),
        lambda graph: Number(len(_maintained(graph, "Debian Octave Group"))),
    ),
    Intent(
        "busiest maintainer",
        "superlative_count",
        (
            "Which maintainer maintains the most packages?",
            "maintainer with the most packages",
            "Who is the maintainer that the largest number of packages is maintained by?",
        ),
        lambda graph: Top(groups(graph.degrees("maintained_by", "maintainer", by="target"), 1), 1),
    ),
    Intent(
        "largest package",
        "superlative_property",
        (
            "Which package has the largest installed size?",
            "package with highest installed size",
            "Of all the packages, which one takes the crown for installed size, that is, has the highest?",
        ),
        lambda graph: Top(groups(graph.values("package", "installed_size_kb"), 1), 1),
    ),
    Intent(
        "version of gimp",
        "property_lookup",
        (
            "What is the version of gimp?",
            "gimp version",
            "Which version does the gimp package have?",
        ),
        lambda graph: Values(frozenset([graph.nodes["version"]["pkg:gimp"]])),
    ),
    Intent(
        "packages over five gigabytes",
        "property_compare",
        (
            "Which packages have an installed size over 5000000 kB?",
            "packages with installed size > 5000000",
            "Please list the packages whose installed size is greater than 5000000 kilobytes.",
        ),
        lambda graph: Nodes(chosen(sizes := graph.values("package", "installed_size_kb"), sizes > 5_000_000)),
    ),
    Intent(
        "average size in vcs",
        "aggregate",
        (
            "What is the average installed size of the packages in the section vcs?",
            "average installed size, section vcs",
            "How large is the mean installed size over all packages that are in the vcs section?",
        ),
        lambda graph: _size_of_section(graph, "vcs"),
    ),
    Intent(
        "mutt and libgnutls30",
        "yes_no",
        (
            "Does mutt depend on libgnutls30?",
            "is libgnutls30 a dependency of mutt",
            "I wonder whether the package mutt depends on libgnutls30.",
        ),
        lambda graph: YesNo("pkg:libgnutls30" in graph.out("depends", ["pkg:mutt"])),
    ),
    Intent(
        "downloads of gimp",
        "not_here",
        (
            "How many downloads does gimp have?",
            "gimp downloads",
            "What is the number of downloads of the package gimp?",
        ),
        lambda graph: Refusal("not_here", "downloads"),
    ),
    Intent(
        "number of packages not of the Perl Group",
        "count_negation",
        (
            "How many packages are not maintained by the Debian Perl Group?",
            "number of packages not maintained by Debian Perl Group",
            "Leaving aside those that the Debian Perl Group maintains, how many packages are there?",
        ),
        lambda graph: Number(len(graph.all("package") - _maintained(graph, "Debian Perl Group"))),
    ),
    Intent(
        "packages over three gigabytes",
        "property_compare",
        (
            "Which packages have an installed size over 3 GB?",
            "packages with installed size > 3 GB",
            "Find packages whose installed size is more than 3 gigabytes.",
        ),
        lambda graph: Nodes(chosen(sizes := graph.values("package", "installed_size_kb"), sizes > 3_000_000)),
        also=(lambda graph: Nodes(chosen(sizes := graph.values("package", "installed_size_kb"), sizes > 3 * 2**20)),),
    ),
    Intent(
        "sources behind the packages of Romain Francoise",
        "three_hops",
        (
            "Which sources are the packages built from that packages maintained by Romain Francoise depend on?",
            "sources of packages that romain francoise's packages depend on",
            "Take the packages maintained by Romain Francoise and the packages they depend on. "
            "From which sources are the latter built?",
        ),
        lambda graph: Nodes(graph.out("built_from", graph.out("depends", _maintained(graph, "Romain Francoise")))),
    ),
)
