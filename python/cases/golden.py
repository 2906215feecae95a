# SPDX-License-Identifier: BSD-3-Clause
"""The inputs of a case, and torch's answers to them."""
import dataclasses
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import Dim

from cases.case import Case, Spec


@dataclasses.dataclass(frozen=True)
class Call:
    sizes: Mapping[str, int]
    inputs: list  # tensors and numbers
    outputs: list[torch.Tensor]
    inputs_after: list  # what the inputs hold afterwards


def seed(*parts) -> int:
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:7], "little")


def with_parameters(function, count: int):
    """torch's built-in functions don't tell the names of their parameters; torch.export needs them."""
    try:
        inspect.signature(function)
        return function
    except ValueError:
        return (lambda x: function(x), lambda x, y: function(x, y), lambda x, y, z: function(x, y, z))[count - 1]


def build(case: Case, maker=None) -> torch.nn.Module:
    """A fresh module, with the same weights each time."""
    maker = with_parameters(maker or case.module, len(case.inputs))
    torch.manual_seed(seed(case.name))
    is_factory = inspect.isclass(maker) or not inspect.signature(maker).parameters
    if not is_factory:
        module = torch.nn.Module()
        module.forward = maker
        return module
    module = maker().eval()
    if rounds_to_half(case) and maker is not case.reference:
        round_to_half(module)
    return module


def rounds_to_half(case: Case) -> bool:
    return bool(case.compile.get("force_fp16"))


def round_to_half(module: torch.nn.Module):
    """The exporter does so to constants; goldens must know. Quantised tensors are left to those who make them."""
    for tensor in (*module.parameters(), *module.buffers()):
        if type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.dtype == torch.float32:
            tensor.data = tensor.data.half().float()


def size_of(size: int | Dim, sizes: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    return size.fn(sizes[size.root.__name__]) if hasattr(size, "root") else sizes[size.__name__]


def random_tensor(spec: Spec, shape: Sequence[int], generator: torch.Generator) -> torch.Tensor:
    if spec.dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not spec.dtype.is_floating_point:
        return torch.randint(int(spec.low), int(spec.high), shape, generator=generator, dtype=spec.dtype)
    if spec.low is None:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(spec.dtype)
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (spec.low + (spec.high - spec.low) * uniform).to(spec.dtype)


def make_inputs(case: Case, number: int, call: Mapping[str, Any]) -> tuple[dict[str, int], list]:
    """Sizes and inputs of call `number`; what `call` leaves open is at its maximum or random."""
    names = list(inspect.signature(build(case).forward).parameters)
    sizes = {name: call.get(name, d.max) for name, d in case.dims().items()}
    unknown = set(call) - set(sizes) - set(names)
    if unknown:
        raise ValueError(f"{case.name}: {', '.join(sorted(unknown))} is neither a dim nor a parameter")
    inputs = []
    for index, spec in enumerate(case.inputs):
        given = call.get(names[index]) if index < len(names) else None
        if not isinstance(spec, Spec):
            inputs.append(getattr(spec, "high", spec) if given is None else given)
            continue
        shape = tuple(size_of(size, sizes) for size in spec.shape)
        if given is not None:
            value = torch.as_tensor(given, dtype=spec.dtype).reshape(shape)
        elif spec.of is not None:
            value = spec.of.clone()
        elif spec.fill is not None:
            value = spec.fill(shape).to(spec.dtype)
        else:
            generator = torch.Generator().manual_seed(seed(case.name, number, index))
            value = random_tensor(spec, shape, generator)
        if rounds_to_half(case) and value.dtype == torch.float32:
            value = value.half().float()  # so that the golden sees what the device sees
        inputs.append(value)
    return sizes, inputs


def run(module: torch.nn.Module, inputs: list) -> tuple[list[torch.Tensor], list]:
    """Outputs, and the inputs as the module leaves them."""
    own = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    with torch.no_grad():
        outputs = module(*own)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return [torch.as_tensor(y).detach().clone() for y in outputs], own


def to_double(x):
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def round_like(exact: list, example: list) -> list:
    return [x.to(y.dtype) if isinstance(y, torch.Tensor) else x for x, y in zip(exact, example, strict=True)]


def check_agreement(case: Case, precise: list, single: list):
    """Goldens in float64 must mean the same as the module in its own precision."""
    for index, (p, s) in enumerate(zip(precise, single)):
        if p.shape != s.shape:
            raise ValueError(f"{case.name}: output {index} is {tuple(p.shape)} in float64, else {tuple(s.shape)}")
        if s.is_floating_point():
            same = torch.allclose(p.double(), s.double(), rtol=case.rtol, atol=case.atol, equal_nan=True)
        else:
            slack = case.int8_slack if s.dtype in (torch.int8, torch.uint8) else 0
            same = not bool(((p.long() - s.long()).abs() > slack).any())
        if not same:
            raise ValueError(f"{case.name}: output {index} differs between float64 and {s.dtype}")


def check_stateless(case: Case, module: torch.nn.Module):
    for (name, now), (_, fresh) in zip(module.named_buffers(), build(case).named_buffers(), strict=True):
        if not torch.equal(now, fresh):
            raise ValueError(f"{case.name}: the module changes its buffer {name}; declare steps")


def first_call(case: Case) -> Mapping[str, Any]:
    return case.steps[0] if case.steps else {}


def computes_in_double(case: Case) -> bool:
    if case.reference:
        return True
    _, inputs = make_inputs(case, 0, first_call(case))
    try:
        run(build(case).double(), [to_double(x) for x in inputs])
    except (RuntimeError, NotImplementedError, TypeError):
        return False
    return True


def answer(case: Case) -> tuple[list[Call], str]:
    """Every call of a case, the main one first, and the precision that torch computed in."""
    torch.set_num_threads(1)  # the order of sums must not depend on the machine
    double = computes_in_double(case)
    calls = []
    for number, values in enumerate(case.steps or ({}, *case.live)):
        if number == 0 or not case.steps:  # steps go on with the state of the one before
            single, precise = build(case), build(case, case.reference).double() if double else None
        sizes, inputs = make_inputs(case, number, values)
        outputs, after = run(single, inputs)
        if not case.steps:
            check_stateless(case, single)
        if precise:
            exact, exact_after = run(precise, [to_double(x) for x in inputs])
            rounded = round_like(exact, outputs)
            if not case.output_unspecified:
                check_agreement(case, rounded, outputs)
            outputs, after = rounded, round_like(exact_after, after)
        calls.append(Call(sizes, inputs, outputs, after))
    return calls, "float64" if double else "float32"
