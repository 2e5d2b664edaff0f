"""What the tests of measures on arrays share."""

import os
from importlib.metadata import version

import jax
import pytest

from array_libraries import FLAG_FOR_HASTE, LIBRARIES

# A measure that is not compiled as a whole has each operation compiled, which takes half as long so.
# The level is not 0, at which a product and a sum are rounded apart: tests hold the last digits.
# A flag that it does not know ends the process: only a version that knows it is told.
if version("jaxlib").startswith("0.10."):
    flags = f"--{FLAG_FOR_HASTE}=false --xla_cpu_parallel_codegen_split_count=1"
    os.environ.setdefault("XLA_FLAGS", f"{flags} --xla_backend_optimization_level=1")


@pytest.fixture
def _double_in_jax():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(params=LIBRARIES)
def put(request):
    return LIBRARIES[request.param]
