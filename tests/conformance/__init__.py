# SPDX-License-Identifier: BSD-3-Clause
"""The reference backend's own tests, run through Pteron with stock ExecuTorch.

    python -m conformance [--full] [--only TEXT] [--table FILE]

What is run: the catalog `executorch.backends.webgpu.test.op_tests` of the installed wheel, the programs that the tests
and exporters of `executorch.backends.webgpu.test.ops` make, and the shared fixtures if they are there. Exports are kept
in build/conformance; without --full, only a fixed choice is exported, and all that is kept already is run too.
"""
