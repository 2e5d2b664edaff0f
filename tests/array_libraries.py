"""The libraries whose arrays measures are tested with, what makes an array of each, and JAX's compiler."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import torch

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "jax": jnp.asarray}

# What makes the compiler three times as fast, and what it makes slower, which hardly runs here.
FLAG_FOR_HASTE = "xla_cpu_use_fusion_emitters"
_HASTE = {
    FLAG_FOR_HASTE: False,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_backend_optimization_level": 0,
}
_USUAL = {
    FLAG_FOR_HASTE: True,
    "xla_cpu_parallel_codegen_split_count": 32,
    "xla_backend_optimization_level": 3,
}


def quickly_compiled(function):
    """Return a function compiled by JAX in one piece, in haste.

    Not compiled, JAX compiles each operation by itself, which takes ten times as long. That the
    usual ways give the same, test_losses_transformed.py holds for every loss.
    """
    return jax.jit(function, compiler_options=_known_haste())


def usually_compiled(function):
    """Return a function compiled by JAX as it does it for users, whatever the tests have set."""
    options = {name: _USUAL[name] for name in _known_haste()}
    return jax.jit(function, compiler_options=options)


def flags_for_haste():
    """Return the same as flags for a process of its own, in the variable XLA_FLAGS."""
    return " ".join(f"--{name}={str(value).lower()}" for name, value in _known_haste().items())


@functools.cache
def _known_haste():
    """Return the options for haste that this version of JAX knows."""

    def is_known(name):
        try:
            jax.jit(lambda one: one, compiler_options={name: _HASTE[name]})(1.0)
        except jax.errors.JaxRuntimeError:
            return False
        return True

    return {name: value for name, value in _HASTE.items() if is_known(name)}
