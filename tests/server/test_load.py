# SPDX-License-Identifier: BSD-3-Clause
"""The short form of bench/serve.py. usage: test_load.py PTERON DATA_FOLDER"""
import sys
import unittest

from serving import DATA, Server

sys.path.insert(0, str(DATA.resolve().parents[1] / "bench"))
import serve


class MixedLoad(unittest.TestCase):
    def test_every_answer_is_right_and_nothing_is_left_behind(self):
        with Server("-q", "--parallel", 4, "--chunk", 16, "--kv-memory", 8) as server:
            load = serve.Load(server.url, tokens=8, longest=16)
            outcomes, _ = load.run(40, 4)  # warm
            baseline = {name: server.wait_for_metric(name, value) for name, value in (("pteron_active", 0), ("pteron_connections", 1))}
            outcomes, seconds = load.run(120, 8)
            report = serve.summary(outcomes, seconds)
            self.assertEqual(report["problems"], [])
            self.assertEqual([sum(o.kind == kind for o in outcomes) for kind in ("good", "cut", "bad")], [84, 24, 12])
            for name, value in {**baseline, "pteron_queued": 0}.items():
                self.assertEqual(server.wait_for_metric(name, value), value, name)
            self.assertLess(server.metric("pteron_session_bytes"), 9 << 20)
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
