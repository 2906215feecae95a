# SPDX-License-Identifier: BSD-3-Clause
"""Exports a language model from a Hugging Face folder as a 4-bit ExecuTorch program.

usage: python -m pteron.export HF_DIR -o model.pte [--context N] [--max-tokens N] [--group N]

Llama, SmolLM2, Qwen2 and Qwen3 from config.json and safetensors. Weights become 4 bits in groups; the program has one
dynamic method with a KV cache and the usual metadata. Then: pteron chat model.pte --tokenizer HF_DIR/tokenizer.json
"""
import argparse
import json
import mmap
import re
import sys
from pathlib import Path

import torch

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
FAMILIES = {"llama", "qwen2", "qwen3", "smollm"}
NAMES = [
    (r"model\.embed_tokens\.", "tok_embeddings."),
    (r"model\.norm\.", "norm."),
    (r"lm_head\.", "output."),
    (r"model\.layers\.(\d+)\.self_attn\.([qkvo])_proj\.", r"layers.\1.attention.w\2."),
    (r"model\.layers\.(\d+)\.self_attn\.([qk])_norm\.", r"layers.\1.attention.\2_norm_fn."),
    (r"model\.layers\.(\d+)\.mlp\.gate_proj\.", r"layers.\1.feed_forward.w1."),
    (r"model\.layers\.(\d+)\.mlp\.up_proj\.", r"layers.\1.feed_forward.w3."),
    (r"model\.layers\.(\d+)\.mlp\.down_proj\.", r"layers.\1.feed_forward.w2."),
    (r"model\.layers\.(\d+)\.input_layernorm\.", r"layers.\1.attention_norm."),
    (r"model\.layers\.(\d+)\.post_attention_layernorm\.", r"layers.\1.ffn_norm."),
]


class Unsupported(ValueError):
    """What stands in a folder cannot be exported; the message says what and why."""


def read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text())
    except OSError as error:
        raise Unsupported(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Unsupported(f"{path} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unsupported(f"{path} does not hold a JSON object")
    return value


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """Tensors of one file, in float32. Every size is checked before it is used."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise Unsupported(f"{path} is cut short: its header should have {length} bytes")
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise Unsupported(f"the header of {path} is not valid JSON: {error}") from None
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, (begin, end) = DTYPES.get(entry["dtype"]), entry["shape"], entry["data_offsets"]
        if dtype is None:
            raise Unsupported(f"tensor '{name}' is {entry['dtype']}; {', '.join(DTYPES)} can be read")
        numel = torch.Size(shape).numel()
        if not 0 <= begin <= end <= size - 8 - length or end - begin != numel * dtype.itemsize:
            raise Unsupported(f"tensor '{name}' of {path} has {end - begin} bytes for {shape} {entry['dtype']}")
        bytes_of = bytearray(data[8 + length + begin : 8 + length + end])
        out[name] = torch.frombuffer(bytes_of, dtype=dtype).reshape(shape).float() if numel else torch.zeros(shape)
    return out


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise Unsupported(f"{folder} holds no safetensors files")
    return {name: tensor for path in files for name, tensor in read_safetensors(path).items()}


def model_args(config: dict, context: int, max_tokens: int):
    """The wheel's description of the model that config.json describes."""
    from executorch.examples.models.llama.model_args import ModelArgs

    family = config.get("model_type")
    if family not in FAMILIES:
        raise Unsupported(f"model_type '{family}' is not known; {', '.join(sorted(FAMILIES))} are")
    needed = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size", "rms_norm_eps")
    for key in needed:
        if key not in config:
            raise Unsupported(f"config.json has no '{key}'")
    if config.get("hidden_act", "silu") != "silu":
        raise Unsupported(f"hidden_act '{config['hidden_act']}' is not supported; silu is")
    if family == "llama" and (config.get("attention_bias") or config.get("mlp_bias")):
        raise Unsupported("a Llama with biases is not supported")
    if config.get("use_sliding_window"):
        raise Unsupported("sliding windows are not supported")
    rope = config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3") or config.get("partial_rotary_factor", 1.0) != 1.0:
        raise Unsupported(f"rotary scaling '{kind}' of a part of the head is not supported; default and llama3 are")
    scaled = {}
    if kind == "llama3":
        if (rope.get("low_freq_factor"), rope.get("original_max_position_embeddings")) != (1.0, 8192):
            raise Unsupported("llama3 rotary scaling is known with low_freq_factor 1 and 8192 original positions only")
        scaled = {"use_scaled_rope": True, "rope_scale_factor": rope["factor"], "high_freq_factor": rope["high_freq_factor"]}
    heads = config["num_attention_heads"]
    return ModelArgs(
        dim=config["hidden_size"], n_layers=config["num_hidden_layers"], n_heads=heads,
        n_kv_heads=config.get("num_key_value_heads", heads),
        head_dim=config.get("head_dim") or config["hidden_size"] // heads,
        hidden_dim=config["intermediate_size"], vocab_size=config["vocab_size"], norm_eps=config["rms_norm_eps"],
        rope_freq_base=float(config.get("rope_theta", 10000.0)), attention_qkv_bias=family == "qwen2",
        use_qk_norm=family == "qwen3", qk_norm_before_rope=True, max_seq_len=max_tokens, max_context_len=context,
        use_kv_cache=True, use_sdpa_with_kv_cache_op=True, enable_dynamic_shape=True, **scaled,
    )  # fmt: skip


def interleave(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of heads whose halves are rotated with each other, reordered so that neighbours are."""
    halves = rows.reshape(heads, 2, -1, *rows.shape[1:])
    return halves.transpose(1, 2).reshape(rows.shape).contiguous()


def state_of(weights: dict[str, torch.Tensor], args) -> dict[str, torch.Tensor]:
    """The same tensors under the names, and in the order of rows, that the wheel's model has."""
    state = {}
    for name, tensor in weights.items():
        for pattern, replacement in NAMES:
            if re.match(pattern, name):
                state[re.sub(pattern, replacement, name)] = tensor
                break
        else:
            if not name.endswith("rotary_emb.inv_freq"):
                raise Unsupported(f"tensor '{name}' has no place in the model; leaving it out would change the answers")
    state.setdefault("output.weight", state.get("tok_embeddings.weight"))
    for name, tensor in state.items():
        if part := re.search(r"attention\.(?:w([qk])|([qk])_norm_fn)\.", name):
            heads = 1 if part[2] else args.n_heads if part[1] == "q" else args.n_kv_heads
            state[name] = interleave(tensor, heads)
    return state


def build(folder: Path, context: int, max_tokens: int):
    """The wheel's model with the folder's weights, and its description."""
    from executorch.examples.models.llama.llama_transformer import construct_transformer

    args = model_args(read_json(folder / "config.json"), context, max_tokens)
    model = construct_transformer(args).eval()
    state = state_of(read_weights(folder), args)
    want = {name: tensor.shape for name, tensor in model.state_dict().items() if name in state or "cache" not in name}
    for name, shape in want.items():
        if name.endswith((".weight", ".bias")) and (name not in state or state[name] is None):
            raise Unsupported(f"the weights of '{name}' are missing")
        if name in state and state[name].shape != shape:
            raise Unsupported(f"'{name}' has shape {list(state[name].shape)}; config.json says {list(shape)}")
    if unknown := sorted(set(state) - set(want)):
        raise Unsupported(f"config.json knows nothing of '{unknown[0]}'")
    model.load_state_dict(state, strict=False)
    return model, args


def quantize(model: torch.nn.Module, group: int) -> torch.nn.Module:
    """4-bit weights in groups, in place."""
    from torchao.quantization.granularity import PerGroup
    from torchao.quantization.quant_api import IntxWeightOnlyConfig, quantize_

    def is_matrix(part, name):
        return isinstance(part, (torch.nn.Linear, torch.nn.Embedding))

    for name, part in model.named_modules():
        if is_matrix(part, name) and part.weight.shape[1] % group != 0:
            raise Unsupported(f"'{name}' has rows of {part.weight.shape[1]} weights, which --group {group} does not divide")
    quantize_(model, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(group)), is_matrix)
    return model


def lower(model: torch.nn.Module, args, constants: dict):
    """The ExecuTorch program."""
    from executorch.examples.models.llama.source_transformation.custom_kv_cache import (
        replace_kv_cache_with_custom_kv_cache,
    )
    from executorch.examples.models.llama.source_transformation.sdpa import replace_sdpa_with_custom_op
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
    from executorch.extension.llm.export.export_passes import RemoveRedundantTransposes

    from pteron.partition import PteronPartitioner

    model = replace_sdpa_with_custom_op(replace_kv_cache_with_custom_kv_cache(model))
    example = (torch.tensor([[2, 3, 4]]), {"input_pos": torch.tensor([0])})
    shapes = ({1: torch.export.Dim("token_dim", max=args.max_seq_len - 1)}, {"input_pos": {0: 1}})
    with torch.no_grad(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        traced = torch.export.export(model, example, dynamic_shapes=shapes, strict=True).module()
        cleaned = RemoveRedundantTransposes()(traced).graph_module
        exported = torch.export.export(cleaned, example, dynamic_shapes=shapes, strict=True)
        edge = to_edge_transform_and_lower(
            exported,
            partitioner=[PteronPartitioner()],
            compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=True),
            constant_methods=constants,
        )
    return edge.to_executorch(
        ExecutorchBackendConfig(
            memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False),
            sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass(),
        )
    )


def metadata(config: dict, args) -> dict:
    end = config.get("eos_token_id")
    begin = config.get("bos_token_id")
    return {
        "get_bos_id": -1 if begin is None else begin,
        "get_eos_ids": end if isinstance(end, list) else [] if end is None else [end],
        "get_max_seq_len": args.max_seq_len,
        "get_max_context_len": args.max_context_len,
        "get_n_layers": args.n_layers,
        "get_vocab_size": args.vocab_size,
        "use_kv_cache": True,
        "enable_dynamic_shape": True,
    }


def export(folder: Path, output: Path, context: int = 2048, max_tokens: int = 512, group: int = 32) -> None:
    """Writes the program of the model in `folder`."""
    if not 2 <= max_tokens <= context:
        raise Unsupported(f"--max-tokens {max_tokens} must be at least 2 and at most the context, {context}")
    model, args = build(folder, context, max_tokens)
    config = read_json(folder / "config.json")
    program = lower(quantize(model, group), args, metadata(config, args))
    with output.open("wb") as file:
        program.write_to_file(file)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pteron.export", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="HF_DIR", help="config.json and safetensors files")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the program to write (.pte)")
    parser.add_argument("--context", type=int, default=2048, help="positions of the KV cache (%(default)s)")
    parser.add_argument("--max-tokens", type=int, default=512, help="tokens in a call (%(default)s)")
    parser.add_argument("--group", type=int, default=32, help="weights that share a scale (%(default)s)")
    options = parser.parse_args()
    try:
        export(options.folder, options.output, options.context, options.max_tokens, options.group)
    except (Unsupported, OSError) as error:
        print(f"pteron.export: {error}", file=sys.stderr)
        return 1
    print(f"{options.output}: {options.output.stat().st_size / 2**20:.1f} MiB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
