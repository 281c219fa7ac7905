"""Three folders as people have them, and what is true of each document: mail, notes with front matter, office files.

Each function writes a folder and returns a row for each document. The truths of questions are computed from these rows,
never from what the product reads.
"""

from __future__ import annotations

import zipfile
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

import openpyxl
import pandas as pd

import office_files as office

_PEOPLE = {
    "anna": "Anna Berger <anna.berger@lindencourt.example>",
    "tomas": "Tomas Lind <tomas@lindencourt.example>",
    "priya": "Priya Nair <priya.nair@lindencourt.example>",
    "joe": "Joe Marsh <joe.marsh@post.example>",
    "hollis": "Hollis Heating <service@hollis.example>",
    "ruth": "Ruth Adeyemi <ruth@adeyemi-roofing.example>",
}
# thread: (sender, receivers, copies, date, text, attachment) of each mail, which answers the one before
_THREADS: dict[str, list[tuple[str, str, str, str, str, str]]] = {
    "Boiler in the cellar": [
        ("priya", "anna", "", "2017-11-06 07:42", "The radiators are cold again, and the boiler makes a noise.", ""),
        ("anna", "hollis", "priya", "2017-11-06 09:10", "Our boiler fails every night. Can you come this week?", ""),
        ("hollis", "anna", "", "2017-11-07 08:30", "We come on Thursday at ten. Please clear the cellar.", ""),
        ("hollis", "anna", "tomas", "2017-11-10 16:05", "The pump was worn and is replaced.", "invoice-4411.txt"),
        ("anna", "priya tomas", "", "2017-11-11 12:00", "The heating is back. I will pay the firm on Monday.", ""),
    ],
    "Roof above the east wing": [
        ("tomas", "anna", "", "2018-01-15 18:20", "Water comes through the ceiling of the third floor.", ""),
        ("anna", "ruth", "tomas", "2018-01-16 08:15", "Could you look at the slates, and tell us a price?", ""),
        ("ruth", "anna", "", "2018-01-22 10:40", "Forty slates are broken; a scaffolding is needed.", "quote.txt"),
        ("anna", "tomas priya joe", "", "2018-01-23 09:00", "The insurance pays half of the scaffolding.", ""),
        ("joe", "anna", "", "2018-01-24 21:13", "Half of it is still a lot. Is there a second offer?", ""),
        ("ruth", "anna", "", "2018-04-17 07:55", "We start on Monday; the scaffolding stays two weeks.", ""),
        ("tomas", "ruth", "anna", "2018-05-04 17:30", "It rained all night and the ceiling is dry. Thank you.", ""),
    ],
    "Parking spaces in the yard": [
        ("joe", "anna", "tomas", "2018-02-12 19:45", "A van has stood on my space for three days.", ""),
        ("tomas", "joe", "anna", "2018-02-12 20:02", "It belongs to the painters. I will ask them.", ""),
        ("anna", "joe tomas", "", "2018-02-13 08:05", "I had numbers painted on the ground.", ""),
        ("joe", "anna", "", "2018-06-08 22:10", "Somebody is on number four again.", ""),
    ],
    "Annual meeting": [
        ("anna", "tomas priya joe", "", "2018-03-01 10:00", "We meet on 22 March at seven in the hall.", "agenda.txt"),
        ("priya", "anna", "", "2018-03-02 09:31", "I would like to speak about the insurance.", ""),
        ("joe", "anna", "", "2018-03-05 23:02", "I am away on that day. Priya may vote for me.", ""),
        ("anna", "tomas priya joe", "", "2018-03-26 11:20", "Here are the minutes of the meeting.", "minutes.txt"),
    ],
    "Stairwell lights": [
        ("priya", "tomas", "", "2018-03-19 20:40", "Two of the lamps on the second floor are dark.", ""),
        ("tomas", "priya", "", "2018-03-20 07:15", "I have bulbs at home and change them tonight.", ""),
        ("priya", "tomas", "anna", "2018-04-03 21:05", "The upper one flickers. Is it the switch?", ""),
        ("tomas", "priya", "", "2018-04-04 18:50", "It was the switch. It is new now.", ""),
    ],
    "Garden day": [
        ("anna", "tomas priya joe", "", "2018-04-09 09:00", "Who helps with the hedge on the first of May?", ""),
        ("priya", "anna", "", "2018-04-09 12:25", "I bring gloves, and a cake.", ""),
        ("anna", "tomas priya joe", "", "2018-05-02 10:10", "Thank you all. The roses are cut.", ""),
    ],
    "Water meter reading": [
        ("tomas", "anna", "", "2018-06-01 08:00", "The meter says 4182 cubic metres.", ""),
    ],
    "Fibre for the house": [
        ("joe", "anna tomas", "", "2018-06-11 20:20", "A company offers fibre to each flat.", "offer.txt"),
        ("tomas", "joe", "anna", "2018-06-12 07:40", "Who drills through the walls, and who pays?", ""),
        ("joe", "tomas", "anna", "2018-06-12 19:15", "They drill. It costs nothing until 2019.", ""),
        ("anna", "joe tomas priya", "", "2018-06-25 09:30", "I signed. The insurance has been informed.", ""),
        ("priya", "anna", "", "2018-09-14 08:10", "It works, and it is fast.", ""),
    ],
    "Bicycle left in the hall": [
        ("priya", "tomas", "", "2018-07-03 22:00", "A red bicycle blocks the door to the cellar.", ""),
        ("tomas", "priya", "", "2018-07-04 07:05", "It was mine. Sorry, it is gone.", ""),
    ],
    "Chimney sweep": [
        ("hollis", "anna", "", "2018-08-20 10:00", "The boiler must be inspected every autumn.", ""),
        ("anna", "hollis", "", "2018-08-21 08:45", "Please come in the first week of October.", ""),
        ("hollis", "anna", "", "2018-10-05 15:30", "All is in order; the certificate is attached.", "certificate.txt"),
    ],
    "Key to the loft": [
        ("joe", "tomas", "", "2018-09-28 18:00", "My antenna is up there. Do you have the key?", ""),
        ("tomas", "joe", "", "2018-09-28 18:30", "It hangs beside my door. Bring it back, please.", ""),
    ],
    "Snow": [
        ("anna", "tomas priya joe", "", "2018-11-19 08:00", "Who clears the path in December?", ""),
        ("tomas", "anna", "", "2018-11-19 12:12", "I do the first two weeks.", ""),
        ("priya", "anna", "", "2018-11-20 19:41", "I take the others. The boiler man may slip!", ""),
    ],
}


def write_mail(folder: Path) -> pd.DataFrame:
    """Write a Maildir; return file, sender, receivers, copies, date, subject, thread, text and attachment of each."""
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True)
    rows = []
    for thread, mails in _THREADS.items():
        before = ""
        for at, (sender, receivers, copies, date, text, attached) in enumerate(mails):
            mail, number = EmailMessage(), len(rows) + 1
            own = f"<{number:04d}.lc@lindencourt.example>"
            mail["From"] = _PEOPLE[sender]
            mail["To"] = ", ".join(_PEOPLE[one] for one in receivers.split())
            if copies:
                mail["Cc"] = ", ".join(_PEOPLE[one] for one in copies.split())
            mail["Date"] = format_datetime(pd.Timestamp(date, tz="UTC").to_pydatetime())
            mail["Subject"] = f"Re: {thread}" if at else thread
            mail["Message-ID"] = own
            if before:
                mail["In-Reply-To"] = before
            mail.set_content(f"{text}\n")
            if attached:
                mail.add_attachment(f"{thread}\n", filename=attached)
            name = f"cur/{1500000000 + number}.M{number}.linden:2,S"
            (folder / name).write_bytes(mail.as_bytes())
            rows.append((name, sender, receivers, copies, date, mail["Subject"], thread, text, attached))
            before = own
    columns = ["file", "sender", "receivers", "copies", "date", "subject", "thread", "text", "attachment"]
    return pd.DataFrame(rows, columns=columns).assign(date=lambda frame: pd.to_datetime(frame.date))


_NOTES = [
    ("sourdough", "Sourdough", "Ines Holt", "2021-02-14", "baking bread", "done", "Rye and wheat flour, and a week."),
    ("rye-loaf", "Dark rye loaf", "Ines Holt", "2022-11-05", "baking bread", "done", "Rye alone; bake it long."),
    ("buns", "Cardamom buns", "Ola Strand", "2020-12-19", "baking", "done", "Wheat flour, butter, cardamom."),
    ("compost", "Composting", "Ola Strand", "2021-04-03", "garden", "done", "Leaves, peel, and no meat."),
    (
        "greenhouse",
        "The greenhouse",
        "Ola Strand",
        "2022-03-27",
        "garden",
        "draft",
        "Panes of the greenhouse are thin.",
    ),
    ("tomatoes", "Tomatoes", "Ines Holt", "2022-05-15", "garden", "done", "They move to the greenhouse in May."),
    ("beans", "Climbing beans", "Mette Dahl", "2023-06-02", "garden", "done", "A pole for each three plants."),
    ("hedge", "Cutting the hedge", "Ola Strand", "2023-08-21", "garden", "draft", "Not before the birds have left."),
    ("tromso", "Trip to Tromsø", "Mette Dahl", "2022-02-09", "travel", "done", "Four nights of northern lights."),
    ("lisbon", "A week in Lisbon", "Ines Holt", "2019-10-30", "travel", "done", "Trams, tiles and custard tarts."),
    ("harz", "Walking in the Harz", "Ola Strand", "2023-09-17", "travel", "draft", "Three huts, and much rain."),
    ("budget", "Household budget", "Mette Dahl", "2023-01-08", "money", "done", "Rent, heating, and a reserve."),
    (
        "insulation",
        "Insulating the attic",
        "Mette Dahl",
        "2021-09-12",
        "house",
        "done",
        "Wood fibre between the beams.",
    ),
    ("bike", "Servicing the bicycle", "Ines Holt", "2020-04-26", "house", "done", "Chain, brakes and the bearings."),
    ("paint", "Painting the kitchen", "Ola Strand", "2022-08-13", "house", "done", "Two coats of chalk paint."),
    ("pasta", "Fresh pasta", "Ines Holt", "2023-03-11", "cooking", "done", "Wheat semolina and eggs."),
    ("soup", "Fish soup", "Mette Dahl", "2020-01-25", "cooking", "done", "Cod, fennel, and rye bread beside it."),
    ("jam", "Plum jam", "Ines Holt", "2021-08-29", "cooking", "draft", "Less sugar next time."),
]


def write_notes(folder: Path) -> pd.DataFrame:
    """Write notes in Markdown; return file, title, author, date, tags, status and text of each."""
    folder.mkdir(parents=True)
    for name, title, author, date, tags, status, text in _NOTES:
        tagged = ", ".join(tags.split())
        front = f"title: {title}\nauthor: {author}\ndate: {date}\ntags: [{tagged}]\nstatus: {status}"
        (folder / f"{name}.md").write_text(f"---\n{front}\n---\n\n{text}\n", encoding="utf-8")
    frame = pd.DataFrame(_NOTES, columns=["file", "title", "author", "date", "tags", "status", "text"])
    return frame.assign(file=frame.file + ".md", date=pd.to_datetime(frame.date))


_OFFICE = [
    # file, title, author, created, modified, text
    ("safety/fire_plan_v1.docx", "Fire plan", "Rosa Diaz", "2021-03-02", "2021-03-04", "Assembly point: the car park."),
    ("safety/fire_plan_v2.docx", "Fire plan", "Rosa Diaz", "2022-05-10", "2022-05-11", "Assembly point: the lawn."),
    ("safety/fire_plan_v3_final.docx", "Fire plan", "Liam Kerr", "2024-01-15", "2024-01-16",
     "Assembly point: the lawn. The sprinklers are tested in June."),
    ("safety/evacuation.pdf", "Evacuation of the workshop", "Liam Kerr", "2023-02-20", "",
     "Walk to the assembly point."),
    ("safety/sprinklers.pdf", "Sprinkler test", "Nadia Osman", "2024-06-18", "", "All sprinklers of hall two work."),
    ("contracts/lease.pdf", "Lease of the workshop", "Nadia Osman", "2019-09-01", "", "Rosa Diaz rents hall two."),
    ("contracts/cleaning.docx", "Cleaning contract", "Nadia Osman", "2020-11-23", "2020-11-23",
     "Twice a week, at night."),
    ("contracts/insurance.pdf", "Insurance policy", "Corva Mutual", "2022-12-01", "", "Fire and water are covered."),
    ("prices/price_list_2022.xlsx", "Price list 2022", "Liam Kerr", "2021-12-14", "2021-12-15", "Oak table"),
    ("prices/price_list_2023.xlsx", "Price list 2023", "Liam Kerr", "2022-12-12", "2022-12-13", "Ash bench"),
    ("prices/price_list_2024.xlsx", "Price list 2024", "Rosa Diaz", "2023-12-11", "2023-12-19", "Elm stool"),
    ("minutes/minutes_2023-10-04.docx", "Minutes of October", "Rosa Diaz", "2023-10-05", "2023-10-05",
     "Liam Kerr reports on the saw."),
    ("minutes/minutes_2024-02-07.docx", "Minutes of February", "Nadia Osman", "2024-02-08", "2024-02-09",
     "The saw is repaired. Rosa Diaz orders blades."),
    ("manual.pdf", "Manual of the band saw", "Brandt Machines", "2017-05-30", "", "Tighten the blade before each use."),
]  # fmt: skip


def write_office(folder: Path) -> pd.DataFrame:
    """Write Word files, workbooks and PDFs; return file, title, author, created, modified, text and kind of each."""
    for name, title, author, created, modified, text in _OFFICE:
        path, made = folder / name, pd.Timestamp(f"{created} 10:00")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".pdf":
            about = f"{title}) /Author ({author}) /CreationDate (D:{made:%Y%m%d%H%M%S}Z"
            office.pdf(path, f"{title}\n{text}", title=about)
            continue
        if path.suffix == ".docx":
            office.docx(path, body=office.paragraph(text))
        else:
            book = openpyxl.Workbook()
            for row in (("Item", "Price"), (text, 40), ("Pine box", 15), ("Peg", 1)):
                book.active.append(row)
            book.save(path)
        _describe(path, title, author, created, modified)
    frame = pd.DataFrame(_OFFICE, columns=["file", "title", "author", "created", "modified", "text"])
    kinds = frame.file.str.rsplit(".", n=1).str[-1]
    return frame.assign(kind=kinds, created=pd.to_datetime(frame.created), modified=pd.to_datetime(frame.modified))


_CORE = """<?xml version='1.0'?><cp:coreProperties
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>{}</dc:title><dc:creator>{}</dc:creator><dcterms:created>{}T10:00:00Z</dcterms:created>
<dcterms:modified>{}T10:00:00Z</dcterms:modified></cp:coreProperties>"""
_RELATION = """<Relationship Id="core" Target="docProps/core.xml"
 Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"/></Relationships>"""


def _describe(path: Path, *about: str) -> None:
    """Write the title, the author, and the days of creation and change into an Office file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if "docProps/core.xml" not in parts:
        parts["_rels/.rels"] = parts["_rels/.rels"].replace(b"</Relationships>", _RELATION.encode())
    parts["docProps/core.xml"] = _CORE.format(*about).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
