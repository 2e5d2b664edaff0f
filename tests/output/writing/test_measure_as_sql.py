"""A measure as SQL: the databases return what `evaluate` returns, for every choice that a query can follow."""

import contextlib
import itertools
import random
import sqlite3

import duckdb
import psycopg
import pytest

import gainful as gf
from gainful.output.writing.measure_as_sql import _ANSWERED

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

MEASURES = [
    "nDCG@3", "nDCG", "nDCG(gain=exp2)@5", "nDCG(gain=binary)@5", "nDCG(discount=jarvelin)@10",
    "nDCG(discount=jarvelin,base=3)@10", "nDCG(discount=reciprocal)@4", "nDCG(discount=power(0.5))",
    "nDCG(discount=ln)@4", "nDCG(discount=misprint)@4", "nDCG(depth=all)@2", "DCG(base=10)@5", "CG@3", "IDCG@3",
    "P@5", "R@5", "R", "Success@2", "RR@5", "RR", "AP@5", "AP", "AP(rel=2)", "P(rel=2)@3",
]  # fmt: skip
TABLE = gf.Measure("nDCG", k=4, discount=[1, 0.5, 0.25, 0.125])
POLICIES = [{}] + [
    {name: answer} for name, answers in _ANSWERED.items() for answer in answers if answer != "auto"
]
DOCS = [f"d{number}" for number in range(12)] + ["É", "z", "Z", "10", "9"]


def rows(seed, lowest=0):
    """Return judgments and a run with ties, unjudged documents, an empty query and a missing one."""
    drawn = random.Random(seed)  # noqa: S311 - for a test
    judgments, run = [], []
    for query in ("q1", "q2", "q3", "q4", "q5"):
        judged, returned = drawn.sample(DOCS, drawn.randint(1, 9)), drawn.sample(DOCS, 10)
        grades = (0,) if query == "q5" else (0, 0, 1, 2, 3)
        judgments += [(query, doc, drawn.choice(grades) + lowest) for doc in judged]
        if query != "q4":
            run += [(query, doc, drawn.choice([1.0, 2.0, 2.5])) for doc in returned]
    return judgments, run


def by_query(triples):
    found = {}
    for query, doc, number in triples:
        found.setdefault(query, {})[doc] = number
    return found


def filled(connection, judgments, run, mark="?"):
    """Create and fill the two tables."""
    values = f"VALUES ({mark}, {mark}, {mark})"
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE judgments (query TEXT, doc TEXT, grade INTEGER)")
    cursor.execute("CREATE TABLE run (query TEXT, doc TEXT, score DOUBLE PRECISION)")
    cursor.executemany(f"INSERT INTO judgments {values}", judgments)
    cursor.executemany(f"INSERT INTO run {values}", run)
    return cursor


def assert_same(cursor, dialect, judgments, run, step=1):
    """Compare every measure under every policy, or every `step`th pair, and return how many were compared."""
    compared = 0
    for measure, policy in [*itertools.product([*MEASURES, TABLE], POLICIES)][::step]:
        try:
            query = gf.writing.sql(measure, dialect=dialect, policy=policy)
        except gf.errors.InputError:
            assert policy == {"ties": "average"}
            continue
        scores = gf.evaluate(by_query(judgments), by_query(run), measure, policy=policy)
        cursor.execute(query)
        ((value,),) = cursor.fetchall()
        (expected,) = scores.means.values()
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12), (measure, policy)
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(2))
def test_same_in_sqlite(seed):
    judgments, run = rows(seed, lowest=-seed)
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        assert assert_same(filled(connection, judgments, run), "sqlite", judgments, run) > 400


def test_same_in_duckdb():
    judgments, run = rows(3, lowest=-1)
    with contextlib.closing(duckdb.connect()) as connection:
        assert assert_same(filled(connection, judgments, run), "duckdb", judgments, run, 7) > 50


def test_same_in_postgres(postgres_address):
    judgments, run = rows(7)
    with psycopg.connect(postgres_address) as connection:
        cursor = filled(connection, judgments, run, mark="%s")
        assert assert_same(cursor, "postgres", judgments, run, 3) > 130


def test_rows_by_query_with_other_names():
    judgments, run = rows(5)
    with contextlib.closing(duckdb.connect()) as connection:
        filled(connection, judgments, run)
        connection.execute("CREATE SCHEMA shop")
        connection.execute(
            'CREATE TABLE shop.grades AS SELECT query AS "user", doc AS "order", grade AS g FROM judgments'
        )
        connection.execute(
            'CREATE TABLE shop.hits AS SELECT query AS "user", doc AS "order", score AS "a ""b""" FROM run'
        )
        columns = {"query": "user", "doc": "order", "grade": "g", "score": 'a "b"'}
        query = gf.writing.sql(
            "nDCG@5", judgments="shop.grades", run="shop.hits", columns=columns, per_query=True
        )
        values = dict(connection.execute(query).fetchall())
    scores = gf.evaluate(by_query(judgments), by_query(run), "nDCG@5")
    expected = {query: row["nDCG@5"] for query, row in scores.per_query.to_dict().items()}
    assert values == pytest.approx(expected)


def test_by_hand():
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        cursor = filled(connection, [("q", "a", 1), ("q", "b", 3)], [("q", "a", 2), ("q", "b", 1)])
        cursor.execute(gf.writing.sql("DCG(gain=exp2)@2", dialect="sqlite"))
        assert cursor.fetchone()[0] == pytest.approx(1 + 7 / 1.584962500721156)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark"])
def test_translations_say_that_they_are_not_executed(dialect):
    query = gf.writing.sql("nDCG@10", dialect=dialect)
    assert "not executed in gainful's tests" in query
    assert ('"QUERY"' if dialect == "snowflake" else "`query`") in query


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "ERR@10"}, ["nDCG", "ERR@10", "gainful evaluate"]),
        ({"measure": "AP", "policy": {"ties": "average"}}, ["ties", "expectation"]),
        ({"measure": "nDCG", "policy": {"unjudged": "error"}}, ["unjudged", "gainful check"]),
        ({"measure": "nDCG", "policy": {"precision": "single"}}, ["precision", "double"]),
        ({"measure": "nDCG(norm=minmax)@5"}, ["norm", "ideal"]),
        ({"measure": "P"}, ["P@10"]),
        ({"measure": gf.Measure("nDCG", gain={1: 2})}, ["gain", "linear", "lacks"]),
        ({"measure": "nDCG", "dialect": "oracle"}, ["dialect", "oracle", "postgres"]),
        ({"measure": "nDCG", "columns": {"rank": "r"}}, ["columns", "rank", "score"]),
        ({"measure": "nDCG", "run": "a..b"}, ["run", "name"]),
    ],
)
def test_what_a_query_cannot_do_is_explained(options, words):
    with pytest.raises(gf.errors.GainfulError) as error:
        gf.writing.sql(**options)
    assert all(word in str(error.value) for word in words)
