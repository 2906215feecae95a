# SPDX-License-Identifier: BSD-3-Clause
"""Makes the byte-level tokenizer of 512 tokens that goes with the tiny models of tests/data/llama_tiny.

usage: make_tiny_tokenizer.py OUT_FOLDER
"""
import pathlib
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

import corpus

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def main():
    folder = pathlib.Path(sys.argv[1])
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=512, special_tokens=[AddedToken(t, normalized=False) for t in SPECIAL],
                                  initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([" ".join(corpus.SENTENCES["Latin"][:1]), "user assistant system the model answers"] * 3
                                  + corpus.corpus()[:2000], trainer)
    assert tokenizer.get_vocab_size() == 512
    (folder / "tokenizer.json").write_text(tokenizer.to_str())
    (folder / "chat_template.jinja").write_text(TEMPLATE)


main()
