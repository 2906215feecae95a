# SPDX-License-Identifier: BSD-3-Clause
"""Programs with numpy arrays in and out."""
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import executorch.runtime
import numpy as np
import numpy.typing as npt
import torch

#: What goes into a method and comes out of it.
Value: TypeAlias = npt.NDArray | int | float | bool


def _to_runtime(value: npt.ArrayLike) -> torch.Tensor | int | float | bool:
    if isinstance(value, (bool, int, float)):
        return value
    array = np.asarray(value, order="C")
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _from_runtime(value: object) -> Value:
    return value.numpy() if isinstance(value, torch.Tensor) else value  # type: ignore[return-value]


class Method:
    """One entry point of a program, ready to run.

    >>> forward = load("model.pte").method("forward")
    >>> forward(np.full((3, 5), 0.5, np.float32))[0][0]
    array([1., 1., 1., 1., 1.], dtype=float32)
    """

    def __init__(self, name: str, method: executorch.runtime.Method) -> None:
        self.name = name
        self._method = method

    def __call__(self, *inputs: npt.ArrayLike) -> list[Value]:
        """Runs the method. Arrays must have the types that the program was exported with; numbers stay numbers."""
        outputs: Sequence[object] = self._method.execute([_to_runtime(value) for value in inputs])
        return [_from_runtime(value) for value in outputs]


class Program:
    """A program file. Calling it runs its method `forward`; methods are loaded when they are first used.

    >>> load("model.pte").method_names
    ['forward']
    """

    def __init__(self, program: executorch.runtime.Program) -> None:
        self._program = program
        self._methods: dict[str, Method] = {}

    @property
    def method_names(self) -> list[str]:
        return sorted(self._program.method_names)

    def method(self, name: str = "forward") -> Method:
        if name not in self._methods:
            if name not in self._program.method_names:
                raise KeyError(f"the program has no method '{name}'; there are: {', '.join(self.method_names)}")
            loaded = self._program.load_method(name)
            assert loaded is not None
            self._methods[name] = Method(name, loaded)
        return self._methods[name]

    def __call__(self, *inputs: npt.ArrayLike) -> list[Value]:
        return self.method()(*inputs)


def load(path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> Program:
    """Opens a program (`.pte`) and, if its weights are kept apart, the file that holds them (`.ptd`).

    >>> load("elsewhere.pte")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'elsewhere.pte'
    """
    for file in (path, data):
        if file is not None:
            os.stat(file)
    runtime = executorch.runtime.Runtime.get()
    return Program(runtime.load_program(Path(path), data_path=None if data is None else Path(data)))
