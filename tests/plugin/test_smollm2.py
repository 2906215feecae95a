# SPDX-License-Identifier: BSD-3-Clause
"""SmolLM2-135M-Instruct as a user's own model: a Hugging Face folder, python -m pteron.export, pteron generate.

usage: test_smollm2.py PTERON MODEL.gguf      (needs the groups llm and model of pins.txt)

The folder holds the dequantised weights of the GGUF file. What the program says is compared with the same model in torch,
its matrices rounded to 4 bits as the exporter does it: 3 × 32 tokens, each given those before it.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "llm"))
from gguf_model import Model, field  # noqa: E402
from gguf_tokenizer import conversation, tokenizer_of  # noqa: E402
from test_export import rounded  # noqa: E402

PTERON, GGUF = sys.argv.pop(1), sys.argv.pop(1)
TOKENS, GAP = 32, 0.05
QUESTIONS = ["Why is the sky blue?", "Write a short story about a lighthouse.", "List five animals that live in the sea."]
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip


def halves(rows, heads):
    """Rows of heads whose neighbours are rotated with each other, reordered so that halves are."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).transpose(1, 2).reshape(rows.shape).contiguous()


def hugging_face(model):
    """The tensors under their names in a Hugging Face folder."""
    for name, tensor in model.tensors.items():
        if name == "token_embd.weight":
            yield "model.embed_tokens.weight", tensor
        elif name == "output_norm.weight":
            yield "model.norm.weight", tensor
        else:
            _, layer, part, kind = name.split(".")
            if part in ("attn_q", "attn_k"):
                tensor = halves(tensor, model.heads if part == "attn_q" else model.kv_heads)
            yield f"model.layers.{layer}.{NAMES[part]}.{kind}", tensor


def write_folder(folder, model):
    get = lambda key: field(model.reader, f"{model.arch}.{key}")
    config = {
        "model_type": "llama", "hidden_size": get("embedding_length"), "intermediate_size": get("feed_forward_length"),
        "num_attention_heads": model.heads, "num_key_value_heads": model.kv_heads, "num_hidden_layers": model.layers,
        "vocab_size": len(model.tensors["token_embd.weight"]), "rms_norm_eps": model.eps,
        "rope_theta": get("rope.freq_base"), "tie_word_embeddings": True,
        "bos_token_id": field(model.reader, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": field(model.reader, "tokenizer.ggml.eos_token_id"),
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer_of(model.reader).save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(field(model.reader, "tokenizer.chat_template"))
    tensors, header, size = dict(hugging_face(model)), {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [size, size + tensor.nbytes]}
        size += tensor.nbytes
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.numpy().tobytes())


class OwnModel(unittest.TestCase):
    def test_every_token_is_the_best_of_torch_where_that_is_sure(self):
        model = Model(GGUF)
        with tempfile.TemporaryDirectory() as work:
            folder, program = Path(work) / "hf", Path(work) / "model.pte"
            folder.mkdir()
            write_folder(folder, model)
            export = [sys.executable, "-W", "ignore", "-m", "pteron.export", folder, "-o", program, "--context", "256", "--max-tokens", "128"]
            subprocess.run(export, check=True)
            answers = [self.generate(program, folder / "tokenizer.json", question) for question in QUESTIONS]
        model.tensors = {name: rounded(t).float() if t.dim() == 2 else t for name, t in model.tensors.items()}
        tokenizer, sure, right = tokenizer_of(model.reader), 0, 0
        for question, answer in zip(QUESTIONS, answers):
            prompt = tokenizer.encode(conversation(model.reader, [{"role": "user", "content": question}])).ids
            self.assertEqual(answer["prompt_tokens"], len(prompt))
            self.assertEqual(len(answer["token_ids"]), TOKENS)
            best = model.logits(prompt + answer["token_ids"])[len(prompt) - 1 : -1].topk(2)
            decided = best.values[:, 0] - best.values[:, 1] > GAP
            equal = best.indices[:, 0] == torch.tensor(answer["token_ids"])
            sure += int(decided.sum())
            right += int((decided & equal).sum())
        print(f"{right} of {sure} tokens that torch is sure of, of {TOKENS * len(QUESTIONS)}", file=sys.stderr)
        self.assertEqual(right, sure)
        self.assertGreater(sure, 80)

    def generate(self, program, tokenizer, question):
        command = [PTERON, "generate", program, "--tokenizer", tokenizer, "--prompt", question, "--max-tokens", TOKENS]
        done = subprocess.run([*map(str, command), "--ignore-eos", "--temperature", "0", "--json"],
                              capture_output=True, text=True, env={**os.environ, "NODEVICE_SELECT": "1"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


if __name__ == "__main__":
    unittest.main()
