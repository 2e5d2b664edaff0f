"""Judgments pooled from one run: every verdict that they favour says so, wherever it is shown."""

import json
import random

import pytest

import gainful as gf

DEPTH = 10
MEASURES = ["nDCG@10", "AP", "P@5", "RR@10"]
TOLD = "so the judgments favour pooled (see `gainful evaluate --bounds --grades 0..2`)"  # without bounds
OFFERED = "; estimate it with --estimate)"


def run_of(seed, queries):
    draw = random.Random(seed)  # noqa: S311
    documents = [f"d{number}" for number in range(40)]
    return {query: {doc: draw.random() for doc in draw.sample(documents, 20)} for query in queries}


@pytest.fixture(scope="module")
def truth():
    """Grades of every document; no run is better than another."""
    draw = random.Random(5)  # noqa: S311
    return {
        f"q{number:02}": {f"d{at}": draw.choice([0, 0, 0, 1, 2]) for at in range(40)}
        for number in range(50)
    }


@pytest.fixture(scope="module")
def runs(truth):
    return {"pooled": run_of(1, truth), "other": run_of(2, truth)}


def pooled_from(truth, *runs):
    return {
        query: {
            doc: truth[query][doc]
            for run in runs
            for doc in sorted(run[query], key=run[query].get, reverse=True)[:DEPTH]
        }
        for query in truth
    }


@pytest.fixture(scope="module")
def judgments(truth, runs):
    return pooled_from(truth, runs["pooled"])


@pytest.fixture(scope="module")
def files(judgments, runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pooled")
    (folder / "judgments.json").write_text(json.dumps(judgments))
    for name, run in runs.items():
        (folder / f"{name}.json").write_text(json.dumps(run))
    return [str(folder / f"{name}.json") for name in ("judgments", "pooled", "other")]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("baseline", ["pooled", "other"])
def test_a_verdict_for_the_pooled_run_is_qualified(judgments, runs, measure, baseline):
    (found,) = gf.compare(judgments, runs, measure, baseline=baseline).differences
    if measure in ("AP", "RR@10"):  # whose differences have no bounds
        assert found.verdict.qualification.endswith(TOLD)
    else:
        against = runs[found.baseline]
        grades = {0, 1, 2}
        bounds = gf.bounds(judgments, runs[found.run], measure, grades=grades, against=against)
        ends = f"{bounds[measure].low:+.4f} to {bounds[measure].high:+.4f}"
        told = f"so the judgments favour pooled (other grades could make it {ends}{OFFERED}"
        assert found.verdict.qualification.endswith(told)
    assert f", but {found.verdict.qualification}" in found.verdict.sentence
    shares = dict(zip((found.baseline, found.run), found.unjudged, strict=True))
    assert f"{shares['other']:.0%} of other's " in found.verdict.sentence
    cutoff = gf.measure(measure).cutoff
    for name, run in runs.items():
        if cutoff is not None:
            scores = gf.evaluate(judgments, run, f"Judged@{cutoff}")
            assert shares[name] == pytest.approx(1 - scores[f"Judged@{cutoff}"], abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_pool_of_both_runs_qualifies_nothing(truth, runs, measure):
    judgments = pooled_from(truth, *runs.values())
    (found,) = gf.compare(judgments, runs, measure).differences
    assert found.verdict.qualification == ""
    assert "unjudged" not in found.verdict.sentence


def test_shares_are_those_of_the_cutoff_of_each_measure(judgments, runs):
    alone = {m: gf.compare(judgments, runs, m).differences[0].unjudged for m in MEASURES}
    together = gf.compare(judgments, runs, MEASURES)
    assert {each.measure: each.unjudged for each in together.differences} == alone


def test_no_qualification_where_the_judgments_were_against_the_better_run(judgments, runs, truth):
    best = {
        query: {doc: grade for doc, grade in docs.items() if doc in judgments[query]}
        | {f"x{at}": -1.0 - at for at in range(8)}
        for query, docs in truth.items()
    }
    best = {
        query: dict(sorted(docs.items(), key=lambda one: -one[1])[:5])
        | {f"x{at}": -1.0 - at for at in range(5)}
        for query, docs in best.items()
    }
    (found,) = gf.compare(judgments, {"pooled": runs["pooled"], "best": best}).differences
    assert found.unjudged[1] - found.unjudged[0] > 0.4
    assert (found.verdict.word, found.verdict.qualification) == ("better", "")


def test_equivalent_and_undecided_are_qualified_too(judgments, runs):
    few = {query: judgments[query] for query in list(judgments)[:2]}
    assert OFFERED in gf.compare(few, runs).verdicts[0]
    wide = gf.compare(judgments, runs, margin=0.9).differences[0]
    assert wide.verdict.word == "equivalent"
    assert OFFERED in wide.verdict.sentence


@pytest.mark.parametrize("policy", [{"unjudged": "condense"}, {"unjudged": 1.0}])
def test_a_policy_with_another_answer_to_unjudged_documents_is_not_qualified(
    judgments, runs, policy
):
    (found,) = gf.compare(judgments, runs, policy=policy).differences
    assert (found.unjudged, found.verdict.qualification) == (None, "")


def test_relevant_documents_alone_are_no_pool(truth):
    """Each query has one relevant document, so that nearly all others have no judgment."""
    judgments = {query: {"d1": 1} for query in truth}
    good = {query: {"d1": 2, "d2": 1} for query in truth}
    often = {query: {"d1": 2} if number % 4 else {"d2": 1} for number, query in enumerate(truth)}
    often |= {query: {"d2": 2, "d1": 1} for query in list(truth)[:25]}
    part = {query: {"d1": 2} if number % 5 else {"d2": 1} for number, query in enumerate(truth)}
    (found,) = gf.compare(judgments, {"often": often, "part": part}, "nDCG@1").differences
    assert found.unjudged[0] - found.unjudged[1] > 0.1
    assert found.verdict.qualification == ""
    # All of the favoured run is judged, though: that is a sign of a pool.
    assert (
        gf.compare(judgments, {"often": often, "good": good}, "P@1")
        .differences[0]
        .verdict.qualification
    )


def test_a_saved_baseline_is_qualified(judgments, runs, tmp_path):
    gf.comparison.save_baseline(gf.evaluate(judgments, runs["pooled"]), tmp_path / "base.json")
    compared = {"pooled": tmp_path / "base.json", "other": runs["other"]}
    assert TOLD in gf.compare(judgments, compared).verdicts[0]


SURFACES = {
    "text": lambda c: str(c),
    "markdown": lambda c: c.to_markdown(),
    "html": lambda c: c.to_html().replace("&#x27;", "'"),
    "json": lambda c: c.to_json(),
    "gate text": lambda c: str(c.gate("Δ nDCG@10 < 0")),
    "gate markdown": lambda c: c.gate("Δ nDCG@10 < 0").to_markdown(),
    "gate JUnit": lambda c: c.gate("Δ nDCG@10 < 0").to_junit(),
}


@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_shows_the_qualification(judgments, runs, surface):
    shown = " ".join(SURFACES[surface](gf.compare(judgments, runs)).split())
    assert "so the judgments favour pooled" in shown


def test_json_has_fields_of_its_own(judgments, runs):
    (found,) = json.loads(gf.compare(judgments, runs).to_json())["differences"]
    assert found["unjudged"]["baseline"] == 0 < 0.4 < found["unjudged"]["run"]
    assert found["qualification"].endswith(OFFERED)
    (found,) = json.loads(gf.compare(judgments, runs, "RR@1").to_json())["differences"]
    assert set(found["unjudged"]) == {"baseline", "run"}


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_the_commands_show_it(files, cli, form):
    found = cli("compare", *files, "-f", form)
    assert found.returncode == 0
    assert "so the judgments favour pooled" in " ".join(found.stdout.split())


def test_the_report_shows_it(judgments, runs):
    payload = gf.report(judgments, runs).payload()
    assert payload["verdicts"][0]["qualification"].endswith(OFFERED)
    assert OFFERED in payload["verdicts"][0]["sentence"]


@pytest.mark.parametrize("others", [1, 13])
def test_a_leaderboard_of_any_size_shows_the_shares(judgments, truth, runs, others):
    field = {f"run{seed}": run_of(seed, truth) for seed in range(10, 10 + others)}
    board = gf.leaderboard(judgments, {"pooled": runs["pooled"], **field})
    shares = {row["run"]: row["unjudged"] for row in board.table().records()}
    assert board.runs[0] == "pooled"
    assert shares["pooled"] == 0
    assert min(share for run, share in shares.items() if run != "pooled") > 0.4
    assert board.to_dict()["unjudged"] == shares
    assert "pooled is better than " in " ".join(board.notes())
    assert TOLD in " ".join(board.notes())


def test_a_leaderboard_of_scores_has_no_shares(judgments, runs):
    tables = {name: gf.evaluate(judgments, run).per_query.to_dict() for name, run in runs.items()}
    board = gf.comparison.leaderboard_of_scores(tables)
    assert board.unjudged is None
    assert "unjudged" not in board.table().columns
