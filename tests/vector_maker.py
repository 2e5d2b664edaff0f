"""The program that writes the conformance vectors, as a module: its formulas are an oracle."""

import importlib.util
from pathlib import Path

VECTORS = Path(__file__).parents[1] / "vectors"
_spec = importlib.util.spec_from_file_location("make_vectors", VECTORS / "make.py")
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)


def value_under(asked, measure=None, **choices):
    """The value of a case with another measure or other choices; None where it is undefined.

    A case that must be refused raises an error of `make`.
    """
    case = {**asked, "measure": {**asked["measure"], **(measure or {})}}
    text = make.mean_of(make.of_case(case, {**make.USUAL, **case["choices"], **choices}))
    return None if text is None else float(make.evaluated(text))
