"""Tools that cannot stand beside what the tests need, against what they answered: record_retrieval_hosts.py."""

import json
import math
from pathlib import Path

import pytest

import gainful as gf

RECORDED = json.loads(
    (Path(__file__).parents[1] / "stand_ins" / "retrieval_hosts.json").read_text()
)
FAULTS = RECORDED["faults"]
# What the tools round their means to, and ragas adds to its denominator.
OFF = {"beir": 5.1e-6, "mteb": 5.1e-6, "ragas": 1e-9}


def answers():
    for kind, cases in RECORDED["cases"].items():
        for number, case in enumerate(cases):
            for name, by_cutoff in case["answers"].items():
                yield pytest.param(name, case["given"], by_cutoff, id=f"{name}, {kind} {number}")


@pytest.mark.parametrize(("name", "given", "by_cutoff"), list(answers()))
def test_recorded_answers(name, given, by_cutoff):
    dialect = name.partition(",")[0]
    judgments, run = given["judgments"], given["run"]
    assert by_cutoff.keys() == {"1", "3", "5", "10"}
    for k, measures in by_cutoff.items():
        for measure, theirs in measures.items():
            if measure == "id_based_context_precision":  # of the list, which has k documents
                cut = {
                    q: dict(sorted(d.items(), key=lambda hit: -hit[1])[: int(k)])
                    for q, d in run.items()
                }
                found = gf.evaluate(judgments, cut, measure, dialect=dialect)
            else:
                found = gf.evaluate(judgments, run, f"{measure}@{k}", dialect=dialect)
            tolerance = {"abs": OFF.get(name, 1e-12), "rel": 0}
            if isinstance(theirs, float):  # the mean alone
                (ours,) = found.means.values()
                assert ours == pytest.approx(theirs, **tolerance)
                continue
            ours = dict(zip(found.queries, found.values[:, 0].tolist(), strict=True))
            assert [ours[query] for query in run] == pytest.approx(theirs, **tolerance)


def test_what_was_recorded_could_tell_them_apart():
    """There are lists shorter than the cutoffs, queries with more relevant documents than those, ties and queries' own ids."""
    untied, tied = (RECORDED["cases"][kind][0]["given"] for kind in ("untied", "tied"))
    assert min(map(len, untied["run"].values())) < 3
    relevant = [sum(grade > 0 for grade in docs.values()) for docs in untied["judgments"].values()]
    assert max(relevant) > 3
    assert all(query in docs for query, docs in tied["run"].items())
    assert any(query in docs for query, docs in tied["judgments"].items())
    names = ["beir", "mteb", "sentence-transformers", "mlflow", "llamaindex", "haystack", "vespa"]
    values = {
        name: next(iter(gf.evaluate(tied["judgments"], tied["run"], "nDCG@3", dialect=name).means.values()))
        for name in names
    }  # fmt: skip
    assert len({round(value, 6) for value in values.values()}) >= 6


def test_the_versions_are_those_that_the_documentation_names():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "dialects.md").read_text()
    for name, version in RECORDED["versions"].items():
        if name not in ("pytrec-eval-terrier", "scikit-learn"):
            assert f"{name} {version}" in page


def value(judgments, run, measure, dialect):
    (found,) = gf.evaluate(judgments, run, measure, dialect=dialect).means.values()
    return found


FIVE = {"q": dict.fromkeys("abcde", 1)}


def test_the_fault_of_mlflow():
    assert FAULTS["mlflow: one of five found, and nothing else, at 5"] == 1.0
    assert value(FIVE, {"q": {"a": 1.0}}, "nDCG@5", "mlflow") == 1.0
    right = gf.evaluate(FIVE, {"q": {"a": 1.0}}, "nDCG@5")["nDCG@5"]
    assert right == pytest.approx(1 / sum(1 / math.log2(rank + 1) for rank in range(1, 6)))
    assert "0.339" in gf.measures.dialect("mlflow").faults
    assert round(right, 3) == 0.339


def test_the_fault_of_llamaindex():
    twice = FAULTS["llamaindex: the one expected id, twice"]
    assert twice == pytest.approx(1 + 1 / math.log2(3))
    assert f"{twice:.2f}" in gf.measures.dialect("llamaindex").faults
    # Here a document counts once in a list, and that it stands there again is told.
    with pytest.warns(gf.errors.GainfulWarning, match="is repeated in its list"):
        assert value({"q": {"a": 1}}, {"q": ["a", "a"]}, "nDCG", "llamaindex") == 1.0


@pytest.mark.parametrize(
    ("judgments", "run"),
    [
        ({"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}),
        ({"q": {"a": 1}, "r": {"a": 0}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}),
    ],
    ids=["missing", "empty"],
)
def test_llamaindex_raises_where_there_is_nothing(judgments, run):
    with pytest.raises(gf.errors.GainfulError, match="set by dialect llamaindex"):
        gf.evaluate(judgments, run, "nDCG", dialect="llamaindex")


def test_the_gain_of_haystack():
    assert FAULTS["haystack: the one expected document, twice"] == 1.0
    left = FAULTS["haystack: scores of a retriever left in the expected documents"]
    judgments, run = {"q": {"a": 0.2, "b": 0.9}}, {"q": {"a": 2.0, "b": 1.0}}
    assert value(judgments, run, "nDCG", "haystack") == pytest.approx(left)
    assert left < 0.75


def test_the_fault_of_ragas():
    assert FAULTS["ragas: one of five found, at the top"] == pytest.approx(1, abs=1e-9)
    assert value(FIVE, {"q": {"a": 1.0}}, "context_precision", "ragas") == 1.0
    assert gf.evaluate(FIVE, {"q": {"a": 1.0}}, "AP")["AP"] == 0.2


def test_got_names_them_and_their_faults():
    found = gf.explanation.which(FIVE, {"q": {"a": 1.0}}, "nDCG@5", got="1.0")
    assert "mlflow" in [each.way.name for each in found.found if not each.change]
    assert any(line.startswith("known fault of mlflow: The ideal is cut") for line in found.faults)
    assert "issue 24541" in str(found).replace("\n  ", " ")
    # ragas is tried for its AP, and has no nDCG to be blamed for.
    assert "ragas" not in {each.way.name for each in found.found}
    assert "ragas" not in found.refused
    average = gf.explanation.which(FIVE, {"q": {"a": 1.0}}, "AP", got="1.0")
    assert [each.way.name for each in average.found if not each.change] == ["ragas"]


def test_why_tells_the_causes_and_the_faults():
    found = gf.why(FIVE, {"q": {"a": 1.0}}, "AP", dialects=["llamaindex", "ragas"])
    assert [(cause.name, cause.before, cause.after) for cause in found.causes] == [
        ("denominator", "R", "found")
    ]
    assert found.gap == pytest.approx(0.8)
    assert sum(line.startswith("known fault of ") for line in found.basis) == 2


def test_other_names():
    for other, name in {"llama-index": "llamaindex", "llama_index": "llamaindex", "pyvespa": "vespa",
                        "search-relevance": "opensearch-workbench"}.items():  # fmt: skip
        assert gf.measures.dialect(other).name == name


def test_a_dialect_of_ones_own_has_them_too():
    own = gf.measures.Dialect("own", "mine", average="min", faults="None known.")
    assert str(own.measure("AP@3")) == "AP(denominator=min)@3"
    assert str(own.measure("AP(denominator=R)@3")) == "AP@3"
    with pytest.raises(gf.errors.GainfulError, match="R or min or found"):
        gf.measures.Dialect("own", "mine", average="all")
    for spoiled in ({"faults": 3}, {"has_ndcg": "no"}):
        with pytest.raises(gf.errors.InputError, match="dialect, "):
            gf.measures.Dialect("own", "mine", **spoiled)
