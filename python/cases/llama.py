# SPDX-License-Identifier: BSD-3-Clause
"""A tiny Llama with rotate-half rotary embeddings, as ExecuTorch exports models, with the logits of some runs.

usage, in python/: python -m cases.llama [--out DIR] [--check]
"""
import argparse
import sys
from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.examples.models.llama.llama_transformer import Transformer, construct_transformer
from executorch.examples.models.llama.model_args import ModelArgs
from executorch.examples.models.llama.source_transformation.custom_kv_cache import replace_kv_cache_with_custom_kv_cache
from executorch.examples.models.llama.source_transformation.sdpa import replace_sdpa_with_custom_op
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from executorch.extension.llm.export.export_passes import RemoveRedundantTransposes
from torch.export import Dim

from cases import drift, folder, lowering
from cases.llm import dequantized, quantized

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "llama_tiny" / "hf_rope"
SHAPE = {
    "dim": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "head_dim": 16, "hidden_dim": 96, "vocab_size": 256,
    "max_seq_len": 128, "max_context_len": 128, "use_hf_rope": True,
}
ARGS = ModelArgs(**SHAPE, use_kv_cache=True, use_sdpa_with_kv_cache_op=True, enable_dynamic_shape=True)
GROUP = 32
COMPILE = {"require_dynamic_shapes": True, "force_fp16": False}
PROMPT_LENGTHS, STEPS = (7, 1, 33, 100), 12


def model() -> Transformer:
    """Random weights, a little larger than usual so that the next token is never a matter of rounding."""
    torch.manual_seed(7)
    made = construct_transformer(ARGS).eval()
    with torch.no_grad():
        made.output.weight.mul_(6)
    return made


def with_custom_ops() -> torch.nn.Module:
    return replace_sdpa_with_custom_op(replace_kv_cache_with_custom_kv_cache(quantized(model(), GROUP)))


def exported_model() -> torch.export.ExportedProgram:
    made = with_custom_ops()
    example = (torch.tensor([[2, 3, 4]]), {"input_pos": torch.tensor([0])})
    shapes = ({1: Dim("token_dim", max=ARGS.max_seq_len - 1)}, {"input_pos": {0: 1}})
    with torch.no_grad(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        traced = torch.export.export(made, example, dynamic_shapes=shapes, strict=True).module()
        cleaned = RemoveRedundantTransposes()(traced).graph_module
        return torch.export.export(cleaned, example, dynamic_shapes=shapes, strict=True)


def lower() -> lowering.Lowered:
    lowering.prepare_process()
    numbers = {
        "get_bos_id": ARGS.bos_idx,
        "get_eos_ids": [ARGS.eos_idx],
        "get_max_seq_len": ARGS.max_seq_len,
        "get_max_context_len": ARGS.max_context_len,
        "get_n_layers": ARGS.n_layers,
        "get_vocab_size": ARGS.vocab_size,
        "use_kv_cache": True,
    }
    edge = to_edge_transform_and_lower(
        exported_model(),
        partitioner=[VulkanPartitioner(COMPILE)],
        compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=True),
        constant_methods=numbers,
    )
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False),
        sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass(),
    )
    return lowering.summary(edge.to_executorch(config), [])


def greedy_run(prompt: torch.Tensor) -> tuple[list[int], torch.Tensor]:
    """Generated tokens, and the logits of every step, in float64 on the same 4-bit weights."""
    reference, single = dequantized(model(), GROUP).double(), with_custom_ops()
    tokens, position, generated, logits = prompt, 0, [], []
    for _ in range(STEPS):
        with torch.no_grad():
            row, same = (m(tokens[None], {"input_pos": torch.tensor([position])})[0] for m in (reference, single))
        if not torch.allclose(row.float(), same, atol=2e-4):
            raise ValueError("the exported model and its reference disagree")
        best = row.topk(2).values
        if best[0] - best[1] < 0.05:
            raise ValueError(f"the best two logits are only {best[0] - best[1]:.1e} apart; choose another seed")
        logits.append(row.float())
        generated.append(int(row.argmax()))
        position += len(tokens)
        tokens = torch.tensor(generated[-1:])
    return generated, torch.stack(logits)


def runs() -> tuple[list[dict], dict[str, torch.Tensor]]:
    """What the manifest says about the runs, and the logits that it names."""
    entries, tensors = [], {}
    for number, length in enumerate(PROMPT_LENGTHS):
        generator = torch.Generator().manual_seed(number)
        prompt = torch.randint(0, ARGS.vocab_size, (length,), generator=generator)
        generated, logits = greedy_run(prompt)
        entry = {"name": f"run{number}", "prompt_ids": prompt.tolist(), "generated_ids": generated}
        entry |= {"logits_file": f"run{number}_logits.bin", "logits_shape": list(logits.shape)}
        tensors[entry["logits_file"]] = logits
        entries.append(entry)
    return entries, tensors


def manifest(lowered: lowering.Lowered, entries: list[dict]) -> dict:
    if lowered.delegates != 1 or lowered.portable_ops:
        raise ValueError(f"{lowered.delegates} delegates, outside of them {dict(lowered.portable_ops)}")
    return {
        "wheel": folder.wheel(),
        "delegate_ops": dict(sorted(lowered.delegate_ops.items())),
        "portable_ops": {},
        "single_delegate": True,
        "compile_options": COMPILE,
        "quant": f"4-bit weights in groups of {GROUP}, embedding included",
        "args": SHAPE,
        "golden": "float64",
        "runs": entries,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="cases.llama", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DATA, metavar="DIR", help="instead of tests/data/llama_tiny/hf_rope")
    parser.add_argument("--check", action="store_true", help="compare with DIR instead of writing to it")
    args = parser.parse_args()
    entries, tensors = runs()
    lowered = lower()
    files = {"model.pte": lowered.program, "manifest.json": folder.to_json(manifest(lowered, entries)).encode()}
    if args.check:
        changed = drift.changed_files(files, tensors, folder.read(args.out))
        print("\n".join(f"{name} differs" for name in changed) or "no difference")
        return 1 if changed else 0
    folder.write(args.out, files | {name: folder.raw(tensor) for name, tensor in tensors.items()})
    print(f"{args.out.name} exported, {len(lowered.program) / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
