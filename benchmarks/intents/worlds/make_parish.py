"""Write the invented world of a parish council: eight ordinary relational tables, with foreign keys by id.

    python benchmarks/intents/worlds/make_parish.py

The names are written by hand; sizes, dates, prices and who works where are drawn with a fixed seed.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

RANDOM_SEED = 1895
FOLDER = Path(__file__).parent / "parish"
BUILDINGS = [
    "Wexcombe Hall",
    "Mill Lane Depot",
    "Old Corn Exchange",
    "Sorrel House",
    "Tithe Barn",
    "Pound Street Library",
    "Cemetery Lodge",
    "Quarry Yard",
    "Brook Pavilion",
]
STREETS = ["Market Place", "Mill Lane", "Pound Street", "Church Road", "Quarry Road", "Brook Lane"]
DEPARTMENTS = [
    "Highways",
    "Finance",
    "Parks and Gardens",
    "Planning",
    "Housing",
    "Library Services",
    "Waste Collection",
    "Cemeteries",
    "Communications",
]
EMPLOYEES = [
    "Abel Trussler",
    "Agnes Corfe",
    "Alan Dewhurst",
    "Amira Sahni",
    "Anton Pryce",
    "Beatrice Lovage",
    "Bernard Skelhorn",
    "Bridget Maw",
    "Callum Odger",
    "Carys Penhale",
    "Cecily Brandreth",
    "Colin Thwaite",
    "Daphne Urwin",
    "Declan Moxey",
    "Derek Hallam",
    "Dina Farouk",
    "Edith Sparrow",
    "Edmund Vale",
    "Elsie Nutley",
    "Esther Quill",
    "Fergus Blythe",
    "Fiona Garside",
    "Frank Ottaway",
    "Gareth Pugsley",
    "Gemma Rusk",
    "Grace Ainscough",
    "Harold Winch",
    "Hattie Crome",
    "Hugo Stanier",
    "Ida Belcher",
    "Imran Qazi",
    "Iris Chalke",
    "Jasper Holloway",
    "Joan Pike",
    "Jonas Eley",
    "Judith Marl",
    "Kavita Rao",
    "Keith Dunmore",
    "Kirsty Leal",
    "Laurence Figg",
    "Leonora Tull",
    "Lydia Stroud",
    "Malcolm Gaunt",
    "Maureen Tapp",
    "Miles Averill",
    "Nadia Kowal",
    "Neville Crouch",
    "Nora Pickup",
    "Olive Sheldrake",
    "Oscar Beamish",
    "Pansy Worrall",
    "Percy Lamb",
    "Priya Nair",
    "Quentin Ashby",
    "Ralph Dyer",
    "Rosalind Keep",
    "Rupert Mossop",
    "Sadie Fenn",
    "Samuel Orchard",
    "Sheila Grout",
    "Stanley Voss",
    "Tabitha Rowe",
    "Theo Larkin",
    "Una Metcalfe",
    "Vernon Sly",
    "Wanda Hoskin",
    "Winifred Ames",
    "Yusuf Demir",
    "Zelda Northcott",
    "Joan Pike",
]
TITLES = ["clerk", "clerk", "officer", "officer", "technician", "driver", "surveyor", "apprentice", "accountant"]
PROJECTS = [
    "Market Square Repaving",
    "Library Roof Repair",
    "Allotment Census",
    "River Footbridge",
    "Street Lamp Renewal",
    "Compost Scheme",
    "Bandstand Restoration",
    "Tithe Map Digitisation",
    "Flood Wall Survey",
    "Winter Gritting Review",
    "Playground Refit",
    "Parish Newsletter",
    "Empty Homes Register",
    "Wildflower Verges",
    "Bus Shelter Upgrade",
    "Cemetery Wall Rebuild",
    "Council Tax Helpdesk",
    "Skatepark Extension",
    "Recycling Bin Rollout",
    "Village Hall Heating",
    "Heritage Trail",
    "Boundary Stone Audit",
]
SUPPLIERS = [
    "Harrow & Dale Ltd",
    "Greenacre Nurseries",
    "Pell Brothers Paving",
    "Northfold Timber",
    "Cobb Electrical",
    "Lampwick Lighting",
    "Fenwright Print",
    "Stonehouse Aggregates",
    "Bluebell Stationers",
    "Rudge Plant Hire",
    "Oakshott Roofing",
    "Swale Software",
    "Tamsin Fuels",
    "Vicarage Joinery",
    "Dray & Sons Haulage",
    "Ironbridge Railings",
    "Penny Lane Catering",
]
TOWNS = ["Wexcombe", "Wexcombe", "Stoke Barrow", "Harlow Cross", "Thornley", "Market Ansty"]
ITEMS = [
    "paving slabs",
    "roof tiles",
    "rock salt",
    "wildflower seed",
    "printer paper",
    "LED lamps",
    "oak planks",
    "diesel",
    "safety boots",
    "wheelie bins",
    "software licence",
    "park benches",
    "cement",
    "sandwiches",
]
VEHICLES = [
    ("Old Faithful", "Bedford"),
    ("Sweeper One", "Scarab"),
    ("Sweeper Two", "Scarab"),
    ("Gritter Gladys", "Volvo"),
    ("Bin Lorry North", "Dennis"),
    ("Bin Lorry South", "Dennis"),
    ("The Bookmobile", "Mercedes"),
    ("Mower Van", "Ford"),
    ("Pool Car A", "Renault"),
    ("Pool Car B", "Renault"),
    ("Cherry Picker", "Iveco"),
    ("Flatbed", "Ford"),
]


def main() -> None:
    """Write all tables."""
    rng = random.Random(RANDOM_SEED)

    def some(value: object, share: float = 0.1, gap: str = "") -> object:
        """Return the value, or a gap for a share of the rows."""
        return gap if rng.random() < share else value

    def day(first: int, last: int) -> str:
        start = date(first, 1, 1)
        return str(start + timedelta(days=rng.randrange((date(last, 12, 31) - start).days)))

    def later(start: str, least: int, most: int) -> str:
        return str(date.fromisoformat(start) + timedelta(days=rng.randint(least, most)))

    buildings = [
        {
            "id": f"B{number}",
            "name": name,
            "street": rng.choice(STREETS),
            "floor_area_m2": rng.randrange(90, 2400, 10),
            "built": some(rng.randrange(1610, 2004)),
            "storeys": rng.randint(1, 4),
            "listed": rng.choice(["true", "false"]),
        }
        for number, name in enumerate(BUILDINGS, 1)
    ]
    departments = [
        {
            "id": f"D{number}",
            "name": name,
            "building_id": rng.choice(buildings[:7])["id"],
            "head_id": f"E{number:03}",
            "budget": f"{rng.randrange(80, 1900) * 1000} EUR",
            "phone_extension": 100 + 11 * number,
        }
        for number, name in enumerate(DEPARTMENTS, 1)
    ]
    order = EMPLOYEES[:-1]
    rng.shuffle(order)
    order.append(EMPLOYEES[-1])
    employees: list[dict[str, object]] = []
    seniors: dict[str, list[str]] = {}
    for number, name in enumerate(order, 1):
        id_ = f"E{number:03}"
        head = number <= len(DEPARTMENTS)
        department = departments[number - 1] if head else rng.choice(departments)
        above = seniors.setdefault(str(department["id"]), [])
        manager = "" if head else rng.choice(above)
        if len(above) < 3:
            above.append(id_)
        employees.append(
            {
                "id": id_,
                "name": name,
                "job_title": "head of department" if head else rng.choice(TITLES),
                "department_id": department["id"],
                "manager_id": manager,
                "started_on": day(1989, 2024),
                "salary": some(rng.randrange(19, 46) * 1000 + rng.randrange(10) * 100 + 30_000 * head, 0.07, "n/a"),
                "part_time": rng.choice(["yes", "no", "no"]),
                "email": f"{name.lower().replace(' ', '.')}{number if name == 'Joan Pike' else ''}@wexcombe.example",
            }
        )
    projects: list[dict[str, object]] = []
    for number, name in enumerate(PROJECTS, 1):
        start = day(2018, 2024)
        done = rng.random() < 0.45
        projects.append(
            {
                "id": f"P{number:02}",
                "name": name,
                "department_id": rng.choice(departments)["id"],
                "lead_id": rng.choice(employees)["id"],
                "site_id": some(rng.choice(buildings)["id"], 0.3),
                "budget": some(f"{rng.randrange(3, 400) * 500} EUR", 0.1, "n/a"),
                "start_date": start,
                "end_date": later(start, 60, 900) if done else "",
                "status": "completed" if done else rng.choice(["active", "active", "on hold", "cancelled"]),
            }
        )
    suppliers = [
        {
            "id": f"S{number:02}",
            "name": name,
            "town": rng.choice(TOWNS),
            "distance": some(f"{rng.randint(1, 68)} km"),
            "rating": some(round(rng.uniform(1.5, 5), 1)),
            "approved": rng.choice(["yes", "yes", "no"]),
            "founded": rng.randrange(1885, 2016),
        }
        for number, name in enumerate(SUPPLIERS, 1)
    ]
    orders: list[dict[str, object]] = []
    for number in range(1, 81):
        placed = day(2021, 2024)
        orders.append(
            {
                "id": f"O{1000 + number}",
                "supplier_id": rng.choice(suppliers[:15])["id"],
                "ordered_by": rng.choice(employees[::3])["id"],
                "project_id": some(rng.choice(projects)["id"], 0.2),
                "item": rng.choice(ITEMS),
                "quantity": rng.randint(1, 120),
                "amount_eur": round(rng.uniform(15, 9800), 2),
                "ordered_on": placed,
                "delivered_on": some(later(placed, 1, 70), 0.15),
                "paid": rng.choice(["true", "true", "false"]),
            }
        )
    pairs = sorted({(rng.randrange(len(employees)), rng.randrange(len(projects) - 1)) for _ in range(105)})
    assignments = [
        {
            "employee_id": employees[who]["id"],
            "project_id": projects[what]["id"],
            "hours_per_week": rng.randrange(2, 31, 2),
            "since": day(2019, 2024),
        }
        for who, what in pairs
    ]
    vehicles = [
        {
            "id": f"V{number}",
            "name": name,
            "make": make,
            "department_id": rng.choice(departments[:7])["id"],
            "garage_id": rng.choice(["B2", "B2", "B8", "B1"]),
            "fuel": rng.choice(["diesel", "diesel", "petrol", "electric"]),
            "mileage_km": some(rng.randrange(2_000, 260_000), 0.1, "n/a"),
            "weight": f"{rng.randrange(900, 17_500, 50)} kg",
            "bought_on": day(1996, 2023),
        }
        for number, (name, make) in enumerate(VEHICLES, 1)
    ]

    FOLDER.mkdir(exist_ok=True)
    tables = {
        "buildings": buildings,
        "departments": departments,
        "employees": employees,
        "projects": projects,
        "suppliers": suppliers,
        "orders": orders,
        "assignments": assignments,
        "vehicles": vehicles,
    }
    for name, rows in tables.items():
        with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
