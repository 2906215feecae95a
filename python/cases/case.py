# SPDX-License-Identifier: BSD-3-Clause
"""The words in which cases are written.

    s = dim("s", 1, 9)
    CASES = [
        case("add/rows", lambda x, y: x + y, f32(s, 5), f32(5), live=[4, 1], expect_ops="aten.add.Tensor"),
    ]
"""
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export import Dim

# The loosest tolerances that any op needs; a case states tighter ones where it can.
LOOSEST = {"atol": 1e-3, "rtol": 1e-3, "nmse": 1e-5}


def dim(name: str, low: int, high: int) -> Dim:
    """A dynamic size. `2 * s` and `s + 1` are sizes too. The main inputs have the highest size."""
    return Dim(name, min=low, max=high)


@dataclasses.dataclass(frozen=True)
class Spec:
    """What one input looks like: shape and the range of its values, or the values themselves."""

    dtype: torch.dtype
    shape: tuple[int | Dim, ...]
    low: float | None = None
    high: float | None = None
    of: Any = None  # nested lists, a number or a tensor
    fill: Callable[[tuple[int, ...]], torch.Tensor] | None = None  # values from a shape


def _spec(dtype: torch.dtype, low: float | None = None, high: float | None = None) -> Callable[..., Spec]:
    def make(*shape, low=low, high=high, of=None, fill=None) -> Spec:
        if of is not None:
            if shape:
                raise ValueError("an input has a shape or values (of=), not both")
            of = torch.as_tensor(of, dtype=dtype)
            shape = tuple(of.shape)
        return Spec(dtype, shape, low, high, of, fill)

    return make


# f32(3, 5): normally distributed. f32(3, 5, low=0, high=1): uniform. f32(of=[1, 2]): these values.
f16 = _spec(torch.float16)
f32 = _spec(torch.float32)
f64 = _spec(torch.float64)
# Integers are uniform in low … high - 1.
i8 = _spec(torch.int8, -128, 128)
u8 = _spec(torch.uint8, 0, 256)
i32 = _spec(torch.int32, -9, 10)
i64 = _spec(torch.int64, -9, 10)
boolean = _spec(torch.bool)


@dataclasses.dataclass(frozen=True)
class integer:
    """An int as an input, symbolic in the program. The main call gets the highest."""

    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class Case:
    name: str  # "suite/case"
    module: Callable  # a function of tensors, an nn.Module class, or a function without arguments that makes a module
    inputs: tuple[Spec | integer | int | float, ...]
    expect_ops: tuple[str, ...]  # must be in the delegate
    # Further calls: each names the size of dims and the values of inputs (by parameter) that differ; the others are as
    # high as they can be, and random. An int stands for the only dim.
    live: tuple[Mapping[str, Any], ...] = ()
    # The same for a module with state: the first step is the main call, all run in order on one instance.
    steps: tuple[Mapping[str, Any], ...] = ()
    # An element passes within atol or rtol, a tensor if also Σ(a-e)² ≤ nmse·Σe². Integers are exact.
    atol: float = 1e-4
    rtol: float = 1e-4
    nmse: float = 1e-9
    int8_slack: int = 0  # 1 for ops that round to 8 bits
    compile: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # options of the partitioner
    edge: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # options of EdgeCompileConfig
    passes: tuple = ()  # that change the graph before it is partitioned
    strict: bool = False  # torch.export's
    # The partitioner refuses these arguments, types or sizes of the expected ops, although programs may hold them:
    # delegate them all the same.
    beyond: bool = False
    # Exported with PteronPartitioner: for ops that the exporter's own registry lacks.
    own: bool = False
    # Writes the delegate by hand: a function of a graph.Graph and its inputs. The module says what it means.
    graph: Callable | None = None
    portable_ops: tuple[str, ...] = ()  # that may stay outside of the delegate
    output_unspecified: bool = False  # the outputs mean nothing, only what becomes of the inputs
    # Takes the module's place for the goldens where it can't compute in float64 itself.
    reference: Callable | None = None

    @property
    def suite(self) -> str:
        return self.name.split("/")[0]

    def dims(self) -> dict[str, Dim]:
        """The independent dynamic sizes, in the order in which they appear."""
        found = {}
        for spec in self.inputs:
            for size in getattr(spec, "shape", ()):
                if isinstance(size, Dim):
                    root = getattr(size, "root", size)
                    found.setdefault(root.__name__, root)
        return found


def case(name: str, module: Callable, *inputs, expect_ops: str | Sequence[str], live=(), steps=(), **rest) -> Case:
    """Declares a case; the fields of Case are the keywords."""
    if name.count("/") != 1:
        raise ValueError(f"a case is named suite/case, not '{name}'")
    half = rest.get("compile", {}).get("force_fp16") or any(
        getattr(spec, "dtype", None) == torch.float16 for spec in inputs
    )
    if half:  # one rounding to 11 bits
        rest = {"atol": 1e-3, "rtol": 1e-3, "nmse": 1e-6} | rest
    for key, limit in LOOSEST.items():
        if rest.get(key, 0) > limit:
            raise ValueError(f"{name}: {key} {rest[key]} is looser than {limit}")
    expect_ops = (expect_ops,) if isinstance(expect_ops, str) else tuple(expect_ops)
    made = Case(name, module, inputs, expect_ops, **rest)
    return dataclasses.replace(
        made,
        live=tuple(_call(made, values) for values in live),
        steps=tuple(_call(made, values) for values in steps),
    )


def _call(case: Case, values: int | Mapping[str, Any]) -> Mapping[str, Any]:
    """What a further call changes, by name."""
    dims = case.dims()
    if isinstance(values, int):
        if len(dims) != 1:
            raise ValueError(f"{case.name}: which of the dims {', '.join(dims)} is {values}?")
        values = dict.fromkeys(dims, values)
    for name in dims.keys() & values.keys():
        if not dims[name].min <= values[name] <= dims[name].max:
            raise ValueError(f"{case.name}: {name} is {values[name]}, beyond {dims[name].min} … {dims[name].max}")
    return values
