# SPDX-License-Identifier: BSD-3-Clause
"""The table of op cases: real programs with torch's answers, for the engine's tests. See README.md."""
import logging

logging.disable(logging.WARNING)  # torch and the exporter talk a lot when they are imported
