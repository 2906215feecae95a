# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program's method `forward` on arrays from files and prints what comes out.

usage: python run.py MODEL.pte INPUT.npy…
"""
import sys

import numpy as np
import pteron

program = pteron.load(sys.argv[1])
for output in program(*(np.load(path) for path in sys.argv[2:])):
    print(output.dtype, output.shape, output.ravel()[:8])
