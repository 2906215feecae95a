# SPDX-License-Identifier: BSD-3-Clause
"""A GGUF Llama as an ExecuTorch program for XNNPACK, with the wheel's own model: 4-bit weights in groups of 32 with
activations that are rounded to 8 bits as they come, attention over caches, logits of the last position only. Needs the
groups export and llm of pins.txt.

usage: export_xnnpack.py MODEL.gguf OUTPUT.pte
"""
import re
import sys

import gguf
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.examples.models.llama.llama_transformer import construct_transformer
from executorch.examples.models.llama.model_args import ModelArgs
from executorch.examples.models.llama.source_transformation.custom_kv_cache import replace_kv_cache_with_custom_kv_cache
from executorch.examples.models.llama.source_transformation.sdpa import replace_sdpa_with_custom_op
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup

NAMES = {
    "token_embd": "tok_embeddings", "output_norm": "norm", "output": "output", "attn_norm": "attention_norm",
    "attn_q": "attention.wq", "attn_k": "attention.wk", "attn_v": "attention.wv", "attn_output": "attention.wo",
    "ffn_norm": "ffn_norm", "ffn_gate": "feed_forward.w1", "ffn_up": "feed_forward.w3", "ffn_down": "feed_forward.w2",
}  # fmt: skip


def build(path, context):
    reader = gguf.GGUFReader(path)
    field = lambda key: reader.fields["llama." + key].contents()
    state = {}
    for t in reader.tensors:
        layer, name = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", t.name).groups()
        weights = torch.from_numpy(gguf.quants.dequantize(t.data, t.tensor_type).copy()).float()
        state[(f"layers.{layer}." if layer else "") + NAMES[name] + ".weight"] = weights
    state.setdefault("output.weight", state["tok_embeddings.weight"])
    heads = field("attention.head_count")
    args = ModelArgs(
        dim=field("embedding_length"), n_layers=field("block_count"), n_heads=heads,
        n_kv_heads=field("attention.head_count_kv"), head_dim=field("embedding_length") // heads,
        hidden_dim=field("feed_forward_length"), vocab_size=state["output.weight"].shape[0],
        norm_eps=field("attention.layer_norm_rms_epsilon"), rope_freq_base=field("rope.freq_base"),
        max_seq_len=context, max_context_len=context, use_kv_cache=True, use_sdpa_with_kv_cache_op=True,
        enable_dynamic_shape=True, generate_full_logits=False,
    )  # fmt: skip
    model = construct_transformer(args).eval()
    missing = model.load_state_dict(state, strict=False).missing_keys
    if any(name.endswith(".weight") for name in missing):
        sys.exit(f"the model lacks {missing}")
    return model


def main():
    source, target = sys.argv[1:]
    context = 256
    model = build(source, context)
    quantize_(model, Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(32)))
    model = replace_sdpa_with_custom_op(replace_kv_cache_with_custom_kv_cache(model))
    example = (torch.tensor([[2, 3, 4]]), {"input_pos": torch.tensor([0])})
    shapes = ({1: torch.export.Dim("token_dim", max=context - 1)}, {"input_pos": {0: 1}})
    with torch.no_grad(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        exported = torch.export.export(model, example, dynamic_shapes=shapes, strict=False)
        edge = to_edge_transform_and_lower(
            exported,
            partitioner=[XnnpackPartitioner()],
            compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=True),
        )
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False),
        sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass(),
    )
    with open(target, "wb") as file:
        edge.to_executorch(config).write_to_file(file)


main()
