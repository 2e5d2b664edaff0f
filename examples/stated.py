"""The nDCG that each loss is stated to reach in `train_torch.py` and `train_jax.py`.

It is what 40 steps or more reach on lists that were not trained on: the lowest of several seeds in
either library, rounded down, so that another version of a library reaches it too.
"""

STATED = {
    "approx": 0.96,
    "gumbel": 0.96,
    "neural": 0.99,
    "pirank": 0.985,
    "soft": 0.985,
    "lambda": 0.98,
    "pl_rank": 0.98,
    "xe": 0.985,
    "softmax": 0.98,
    "listnet": 0.99,
    "list_mle": 0.975,
    "p_list_mle": 0.975,
}
