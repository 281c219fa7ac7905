"""Questions about the parish that are kept from whoever builds the reader."""

from __future__ import annotations

from .frames import Frames, chosen
from .intent import Intent, Nodes, Number, Refusal, Values, YesNo
from .parish_tables import equal, id_of, leading, number_of, numbers, text_of
from .world_tables import highest


def _team(w: Frames, project: str) -> frozenset[str]:
    return w.into("assignments", id_of(w, "project", project))


def _orders_for(w: Frames, project: str) -> frozenset[str]:
    return w.into("project", id_of(w, "project", project))


def _staff(w: Frames, department: str) -> frozenset[str]:
    return leading(w, "employee", "department", id_of(w, "department", department))


def _orders_from(w: Frames, supplier: str) -> frozenset[str]:
    return w.into("supplier", id_of(w, "supplier", supplier))


def _accountants_pay(w: Frames) -> Number:
    pay = numbers(w, "employee", "salary")
    accountants = w.into("job_title", id_of(w, "job_title", "accountant"))
    return Number(float(pay[sorted(accountants & set(pay.index))].mean()), 0.5)


def _neither_town(w: Frames) -> Nodes:
    return Nodes(w.all("supplier") - w.into("town", id_of(w, "town", "Wexcombe", "Thornley")))


def _started(w: Frames, *, before: str) -> Nodes:
    starts = w.values("employee", "started_on")
    return Nodes(chosen(starts, starts < before))


def _longest_serving(w: Frames) -> Nodes:
    starts = w.values("employee", "started_on")
    return Nodes(chosen(starts, starts == min(starts)))


INTENTS = (
    Intent(
        "seat of communications",
        "one_hop",
        (
            "In which building is the Communications department located?",
            "Communications department building",
            "Whereabouts does Communications sit, which building are they in?",
        ),
        lambda w: Nodes(w.out("building", id_of(w, "department", "Communications"))),
    ),
    Intent(
        "departments in the corn exchange",
        "reversed_hop",
        (
            "Which departments are housed in the Old Corn Exchange?",
            "old corn exchange departments",
            "If I walk into the Old Corn Exchange, what departments will I find there?",
        ),
        lambda w: Nodes(w.into("building", id_of(w, "building", "Old Corn Exchange"))),
    ),
    Intent(
        "led by Pansy Worrall",
        "reversed_hop",
        (
            "Which projects are led by Pansy Worrall?",
            "projects with Pansy Worrall as lead",
            "I gather Pansy Worrall is in charge of a few projects. Which ones?",
        ),
        lambda w: Nodes(w.into("lead", id_of(w, "employee", "Pansy Worrall"))),
    ),
    Intent(
        "team of P13",
        "alias",
        (
            "Which employees are assigned to project P13?",
            "P13 assigned employees",
            "Who all have they assigned to P13?",
        ),
        lambda w: Nodes(w.into("assignments", {"P13"} & w.all("project"))),
    ),
    Intent(
        "items from Cobb Electrical",
        "two_hops",
        (
            "Which items have been ordered from Cobb Electrical?",
            "items on orders from Cobb Electrical",
            "What sorts of items do we buy in from Cobb Electrical?",
        ),
        lambda w: Nodes(w.out("item", _orders_from(w, "Cobb Electrical"))),
    ),
    Intent(
        "buyers for the flood wall",
        "two_hops",
        (
            "Which employees placed orders for the Flood Wall Survey?",
            "who ordered for Flood Wall Survey",
            "Somebody must have put in the orders for the Flood Wall Survey. Who was it?",
        ),
        lambda w: Nodes(w.out("ordered_by", _orders_for(w, "Flood Wall Survey"))),
    ),
    Intent(
        "projects of Theo Larkin's manager",
        "possessive",
        (
            "Which projects is Theo Larkin's manager assigned to?",
            "theo larkin's manager's projects",
            "What's Theo Larkin's boss working on?",
        ),
        lambda w: Nodes(w.out("assignments", w.out("manager", id_of(w, "employee", "Theo Larkin")))),
    ),
    Intent(
        "towns that the helpdesk buys from",
        "three_hops",
        (
            "In which towns are the suppliers of the orders for the Council Tax Helpdesk?",
            "towns of suppliers of orders for Council Tax Helpdesk",
            "Think of the suppliers that got orders for the Council Tax Helpdesk: what towns are they from?",
        ),
        lambda w: Nodes(w.out("town", w.out("supplier", _orders_for(w, "Council Tax Helpdesk")))),
    ),
    Intent(
        "on the newsletter and the wall",
        "intersection_names",
        (
            "Who is assigned to both the Parish Newsletter and the Cemetery Wall Rebuild?",
            "employees Parish Newsletter AND Cemetery Wall Rebuild",
            "Any employees that split their time between the Parish Newsletter and the Cemetery Wall Rebuild?",
        ),
        lambda w: Nodes(_team(w, "Parish Newsletter") & _team(w, "Cemetery Wall Rebuild")),
    ),
    Intent(
        "managers in waste collection",
        "intersection_verbs",
        (
            "Which employees manage somebody and belong to the Waste Collection department?",
            "Waste Collection employees who manage someone",
            "Over in Waste Collection, which of the staff have got people reporting to them?",
        ),
        lambda w: Nodes(_staff(w, "Waste Collection") & w.out("manager", w.all("employee"))),
    ),
    Intent(
        "gritters not in waste collection",
        "negation",
        (
            "Which employees work on the Winter Gritting Review but are not in the Waste Collection department?",
            "Winter Gritting Review staff not in Waste Collection",
            "I want everybody assigned to the Winter Gritting Review, leaving out those from Waste Collection.",
        ),
        lambda w: Nodes(_team(w, "Winter Gritting Review") - _staff(w, "Waste Collection")),
    ),
    Intent(
        "neither Wexcombe nor Thornley",
        "neither_nor",
        (
            "Which suppliers are based in neither Wexcombe nor Thornley?",
            "suppliers not in Wexcombe or Thornley",
            "Give me the suppliers from anywhere other than Wexcombe and Thornley.",
        ),
        _neither_town,
    ),
    Intent(
        "orders from Tamsin Fuels",
        "count_hop",
        (
            "How many orders have been placed with Tamsin Fuels?",
            "number of orders Tamsin Fuels",
            "How often have we bought from Tamsin Fuels? A count of the orders will do.",
        ),
        lambda w: Number(len(_orders_from(w, "Tamsin Fuels"))),
    ),
    Intent(
        "officers in parks",
        "count_intersection",
        (
            "How many officers does the Parks and Gardens department employ?",
            "count officers Parks and Gardens",
            "Tell me how many of the people in Parks and Gardens are officers.",
        ),
        lambda w: Number(
            len(_staff(w, "Parks and Gardens") & w.into("job_title", id_of(w, "job_title", "officer"))),
        ),
    ),
    Intent(
        "vehicles not on diesel",
        "count_negation",
        (
            "How many vehicles do not run on diesel?",
            "number of non-diesel vehicles",
            "What's the number of vehicles we have that take something other than diesel?",
        ),
        lambda w: Number(len(w.all("vehicle") - w.into("fuel", id_of(w, "fuel", "diesel")))),
    ),
    Intent(
        "suppliers with over ten orders",
        "threshold",
        (
            "Which suppliers have received more than ten orders?",
            "suppliers > 10 orders",
            "I'd like the suppliers we've sent more than 10 orders to.",
        ),
        lambda w: Nodes(
            chosen(w.degrees("supplier", "supplier", by="target"), w.degrees("supplier", "supplier", by="target") > 10)
        ),
    ),
    Intent(
        "budget of the heritage trail",
        "property_lookup",
        (
            "What is the budget of the Heritage Trail?",
            "heritage trail budget",
            "How much money has been set aside for the Heritage Trail? Its budget, that is.",
        ),
        lambda w: Number(number_of(w, "project", "Heritage Trail", "budget")),
        (lambda w: Values(text_of(w, "project", "Heritage Trail", "budget")),),
    ),
    Intent(
        "start of Una Metcalfe",
        "property_lookup",
        (
            "On which date did Una Metcalfe start?",
            "una metcalfe start date",
            "Since when has Una Metcalfe been with us?",
        ),
        lambda w: Values(text_of(w, "employee", "Una Metcalfe", "started_on")),
    ),
    Intent(
        "started before 1995",
        "property_compare",
        (
            "Which employees started before 1995?",
            "employees started before 1 January 1995",
            "Who are the old hands, the employees who joined earlier than 1995?",
        ),
        lambda w: _started(w, before="1995"),
    ),
    Intent(
        "budgets from 100,000 to 160,000",
        "property_range",
        (
            "Which projects have a budget between 100,000 and 160,000 euros?",
            "projects budget 100000 to 160000",
            "Tell me the projects whose budgets lie somewhere from 100,000 up to 160,000.",
        ),
        lambda w: Nodes(
            chosen(numbers(w, "project", "budget"), numbers(w, "project", "budget").between(100_000, 160_000))
        ),
    ),
    Intent(
        "highways or library budget",
        "comparison",
        (
            "Which department has the bigger budget, Highways or Library Services?",
            "higher budget highways vs library services",
            "Between Highways and Library Services, who has more budget?",
        ),
        lambda w: highest(
            numbers(w, "department", "budget")[sorted(id_of(w, "department", "Highways", "Library Services"))]
        ),
    ),
    Intent(
        "is Sly on the heating",
        "yes_no",
        (
            "Is Vernon Sly assigned to Village Hall Heating?",
            "vernon sly on village hall heating?",
            "Does Vernon Sly have anything to do with Village Hall Heating, as one of those working on it?",
        ),
        lambda w: YesNo(id_of(w, "employee", "Vernon Sly") <= _team(w, "Village Hall Heating")),
    ),
    Intent(
        "longest serving",
        "superlative_property",
        (
            "Which employee has the earliest start date?",
            "employee who started first",
            "Out of all the employees, who has been here the longest?",
        ),
        _longest_serving,
    ),
    Intent(
        "manages the most people",
        "superlative_count",
        (
            "Which employee manages the most people?",
            "manager with most direct reports",
            "Whose team is the biggest? I mean the one person that the most employees report to.",
        ),
        lambda w: highest(w.degrees("manager", "employee", by="target")),
    ),
    Intent(
        "pay of accountants",
        "aggregate",
        (
            "What is the average salary of the accountants?",
            "average salary accountants",
            "What does an accountant earn here on average?",
        ),
        _accountants_pay,
    ),
    Intent(
        "Gertrude Plimsoll",
        "unknown_name",
        (
            "Who is the manager of Gertrude Plimsoll?",
            "Gertrude Plimsoll manager",
            "I'm trying to get hold of whoever Gertrude Plimsoll reports to. Who's that?",
        ),
        lambda _: Refusal("unknown_name", "Gertrude Plimsoll"),
    ),
    Intent(
        "colour of the cherry picker",
        "not_here",
        (
            "What colour is the Cherry Picker?",
            "cherry picker colour",
            "I need to order touch-up paint. Which colour is the Cherry Picker?",
        ),
        lambda _: Refusal("not_here", "colour"),
    ),
    Intent(
        "not delivered",
        "property_missing",
        (
            "Which orders have no delivery date?",
            "orders without delivered on date",
            "Are there orders that haven't been delivered yet? Which?",
        ),
        lambda w: Nodes(w.lacking("order", "delivered_on")),
    ),
    Intent(
        "unpaid at Lampwick Lighting",
        "two_conditions",
        (
            "Which orders from Lampwick Lighting have not been paid?",
            "unpaid orders Lampwick Lighting",
            "What do we still owe Lampwick Lighting for? List the orders from them that aren't paid.",
        ),
        lambda w: Nodes(_orders_from(w, "Lampwick Lighting") & equal(w, "order", "paid", "false")),
    ),
    Intent(
        "orders for diesel",
        "shared_name",
        (
            "Which orders were for diesel?",
            "diesel orders",
            "I'd like to see every order where the thing we bought was diesel.",
        ),
        lambda w: Nodes(w.into("item", id_of(w, "item", "diesel"))),
    ),
)
