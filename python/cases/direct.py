# SPDX-License-Identifier: BSD-3-Clause
"""Cases of one op, written by hand: what the op takes, and a function of torch that says what it means."""
import torch
from torch.export import Dim

from cases.case import Case, case
from cases.graph import Graph, Value


def example(spec) -> torch.Tensor:
    """Any tensor of the highest size."""
    return torch.ones([size.max if isinstance(size, Dim) else size for size in spec.shape], dtype=spec.dtype)


def direct(name: str, op: str, function, *inputs, args=(), **rest) -> Case:
    """The op takes the inputs, then `args`. A list that the function returns is a list of results."""

    def draw(g: Graph, *values: Value):
        results = function(*map(example, inputs))
        if isinstance(results, torch.Tensor):
            return g.call(op, *values, *args, out=g.tensor(results.dtype, *results.shape))
        outputs = [g.tensor(result.dtype, *result.shape) for result in results]
        g.call(op, *values, *args, out=outputs)
        return outputs

    return case(name, function, *inputs, graph=draw, expect_ops=op, **rest)
