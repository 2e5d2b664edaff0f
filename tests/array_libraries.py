"""The libraries whose arrays measures are tested with, and what makes an array of each."""

import jax.numpy as jnp
import numpy as np
import torch

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "jax": jnp.asarray}
