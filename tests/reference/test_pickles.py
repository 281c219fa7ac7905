"""Pickles and tensors read without running them: equal to Python's own reading, and deaf to all that wants to run."""

import builtins
import collections
import io
import os
import pickle
import pickletools
import struct
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import orienteer.lab.formats
import orienteer.sandbox
from orienteer.errors import BadInput
from orienteer.lab.formats import load_pickle, pickle_items, read_tensor
from torch_files import REAL, archive, tensor_pickle, torch_file

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=9)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
PROTOCOLS = pytest.mark.parametrize("protocol", [2, 3, 4, 5])


@pytest.fixture
def written(tmp_path):
    """Give a function that writes bytes, or a value as a pickle, and returns the path."""

    def write(content, protocol=4):
        path = tmp_path / "x.pkl"
        path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
        return path

    return write


@settings(max_examples=30, deadline=None)
@given(VALUES, st.sampled_from([2, 3, 4, 5]))
def test_plain_values_are_read_as_python_reads_them(tmp_path_factory, value, protocol):
    path = tmp_path_factory.mktemp("p") / "x.pkl"
    path.write_bytes(pickle.dumps(value, protocol))
    assert load_pickle(path) == value


@PROTOCOLS
def test_what_numpy_and_the_standard_library_add(written, protocol):
    value = {
        "text": np.str_("Acme"),
        "whole": np.int64(-3),
        "real": np.float32(1.5),
        "truth": np.bool_(True),
        "table": np.arange(6, dtype=">i4").reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "words": np.array(["x", "yy"]),
        "objects": np.array(["a", 1, None], dtype=object),
        "empty": np.zeros(0),
        "pair": (1, "b"),
        "set": {"b", "a"},
        "frozen": frozenset({2, 1}),
        "ordered": collections.OrderedDict(z=1, a=2),
        "bytes": b"\xc3\xa9",
        "none": b"",
        "array": bytearray(b"q"),
    }
    assert load_pickle(written(value, protocol)) == {
        "text": "Acme",
        "whole": -3,
        "real": 1.5,
        "truth": True,
        "table": [[0, 1, 2], [3, 4, 5]],
        "columns": [[0, 1, 2], [3, 4, 5]],
        "words": ["x", "yy"],
        "objects": ["a", 1, None],
        "empty": [],
        "pair": [1, "b"],
        "set": ["a", "b"],
        "frozen": [1, 2],
        "ordered": {"z": 1, "a": 2},
        "bytes": "é",
        "none": "",
        "array": "q",
    }


@PROTOCOLS
def test_members_come_one_by_one(written, protocol):
    shared = ["red", "blue"]
    value = {number: {"name": f"n{number}", "color": shared, "x": number / 2} for number in range(2500)}
    found = pickle_items(written(value, protocol))
    assert next(found) == ("0", {"name": "n0", "color": ["red", "blue"], "x": 0.0})
    assert dict(found) == {str(number): one for number, one in value.items() if number}


def test_something_else_than_one_dictionary_has_no_members(written):
    with pytest.raises(BadInput, match="something else than one dictionary"):
        list(pickle_items(written([{"a": 1}])))


# ------------------------------------------------------------------------------------------------------ hostile files


class Runs:
    """Pickles as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def _chain():
    """`getattr(__import__("os"), "system")("...")`, every step of which is a call."""
    imported = b"cbuiltins\n__import__\n(X\x02\x00\x00\x00ostR"
    return b"\x80\x02cbuiltins\ngetattr\n(" + imported + b"X\x06\x00\x00\x00systemtR(X\x01\x00\x00\x00xtR."


CALLS = {
    "os.system": pickle.dumps(Runs(os.system, ("touch SENTINEL",)), 4),
    "os.system, protocol 2": pickle.dumps(Runs(os.system, ("touch SENTINEL",)), 2),
    "eval": pickle.dumps(Runs(eval, ("open('SENTINEL', 'w')",)), 4),
    "exec": pickle.dumps(Runs(exec, ("open('SENTINEL', 'w')",)), 2),
    "open": pickle.dumps(Runs(builtins.open, ("SENTINEL", "w")), 4),
    "getattr chain": _chain(),
    "operator": b"\x80\x04\x8c\x08operator\x8c\x0aattrgetter\x93\x8c\x06system\x85R.",
    "dotted name": b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.__init__\x93.",
    "numpy's runstring": b"\x80\x02cnumpy.testing._private.utils\nrunstring\n(X\x01\x00\x00\x00x}tR.",
    "numpy's load": b"\x80\x02cnumpy\nload\n(X\x01\x00\x00\x00xtR.",
    "torch's load": b"\x80\x02ctorch\nload\n(X\x01\x00\x00\x00xtR.",
    "a storage's own loading": b"\x80\x02ctorch.storage\n_load_from_bytes\n(C\x01xtR.",
    "inside a dictionary": pickle.dumps({0: {"name": Runs(os.system, ("touch SENTINEL",))}}, 4),
}
INSTRUCTIONS = {
    "INST": b"\x80\x02(X\x0e\x00\x00\x00touch SENTINELios\nsystem\n.",
    "OBJ": b"\x80\x02(cos\nsystem\nX\x0e\x00\x00\x00touch SENTINELo.",
    "NEWOBJ": b"\x80\x04ccollections\nOrderedDict\n)\x81.",
    "NEWOBJ_EX": b"\x80\x04ccollections\nOrderedDict\n)}\x92.",
    "EXT1": b"\x80\x02\x82\x01.",
    "EXT4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "PERSID": b"\x80\x02Pname\n.",
    "NEXT_BUFFER": b"\x80\x05\x97.",
    "protocol 0": pickle.dumps({"a": 1}, 0),
    "no instruction": b"\x80\x04\xff.",
    "protocol 9": b"\x80\x09N.",
}
STATES = {
    "a state for a name": b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.",
    "slots of a name": b"\x80\x02cnumpy\ndtype\nN}X\x08\x00\x00\x00__call__K\x01s\x86b.",
    "a state for a dictionary": b"\x80\x02}}X\x0c\x00\x00\x00__setstate__cbuiltins\nset\nsb.",
    "a call of a value": b"\x80\x02K\x01(tR.",
    "a call without a tuple": b"\x80\x02cbuiltins\nset\n]R.",
    "numpy's class as a function": b"\x80\x02cnumpy\nndarray\n(K\x05tR.",
    "a name as a value": b"\x80\x02cnumpy\ndtype\n.",
    "the mark as a value": b"\x80\x02(.",
}
NAME = b"cnumpy\ndtype\n"
STATES |= {
    "attributes of a name": NAME + b"N}X\x04\x00\x00\x00nameK\x01s\x86b.",
    "a state for our dictionary": b"\x80\x04}N}X\x0b\x00\x00\x00__setitem__K\x01s\x86b.",
    "attributes of our dictionary": b"\x80\x04}}X\x0b\x00\x00\x00__setitem__K\x01sb.",
    "attributes of our set": b"\x80\x04\x8fN}X\x03\x00\x00\x00addK\x01s\x86b.",
    "attributes of a list": b"\x80\x04]}X\x06\x00\x00\x00appendK\x01sb.",
    "attributes of a type": NAME + b"(X\x02\x00\x00\x00i8tR}X\x05\x00\x00\x00_codeX\x02\x00\x00\x00O8sb.",
    "our own classes by their numbers": b"\x80\x04h\x00)R.",
    "our own classes over their numbers": b"\x80\x04Nq\x000}h\x00)R.",
    "a persistent class": b"\x80\x04K\x00Q.",
    "members of a name": NAME + b"(K\x01e.",
    "keys of a name": NAME + b"K\x01K\x02s.",
    "a list that takes itself in": b"\x80\x04]q\x00(h\x00h\x00h\x00eh\x00a.",
    "a dictionary in itself": b"\x80\x04}q\x00K\x01h\x00s.",
    "a set in itself": b"\x80\x04\x8fq\x00(h\x00\x90.",
    "the old dictionary, whose keys it would hash": b"\x80\x02(K\x01K\x02d.",
    "what another file has noted": b"\x80\x04h\x05.",
    "a value popped from under a mark": b"\x80\x04N(00N.",
}
SIZES = {
    "a text longer than the file": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.",
    "bytes longer than the file": b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"x.",
    "an integer of kilobytes": b"\x80\x02\x8b" + struct.pack("<i", 4000) + b"\x01" * 4000 + b".",
    "a negative length": b"\x80\x02\x8b" + struct.pack("<i", -1) + b".",
    "a reference far away": b"\x80\x02Nr\xff\xff\xff\x7fj\xfe\xff\xff\x7f.",
    "a note far away": b"\x80\x02Nr\xff\xff\xff\x7f0j\xff\xff\xff\x7fj\xff\xff\xff\xff.",
    "an array of bytes longer than the file": b"\x80\x05\x96" + struct.pack("<Q", 2**36) + b"x.",
    "an integer longer than the file": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"\x01.",
    "a number of as many bytes as an integer says": b"\x80\x02cnumpy.core.multiarray\nscalar\n"
    b"(cnumpy\ndtype\n(X\x02\x00\x00\x00i8tR\x8a\x05\x00\x00\x00\x00\x04tR.",
    "a frame larger than the file": b"\x80\x04\x95" + struct.pack("<Q", 2**60),
    "an array of nothing": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR"
    b"(K\x01J\xff\xff\xff\x7f\x85cnumpy\ndtype\n(X\x02\x00\x00\x00U0K\x00K\x01tR(K\x03X\x01\x00\x00\x00<NNNtb\x89C\x00tb.",
    "a shape that the bytes do not fill": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85"
    b"C\x01btR(K\x01J\xff\xff\xff\x7f\x85cnumpy\ndtype\n(X\x02\x00\x00\x00i8K\x00K\x01tR(K\x03X\x01\x00\x00\x00<NNNtb\x89"
    b"C\x08\x00\x00\x00\x00\x00\x00\x00\x00tb.",
    "a type with fields": b"\x80\x02cnumpy\ndtype\n(X\x02\x00\x00\x00V8K\x00K\x01tR.",
    "cut short": pickle.dumps({"a": "b" * 300})[:-2],
    "no value": b"\x80\x04.",
    "two values": b"\x80\x04NN.",
    "an odd number of members": b"\x80\x04}(Nu.",
    "members of a number": b"\x80\x04K\x01K\x02a.",
    "more popped than pushed": b"\x80\x0400.",
}


def _laughs(depth):
    """Lists that hold the list before them ten times over."""
    code = b"\x80\x02]q\x00(" + b"K\x01" * 10 + b"e"
    for number in range(depth):
        code += b"0](" + b"h" + bytes([number]) + (b"h" + bytes([number])) * 9 + b"eq" + bytes([number + 1])
    return code + b"."


def _copies(made, call, count=1_000):
    """A list of copies of one large value: `made` is kept under 0, `call` makes a copy of what that holds."""
    return b"\x80\x04" + made + b"q\x000](" + call * count + b"e."


NUMBERS = b"](" + b"".join(b"J" + struct.pack("<i", number) for number in range(20_000)) + b"e"
LONG_TEXT = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000
COPIES = {
    "sets that are copies": _copies(NUMBERS, b"cbuiltins\nset\nh\x00\x85R"),
    "bytes that are copies": _copies(LONG_TEXT, b"c_codecs\nencode\nh\x00X\x06\x00\x00\x00latin1\x86R"),
    "a text that is meant again and again": _copies(LONG_TEXT, b"h\x00"),
    "bytes that are meant again and again": _copies(b"B" + LONG_TEXT[1:], b"h\x00"),
    "dictionaries that are copies": _copies(
        b"](" + b"".join(b"J" + struct.pack("<i", number) + b"N\x86" for number in range(9_000)) + b"e",
        b"ccollections\nOrderedDict\nh\x00\x85R",
    ),
    "a key that is meant again and again": _copies(LONG_TEXT, b"}h\x00Ns"),
    "arrays that are copies": _copies(
        b"B" + struct.pack("<I", 50_000) + b"\x01" * 50_000,
        b"cnumpy.core.numeric\n_frombuffer\n(h\x00cnumpy\ndtype\n(X\x02\x00\x00\x00u1tRM\x50\xc3\x85X\x01\x00\x00\x00CtR",
    ),
}


def _doubled(depth, end):
    """Pairs of the pair before them, twice: 2^depth values for whoever walks, hashes, compares or prints them."""
    return b"\x80\x04" + end.replace(b"DOUBLED", b"N" + b"2\x86" * depth)


DEEP = {
    "doubled": _doubled(60, b"DOUBLED."),
    "doubled, as a key": _doubled(60, b"}DOUBLEDNs."),
    "doubled, as a member": _doubled(60, b"\x8f(DOUBLED\x90."),
    "doubled, as a frozen member": _doubled(60, b"(DOUBLED\x91."),
    "doubled, as a type": _doubled(60, b"cnumpy\ndtype\nDOUBLED\x85R."),
    "doubled, as a shape": _doubled(
        60,
        b"cnumpy.core.numeric\n_frombuffer\n(C\x01acnumpy\ndtype\n(X\x02\x00\x00\x00u1tRDOUBLEDX\x01\x00\x00\x00CtR.",
    ),
    "doubled, as a state": _doubled(60, b"cnumpy\ndtype\n(X\x02\x00\x00\x00i8tRDOUBLEDb."),
    "doubled, as attributes": _doubled(60, b"]DOUBLEDb."),
    "doubled, as a call": _doubled(60, b"DOUBLED)R."),
    "doubled, as a name": _doubled(60, b"DOUBLEDX\x01\x00\x00\x00a\x93."),
    "doubled, as a persistent value": _doubled(60, b"DOUBLEDQ."),
    "a billion laughs": _laughs(9),
    "a list of itself": b"\x80\x02]q\x00h\x00a.",
    "tuples in tuples": b"\x80\x02N" + b"\x85" * 200_000 + b".",
    "lists in lists": b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".",
    "a deep tuple as a key": b"\x80\x02}N" + b"\x85" * 200_000 + b"Ns.",
    "a deep tuple in a set": b"\x80\x04\x8f(N" + b"\x85" * 200_000 + b"\x90.",
}
HARMLESS = {
    "NEWOBJ": {},
    "NEWOBJ_EX": {},
    "protocol 0": {"a": 1},
    "the old dictionary, whose keys it would hash": {"1": 2},
    "a value popped from under a mark": None,
    "two values": None,
}
"""What odd instructions come to where they name nothing that is not known: plain values."""
HOSTILE = {**CALLS, **INSTRUCTIONS, **STATES, **SIZES, **COPIES, **DEEP}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in HARMLESS])
def test_a_hostile_pickle_is_refused_and_nothing_runs(written, tmp_path, monkeypatch, name):
    path = written(HOSTILE[name])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"x\.pkl"):
        load_pickle(path)
    assert [one.name for one in tmp_path.iterdir()] == ["x.pkl"]


@pytest.mark.parametrize("name", [*CALLS, *COPIES, "doubled", "doubled, as a key"])
def test_no_members_of_a_hostile_pickle_run(written, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"x\.pkl"):
        list(pickle_items(written(HOSTILE[name])))
    assert [one.name for one in tmp_path.iterdir()] == ["x.pkl"]


@pytest.mark.parametrize("name", HARMLESS)
def test_odd_instructions_come_to_plain_values(written, name):
    assert load_pickle(written(HOSTILE[name])) == HARMLESS[name]


def test_keys_that_all_meet_are_ended_in_time(written):
    """Numbers hash to themselves, so a file can choose keys that all collide."""
    numbers = ((number * (2**61 - 1)).to_bytes(10, "little") for number in range(1, 100_000))
    code = b"\x80\x04}(" + b"".join(b"\x8a\x0a" + number + b"N" for number in numbers)
    with pytest.raises(BadInput, match="takes too long"):
        load_pickle(written(code + b"u."))


@pytest.mark.skipif(sys.platform != "linux", reason="the walls of Linux")
def test_what_gets_past_the_names_meets_the_walls(tmp_path):
    """The worker without its list of names: the call runs in there, and can do nothing."""
    sandbox = Path(orienteer.sandbox.__file__).parent
    program = Path(orienteer.lab.formats.__file__).with_name("pickle_worker.py").read_text()
    opened = program.replace("(module, name) not in self._names", "False")
    opened = opened.replace("self._names[module, name]", "super().find_class(module, name)")
    opened = opened.replace('str(Path(__file__).parents[2] / "sandbox")', repr(str(sandbox)))
    (tmp_path / "worker.py").write_text(opened)
    path = tmp_path / "x.pkl"
    path.write_bytes(HOSTILE["open"])
    command = [sys.executable, "-P", str(tmp_path / "worker.py"), str(path), "value", "1000", "0"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=tmp_path)
    assert b"ermission" in done.stdout
    assert not (tmp_path / "SENTINEL").exists()


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_would_have_run(name):
    """Guard of the test above: each of these names something that Python's own reader would look up."""
    code = HOSTILE[name]
    assert any(one.name in ("GLOBAL", "STACK_GLOBAL") for one, _, _ in pickletools.genops(code))


def test_a_name_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "x.pkl"
    path.write_bytes(b"\x80\x04c.")
    with pytest.raises(BadInput, match="x.pkl cannot be read"):
        load_pickle(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_do_anything_but_raise(tmp_path_factory, code):
    path = tmp_path_factory.mktemp("p") / "x.pkl"
    path.write_bytes(b"\x80\x04" + code + b".")
    with suppress(BadInput):
        load_pickle(path)


# ------------------------------------------------------------------------------------------------------------ tensors


@pytest.fixture
def saved(tmp_path):
    """Give a function that writes the bytes of a .pt file and returns the path."""

    def write(content):
        path = tmp_path / "x.pt"
        path.write_bytes(content)
        return path

    return write


def test_a_file_that_torch_wrote(saved):
    found = read_tensor(saved(REAL))
    assert found.dtype == np.int64
    assert found.tolist() == [[0, 1, 2, 2], [1, 2, 0, 0]]
    assert not found.flags.writeable


def test_bytes_made_by_hand_are_read_the_same(saved):
    assert read_tensor(saved(torch_file([[0, 1, 2, 2], [1, 2, 0, 0]]))).tolist() == read_tensor(saved(REAL)).tolist()
    assert read_tensor(saved(torch_file([1.5, 2.5], "f4"))).tolist() == [1.5, 2.5]
    assert read_tensor(saved(torch_file(np.zeros((2, 0))))).shape == (2, 0)


def test_a_part_of_a_storage(saved):
    numbers = np.arange(12, dtype="<i8").tobytes()
    turned = tensor_pickle([3, 2], 12, strides=[1, 4], offset=1)
    found = read_tensor(saved(archive({"data.pkl": turned, "data/0": numbers})))
    assert found.tolist() == [[1, 5], [2, 6], [3, 7]]


def test_numbers_of_a_big_endian_machine(saved):
    numbers = np.arange(3, dtype=">i8").tobytes()
    content = {"data.pkl": tensor_pickle([3], 3), "byteorder": b"big", "data/0": numbers}
    assert read_tensor(saved(archive(content))).tolist() == [0, 1, 2]


def test_torch_itself_agrees(saved, tmp_path):
    torch = pytest.importorskip("torch")
    whole = torch.arange(24).reshape(4, 6)
    for one in (whole, whole[:, 2:4], whole.t(), whole[1], whole.to(torch.int32), torch.zeros(3), whole[:, :0]):
        torch.save(one, tmp_path / "t.pt")
        assert read_tensor(tmp_path / "t.pt").tolist() == one.tolist()
    path = saved(torch_file([[0, 1], [1, 0]]))
    assert torch.load(path, weights_only=True).tolist() == read_tensor(path).tolist()


_NUMBERS = np.arange(4, dtype="<i8").tobytes()
_PICKLE = tensor_pickle([4], 4)
BAD_TENSORS = {
    "compressed": (archive({"data.pkl": _PICKLE, "data/0": _NUMBERS}, compression=zipfile.ZIP_DEFLATED), "compressed"),
    "a bomb": (
        archive({"data.pkl": _PICKLE, "data/0": b"\0" * 10_000_000}, compression=zipfile.ZIP_DEFLATED),
        "compressed",
    ),
    "fewer numbers": (archive({"data.pkl": _PICKLE, "data/0": _NUMBERS[:8]}), "8 bytes where 32"),
    "more numbers": (archive({"data.pkl": _PICKLE, "data/0": _NUMBERS * 2}), "64 bytes"),
    "no storage": (archive({"data.pkl": _PICKLE}), "no data/0"),
    "no pickle": (archive({"data/0": _NUMBERS}), "0 files named data.pkl"),
    "two pickles": (archive({"data.pkl": _PICKLE, "b/data.pkl": _PICKLE, "data/0": _NUMBERS}), "2 files named"),
    "a path": (archive({"data.pkl": tensor_pickle([4], 4, key="../0"), "data/0": _NUMBERS}), "storage of another kind"),
    "outside": (archive({"data.pkl": tensor_pickle([4], 4, offset=1), "data/0": _NUMBERS}), "outside of its storage"),
    "repeated": (
        archive({"data.pkl": tensor_pickle([1 << 30, 1 << 10], 4, strides=[0, 0]), "data/0": _NUMBERS}),
        "repeats it",
    ),
    "negative": (
        archive({"data.pkl": tensor_pickle([4], 4, strides=[-1]), "data/0": _NUMBERS}),
        "a tensor is expected",
    ),
    "another storage": (
        archive({"data.pkl": tensor_pickle([4], 4, storage="QInt8Storage"), "data/0": _NUMBERS}),
        r"torch\.QInt8Storage",
    ),
    "another module": (
        archive({"data.pkl": tensor_pickle([4], 4, storage="system", module="os"), "data/0": _NUMBERS}),
        r"the name os\.system",
    ),
    "a call": (archive({"data.pkl": CALLS["os.system"]}), r"system"),
    "no tensor": (archive({"data.pkl": pickle.dumps({"a": 1}, 2)}), "a dict where a tensor"),
    "a huge pickle": (archive({"data.pkl": pickle.dumps("x" * (1 << 21), 2)}), "a str where a tensor"),
    "the old form": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", r"torch\.save\(torch\.load"),
    "no archive": (b"hello", "not a zip file"),
    "cut short": (REAL[:-200], "not a zip file"),
    "a wrong sum": (REAL.replace(struct.pack("<q", 2), struct.pack("<q", 7), 1), "Bad CRC-32"),
}


@pytest.mark.parametrize("name", BAD_TENSORS)
def test_a_bad_tensor_is_refused(saved, name):
    content, said = BAD_TENSORS[name]
    with pytest.raises(BadInput, match=said):
        read_tensor(saved(content))


@pytest.mark.parametrize(("at", "byte"), [(46, 0xFF), (42, 0xFF), (20, 0x7F)])
def test_a_damaged_directory_is_refused(saved, at, byte):
    whole = bytearray(REAL)
    whole[whole.index(b"PK\x01\x02") + at] = byte
    if at == 46:  # a name in UTF-8, as the flag says, that is none
        whole[whole.index(b"PK\x01\x02") + 9] |= 0x08
    with pytest.raises(BadInput):
        read_tensor(saved(bytes(whole)))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(REAL) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_no_damage_does_anything_but_raise(saved, changes):
    whole = bytearray(REAL)
    for at, byte in changes:
        whole[at] = byte
    with suppress(BadInput):
        read_tensor(saved(bytes(whole)))


def test_a_member_that_says_less_than_it_unfolds_to_is_refused(saved):
    """A ZIP entry that claims to be stored, while its size says otherwise."""
    packed = io.BytesIO(archive({"data.pkl": _PICKLE, "data/0": _NUMBERS}))
    content = packed.getvalue()
    place = content.rindex(b"archive/data/0") - 46  # the entry in the directory at the end
    forged = content[: place + 24] + struct.pack("<I", 1 << 30) + content[place + 28 :]
    with pytest.raises(BadInput):
        read_tensor(saved(forged))
