# SPDX-License-Identifier: BSD-3-Clause
"""all-MiniLM-L6-v2 as a program for the server: in one delegate, with its tokenizer beside it.

usage: export_minilm.py WEIGHTS_FOLDER OUT_FOLDER
"""
import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

WEIGHTS, OUT = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugin"))
import minilm


def tokenizer() -> Tokenizer:
    """As the model's own file has it."""
    words = {word: number for number, word in enumerate((WEIGHTS / "vocab.txt").read_text().rstrip("\n").split("\n"))}
    out = Tokenizer(models.WordPiece(words, unk_token="[UNK]", max_input_chars_per_word=100))
    out.normalizer, out.pre_tokenizer, out.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    out.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    ends = [(name, words[name]) for name in ("[CLS]", "[SEP]")]
    out.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    return out


def export() -> bytes:
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
    from pteron.partition import PteronPartitioner

    model = minilm.load(WEIGHTS / "model.safetensors")
    example = torch.zeros(1, minilm.LONGEST, dtype=torch.long), torch.ones(1, minilm.LONGEST, dtype=torch.long)
    length = torch.export.Dim("length", min=2, max=minilm.LONGEST)
    exported = torch.export.export(model, example, dynamic_shapes=({1: length}, {1: length}))
    partitioner = PteronPartitioner()
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner], compile_config=EdgeCompileConfig(_check_ir_validity=False))
    print(partitioner.report())
    return edge.to_executorch().buffer


TEXTS = ["A cat is sleeping.", "a kitten takes a nap", "Shares fell on the stock market; nobody knows why!", "Crème brûlée, 日本語 & unbelievableness"]


def golden(words: Tokenizer) -> list[dict]:
    model, out = minilm.load(WEIGHTS / "model.safetensors"), []
    for text in TEXTS:
        tokens = words.encode(text).ids
        with torch.no_grad():
            (vector,) = model(torch.tensor([tokens]), torch.ones(1, len(tokens), dtype=torch.long))
        out.append({"text": text, "tokens": tokens, "vector": vector.tolist()})
    return out


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    words = tokenizer()
    words.save(str(OUT / "tokenizer.json"))
    (OUT / "golden.json").write_text(json.dumps(golden(words)))
    sources = Path(__file__).read_bytes() + Path(minilm.__file__).read_bytes()
    state = hashlib.sha256(sources + version("executorch").encode()).hexdigest()
    key = OUT / "minilm.key"
    if not key.exists() or key.read_text() != state:
        (OUT / "minilm.pte").write_bytes(export())
        key.write_text(state)


main()
