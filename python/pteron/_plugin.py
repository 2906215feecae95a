# SPDX-License-Identifier: BSD-3-Clause
"""The shared library that gives ExecuTorch the backend."""
import ctypes
import importlib.metadata
import warnings
from pathlib import Path

from pteron import _build

BACKEND = "VulkanBackend"
LIBRARY = Path(__file__).with_name("libpteron_executorch.so")
#: Whether ExecuTorch runs Pteron's backend in this process.
registered = False


def _installed() -> str | None:
    try:
        return importlib.metadata.version("executorch").split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def register() -> None:
    """Makes the backend known to the ExecuTorch of this process, if it is installed."""
    global registered
    found = _installed()
    if found is None or not LIBRARY.exists():
        return
    if found != _build.EXECUTORCH:
        warnings.warn(
            f"executorch {found} is installed, but Pteron's plugin is made for {_build.EXECUTORCH}, so ExecuTorch does not "
            "get it; pip install 'pteron[executorch]' brings the right one",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    # Comes first: the library needs the runtime that Python's ExecuTorch has loaded, and no other copy of it.
    from executorch.extension.pybindings import portable_lib

    if BACKEND in portable_lib._get_registered_backend_names():
        raise ImportError(f"this build of ExecuTorch has a {BACKEND} of its own, so Pteron can't take its place")
    ctypes.CDLL(str(LIBRARY))
    if BACKEND not in portable_lib._get_registered_backend_names():
        raise ImportError(f"ExecuTorch did not accept the backend of {LIBRARY}; are its versions the ones it needs?")
    registered = True
