# SPDX-License-Identifier: BSD-3-Clause
"""What is exported and run."""
import dataclasses
from collections.abc import Callable

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Sample:
    name: str
    make: Callable[[], nn.Module]
    inputs: tuple[torch.Tensor, ...]
    dynamic: tuple[dict[int, tuple[int, int]], ...] | None = None  # by input: {axis: (lowest, highest)}; equal ones are one size
    whole: bool = True  # one delegate, and nothing outside
    steps: int = 1  # calls in a row, where a module has a state
