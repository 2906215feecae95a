# SPDX-License-Identifier: BSD-3-Clause
"""Runs ExecuTorch programs on the GPU through WebGPU.

Importing this package gives stock ExecuTorch the backend that programs of its Vulkan and WebGPU partitioners ask for:

    >>> import pteron
    >>> from executorch.runtime import Runtime
    >>> "VulkanBackend" in Runtime.get().backend_registry.registered_backend_names
    True

For arrays in and arrays out, without torch in sight:

    >>> import numpy as np
    >>> model = pteron.load("model.pte")
    >>> (doubled,) = model(np.ones((3, 5), np.float32))
    >>> doubled.shape, float(doubled.max())
    ((3, 5), 2.0)
"""
from importlib.metadata import PackageNotFoundError, version

from pteron._plugin import register
from pteron.program import Method, Program, Value, load

__all__ = ["Method", "Program", "Value", "load"]

try:
    __version__ = version("pteron")
except PackageNotFoundError:  # used from the build folder
    __version__ = "0"

register()
