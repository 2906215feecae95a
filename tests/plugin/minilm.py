# SPDX-License-Identifier: BSD-3-Clause
"""all-MiniLM-L6-v2, a BERT with its real weights, as a torch module and as a program with a dynamic length."""
import hashlib
import json
import struct
from importlib.metadata import version
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, HIDDEN, EPSILON = 384, 12, 6, 1536, 1e-12
LONGEST = 128


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x, mask):
        def heads(y):
            return y.view(*y.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        scores = q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + mask
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)


class Residual(nn.Module):
    """A projection onto the residual stream, and the norm behind it."""

    def __init__(self, width):
        super().__init__()
        self.dense, self.LayerNorm = nn.Linear(width, WIDTH), nn.LayerNorm(WIDTH, EPSILON)

    def forward(self, y, x):
        return self.LayerNorm(self.dense(y) + x)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.ModuleDict({"self": Attention(), "output": Residual(WIDTH)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, HIDDEN)})
        self.output = Residual(HIDDEN)

    def forward(self, x, mask):
        x = self.attention["output"](self.attention["self"](x, mask), x)
        return self.output(F.gelu(self.intermediate["dense"](x)), x)


class MiniLM(nn.Module):
    """Token ids and their mask [1, length] to a sentence's embedding [1, 384]."""

    def __init__(self):
        super().__init__()
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(30522, WIDTH),
            "position_embeddings": nn.Embedding(512, WIDTH),
            "token_type_embeddings": nn.Embedding(2, WIDTH),
            "LayerNorm": nn.LayerNorm(WIDTH, EPSILON),
        })
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(LAYERS))})

    def forward(self, tokens, mask):
        positions = torch.arange(tokens.shape[1])
        e = self.embeddings
        x = e["word_embeddings"](tokens) + e["position_embeddings"](positions) + e["token_type_embeddings"].weight[0]
        x = e["LayerNorm"](x)
        hidden = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.encoder["layer"]:
            x = layer(x, hidden)
        weights = mask[:, :, None].float()
        return F.normalize((x * weights).sum(1) / weights.sum(1), dim=-1)


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """A safetensors file: the length of a JSON header, the header, the data."""
    content = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    data = memoryview(content)[8 + length :]
    return {
        name: torch.frombuffer(data[slice(*entry["data_offsets"])], dtype=torch.float32).view(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def load(path: Path) -> MiniLM:
    model = MiniLM().eval()
    weights = {name: value for name, value in read_weights(path).items() if not name.startswith("pooler.")}
    model.load_state_dict(weights)
    return model


def export(model: MiniLM) -> bytes:
    """What ExecuTorch makes of it, with any number of tokens from 2 on."""
    from cases.lowering import prepare_process
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    prepare_process()
    example = torch.zeros(1, LONGEST, dtype=torch.long), torch.ones(1, LONGEST, dtype=torch.long)
    length = torch.export.Dim("length", min=2, max=LONGEST)
    exported = torch.export.export(model, example, dynamic_shapes=({1: length}, {1: length}))
    partitioner = VulkanPartitioner({"require_dynamic_shapes": True})
    config = EdgeCompileConfig(_check_ir_validity=False)  # takes half of the time
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner], compile_config=config)
    return edge.to_executorch().buffer


def program(model: MiniLM, kept: Path) -> Path:
    """The program's file; exported anew only if this file or the wheel has changed."""
    state = hashlib.sha256(Path(__file__).read_bytes() + version("executorch").encode()).hexdigest()
    path, key = kept / "minilm.pte", kept / "minilm.key"
    if not key.exists() or key.read_text() != state:
        kept.mkdir(parents=True, exist_ok=True)
        path.write_bytes(export(model))
        key.write_text(state)
    return path
