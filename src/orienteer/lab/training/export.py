"""A student as a GGUF file, which `--model local:FILE` and llama.cpp's servers run, and its card.

The file takes its shape from the one that the student came from: vocabulary, settings and names of tensors are that
file's, weights and chat template the student's. So no list of architectures is kept here but that of the two things
that llama.cpp writes in another way than transformers.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from orienteer.display import counted
from orienteer.errors import BadInput, Error, MissingExtra
from orienteer.files import write_whole
from orienteer.lab.training.runs import BASE, CARD, MODEL, base_of, read_training

# Bits of a weight: 16, or some 8.5 with a scale for each 32 of them.
Precision: TypeAlias = Literal["f16", "q8_0"]
# The architecture whose query and key rows llama.cpp keeps in pairs, for its rotary embedding.
_INTERLEAVED = "llama"
_KNOWN = (_INTERLEAVED, "qwen2", "qwen3")
_ALIGNED = 32
_ROPE = "rope_freqs.weight"


def export(folder: Path, file: Path, *, base: Path | None = None, precision: Precision = "q8_0") -> Path:
    """Write the student of a finished training as a GGUF file and its card; return the path of the card.

    `base` is a GGUF file of the same model, in any precision; by default the one that the student came from.
    Raises `BadInput` if the training is unfinished or the base is of another model, `MissingExtra`.
    """
    training = read_training(folder)
    place = folder / MODEL
    base = base or base_of(place)
    if base is None:
        raise BadInput(
            f"{place} does not say which GGUF file it came from ({BASE}): name one of the same model with --base"
        )
    card = file.with_suffix(".card.json")
    partial = file.with_name(file.name + ".partial")
    try:
        try:
            _write(place, partial, base, precision)
        except OSError as error:
            raise Error(f"{file} could not be written ({error}): make room and repeat the command") from error
        # First the card: without it the model would be spoken to in another dialect than it has learnt.
        name, *options = shlex.split(training.agent)
        flags = " ".join([f"--method {name}", *(f"--set {shlex.quote(option)}" for option in options)])
        own = json.loads((place / CARD).read_text(encoding="utf-8"))
        rows = f"{counted(training.rows, 'row')}, " if training.rows else ""
        stopped = f"; {training.stopped}" if training.stopped else ""  # then not all of the rows were learnt
        facts = {
            **own,
            "file": file.name,
            "use": f"orienteer ask DIR QUESTION {flags} --model local:{file.name}",
            "trained": f"{training.kind}: {rows}{counted(training.steps, 'step')}, {training.seconds:.0f} s{stopped}",
            "settings": training.settings,
            "collection_sha256": training.collection_sha256,
        }
        write_whole(card, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return card


def _write(place: Path, file: Path, base: Path, precision: Precision) -> None:
    try:
        import gguf
    except ImportError as error:
        raise MissingExtra("writing GGUF files", "train") from error
    try:
        shape = gguf.GGUFReader(base)
    except (OSError, ValueError) as error:
        raise BadInput(f"{base} is not a GGUF file ({error}): name one of the student's model with --base") from error
    architecture = str(shape.fields["general.architecture"].contents())
    if architecture not in _KNOWN:
        raise BadInput(
            f"{base} is a model of the kind {architecture}, and how llama.cpp writes that is not known here "
            f"({', '.join(_KNOWN)} are): convert {place} with llama.cpp's convert_hf_to_gguf.py"
        )
    weights = _weights(place, shape, architecture)
    writer = gguf.GGUFWriter(file, architecture)
    template_file = place / "chat_template.jinja"
    template = template_file.read_text(encoding="utf-8") if template_file.exists() else None
    for name, value in shape.fields.items():
        if not name.startswith("GGUF.") and name not in ("general.architecture", "general.file_type", "general.name"):
            said = template if name == "tokenizer.chat_template" and template else value.contents()
            kinds = [*value.types, None]
            writer.add_key_value(
                name, said, kinds[0], sub_type=kinds[1] if kinds[0] == gguf.GGUFValueType.ARRAY else None
            )
    writer.add_name(file.name.removesuffix(".partial").removesuffix(".gguf"))
    types = {"f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}
    writer.add_file_type({"f16": gguf.LlamaFileType.MOSTLY_F16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}[precision])
    for name, values in weights.items():
        is_matrix = values.ndim > 1 and values.shape[-1] % _ALIGNED == 0
        kind = types[precision] if is_matrix else gguf.GGMLQuantizationType.F32
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weights(place: Path, shape: Any, architecture: str) -> dict[str, Any]:  # Any: gguf's reader, NumPy's arrays
    """Return the student's weights by the names of the base. Raises `BadInput` if their shapes differ."""
    import gguf

    def setting(name: str) -> int:
        return int(shape.fields[f"{architecture}.{name}"].contents())

    blocks, heads, key_heads = (
        setting(name) for name in ("block_count", "attention.head_count", "attention.head_count_kv")
    )
    [arch] = [key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture]
    names = gguf.get_tensor_name_map(arch, blocks)
    wanted = {tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in shape.tensors}
    weights: dict[str, Any] = {}
    for own, values in _tensors(place):
        name = names.get_name(own, try_suffixes=(".weight", ".bias"))
        if name not in wanted:
            continue  # an output layer that is tied to the embeddings
        if tuple(values.shape) != wanted[name]:
            raise _of_another(place, name)
        is_turned = architecture == _INTERLEAVED and own.endswith(("q_proj.weight", "k_proj.weight"))
        weights[name] = _interleaved(values, heads if "q_proj" in own else key_heads) if is_turned else values
    if _ROPE in wanted and _ROPE not in weights:  # it follows from the settings, and no checkpoint has it
        [factors] = [tensor for tensor in shape.tensors if tensor.name == _ROPE]
        weights[_ROPE] = gguf.quants.dequantize(factors.data, factors.tensor_type)
    missing = [name for name in wanted if name not in weights]
    if missing:
        raise _of_another(place, missing[0])
    return weights


def _of_another(place: Path, tensor: str) -> BadInput:
    return BadInput(f"the base is of another model than {place} ({tensor}): name one of the same with --base")


def _tensors(place: Path) -> Iterator[tuple[str, Any]]:  # Any: NumPy's arrays
    """Yield the weights of a student by their names, in single precision. Raises `BadInput` for an incomplete file."""
    from safetensors import SafetensorError, safe_open

    for file in sorted(place.glob("*.safetensors")):
        try:
            with safe_open(file, framework="pt") as tensors:
                names = tensors.keys()
                yield from ((name, tensors.get_tensor(name).float().numpy()) for name in names)
        except SafetensorError as error:
            raise BadInput(f"{file} is not whole ({error}): repeat the command that trained it") from error


def _interleaved(values: Any, heads: int) -> Any:  # Any: NumPy's arrays
    """Return rows as llama.cpp keeps them: the two halves of each head in turn. (rows, columns)."""
    rows, columns = values.shape
    return values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
