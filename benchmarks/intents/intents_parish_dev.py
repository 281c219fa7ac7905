"""Questions about the parish that whoever builds the reader may look at."""

from __future__ import annotations

from .frames import Frames, chosen
from .intent import Intent, Nodes, Number, Refusal, Values, YesNo
from .parish_tables import equal, id_of, leading, number_of, numbers, text_of
from .world_tables import highest


def _team(w: Frames, project: str) -> frozenset[str]:
    return w.into("assignments", id_of(w, "project", project))


def _staff(w: Frames, department: str) -> frozenset[str]:
    return leading(w, "employee", "department", id_of(w, "department", department))


def _orders_from(w: Frames, supplier: str) -> frozenset[str]:
    return w.into("supplier", id_of(w, "supplier", supplier))


def _larger(w: Frames, one: str, other: str) -> Nodes:
    areas = numbers(w, "building", "floor_area_m2")
    return highest(areas[sorted(id_of(w, "building", one, other))])


INTENTS = (
    Intent(
        "projects of Rupert Mossop",
        "one_hop",
        (
            "Which projects has Rupert Mossop been assigned to?",
            "Rupert Mossop assignments",
            "So what has Rupert Mossop got on his plate, project-wise? I mean those he is assigned to.",
        ),
        lambda w: Nodes(w.out("assignments", id_of(w, "employee", "Rupert Mossop"))),
    ),
    Intent(
        "team of the playground refit",
        "reversed_hop",
        (
            "Which employees are working on the Playground Refit?",
            "people on Playground Refit",
            "I'd like to know who all is helping out with the Playground Refit.",
        ),
        lambda w: Nodes(_team(w, "Playground Refit")),
    ),
    Intent(
        "manager of Percy Lamb",
        "one_hop",
        (
            "Who is Percy Lamb's manager?",
            "percy lamb boss",
            "Who does Percy Lamb report to, do you know?",
        ),
        lambda w: Nodes(w.out("manager", id_of(w, "employee", "Percy Lamb"))),
    ),
    Intent(
        "reports of Keith Dunmore",
        "reversed_hop",
        (
            "Which employees are managed by Keith Dunmore?",
            "direct reports Keith Dunmore",
            "Tell me who Keith Dunmore is the line manager of.",
        ),
        lambda w: Nodes(w.into("manager", id_of(w, "employee", "Keith Dunmore"))),
    ),
    Intent(
        "department with the bookmobile",
        "partial_name",
        (
            "To which department does the Bookmobile belong?",
            "bookmobile department",
            "What about the Bookmobile, which department has got that one?",
        ),
        lambda w: Nodes(w.out("department", id_of(w, "vehicle", "The Bookmobile"))),
    ),
    Intent(
        "suppliers of the heritage trail",
        "two_hops",
        (
            "From which suppliers were goods ordered for the Heritage Trail project?",
            "suppliers of orders for Heritage Trail",
            "The Heritage Trail had some orders put in for it. Which suppliers did those go to?",
        ),
        lambda w: Nodes(w.out("supplier", w.into("project", id_of(w, "project", "Heritage Trail")))),
    ),
    Intent(
        "head of Percy Lamb's department",
        "possessive",
        (
            "Who is the head of Percy Lamb's department?",
            "percy lamb's department's head",
            "I need whoever runs the department that Percy Lamb is in.",
        ),
        lambda w: Nodes(w.out("head", w.out("department", id_of(w, "employee", "Percy Lamb")))),
    ),
    Intent(
        "on the bus shelters and the skatepark",
        "intersection_names",
        (
            "Which employees work on both the Bus Shelter Upgrade and the Skatepark Extension?",
            "staff on Bus Shelter Upgrade and Skatepark Extension",
            "Is there anyone who's got a hand in the Bus Shelter Upgrade as well as the Skatepark Extension? Who?",
        ),
        lambda w: Nodes(_team(w, "Bus Shelter Upgrade") & _team(w, "Skatepark Extension")),
    ),
    Intent(
        "highways people on recycling bins",
        "intersection_verbs",
        (
            "Which employees of the Highways department are assigned to the Recycling Bin Rollout?",
            "Highways staff assigned to Recycling Bin Rollout",
            "I'm after anyone who belongs to Highways and does work for the Recycling Bin Rollout.",
        ),
        lambda w: Nodes(_staff(w, "Highways") & _team(w, "Recycling Bin Rollout")),
    ),
    Intent(
        "cemeteries projects not cancelled",
        "negation",
        (
            "Which projects of the Cemeteries department have not been cancelled?",
            "Cemeteries projects except cancelled",
            "Of the projects that Cemeteries runs, which ones weren't cancelled?",
        ),
        lambda w: Nodes(
            leading(w, "project", "department", id_of(w, "department", "Cemeteries"))
            - w.into("status", id_of(w, "status", "cancelled"))
        ),
    ),
    Intent(
        "number of people in finance",
        "count_hop",
        (
            "How many employees are there in the Finance department?",
            "Finance headcount: number of employees",
            "Just how many people have they got working in Finance?",
        ),
        lambda w: Number(len(_staff(w, "Finance"))),
    ),
    Intent(
        "number of suppliers",
        "count_kind",
        (
            "How many suppliers are on record?",
            "number of suppliers",
            "Can you tell me how many suppliers we've got altogether?",
        ),
        lambda w: Number(len(w.all("supplier"))),
    ),
    Intent(
        "on more than three projects",
        "threshold",
        (
            "Which employees are assigned to more than three projects?",
            "employees with over 3 projects assigned",
            "Anyone overloaded? I mean people who've been put on more than three projects.",
        ),
        lambda w: Nodes(
            chosen(w.degrees("assignments", "employee"), w.degrees("assignments", "employee") > 3),
        ),
    ),
    Intent(
        "salary of Priya Nair",
        "property_lookup",
        (
            "What is the salary of Priya Nair?",
            "priya nair salary",
            "How much does Priya Nair get paid?",
        ),
        lambda w: Number(number_of(w, "employee", "Priya Nair", "salary")),
    ),
    Intent(
        "salaries over 60,000",
        "property_compare",
        (
            "Which employees have a salary of more than 60,000?",
            "employees salary > 60000",
            "Who earns over 60,000 here?",
        ),
        lambda w: Nodes(chosen(numbers(w, "employee", "salary"), numbers(w, "employee", "salary") > 60_000)),
    ),
    Intent(
        "built 1790 to 1850",
        "property_range",
        (
            "Which buildings were built between 1790 and 1850?",
            "buildings built 1790-1850",
            "I'd like a list of the buildings that went up from 1790 to 1850.",
        ),
        lambda w: Nodes(chosen(numbers(w, "building", "built"), numbers(w, "building", "built").between(1790, 1850))),
    ),
    Intent(
        "barn or house",
        "comparison",
        (
            "Which has the larger floor area, Tithe Barn or Sorrel House?",
            "larger floor area: tithe barn vs sorrel house",
            "If you compare Tithe Barn with Sorrel House, which of the two has more floor area?",
        ),
        lambda w: _larger(w, "Tithe Barn", "Sorrel House"),
    ),
    Intent(
        "is Quarry Yard listed",
        "yes_no",
        (
            "Is Quarry Yard a listed building?",
            "quarry yard listed?",
            "Would you happen to know whether Quarry Yard is listed?",
        ),
        lambda w: YesNo(text_of(w, "building", "Quarry Yard", "listed") == {"true"}),
    ),
    Intent(
        "heaviest vehicle",
        "superlative_property",
        (
            "Which vehicle has the greatest weight?",
            "heaviest vehicle",
            "Out of all our vehicles, which one weighs the most?",
        ),
        lambda w: highest(numbers(w, "vehicle", "weight")),
    ),
    Intent(
        "department with most vehicles",
        "superlative_count",
        (
            "Which department has the most vehicles?",
            "department most vehicles",
            "Who's got the biggest fleet? Tell me which department has the largest number of vehicles.",
        ),
        lambda w: highest(w.degrees("department", "department", by="target", among=w.all("vehicle"))),
    ),
    Intent(
        "spent with Oakshott Roofing",
        "aggregate",
        (
            "What is the total amount of all orders placed with Oakshott Roofing?",
            "total amount orders Oakshott Roofing",
            "Add up the orders we've had from Oakshott Roofing for me: what do the amounts come to?",
        ),
        lambda w: Number(
            float(numbers(w, "order", "amount_eur")[sorted(_orders_from(w, "Oakshott Roofing"))].sum()), 0.01
        ),
    ),
    Intent(
        "lido",
        "unknown_name",
        (
            "Which employees are assigned to the Lido Renovation?",
            "Lido Renovation team",
            "Who all works on the Lido Renovation these days?",
        ),
        lambda _: Refusal("unknown_name", "Lido Renovation"),
    ),
    Intent(
        "discounts",
        "not_understood",
        (
            "Which suppliers offer a discount?",
            "suppliers with discount",
            "Do any of the suppliers give us a discount, and if so which?",
        ),
        lambda _: Refusal("not_understood", "discount"),
        (lambda _: Refusal("not_here", "discount"),),
    ),
    Intent(
        "birthday",
        "not_here",
        (
            "What is the birthday of Frank Ottaway?",
            "frank ottaway birthday",
            "We want to bake a cake for Frank Ottaway; when is his birthday?",
        ),
        lambda _: Refusal("not_here", "birthday"),
    ),
    Intent(
        "no salary on record",
        "property_missing",
        (
            "Which employees have no salary recorded?",
            "employees without salary",
            "For which employees is the salary missing? Give me their names.",
        ),
        lambda w: Nodes(w.lacking("employee", "salary")),
    ),
    Intent(
        "suppliers not approved",
        "property_equals",
        (
            "Which suppliers are not approved?",
            "unapproved suppliers",
            "Are there any suppliers that haven't been approved, and which are they?",
        ),
        lambda w: Nodes(equal(w, "supplier", "approved", "no")),
    ),
    Intent(
        "electric at Mill Lane Depot",
        "two_conditions",
        (
            "Which electric vehicles are kept at Mill Lane Depot?",
            "electric vehicles garage Mill Lane Depot",
            "Have we got any vehicles at Mill Lane Depot that run on electric? Which ones?",
        ),
        lambda w: Nodes(
            w.into("fuel", id_of(w, "fuel", "electric")) & w.into("garage", id_of(w, "building", "Mill Lane Depot"))
        ),
    ),
    Intent(
        "led by Worrall or Stanier",
        "disjunction",
        (
            "Which projects are led by Pansy Worrall or Hugo Stanier?",
            "projects lead Pansy Worrall or Hugo Stanier",
            "Show me anything that has either Pansy Worrall or Hugo Stanier as its project lead.",
        ),
        lambda w: Nodes(w.into("lead", id_of(w, "employee", "Pansy Worrall", "Hugo Stanier"))),
    ),
    Intent(
        "projects of both Joan Pikes",
        "shared_name",
        (
            "Which projects is Joan Pike assigned to?",
            "joan pike projects assigned",
            "What projects do they have Joan Pike working on?",
        ),
        lambda w: Nodes(w.out("assignments", w.named("Joan Pike", kind="employee"))),
    ),
    Intent(
        "when the mower van was bought",
        "property_lookup",
        (
            "On what date was the Mower Van bought?",
            "mower van purchase date",
            "When did we get the Mower Van? I mean the day it was bought.",
        ),
        lambda w: Values(text_of(w, "vehicle", "Mower Van", "bought_on")),
    ),
)
