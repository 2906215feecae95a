# SPDX-License-Identifier: BSD-3-Clause
"""Small models that the partitioner was not written for, against torch."""
