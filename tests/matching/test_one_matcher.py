"""One function matches every kind of input: a step of the policy that is made up takes effect in each."""

import sys

import numpy as np
import pyarrow as pa
import pytest

from gainful.matching import array_matching
from gainful.matching import match as matching
from gainful.matching.input import TableInput
from gainful.matching.match import Step
from gainful.matching.reader import reading
from gainful.matching.spark.partition_matching import bunches
from gainful.matching.spark.plan import JUDGMENT, PRESENT, RETRIEVED, Plan
from gainful.measures.policy import Policy
from gainful.rows import table_source
from gainful.rows.arrays import read_lists
from input_forms import FORMS, as_dicts
from same_matched import assert_same, match_dicts

JUDGMENTS = [("q1", "a", 2.0), ("q1", "xb", 3.0), ("q2", "a", 1.0)]
RUN = [
    ("q1", "xb", 0.9),
    ("q1", "x", 0.8),
    ("q1", "c", 0.5),
    ("q1", "a", 0.25),
    ("q2", "x1", 1.0),
    ("q2", "a", 0.5),
]
LEFT = [row for row in RUN if not row[1].startswith("x")]


LEFT_OUT = "x"


def without_x(rows, _policy, _chunks):
    """Leave out documents whose ids begin with x."""
    return rows.at(np.flatnonzero([not doc.startswith(LEFT_OUT) for doc in rows.texts()]))


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    """Have the policy leave out documents whose ids begin with x."""

    def begin():
        steps = (*matching.STEPS_OF_RUN, Step(lambda _: True, without_x))
        monkeypatch.setattr(matching, "STEPS_OF_RUN", steps)

    return begin


def expected(depth=None, run=LEFT, judgments=JUDGMENTS):
    return match_dicts(as_dicts(judgments), as_dicts(run), Policy(ties="doc"), depth)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("depth", [None, 1])
@pytest.mark.parametrize("on_engine", [False, True], ids=["", "on the engine"])
def test_a_made_up_step_takes_effect_for_every_form(
    form, depth, on_engine, tmp_path, monkeypatch, made_up
):
    given = form.make(JUDGMENTS, "judgments", tmp_path), form.make(RUN, "run", tmp_path)
    left = expected(depth)
    made_up()
    if on_engine:
        monkeypatch.setattr(table_source, "MOST_ROWS", 0)
        monkeypatch.setattr(TableInput, "_clean_file", None)
    with reading(given[0], Policy(ties="doc")) as reader:
        assert_same(reader.match(given[1], depth)[0], left)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_queries_of_a_run_may_be_in_any_order(form, tmp_path):
    """Here in the reverse order of the judgments."""
    run = sorted(RUN, key=lambda row: row[0], reverse=True)
    with reading(as_dicts(JUDGMENTS), Policy(ties="doc")) as reader:
        found = reader.match(form.make(run, "run", tmp_path), None)[0]
    assert_same(found, expected(run=run))


@pytest.mark.parametrize("depth", [None, 1])
def test_for_arrays_of_ids(depth, made_up):
    ids = np.array([["xb", "x", "c", "a"], ["x1", "a", "e", "f"]])
    lists = [
        (query, doc, 1.0 / rank)
        for query, docs in zip(("q1", "q2"), ids.tolist(), strict=True)
        for rank, doc in enumerate(docs, 1)
    ]
    left = expected(depth, [row for row in lists if not row[1].startswith("x")])
    made_up()
    with reading(as_dicts(JUDGMENTS), Policy(ties="doc"), {"queries": ["q1", "q2"]}) as reader:
        assert_same(reader.match(ids, depth)[0], left)


def test_for_arrays(made_up, monkeypatch):
    labels, scores = [[2, 0, 3], [1, 0, 0]], [[0.5, 0.9, 0.2], [0.1, 0.3, 0.2]]
    made_up()
    monkeypatch.setattr(sys.modules[__name__], "LEFT_OUT", "row 1")
    matched = array_matching.match(read_lists(labels, scores), Policy(ties="average"))
    assert matched.rank.tolist() == [1, 2, 1, 2, 3]  # of rows 0, 2, 4, 5 and 3
    assert matched.grade.tolist() == [2, 3, 0, 0, 1]
    assert matched.pool_grades.tolist() == [3, 2, 0, 1, 0, 0]


def test_for_partitions_of_spark(made_up):
    left = expected()
    rows = [(q, JUDGMENT, doc, None, grade) for q, doc, grade in JUDGMENTS]
    rows += [(q, RETRIEVED, doc, score, None) for q, doc, score in RUN]
    rows += [(query, PRESENT, None, None, None) for query in ("q1", "q2")]
    rows.sort(key=lambda row: (*row[:2], -(row[3] or 0.0)))
    types = pa.string(), pa.int8(), pa.string(), pa.float64(), pa.float64()
    columns = [pa.array(column, type_) for column, type_ in zip(zip(*rows), types)]  # noqa: B905
    keys = pa.array([hash(row[2]) % (1 << 62) for row in rows])
    names = ["query", "kind", "doc", "score", "value", "id"]
    batch = pa.record_batch([*columns, keys], names)
    made_up()
    plan = Plan(Policy(ties="doc"), None, None, left.lowest_grade)
    (bunch,) = bunches([batch], plan)
    assert_same(bunch.match()[0], left)
