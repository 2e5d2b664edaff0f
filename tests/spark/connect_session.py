"""Evaluate on Spark Connect, and compare with dicts; run as a process of its own,
with the address of a server."""

import math
import sys
import warnings

import pytest

import gainful as gf
from spark_cases import CHUNKS, POLICIES, every_measure, on_spark, random_sides, that_can_be


def main():
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
    warnings.filterwarnings("ignore", category=gf.errors.GainfulWarning)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    judgments, run = random_sides("connect")
    frames = on_spark(session, judgments, "grade"), on_spark(session, run, "score")
    assert "connect" in type(frames[0]).__module__
    for choices in (POLICIES[7], POLICIES[9]):
        policy = gf.Policy(**choices)
        options = {"policy": policy, "chunks": CHUNKS if policy.fold == "max" else None}
        kept = that_can_be(every_measure("connect", cut=False), judgments, run, **options)
        check(gf.evaluate(*frames, kept, **options), gf.evaluate(judgments, run, kept, **options))
    check(gf.evaluate(*frames, "nDCG@5"), gf.evaluate(judgments, run, "nDCG@5"))
    comparisons = [
        gf.compare(judgments, {"one": one, "two": two}, "nDCG@5")
        for one, two in ((run, run), (frames[1], frames[1]))
    ]
    assert str(comparisons[0]) == str(comparisons[1])
    wrong = frames[1].union(session.createDataFrame([("q0", None, 1.0)], frames[1].schema))
    with pytest.raises(
        gf.errors.InputError, match=r"^run, query 'q0': expected an id as doc, found nothing"
    ):
        gf.evaluate(judgments, wrong)
    session.stop()
    print("the same")


def check(found, expected):
    for measure in expected.measures:
        assert found.signature(measure) == expected.signature(measure)
        values = found[measure], expected[measure]
        assert math.isclose(*values, rel_tol=1e-12, abs_tol=1e-12) or all(map(math.isnan, values))
    assert found.queries == expected.queries
    assert found.coverage == expected.coverage
    assert sorted(row["query"] for row in found.per_query.to_spark().collect()) == sorted(
        expected.queries
    )


if __name__ == "__main__":
    main()
