# SPDX-License-Identifier: BSD-3-Clause
"""Loops of kernels that say `//! ends`, and how bench/gpu finds loops in machine code. usage: test_loops.py SOURCE"""
import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "tools"), str(SOURCE / "bench" / "gpu")]
import embed_kernels
import machine_code

OPS = SOURCE / "src" / "ops"
WRAP = 1 << 32


def with_snippets(path):
    text = path.read_text()
    used = [n for line in re.findall(r"^//! use (.*)$", text, re.M) for n in line.split()]
    return text + "".join((OPS / "snippets" / f"{n}.wgsl").read_text() for n in used)


ENDING = [p for p in OPS.glob("*.wgsl") if re.search(r"^//! ends$", p.read_text(), re.M)]


class Loops(unittest.TestCase):
    def test_there_are_kernels_that_end(self):
        self.assertIn("linear_q4_lines.wgsl", [p.name for p in ENDING])

    def test_every_loop_of_a_kernel_that_ends_has_a_form_that_ends(self):
        for path in ENDING:
            self.assertEqual(embed_kernels.endless_loops(with_snippets(path)), [], path.name)

    def test_a_count_ends_at_extreme_bounds_and_starts(self):
        for bound in (0, 1, 2, WRAP - 2, WRAP - 1):
            for start in (0, 1, max(bound - 3, 0), bound, WRAP - 1):
                i, rounds = start if bound - start < 8 else bound - 3, 0
                while i < bound:
                    i, rounds = (i + 1) % WRAP, rounds + 1
                    self.assertLess(rounds, 9)

    def test_steps_to_a_parameter_are_refused_because_they_may_wrap(self):
        for head in ("var i = lid; i < p.width; i += 64u", "var i = 0u; i <= p.last; i++", "var s = 1u; s < p.n; s *= 2u"):
            self.assertEqual(len(embed_kernels.endless_loops(f"for ({head}) {{ }}")), 1, head)

    def test_changing_the_count_or_the_bound_is_refused(self):
        for body in ("i -= 1u;", "i = 0u;", "end += 1u;", "end++;"):
            self.assertEqual(len(embed_kernels.endless_loops(f"for (var i = 0u; i < end; i++) {{ {body} }}")), 1, body)
        self.assertEqual(embed_kernels.endless_loops("for (var i = 0u; i < end; i++) { x.i = 3u; } end = 2u;"), [])

    def test_loops_without_a_head_are_refused(self):
        self.assertEqual(len(embed_kernels.endless_loops("loop { break; } while (true) { }")), 2)


CODE = """
  s_load_dwordx4 s[0:3], s[4:5], null
BB1:
  buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen
  buffer_load_dwordx4 v[8:11], v5, s[0:3], 0 offen
BB2:
  s_waitcnt vmcnt(0)
  v_fmac_f32_e32 v0, v1, v2
  s_cbranch_scc1 BB2
  s_cbranch_scc1 BB1
BB3:
  s_endpgm
"""


class MachineCode(unittest.TestCase):
    def test_a_branch_backwards_closes_a_loop(self):
        self.assertEqual(machine_code.Code(CODE).shape, "1 2")

    def test_loops_are_gone_through_as_often_as_is_said(self):
        run = machine_code.run(machine_code.Code(CODE).executed([3, 4]), 64, 32)
        self.assertEqual((run.loads, run.valu, run.in_flight), (6, 12, 2))

    def test_a_wait_lasts_until_loads_are_back(self):
        once = machine_code.run(machine_code.Code(CODE).executed([1, 1]), 64, 32)
        twice = machine_code.run(machine_code.Code(CODE).executed([2, 1]), 64, 32)
        self.assertGreater(twice.cycles - once.cycles, machine_code.LATENCY["vector"])


if __name__ == "__main__":
    unittest.main()
