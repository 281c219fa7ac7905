"""What is asked of the nodes that a question describes: numbers, totals, values, and where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from orienteer.reading.clauses import all_said
from orienteer.reading.comparisons import adjective, compared_by, properties_of, stated_by, superlatives_at
from orienteer.reading.edges import EVENTS_COUNTED, EVENTS_PER, complain_of_many
from orienteer.reading.executor import Executor
from orienteer.reading.nouns import heads_at
from orienteer.reading.properties import properties_named
from orienteer.reading.query import PERIODS, Best, ExactQuery, Joined, Measure, NodeSet, Valued, joined_of
from orienteer.reading.relations import Voice, turned
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, part_of_words, rules
from orienteer.reading.units import LIGHT_FIT, KindVerb, PropertyFacts
from orienteer.reading.verbs import measures_at
from orienteer.reading.vocabulary import ENGLISH, WORDS, Adjective
from orienteer.text.units import UNITS

_Total: TypeAlias = Literal["average", "median", "sum"]
_TOTALS: tuple[_Total, ...] = ("average", "median", "sum")


# ------------------------------------------------------------------------------------------------------ parts of nodes


@part
def facts(context: Context, place: int) -> Iterator[Parse[PropertyFacts]]:
    """Read the name of a property."""
    for unit in context.units.properties.get(place, ()):
        yield Parse(unit.last, context.lexicon.properties[unit.property], unit.cost)


@part
def numeric(context: Context, place: int) -> Iterator[Parse[PropertyFacts]]:
    """Read the name of a property that holds numbers."""
    return (parse for parse in facts(context, place) if parse.value.kind == "number")


@part
def described(context: Context, place: int, nodes: NodeSet) -> list[Parse[NodeSet]]:
    """Read all that is said here of nodes."""
    return context.described(Parse(place, nodes, 0.0))


@part
def same(place: int, nodes: NodeSet) -> Parse[NodeSet]:
    """Read nothing, and mean the nodes of another part."""
    return Parse(place, nodes, 0.0)


part_of_words("most", ENGLISH.most)
part_of_words("adjective_asked", ENGLISH.adjectives)  # `tall` of `how tall`
part(measures_at, "ranked")
part(Context.possessive)  # the ending of `X's`
part(Context.is_over, "over")


@part
def measured(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Read the name of a property that nodes have, as a measure of them."""
    for own, last, cost in properties_named(context, place, nodes):
        yield Parse(last, Measure(property=own.name), cost)


@part
def is_question(context: Context) -> bool:
    """Read nothing where the text ends as a question."""
    return context.reading.text.rstrip().endswith("?")


# ------------------------------------------------------------------------------------------- how many: numbers of nodes


@part
def counting(context: Context, place: int) -> Iterator[Parse[None]]:
    """Read `how many`, `what is the exact number of`; not `the total amount of`, where a property is called so."""
    start = context.end_of(place, "what is the number") or place
    number = context.end_of(context.skip(start, WORDS["article of number"]), "number of")
    for last in sorted({*context.ends_of(place, "counting"), *(() if number is None else (number,))}):
        if not any(unit.cost == 0 for unit in context.units.properties.get(last - 2, ())):
            yield Parse(last, None, 0.0)


@part
def had(context: Context, place: int, name: NodeSet, kind: frozenset[int]) -> Phrases:
    """Read nothing: the things of a kind that the named node has."""
    for relation in context.relations.unnamed(NodeSet(kind), "of", name, Voice.NOUN_OF):
        yield Parse(place, relation.joined, relation.cost)


rules(
    "counts",
    Rule("how many beers are brewed by X", "counting some => count some"),
    Rule("X: number of side effects", "name 'of name how many' kind had => count had ~bare"),
    EVENTS_COUNTED,
    Rule("beers by X, how many", "some 'how many' => count some"),
    Rule("of the beers of X, how many are Y", "'among' nodes 'how many of them' part=said|same => count part"),
    Rule("among the beers of X, which are Y", "'among' nodes 'which of them' said => list said"),
)


# ------------------------------------------------------------------------------------------ totals: averages and sums


@part
def total(context: Context, place: int) -> Iterator[Parse[_Total]]:
    """Read `average`, `the total`."""
    return (Parse(last, form, 0.0) for form in _TOTALS for last in sorted(set(context.ends_of(place, form))))


@part
def having(context: Context, place: int) -> Parse[frozenset[int]]:
    """Read nothing: the types of what has any property that is called as the words here."""
    types = frozenset(kind for own in facts(context, place) for kind in own.value.types)
    return Parse(place, types, 0.0)


@part
def its_things(context: Context, place: int, facts: PropertyFacts, having: frozenset[int]) -> Phrases:
    """Read what is said of the things that have a property: `[salary] in Engineering`."""
    for scope in all_said(context, Parse(place, NodeSet(facts.types), 0.15)):
        # the "total gold of" two guilds is theirs, and not their members'
        if not any(context.relations.types_of(of.target) & having for of in joined_of(scope.value)):
            yield scope


@part
def is_cut(scope: NodeSet) -> bool:
    """Read nothing where something is said of a scope: `lowest attendance` alone asks whose it is."""
    return bool(scope.conditions)


@part
def scope(context: Context, place: int) -> Phrases:
    """Read whose property is asked for, behind its name: `of X`, `does X have`."""
    for nodes in context.nodes(context.end_of(place, "of") or place):
        last = context.end_of(nodes.last, "has it")
        yield nodes if last is None else nodes._replace(last=last)


@part
def may_have(context: Context, facts: PropertyFacts, scope: NodeSet) -> bool:
    """Read nothing where nodes of the scope may have the property."""
    return bool(facts.types & context.relations.types_of(scope))


def _total_measured(total: _Total, nodes: NodeSet, measured: Measure) -> ExactQuery:
    return ExactQuery(total, nodes, measured)


def _mean_count(context: Context, some: NodeSet) -> ExactQuery | None:
    """Return how many things each of several has on average: the subject of `do` is not named, and has no number."""
    one = next(iter(some.conditions), None) if not WORDS["do"].isdisjoint(context.words) else None
    if not isinstance(one, Joined) or one != Joined(one.kinds, replace(one.target, is_between=False)) or some.best:
        return None
    measure = Measure(kinds=turned(one.kinds), target=NodeSet(some.types))
    is_plain = len(some.conditions) == 1 and bool(one.target.types) and not one.target.named
    return ExactQuery("average", one.target, measure) if is_plain else None


@part
def in_unit(context: Context, place: int, facts: PropertyFacts) -> int:
    """Read `in m2`, of a property that is told in it, or nothing."""
    unit = context.skip(place, WORDS["measured in"])
    is_own = facts.unit is not None and UNITS.get(context.at(unit)) == UNITS[facts.unit]
    return unit + 1 if is_own else place


rules(
    "totals",
    Rule(
        "the average salary in Engineering",
        "['what is'] total -<of the> having facts=numeric nodes=its_things in_unit measured=measure_of",
        _total_measured,
    ),
    Rule(
        "the total height of the towers of X",
        "['what is'] total -<of the> facts scope may_have in_unit nodes=same(scope) measured=measure_of",
        _total_measured,
    ),
    Rule("on average, how many genes does a drug bind", "'on average' counting some over ~likely", _mean_count),
    Rule("how many genes does a drug bind on average", "counting some 'on average' over", _mean_count),
    Rule("X's total mass", "['what is'] nodes [possessive] total measured", _total_measured),
    Rule(
        "the total quantity of X",
        "['what is'] total -<of the> edge_facts ['of'] nodes=one of_edges",
        lambda total, of_edges: replace(of_edges, form=total),
    ),
    Rule(
        "the average rating of the films by X",
        "['what is'] total -<of the> edge_facts 'of or for' scope of_all_edges",
        lambda total, of_all_edges: replace(of_all_edges, form=total),
    ),
)


# ------------------------------------------------------------------------------------------------ numbers for each


@part
def group(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[tuple[Measure, frozenset[int]]]]:
    """Read what a number is told for each of: a property of the nodes, or a kind that one edge joins them to."""
    kinds = (head for head in heads_at(context, place) if not head.value.named and not head.value.conditions)
    for head in kinds:
        for relation in context.relations.direct(nodes, "", head.value):
            yield Parse(head.last, (relation.measure, relation.nodes.types), head.cost)
        complain_of_many(context, nodes, head.value, head.last)
    for own, last, cost in properties_named(context, place, nodes):
        told = (one for one in PERIODS if own.kind == "date" and one in (context.at(place), context.at(last - 1)))
        yield Parse(last, (Measure(property=own.name, period=next(told, "")), own.types), cost + 0.05)
    for parse in period(context, place):
        for by in by_period(context, parse.last, parse.value, nodes):
            yield Parse(parse.last, (by.value, nodes.types), by.cost)


@part
def period(context: Context, place: int) -> Iterator[Parse[str]]:
    """Read `month`."""
    told = [name for name in PERIODS if context.at(place) in (name, f"{name}s")]
    return (Parse(place + 1, name, 0.0) for name in told)


@part
def by_period(context: Context, place: int, period: str, members: NodeSet) -> Iterator[Parse[Measure]]:
    """Read nothing: the years, months or days of the only date that nodes have. People are not grouped by theirs."""
    are_people = not context.relations.types_of(members).isdisjoint(context.lexicon.people)
    dated = [] if are_people else _dated(context, members)
    if len(dated) == 1 and (dated[0].kind == "date" or period == "year"):
        yield Parse(place, Measure(property=dated[0].name, period=period), 0.2)
    elif len(dated) > 1:
        context.complain(place, f"which {period}: name one of {', '.join(one.name for one in dated)}")


def _each(counted: NodeSet, group: tuple[Measure, frozenset[int]]) -> ExactQuery | None:
    """Return the number for each; the node itself of "the largest package by size", and none of the largest of each."""
    if counted.best is not None and counted.best.measure == group[0]:
        return ExactQuery("list", counted)
    return ExactQuery("count", counted, group=group[0]) if counted.best is None or counted.best.first > 1 else None


def _total_of_each(
    total: _Total, numeric: PropertyFacts, measured: Measure, nodes: NodeSet, group: tuple[Measure, frozenset[int]]
) -> ExactQuery | None:
    if group[0].property == numeric.name:
        return None
    own = group[0].target.types & numeric.types if group[0].target is not None else frozenset[int]()
    if own:  # the average lines per module is that of the modules
        return ExactQuery(total, NodeSet(own), measured) if total == "average" else None
    return ExactQuery(total, replace(nodes, types=nodes.types & group[1] or nodes.types), measured, group=group[0])


@part
def owners(context: Context, place: int, numeric: PropertyFacts) -> Phrases:
    """Read `of the staff`, or nothing: what has a property."""
    of = context.end_of(place, "of")
    for parse in context.nodes(of) if of is not None else ():
        if not parse.value.named:
            yield parse
    yield Parse(place, NodeSet(numeric.types), 0.05)


@part
def most_of(context: Context, place: int) -> Iterator[Parse[bool]]:
    """Read `most`, `fewest`, which count things; the biggest shop is one, and the latest."""
    if context.at(place) in WORDS["counting things"] and context.at(place) in ENGLISH.most:
        yield Parse(place + 1, ENGLISH.most[context.at(place)], 0.0)


@part
def by_value(context: Context, place: int, facts: PropertyFacts, members: NodeSet) -> Iterator[Parse[Measure]]:
    """Read nothing: a property as groups of the nodes that have it, where no kind is called so."""
    is_kind = facts.name.casefold() in map(str.casefold, context.lexicon.graph.schema.node_types)
    if not is_kind and facts.kind != "date" and not facts.types.isdisjoint(context.relations.types_of(members)):
        yield Parse(place, Measure(property=facts.name), 0.0)


@part
def by_kind(context: Context, place: int, head: NodeSet, members: NodeSet) -> Iterator[Parse[Measure]]:
    """Read nothing: the nodes of a kind as groups of those that the only edge between them joins to each."""
    hops = (hop for kind in context.relations.types_of(members) for hop in context.lexicon.vocabulary.hops[kind])
    edges = {hop.kind for hop in hops if hop.target in head.types}
    for relation in context.relations.direct(members, "", head) if not head.conditions else ():
        if edges == set(relation.kinds):
            yield Parse(place, relation.measure, relation.cost)


def _leading(
    members: NodeSet, group: Measure, highest: bool, total: _Total | None = None, facts: PropertyFacts | None = None
) -> ExactQuery | None:
    """Return the groups of which a number is highest, or lowest; of sums whoever has none of them would be that."""
    measure = Measure(property=facts.name) if facts is not None else None
    is_lacking = total == "sum" and group.target is not None and not highest
    if members.best is not None or measure == group or is_lacking:
        return None
    return ExactQuery(total or "count", members, measure, group=group, first=1, descending=highest)


rules(
    "groups",
    Rule("how many plants are there per family", "counting counted=some ['are there'] 'per' group(counted)", _each),
    Rule("plants per family", "'listing'*|0 counted=some 'per' group(counted) over", _each),
    Rule(
        "how many plants of each family are there",
        "counting counted=head 'of each' group(counted) ['are there']",
        _each,
    ),
    Rule("how many plants does each family have", "counting counted=head 'does each' group(counted) ['has it']", _each),
    EVENTS_PER,
    Rule(
        "the total ship mass per owner",
        "['what is'] total -<of the> nodes=head numeric ['are there'] 'per' group measured=measure_of(numeric)",
        _total_of_each,
    ),
    Rule(
        "the average wage per role",
        "['what is'] total -<of the> numeric nodes=owners ['are there'] 'per' group measured=measure_of(numeric)",
        _total_of_each,
    ),
    Rule(
        "which village has the most halls",
        "'listing'* facts 'has or had' - highest=most_of members=some group=by_value over",
        lambda members, group, highest: _leading(members, group, highest),
    ),
    Rule(
        "which month has the most orders",
        "'listing'* period 'has or had' - highest=most_of members=some group=by_period over",
        lambda members, group, highest: _leading(members, group, highest),
    ),
    Rule(
        "which village has the highest average rent",
        "'listing'* of=facts 'has or had' - highest total -<of the> facts=numeric members=owners(facts)"
        " group=by_value(of) over",
        _leading,
    ),
    Rule(
        "which owner has the highest total ship mass",
        "'listing'* head 'has or had' - highest total -<of the> facts=numeric members=owners(facts) group=by_kind over",
        _leading,
    ),
    Rule(
        "which month had the highest total rent",
        "'listing'* period 'has or had' - highest total -<of the> facts=numeric members=owners(facts) group=by_period"
        " over",
        _leading,
    ),
)


@part
def measure_of(place: int, facts: PropertyFacts) -> Parse[Measure]:
    """Read nothing: a property as a measure."""
    return Parse(place, Measure(property=facts.name), 0.0)


# ------------------------------------------------------------------------------------------------ values of properties


@part
def value_start(context: Context, place: int) -> list[Parse[None]]:
    """Read `what is`, `how much is`, or nothing; `who is` where no edge says who."""
    people = [Parse(start, None, 0.5) for start in context.ends_of(place, "who is")]
    return [Parse(start, None, 0.0) for start in sorted({place, *context.ends_of(place, "what value")})] + people


@part
def value(context: Context, place: int, facts: PropertyFacts, scope: NodeSet) -> Parse[ExactQuery] | None:
    """Read nothing or `on average`, `in minutes`: the value of a property of nodes, or whether it is so."""
    name, measure = facts.name, Measure(property=facts.name)
    if not may_have(context, facts, scope):
        return None
    if any(isinstance(condition, Valued) and condition.property == name for condition in scope.conditions):
        return None  # nobody asks what they have said
    if facts.kind == "boolean":
        is_one = len(scope.named) == 1  # "immortal bards" are those who are so
        return Parse(place, ExactQuery("test", scope.that(Valued(name, "=", facts.true))), 0.0) if is_one else None
    average, total = context.end_of(place, "on average"), context.end_of(place, "in total")
    if facts.kind == "number" and not scope.named:
        if average is not None or context.end_of(0, "on average") is not None:
            return Parse(average or place, ExactQuery("average", scope, measure), 0.0)
        if total is not None:
            return Parse(total, ExactQuery("sum", scope, measure), 0.0)
    if not scope.conditions and not scope.best:
        return None
    return Parse(in_unit(context, place, facts), ExactQuery("value", scope, measure), 0.0)


def _fitting(context: Context, value: ExactQuery, found: Found) -> ExactQuery | None:
    """Return a question for a value: `when` asks for a time, `how many` for a number, `who` for a name by its word."""
    start, name = found["value_start"].last, value.measure.property if value.measure is not None else None
    kind = context.lexicon.properties[name].kind if name is not None else None
    if "when" in context.words[:start] and kind not in ("year", "date"):
        return None
    if "who" in context.words[:start] and (kind != "text" or found["facts"].cost > 0):
        return None
    return None if context.words[max(0, start - 2) : start] == ["how", "many"] and kind != "number" else value


@part
def what_has_it(context: Context, place: int, facts: PropertyFacts, scope: NodeSet) -> Phrases:
    """Read nothing: the only thing with a property that each node of a scope leads to: the type of an aircraft."""
    if scope.named and not may_have(context, facts, scope):
        for relation in context.relations.unnamed(NodeSet(facts.types), "", scope):
            if context.relations.is_single(turned(relation.kinds)):
                yield Parse(place, relation.joined, relation.cost + 0.1)


@part
def is_value(context: Context, found: Found, scope: NodeSet) -> bool:
    """Read nothing where a value is asked for: "active employees" are not what `active` is of them."""
    return bool(scope.named) or not context.units.types.get(context.skip(found["facts"].last))


@part
def ending(context: Context, place: int) -> Parse[None]:
    """Read the ending of `X's`; without it, `X height` is a little bare."""
    last = context.possessive(place)
    return Parse(place, None, 0.1) if last is None else Parse(last, None, 0.0)


@part
def exact(found: Found) -> bool:
    """Read nothing where the property was called by its name."""
    return found["facts"].cost == 0


@part
def by_adjective(
    context: Context, place: int, adjective_asked: Adjective, found: Found, scope: NodeSet
) -> Parse[PropertyFacts] | None:
    """Read nothing: the property of the scope that the adjective compares."""
    facts = compared_by(context, adjective_asked, scope, found["adjective_asked"].last - 1)
    return None if facts is None or adjective_asked.is_age else Parse(place, facts, 0.0)


@part
def stating(context: Context, place: int, found: Found, nodes: NodeSet) -> Parse[PropertyFacts] | None:
    """Read `weigh`, `cost`: the property that a verb states."""
    verb = ENGLISH.verb_of.get(context.at(place), context.at(place))
    is_stated = verb in ENGLISH.stating and (verb != "last" or context.at(found["0"].last + 1) == "long")
    facts = stated_by(context, verb, nodes) if is_stated else None
    return None if facts is None else Parse(place + 1, facts, 0.0)


def _dated(context: Context, nodes: NodeSet) -> list[PropertyFacts]:
    return [facts for facts in properties_of(context, nodes) if facts.kind in ("year", "date")]


@part
def beginning(context: Context, place: int, nodes: NodeSet) -> Parse[PropertyFacts] | None:
    """Read `built`, `founded`: the only property that tells when something was, where it may tell that."""
    dated, verb, stem = _dated(context, nodes), context.at(place), context.lexicon.vocabulary.stem
    if len(dated) != 1 or verb not in WORDS["begin"]:
        return None
    alike = {stem(word) for group in ENGLISH.groups["properties"] if verb in group for word in group} | {stem(verb)}
    may_tell = not alike.isdisjoint(dated[0].stems)
    if set(dated[0].stems) <= {stem(word) for word in ("year", "date")}:  # `year` is that of anything
        may_tell = verb not in ("opened", "closed", "ended")
    return Parse(place + 1, dated[0], 0.2) if may_tell else None


@part
def date_named(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[PropertyFacts]]:
    """Read the name of a property that tells when something was."""
    own = {facts.name for facts in _dated(context, nodes)}
    return (parse for parse in facts(context, place) if parse.value.name in own)


@part
def event(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Phrases:
    """Read nothing: the things with a date that an edge joins to nodes: the plantings of a rose."""
    return iter(()) if may_have(context, facts, nodes) else event_with(context, place, NodeSet(facts.types), nodes)


@part
def is_deed(context: Context, found: Found, facts: PropertyFacts) -> bool:
    """Read nothing where the verb that names a date is what the things stand for: `planted` of plantings."""
    units = context.units.edges.get(found["facts"].last - 1, ())
    return any(isinstance(unit.edges, KindVerb) and bool(unit.edges.deeds & facts.types) for unit in units)


@part
def dated_facts(context: Context, place: int) -> Iterator[Parse[PropertyFacts]]:
    """Read the name of a property that holds dates or years."""
    return (parse for parse in facts(context, place) if parse.value.kind in ("date", "year"))


@part
def event_with(context: Context, place: int, event: NodeSet, named: NodeSet) -> Phrases:
    """Read nothing: those of the things that an edge joins to another name as well."""
    for relation in context.relations.direct(event, "", named):
        yield Parse(place, relation.joined, relation.cost)


class Grade(NamedTuple):
    """The adjective of `taller` or `less dear`, with whether more of it is meant, and where it begins."""

    adjective: Adjective
    is_more: bool
    place: int

    @property
    def is_descending(self) -> bool:
        """Return whether a higher value of the property is more of what is asked."""
        return self.adjective.ascending == self.is_more


@part
def grade(context: Context, place: int) -> Iterator[Parse[Grade]]:
    """Read `taller`, `more expensive`, `less dear`."""
    return (Parse(parse.last, Grade(*parse.value, place), 0.0) for parse in adjective(context, place))


@part
def superlative(context: Context, place: int) -> Iterator[Parse[Grade]]:
    """Read `tallest`, `most expensive`."""
    return (Parse(parse.last, Grade(*parse.value, place), 0.0) for parse in superlatives_at(context, place))


@part
def highest(context: Context, place: int) -> Iterator[Parse[bool]]:
    """Read `highest`, `latest`, or `longest` before a property that it compares: the fastest time is no high one."""
    if context.at(place) in ENGLISH.most:
        yield Parse(place + 1, ENGLISH.most[context.at(place)], 0.0)
        return
    stem = context.lexicon.vocabulary.stem
    for grade in superlative(context, place):
        compared = {stem(word) for word in grade.value.adjective.words}
        if any(compared.intersection(own.value.stems) for own in facts(context, context.skip(grade.last))):
            yield Parse(grade.last, grade.value.is_descending, 0.0)


def _value_of_best(context: Context, facts: PropertyFacts, highest: bool, scope: NodeSet) -> ExactQuery | None:
    """Return the most of a property's values."""
    measure, is_open = Measure(property=facts.name), scope.best is None and not scope.named
    if not facts.is_measured or not is_open or not may_have(context, facts, scope):
        return None
    return ExactQuery("value", replace(scope, best=Best(measure, highest)), measure)


@part
def all_with(place: int, facts: PropertyFacts) -> Parse[NodeSet]:
    """Read nothing: all nodes that have a property."""
    return Parse(place, NodeSet(facts.types), 0.05)


rules(
    "values",
    Rule("the height of X", "value_start - facts scope is_value value", _fitting),
    Rule("X's height", "value_start - scope=nodes ending -<say nothing> ['number of property'] facts value", _fitting),
    Rule(
        "how many passengers do the ships of X carry",
        "'how many amount' facts=numeric exact scope may_have ~likely",
        lambda scope, facts: None if scope.named else ExactQuery("sum", scope, Measure(property=facts.name)),
    ),
    Rule("when did X join Y", "'when' nodes=one -<say nothing> said edge_time => edge_time"),
    Rule("what role has X in Y", "value_start - edge_facts ['of'] nodes=one said edge_value => edge_value"),
    Rule("the fee of X", "value_start - edge_facts ['of'] nodes=one [own_verb] ['has it'] of_edges => of_edges"),
    Rule(
        "roles played by X in Y",
        "value_start - edge_facts own_verb <before roles> nodes=one said edge_value => edge_value",
    ),
    Rule("roles played by X", "value_start - edge_facts own_verb <before roles> nodes=one of_edges => of_edges"),
    Rule("maker of X", "value_start - facts scope what_has_it value(facts, what_has_it) => value"),
    Rule("how tall is X", "'how' adjective_asked scope facts=by_adjective value => value"),
    Rule("how much does X weigh", "0 'how much does'* nodes -<get> facts=stating value(facts, nodes) => value"),
    Rule("when was X built", "'when' nodes -<say nothing> facts=beginning value(facts, nodes) => value"),
    Rule(
        "when was X planted",
        "'when' nodes=one -<say nothing> facts=dated_facts is_deed event value(facts, event) => value",
    ),
    Rule(
        "when was X planted in Y",
        "'when' nodes=one -<say nothing> facts=dated_facts is_deed event -<prepositions> - named event_with"
        " value(facts, event_with) => value",
    ),
    Rule("what is the highest wage", "'what is' - highest facts scope=all_with over ~handy", _value_of_best),
    Rule(
        "what is the highest wage of the gardeners",
        "value_start - highest facts 'of' scope=some ~handy",
        _value_of_best,
    ),
    Rule(
        "lowest attendance at X",
        "value_start - highest having facts=numeric scope=its_things is_cut over ~handy",
        _value_of_best,
    ),
    Rule("when was X born", "'when' nodes -<say nothing> facts=date_named value(facts, nodes) => value"),
    Rule(
        "when was the museum founded that X",
        "'when' nodes -<say nothing> facts=date_named ?<relative> said value(facts, said) => value",
    ),
)


# ------------------------------------------------------------------------------------------------------ where it is


@part
def place_of(context: Context, place: int, named: NodeSet) -> Iterator[Parse[ExactQuery]]:
    """Read nothing, or `located`: the only thing of a kind of places that an edge joins a name to, or a property.

    Of a place that may be part of others it is the one that it is part of, and nothing that is in it.
    """
    vocabulary, last = context.lexicon.vocabulary, context.end_of(place, "located") or place
    whole = context.nesting.whole_of(context.relations.types_of(named), named)
    if whole is not None and len(Executor(context.lexicon.graph).run(ExactQuery("list", whole)).rows):
        yield Parse(last, ExactQuery("list", whole), 0.2)
        return
    places, kinds = {vocabulary.stem(word) for word in WORDS["places"]}, context.lexicon.places
    relations = context.relations.direct(NodeSet(kinds), "", named) if kinds else ()
    queries = [ExactQuery("list", one.joined) for one in relations if not context.nesting.are_in(one.kinds)]
    for facts in properties_of(context, named):
        if facts.kind == "text" and places.intersection(facts.stems):
            queries.append(ExactQuery("value", named, Measure(property=facts.name)))
    if len(queries) == 1:
        yield Parse(last, queries[0], 0.2)


@part
def place_where(context: Context, place: int, named: NodeSet) -> Iterator[Parse[ExactQuery]]:
    """Read `born`, `died`: the only place that an edge of the verb joins a name to, or that a property of it tells."""
    word, queries = context.at(place), list[ExactQuery]()
    for unit in context.units.edges.get(place, ()):
        if unit.fit > LIGHT_FIT and unit.last == place + 1:
            relations = context.relations.named(NodeSet(context.lexicon.places), unit.edges, Voice.OBJECT, named)
            queries += [ExactQuery("list", relation.joined) for relation in relations]
    alike = {other for group in ENGLISH.groups["relations"] if word in group for other in group}
    stems = tuple(map(context.lexicon.vocabulary.stem, alike))
    for facts in properties_of(context, named):
        is_place = any(part in WORDS["places"] or part in ("in", "at") for part in facts.name.casefold().split("_"))
        is_said = any(own.startswith(stems) for own in facts.stems)
        if facts.kind == "text" and is_said and (is_place or facts.name.casefold().endswith("place")):
            queries.append(ExactQuery("value", named, Measure(property=facts.name)))
    if len(queries) == 1:
        yield Parse(place + 1, queries[0], 0.1)


rules(
    "places",
    Rule("where is X", "'where is' named place_of over => place_of"),
    Rule("where was X born", "'where is' named place_where over => place_where"),
)
