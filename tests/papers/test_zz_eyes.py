import json
import pytest
from test_rewards import *
from orienteer.evaluation.rewards import item_of

TRY = {
 "comment": (ends("wrong", code("# 'Disease::DOID:10652' 'Gene::3064'\nprint(1)")), item("right")),
 "dup clues": (ends("wrong", code("x='Disease::DOID:10652'")), item("right", clues=(CLUES[0],CLUES[0]))),
 "~": (ends("~250"), item("250", kind="number")),
 ">": (ends(">250"), item("250", kind="number")),
 "25/0": (ends("25/0"), item("250", kind="number")),
 "24-9": (ends("24-9"), item("249", kind="number")),
 "25,0": (ends("25,0"), item("250", kind="number")),
 "1e": (ends("2.5e2"), item("250", kind="number")),
 "!True": (ends("!True"), item("True", kind="boolean")),
 "not-True": (ends("not-True"), item("True", kind="boolean")),
 "json": (ends('["Salt","Pepper"]'), item("Salt")),
 "json1": (ends('["Salt"]'), item("Salt")),
 "jsonset": (ends('["Salt","Night Ferry"]'), item("Salt","Night Ferry",kind="set")),
 "setrep": (ends("Salt, SALT, salt, Night Ferry"), item("Salt","Night Ferry",kind="set")),
 "setsup": (ends("Salt, Night Ferry, A1, B1"), item("Salt","Night Ferry",kind="set")),
 "emoji": (ends("Salt, Night Ferry, ---, +++"), item("Salt","Night Ferry",kind="set")),
 "no answers": (ends("x"), item()),
 "no answers set": (ends("x"), item(kind="set")),
 "C": (ends("C+"), item("C")),
 "alpha": (ends("A1"), item("A-1")),
 "neg": (ends("5"), item("-5")),
 "neg2": (ends("Factor 5"), item("Factor -5")),
 "plus": (ends("CD4"), item("CD4+")),
 "prime": (ends("2 deoxy"), item("2'-deoxy")),
 "apostr": (ends("a b"), item("a/b")),
 "perc": (ends("10"), item("10%")),
}
@pytest.mark.parametrize("name", TRY)
def test_try(name):
    t, of = TRY[name]
    out=[]
    for mode in ("paper","strict"):
        try:
            r=reward(t,of,mode=mode); out.append((round(r.answer,3),r.clues,round(r.total,3)))
        except Exception as e: out.append(repr(e)[:80])
    print("\nTRY",name,out)
