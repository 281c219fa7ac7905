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
