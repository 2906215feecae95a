# SPDX-License-Identifier: BSD-3-Clause
"""The tokenizer and the chat template of a GGUF file, in the packages that define them."""
import sys

import jinja2
import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers

from gguf_model import field

CONTROL = 3


def tokenizer_of(reader):
    """Byte-level BPE as in the file's metadata; digits stand alone, as SmolLM's do."""
    kind, pre = field(reader, "tokenizer.ggml.model"), field(reader, "tokenizer.ggml.pre")
    if (kind, pre) != ("gpt2", "smollm"):
        sys.exit(f"the tokenizer gpt2/smollm is known here, not {kind}/{pre}")
    tokens = field(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in field(reader, "tokenizer.ggml.merges")]
    tokenizer = tokenizers.Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    kinds = field(reader, "tokenizer.ggml.token_type")
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t, k in zip(tokens, kinds) if k == CONTROL])
    return tokenizer


def conversation(reader, messages):
    """The text that the model reads to answer these messages."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(field(reader, "tokenizer.chat_template"))
    return template.render(messages=messages, add_generation_prompt=True)
