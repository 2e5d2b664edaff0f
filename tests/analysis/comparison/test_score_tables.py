"""`compare_scores`: scores of queries from wherever they come, the same comparison."""

import gzip
import json

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from generated_runs import collection, moved, normal, quick, without_nan

import gainful as gf

MEASURES = ["nDCG@5", "AP"]
TREC = {"nDCG@5": "ndcg_cut_5", "AP": "map"}


@pytest.fixture(scope="module")
def known():
    judgments, runs = collection(queries=12)
    scores = gf.evaluate_runs(judgments, runs, MEASURES)
    return scores, gf.compare(judgments, runs, MEASURES, resamples=100)


def rows(scores):
    return [dict(row) for row in scores.per_query]


def trec_eval(scores):
    lines = [
        f"{TREC[measure]:<22}\t{query}\t{value!r}"
        for query, values in scores.per_query.to_dict().items()
        for measure, value in values.items()
    ]
    lines += [f"{TREC[measure]:<22}\tall\t{mean:.4f}" for measure, mean in scores.means.items()]
    return "\n".join(["runid                 \tall\tmine", *lines, ""])


def wide(scores):
    return pd.DataFrame(rows(scores)).rename(columns={"query": "qid", "nDCG@5": "ndcg_cut_5"})


def parquet(scores, path):
    pq.write_table(scores.per_query.to_arrow(), path)
    return path


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def saved(scores, path):
    gf.comparison.save_baseline(scores, path)
    return path


FORMS = {
    "scores": lambda s, _: s,
    "per_query": lambda s, _: s.per_query,
    "dict": lambda s, _: s.per_query.to_dict(),
    "dict turned": lambda s, _: dict(reversed(s.per_query.to_dict().items())),
    "records": lambda s, _: rows(s),
    "pandas": lambda s, _: wide(s),
    "polars": lambda s, _: pl.DataFrame(rows(s)),
    "arrow": lambda s, _: s.per_query.to_arrow(),
    "csv": lambda s, p: written(p / "s.csv", wide(s).to_csv(index=False)),
    "csv.gz": lambda s, p: written(
        p / "s.csv.gz", gzip.compress(wide(s).to_csv().encode())
    ),  # with row numbers
    "tsv": lambda s, p: written(p / "s.tsv", wide(s).to_csv(index=False, sep="\t")),
    "json": lambda s, p: written(p / "s.json", json.dumps(s.per_query.to_dict())),
    "json records": lambda s, p: written(p / "r.json", json.dumps(rows(s), indent=1)),
    "jsonl": lambda s, p: written(p / "s.jsonl", "\n".join(map(json.dumps, rows(s)))),
    "parquet": lambda s, p: parquet(s, p / "s.parquet"),
    "trec_eval -q": lambda s, p: written(p / "s.txt", trec_eval(s)),
    "own csv": lambda s, p: s.write(p / "own.csv") or p / "own.csv",
    "baseline": lambda s, _: gf.results.Baseline.of(s),
    "saved baseline": lambda s, p: saved(s, p / "main.json"),
    "packed baseline": lambda s, p: str(saved(s, p / "main.json.zst")),
}


def without_lists(difference):
    """Return a difference without the shares of unjudged documents, which only lists tell."""
    return {name: value for name, value in difference.to_dict().items() if name != "unjudged"}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_comparison_of_the_runs(form, known, tmp_path):
    scores, wanted = known
    tables = {}
    for at, (name, each) in enumerate(scores.items()):
        folder = tmp_path / str(at)
        folder.mkdir()
        tables[name] = FORMS[form](each, folder)
    found = without_nan(quick(tables))
    assert set(found.measures) == set(MEASURES)
    for one in wanted.differences:
        assert without_lists(found[one.run, one.measure]) == without_lists(one)
    assert found.policy == ""


@pytest.mark.parametrize(
    "order", [("csv", "baseline", "polars"), ("trec_eval -q", "dict", "scores")]
)
def test_forms_mix(order, known, tmp_path):
    scores, wanted = known
    tables = {}
    for form, (name, each) in zip(order, scores.items(), strict=True):
        tables[name] = FORMS[form](each, tmp_path)
    found = quick(tables)
    for one in wanted.differences:
        assert without_lists(found[one.run, one.measure]) == without_lists(one)


def test_values_without_a_name():
    found = quick({"old": {"q1": 0.1, "q2": 0.2}, "new": {"q1": 0.3, "q2": 0.2}})
    assert found.measures == ("value",)
    assert found["new", "value"].difference == pytest.approx(0.1)


def test_only_what_all_have_is_compared_unless_it_is_named():
    old = {"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"a": 1, "b": 3, "c": 3}}
    new = {"q1": {"c": 1, "b": 2}, "q2": {"c": 2, "b": 2}}
    assert quick({"old": old, "new": new}).measures == ("b", "c")
    assert quick({"old": old, "new": new}, "c").measures == ("c",)
    assert quick({"old": old, "new": new}, ["c", "b", "c"]).measures == ("c", "b")
    with pytest.raises(gf.errors.InputError, match="new: expected a column of a, found none"):
        quick({"old": old, "new": new}, "a")


@pytest.mark.parametrize(
    "asked",
    ["ndcg_cut_5", "nDCG@5", "NDCG@5", ["ndcg@5"], gf.measure("nDCG@5"), [gf.measure("nDCG@5")]],
)
def test_a_column_is_found_in_any_spelling(asked):
    old = {"q1": {"ndcg_cut_5": 0.2, "other": 1}, "q2": {"ndcg_cut_5": 0.5, "other": 1}}
    new = {"q1": {"nDCG@5": 0.3}, "q2": {"nDCG@5": 0.4}}
    assert quick({"old": old, "new": new}, asked).measures == ("nDCG@5",)
    assert quick({"old": old, "new": new}).measures == ("nDCG@5",)


def test_several_cutoffs_are_several_columns():
    table = {
        "q1": {"ndcg_cut_5": 0.2, "ndcg_cut_10": 0.3},
        "q2": {"ndcg_cut_5": 1, "ndcg_cut_10": 1},
    }
    assert quick({"old": table, "new": table}, "nDCG@10,5").measures == ("nDCG@10", "nDCG@5")


def test_columns_of_text_are_no_scores():
    table = {"q1": {"system": "bm25", "P@1": "1.0"}, "q2": {"system": "bm25", "P@1": "0"}}
    assert quick({"old": table, "new": table}).measures == ("P@1",)


def test_queries_that_not_all_have_are_reported(files):
    tables = moved(normal(0.2, count=10))
    del tables["old"]["q3"], tables["new"]["q7"]
    tables["new"]["q20"] = 1.0
    found = without_nan(quick(tables))
    assert found.paired.left_out() == {"value": ("q3", "q7", "q20")}
    assert found.differences[0].queries == 8
    assert "value: 3 queries left out, because some run has no value" in found.notes()
    assert found.to_dict()["left_out"] == {"value": ["q3", "q7", "q20"]}
    both = {q: (tables["old"][q], tables["new"][q]) for q in tables["old"] if q in tables["new"]}
    assert found.differences[0].baseline_mean == pytest.approx(sum(o for o, _ in both.values()) / 8)


def test_an_empty_cell_is_left_out_of_its_measure_alone(files):
    old = files("old.csv", "query,a,b\nq1,1,1\nq2,,2\nq3,2,4\n")
    new = files("new.csv", "query,b,a\nq1,2,3\nq2,3,1\nq3,,1\n")
    found = without_nan(quick({"old": old, "new": new}))
    assert found.paired.left_out() == {"a": ("q2",), "b": ("q3",)}
    assert [one.difference for one in found.differences] == [0.5, 1.0]


def test_ids_stay_text(files):
    old = files("old.csv", "query,x\n007,1\n7,2\n")
    new = files("new.csv", "query,x\n7,2\n007,2\n")
    found = quick({"old": old, "new": new})
    assert found.paired.queries == ("7", "007")
    assert [one.query for one in found.differences[0].moved] == ["007"]


def test_measures_of_subtopics_are_compared_by_their_scores():
    judged = [("q1", "1", "a", 1), ("q1", "2", "b", 1), ("q2", "1", "a", 1), ("q2", "2", "c", 1)]
    judgments = pl.DataFrame(judged, ["query", "subtopic", "doc", "grade"], orient="row")
    runs = {
        "old": {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}},
        "new": {"q1": {"a": 1, "b": 2}, "q2": {"c": 2, "a": 1}},
    }
    scores = {
        name: gf.subtopics.evaluate_subtopics(judgments, run, "alpha_nDCG@2")
        for name, run in runs.items()
    }
    found = quick(scores)
    assert found.measures == ("alpha_nDCG@2",)
    (one,) = found.differences
    assert one.run_mean == scores["new"]["alpha_nDCG@2"] > one.baseline_mean


@pytest.mark.parametrize(
    ("tables", "options", "told"),
    [
        ({}, {}, "tables: expected a dict"),
        ([{"q": 1}], {}, "tables: expected a dict"),
        ({"old": {"q": 1}}, {}, "at least 2 runs to compare, found 1: old"),
        ({1: {"q": 1}, "1": {"q": 2}}, {}, "a string as the name of each, found 1"),
        ({"old": {"q": 1}, "new": {"q": {"P@1": 1}}}, {}, "old has value; new has P@1"),
        ({"old": {"q": 1}, "new": {"q": "fast"}}, {}, "a finite number as 'value', found 'fast'"),
        ({"old": {"q": {"a": "x", "b": "y"}}, "new": {"q": 1}}, {}, "a column of numbers, found a, b"),
        ({"old": {"q": {"a": 1}}, "new": {"q": {"a": "x"}}}, {"measures": "a"}, "found 'x'"),
        ({"old": {"q": 1}, "new": {"q": 1}}, {"measures": []}, "at least one column"),
        ({"old": {"q": 1}, "new": {"q": 1}}, {"measures": "vlaue"}, "Did you mean 'value'"),
        ({"old": {"q": 1}, "new": "none.csv"}, {}, "none.csv"),
        ({"old": {"q": 1}, "new": 5}, {}, "new: expected a dict"),
        ({"old": {"q": 1}, "new": {}}, {}, "new: expected at least one query"),
        ({"old": {"q": {"nDCG@5": 1, "ndcg_cut_5": 2}}, "new": {"q": {"nDCG@5": 1}}}, {}, "old: expected one column of nDCG@5, found another, 'ndcg_cut_5'"),
        ({"old": {"q": {"gm_map": 1}}, "new": {"q": {"GMAP": 1}}}, {}, "whose mean is arithmetic"),
        ({"old": {"q": 1}, "new": {"q": 2}}, {"baseline": "od"}, "Did you mean 'old'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(tables, options, told):
    with pytest.raises(gf.errors.InputError, match=told):
        gf.comparison.compare_scores(tables, **options)


def test_a_baseline_without_the_measure(known, tmp_path):
    scores, _ = known
    gf.comparison.save_baseline(scores["old"], tmp_path / "old.json")
    tables = {"old": tmp_path / "old.json", "new": scores["new"]}
    with pytest.raises(gf.errors.InputError, match=r"old: expected a column of P@1, found none"):
        quick(tables, "P@1")
    judgments, runs = collection(queries=12)
    with pytest.raises(
        gf.errors.InputError, match=r"baseline 'old': expected the measure P@1, found nDCG"
    ):
        gf.compare(judgments, {"old": tmp_path / "old.json", "new": runs["new"]}, "P@1")


def test_a_saved_baseline_stands_for_its_run(known, tmp_path):
    scores, wanted = known
    judgments, runs = collection(queries=12)
    gf.comparison.save_baseline(scores["old"], tmp_path / "old.json")
    for old in (
        tmp_path / "old.json",
        str(tmp_path / "old.json"),
        gf.results.Baseline.of(scores["old"]),
    ):
        found = gf.compare(judgments, {**runs, "old": old}, MEASURES, resamples=100)
        assert list(map(without_lists, found.differences)) == list(
            map(without_lists, wanted.differences)
        )
        assert (found.changed, found.policy) == ((), wanted.policy)


def test_a_baseline_of_another_policy_is_refused(known, tmp_path):
    judgments, runs = collection(queries=12)
    policy = gf.Policy(missing="skip")
    gf.comparison.save_baseline(
        gf.evaluate(judgments, runs["old"], policy=policy), tmp_path / "old.json"
    )
    both = {"old": tmp_path / "old.json", "new": runs["new"]}
    with pytest.raises(gf.errors.InputError, match=r"baseline 'old': expected the policy of 'new'"):
        gf.compare(judgments, both)
    assert gf.compare(judgments, both, policy=policy).changed == ()


def test_saved_baselines_alone_need_no_judgments(known, tmp_path):
    scores, wanted = known
    tables = {name: saved(each, tmp_path / f"{name}.json") for name, each in scores.items()}
    with pytest.raises(gf.errors.InputError, match="only saved baselines"):
        gf.compare("no such judgments", tables)
    assert [one.p for one in quick(tables).differences] == [one.p for one in wanted.differences]


def other_bases():
    """Scores of one run: as they are, under another policy, and with other judgments."""
    judgments = {f"q{n}": {"a": 2, "b": 1, "c": 1} for n in range(4)}
    fewer = {query: {"a": 2, "b": 1} for query in judgments}
    run = {query: {"b": 1.0, "a": 1.0, "c": 0.5} for query in judgments}
    best = gf.evaluate(judgments, run, "nDCG@2", policy=gf.Policy(ties="best"))
    worst = gf.evaluate(judgments, run, "nDCG@2", policy=gf.Policy(ties="worst"))
    other = gf.evaluate(fewer, run, "nDCG@2", policy=gf.Policy(ties="best"))
    return best, worst, other


@pytest.mark.parametrize("saved", [False, True])
def test_scores_of_other_policies_or_judgments_are_told(saved, tmp_path):
    tables = dict(zip(("best", "worst", "other"), other_bases(), strict=True))
    if saved:
        for name, scores in tables.items():
            gf.comparison.save_baseline(scores, tmp_path / f"{name}.json")
        tables = {name: tmp_path / f"{name}.json" for name in tables}
    with pytest.warns(gf.errors.GainfulWarning, match="the difference may be due to the policy"):
        gf.comparison.compare_scores({name: tables[name] for name in ("best", "worst")})
    with pytest.warns(gf.errors.GainfulWarning, match=r"different judgments \(nDCG@2\)"):
        gf.comparison.compare_scores({name: tables[name] for name in ("best", "other")})
    gf.comparison.compare_scores({"one": tables["best"], "same": tables["best"]})  # no warning
