"""Rows in rank order → Matched, without Spark: the same as from dicts, however the rows are cut up."""

import random
import warnings

import numpy as np
import pyarrow as pa
import pytest

import gainful as gf
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.spark import partition_matching as stream
from gainful.matching.spark.plan import JUDGMENT, PRESENT, RETRIEVED, Plan
from same_matched import match_dicts
from spark_cases import random_sides

POLICIES = (
    {"ties": "doc"},
    {"ties": "doc_ascending", "drop_self": "yes"},
    {"ties": "average"},
    {"ties": "average", "unjudged": "condense"},
    {"ties": "doc", "unjudged": "condense"},
    {"ties": "doc", "unjudged": -1.0},
    {"ties": "worst", "unjudged": 2.0, "drop_self": "yes"},
    {"ties": "doc", "drop_self": "run", "negative": "unjudged"},
    {"ties": "average", "unjudged": "condense", "negative": "unjudged"},
)


def rows_of(judgments, run, policy, *, depth=None, cut=False, hashes=hash):
    """The rows that Spark would send, in its order."""
    rows = []
    for query, found in judgments.items():
        rows += [(query, JUDGMENT, doc, None, float(grade)) for doc, grade in found.items()]
    for query, found in run.items():
        listed = {doc: score + 0.0 for doc, score in found.items()}
        if policy.drop_self != "no":
            listed = {doc: score for doc, score in listed.items() if doc != query}
        rows.append((query, PRESENT, None, None, float(len(listed)) if cut else None))
        near = sorted(set(listed.values()), reverse=True)[:depth] if cut else list(listed.values())
        rows += [(query, RETRIEVED, doc, s, None) for doc, s in listed.items() if s in set(near)]
    rows.sort(key=lambda row: (row[2] or "").encode(), reverse=policy.ties != "doc_ascending")
    rows.sort(key=lambda row: (row[0].encode(), row[1], -(row[3] or 0.0)))
    return [(*row, hashes(row[2]) % (1 << 62)) for row in rows]


def batches_of(rows, rng):
    schema = pa.schema(
        [("query", pa.string()), ("kind", pa.int8()), ("doc", pa.string()), ("score", pa.float64()),
         ("value", pa.float64()), ("id", pa.int64())]
    )  # fmt: skip
    start = 0
    while start < len(rows):
        end = start + rng.choice((1, 2, 7, 50))
        columns = zip(*rows[start:end], strict=True)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)
        ]
        yield pa.record_batch(arrays, schema)
        start = end


def matched(batches, plan):
    """Each bunch, matched, with its flags."""
    return [(bunch.match()[0], bunch.flags) for bunch in stream.bunches(batches, plan)]


def joined(bunches):
    """The bunches of all queries as one."""

    def together(name):
        return np.concatenate([getattr(bunch, name) for bunch, _ in bunches])

    def lengths(name):
        return np.concatenate([np.diff(getattr(bunch, name)) for bunch, _ in bunches])

    queries = [query for bunch, _ in bunches for query in bunch.queries]
    return queries, {
        name: together(name)
        for name in ("rank_first", "rank_last", "rank", "grade", "retrieved", "seen", "pool_grades",
                     "unjudged", "missing")
    } | {name: lengths(name) for name in ("offsets", "pool_offsets")}  # fmt: skip


def compare(seed, judgments, run, policy, depth, hashes=hash):
    expected = match_dicts(judgments, run, policy, depth)
    cut = depth is not None
    plan = Plan(policy, depth, None, expected.lowest_grade)
    assert plan.cut == cut
    rng = random.Random(seed)  # noqa: S311
    rows = rows_of(judgments, run, policy, depth=depth, cut=cut, hashes=hashes)
    bunches = matched(batches_of(rows, rng), plan)
    # In order of their bytes, where mappings go by length first.
    order = sorted(range(len(expected.queries)), key=lambda row: expected.queries[row].encode())
    queries, found = joined(bunches)
    assert queries == [expected.queries[row] for row in order]
    for name in ("retrieved", "seen", "unjudged", "missing"):
        assert found[name].tolist() == getattr(expected, name)[order].tolist(), (seed, name)
    for name, columns in {
        "offsets": ("rank_first", "rank_last", "rank", "grade"),
        "pool_offsets": ("pool_grades",),
    }.items():
        offsets = getattr(expected, name)
        rows = [slice(offsets[row], offsets[row + 1]) for row in order]
        assert found[name].tolist() == [part.stop - part.start for part in rows]
        for column in columns:
            whole = np.concatenate([getattr(expected, column)[part] for part in rows])
            assert found[column].tobytes() == whole.tobytes(), (seed, policy, depth, column)
    extra = [query for bunch, _ in bunches for query in bunch.extra]
    assert sorted(extra) == sorted(expected.extra)
    assert not any("faulty" in flags for _, flags in bunches)
    return bunches


@pytest.mark.parametrize("policy", [gf.Policy(**each) for each in POLICIES], ids=repr)
@pytest.mark.parametrize(("chunk", "bunch"), [(1, 1), (3, 10), (200, 5), (1 << 16, 1 << 15)])
def test_the_same_as_from_dicts(monkeypatch, policy, chunk, bunch):
    monkeypatch.setattr(stream, "_CHUNK", chunk)
    monkeypatch.setattr(stream, "_BUNCH", bunch)
    for seed in range(6):
        judgments, run = random_sides(f"{seed} {chunk}", queries=12, documents=15)
        depths = (None,) if policy.unjudged != "zero" else (None, 1, 3, 10, 100)
        for depth in depths:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", gf.errors.GainfulWarning)
                found = compare(seed, judgments, run, policy, depth)
            assert not any("suspect" in flags for _, flags in found)


def test_ids_decide_where_hashes_agree(monkeypatch):
    monkeypatch.setattr(stream, "_CHUNK", 5)
    for seed in range(4):
        judgments, run = random_sides(seed, queries=8, documents=15)
        policy = gf.Policy(ties="doc")
        compare(seed, judgments, run, policy, None, hashes=lambda doc: len(doc or ""))


@pytest.mark.parametrize("chunk", [1, 4, 1 << 16])
def test_a_document_that_comes_twice_is_suspect(monkeypatch, chunk):
    monkeypatch.setattr(stream, "_CHUNK", chunk)
    policy = gf.Policy(ties="doc")
    judgments, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {}
    for place in range(3):  # in the first query, in the last, and once in each of two
        run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 3.0, "d": 2.0, "c": 1.0}}
        rows = rows_of(judgments, run, policy)
        if place < 2:
            again = max(row for row in range(len(rows)) if rows[row][0] == f"q{place + 1}")
            rows.insert(again + 1, (*rows[again][:3], 0.5, None, rows[again][5]))
        batches = batches_of(rows, random.Random(1))  # noqa: S311
        bunches = matched(batches, Plan(policy, None, None, 0.0))
        assert any("suspect" in flags for _, flags in bunches) == (place < 2)


@pytest.mark.parametrize("chunk", [1, 4, 1 << 16])
@pytest.mark.parametrize("query", ["q1", "q2", "q3", None])
def test_a_document_that_is_judged_twice_is_suspect(monkeypatch, chunk, query):
    monkeypatch.setattr(stream, "_CHUNK", chunk)
    policy = gf.Policy(ties="doc", negative="unjudged")  # also where the judgment does not count
    judgments = {f"q{n}": {"a": 1, "b": -1} for n in (1, 2, 3)}
    run = {f"q{n}": {"a": 3.0, "d": 2.0} for n in (1, 2, 3)}
    rows = rows_of(judgments, run, policy)
    if query is not None:
        again = next(place for place, row in enumerate(rows) if row[0] == query and row[4] == -1)
        rows.insert(again, rows[again])
    bunches = matched(batches_of(rows, random.Random(1)), Plan(policy, None, None, 0.0))  # noqa: S311
    assert any("suspect" in flags for _, flags in bunches) == (query is not None)


def test_a_large_query_is_not_kept():
    """What is kept of many documents is far less than their ids."""
    import tracemalloc

    count, size = 400_000, 10_000
    rng = np.random.default_rng(1)
    plan = Plan(gf.Policy(ties="doc", duplicates="best"), None, None, 1.0)

    def batches():
        yield pa.record_batch(
            {"query": ["q"], "kind": pa.array([JUDGMENT], pa.int8()), "doc": ["d399999"],
             "score": pa.array([None], pa.float64()), "value": [1.0], "id": [399_999]}
        )  # fmt: skip
        for start in range(0, count, size):
            numbers = np.arange(start, start + size)
            yield pa.record_batch(
                {
                    "query": pa.array(["q"] * size),
                    "kind": pa.array(np.full(size, RETRIEVED, np.int8)),
                    "doc": pa.array([f"d{number}" for number in numbers]),
                    "score": -numbers.astype(np.float64) - rng.random(size) / 2,
                    "value": pa.nulls(size, pa.float64()),
                    "id": numbers,
                }
            )

    before = pa.total_allocated_bytes()
    tracemalloc.start()
    ((bunch, _),) = matched(batches(), plan)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bunch.rank.tolist() == [count]
    assert bunch.retrieved.tolist() == [count]
    assert most < 30e6
    assert pa.total_allocated_bytes() - before < 10e6


def test_folded_rows_are_never_cut_by_spark():
    assert not Plan(gf.Policy(ties="doc", fold="max"), 3, Chunks("#"), 0.0).cut
    assert Plan(gf.Policy(ties="doc"), 3, None, 0.0).cut


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_documents_above_the_depth_that_did_not_come_are_noticed(lost):
    """An edge that is too high, since rows were others when it was found, leaves too few."""
    judgments = {"a": {"d1": 1.0}, "b": {"d2": 1.0}}
    run = {query: {f"d{place}": float(place) for place in range(9)} for query in judgments}
    policy = gf.Policy(ties="doc")
    rows = rows_of(judgments, run, policy, depth=5, cut=True)
    kept = [row for row in rows if row[:2] != ("b", RETRIEVED) or row[3] >= 4 + lost]
    plan = Plan(policy, 5, None, 1.0)
    bunches = matched(batches_of(kept, random.Random(1)), plan)  # noqa: S311
    assert any("faulty" in flags for _, flags in bunches) == (lost > 0)
