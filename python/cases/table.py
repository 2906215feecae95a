# SPDX-License-Identifier: BSD-3-Clause
"""All cases: the lists CASES of this package's modules."""
import collections
import importlib
import pkgutil

import cases
from cases.case import Case


def families() -> dict[str, list[Case]]:
    modules = [importlib.import_module(f"cases.{info.name}") for info in pkgutil.iter_modules(cases.__path__)]
    found = {module.__name__.split(".")[1]: module.CASES for module in modules if hasattr(module, "CASES")}
    names = [case.name for family in found.values() for case in family]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"declared twice: {', '.join(twice)}")
    return found


def coverage(cases: list[Case]) -> collections.Counter:
    """How many cases are about each op."""
    return collections.Counter(op for case in cases for op in case.expect_ops)
