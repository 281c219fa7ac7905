"""Write the golden files anew: `PYTHONPATH=tests python -m golden.write [WORLD ...]`.

Without a world, all of them: the rankings, the questions, the help, the table of methods, and what models are shown.
Worlds of real data are written where the folder of it is there (ORIENTEER_DATA, else ../shared/data), else left as they
are. Read the diff before it is committed: whatever it shows has changed for whoever uses the methods or the command
line.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from golden import commands, quizzes, rankings
from golden.shown import shown
from golden.worlds import WORLDS

HERE = Path(__file__).parent
HELP, METHODS, SHOWN = HERE / "help.txt", HERE / "methods.json", HERE / "shown.txt"


def main(chosen: list[str]) -> None:
    """Write the chosen worlds, or everything."""
    data = Path(os.environ.get("ORIENTEER_DATA") or Path(__file__).parents[3] / "shared" / "data")
    for name in chosen or WORLDS:
        if WORLDS[name].is_data and not data.is_dir():
            sys.stderr.write(f"{name}: left as it is, there is no {data}\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines = rankings.rank(name, Path(folder), data)
        rankings.write(name, lines)
        sys.stderr.write(f"{name}: {len(lines)} lines\n")
    if not chosen:
        with tempfile.TemporaryDirectory() as folder:
            quizzes.write(Path(folder))
            SHOWN.write_text(shown(Path(folder)), encoding="utf-8")
        HELP.write_text(commands.help_tree(), encoding="utf-8")
        METHODS.write_text(commands.methods(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
