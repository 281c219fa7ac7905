"""Questions about Debian's packages that are kept from whoever builds the reader: do not open this file to build it."""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, YesNo


def _maintained(graph: Frames, *maintainers: str) -> frozenset[str]:
    return graph.into("maintained_by", [f"mnt:{maintainer}" for maintainer in maintainers])


def _depending(graph: Frames, *packages: str) -> frozenset[str]:
    return graph.into("depends", [f"pkg:{package}" for package in packages])


def _section(graph: Frames, section: str) -> frozenset[str]:
    return graph.into("in_section", [f"sec:{section}"])


def _gimp_or_inkscape(graph: Frames) -> Gold:
    sizes = graph.values("package", "installed_size_kb")[["pkg:gimp", "pkg:inkscape"]]
    return Top(groups(sizes, 1), 1)


INTENTS = (
    Intent(
        "providing imap-server",
        "reversed_hop",
        (
            "Which packages provide imap-server?",
            "packages providing imap-server",
            "What packages are there that provide the virtual package imap-server?",
        ),
        lambda graph: Nodes(graph.into("provides", ["virt:imap-server"])),
    ),
    Intent(
        "sections of what depends on tmux",
        "two_hops",
        (
            "In which sections are the packages that depend on tmux?",
            "sections of packages depending on tmux",
            "Look at all packages which depend on tmux: what sections are they in?",
        ),
        lambda graph: Nodes(graph.out("in_section", _depending(graph, "tmux"))),
    ),
    Intent(
        "sections of the packages of nano's maintainer",
        "three_hops",
        (
            "Which sections hold packages maintained by the maintainer of nano?",
            "sections of packages maintained by nano's maintainer",
            "Go from nano to its maintainer and on to the packages which that maintainer maintains. "
            "What sections are those packages in?",
        ),
        lambda graph: Nodes(
            graph.out("in_section", graph.into("maintained_by", graph.out("maintained_by", ["pkg:nano"])))
        ),
    ),
    Intent(
        "depending on ffmpeg, for editing",
        "intersection_verbs",
        (
            "Which packages depend on ffmpeg and have the tag use::editing?",
            "packages that depend on ffmpeg, tag use::editing",
            "Among the packages depending on ffmpeg, which ones are tagged use::editing?",
        ),
        lambda graph: Nodes(_depending(graph, "ffmpeg") & graph.into("has_tag", ["tag:use::editing"])),
    ),
    Intent(
        "shells without libc6 and python3",
        "neither_nor",
        (
            "Which packages in the section shells depend on neither libc6 nor python3?",
            "section shells, packages depending neither on python3 nor on libc6",
            "List the packages in the shells section except those that depend on libc6 or on python3.",
        ),
        lambda graph: Nodes(_section(graph, "shells") - _depending(graph, "libc6", "python3")),
    ),
    Intent(
        "number depending on numpy and scipy",
        "count_intersection",
        (
            "How many packages depend on both python3-numpy and python3-scipy?",
            "number of packages depending on python3-scipy and python3-numpy",
            "Count those packages that depend on python3-numpy and depend on python3-scipy too.",
        ),
        lambda graph: Number(len(_depending(graph, "python3-numpy") & _depending(graph, "python3-scipy"))),
    ),
    Intent(
        "number in vcs without git",
        "count_negation",
        (
            "How many packages in the section vcs do not depend on git?",
            "number of packages in section vcs not depending on git",
            "Not counting the packages that depend on git, how many packages are in the section vcs?",
        ),
        lambda graph: Number(len(_section(graph, "vcs") - _depending(graph, "git"))),
    ),
    Intent(
        "number depending on imagemagick or ghostscript",
        "count_disjunction",
        (
            "How many packages depend on imagemagick or ghostscript?",
            "number of packages depending on either ghostscript or imagemagick",
            "What is the number of packages that depend on imagemagick, on ghostscript, or on the two of them?",
        ),
        lambda graph: Number(len(_depending(graph, "imagemagick", "ghostscript"))),
    ),
    Intent(
        "number of sections",
        "count_kind",
        (
            "How many sections does Debian have?",
            "number of sections",
            "Tell me how many different sections exist.",
        ),
        lambda graph: Number(len(graph.all("section"))),
        also=(lambda graph: Refusal("unknown_name", "Debian"),),
    ),
    Intent(
        "three largest sections",
        "top_count",
        (
            "Which three sections contain the most packages?",
            "top 3 sections by number of packages",
            "Order the sections by the number of packages in them, largest first, and show three.",
        ),
        lambda graph: Top(groups(graph.degrees("in_section", "section", by="target"), 3), 3),
    ),
    Intent(
        "required packages",
        "property_equals",
        (
            "Which packages have the priority required?",
            "packages with priority = required",
            "I'm looking for the packages whose priority is required.",
        ),
        lambda graph: Nodes(chosen(priority := graph.values("package", "priority"), priority == "required")),
    ),
    Intent(
        "two to three gigabytes",
        "property_range",
        (
            "Which packages have an installed size between 2000000 and 3000000 kB?",
            "packages, installed size 2000000 to 3000000 kb",
            "List packages whose installed size is at least 2000000 kB and at most 3000000 kB.",
        ),
        lambda graph: Nodes(
            chosen(sizes := graph.values("package", "installed_size_kb"), (sizes >= 2_000_000) & (sizes <= 3_000_000))
        ),
    ),
    Intent(
        "gimp against inkscape",
        "comparison",
        (
            "Which package has the larger installed size, gimp or inkscape?",
            "inkscape vs gimp installed size, which is larger",
            "If I compare gimp with inkscape, which of the two has the higher installed size?",
        ),
        _gimp_or_inkscape,
    ),
    Intent(
        "more than 150 dependencies",
        "threshold",
        (
            "Which packages depend on more than 150 packages?",
            "packages depending on over 150 packages",
            "Are there packages that depend on more than 150 other packages? Which ones?",
        ),
        lambda graph: Nodes(
            chosen(counts := graph.degrees("depends", "package", among=graph.all("package")), counts > 150)
        ),
        also=(lambda graph: Nodes(chosen(counts := graph.degrees("depends", "package"), counts > 150)),),
    ),
    Intent(
        "vcs without homepage",
        "property_missing",
        (
            "Which packages in the section vcs have no homepage?",
            "section vcs packages without a homepage",
            "For which of the packages in the vcs section is the homepage missing?",
        ),
        lambda graph: Nodes(_section(graph, "vcs") & graph.lacking("package", "homepage")),
    ),
    Intent(
        "dependents of libfrobnicate7",
        "unknown_name",
        (
            "Which packages depend on libfrobnicate7?",
            "packages depending on libfrobnicate7",
            "How many packages are there that depend on libfrobnicate7?",
        ),
        lambda graph: Refusal("unknown_name", "libfrobnicate7"),
    ),
    Intent(
        "maintainer of git",
        "shared_name",
        (
            "Who maintains git?",
            "maintainer of git",
            "By which maintainer is git maintained?",
        ),
        lambda graph: Nodes(graph.out("maintained_by", ["pkg:git"])),
    ),
    Intent(
        "nano and libssl3",
        "yes_no",
        (
            "Does nano depend on libssl3?",
            "is nano depending on libssl3",
            "Is libssl3 one of the packages that nano depends on?",
        ),
        lambda graph: YesNo("pkg:libssl3" in graph.out("depends", ["pkg:nano"])),
    ),
    Intent(
        "total size of the OpenSSL team",
        "aggregate",
        (
            "What is the total installed size of the packages maintained by the Debian OpenSSL Team?",
            "sum of installed size, packages maintained by debian openssl team",
            "Add up the installed size of all packages that the Debian OpenSSL Team maintains.",
        ),
        lambda graph: Number(
            float(graph.values("package", "installed_size_kb")[sorted(_maintained(graph, "Debian OpenSSL Team"))].sum())
        ),
    ),
    Intent(
        "large packages of the Samba maintainers",
        "property_compare",
        (
            "Which packages maintained by the Debian Samba Maintainers have an installed size of at least 5000 kB?",
            "debian samba maintainers packages, installed size >= 5000",
            "Of what the Debian Samba Maintainers maintain, which packages have 5000 kB or more of installed size?",
        ),
        lambda graph: Nodes(
            chosen(sizes := graph.values("package", "installed_size_kb"), sizes >= 5000)
            & _maintained(graph, "Debian Samba Maintainers")
        ),
    ),
    Intent(
        "large games",
        "property_compare",
        (
            "Which packages in the section games have an installed size above 1 GB?",
            "section games, installed size > 1 GB",
            "List the packages that are in the games section and whose installed size is more than 1 gigabyte.",
        ),
        lambda graph: Nodes(
            chosen(sizes := graph.values("package", "installed_size_kb"), sizes > 1_000_000) & _section(graph, "games")
        ),
        also=(
            lambda graph: Nodes(
                chosen(sizes := graph.values("package", "installed_size_kb"), sizes > 2**20) & _section(graph, "games")
            ),
        ),
    ),
    Intent(
        "number with a homepage",
        "property_missing",
        (
            "How many packages have a homepage?",
            "number of packages with a homepage",
            "For how many of the packages is there any homepage given?",
        ),
        lambda graph: Number(len(graph.values("package", "homepage"))),
    ),
)
