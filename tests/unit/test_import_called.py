"""What the rows of tables are called: by the id that is called as they are, and by the noun that heads it."""

from orienteer import Retriever
from orienteer.ingest import import_graph

CLASSES = "Class;Form teacher;Room\n5A;Mrs Lind;12\n5B;Mr Kerr;14\n7A;Ms Ode;21\n7B;Mr Kerr;23\n"
CLUBS = "Club;Day;Led by\nChess;Monday;Mr Kerr\nChoir;Tuesday;Mrs Lind\nRobotics;Monday;Ms Ode\n"
PUPILS = "Pupil ID;Name;Class\nP1;Ada Moss;5A\nP2;Ben Irving;7B\nP3;Cid Stone;7B\n"
SIGNUPS = "Pupil ID;Club\nP1;Chess\nP1;Choir\nP2;Robotics\n"


def test_rows_are_called_by_the_id_that_has_their_name_and_clubs_are_clubs_in_a_file_of_more(tmp_path):
    tables = {"Classes": CLASSES, "Clubs & activities": CLUBS, "Pupils": PUPILS, "signups": SIGNUPS}
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    import_graph([tmp_path], tmp_path / "school")
    ask = Retriever(tmp_path / "school").ask
    assert ask("Which pupils are in class 5A?").answer == "Ada Moss"
    assert ask("Who is the form teacher of 7B?").answer == "Mr Kerr"
    assert ask("How many classes does each form teacher have?").answer == "Mr Kerr: 2; Mrs Lind: 1; Ms Ode: 1"
    assert ask("How many pupils are in each class?").answer == "7B: 2; 5A: 1"
    assert ask("Which clubs does Ada Moss attend?").answer == "Chess, Choir"
    assert ask("How many clubs are there?").answer == "3"


def test_a_year_in_the_name_of_a_file_is_no_part_of_what_its_rows_are_called(tmp_path):
    (tmp_path / "statement_2026.csv").write_text("Date,What,Amount\n2026-03-01,Rent,850\n2026-03-02,Tea,4\n")
    import_graph([tmp_path / "statement_2026.csv"], tmp_path / "bank")
    bank = Retriever(tmp_path / "bank")
    result = bank.ask("Which statement has the highest amount?")
    assert (result.answer, result.reading.text) == ("Rent", "most by Amount of statement")
    assert bank.graph.schema.node_types == {"statement_2026": 2}  # as before: keys of kept graphs do not change
    for year in (2025, 2026):
        (tmp_path / "two" / f"results_{year}.csv").parent.mkdir(exist_ok=True)
        (tmp_path / "two" / f"results_{year}.csv").write_text(
            f"Team,{'Points' if year == 2025 else 'Goals'}\nA,1\nB,2\n"
        )
    import_graph([tmp_path / "two"], tmp_path / "league")
    types = Retriever(tmp_path / "league").graph.schema
    assert len({types.label(name) for name in types.node_types}) == len(types.node_types)
