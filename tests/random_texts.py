"""Random judgments and runs whose ids can stand in a clean text."""

import random

ALPHABET = "abcdefgh0123456789-_#\"',.éß語🙂"


def made(seed, *, queries=12, longest=60, levels=40, id_length=(1, 30), alphabet=ALPHABET):
    """Return judgments and a run with ids of many lengths, ties, missing and extra queries."""
    rng = random.Random(seed)  # noqa: S311

    def name():
        return "".join(rng.choices(alphabet, k=rng.randint(*id_length)))

    judgments, run = {}, {}
    for _ in range(queries):
        query = name()
        docs = list({name() for _ in range(rng.randint(1, longest))})
        scores = {doc: rng.randrange(levels) / 8 - 1 for doc in docs}
        judged = {doc: rng.choice((-1, 0, 0.5, 1, 2)) for doc in rng.sample(docs, len(docs) // 2)}
        judged[name() + "!"] = 3
        if rng.random() < 0.8:
            judgments[query] = judged
        if rng.random() < 0.8:
            run[query] = scores
    judgments["both"], run["both"] = {"a": 1, "b": 2}, {"a": 1.0, "b": 1.0, "c": 1.0}
    return judgments, run
