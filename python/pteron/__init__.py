# SPDX-License-Identifier: BSD-3-Clause
"""Runs ExecuTorch programs on the GPU through WebGPU: numpy arrays in, numpy arrays out.

    >>> import numpy as np
    >>> import pteron
    >>> model = pteron.load("model.pte")
    >>> (doubled,) = model(np.ones((3, 5), np.float32))
    >>> doubled.shape, float(doubled.max())
    ((3, 5), 2.0)

If ExecuTorch is installed (`pip install 'pteron[executorch]'`), importing this package gives it the backend that programs
of its Vulkan and WebGPU partitioners ask for:

    >>> from executorch.runtime import Runtime
    >>> "VulkanBackend" in Runtime.get().backend_registry.registered_backend_names
    True
"""
from pteron import _build, _plugin
from pteron._engine import Error
from pteron.llm import LLM, Completion
from pteron.program import Method, Program, Value, load

__all__ = ["LLM", "Completion", "Error", "Method", "Program", "Value", "load"]
__version__ = _build.VERSION

_plugin.register()
