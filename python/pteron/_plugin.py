# SPDX-License-Identifier: BSD-3-Clause
"""Loads the shared library that holds the backend."""
import ctypes
from pathlib import Path

BACKEND = "VulkanBackend"
LIBRARY = Path(__file__).with_name("libpteron_executorch.so")


def register() -> None:
    """Makes the backend known to the ExecuTorch of this process."""
    # Comes first: the library needs the runtime that Python's ExecuTorch has loaded, and no other copy of it.
    from executorch.extension.pybindings import portable_lib

    if BACKEND in portable_lib._get_registered_backend_names():
        raise ImportError(f"this build of ExecuTorch has a {BACKEND} of its own, so Pteron can't take its place")
    ctypes.CDLL(str(LIBRARY))
    if BACKEND not in portable_lib._get_registered_backend_names():
        raise ImportError(f"ExecuTorch did not accept the backend of {LIBRARY}; are its versions the ones it needs?")
