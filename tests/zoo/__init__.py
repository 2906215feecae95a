# SPDX-License-Identifier: BSD-3-Clause
"""Architectures that others wrote, small, as the measure of what people export: see __main__.py."""
