# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic of sizes: each result is added to a tensor."""
import torch

from cases.case import case, dim, f32
from cases.graph import Graph, Value

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}, {"s": 7, "t": 2}]


def sized(name: str, steps: list, meaning, *ops: str):
    """`steps` are (op, argument, …) that use "a" and "b" (the sizes) and "last" (the step before). What they mean is said
    with tensors, because a program can't depend on a size's value."""

    def draw(g: Graph, x: Value):
        known = {axis: g.call("sym_size.int", x, i, out=g.symint()) for i, axis in enumerate("ab")}
        for op, *args in steps:
            args = [[known[name] for name in arg] if isinstance(arg, tuple) else known.get(arg, arg) for arg in args]
            known["last"] = g.call(op, *args, out=g.symint())
        number = g.call("aten.scalar_tensor.default", known["last"], None, None, None, None, out=g.tensor(torch.float32))
        return g.call("aten.add.Tensor", x, number, 1, out=g.like(x))

    return case(name, lambda x: x + meaning(*map(torch.scalar_tensor, x.shape)).to(x.dtype), f32(s, t), graph=draw, live=LIVE,
                expect_ops=ops or (steps[-1][0],))


def one(op, meaning):
    """Of a size, a negative one, a fraction and its opposite."""
    yield sized(f"sym_{op}/size", [(op, "a")], lambda a, b: meaning(a))
    yield sized(f"sym_{op}/difference", [("sub", "b", "a"), (op, "last")], lambda a, b: meaning(b - a))
    yield sized(f"sym_{op}/fraction", [("truediv", "a", "b"), (op, "last")], lambda a, b: meaning(a / b))
    yield sized(f"sym_{op}/negative", [("mul", "a", -0.75), (op, "last")], lambda a, b: meaning(a * -0.75))


def two(op, meaning, label=None):
    label = label or f"sym_{op}"
    yield sized(f"{label}/sizes", [(op, "a", "b")], meaning)
    yield sized(f"{label}/constant", [(op, "a", 2)], lambda a, b: meaning(a, 2))
    yield sized(f"{label}/negative", [("sub", "b", 7), (op, "last", "b")], lambda a, b: meaning(b - 7, b))
    yield sized(f"{label}/fraction", [("truediv", "a", 4), (op, "last", "b")], lambda a, b: meaning(a / 4, b))


def halves(op, meaning):
    """A fraction as the second argument."""
    yield sized(f"sym_{op}/second_fraction", [("mul", "b", 0.5), (op, "a", "last")], lambda a, b: meaning(a, b * 0.5))


def numbers(op, meaning):
    """Of tensors."""

    def of(label, axis):
        args = () if axis is None else (axis,)

        def draw(g: Graph, x: Value):
            size = g.call(op, x, *args, out=g.symint())
            number = g.call("aten.scalar_tensor.default", size, None, None, None, None, out=g.tensor(torch.float32))
            return g.call("aten.add.Tensor", x, number, 1, out=g.like(x))

        def added(x):
            sizes = [torch.scalar_tensor(size) for size in x.shape]
            return x + meaning(sizes, *args).to(x.dtype)

        return case(f"{op.split('.')[0]}/{label}", added, f32(s, 3, t), graph=draw, live=LIVE, expect_ops=op)

    return of


numel = numbers("sym_numel.default", lambda sizes: torch.stack(sizes).prod())
stride = numbers("sym_stride.int", lambda sizes, axis: torch.stack([*sizes[axis % 3 + 1 :], torch.ones(())]).prod())


def count(shape, label):
    def draw(g: Graph, x: Value):
        size = g.call("sym_numel.default", x, out=g.symint())
        number = g.call("aten.scalar_tensor.default", size, None, None, None, None, out=g.tensor(torch.float32))
        return g.call("aten.add.Tensor", x, number, 1, out=g.like(x))

    return case(f"sym_numel/{label}", lambda x: x + x.numel(), f32(*shape), graph=draw, expect_ops="sym_numel.default")


def told(answer):
    return answer.to(torch.float64)


CASES = [
    *two("mod", torch.remainder),
    *two("truediv", torch.true_divide),
    *two("pow", lambda a, b: a**b),
    *halves("pow", lambda a, b: a**b),
    *two("sym_min", lambda a, b: torch.minimum(a, torch.as_tensor(b)), "sym_min"),
    *two("sym_max", lambda a, b: torch.maximum(a, torch.as_tensor(b)), "sym_max"),
    *two("ne", lambda a, b: told(a != b)),
    *one("neg", torch.neg),
    *one("ceil", torch.ceil),
    *one("floor", torch.floor),
    *one("trunc", torch.trunc),
    *one("round", torch.round),
    *one("sym_int", torch.trunc),
    *one("sym_float", lambda a: a),
    sized("sym_not/less", [("lt", "a", "b"), ("sym_not", "last")], lambda a, b: told(a >= b)),
    sized("sym_not/equal", [("eq", "a", "b"), ("sym_not", "last")], lambda a, b: told(a != b)),
    sized("sym_not/size", [("sym_not", "a")], lambda a, b: told(a == 0)),
    sized("sym_not/twice", [("sym_not", "a"), ("sym_not", "last")], lambda a, b: told(a != 0)),
    sized("sym_sum/two", [("sym_sum", ("a", "b"))], lambda a, b: a + b),
    sized("sym_sum/thrice", [("sym_sum", ("a", "b", "a"))], lambda a, b: 2 * a + b),
    sized("sym_sum/one", [("sym_sum", ("a",))], lambda a, b: a),
    sized("sym_sum/of_sum", [("sym_sum", ("a", "b")), ("sym_sum", ("last", "b"))], lambda a, b: a + 2 * b),
    sized("sym_ite/larger", [("gt", "a", "b"), ("sym_ite", "last", "a", "b")], torch.maximum),
    sized("sym_ite/constants", [("eq", "a", "b"), ("sym_ite", "last", 3, 0.5)], lambda a, b: torch.where(a == b, 3, 0.5)),
    sized("sym_ite/smaller", [("lt", "a", "b"), ("sym_ite", "last", "a", "b")], torch.minimum),
    sized("sym_ite/size", [("sym_ite", "a", "b", "a")], lambda a, b: b),
    # Rounded up and down, as sizes of resized images are.
    sized("sym_ceil/of_quotient", [("mul", "a", 1.5), ("truediv", "last", "b"), ("ceil", "last")],
          lambda a, b: torch.ceil(a * 1.5 / b), "ceil", "truediv", "mul"),
    sized("sym_floordiv/fraction", [("mul", "a", 1.5), ("floordiv", "last", "b")], lambda a, b: a * 1.5 // b, "floordiv"),
    sized("sym_add/fraction", [("mul", "a", 0.5), ("add", "last", "b")], lambda a, b: a * 0.5 + b, "add"),
    sized("sym_lt/fraction", [("mul", "a", 0.5), ("lt", "last", "b")], lambda a, b: told(a * 0.5 < b), "lt"),
    numel("all", None),
    count((3, 5), "static"),
    count((), "rank0"),
    count((2, 1, 3, 1, 2, 1, 2, 2), "rank8"),
    *(stride(f"axis{axis}", axis) for axis in (0, 1, 2)),
    stride("from_the_back", -3),
]  # fmt: skip
