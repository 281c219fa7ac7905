"""Bytes as `torch.save` writes them, made without torch, and a file that torch 2.13 itself has written."""

import base64
import io
import struct
import zipfile
import zlib

import numpy as np

STORAGES = {"i8": "LongStorage", "f4": "FloatStorage", "u1": "ByteStorage"}
REAL = zlib.decompress(
    base64.b64decode(
        "eNqlVD1v00AYPjupbYyUtixVO2RgChKk/sgnFaQyyBIyEmkRKGKxHPtILdy4Z1+CYEJCVGJlY+FXILHxFxDMbLB0YmPmzkkc+1pcQV/JOn+8"
        "z/s+9/p5rm+VygBIEjgVa+AKcCL3wJ/Cbc/BTv3oWWAaFfAkF694F4ckq25PsB/Esh3B4cQPPBvDcRxG9lSTEajVBiKpGJNMZwQRN4PI98Px"
        "6OHsnYz4AUdSFFQalMjqHk1Q2ZIwWtmzgMVb5WMkWGWLO0biW9cNgwC62A/Hsfwg8mAEvbu+i2UkXdtHlzCS99Hlet8SpXuS8PM9qUav/l83"
        "ugGuphutPw2jQwfbUxjFpL5pVJn9sqHSPp9+fX9N2XOFfbZAe9lnPgvbCfzR+BCOsWno57Q6M1oNSqD3HJ3wpAVfSGAd9FICwxcYhnR2prHz"
        "P30XEfgYB5ByeHPrx6ZAugiFHCrgdk5V24pp3LwAgUVdbr7yzMq+Z4My143h511yv1vIfBXcSZmn8uhdZHY0dJky+Pph9Oj8/1cF2lJAyfBi"
        "GPlEQS8dagbb90yj/o+E1GZb66jdblNVO81Gq6ErWktpq3q32SLPekdvaGpH6TYpS3jw8XeN8KglLLlkpAueWautnWLOniMsOmugjRzyJINm"
        "zMkWyZpgK1dkjwMFzmPrZIW8nqvzLVMnNRALz6qpkoM/5gGjfRab1cFq/jQuAVZ9LDj7e6o58LsM+Gzh9C1BuL6QWelGihSZ9cvcT53ywj5C"
        "8kkUlnbrWyvCDCMm+bPcP6gVV9Q="
    )
)
"""The tensor [[0, 1, 2, 2], [1, 2, 0, 0]] of 64-bit integers."""


def _text(text):
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def _integers(numbers):
    return b"(" + b"".join(b"J" + struct.pack("<i", one) for one in numbers) + b"t"


def tensor_pickle(shape, count, *, storage="LongStorage", strides=None, key="0", offset=0, module="torch"):
    """The pickle of a tensor over one storage, instruction by instruction."""
    if strides is None:
        strides = [int(np.prod(shape[at + 1 :])) for at in range(len(shape))]
    told = b"(" + _text("storage") + f"c{module}\n{storage}\n".encode() + _text(key) + _text("cpu")
    told += b"J" + struct.pack("<i", count) + b"tQ"
    rest = b"J" + struct.pack("<i", offset) + _integers(shape) + _integers(strides)
    rest += b"\x89" + b"ccollections\nOrderedDict\n)R"
    return b"\x80\x02" + b"ctorch._utils\n_rebuild_tensor_v2\n(" + told + rest + b"tR."


def archive(members, *, compression=zipfile.ZIP_STORED, root="archive"):
    """A ZIP archive of a root folder with these members."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as file:
        for name, data in members.items():
            file.writestr(f"{root}/{name}", data)
    return packed.getvalue()


def torch_file(values, kind="i8", **changes):
    """The bytes of a file with one contiguous tensor."""
    array = np.asarray(values, "<" + kind)
    pickled = tensor_pickle(array.shape, array.size, storage=STORAGES[kind], **changes)
    return archive({"data.pkl": pickled, "byteorder": b"little", "data/0": array.tobytes(), "version": b"3\n"})
