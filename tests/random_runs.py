"""Random judgments and runs with everything in them that goes wrong in practice."""

import random

GRADES = (-2, -1, 0, 0, 1, 2, 3, 0.5)
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0, -1.0)


def random_cases(seeds, **options):
    """Return judgments and a run that hold a random case for each seed; its queries are `seed/q0`."""
    judgments, run = {}, {}
    for seed in seeds:
        for whole, case in zip((judgments, run), random_case(seed, **options), strict=True):
            whole |= {f"{seed}/{query}": docs for query, docs in case.items()}
    return judgments, run


def random_case(seed, *, grades=GRADES, scores=SCORES, queries=4, documents=6):
    """Return judgments and a run that share at least one query."""
    rng = random.Random(seed)  # noqa: S311
    ids = [f"d{number}" for number in range(documents + 2)]
    judgments, run = {}, {}
    for number in range(rng.randint(1, queries)):
        query = f"q{number}"
        judged = rng.sample(ids, rng.randint(1, documents))
        judgments[query] = {doc: rng.choice(grades) for doc in judged}
        if number == 0 or rng.random() < 0.85:
            # At most one long tie block, so that trying all orders stays quick.
            returned = rng.sample(ids, rng.randint(1, documents))
            run[query] = {doc: rng.choice(scores) for doc in returned}
    if rng.random() < 0.2:
        run["not judged"] = {"d0": 1.0}
    return judgments, run
