"""Random measures of any family, and random lists to measure: unjudged, negative, short, empty."""

import gainful as gf
import literal_measures

GRADES = (-2, -1, 0, 0, 0, 1, 1, 2, 3, 4, 0.5, 2.5)
SCALES = ("none", "query", 4, 5, 10)
TABLE = {-2: -1, -1: 0, 0: 0, 0.5: 3, 1: 1, 2: 4, 2.5: 0.25, 3: 2, 4: 4}  # not monotone
DISCOUNTS = ("log", "jarvelin", "reciprocal", "power(0.5)", "none")
VALUES = {
    "gain": ("linear", "exp2", "binary", TABLE),
    "discount": DISCOUNTS,
    "base": (2, 3.5, 10),
    "columns": (4, 2, (2, 3), (3, 1, "...")),
    "row": DISCOUNTS,
    "column": DISCOUNTS,
    "norm": ("ideal", "ideal", "minmax"),
    "ideal": ("judged", "retrieved"),
    "depth": ("cutoff", "cutoff", "all", "retrieved"),
    "rel": (1, 1, 1, 2, 3, 0.5, 4),
    "beta": (1, 0.5, 2, 10),
    "denominator": ("R", "min"),
    "recall": (0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1),
    "mult": (1, 0.2, 0.35, 0.5, 1.2, 1.1, 2, 3.3),
    "floor": (1e-5, 0.01),
    "p": (0.8, 0.5, 0.95, 0.1, 0.99),
    "T": (1, 2, 2.5, 3, 6),
    "K": (10, 1, 2, 5, 20),
    "user": ("RBP", "INSQ", "INST", "BPM", "SDCG", "P"),
    "max": SCALES,
    "a": (1, 3, 0),
    "b": (-1, -0.5, 2),
    "c": (0, -2),
    "d": (0, 0.25),
    "docs": (100, 1000),
}
OF_A_FAMILY = {("Q", "beta"): (1, 0, 0.5, 10), ("ERR", "max"): (4, 5), ("nERR", "max"): (4, 6.5)}


def random_parameters(rng, family):
    """Parameters of a family as a caller gives them, every one of them named."""
    drawn = {
        parameter.name: rng.choice(
            OF_A_FAMILY.get((family.name, parameter.name), VALUES.get(parameter.name))
        )
        for parameter in family.parameters
    }
    if drawn.get("discount") in ("reciprocal", "power(0.5)", "none"):
        drawn["base"] = 2  # no other stands beside a discount without one
    if drawn.get("norm") == "minmax":
        drawn |= {"ideal": "judged", "depth": "cutoff"}  # nor any other ideal beside it
    return drawn


def random_cutoff(rng, family, deepest=20):
    if family.cutoff == "never" or (family.cutoff == "optional" and rng.random() < 0.3):
        return None
    return rng.randint(1, deepest)


def random_list(rng, grades=GRADES, longest=14, unjudged=0.3):
    """Grades in rank order, None for the unjudged, and the grades of what was not retrieved."""
    length = rng.choice((0, 1, 2, 3, 5, 8, longest))
    listed = [None if rng.random() < unjudged else rng.choice(grades) for _ in range(length)]
    unseen = [rng.choice(grades) for _ in range(rng.choice((0, 0, 1, 2, 6)))]
    return listed, unseen


def as_dicts(lists):
    """The judgments and the run of several lists, {query: …}; ids say nothing about the rank."""
    judgments, run = {}, {}
    for number, (listed, unseen) in enumerate(lists):
        ids = [f"d{(7 * rank + 3) % 101}" for rank in range(len(listed))]
        run[f"q{number}"] = {doc: -0.5 * rank for rank, doc in enumerate(ids)}
        judgments[f"q{number}"] = {
            **{doc: grade for doc, grade in zip(ids, listed, strict=True) if grade is not None},
            **{f"u{place}": grade for place, grade in enumerate(unseen)},
        }
    return judgments, run


def expected(name, listed, unseen, empty=0.0, **settings):
    """The literal value, with what an undefined one counts as."""
    found = literal_measures.value(name, listed, unseen, **settings)
    return empty if found is None else found


def per_query(judgments, run, measures, **choices):
    """The values of gainful, {query: {measure: value}}."""
    scores = gf.evaluate(judgments, run, measures, policy=gf.Policy(**choices))
    return scores.per_query.to_dict()
