"""Small things to train on: two graphs, templates, a tokenizer of bytes, and students of some 0.2 million weights."""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from orienteer.records import Edge, Node, Trajectory

SETTINGS = {"threads": "1", "bf16": "false", "warmup": "0"}
"""Of every training here: one core, and sums that can be compared."""

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template that writes neither tools nor calls, as that of SmolLM2."""
QWEN = (
    "{% if tools %}<|im_start|>system\n{{ messages[0].content }}\n# Tools\n"
    "{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}{% if not (loop.first and tools) %}"
    "<|im_start|>{{ 'user' if message.role == 'tool' else message.role }}\n"
    "{% if message.role == 'tool' %}<tool_response>\n{{ message.content }}\n</tool_response>"
    "{% else %}{{ message.content or '' }}{% endif %}"
    "{% for call in message.tool_calls or [] %}{{ '\n' if message.content or not loop.first }}<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template in the manner of Qwen's, with tools and calls."""
END = "<|im_end|>"


class Bytes:
    """A tokenizer whose tokens are bytes, with a chat template."""

    def __init__(self, template: str = CHATML) -> None:
        environment = jinja2.Environment(autoescape=False)
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)  # as transformers has it
        self._template = environment.from_string(template)

    def apply_chat_template(
        self, conversation: list[dict[str, Any]], *, tools=None, tokenize: bool, add_generation_prompt: bool = False
    ) -> str:
        assert tokenize is False
        return self._template.render(messages=conversation, tools=tools, add_generation_prompt=add_generation_prompt)

    def __call__(self, text: str, *, add_special_tokens: bool) -> Mapping[str, list[int]]:
        assert add_special_tokens is False, "a template writes its own special tokens"
        return {"input_ids": list(text.encode())}

    def decode(self, token_ids: Sequence[int]) -> str:
        return bytes(token_ids).decode()


# ------------------------------------------------------------------------------------------------------------- graphs

WRITERS = ("Ada Holm", "Noor Vik", "Ines Varga", "Tomas Lind")
NOVELS = (
    *("Salt Road", "Night Ferry", "Winter Harbour", "Quiet Mill"),
    *("Long Shore", "Red Kite", "Stone Boat", "Blue Hour"),
)
TOWNS = ("Orsova", "Hammerfest", "Lodz")
SHIPS = ("Albatross", "Meridian", "Kestrel", "Halcyon", "Petrel", "Osprey")
CAPTAINS = ("Edda Moor", "Jonas Falk", "Mira Sund")
HARBOURS = ("Varberg", "Skagen")


def books() -> tuple[list[Node], list[Edge]]:
    """Return novels, their writers and their towns."""
    nodes = [*_named("w", "writer", WRITERS), *_named("n", "novel", NOVELS), *_named("t", "town", TOWNS)]
    edges = [
        *(Edge(f"n{at}", "written_by", f"w{at % 4}") for at in range(len(NOVELS))),
        *(Edge(f"n{at}", "set_in", f"t{at * 2 % 3}") for at in range(len(NOVELS))),
        *(Edge(f"w{at}", "born_in", f"t{at % 3}") for at in range(len(WRITERS))),
    ]
    return nodes, edges


def ships() -> tuple[list[Node], list[Edge]]:
    """Return ships, their captains and their harbours."""
    nodes = [*_named("s", "ship", SHIPS), *_named("c", "captain", CAPTAINS), *_named("h", "harbour", HARBOURS)]
    edges = [
        *(Edge(f"s{at}", "commanded_by", f"c{at % 3}") for at in range(len(SHIPS))),
        *(Edge(f"s{at}", "moored_in", f"h{at % 2}") for at in range(len(SHIPS))),
    ]
    return nodes, edges


def _named(letter: str, kind: str, names: Sequence[str]) -> list[Node]:
    return [Node(f"{letter}{at}", kind, name) for at, name in enumerate(names)]


# ----------------------------------------------------------------------------------------------------------- students


def student(folder: Path, texts: Sequence[str], *, kind: str = "llama", template: str = CHATML) -> Path:
    """Write a random model of some 0.2 million weights, with a tokenizer made of texts, and return its folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    tokenizer = tokenizer_of(texts, template)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16 if kind == "llama" else 128,  # transformers reads no other from a GGUF file of Qwen's
        "max_position_embeddings": 2048,
        "tie_word_embeddings": True,
        "initializer_range": 0.1,  # the usual 0.02 learns slowly in so narrow a model
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = {
        "llama": lambda: LlamaForCausalLM(LlamaConfig(**shape)),
        "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**shape)),
    }[kind]()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tokenizer_of(texts: Sequence[str], template: str) -> Any:  # Any: a tokenizer of transformers
    """Return a byte-level BPE tokenizer of some 600 tokens, made of texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=640,
        special_tokens=["<|im_start|>", END, "<pad>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(sorted(texts), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token="<pad>")
    tokenizer.chat_template = template
    return tokenizer


def texts_of(trajectories: Sequence[Trajectory]) -> list[str]:
    """Return all that is said in trajectories."""
    opened = [message.content or "" for one in trajectories for message in one.opening]
    said = [step.reply.raw.text or "" for one in trajectories for step in one.steps if step.reply.raw is not None]
    seen = [seen.text for one in trajectories for step in one.steps for seen in step.observations]
    return [*opened, *said, *seen]


def wait_for(is_so, *, seconds: float = 60.0) -> bool:
    """Wait until something is so; say whether it came to be."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.01)
    return False


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Have no warning raised that one library gives another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def as_gguf(folder: Path, file: Path) -> Path:
    """Write a student of `student` as a GGUF file in full precision, as llama.cpp's own script has it."""
    import gguf
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    [arch] = [key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == kind]
    writer = gguf.GGUFWriter(file, kind)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    if kind == "llama":
        writer.add_rope_dimension_count(config["head_dim"])
    vocabulary = json.loads((folder / "tokenizer.json").read_text())
    tokens = sorted(vocabulary["model"]["vocab"], key=vocabulary["model"]["vocab"].get)
    special = {token["content"]: token["id"] for token in vocabulary["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])  # 3: of control
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["model"]["merges"]])
    writer.add_eos_token_id(special[END])
    writer.add_pad_token_id(special["<pad>"])
    writer.add_chat_template((folder / "chat_template.jinja").read_text())
    names = gguf.get_tensor_name_map(arch, config["num_hidden_layers"])
    for own, values in load_file(folder / "model.safetensors").items():
        heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
        several = next((count for name, count in heads.items() if own.endswith(f"{name}.weight")), None)
        if kind == "llama" and several is not None:  # halves of a head become pairs
            rows = [
                head * config["head_dim"] + half * config["head_dim"] // 2 + at
                for head in range(several)
                for at in range(config["head_dim"] // 2)
                for half in (0, 1)
            ]
            values = values[rows]
        writer.add_tensor(names.get_name(own, try_suffixes=(".weight", ".bias")), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
