# SPDX-License-Identifier: BSD-3-Clause
"""Compares the tokenizer token for token with the packages tokenizers, sentencepiece and tiktoken.

usage: tokenizer_check.py TOKENIZE_TEXTS TOKENIZER_FOLDER [NAME…]

Real tokenizers are fetched by tools/setup. SentencePiece models are trained here, GGUF metadata and tiktoken files are made
from real vocabularies.
"""
import base64
import functools
import io
import json
import os
import pathlib
import random
import sys

import sentencepiece
import tiktoken
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import corpus
from tokenize_tool import Failure, Tool, check

TOOL = Tool(sys.argv[1])
REAL = pathlib.Path(sys.argv[2])
CORPUS = corpus.corpus()
CHARACTERS = list(corpus.every_character())
SOME, FEW = CORPUS[:3000], CORPUS[:500]
LONG = ["a" * 300_000, " " * 300_000, "7" * 300_000, "\n" * 100_000, "日本語" * 50_000, " ".join(CORPUS[:4000]).replace("\0", "")]

CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def real_file(name):
    return REAL / name / "tokenizer.json"


def real_json(name):
    return json.loads(real_file(name).read_text())


def answers(tokenizer, texts, *flags):
    """The reference's tokens, and what it makes of them."""
    tokenizer.encode_special_tokens = "--plain" in flags
    ids = [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens="--bare" not in flags)]
    return ids, tokenizer.decode_batch(ids, skip_special_tokens=False)


def compare(name, tokenizer, path, texts, *flags):
    """Our tokenizer from `path` against the reference."""
    check(name, texts, TOOL.run(path, texts, *flags), *answers(tokenizer, texts, *flags))


def saved(tokenizer):
    return TOOL.file(tokenizer.to_str().encode(), ".json")


@functools.cache
def common_tokens(name):
    """A real tokenizer with its 10,000 first tokens."""
    data = real_json(name)
    model = data["model"]
    model["vocab"] = {t: i for t, i in model["vocab"].items() if i < 10_000}
    model["merges"] = [m for m in model["merges"] if all(p in model["vocab"] for p in (*m.split(" "), m.replace(" ", "")))]
    data["added_tokens"] = [t for t in data["added_tokens"] if t["id"] < 10_000]
    return json.dumps(data)


def byte_level(name="gpt2", **parts):
    """A tokenizer with tokens of a real one and other parts."""
    tokenizer = Tokenizer.from_str(common_tokens(name))
    for part, value in parts.items():
        setattr(tokenizer, part, value)
    return tokenizer


def test_real_files():
    for name in ("gpt2", "llama2", "qwen2_5", "llama3_2"):
        path = real_file(name)
        tokenizer = Tokenizer.from_file(str(path))
        compare(name, tokenizer, path, CORPUS + CHARACTERS + LONG)
        ours = TOOL.run(path, CORPUS, "--plain", "--bare")
        check(f"{name}, special tokens as text", CORPUS, ours, *answers(tokenizer, CORPUS, "--plain", "--bare"))
        if name != "qwen2_5":  # which normalises
            check_round_trip(name, ours)


def check_round_trip(name, ours):
    for text, (_, decoded) in zip(CORPUS, ours):
        # A text that starts with the sign for a space can't be told from one that starts with a space.
        if decoded != text and not (name == "llama2" and "▁" in text):
            raise Failure(f"{name}: {text!r} came back as {decoded!r}")


def test_decoding_of_any_tokens():
    rng = random.Random(2)
    for name in ("gpt2", "llama2", "qwen2_5"):
        tokenizer = Tokenizer.from_file(str(real_file(name)))
        size = tokenizer.get_vocab_size()
        lists = [[rng.randrange(size if rng.random() < 0.5 else 300) for _ in range(rng.randint(0, 12))] for _ in range(4000)]
        check(name, lists, TOOL.run(real_file(name), lists, "--decode"), None, tokenizer.decode_batch(lists, skip_special_tokens=False))


def test_pre_tokenizers():
    split = lambda regex, behavior="isolated", invert=False: pre_tokenizers.Split(Regex(regex), behavior, invert)
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ways = {
        "smollm": [pre_tokenizers.Digits(individual_digits=True), gpt2],
        "digits together": [pre_tokenizers.Digits(), gpt2],
        "gpt-4o": [split(O200K, "removed", True), bytes_only],
        "deepseek-v3": [split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"),
                        split(r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"""
                              r"""\s*[\r\n]+|\s+(?!\S)|\s+"""), bytes_only],
        "bloom": [split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), bytes_only],
        "falcon": [pre_tokenizers.Punctuation("contiguous"), gpt2, pre_tokenizers.Digits(), split("[0-9][0-9][0-9]")],
        "kimi": [split(rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lo}}&&[^\p{{Han}}]]*[\p{{Ll}}\p{{M}}&&[^\p{{Han}}]]+|\s+|."), bytes_only],
        "numbers from the right": [split(r"\d{1,3}(?=(?:\d{3})*\b)"), gpt2],
        "between digits": [split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))"), bytes_only],
        "prefix space": [pre_tokenizers.ByteLevel(add_prefix_space=True)],
        "lines": [split(r"^.+$", "merged_with_previous"), split(r"\n", "merged_with_next"), bytes_only],
        "words": [pre_tokenizers.Whitespace(), bytes_only],
        "spaces removed": [pre_tokenizers.WhitespaceSplit(), bytes_only],
        "punctuation": [pre_tokenizers.Punctuation("merged_with_next"), bytes_only],
        "contiguous": [split(r"[a-z]|\s", "contiguous"), bytes_only],
        "delimiter": [pre_tokenizers.CharDelimiterSplit("-"), bytes_only],
    }
    old_punctuation = [t for t in SOME if not any(ord(c) > 0x2E42 for c in t)]  # the reference knows Unicode 9's
    for name, steps in ways.items():
        path = saved(byte_level(pre_tokenizer=pre_tokenizers.Sequence(steps)))
        texts = old_punctuation if "punctuation" in name or name == "falcon" else SOME
        compare(name, Tokenizer.from_file(str(path)), path, texts)


def test_sentence_piece_style_json():
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            tokenizer = byte_level("llama2", normalizer=normalizers.Sequence([]), decoder=decoders.Metaspace("▁", scheme, split))
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme, split)
            compare(f"metaspace {scheme} {split}", tokenizer, saved(tokenizer), SOME)
    gemma = byte_level("llama2", normalizer=normalizers.Replace(" ", "▁"), pre_tokenizer=pre_tokenizers.Split(" ", "merged_with_previous"))
    compare("gemma", gemma, saved(gemma), SOME)
    for flags in ({"byte_fallback": False}, {"fuse_unk": False, "byte_fallback": False}, {"unk_token": None, "byte_fallback": False}):
        data = real_json("llama2")
        data["model"].update(flags)
        path = TOOL.file(data, ".json")
        compare(f"llama2 with {flags}", Tokenizer.from_file(str(path)), path, SOME)


def test_normalizers():
    for name, steps in {
        "NFC": [normalizers.NFC()], "NFD": [normalizers.NFD()], "NFKC": [normalizers.NFKC()], "NFKD": [normalizers.NFKD()],
        "lower": [normalizers.Lowercase()], "strip": [normalizers.Strip()], "left": [normalizers.Strip(True, False)],
        "several": [normalizers.Prepend("x "), normalizers.NFKC(), normalizers.Replace(Regex(r"\s{2,}"), " "), normalizers.Lowercase()],
    }.items():
        tokenizer = byte_level(normalizer=normalizers.Sequence(steps))
        path = saved(tokenizer)
        compare(name, tokenizer, path, SOME if name in ("left", "several") else FEW + CHARACTERS)


def test_added_tokens():
    rng = random.Random(3)
    flag = lambda: rng.random() < 0.4
    bits = ["<a>", "<ab>", "b>", "[x]", "yes", "Yes", "é", " ", "  ", "\n", "word", "12", "<a> ", "ſ", "ＡＢ", "_u", "\u200dz"]
    around = [" ", "  ", "\n", "\t", "a", "é", "_", "1", "-", "", "\u200d", "²", "Ⓐ", "yesyes", "YES"]
    for number in range(40):
        tokenizer = byte_level(normalizer=rng.choice([normalizers.Sequence([]), normalizers.Lowercase(), normalizers.NFKC(), normalizers.Prepend("▁")]))
        for text in rng.sample(bits, rng.randint(1, 8)):
            token = AddedToken(text, single_word=flag(), lstrip=flag(), rstrip=flag(), normalized=flag(), special=flag())
            (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
        texts = ["".join(rng.choice(bits + around) for _ in range(rng.randint(0, 9))) for _ in range(300)]
        path = saved(tokenizer)
        reference = Tokenizer.from_file(str(path))
        compare(f"set {number}", reference, path, texts)
        compare(f"set {number}, plain", reference, path, texts, "--plain")


def test_post_processors():
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<s>", "</s>", "<mask>"])
    pair = lambda t: (t, tokenizer.token_to_id(t))
    for name, processor in {
        "template": processors.TemplateProcessing(single="<s> <mask> $A </s>", pair="<s> $A $B", special_tokens=[pair("<s>"), pair("</s>"), pair("<mask>")]),
        "roberta": processors.RobertaProcessing(pair("</s>"), pair("<s>")),
        "bert": processors.BertProcessing(pair("</s>"), pair("<s>")),
        "sequence": processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing(single="$A </s>", pair="$A $B", special_tokens=[pair("</s>")])]),
    }.items():
        tokenizer.post_processor = processor
        path = saved(tokenizer)
        compare(name, tokenizer, path, SOME[:300])
        compare(f"{name}, bare", tokenizer, path, SOME[:300], "--bare")


def letters():
    """Which byte a letter of the byte alphabet stands for."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


def tiktoken_lines(vocabulary, size):
    alphabet = letters()
    rows = sorted((i, t) for t, i in vocabulary.items() if i < size)
    return {bytes(alphabet[c] for c in t): i for i, t in rows}


def test_tiktoken():
    llama = ["begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1", "finetune_right_pad_id", "step_id",
             "start_header_id", "end_header_id", "eom_id", "eot_id", "python_tag", "image", *(f"reserved_special_token_{i}" for i in range(2, 246))]
    ranks = tiktoken_lines(real_json("llama3_2")["model"]["vocab"], 128_000)
    few = {t: i for t, i in ranks.items() if i < 1000}
    qwen = tiktoken_lines(real_json("qwen2_5")["model"]["vocab"], 151_643)
    qwen_special = ["endoftext", "im_start", "im_end", *(f"extra_{i}" for i in range(205))]
    for name, table, special, pattern, bos in (("llama 3", ranks, llama, CL100K, True), ("a small one", few, llama, CL100K, True),
                                               ("qwen", qwen, qwen_special, CL100K.replace("{1,3}", ""), False)):
        tokens = {f"<|{t}|>": len(table) + i for i, t in enumerate(special)}
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=table, special_tokens=tokens)
        path = TOOL.file(b"".join(base64.b64encode(t) + b" %d\n" % i for t, i in table.items()))
        texts = FEW if table is few else CORPUS + CHARACTERS
        ids = [([tokens["<|begin_of_text|>"]] if bos else []) + encoding.encode(t, allowed_special="all") for t in texts]
        check(name, texts, TOOL.run(path, texts), ids, [encoding.decode(i) for i in ids])
        ids = [encoding.encode(t, disallowed_special=()) for t in SOME]
        check(f"{name}, special tokens as text", SOME, TOOL.run(path, SOME, "--plain", "--bare"), ids, SOME)


def trained(**options):
    lines = [t.replace("\n", " ").replace("\0", "") for t in SOME if t.strip()]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=out, vocab_size=2000, minloglevel=2, num_threads=1,
                                             character_coverage=0.98, **options)
    return out.getvalue()


def test_sentence_piece():
    mine = ["<uds>", "foo bar", "▁▁", "ß", "日本", "don't", "<|im_start|>", "a", "  "]
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    for name, options in {
        "llama": dict(model_type="bpe", byte_fallback=True, **plain),
        "bpe": dict(model_type="bpe", control_symbols=["<ctl>", "☃"]),
        "bpe with user-defined": dict(model_type="bpe", user_defined_symbols=mine, byte_fallback=True),
        "bpe without prefix": dict(model_type="bpe", user_defined_symbols=mine, byte_fallback=True, add_dummy_prefix=False, **plain),
        "bpe with suffix": dict(model_type="bpe", treat_whitespace_as_suffix=True, normalization_rule_name="nmt_nfkc_cf"),
        "unigram": dict(model_type="unigram"),
        "unigram with bytes": dict(model_type="unigram", user_defined_symbols=mine, byte_fallback=True),
        "unigram as it is": dict(model_type="unigram", byte_fallback=True, **plain),
    }.items():
        model = trained(**options)
        reference = sentencepiece.SentencePieceProcessor(model_proto=model)
        path = TOOL.file(model)
        texts = CORPUS + CHARACTERS + LONG
        exact = "normalization_rule_name" in options and "user_defined_symbols" not in options and "suffix" not in name
        decoded = [None if "▁" in t else t for t in texts] if exact else None  # the sign for a space comes back as one
        check(name, texts, TOOL.run(path, texts, "--bare", "--plain"), reference.encode(texts), decoded)
        if name in ("llama", "unigram with bytes"):
            as_gguf(name, reference, path, "t5" if "unigram" in name else "llama")


def metadata(**parts):
    """A file as the converter of GGUF models writes it."""
    return TOOL.file({f"ggml.{key}": value for key, value in parts.items()})


def as_gguf(name, reference, path, model):
    kind = lambda i: (2 if reference.is_unknown(i) else 3 if reference.is_control(i) else 6 if reference.is_byte(i)
                      else 4 if model == "t5" and i < reference.piece_to_id("<0x00>") else 1)
    numbers = range(reference.vocab_size())
    parts = {"model": model, "tokens": [reference.id_to_piece(i) for i in numbers], "scores": [reference.get_score(i) for i in numbers],
             "token_type": [kind(i) for i in numbers], "add_space_prefix": True}
    if model == "t5":  # without the replacements of characters
        parts["remove_extra_whitespaces"] = True
        texts = [t for t in SOME if t.isascii() and t.isprintable()]
    else:
        texts = SOME
    wanted = [ids for ids, _ in TOOL.run(path, texts, "--bare")]
    file = metadata(**parts)
    check(f"{name}, from GGUF metadata", texts, TOOL.run(file, texts, "--bare"), wanted)


def test_gguf_byte_level():
    data = real_json("gpt2")["model"]
    lost = ["ą", "ć", "Ě"]  # SmolLM has no tokens for some control characters
    tokens = ["<|im_start|>", "<|im_end|>", "<tool>"] + [t for t in data["vocab"] if t not in lost and t != "<|endoftext|>"]
    known = set(tokens)
    merges = [m for m in data["merges"] if all(p in known for p in (*m.split(" "), m.replace(" ", "")))]
    kinds = [3, 3, 4] + [1] * (len(tokens) - 3)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    regex = lambda r: [pre_tokenizers.Split(Regex(r), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    for pre, steps in {"gpt-2": [gpt2], "smollm": [pre_tokenizers.Digits(individual_digits=True), gpt2], "llama-bpe": regex(CL100K),
                       "qwen2": regex(CL100K.replace("{1,3}", "")), "gpt-4o": regex(O200K)}.items():
        tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges],
                                         ignore_merges=pre == "llama-bpe"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.decoder = decoders.ByteLevel()
        if pre == "qwen2":
            tokenizer.normalizer = normalizers.NFC()
        tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in tokens[:2]])
        tokenizer.add_tokens([AddedToken(tokens[2], normalized=False)])
        if pre == "llama-bpe":
            tokenizer.post_processor = processors.TemplateProcessing(single="<|im_start|> $A", pair="$A $B", special_tokens=[("<|im_start|>", 0)])
        path = metadata(model="gpt2", pre=pre, tokens=tokens, token_type=kinds, merges=merges, bos_token_id=0, eos_token_id=1)
        compare(pre, tokenizer, path, CORPUS)


def word_piece(normalizer, words):
    """With BERT's parts and tokens for words and for single characters, so that every change to one is seen."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = dict.fromkeys([*special, *words, *(f"{prefix}{chr(c)}" for c in corpus.used_codes() for prefix in ("", "##"))])
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="$A $B", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def test_word_piece():
    rng = random.Random(4)
    parts = {text[i : i + rng.randint(2, 6)] for text in SOME for i in range(0, len(text), 5)}
    words = [prefix + part for part in sorted(parts) if not part.isspace() for prefix in ("", "##")]
    for name, normalizer in (
        ("uncased", normalizers.BertNormalizer()),
        ("cased", normalizers.BertNormalizer(lowercase=False)),
        ("accents kept", normalizers.BertNormalizer(strip_accents=False)),
        ("as it is", normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)),
    ):
        tokenizer = word_piece(normalizer, words)
        compare(name, tokenizer, saved(tokenizer), CORPUS + CHARACTERS + LONG + ["a" * 100, "a" * 101, "don't ' do not , you 're ? n't"])


def test_bad_utf8():
    bad = [b"\xff", b"abc\xc3", b"\xc3\x28", b"ok \xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"a\x80b", b"\xf8\x88\x80\x80\x80"]
    for item, (ids, message) in zip(bad, TOOL.run(real_file("gpt2"), bad)):
        if ids is not None or "not valid UTF-8" not in message:
            raise Failure(f"{item!r}: {message}")


def test_bad_files():
    data = real_json("gpt2")
    small = dict(data, model=dict(data["model"], merges=[], vocab={k: v for k, v in data["model"]["vocab"].items() if v < 300}), added_tokens=[])
    change = lambda **parts: {**small, **parts}
    model = lambda **parts: {**small, "model": {**small["model"], **parts}}
    for content, words in (
        (b"", "empty"), (b"hello", "neither"), (b"GGUF\x03\0\0\0", "GGUF model"), (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (json.dumps(small)[:2000].encode(), "not valid JSON at byte"), ({"bos_token": "<s>"}, "no 'model'"), (model(type="WordLevel"), "WordLevel"),
        (model(merges=["a zzz"]), "'zzz'"), (model(merges=["! !"]), "makes '!!'"), (model(merges=["a"]), "two parts"),
        (model(vocab={"a": 1, "b": 1}), "two tokens"), (model(vocab={"a": 10**9}), "number 1000000000"), (model(vocab={}), "no tokens"),
        (change(pre_tokenizer={"type": "Split", "pattern": {"Regex": r"(?<=a)b"}, "behavior": "Isolated"}), "(?<=a)b"),
        (change(pre_tokenizer={"type": "UnicodeScripts"}), "UnicodeScripts"), (change(normalizer={"type": "Nmt"}), "Nmt"),
        (change(normalizer={"type": "Precompiled", "precompiled_charsmap": ""}), "SentencePiece file"), (change(decoder={"type": "CTC"}), "CTC"),
        (change(added_tokens=[{"id": 5, "content": "<x>"}]), "contradicts"), (b"\n\x05\n\x03<s", "truncated"), (b"IQ== 0\nIg== 1\n", "no token for byte 0"),
        (b"IQ== 0\nIg==\n", "line 2"), (b"IQ== 0\nIQ== 1\n", "two numbers"),
        ({"ggml.model": "gpt2", "ggml.tokens": [1]}, "'tokenizer.ggml.tokens' should be a list of texts"), ({"ggml.model": "rwkv", "ggml.tokens": ["a"]}, "rwkv"),
    ):
        message = TOOL.refusal(content)
        if words not in message:
            raise Failure(f"{words!r} is not in the message: {message}")


def main():
    wanted = sys.argv[3:]
    failed = 0
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_") and (not wanted or any(w in n for w in wanted))]:
        start = sum(os.times()[:4])
        try:
            test()
            print(f"ok      {name} ({sum(os.times()[:4]) - start:.1f} CPU-s)", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED  {name}: {failure}", flush=True)
    sys.exit(failed > 0)


main()
