# SPDX-License-Identifier: BSD-3-Clause
"""Language models: text in, text out.

    >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
    >>> answer = llm.generate("Once upon", max_tokens=5)
    >>> answer.reason, len(answer.tokens)
    ('max_tokens', 5)
    >>> "".join(llm.stream("Once upon", max_tokens=5)) == answer.text
    True
"""
import ctypes
import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_char, c_char_p, c_float, c_int32, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from pteron import _engine
from pteron._engine import _call, _Options

#: {"role": "user", "content": "Hello"}
Message: TypeAlias = Mapping[str, str]
#: A text, or its tokens.
Prompt: TypeAlias = str | npt.NDArray[np.integer]


class _Piece(ctypes.Structure):
    _fields_ = [
        ("text", POINTER(c_char)), ("length", c_size_t), ("has_token", c_int32), ("token", c_uint32), ("logprob", c_float),
        ("is_last", c_int32), ("reason", c_char_p),
    ]  # fmt: skip


def _declare() -> ctypes.CDLL:
    error, handle, tokens, size = POINTER(c_void_p), POINTER(c_void_p), POINTER(c_uint32), POINTER(c_size_t)
    for name, result, *arguments in (
        ("llm_load", c_int32, c_char_p, POINTER(_Options), c_char_p, c_char_p, handle, error),
        ("llm_release", None, c_void_p),
        ("llm_vocabulary", c_uint32, c_void_p),
        ("llm_context", c_uint32, c_void_p),
        ("llm_encode", c_int32, c_void_p, c_char_p, c_size_t, c_int32, tokens, c_size_t, size, error),
        ("llm_decode", c_int32, c_void_p, tokens, c_size_t, c_char_p, c_size_t, size, error),
        ("llm_width", c_uint32, c_void_p),
        ("llm_embed", c_int32, c_void_p, tokens, c_size_t, POINTER(c_float), c_size_t, error),
        ("llm_render", c_int32, c_void_p, c_char_p, c_char_p, c_size_t, size, error),
        ("session_create", c_int32, c_void_p, handle, error),
        ("session_release", None, c_void_p),
        ("session_start", c_int32, c_void_p, tokens, c_size_t, c_char_p, error),
        ("session_next", c_int32, c_void_p, POINTER(_Piece), error),
        ("session_logits", c_int32, c_void_p, tokens, c_size_t, POINTER(c_float), c_size_t, error),
    ):
        function = getattr(_engine._c, f"pteron_{name}")
        function.restype, function.argtypes = result, arguments
    return _engine._c


_c = _declare()


def _pointer(tokens: npt.NDArray[np.uint32]):
    return tokens.ctypes.data_as(POINTER(c_uint32))


def _filled(function, *arguments) -> bytes:
    """What a function that wants to know the room stores."""
    needed, capacity = c_size_t(), 256
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        _call(function, *arguments, buffer, capacity, byref(needed))
        if needed.value <= capacity:
            return buffer.raw[: needed.value]
        capacity = needed.value


@dataclass(frozen=True)
class Completion:
    """What a model said. `reason` is why it ended: end_token, stop_string, grammar, max_tokens or context_full."""

    text: str
    tokens: list[int]
    reason: str
    #: Of each token, if asked for.
    logprobs: list[float] = field(default_factory=list)


class _Answer:
    """An answer while it is made."""

    def __init__(self, session: c_void_p, prompt: npt.NDArray[np.uint32], options: Mapping[str, object]) -> None:
        self._session = session
        self.tokens: list[int] = []
        self.logprobs: list[float] = []
        self.reason: str | None = None
        self._with_logprobs = options.get("logprobs") is not None
        given = json.dumps({name: value for name, value in options.items() if value is not None})
        _call(_c.pteron_session_start, session, _pointer(prompt), len(prompt), given.encode())

    def __iter__(self) -> Iterator[str]:
        piece = _Piece()
        while self.reason is None:
            _call(_c.pteron_session_next, self._session, byref(piece))
            if piece.has_token:
                self.tokens.append(piece.token)
                if self._with_logprobs:
                    self.logprobs.append(piece.logprob)
            text = ctypes.string_at(piece.text, piece.length).decode() if piece.length else ""
            if piece.is_last:
                self.reason = piece.reason.decode()
            if text:
                yield text


class LLM:
    """A language model, or an encoder, which has `embed` instead of the methods that write. Their `options` are those of sampling:
    max_tokens, temperature (0: always the best token, the default), top_k, top_p, min_p, repetition_penalty, presence_penalty,
    frequency_penalty, seed, stop (a list), regex, json_schema (a dict or its text), logprobs, speculate (drafts where the text repeats
    itself; for programs with the logits of every token).

    >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
    >>> llm.vocabulary, llm.context
    (512, 128)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tokenizer: str | os.PathLike[str] | None = None,
        chat_template: str | os.PathLike[str] | None = None,
        adapter: str | None = None,
    ) -> None:
        os.stat(path)
        options = _Options(size=ctypes.sizeof(_Options), adapter=adapter.encode() if adapter else None)
        self._handle, self._session = c_void_p(), c_void_p()
        files = [None if file is None else os.fsencode(file) for file in (tokenizer, chat_template)]
        _call(_c.pteron_llm_load, os.fsencode(path), byref(options), *files, byref(self._handle))
        weakref.finalize(self, _c.pteron_llm_release, self._handle)
        if not self.width:
            self._state()
        self._lock = threading.Lock()  # one answer at a time

    def _state(self) -> c_void_p:
        """The session that answers are made with; an error for an encoder."""
        if not self._session:
            _call(_c.pteron_session_create, self._handle, byref(self._session))
            weakref.finalize(self, _c.pteron_session_release, self._session)
        return self._session

    @property
    def vocabulary(self) -> int:
        """Number of tokens that the model knows."""
        return _c.pteron_llm_vocabulary(self._handle)

    @property
    def context(self) -> int:
        """Number of tokens that the model can look back on."""
        return _c.pteron_llm_context(self._handle)

    @property
    def width(self) -> int:
        """Numbers in a vector of `embed`; 0 for a model that writes."""
        return _c.pteron_llm_width(self._handle)

    def encode(self, text: str, *, add_special: bool = True) -> list[int]:
        """The tokens of a text.

        >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
        >>> llm.decode(llm.encode("Hello"))
        'Hello'
        """
        data, needed = text.encode(), c_size_t()
        tokens = np.empty(max(len(data), 16), np.uint32)
        while True:
            _call(_c.pteron_llm_encode, self._handle, data, len(data), add_special, _pointer(tokens), len(tokens), byref(needed))
            if needed.value <= len(tokens):
                return tokens[: needed.value].tolist()
            tokens = np.empty(needed.value, np.uint32)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        array = np.asarray(tokens, np.uint32)
        return _filled(_c.pteron_llm_decode, self._handle, _pointer(array), len(array)).decode()

    def logits(self, prompt: Prompt) -> npt.NDArray[np.float32]:
        """What the model expects behind a prompt: a number for each token.

        >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
        >>> llm.logits("Once upon").shape
        (512,)
        """
        tokens, out = self._tokens(prompt), np.empty(self.vocabulary, np.float32)
        with self._lock:
            pointer = out.ctypes.data_as(POINTER(c_float))
            _call(_c.pteron_session_logits, self._state(), _pointer(tokens), len(tokens), pointer, len(out))
        return out

    def embed(self, texts: Prompt | Sequence[Prompt]) -> npt.NDArray[np.float32]:
        """The vector of a text, or a row for each of a list: of length 1, so that a dot product says how alike two are. For
        encoders, programs forward(tokens [1, S], mask [1, S]) -> [1, width].

        >>> encoder = LLM("encoder.pte", tokenizer="tokenizer.json")
        >>> rows = encoder.embed(["One", "Two", "One"])
        >>> rows.shape, bool(np.isclose(rows[0] @ rows[2], 1))
        ((3, 16), True)
        """
        if not isinstance(texts, (str, np.ndarray)):
            return np.stack([self.embed(text) for text in texts]) if len(texts) else np.empty((0, self.width), np.float32)
        tokens, out = self._tokens(texts), np.empty(max(self.width, 1), np.float32)
        _call(_c.pteron_llm_embed, self._handle, _pointer(tokens), len(tokens), out.ctypes.data_as(POINTER(c_float)), len(out))
        return out

    @overload
    def generate(self, prompts: Prompt, **options: object) -> Completion: ...
    @overload
    def generate(self, prompts: Sequence[Prompt], **options: object) -> list[Completion]: ...
    def generate(self, prompts, **options):
        """Goes on with a prompt, or with each of a list.

        >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
        >>> [len(answer.tokens) for answer in llm.generate(["One", "Two"], max_tokens=3)]
        [3, 3]
        """
        if isinstance(prompts, (str, np.ndarray)):
            return self._answer(self._tokens(prompts), options)
        return [self._answer(self._tokens(prompt), options) for prompt in prompts]

    @overload
    def chat(self, messages: str | Sequence[Message], **options: object) -> Completion: ...
    @overload
    def chat(self, messages: Sequence[Sequence[Message]], **options: object) -> list[Completion]: ...
    def chat(self, messages, **options):
        """Answers a question, a conversation, or each of a list of conversations. What a conversation has in common with the one
        before is not read again.

        >>> llm = LLM("llama.pte", tokenizer="tokenizer.json")
        >>> llm.chat([{"role": "user", "content": "Hi"}], max_tokens=2).reason
        'max_tokens'
        """
        if isinstance(messages, str) or not messages or isinstance(messages[0], Mapping):
            return self._answer(self._conversation(messages), options)
        return [self._answer(self._conversation(one), options) for one in messages]

    def stream(self, prompt: Prompt | Sequence[Message], **options: object) -> Iterator[str]:
        """The answer to a prompt or a conversation, piece by piece. The model is busy until it is done or given up."""
        tokens = self._tokens(prompt) if isinstance(prompt, (str, np.ndarray)) else self._conversation(prompt)
        with self._lock:
            yield from _Answer(self._state(), tokens, self._checked(options))

    def _tokens(self, prompt: Prompt) -> npt.NDArray[np.uint32]:
        return np.ascontiguousarray(self.encode(prompt) if isinstance(prompt, str) else prompt, np.uint32)

    def _conversation(self, messages: str | Sequence[Message]) -> npt.NDArray[np.uint32]:
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        text = _filled(_c.pteron_llm_render, self._handle, json.dumps([dict(message) for message in messages]).encode())
        return np.asarray(self.encode(text.decode(), add_special=False), np.uint32)

    @staticmethod
    def _checked(options: Mapping[str, object]) -> dict[str, object]:
        out = dict(options)
        if isinstance(out.get("stop"), str):
            out["stop"] = [out["stop"]]
        if isinstance(out.get("json_schema"), Mapping):
            out["json_schema"] = json.dumps(out["json_schema"])
        return out

    def _answer(self, tokens: npt.NDArray[np.uint32], options: Mapping[str, object]) -> Completion:
        with self._lock:
            answer = _Answer(self._state(), tokens, self._checked(options))
            text = "".join(answer)
        return Completion(text, answer.tokens, answer.reason or "", answer.logprobs)
