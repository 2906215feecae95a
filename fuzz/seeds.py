# SPDX-License-Identifier: BSD-3-Clause
"""What fuzzing starts from: for each target inputs that get far, made of the fixtures of the tests or by hand."""
import hashlib
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
LARGEST = 48 << 10  # of a file that is worth mutating

sys.path.insert(0, str(ROOT / "tests" / "llm"))
from conversations import CONVERSATIONS, TOOLS  # noqa: E402
from patterns import BROKEN, PATTERNS, UNSUPPORTED  # noqa: E402
from schemas import REFUSED, SCHEMAS  # noqa: E402
from snippets import CONTEXT, SNIPPETS  # noqa: E402


def files(pattern):
    return [path.read_bytes() for path in sorted(DATA.glob(pattern)) if path.stat().st_size <= LARGEST]


def programs(most=2):
    """The smallest of each folder, which has one op."""
    for folder in sorted({path.parent.parent for path in DATA.glob("**/*.pte")}):
        sizes = sorted((path.stat().st_size, path) for path in folder.glob("*/*.pte"))
        yield from (path.read_bytes() for size, path in sizes[:most] if size <= LARGEST)


def delegates():
    """The graphs inside of programs: a magic number four bytes behind their beginning, their size in the header."""
    for program in programs():
        at = program.find(b"VH00") - 4
        if at >= 0:
            yield program[at:]


def to_json(value):
    return json.dumps(value, ensure_ascii=False).encode()


# ---- GGUF ----

BLOCKS = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24),
          "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}


def gguf_text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_value(value):
    if isinstance(value, list):
        items = [gguf_value(item) for item in value]
        return 9, struct.pack("<IQ", items[0][0], len(items)) + b"".join(item for _, item in items)
    if isinstance(value, bool):
        return 7, struct.pack("<B", value)
    if isinstance(value, str):
        return 8, gguf_text(value)
    return (4, struct.pack("<I", value)) if isinstance(value, int) else (6, struct.pack("<f", value))


def gguf(metadata, tensors):
    """A file; `tensors` are names with sizes, the innermost first, and a type. Their numbers are zeros."""
    head, data = b"", b""
    for key, value in metadata.items():
        kind, raw = gguf_value(value)
        head += gguf_text(key) + struct.pack("<I", kind) + raw
    for name, (sizes, kind) in tensors.items():
        number, values, size = BLOCKS[kind]
        count = 1
        for axis in sizes:
            count *= axis
        head += gguf_text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, number, len(data))
        data += bytes(-(-count // values * size // 32) * 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + head
    return head + bytes(-len(head) % 32) + data


WORDS = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.tokens": ["<s>", "a", "b", "ab", "</s>"],
         "tokenizer.ggml.merges": ["a b"], "tokenizer.ggml.token_type": [3, 1, 1, 1, 3]}
PIECES = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "<0x0A>", "a"],
          "tokenizer.ggml.scores": [0.0, 0.0, 0.0, 0.0, -1.0], "tokenizer.ggml.token_type": [2, 3, 3, 6, 1]}


def small_model(name, kind, width=32, more=(), words=WORDS):
    """One layer of two heads and two numbers each, with everything that the converter knows of the architecture."""
    meta = {"general.architecture": name, f"{name}.block_count": 1, f"{name}.context_length": 16, f"{name}.embedding_length": width,
            f"{name}.feed_forward_length": 32, f"{name}.attention.head_count": 2, f"{name}.attention.head_count_kv": 1,
            f"{name}.attention.key_length": 2, f"{name}.attention.layer_norm_rms_epsilon": 1e-5, "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 2, "tokenizer.chat_template": "{{ messages }}", **words}
    meta.update((f"{name}.{key}", value) for key, value in dict(more).items())
    vector = lambda size: ([size], "F32")
    rows = lambda count: ([width, count], kind)
    tensors = {"token_embd.weight": rows(5), "blk.0.attn_norm.weight": vector(width), "blk.0.attn_q.weight": rows(4), "blk.0.attn_k.weight": rows(2),
               "blk.0.attn_v.weight": rows(2), "blk.0.attn_output.weight": ([4, width], "F16"), "blk.0.ffn_norm.weight": vector(width),
               "blk.0.ffn_gate.weight": rows(32), "blk.0.ffn_up.weight": rows(32), "blk.0.ffn_down.weight": ([32, width], "Q8_0"),
               "output_norm.weight": vector(width)}
    if name == "qwen2":
        tensors.update((f"blk.0.attn_{part}.bias", vector(size)) for part, size in (("q", 4), ("k", 2), ("v", 2)))
    if name == "qwen3":
        tensors.update((f"blk.0.attn_{part}_norm.weight", vector(2)) for part in "qk")
    return gguf(meta, tensors)


def models():
    for kind in ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"):
        yield small_model("llama", kind)
    for kind in ("Q4_K", "Q5_K", "Q6_K"):
        yield small_model("llama", kind, 256, words=PIECES)
    yield small_model("qwen2", "Q4_0", more={"rope.scaling.type": "linear", "rope.scaling.factor": 2.0, "rope.freq_base": 1e6})
    yield small_model("qwen3", "Q4_1", more={"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8})
    yield from files("gguf/*.gguf")


# ---- language models ----

def field(number, raw):
    """Bytes in a protocol buffer; none here are longer than what two bytes count."""
    size = bytes([len(raw)]) if len(raw) < 0x80 else bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7])
    return bytes([number << 3 | 2]) + size + raw


def sentence_piece(kind):
    """`kind` 1 is unigram, 2 is BPE; all bytes are there."""
    piece = lambda text, score, kind: field(1, field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + bytes([0x18, kind]))
    special = [piece("<unk>", 0, 2), piece("<s>", 0, 3), piece("</s>", 0, 3)]
    letters = [piece(f"<0x{byte:02X}>", 0, 6) for byte in range(256)]
    words = [piece(text, -score, 1) for score, text in enumerate(("▁", "a", "b", "▁a", "ab", "abc", "é"), 1)]
    return b"".join([*special, *letters, *words]) + field(2, bytes([0x18, kind, 0x98, 2, 1])) + field(3, field(1, b"identity") + b"\x18\x01")


def tokenizers():
    yield from files("tiny_tokenizer/tokenizer.json")
    yield sentence_piece(1)
    yield sentence_piece(2)
    yield b"YQ== 0\nYg== 1\nYWI= 2\n"
    for words in (WORDS, PIECES):
        yield to_json({key.removeprefix("tokenizer."): value for key, value in words.items()})
    tokens = {token: i for i, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "##b", "ab", "é"])}
    word_piece = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": tokens}
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -1.5], ["a", -2.0], ["ab", -2.5]], "byte_fallback": False}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    special = [{"id": 0, "content": "[UNK]", "single_word": False, "lstrip": True, "rstrip": False, "normalized": False, "special": True}]
    around = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
              "pair": [], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}}}
    split = {"type": "Split", "pattern": {"Regex": r"(?i:'s)|\p{L}+| ?[^\s\p{L}]+|\s+(?!\S)|\s+"}, "behavior": "Isolated", "invert": False}
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    replace = [{"type": "Replace", "pattern": {"String": "  "}, "content": "▁"}, {"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "x"}]
    steps = [{"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    yield to_json({"added_tokens": special, "normalizer": bert, "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": around,
                   "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}, "model": word_piece})
    yield to_json({"added_tokens": [], "normalizer": {"type": "Sequence", "normalizers": replace}, "pre_tokenizer": space, "decoder": space, "model": unigram})
    yield to_json({"added_tokens": special, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "Digits", "individual_digits": True}]},
                   "decoder": {"type": "Sequence", "decoders": steps}, "model": {"type": "BPE", "vocab": tokens, "merges": [["a", "##b"]], "byte_fallback": True}})


def templates():
    """As fuzz/chat_template.cpp splits them: a template, messages, tools, variables."""
    hostile = [b"", b'[{"role": "user", "content": null}]', b'[{"role": {"a": [1e308]}, "tool_calls": [{"function": {}}]}, 7]']
    for number, text in enumerate(files("**/*.jinja")):
        talks = [to_json(talk) for talk in CONVERSATIONS[number::14]]
        yield from (b"\0".join([text, messages, to_json(TOOLS) if i % 2 else b"", b""]) for i, messages in enumerate([*hostile, *talks]))
    for text in [snippet for snippet in SNIPPETS if isinstance(snippet, str)][::8]:
        yield b"\0".join([text.encode(), b"[]", b"", to_json(CONTEXT)])


def grammars():
    """As fuzz/grammar.cpp splits them: 'r' with a regular expression, or a schema; then a text."""
    schemas = [*SCHEMAS, *(schema for schema, _ in REFUSED)]
    texts = [schema.encode() if isinstance(schema, str) else to_json(schema) for schema in schemas]
    patterns = [pattern for _, many in PATTERNS for pattern in many] + BROKEN + UNSUPPORTED
    sources = [text for text in texts if len(text) <= LARGEST] + [b"r" + pattern.encode() for pattern in patterns]
    return [source + b"\0" + text for source in sources for text in (b'{"a": 12}', b"ab1")]


# ---- the rest ----

def arrays():
    for kind, size in (("<f4", 4), ("<f2", 2), ("<f8", 8), ("|b1", 1), ("|i1", 1), ("|u1", 1), ("<i4", 4), ("<i8", 8), (">f4", 4)):
        for order, shape, count in (("False", "(2, 3)", 6), ("True", "()", 1), ("False", "(0,)", 0)):
            text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
            yield b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(size * count)


def states():
    """As src/server/engine/state_file.cpp writes them; fuzz/state.cpp asks for a state of 64 bytes."""
    for layout, tokens, state in ((b"k:1x4;v:1x4", [1, 2, 3], bytes(64)), (b"", [], bytes(64)), (b"x" * 300, list(range(200)), bytes(range(64))),
                                  (b"k", [7], bytes(16))):
        head = struct.pack("<8sIIIIQ", b"PTERONST", 1, len(layout), len(tokens), 0, len(state)) + b"0" * 64
        text = head + layout + struct.pack(f"<{len(tokens)}I", *tokens) + state
        yield text + hashlib.sha256(text).hexdigest().encode()


TOOL = {"type": "function", "function": {"name": "weather", "description": "of a place", "parameters": {"type": "object", "properties": {"place": {"$ref": "#/$defs/p"}},
        "required": ["place"], "$defs": {"p": {"type": "string"}}}}}
SAID = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "reasoning_content": "r", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"place": 1}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": "22"}]
ITEMS = [{"role": "user", "content": "hi"}, {"type": "reasoning"}, {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
         {"type": "function_call_output", "call_id": "c", "output": [{"type": "output_text", "text": "22"}]}]
SAMPLING = {"temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "seed": -3, "stop": ["a", "b"], "logit_bias": {"5": -100}, "frequency_penalty": 1,
            "presence_penalty": -1, "repetition_penalty": 1.1, "ignore_eos": True, "n": 2, "max_tokens": 5}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}, "strict": True}}
BODIES = [
    ("/v1/chat/completions", {"messages": SAID[:2], "stream": True, "stream_options": {"include_usage": True}, "logprobs": True, "top_logprobs": 3, **SAMPLING}),
    ("/v1/chat/completions", {"messages": SAID, "tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": True}),
    ("/v1/chat/completions", {"messages": SAID, "tools": [TOOL, TOOL], "tool_choice": {"type": "function", "function": {"name": "weather"}}}),
    ("/v1/chat/completions", {"messages": SAID, "response_format": SCHEMA, "chat_template_kwargs": {"enable_thinking": False}, "modalities": ["text"]}),
    ("/v1/responses", {"input": ITEMS, "instructions": "i", "tools": [{"type": "function", **TOOL["function"]}, {"type": "web_search"}], "tool_choice": "auto", "metadata": {}}),
    ("/v1/responses", {"input": "hi", "text": {"format": {"type": "json_schema", "schema": {"enum": [1, "b"]}}}, "max_output_tokens": 9, "stream": True}),
    ("/v1/completions", {"prompt": ["a", "b"], "echo": True, **SAMPLING}),
    ("/v1/completions", {"prompt": [[1, 2], [3]], "logprobs": 2, "best_of": 1}),
    ("/v1/embeddings", {"model": "static", "input": ["a", "b"], "dimensions": 4, "encoding_format": "base64"}),
    ("/v1/embeddings", {"model": "static", "input": [[1, 2], [3]]}),
    ("/tokenize", {"content": "a<|im_end|>", "add_special": True, "parse_special": False}),
    ("/detokenize", {"tokens": [1, 2, 300]}),
]


def requests():
    for path, body in BODIES:
        raw = to_json(body)
        yield path.encode() + b"\n" + raw
        yield b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(raw), raw)
    yield b"POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n"
    yield b"GET /health?a=b HTTP/1.0\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"


def pages():
    """Scripts of fuzz/wasm_interface.cpp: a page that opens a program, runs it, talks to it."""
    opens, drives = [0, 0, 0], [1, 0, 0]
    loads = opens + drives + [1, 0, 5] + [1, 0, 7, 0] + drives + [1, 0, 9]
    runs = [2, 0, 0, 0] + [2, 0, 4] * 2 + [2, 0, 5]
    chats = opens + drives + [1, 0, 7, 0] + drives + [1, 0, 10] + [3, 0, 0, 0] + ([3, 0, 1] + [3, 0, 3] * 2 + [3, 0, 4]) * 5 + [3, 0, 6]
    words = (DATA / "tiny_tokenizer" / "tokenizer.json").read_bytes()
    whole = lambda script, program, words: struct.pack("<II", len(script), len(program)) + bytes(script) + program + words
    for program in list(programs(1))[::4]:
        yield whole(loads + runs * 2 + [2, 0, 6] + [2, 0, 8] + [2, 1, 0, 0] + [2, 1, 4] + [2, 0, 9, 1, 255], program, b"")
    yield whole(chats, (DATA / "llama_tiny" / "hf_rope" / "model.pte").read_bytes(), words)


SEEDS = {
    "program": programs,
    "delegate": delegates,
    "tensor_file": lambda: files("**/*.ptd"),
    "gguf": models,
    "tokenizer": tokenizers,
    "chat_template": templates,
    "grammar": grammars,
    "npy": arrays,
    "json": lambda: [*(text for text in files("**/manifest.json") if len(text) < 2048)][::10] + [to_json(schema) for schema in SCHEMAS] + [to_json(CONVERSATIONS)],
    "state": states,
    "http": requests,
    "wasm_interface": pages,
}
