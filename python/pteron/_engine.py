# SPDX-License-Identifier: BSD-3-Clause
"""The engine, through the C interface of libpteron.so.1 (include/pteron/c.h)."""
import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LIBRARY = Path(__file__).with_name("libpteron.so.1")
MAX_RANK = 8
#: By the numbers of pteron_dtype.
DTYPES = [np.dtype(name) for name in ("bool", "uint8", "int8", "int32", "float16", "float32", "float64", "int64")]
#: By the numbers of pteron_status.
KINDS = ("ok", "invalid", "not_found", "unsupported", "out_of_memory", "device_lost", "cancelled", "internal")


class Error(RuntimeError):
    """What went wrong, in one sentence. `kind` is one of invalid, not_found, unsupported, out_of_memory, device_lost,
    cancelled, internal."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Tensor(ctypes.Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_uint32), ("shape", c_int64 * MAX_RANK), ("data", c_void_p), ("bytes", c_uint64)]


class _Value(ctypes.Structure):
    _fields_ = [
        ("is_tensor", c_int32), ("dtype", c_int32), ("is_dynamic", c_int32), ("rank", c_uint32),
        ("shape", c_int64 * MAX_RANK),
    ]  # fmt: skip


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("adapter", c_char_p), ("data_files", POINTER(c_char_p)), ("data_file_count", c_size_t),
        ("require_gpu", c_int32), ("no_f16", c_int32), ("settings", POINTER(c_char_p)), ("setting_count", c_size_t),
    ]  # fmt: skip


class _Argument(ctypes.Structure):
    _fields_ = [
        ("kind", c_int32), ("dtype", c_int32), ("is_constant", c_int32), ("is_dynamic", c_int32), ("count", c_uint32),
        ("shape", c_int64 * MAX_RANK), ("integer", c_int64), ("number", c_double), ("text", c_char_p),
    ]  # fmt: skip


def _open() -> ctypes.CDLL:
    # Mesa's device-selection layer looks for a Wayland display and complains if there is none; we choose devices ourselves.
    os.environ.setdefault("NODEVICE_SELECT", "1")
    library = ctypes.CDLL(str(LIBRARY))
    error, index = POINTER(c_void_p), c_size_t
    for name, result, *arguments in (
        ("error_kind", c_int32, c_void_p),
        ("error_message", c_char_p, c_void_p),
        ("error_release", None, c_void_p),
        ("program_load", c_int32, c_char_p, POINTER(_Options), POINTER(c_void_p), error),
        ("program_release", None, c_void_p),
        ("program_method_count", c_size_t, c_void_p),
        ("program_method_name", c_char_p, c_void_p, index),
        ("program_check", c_int32, c_void_p, c_char_p, error),
        ("method_load", c_int32, c_void_p, c_char_p, POINTER(c_void_p), error),
        ("method_release", None, c_void_p),
        ("method_input_count", c_size_t, c_void_p),
        ("method_output_count", c_size_t, c_void_p),
        ("method_input", c_int32, c_void_p, index, POINTER(_Value)),
        ("method_output", c_int32, c_void_p, index, POINTER(_Value)),
        ("method_execute", c_int32, c_void_p, POINTER(_Tensor), c_size_t, error),
        ("method_result", c_int32, c_void_p, index, POINTER(_Tensor)),
        ("check_op", c_int32, c_char_p, POINTER(_Argument), c_size_t, error),
        ("check_delegate", c_int32, c_char_p, c_size_t, error),
    ):
        function = getattr(library, f"pteron_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_c = _open()


def _call(function, *arguments) -> None:
    """Calls a function that can fail; its last argument, the error, is added here."""
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status:
        message = (_c.pteron_error_message(error) or b"").decode(errors="replace")
        _c.pteron_error_release(error)
        raise Error(KINDS[status], message or f"the engine failed: {KINDS[status]}")


class Form(NamedTuple):
    """A tensor as far as planning is concerned; a dynamic one with the upper bounds of its shape."""

    dtype: str
    shape: tuple[int, ...]
    constant: bool = False
    dynamic: bool = False


class Symbol(NamedTuple):
    """An integer that is known when a program runs."""


#: By the numbers of PTERON_ARGUMENT_*.
_KINDS = {type(None): 0, int: 1, float: 2, bool: 3, str: 4, Symbol: 5, Form: 6, tuple: 7}


def _records(value) -> list[_Argument]:
    record = _Argument(kind=_KINDS[type(value)])
    match value:
        case bool() | int():
            record.integer = value
        case float():
            record.number = value
        case str():
            record.text = value.encode()
        case Form():
            if len(value.shape) > MAX_RANK:
                raise Error("unsupported", f"a tensor of it has {len(value.shape)} axes; at most {MAX_RANK} are supported")
            record.dtype, record.count = DTYPES.index(np.dtype(value.dtype)), len(value.shape)
            record.shape[: record.count] = value.shape
            record.is_constant, record.is_dynamic = value.constant, value.dynamic
        case tuple() if not isinstance(value, Symbol):
            record.count = len(value)
            return [record, *(item for member in value for item in _records(member))]
    return [record]


@functools.cache
def refusal(name: str, *arguments) -> str | None:
    """Why the engine does not compute an op with such arguments and result (the last one), or None."""
    try:
        records = [record for value in arguments for record in _records(value)]
        _call(_c.pteron_check_op, name.encode(), (_Argument * len(records))(*records), len(records))
    except Error as error:
        return str(error).removeprefix(f"op 0 {name}: ")
    return None


def check_delegate(blob: bytes) -> None:
    """Raises an error if the engine can't run a delegate as it stands in a file."""
    _call(_c.pteron_check_delegate, blob, len(blob))


def _number_as(value: bool | int | float, dtype: np.dtype, index: int) -> npt.NDArray:
    """A Python number in the type that the program wants, if it has a place for such numbers."""
    fits = {bool: "b", int: "iuf", float: "f"}[type(value)]
    if dtype.kind not in fits:
        raise Error("invalid", f"input {index} should be {dtype}, but the {type(value).__name__} {value} was given")
    try:
        return np.asarray(value, dtype)
    except OverflowError:
        raise Error("invalid", f"input {index} should be {dtype}, which has no place for {value}") from None


class Method:
    def __init__(self, program: "Program", name: str) -> None:
        self._handle = c_void_p()
        _call(_c.pteron_method_load, program._handle, name.encode(), byref(self._handle))
        weakref.finalize(self, _c.pteron_method_release, self._handle)
        self._lock = threading.Lock()
        self._inputs = [self._describe(_c.pteron_method_input, i) for i in range(_c.pteron_method_input_count(self._handle))]
        self._outputs = [self._describe(_c.pteron_method_output, i) for i in range(_c.pteron_method_output_count(self._handle))]

    def _describe(self, function, index: int) -> _Value:
        value = _Value()
        function(self._handle, index, byref(value))
        return value

    def _array(self, value: npt.ArrayLike, index: int) -> npt.NDArray:
        if type(value) in (bool, int, float) and index < len(self._inputs):
            return _number_as(value, DTYPES[self._inputs[index].dtype], index)
        array = np.asarray(value, order="C")
        native = array.dtype.newbyteorder("=")
        if native not in DTYPES:
            raise Error("invalid", f"input {index} is {array.dtype}; there are: {', '.join(map(str, DTYPES))}")
        if array.ndim > MAX_RANK:
            raise Error("invalid", f"input {index} has {array.ndim} axes; at most {MAX_RANK} are supported")
        return array.astype(native, copy=False)

    def execute(self, inputs: Sequence[npt.ArrayLike]) -> list[npt.NDArray | int | float | bool]:
        arrays = [self._array(value, index) for index, value in enumerate(inputs)]
        tensors = (_Tensor * len(arrays))()
        for tensor, array in zip(tensors, arrays):
            tensor.dtype, tensor.rank = DTYPES.index(array.dtype), array.ndim
            tensor.shape[: array.ndim] = array.shape
            tensor.data, tensor.bytes = array.ctypes.data, array.nbytes
        with self._lock:  # other threads run meanwhile, but not this method
            _call(_c.pteron_method_execute, self._handle, tensors, len(arrays))
            return [self._result(index) for index in range(len(self._outputs))]

    def _result(self, index: int) -> npt.NDArray | int | float | bool:
        tensor = _Tensor()
        if not _c.pteron_method_result(self._handle, index, byref(tensor)):
            raise Error("internal", f"output {index} is not there")
        array = np.empty(tensor.shape[: tensor.rank], DTYPES[tensor.dtype])
        ctypes.memmove(array.ctypes.data, tensor.data, tensor.bytes)
        return array if self._outputs[index].is_tensor else array.item()


def _setting(name: str, value: object) -> bytes:
    """An option as the C interface has it."""
    if isinstance(value, bool):
        value = str(value).lower()
    elif not isinstance(value, str) and isinstance(value, Iterable):
        value = ",".join(map(str, value))
    return f"{name}={value}".encode()


class Program:
    def __init__(
        self, path: str | os.PathLike[str], data: str | os.PathLike[str] | None, given: Mapping[str, object]
    ) -> None:
        self._handle = c_void_p()
        files = [] if data is None else [os.fsencode(data)]
        settings = [_setting(name, value) for name, value in given.items()]
        options = _Options(
            size=ctypes.sizeof(_Options), data_file_count=len(files), setting_count=len(settings)
        )
        options.data_files = (c_char_p * len(files))(*files)
        options.settings = (c_char_p * len(settings))(*settings)
        _call(_c.pteron_program_load, os.fsencode(path), byref(options), byref(self._handle))
        weakref.finalize(self, _c.pteron_program_release, self._handle)
        count = _c.pteron_program_method_count(self._handle)
        self.method_names = sorted(_c.pteron_program_method_name(self._handle, i).decode() for i in range(count))

    def check(self, method: str) -> None:
        """Raises an error if the engine can't run a method by itself."""
        _call(_c.pteron_program_check, self._handle, method.encode())
