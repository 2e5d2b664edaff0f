"""Measures of one's own on Spark: the same as of dicts and of files."""

import importlib

import ir_measures
import numpy as np
import pytest

import gainful as gf
from spark_cases import assert_same, on_spark, random_sides, rows_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning"),
    pytest.mark.usefixtures("_no_own_names"),
]

JUDGMENTS, RUN = random_sides("own")
OTHER = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
TEAM = '''
import gainful as gf

@gf.measures.define("TeamP", cutoff=True, range=(0, 1))
def team_precision(lists, *, rel=1):
    """The share of relevant documents among the first k."""
    return lists.sums(lists.grade >= rel) / lists.k

@gf.measures.define("TeamFound", cutoff=True, range=(0, 1), per_query=True)
def team_found(found, *, rel=1):
    """Whether anything relevant is found."""
    return float((found.grade >= rel).any())

patience = gf.measures.define("patience", discount=lambda ranks: 0.8 ** (ranks - 1))
'''


@gf.measures.define("OnDriver", per_query=True)
def on_driver(found):
    return float(found.retrieved)


def on_driver_alone(ranks):
    return 1 / ranks


@pytest.fixture(scope="module")
def frames(spark):
    return on_spark(spark, JUDGMENTS, "grade").persist(), on_spark(spark, RUN, "score").persist()


@pytest.fixture(scope="module")
def team(spark, tmp_path_factory):
    """A module that the machines of Spark are given, as those of a team are."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "spark_team.py").write_text(TEAM)
    spark.sparkContext.addPyFile(str(folder / "spark_team.py"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("spark_team")


def as_files(tmp_path):
    judgments, run = tmp_path / "j.tsv", tmp_path / "r.tsv"
    for path, documents, number in ((judgments, JUDGMENTS, "grade"), (run, RUN, "score")):
        rows = "".join(f"{q}\t{d}\t{n!r}\n" for q, d, n in rows_of(documents))
        path.write_text(f"query\tdoc\t{number}\n{rows}")
    return judgments, run


@pytest.mark.parametrize("choices", [{}, {"ties": "worst", "missing": "skip"}], ids=str)
def test_the_same_as_of_dicts_and_of_files(frames, team, tmp_path, choices):
    weight = 0.5

    @gf.measures.define("Weighted", cutoff=True)
    def weighted(lists, *, power=1):
        return lists.sums(weight * np.maximum(lists.grade, 0) / lists.rank**power)

    @gf.measures.define("First", per_query=True)
    def first(found):
        return 1 / found.rank[0] if len(found.rank) else 0.0

    gf.measures.use(team.patience, team.team_precision)
    measures = [
        team.team_precision @ 3,
        team.team_precision(rel=2) @ 10,
        team.team_found @ 2,
        weighted @ 5,
        weighted(power=2),
        first,
        gf.measure("0.5*nDCG@3 + 0.5*TeamP@3"),
        gf.measure("nDCG(discount=patience)@5"),
        gf.Measure("nDCG", discount=lambda ranks: 1 / ranks),
        gf.measure("P@3"),
    ]
    policy = gf.Policy(**choices)
    expected = gf.evaluate(JUDGMENTS, RUN, measures, policy=policy)
    assert_same(gf.evaluate(*frames, measures, policy=policy), expected)
    assert_same(gf.evaluate(*as_files(tmp_path), measures, policy=policy), expected)
    assert expected.values[:, 0] == pytest.approx(expected.values[:, -1])  # TeamP@3 is P@3


def test_compared_sliced_and_gated(spark, frames, team):
    measures = [team.team_precision @ 3, "nDCG@3 - nDCG@3(baseline)"]
    other = on_spark(spark, OTHER, "score")
    expected = gf.compare(JUDGMENTS, {"one": RUN, "two": OTHER}, measures, by="judged")
    found = gf.compare(frames[0], {"one": frames[1], "two": other}, measures, by="judged")
    for measure in measures:
        one, two = found["two", measure], expected["two", measure]
        assert one.difference == pytest.approx(two.difference, abs=1e-12)
        assert one.p == pytest.approx(two.p, rel=1e-9)
    assert len(found.slices) == len(expected.slices) > 2
    assert str(found.gate("Δ TeamP@3 < -0.5")) == str(expected.gate("Δ TeamP@3 < -0.5"))


def test_what_is_wrong_with_it_is_told(frames):
    @gf.measures.define("Wrong", per_query=True)
    def wrong(found):
        return 1 / (len(found.judged) - 3)

    with pytest.raises(gf.errors.InputError, match=r"Wrong, .* found ZeroDivisionError"):
        gf.evaluate(*frames, wrong)

    @gf.measures.define("Beyond", range=(0, 1))
    def beyond(lists):
        return lists.retrieved * 2.0

    with pytest.raises(gf.errors.InputError, match=r"Beyond, .* within its range, 0 to 1"):
        gf.evaluate(*frames, beyond)
    given = ir_measures.define_byquery(lambda *_: 1.0, name="OfFrames")
    with pytest.raises(gf.errors.InputError, match=r"OfFrames: .* found a Spark data frame"):
        gf.evaluate(*frames, given)


def test_a_module_that_the_machines_lack(frames):
    plain = gf.Measure("nDCG", discount=on_driver_alone)
    for measure in (on_driver, plain):
        with pytest.raises(
            gf.errors.InputError,
            match=rf"the module {__name__}, which .* on its machines.*addPyFile",
        ):
            gf.evaluate(*frames, measure)
