# SPDX-License-Identifier: BSD-3-Clause
"""pteron.partition: what it takes, that its programs compute what torch does, and that the stock partitioner stays as it is.

usage: test_partition.py
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.runtime import Runtime
from torch.export import Dim

STOCK = """
import sys, torch, logging
if sys.argv[1] == "with": import pteron.partition
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge
class Model(torch.nn.Module):
    def forward(self, x, i):
        y = torch.maximum(x.cumsum(0), x) + i
        return y.relu().sum(-1), torch.softmax(x, -1), x.unsqueeze(0).expand(2, 3, 4), torch.mul(x, 2)
program = to_edge(torch.export.export(Model(), (torch.ones(3, 4), torch.ones(4, dtype=torch.int64)))).exported_program()
tagged = VulkanPartitioner().partition(program).tagged_exported_program
print([(n.name, n.meta.get("delegation_tag")) for n in tagged.graph.nodes])
"""


def partitioner(**options):
    from pteron.partition import PteronPartitioner

    return PteronPartitioner(**options)


def lower(module, inputs, with_=None, dynamic=None):
    exported = torch.export.export(module, inputs, dynamic_shapes=dynamic)
    return to_edge_transform_and_lower(exported, partitioner=[with_ or partitioner()]).to_executorch()


def delegates(program) -> list[str]:
    return [delegate.id for delegate in program.executorch_program.execution_plan[0].delegates]


def outside(program) -> list[str]:
    return [op.name for op in program.executorch_program.execution_plan[0].operators]


class Loaded:
    """A program on the engine alone, without ExecuTorch's kernels."""

    def __init__(self, program):
        import pteron

        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name, "model.pte")
        path.write_bytes(program.buffer)
        self.program = pteron.load(path)

    def __call__(self, *inputs):
        return [torch.from_numpy(np.asarray(out)) for out in self.program(*(x.numpy() for x in inputs))]


class Module(torch.nn.Module):
    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Partition(unittest.TestCase):
    def check(self, program, module, *calls):
        loaded = Loaded(program)
        for inputs in calls:
            want = module(*(x.clone() for x in inputs))
            want = want if isinstance(want, (tuple, list)) else [want]
            for got, expected in zip(loaded(*inputs), want, strict=True):
                self.assertEqual(got.dtype, expected.dtype)
                torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)

    def test_the_stock_partitioner_takes_the_same_nodes_after_the_import(self):
        runs = [subprocess.run([sys.executable, "-W", "ignore", "-c", STOCK, how], capture_output=True, text=True, check=True)
                for how in ("without", "with")]  # fmt: skip
        self.assertIn("'tag", runs[0].stdout)
        self.assertEqual(runs[0].stdout, runs[1].stdout)

    def test_one_delegate_where_the_stock_one_cuts(self):
        module = Module(lambda m, x: (torch.mul(x, 2) + x.unsqueeze(0).expand(2, 3, 5).mean(0)).softmax(-1) * x.sum())
        x = (torch.randn(3, 5),)
        self.assertTrue(outside(lower(module, x, VulkanPartitioner())))
        program = lower(module, x)
        self.assertEqual((delegates(program), outside(program)), (["PteronBackend"], []))
        self.check(program, module, x)

    def test_products_that_are_scaled(self):
        b, w = torch.randn(6), torch.randn(6, 8)
        module = Module(lambda m, x: (torch.addmm(m.b, x, m.w.t(), beta=0.5, alpha=3), torch.addmm(m.b, x, m.w.t())), b=b, w=w)
        self.check(lower(module, (torch.randn(3, 8),)), module, (torch.randn(3, 8),))

    def test_more_axes_than_textures_have(self):
        module = Module(lambda m, x: x.view(1, 2, 1, 3, 2, 5).permute(5, 4, 3, 2, 1, 0).relu() + 1)
        program = lower(module, (torch.randn(4, 3, 5),))
        self.assertEqual(outside(program), [])
        self.check(program, module, (torch.randn(4, 3, 5),))

    def test_integers_of_two_widths_stay_integers(self):
        module = Module(lambda m, a, b: (a + b, a * b, a < b))
        a = torch.tensor([16777217, -5, 2], dtype=torch.int32)
        b = torch.tensor([1, 16777219, 3])
        program = lower(module, (a, b))
        self.assertEqual(outside(program), [])
        self.check(program, module, (a, b))

    def test_a_constant_beyond_32_bits_stays_outside(self):
        module = Module(lambda m, x: (x + torch.tensor([2**40, 3]), x * 2))
        ours = partitioner()
        program = lower(module, (torch.tensor([1, 2]),), ours)
        self.assertIn("aten::add", outside(program))
        self.assertIn("aten.add.Tensor: its constant holds 3 to 1099511627776, which 32 bits can't", ours.report())

    def test_a_buffer_beyond_32_bits_is_an_error(self):
        module = Module(lambda m, x: x + m.big, big=torch.tensor([2**40, 3]))
        with self.assertRaisesRegex(ValueError, "'b_big' holds 3 to 1099511627776; numbers on the GPU have 32 bits"):
            lower(module, (torch.tensor([1, 2]),))

    def test_buffers_keep_their_updates(self):
        def step(m, x):
            old = m.sum * 1
            m.sum.add_(x)
            m.last.copy_(x)
            return old, m.sum + m.last

        x = torch.randn(3, 4)
        module = Module(step, sum=torch.zeros(3, 4), last=torch.ones(3, 4))
        program = lower(module, (x,))
        self.assertEqual(outside(program), ["aten::copy_"])  # of what no op reads; the engine does it
        self.check(program, module, (x,), (x + 1,), (x * 2,))

    def test_an_old_value_is_read_after_the_update(self):
        def step(m, x):
            new = m.a + x
            result = new * m.a
            m.a.copy_(new)
            m.b.copy_(result)
            return m.b - m.a * 2

        x = torch.randn(5)
        module = Module(step, a=torch.ones(5), b=torch.zeros(5))
        self.check(lower(module, (x,)), module, (x,), (x + 1,), (x - 3,))

    def test_buffers_that_change_places(self):
        def step(m, x):
            a, b = m.a.clone(), m.b.clone()
            m.a.copy_(b)
            m.b.copy_(a)
            return m.a * x

        x = torch.randn(4)
        module = Module(step, a=torch.arange(4.0), b=-torch.ones(4))
        self.check(lower(module, (x,)), module, (x,), (x,), (x,))

    def test_a_part_of_a_split_is_kept(self):
        def step(m, x):
            first, second = torch.split(torch.cat([m.a, x]), 4)
            m.a.copy_(second)
            return first + 0

        x = torch.randn(4)
        module = Module(step, a=torch.zeros(4))
        self.check(lower(module, (x,)), module, (x,), (x + 1,), (x + 2,))

    def test_what_depends_on_no_input(self):
        module = Module(lambda m, x: (torch.arange(6).float().view(2, 3).sin() + x, x * torch.full((2, 3), 2.0)))
        program = lower(module, (torch.randn(2, 3),))
        self.assertEqual(outside(program), [])
        self.check(program, module, (torch.randn(2, 3),))

    def test_nothing_but_constants_is_left_to_the_host(self):
        module = Module(lambda m, x: (torch.arange(4.0) * 2, x + 1))
        lower(module, (torch.randn(3),))  # the stock export fails here

    def test_a_part_of_constants_alone(self):
        from executorch.exir.dialects._ops import ops

        module = Module(lambda m, x: torch.tensor([1.0, 2.0, 3.0]).sin().relu() * x)
        ours = partitioner(operator_blocklist=[ops.edge.aten.relu.default])
        program = lower(module, (torch.randn(3),), ours)  # the stock export fails where it is cut like this
        self.assertEqual(delegates(program), ["PteronBackend"])

    def test_dynamic_sizes(self):
        n = Dim("n", min=2, max=12)
        module = Module(lambda m, x: (x @ x.transpose(0, 1), torch.cat([x, x], 1).view(-1).relu(), x.new_ones(x.shape[0], 2)))
        program = lower(module, (torch.randn(5, 4),), dynamic=(({0: n},),))
        self.assertEqual(outside(program), [])
        self.check(program, module, *((torch.randn(size, 4),) for size in (12, 2, 7)))

    def test_half_precision(self):
        module = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.GELU(), torch.nn.LayerNorm(6)).half()
        x = torch.randn(3, 8).half()
        program = lower(module, (x,))
        self.assertEqual(outside(program), [])
        got = Loaded(program)(x)[0]
        self.assertEqual(got.dtype, torch.float16)
        torch.testing.assert_close(got, module(x), rtol=5e-3, atol=5e-3)

    def test_a_convolution_of_a_dynamic_batch(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
        program = lower(module, (torch.randn(2, 3, 6, 6),), dynamic=({0: Dim("n", min=1, max=4)},))
        self.assertEqual(outside(program), [])
        self.check(program, module, *((torch.randn(n, 3, 6, 6),) for n in (4, 1, 3)))

    def test_the_report_says_why(self):
        ours = partitioner()
        lower(Module(lambda m, x: torch.nonzero(x)), (torch.tensor([0.0, 1]),), ours)
        self.assertRegex(ours.report(), r"^aten\.nonzero\.default: .+")

    def test_numbers_that_are_only_asserted_are_not_read(self):
        def checked(m, x):
            most = x.max().item()
            torch._check(most < 100)
            torch._check(most + x.sum().to(torch.int64).item() > 0)
            return x * 2.5

        module, x = Module(checked), (torch.tensor([3, 1, 4]),)
        program = lower(module, x)
        self.assertEqual((delegates(program), outside(program)), (["PteronBackend"], []))
        self.check(program, module, x)

    def test_a_cache_that_is_filled_for_the_first_time(self):
        module = Module(lambda m, x: torch.cat([torch.tensor([]), x.relu()], dim=-2) * 2)
        x = (torch.randn(1, 2, 3),)
        program = lower(module, x)
        self.assertEqual((delegates(program), outside(program)), (["PteronBackend"], []))
        self.check(program, module, x)
        run = Runtime.get().load_program(program.buffer).load_method("forward").execute
        torch.testing.assert_close(run(list(x))[0], module(*x))

    def test_a_number_that_a_delegate_gets_for_an_assertion_alone(self):
        def checked(m, x):
            most = x.max().item()
            torch._check(most < 100)
            return x * 2.5, most

        module, x = Module(checked), torch.tensor([3, 1, 4])
        buffer = lower(module, (x,)).buffer  # the program only refers to it
        program = _load_for_executorch_from_buffer(buffer)
        got, most = program.forward((x,))
        torch.testing.assert_close(got, x * 2.5)
        self.assertEqual(most, 4)

    def test_masks_that_choose_elements_stay_outside(self):
        ours = partitioner()
        program = lower(Module(lambda m, x: x[x > 0].sum()), (torch.randn(5),), ours)
        self.assertIn("aten::index", outside(program))
        self.assertRegex(ours.report(), r"aten\.index\.Tensor: axis 0 is indexed by a mask, so that only its contents tell the size of the result")

    def test_a_constant_that_is_a_result_too(self):
        module = Module(lambda m, x: (x @ m.w, m.w), w=torch.randn(4, 3))
        self.check(lower(module, (torch.randn(2, 4),)), module, (torch.randn(2, 4),))

    def test_a_buffer_that_an_op_outside_reads(self):
        from executorch.exir.dialects._ops import ops

        def step(m, x):
            seen = m.sum.relu()
            m.sum.add_(x)
            return seen + m.sum * 2

        module = Module(step, sum=torch.zeros(3))
        program = lower(module, (torch.ones(3),), partitioner(operator_blocklist=[ops.edge.aten.relu.default]))
        self.assertIn("aten::relu", outside(program))
        loaded = _load_for_executorch_from_buffer(program.buffer)
        for i in range(3):
            x = torch.full((3,), i - 0.5)
            torch.testing.assert_close(loaded.forward((x,))[0], module(x))

    def test_attention_stays_whole_where_the_engine_computes_it(self):
        def attend(m, q):
            return torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)

        for width, name in ((8, b"scaled_dot_product_attention"), (600, b"aten._softmax")):  # heads may have 512 elements
            q = torch.randn(1, 2, 3, width)
            program = lower(Module(attend), (q,))
            self.assertEqual(outside(program), [])
            self.assertIn(name, program.buffer)
            self.check(program, Module(attend), (q,))

    def test_lists_of_ops(self):
        from executorch.exir.dialects._ops import ops

        ours = partitioner(operator_blocklist=[ops.edge.aten.relu.default])
        program = lower(Module(lambda m, x: x.relu() + 1), (torch.randn(3),), ours)
        self.assertEqual(outside(program), ["aten::relu"])
        self.assertEqual(ours.report(), "aten.relu.default: it is in the blocklist")


if __name__ == "__main__":
    unittest.main()
