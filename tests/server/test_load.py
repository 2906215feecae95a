# SPDX-License-Identifier: BSD-3-Clause
"""The short form of bench/serve.py. usage: test_load.py PTERON DATA_FOLDER"""
import os
import sys
import time
import unittest

from serving import DATA, Server

sys.path.insert(0, str(DATA.resolve().parents[1] / "bench"))
import serve


COUNTED = ("pteron_gpu_buffers", "pteron_gpu_bytes", "pteron_gpu_bind_groups", "pteron_gpu_pipelines", "pteron_idle_sessions", "pteron_connections")


class MixedLoad(unittest.TestCase):
    def counts(self, server):
        time.sleep(0.2)  # the connection that asked last is closed by then
        folder = f"/proc/{server.process.pid}"
        own = {"files": len(os.listdir(f"{folder}/fd")), "threads": len(os.listdir(f"{folder}/task"))}
        return {**own, **{name: server.metric(name) for name in COUNTED}}

    def settled(self, server):
        """What there is once nothing is under way: counted until it is the same three times."""
        for name in ("pteron_active", "pteron_queued"):
            self.assertEqual(server.wait_for_metric(name, 0), 0, name)
        counted = [self.counts(server)]
        while counted[-3:] != [counted[-1]] * 3:
            counted.append(self.counts(server))
        return counted[-1]

    def expect_right(self, outcomes, seconds):
        self.assertEqual(serve.summary(outcomes, seconds)["problems"], [])
        self.assertEqual([sum(o.kind == kind for o in outcomes) for kind in ("good", "cut", "bad")], [84, 24, 12])

    def test_every_answer_is_right_and_states_stay_within_their_budget(self):
        with Server("-q", "--parallel", 4, "--chunk", 16, "--kv-memory", 8) as server:
            self.expect_right(*serve.Load(server.url, tokens=8, longest=16).run(120, 8))
            self.settled(server)
            self.assertGreater(server.metric("pteron_idle_sessions"), 0)
            self.assertLess(server.metric("pteron_session_bytes"), 9 << 20)
            self.assertEqual(server.stop(), 0)

    def test_nothing_is_left_behind(self):
        with Server("-q", "--parallel", 4, "--chunk", 16, "--kv-memory", 0) as server:
            load = serve.Load(server.url, tokens=8, longest=16)
            load.run(40, 4)
            # Answers begin and end one after the other, so there were batches of every size.
            self.assertEqual(server.post("/v1/completions", {"prompt": ["a", "b", "c", "d"], "max_tokens": 12, "ignore_eos": True})[0], 200)
            before = self.settled(server)
            self.expect_right(*load.run(120, 8))
            self.assertEqual(self.settled(server), before)
            self.assertEqual(before["pteron_idle_sessions"], 0)


if __name__ == "__main__":
    unittest.main()
