# SPDX-License-Identifier: BSD-3-Clause
"""Programs with numpy arrays in and out.

A method whose ops were all delegated runs in Pteron's own engine, others run in ExecuTorch with Pteron's plugin, if it is
installed.
"""
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pteron import _engine, _plugin

#: What goes into a method and comes out of it.
Value: TypeAlias = npt.NDArray | int | float | bool


class _Runner(Protocol):
    def execute(self, inputs: Sequence[npt.ArrayLike]) -> list[Value]: ...


class _InExecuTorch:
    """A method in ExecuTorch, which knows torch's tensors only."""

    def __init__(self, program, name: str) -> None:
        self._method = program.load_method(name)

    def execute(self, inputs: Sequence[npt.ArrayLike]) -> list[Value]:
        import torch

        def to_runtime(value: npt.ArrayLike):
            if isinstance(value, (bool, int, float)):
                return value
            array = np.asarray(value, order="C")
            return torch.from_numpy(array if array.flags.writeable else array.copy())

        outputs = self._method.execute([to_runtime(value) for value in inputs])
        return [value.numpy() if isinstance(value, torch.Tensor) else value for value in outputs]


class Method:
    """One entry point of a program, ready to run.

    >>> forward = load("model.pte").method("forward")
    >>> forward(np.full((3, 5), 0.5, np.float32))[0][0]
    array([1., 1., 1., 1., 1.], dtype=float32)
    """

    def __init__(self, name: str, runner: _Runner) -> None:
        self.name = name
        self._runner = runner

    def __call__(self, *inputs: npt.ArrayLike) -> list[Value]:
        """Runs the method. Arrays must have the types that the program was exported with; numbers stay numbers."""
        return self._runner.execute(inputs)


class Program:
    """A program file. Calling it runs its method `forward`; methods are loaded when they are first used.

    >>> load("model.pte").method_names
    ['forward']
    """

    def __init__(self, path: Path, data: Path | None, options: Mapping[str, object]) -> None:
        self._path, self._data = path, data
        self._engine = _engine.Program(path, data, options)
        self._methods: dict[str, Method] = {}

    @property
    def method_names(self) -> list[str]:
        return self._engine.method_names

    def method(self, name: str = "forward") -> Method:
        if name not in self._methods:
            if name not in self.method_names:
                raise KeyError(f"the program has no method '{name}'; there are: {', '.join(self.method_names)}")
            self._methods[name] = Method(name, self._load(name))
        return self._methods[name]

    def _load(self, name: str) -> _Runner:
        try:
            self._engine.check(name)
        except _engine.Error as error:
            if error.kind != "unsupported" or not _plugin.registered:
                raise
            return _InExecuTorch(self._in_executorch, name)
        return _engine.Method(self._engine, name)

    @functools.cached_property
    def _in_executorch(self):
        from executorch.runtime import Runtime

        return Runtime.get().load_program(self._path, data_path=self._data)

    def __call__(self, *inputs: npt.ArrayLike) -> list[Value]:
        return self.method()(*inputs)


def load(
    path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None, **options: bool | str | Sequence[str]
) -> Program:
    """Opens a program (`.pte`) and, if its weights are kept apart, the file that holds them (`.ptd`).

    `options` are those of the command line and of the plugin, by name: adapter, require_gpu, f16, subgroups,
    disable_passes, f16_kv_cache, fast_math, routes, guards, submit_microseconds, answer_seconds.

    >>> load("elsewhere.pte")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'elsewhere.pte'
    """
    for file in (path, data):
        if file is not None:
            os.stat(file)
    return Program(Path(path), None if data is None else Path(data), options)
