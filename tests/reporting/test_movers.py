"""The queries that moved the most, and the documents behind them."""

import pytest

import gainful as gf
from gainful.errors import InputError

JUDGMENTS = {f"q{i}": {"a": 1, "b": 2} for i in range(8)}
OLD = {query: {"b": 3, "x": 2, "a": 1} for query in JUDGMENTS}
# One list turned round, one that is better, one that the run lacks; the others as they were.
NEW = {
    **OLD,
    "q1": {"a": 3, "x": 2, "b": 1},
    "q2": {"b": 3, "a": 2, "x": 1},
}
del NEW["q3"]
RUNS = {"old": OLD, "new": NEW}


def moved(measures="nDCG@10", runs=RUNS, judgments=JUDGMENTS, *, count=5, documents=3, **options):
    compared = gf.compare(judgments, runs, measures, resamples=99, **options)
    more = {"count": count, "documents": documents}
    return gf.comparison.movers(compared, judgments, runs, **more, **options)


def test_worked_by_hand():
    # RR: of q3, which the run lacks, 1 is lost; of P@1 there is no change in q1 and q2.
    found = moved("RR")
    assert [(each.query, each.difference) for each in found.moved] == [("q3", -1.0)]
    assert found.moved[0].documents == ("b 1 → – (-1.0000)",)


def test_parts_are_those_of_attribute():
    found = moved(["nDCG@10", "AP"])
    assert {each.query for each in found.moved} == {"q1", "q2", "q3"}
    for each in found.moved:
        whole = gf.explanation.attribute(JUDGMENTS, OLD, NEW, each.measure, query=each.query)
        assert each.difference == pytest.approx(whole.difference)
        parts = [one for one in whole.documents if one.part]
        assert [text.split()[0] for text in each.documents] == [one.doc for one in parts]
        shown = [float(text[text.index("(") + 1 : -1]) for text in each.documents]
        assert shown == pytest.approx([one.part for one in parts], abs=5e-5)


def test_those_that_lost_come_first_and_no_more_than_asked_for():
    found = moved(count=1, documents=1)
    assert [each.query for each in found.moved] == ["q3", "q2"]
    assert all(len(each.documents) == 1 for each in found.moved)
    assert all(not each.documents for each in moved(documents=0).moved)


def test_files_give_the_same(tmp_path):
    files = {name: tmp_path / f"{name}.run" for name in RUNS}
    for name, path in files.items():
        gf.write_run(RUNS[name], path)
    gf.write_judgments(JUDGMENTS, tmp_path / "j.qrels")
    assert moved(runs=files, judgments=tmp_path / "j.qrels").moved == moved().moved


def test_a_saved_baseline_has_queries_alone_and_that_is_said(tmp_path):
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, OLD), tmp_path / "base.json")
    found = moved(runs={"old": tmp_path / "base.json", "new": NEW})
    assert [each.query for each in found.moved] == [each.query for each in moved().moved]
    assert not any(each.documents for each in found.moved)
    assert found.notes == ("nDCG@10, new − old: documents are not named: old is a saved baseline",)


def test_a_measure_that_is_no_sum_has_queries_alone():
    found = moved("nDCG@10 - P@1")
    assert found.moved
    assert "isn't a sum over documents" in found.notes[0]


def test_dialects_and_policies_are_those_of_the_comparison():
    runs = RUNS | {"new": NEW | {"q3": OLD["q3"]}}
    found = moved("ndcg_cut_10", runs, dialect="trec_eval-10")
    assert {each.query for each in found.moved} == {"q1", "q2"}
    assert all(each.documents for each in found.moved)


def test_what_was_not_compared_is_refused():
    compared = gf.compare(JUDGMENTS, RUNS, resamples=99)
    with pytest.raises(InputError, match="none called 'old'"):
        gf.comparison.movers(compared, JUDGMENTS, {"one": OLD, "new": NEW})
    with pytest.raises(InputError, match="none of 'q3'"):
        gf.comparison.movers(compared, {"q1": {"a": 1}}, RUNS)
    with pytest.raises(InputError, match="what `compare` returned"):
        gf.comparison.movers(OLD, JUDGMENTS, RUNS)
