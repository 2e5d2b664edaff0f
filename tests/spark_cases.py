"""Random judgments and runs, and every measure and choice of a policy that Spark takes."""

import math
import random

import gainful as gf
from random_measures import GRADES, random_cutoff, random_parameters

# Java that starts quickly and is slow in the long run: no compiler that optimises, no check of each
# class, and no collection of garbage before there is much of it.
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def remember_names_of_java():
    """Have Python ask Java once for what a name stands for: a package, a class or a method of it.

    For a name that is no class, Java looks through all archives of Spark, 279 of them, and Spark's
    Python names packages in every call.
    """
    from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

    def remember(kind):
        ask = kind.__getattr__

        def find(self, name):
            found = ask(self, name)
            if isinstance(found, JavaClass | JavaMember | JavaPackage):
                vars(self)[name] = found
            return found

        kind.__getattr__ = find

    for kind in (JVMView, JavaPackage, JavaClass):
        remember(kind)


SCORES = (0.0, -0.0, 0.25, 0.5, 1.0, -1.0, 0.1, 0.1 + 1e-9)  # the last two tie as float32

# Every answer of every choice stands in one of these at least, but errors and what asks for an order.
POLICIES = (
    {},
    {"ties": "average", "missing": "skip", "drop_self": "yes"},
    {"ties": "best", "negative": "zero", "empty": "skip", "fold": "none"},
    {"ties": "average", "negative": "unjudged", "empty": "skip_all"},
    {"empty": "abstain"},
    {"ties": "doc", "negative": "unjudged", "unjudged": "condense", "drop_self": "run"},
    {"ties": "worst", "negative": "keep", "drop_self": "run"},
    {"ties": "worst", "negative": "both", "absent": "lowest"},
    {"ties": "doc_ascending", "precision": "single", "absent": 1.0},
    {"ties": "average", "precision": "single", "empty": "one", "duplicates": "best"},
    {"ties": "doc", "fold": "max", "empty": "nan"},
    {"ties": "best", "fold": "max", "drop_self": "yes", "duplicates": "best"},
    {"unjudged": "condense", "ties": "average"},
    {"unjudged": "condense", "ties": "doc", "drop_self": "yes", "precision": "single"},
    {"unjudged": 1.0, "ties": "doc", "absent": -1.0},
    {"unjudged": -1.0, "ties": "worst", "fold": "max"},
)
REFUSED = {"ties": {"order", "auto"}, "duplicates": {"first"}, "fold": {"first", "in_place"}}
CHUNKS = "#"


def random_sides(seed, queries=30, documents=40):
    """Judgments and a run: unjudged documents, ties, queries on one side alone, in chunks, and themselves."""
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{number}" for number in range(documents)] + ["ü", "€", "𝄞", "d1#2", "d1#3", "a##b#c"]
    judgments, run = {}, {}
    for number in range(queries):
        query = f"q{number}"
        judged = rng.sample([*docs, query, "a##b", "a#"], rng.choice((1, 3, 10)))
        returned = rng.sample([*docs, query, f"{query}#1"], rng.choice((1, 5, 20, documents)))
        if number < 2 or rng.random() < 0.85:
            judgments[query] = {doc: rng.choice(GRADES) for doc in judged}
        if number < 2 or rng.random() < 0.85:
            tied = rng.random() < 0.5
            run[query] = {doc: rng.choice(SCORES) if tied else rng.random() for doc in returned}
    return judgments, run


def every_measure(seed, *, cut):
    """Measures of every family of the catalogue; with `cut`, those that have a deepest rank."""
    rng = random.Random(seed)  # noqa: S311
    found = []
    for family in gf.measures.families(needs="grades"):
        for default in (True, False):
            parameters = {} if default else random_parameters(rng, family)
            cutoff = random_cutoff(rng, family)
            if cut and family.cutoff != "never":
                cutoff = cutoff or 7
            measure = gf.Measure(family.name, cutoff=cutoff, **parameters)
            if not cut or measure.reach is not None:
                found.append(measure)
    return list(dict.fromkeys(found))


def that_can_be(measures, judgments, run, policy, **options):
    """Those of some measures that have a value: some have none where documents tie."""
    try:
        gf.evaluate(judgments, run, measures, policy=policy, **options)
    except gf.errors.GainfulError:
        middle = len(measures) // 2  # few have none, and are found by halves
        halves = (measures[:middle], measures[middle:]) if middle else ()
        return [
            each for half in halves for each in that_can_be(half, judgments, run, policy, **options)
        ]
    return list(measures)


def rows_of(documents):
    return [
        (q, doc, float(number)) for q, found in documents.items() for doc, number in found.items()
    ]


def on_spark(session, documents, number):
    """A Spark data frame of a dict of dicts, in three partitions that split queries."""
    schema = f"query string, doc string, {number} double"
    return session.createDataFrame(rows_of(documents), schema).repartition(3)


def assert_same(found, expected):
    """The same to 12 digits, and the same hashes: what was measured agrees bit for bit."""
    assert found.measures == expected.measures
    for measure in expected.measures:
        assert found.signature(measure) == expected.signature(measure)
        assert close(found[measure], expected[measure]), measure
    assert found.queries == expected.queries
    assert (found.counted == expected.counted).all()
    for left, right in zip(found.values.ravel(), expected.values.ravel(), strict=True):
        assert close(left, right)
    assert found.judged.tolist() == expected.judged.tolist()
    assert found.coverage == expected.coverage
    assert str(found) == str(expected)


def close(left, right):
    return math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12) or (
        math.isnan(left) and math.isnan(right)
    )
