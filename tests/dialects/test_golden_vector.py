"""One query that tells the tools apart, worked by hand, and the pairs of cases where they part.

Judged a=1 b=2 c=0 x=3; ranked a, b, c, u: x was not retrieved, u was not judged.
"""

import json
import math

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

JUDGMENTS = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "u": 1.0}}
L3 = math.log2(3)

# (1 + 2/L3) / (3 + 2/L3 + 1/2), and so on: what the list has by what it could have.
LINEAR = (1 + 2 / L3) / (3 + 2 / L3 + 1 / 2)
EXPONENTIAL = (1 + 3 / L3) / (7 + 3 / L3 + 1 / 2)
LINEAR_OF_LIST = (1 + 2 / L3) / (2 + 1 / L3)
EXPONENTIAL_OF_LIST = (1 + 3 / L3) / (3 + 1 / L3)
JARVELIN = (1 + 2) / (3 + 2 + 1 / L3)
BINARY = (1 + 1 / L3) / (1 + 1 / L3 + 1 / 2)
ENGINES = (1 + 3 / L3) / (7 + 3 / L3 + 1 / 2)

EXPECTED = {
    **dict.fromkeys(
        ["trec_eval-9", "trec_eval-10", "pytrec_eval", "ir_measures", "ranx", "beir", "mteb"],
        LINEAR,
    ),
    **dict.fromkeys(["haystack", "ragas"], LINEAR),  # ragas has none of its own
    **dict.fromkeys(["gdeval", "opensearch-workbench", "kaggle"], EXPONENTIAL),
    **dict.fromkeys(["elasticsearch", "quepid"], ENGINES),
    **dict.fromkeys(["scikit-learn", "torchmetrics", "catboost"], LINEAR_OF_LIST),
    **dict.fromkeys(["lightgbm", "xgboost", "tf-ranking", "rax", "allrank"], EXPONENTIAL_OF_LIST),
    **dict.fromkeys(["ntcir", "lenskit"], JARVELIN),
    **dict.fromkeys(["spark-mllib", "recbole", "sentence-transformers", "recommenders"], BINARY),
    **dict.fromkeys(["mlflow", "llamaindex", "vespa"], BINARY),
}
PRINTED = {
    LINEAR: 0.47499501,
    EXPONENTIAL: 0.30797979,
    LINEAR_OF_LIST: 0.85971870,
    EXPONENTIAL_OF_LIST: 0.79670758,
    JARVELIN: 0.53277170,
    BINARY: 0.76536064,
}
# Forms that a tool has besides its default.
FORMS = [
    ("ranx", "ndcg_burges@4", EXPONENTIAL),
    ("xgboost", "nDCG(gain=linear)@4", LINEAR_OF_LIST),
    ("catboost", "nDCG(gain=exp2)@4", EXPONENTIAL_OF_LIST),
    ("catboost", "nDCG(discount=reciprocal)@4", 0.8),
    ("scikit-learn", "nDCG(discount=jarvelin)@4", 1.0),
    ("lenskit", "nDCG(gain=binary)@4", 2 / (2 + 1 / L3)),
    ("quepid", "nDCG(depth=cutoff)@1", 1 / 7),
    ("ragas", "context_precision", 1.0),
    ("ragas", "AP@1", 1.0),
    ("ragas", "AP(denominator=R)", 2 / 3),
    ("ragas", "id_based_context_precision", 2 / 4),
    ("vespa", "AP@2", 1.0),
    ("gdeval", "AP@2", 2 / 3),
    ("mlflow", "ndcg_at_k@1", 1.0),
    ("llamaindex", "nDCG@1", 1 / (1 + 1 / L3 + 1 / 2)),
    ("haystack", "nDCG(gain=binary)", (1 + 1 / L3) / (1 + 1 / L3 + 1 / 2)),
    ("haystack", "nDCG@1", 1 / (3 + 2 / L3 + 1 / 2)),
    ("quepid", "nDCG@1", 1 / (7 + 3 / L3 + 1 / 2)),
]


def judged(name):
    """What `recommenders` is given has no zeros in it."""
    if name != "recommenders":
        return JUDGMENTS
    return {"q": {doc: grade for doc, grade in JUDGMENTS["q"].items() if grade}}


def test_every_dialect_has_its_value():
    assert EXPECTED.keys() == {each.name for each in gf.measures.dialects()}
    for exact, printed in PRINTED.items():
        assert exact == pytest.approx(printed, abs=5e-9)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@4", "ndcg_cut_4"])
def test_from_python(name, measure):
    found = gf.evaluate(judged(name), RUN, measure, dialect=name)
    (value,) = found.means.values()
    assert value == pytest.approx(EXPECTED[name], abs=1e-12)


@pytest.mark.parametrize("name", EXPECTED)
def test_from_the_command_line(name, tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "my.run"
    lines = [f"q 0 {doc} {grade}\n" for doc, grade in judged(name)["q"].items()]
    qrels.write_text("".join(lines))
    lines = [f"q Q0 {doc} 1 {score} tag\n" for doc, score in RUN["q"].items()]
    run.write_text("".join(lines))
    done = CliRunner().invoke(
        commands,
        ["evaluate", str(qrels), str(run), "--dialect", name, "-m", "nDCG@4", "-f", "json"],
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (value,) = document["runs"][0]["means"].values()
    assert value == pytest.approx(EXPECTED[name], abs=1e-12)
    (signature,) = document["runs"][0]["signatures"].values()
    assert f" | dialect={name} ties=" in signature


@pytest.mark.parametrize("labels", [[1, 2, 0, 0], [1, 2, 0]], ids=["with u", "without u"])
@pytest.mark.parametrize("name", [each.name for each in gf.measures.dialects() if each.lists])
def test_lists(name, labels):
    scores = [4.0, 3.0, 2.0, 1.0][: len(labels)]
    found = gf.evaluate_arrays(labels=[labels], scores=[scores], measures="nDCG", dialect=name)
    assert found.values.tolist() == [[pytest.approx(EXPECTED[name], abs=1e-12)]]


@pytest.mark.parametrize(("name", "measure", "value"), FORMS)
def test_other_forms(name, measure, value):
    found = gf.evaluate(JUDGMENTS, RUN, measure, dialect=name)
    assert next(iter(found.means.values())) == pytest.approx(value, abs=1e-12)


# Where two tools differ on the same data.


def mean(judgments, run, name, measure="nDCG"):
    (value,) = gf.evaluate(judgments, run, measure, dialect=name).means.values()
    return value


@pytest.mark.parametrize(
    ("names", "value", "counted"),
    [
        (["trec_eval-9", "trec_eval-10", "ranx", "scikit-learn", "rax", "spark-mllib"], 0.5, 2),
        (["lightgbm", "xgboost", "catboost", "allrank"], 1.0, 2),
        (["gdeval", "sentence-transformers"], 1.0, 1),
    ],
)
def test_one_perfect_query_and_one_without_anything_relevant(names, value, counted):
    judgments = {"perfect": {"a": 1, "b": 0}, "empty": {"a": 0, "b": 0}}
    run = {query: {"a": 2.0, "b": 1.0} for query in judgments}
    for name in names:
        found = gf.evaluate(judgments, run, "nDCG", dialect=name)
        assert next(iter(found.means.values())) == value, name
        assert len(found.queries) == counted
        assert found.coverage.empty == ("empty",)


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (["pytrec_eval", "trec_eval-9", "beir", "gdeval"], 1.0),
        (["ir_measures", "recommenders"], 0.5),
    ],
)
def test_one_perfect_query_and_one_that_the_run_lacks(names, value):
    judgments, run = {"perfect": {"a": 1}, "missing": {"a": 1}}, {"perfect": {"a": 1.0}}
    for name in names:
        assert mean(judgments, run, name) == value, name
    for name in ("ranx", "trec_eval-10"):
        with pytest.raises(gf.errors.InputError, match="1 missing: 'missing'"):
            mean(judgments, run, name)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("scikit-learn", (1 + 1 / L3 + 1 / 2) / 3, (1 + 1 / L3 + 1 / 2) / 3),
        ("tf-ranking", (1 + 1 / L3 + 1 / 2) / 3, (1 + 1 / L3 + 1 / 2) / 3),
        ("catboost", 0.5, 0.5),
        ("xgboost", 1.0, 0.5),
        ("lightgbm", 1.0, 0.5),
        ("rax", 1.0, 0.5),
    ],
)
def test_equal_scores(name, first, last):
    for labels, value in (([1, 0, 0], first), ([0, 0, 1], last)):
        found = gf.evaluate_arrays(
            labels=[labels], scores=[[0.5] * 3], measures="nDCG", dialect=name
        )
        assert found.values[0, 0] == pytest.approx(value, abs=1e-12)
    # The same from a run, in the order of its documents.
    judgments = {"q": {"a": 0, "b": 0, "c": 1}}
    assert mean(judgments, {"q": dict.fromkeys("abc", 0.5)}, name) == pytest.approx(last)
    assert mean(judgments, {"q": dict.fromkeys("cab", 0.5)}, name) == pytest.approx(first)


def test_a_negative_grade():
    labels, scores = [[-1, 1, 0]], [[3.0, 2.0, 1.0]]
    found = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG", dialect="catboost")
    assert found.values[0, 0] == pytest.approx((-1 + 1 / L3) / (1 - 1 / 2))
    assert found.values[0, 0] == pytest.approx(-0.738, abs=5e-4)
    judgments, run = {"q": {"a": -1, "b": 1, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert mean(judgments, run, "trec_eval-9") == pytest.approx(1 / L3)
    for name in ("scikit-learn", "lightgbm"):
        with pytest.raises(gf.errors.InputError, match=f"dialect {name}: .* found grade -1"):
            mean(judgments, run, name)


def test_scores_that_are_the_same_in_single_precision():
    judgments, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 0.500000001, "b": 0.5}}
    assert mean(judgments, run, "trec_eval-9") == pytest.approx((1 + 2 / L3) / (2 + 1 / L3))
    assert mean(judgments, run, "trec_eval-9") == pytest.approx(0.8597, abs=5e-5)
    assert mean(judgments, run, "trec_eval-10") == 1.0


def test_beir_leaves_out_the_query_itself():
    judgments, run = {"a": {"a": 3, "b": 1}}, {"a": {"a": 9.0, "x": 2.0, "b": 1.0}}
    # Of the results alone: its grade stays in the ideal.
    assert mean(judgments, run, "beir") == pytest.approx((1 / L3) / (3 + 1 / L3))
    assert mean(judgments, run, "pytrec_eval") == pytest.approx((3 + 1 / 2) / (3 + 1 / L3))
