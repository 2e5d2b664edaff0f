"""What the tests of measures on arrays share."""

import jax
import pytest

from array_libraries import LIBRARIES


@pytest.fixture
def _double_in_jax():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(params=LIBRARIES)
def put(request):
    return LIBRARIES[request.param]
