"""What a report says is what `evaluate`, `compare`, `curve` and `bounds` say."""

import copy
import json
import math

import numpy as np
import pytest

import gainful as gf

MEASURES = ["nDCG@5", "AP", "P@3"]
HOSTILE = '"><img src=x onerror=alert(1)> </script> \u2028 עברית 🍲'


def collection(queries=30, runs=3, seed=3, documents=15):
    """Return judgments and runs of several systems, some queries missing, one empty."""
    rng = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(documents * 2)]
    judgments = {
        f"q{q}": {doc: int(rng.integers(0, 4)) for doc in rng.choice(ids, 10, replace=False)}
        for q in range(queries)
    }
    judgments["q1"] = dict.fromkeys(ids[:5], 0)
    systems = {
        f"run{number}": {
            query: {doc: float(rng.normal()) for doc in rng.choice(ids, documents, replace=False)}
            for query in judgments
            if query != f"q{number + 2}"
        }
        for number in range(runs)
    }
    return judgments, systems


@pytest.fixture(scope="module")
def data():
    return collection()


@pytest.fixture(scope="module")
def page(data):
    return gf.report(*data, MEASURES, by="judged", created="2026-11-15", title="a page")


def test_the_head(page):
    payload = page.payload()
    assert payload["format"] == 1
    assert (payload["title"], payload["created"]) == ("a page", "2026-11-15")
    assert payload["version"] == gf.__version__
    assert (payload["baseline"], payload["measures"], payload["primary"]) == ("run0", MEASURES, 0)
    json.dumps(payload, allow_nan=False)
    assert repr(page) == "Report(run0, run1, run2; 30 of 30 queries in detail)"


def test_means_and_scores_are_those_of_an_evaluation(data, page):
    judgments, runs = data
    payload, scores = page.payload(), gf.evaluate_runs(judgments, runs, MEASURES)
    assert [run["name"] for run in payload["runs"]] == list(runs)
    for place, each in enumerate(scores.values()):
        run = payload["runs"][place]
        assert run["means"] == list(each.means.values())
        assert run["signatures"] == [each.signature(measure) for measure in MEASURES]
        assert run["best"] == [
            each.means[m] == max(other.means[m] for other in scores.values()) for m in MEASURES
        ]
        assert run["coverage"]["missing"] == "1"
        for number, measure in enumerate(MEASURES):
            found = dict(
                zip(
                    (q["id"] for q in payload["queries"]),
                    payload["scores"][number][place],
                    strict=True,
                )
            )
            assert found == {
                query: values[measure] for query, values in each.per_query.to_dict().items()
            }
    judged = {query: len(docs) for query, docs in judgments.items()}
    assert {q["id"]: q["judged"] for q in payload["queries"]} == judged
    assert page.scores.keys() == runs.keys()


def test_verdicts_and_slices_are_those_of_a_comparison(data, page):
    payload, found = page.payload(), gf.compare(*data, MEASURES, by="judged")
    assert len(payload["verdicts"]) == len(found.differences) == 6
    for verdict, each in zip(payload["verdicts"], found.differences, strict=True):
        assert verdict == {
            "measure": each.measure, "baseline": each.baseline, "run": each.run,
            "word": each.verdict.word, "sentence": each.verdict.sentence,
            "queries_needed": each.verdict.queries_needed,
            "qualification": each.verdict.qualification or None,
            "baseline_mean": each.baseline_mean, "run_mean": each.run_mean, "difference": each.difference,
            "low": each.interval.low, "high": each.interval.high, "level": 0.95, "p": each.p,
            "effect": each.effect, "wins": each.wins, "ties": each.ties, "losses": each.losses,
            "queries": each.queries,
        }  # fmt: skip
    for run in payload["runs"][1:]:
        verdicts = [found[run["name"], measure].verdict.word for measure in MEASURES]
        assert run["marks"] == verdicts
    assert payload["runs"][0]["marks"] == ["", "", ""]
    table = found.slices_table()
    assert payload["slices"]["columns"] == list(table.columns)
    assert payload["slices"]["rows"] == [list(row) for row in table.rows]
    assert payload["settings"] == str(found.settings)
    assert payload["notes"] == found.notes()[found.notes().index("") + 1 :]
    assert payload["method"] == payload["notes"][0]


def test_the_curve(data, page):
    judgments, runs = data
    curve = page.payload()["curve"]
    assert curve["measure"] == "nDCG"
    for name, run in runs.items():
        rows = [(row["k"], row["value"]) for row in curve["rows"] if row["run"] == name]
        assert rows == list(enumerate(gf.curve(judgments, run, "nDCG", upto=20).means, 1))


def test_the_curve_has_intervals(data, page):
    judgments, runs = data
    rows = [row for row in page.payload()["curve"]["rows"] if row["run"] == "run0"]
    scores = gf.evaluate(judgments, runs["run0"], ["nDCG@1", "nDCG@20"])
    for row, measure in ((rows[0], "nDCG@1"), (rows[-1], "nDCG@20")):
        interval = scores.interval(measure)
        assert (row["low"], row["high"]) == (interval.low, interval.high)
    few = {query: judgments[query] for query in list(judgments)[:9]}
    (row, *_) = gf.report(few, {"one": runs["run0"]}).payload()["curve"]["rows"]
    assert (row["low"], row["high"]) == (None, None)


def test_unjudged_documents_by_rank(data, page):
    judgments, runs = data
    rows = page.payload()["coverage"]["unjudged"]
    for name, run in runs.items():
        found = [row for row in rows if row["run"] == name]
        assert [row["rank"] for row in found] == [1, 2, 3, 4, 5]
        for row in found:
            at = [
                sorted(docs, key=lambda doc: -docs[doc])[row["rank"] - 1] in judgments[query]
                for query, docs in run.items()
            ]
            assert row["documents"] == len(at)
            assert row["share"] == pytest.approx(at.count(False) / len(at))


def test_the_curve_has_the_gain_of_the_primary_measure(data):
    judgments, runs = data
    one = {"run0": runs["run0"]}
    for primary, measure in (
        ("nDCG(gain=exp2)@30", "nDCG(gain=exp2)"),
        ("DCG(gain=exp2)@5", "nDCG(gain=exp2)"),
    ):
        payload = gf.report(judgments, one, primary).payload()
        assert payload["curve"]["measure"] == measure
        upto = max(gf.measure(primary).cutoff, 20)
        expected = gf.curve(judgments, runs["run0"], measure, upto=upto).means
        assert [row["value"] for row in payload["curve"]["rows"]] == expected


def test_coverage(data, page):
    judgments, runs = data
    coverage = page.payload()["coverage"]
    rows = [dict(zip(coverage["columns"], row, strict=True)) for row in coverage["rows"]]
    for row, (name, run) in zip(rows, runs.items(), strict=True):
        counts = gf.evaluate(judgments, run, MEASURES).coverage.counts()
        bound = gf.bounds(judgments, run, "nDCG@5", grades={0, 1, 2, 3})["nDCG@5"]
        top = gf.evaluate(judgments, run, "nDCG@5").coverage
        assert row == {
            "run": name, "judged queries": 30, "answered": 29, "not answered": 1,
            "no relevant documents": 1, "no judgments": 0,
            "tied documents": counts["tied"], "tied queries": counts["tied_queries"],
            "documents@5": top.seen, "unjudged@5": top.unjudged,
            "share unjudged@5": top.unjudged_share,
            "nDCG@5 at least": bound.low, "nDCG@5 at most": bound.high,
        }  # fmt: skip
    assert "Not answered (run0): q2" in coverage["notes"]
    assert "No relevant documents (all runs): q1" in coverage["notes"]
    assert coverage["notes"][-1].endswith(
        "if the unjudged documents had any of the grades 0, 1, 2, 3."
    )


@pytest.mark.parametrize(
    ("measure", "policy", "why"),
    [
        ("nDCG@5", gf.Policy(ties="average"), "policy ties: expected auto"),
        ("nDCG@5", gf.Policy(unjudged=1), "policy unjudged: expected zero"),
        ("bpref", gf.Policy(), "bpref has no exact ones"),
    ],
)
def test_bounds_that_are_left_out_say_why(data, measure, policy, why):
    judgments, runs = data
    coverage = gf.report(judgments, runs, measure, policy=policy).payload()["coverage"]
    assert coverage["notes"][-1].startswith("Bounds: left out")
    assert why in coverage["notes"][-1]
    assert not any("at most" in column for column in coverage["columns"])
    assert all(len(row) == len(coverage["columns"]) for row in coverage["rows"])


def test_the_policy_in_full(data):
    judgments, runs = data
    policy = gf.Policy(ties="average", absent=-1)
    listed = gf.report(judgments, runs, policy=policy).payload()["policy"]
    assert {each["name"]: each["answer"] for each in listed} == policy.resolved(ids=True).answers()
    other = {each["name"]: each["meaning"] for each in listed if not each["default"]}
    assert other.keys() == {"ties", "absent"}
    assert "documents with this grade" in other["absent"]
    assert all(each["meaning"] for each in listed)


@pytest.mark.parametrize(
    ("policy", "ties"),
    [(gf.Policy(), "doc"), (gf.Policy(ties="doc"), "doc"), (gf.Policy(ties="average"), "average")],
)
def test_what_the_default_rule_for_ties_comes_to_is_the_default(data, policy, ties):
    judgments, runs = data
    listed = gf.report(judgments, {"run": runs["run0"]}, policy=policy).payload()["policy"]
    found = {each["name"]: (each["answer"], each["default"]) for each in listed}
    assert found["ties"] == (ties, ties == "doc")
    assert all(default for name, (_, default) in found.items() if name != "ties")


def test_one_run_is_not_compared(data):
    judgments, runs = data
    page = gf.report(judgments, {"alone": runs["run0"]}, MEASURES)
    payload = page.payload()
    assert page.comparison is None
    assert (payload["baseline"], payload["verdicts"], payload["slices"]) == (None, [], None)
    assert payload["settings"] == ""
    (run,) = payload["runs"]
    assert run["marks"] == ["", "", ""]
    assert run["best"] == [False, False, False]
    assert len(payload["details"]) == 30
    assert all(detail["parts"] == [None] for detail in payload["details"].values())
    with pytest.raises(gf.errors.InputError, match="several runs"):
        gf.report(judgments, {"alone": runs["run0"]}, by="judged")


def test_another_baseline_and_all_pairs(data):
    judgments, runs = data
    payload = gf.report(judgments, runs, baseline="run2", pairs="all").payload()
    assert payload["baseline"] == "run2"
    assert len(payload["verdicts"]) == 3
    assert payload["runs"][2]["marks"] == [""]
    assert all(run["marks"][0] for run in payload["runs"][:2])
    assert all(detail["parts"][2] is None for detail in payload["details"].values())
    found = gf.compare(judgments, runs, baseline="run2", pairs="all")
    for run in payload["runs"][:2]:
        turned = {"better": "worse", "worse": "better", "inconclusive": "inconclusive"}
        words = {(each.baseline, each.run): each.verdict.word for each in found.differences}
        word = words.get(("run2", run["name"])) or turned[words[run["name"], "run2"]]
        assert run["marks"] == [word]


def test_a_saved_baseline_has_no_documents(data):
    judgments, runs = data
    fresh = gf.evaluate(judgments, runs["run0"], MEASURES)
    saved = gf.results.Baseline.of(fresh)
    payload = gf.report(judgments, {"old": saved, "new": runs["run1"]}, MEASURES).payload()
    assert payload["baseline"] == "old"
    assert payload["runs"][0]["signatures"] == list(saved.signatures.values())
    assert payload["runs"][0]["means"] == pytest.approx(list(fresh.means.values()))
    detail = payload["details"]["0"]
    assert detail["lists"][0]["rows"] == []
    assert detail["lists"][0]["value"] == payload["scores"][0][0][0]
    assert detail["lists"][1]["rows"]
    assert detail["parts"] == [None, None]
    assert "saved scores, without documents" in detail["conclusions"][0]
    assert "old: saved scores, without documents." in payload["coverage"]["notes"]
    assert {row["run"] for row in payload["curve"]["rows"]} == {"new"}


def test_scores_from_elsewhere():
    old = {f"q{n}": {"mine": 0.1 * n, "yours": 0.5} for n in range(9)}
    new = {f"q{n}": {"mine": 0.1 * n + 0.1 + 0.01 * n, "yours": 0.4} for n in range(9)}
    found = gf.comparison.compare_scores({"old": old, "new": new})
    page = gf.results.Report.of_comparison(found, title="scores", created="2026-11-15")
    payload = page.payload()
    assert page.comparison is found
    assert payload["measures"] == ["mine", "yours"]
    assert payload["runs"][0]["means"] == pytest.approx([0.4, 0.5])
    assert payload["runs"][0]["signatures"] == ["", ""]
    assert payload["scores"][1][0] == [0.5] * 9
    assert (payload["details"], payload["curve"], payload["policy"]) == ({}, None, [])
    assert payload["kept"] == {"queries": 0, "of": 9, "why": "the scores come without documents"}
    assert payload["queries"][0] == {"id": "q0", "text": None, "judged": None, "detail": False}
    assert "<html" in page.to_html()


def test_labels_have_no_documents(tmp_path):
    labels, predictions = tmp_path / "labels.txt", tmp_path / "predictions.txt"
    labels.write_text("2 qid:1 1:0.5\n0 qid:1 1:0.1\n1 qid:2 1:0.3\n0 qid:2 1:0.2\n")
    predictions.write_text("0.2\n0.9\n0.8\n0.1\n")
    payload = gf.report(labels, {"run": predictions}, "nDCG@5").payload()
    assert payload["details"] == {}
    assert payload["kept"] == {"queries": 0, "of": 2, "why": "the documents have no ids"}
    ties = next(each for each in payload["policy"] if each["name"] == "ties")
    assert (ties["answer"], ties["default"]) == ("average", True)


def test_more_notes(page):
    noted = page.noting("one", "two")
    assert noted.payload()["notes"] == [*page.payload()["notes"], "one", "two"]


def test_values_that_are_no_numbers_are_null():
    judgments = {"q": {"a": 0}, "r": {"a": 1}}
    run = {"q": {"a": 1}, "r": {"a": 1}}
    payload = gf.report(judgments, {"run": run}, "nDCG@5", policy=gf.Policy(empty="nan")).payload()
    assert payload["runs"][0]["means"] == [None]
    assert payload["scores"] == [[[None, 1.0]]]
    assert payload["details"]["0"]["lists"][0]["value"] is None
    assert all(row["value"] is None for row in payload["curve"]["rows"])
    assert json.dumps(payload, allow_nan=False)
    assert math.isnan(
        gf.evaluate(judgments, run, "nDCG@5", policy=gf.Policy(empty="nan"))["nDCG@5"]
    )


def test_odd_ids_come_through():
    ids = [HOSTILE, "(absent)", "a\tb", "<b>", "007", "7"]
    judgments = {HOSTILE: dict.fromkeys(ids, 1), "<script>": {"x": 1}}
    run = {HOSTILE: {doc: number for number, doc in enumerate(ids)}, "<script>": {"x": 1}}
    payload = gf.report(judgments, {HOSTILE: run, "two": run}, queries={HOSTILE: HOSTILE}).payload()
    assert {query["id"] for query in payload["queries"]} == set(judgments)
    place = next(str(n) for n, query in enumerate(payload["queries"]) if query["id"] == HOSTILE)
    assert {doc[0] for doc in payload["details"][place]["docs"]} == set(ids)
    assert payload["runs"][0]["name"] == HOSTILE


def test_one_query_with_and_without_documents():
    judgments = {"q": {"a": 1, "b": 0}}
    payload = gf.report(judgments, {"one": {"q": {"a": 1}}, "two": {"q": {"b": 1}}}).payload()
    assert payload["scores"] == [[[1.0], [0.0]]]
    assert payload["kept"] == {"queries": 1, "of": 1, "why": None}
    two = {"q": {"a": 1}, "r": {"a": 1}}
    payload = gf.report(two, {"one": {"q": {"a": 1}, "r": {}}}).payload()
    (shown,) = payload["details"]["1"]["lists"]
    assert (shown["rows"], shown["retrieved"], shown["missing"]) == ([], 0, False)
    assert payload["scores"] == [[[1.0, 0.0]]]


def test_a_run_without_any_of_the_queries_is_refused():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1}}
    with pytest.raises(gf.errors.InputError, match="found none in common"):
        gf.report(judgments, {"one": run, "two": {"other": {"a": 1}}})
    with pytest.raises(gf.errors.InputError, match="at least one retrieved document"):
        gf.report(judgments, {"one": run, "two": {}})


def test_a_warning_is_said_once(data):
    with pytest.warns(gf.errors.GainfulWarning, match="no retrieved document is judged") as said:
        gf.report({"q": {"a": 1}}, {"run": {"q": {"b": 1}}})
    assert len(said) == 1


def test_nothing_is_modified(data):
    judgments, runs = data
    before = copy.deepcopy((judgments, runs))
    texts = {"q0": "a text"}
    page = gf.report(judgments, runs, MEASURES, queries=texts, docs={"d0": "a document"})
    assert (judgments, runs) == before
    assert texts == {"q0": "a text"}
    page.payload()["notes"].append("mine")
    assert "mine" not in page.payload()["notes"]


def test_the_same_call_gives_the_same_page(data):
    first, second = (gf.report(*data, MEASURES, created="2026-11-15") for _ in range(2))
    assert first.to_html() == second.to_html()


def test_writing(data, tmp_path, capsysbinary):
    target = tmp_path / "page.html"
    page = gf.report(*data)
    page.write(target)
    assert target.read_text() == page.to_html()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    page.write("-")
    assert capsysbinary.readouterr().out == target.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "depth: expected a positive integer"),
        ({"depth": True}, "depth: expected a positive integer"),
        ({"created": "yesterday"}, "created: expected a date"),
        ({"created": 5}, "created: expected a date"),
        ({"baseline": "none"}, "baseline: expected one of the runs"),
        ({"measures": "GMAP"}, "geometric mean"),
        ({"level": 2}, "level: expected"),
        ({"queries": 5}, "queries: expected a dict"),
        ({"docs": 5}, "docs: expected a dict"),
        ({"runs": {}}, "runs: expected a dict"),
    ],
)
def test_refusals(data, arguments, message):
    judgments, runs = data
    with pytest.raises(gf.errors.GainfulError, match=message):
        gf.report(judgments, **{"runs": runs} | arguments)


def test_a_missing_package_is_told_before_the_work(data, monkeypatch):
    import importlib.util

    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jinja2" else known(name)
    )
    with pytest.raises(
        gf.errors.MissingDependencyError, match=r"jinja2.*pip install '\.\[report\]'"
    ):
        gf.report("no such file", {"run": "no such file"})


def test_progress_goes_on_to_the_end(data):
    told = []
    gf.report(*data, progress=lambda share, name: told.append((share, name)))
    shares = [share for share, _ in told]
    assert all(0 <= share <= 1 for share in shares)
    assert {name for _, name in told} >= {"run0", "comparing", "coverage", "curve", "details"}
