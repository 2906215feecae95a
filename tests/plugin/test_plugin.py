# SPDX-License-Identifier: BSD-3-Clause
"""What ExecuTorch can put around a delegate, through its Python runtime. usage: test_plugin.py KEPT_PROGRAMS"""
import gc
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import programs
import pteron
import torch
from executorch.devtools import Inspector
from executorch.runtime import Runtime

KEPT = Path(sys.argv.pop(1))
PATHS = programs.make(KEPT)


def method(name, entry="forward"):
    return Runtime.get().load_program(PATHS[name]).load_method(entry)


class Programs(unittest.TestCase):
    def assert_close(self, actual, expected):
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)

    def test_portable_kernels_run_between_delegates(self):
        x = torch.randn(3, 5)
        self.assert_close(method("split").execute([x])[0], programs.Split()(x))

    def test_sizes_go_from_delegate_to_delegate_as_integers(self):
        forward = method("rows")
        for rows in (6, 1, 4, 2, 6):
            x = torch.randn(rows, 5)
            self.assert_close(forward.execute([x])[0], programs.Rows()(x))

    def test_sizes_beyond_the_exported_ones_are_refused_and_the_method_goes_on(self):
        forward = method("rows")
        with self.assertRaises(RuntimeError):
            forward.execute([torch.randn(7, 5)])
        x = torch.randn(3, 5)
        self.assert_close(forward.execute([x])[0], programs.Rows()(x))

    def test_outputs_that_nobody_takes_do_no_harm(self):
        x = torch.randn(4)
        given = x.clone()
        self.assert_close(method("counter").execute([x])[0], 2 * x)
        self.assertTrue(torch.equal(x, given))

    def test_programs_have_several_methods(self):
        program = Runtime.get().load_program(PATHS["methods"])
        self.assertEqual(program.method_names, {"twice", "product"})
        twice, product = program.load_method("twice"), program.load_method("product")
        x, y = torch.randn(4), torch.randn(2, 4)
        for _ in range(2):
            self.assert_close(twice.execute([x])[0], x + x)
            self.assert_close(product.execute([y])[0], programs.Product()(y))

    def test_programs_are_destroyed_in_any_order(self):
        x = torch.randn(3, 5)
        kept = [method("split") for _ in range(3)]
        for index in (1, 0):
            del kept[index]
            gc.collect()
            self.assert_close(kept[-1].execute([x])[0], programs.Split()(x))

    def test_a_method_loaded_here_runs_on_another_thread(self):
        x, result = torch.randn(3, 5), []
        forward = method("split")
        thread = threading.Thread(target=lambda: result.extend(forward.execute([x])))
        thread.start()
        thread.join()
        self.assert_close(result[0], programs.Split()(x))


class Numpy(unittest.TestCase):
    def test_arrays_go_in_and_come_out(self):
        product = pteron.load(PATHS["methods"]).method("product")
        x = np.random.default_rng(0).normal(size=(2, 4)).astype("f4")
        (y,) = product(x)
        self.assertIsInstance(y, np.ndarray)
        np.testing.assert_allclose(y, programs.Product()(torch.from_numpy(x)).detach().numpy(), rtol=1e-5)

    def test_views_and_read_only_arrays_will_do(self):
        twice = pteron.load(PATHS["methods"]).method("twice")
        for x in (np.arange(8, dtype="f4")[::2], np.broadcast_to(np.float32(1.5), 4)):
            np.testing.assert_array_equal(twice(x)[0], x + x)

    def test_an_unknown_method_is_named_with_the_known_ones(self):
        with self.assertRaisesRegex(KeyError, "no method 'forward'; there are: product, twice"):
            pteron.load(PATHS["methods"])(np.zeros(4, "f4"))


class Tracing(unittest.TestCase):
    def test_etdump_has_a_time_for_each_op(self):
        program = Runtime.get().load_program(PATHS["split"], enable_etdump=True)
        program.load_method("forward").execute([torch.randn(3, 5)])
        with tempfile.TemporaryDirectory() as folder:
            program.write_etdump_result_to_file(f"{folder}/trace.etdp", f"{folder}/debug.bin")
            inspector = Inspector(etdump_path=f"{folder}/trace.etdp")
        events = [event for block in inspector.event_blocks for event in block.events if event.is_delegated_op]
        names = [event.name.split("#")[0] for event in events]
        self.assertEqual(" + ".join(names).count("aten.mul.Tensor"), 2)  # fused ops have the names of their parts
        self.assertEqual(" + ".join(names).count("aten.add.Tensor"), 1)
        for event in events:
            self.assertGreater(event.perf_data.raw[0], 0, event.name)


if __name__ == "__main__":
    unittest.main()
