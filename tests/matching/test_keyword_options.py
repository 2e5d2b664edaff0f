"""One record of options: every function that reads takes it, and so does the command line."""

import concurrent.futures
import inspect
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gainful as gf
from gainful.cli import option_table
from gainful.cli.commands import commands as command_line
from public_names import public_names

JUDGMENTS = {f"q{i}": {"a": 2, "b": 1, "c": 0, "d": i % 3} for i in range(6)}
BY_ANOTHER = dict(JUDGMENTS)
ONE = {
    f"q{i}": {doc: float(-((place * (i + 2)) % 5)) for place, doc in enumerate("xabcd")}
    for i in range(6)
}
TWO = {f"q{i}": {"d": 5.0, "c": 4.0, "y": 3.0, "b": 2.0 + i % 2, "a": 1.5} for i in range(6)}
RUNS = {"one": ONE, "two": TWO}
COMPARED = gf.compare(JUDGMENTS, RUNS, resamples=99)
PEOPLE = {f"q{i}": {"a": 1 + i % 2, "b": 1, "c": 0, "d": 0} for i in range(3)}
SAMPLES = {
    query: {doc: (1 + (doc > "b"), grade) for doc, grade in docs.items()}
    for query, docs in JUDGMENTS.items()
}
JUDGMENTS_TEXTS = {query: f"text of {query}" for query in JUDGMENTS}
SUBTOPICS = {"q0": {"t1": {"a": 1}, "t2": {"c": 1}}, "q1": {"t1": {"d": 1}}}

# Every function that reads, with what it takes besides; what it returns, as numbers or rows.
MEASURING = {
    "attribute": lambda **o: (
        gf.explanation.attribute(JUDGMENTS, ONE, TWO, query="q1", **o).difference
    ),
    "bounds": lambda **o: gf.bounds(JUDGMENTS, ONE, grades=(0, 2), **o)["nDCG@10"].high,
    "bounds_of_runs": lambda **o: (
        gf.judging.bounds_of_runs(JUDGMENTS, RUNS, grades=(0, 2), **o).runs["two"]["nDCG@10"].high
    ),
    "calibrate": lambda **o: (
        gf.judging.calibrate(PEOPLE, JUDGMENTS, RUNS, drawn="random", **o).means[0].estimate.value
    ),
    "compare": lambda **o: gf.compare(JUDGMENTS, RUNS, resamples=99, **o).differences[0].difference,
    "agreement": lambda **o: [
        each.mean
        for each in gf.judging.agreement(
            [JUDGMENTS, BY_ANOTHER], runs=RUNS, resamples=9, **o
        ).conclusions.means
    ],
    "curve": lambda **o: gf.curve(JUDGMENTS, ONE, upto=3, **o)[2],
    "evaluate": lambda **o: gf.evaluate(JUDGMENTS, ONE, **o)["nDCG@10"],
    "evaluate_runs": lambda **o: gf.evaluate_runs(JUDGMENTS, RUNS, **o)["two"]["nDCG@10"],
    "explain": lambda **o: gf.explain(JUDGMENTS, ONE, query="q1", **o).value,
    "inferred_ap": lambda **o: gf.judging.inferred_ap(SAMPLES, ONE, **o).mean,
    "inferred_ndcg": lambda **o: gf.judging.inferred_ndcg(SAMPLES, ONE, **o).mean,
    "leaderboard": lambda **o: gf.leaderboard(JUDGMENTS, RUNS, resamples=99, **o)["two"].value,
    "movers": lambda **o: [
        (each.query, each.documents)
        for each in gf.comparison.movers(COMPARED, JUDGMENTS, RUNS, **o).moved
    ],
    "next_to_judge": lambda **o: [
        (r.doc, r.priority) for r in gf.judging.next_to_judge(JUDGMENTS, RUNS, **o)
    ],
    "pool": lambda **o: [(r.query, r.doc, r.rank) for r in gf.pool(RUNS, depth=2, **o)],
    "pool_bias": lambda **o: [
        r.without for r in gf.judging.pool_bias(JUDGMENTS, RUNS, depth=2, **o)
    ],
    "random_order": lambda **o: gf.judging.random_order(JUDGMENTS, ONE, **o).expected.tolist(),
    "report": lambda **o: gf.report(JUDGMENTS, RUNS, resamples=99, **o).scores["two"]["nDCG@10"],
    "sample_documents": lambda **o: gf.judging.sample_documents(RUNS, 8, depth=2, **o).drawn,
    "similar_measures": lambda **o: (
        gf.statistics.similar_measures(JUDGMENTS, RUNS, ["nDCG@10", "P@1"], **o).table().rows
    ),
    "watch": lambda **o: [
        watched.entry.means
        for watched in gf.history.watch("none.history", JUDGMENTS, RUNS, dry_run=True, **o).rows
    ],
    "tune": lambda **o: gf.fusion.tune(JUDGMENTS, RUNS, k=[1, 60], folds=2, **o).held_out,
}
WITHOUT_DIALECT = {
    "evaluate_subtopics": lambda **o: gf.subtopics.evaluate_subtopics(SUBTOPICS, ONE, **o)[
        "alpha_nDCG@20"
    ],
    "which": lambda **o: gf.explanation.which(JUDGMENTS, ONE, got="0.5", **o).tried,
    "why": lambda **o: gf.why(JUDGMENTS, ONE, dialects="trec_eval", **o).second_value,
}
READING = {
    "merge_judgments": lambda **o: dict(gf.judging.merge_judgments([JUDGMENTS, BY_ANOTHER], **o)),
    "check": lambda **o: gf.check(JUDGMENTS, RUNS, **o).summary,
    "collect_grades": lambda **o: dict(
        gf.judging.collect_grades(
            JUDGMENTS,
            lambda _: "1",
            queries=JUDGMENTS_TEXTS,
            docs={doc: doc for doc in "abcd"},
            **o,
        )
    ),
    "collect_evidence": lambda **o: dict(
        gf.judging.collect_evidence(
            JUDGMENTS,
            lambda _: "passage: none",
            queries=JUDGMENTS_TEXTS,
            docs={doc: doc for doc in "abcd"},
            **o,
        )
    ),
    "collect_nuggets": lambda **o: dict(
        gf.judging.collect_nuggets(
            JUDGMENTS,
            lambda _: "vital: a fact",
            queries=JUDGMENTS_TEXTS,
            docs={doc: doc for doc in "abcd"},
            **o,
        )
    ),
    "collect_support": lambda **o: dict(
        gf.judging.collect_support(
            JUDGMENTS,
            lambda _: "support",
            nuggets={query: ["a fact"] for query in JUDGMENTS_TEXTS},
            queries=JUDGMENTS_TEXTS,
            docs={doc: doc for doc in "abcd"},
            **o,
        )
    ),
    "evaluate_recommendations": lambda **o: (
        gf.recommending.evaluate_recommendations(ONE, "Novelty@2", history=TWO, **o).means
    ),
    "evaluate_recommendation_runs": lambda **o: (
        gf.recommending.evaluate_recommendation_runs(
            RUNS, "Gini@2", judgments=JUDGMENTS, items=[*"abcdxy"], **o
        )["two"].means
    ),
    "fuse": lambda **o: dict(gf.fuse(RUNS, **o)),
    "write_fused": lambda path, **o: gf.fusion.write_fused(RUNS, path / "f.run", **o),
    "sample_queries": lambda **o: gf.judging.sample_queries(JUDGMENTS, 2, **o).drawn,
    "read_subtopics": lambda **o: gf.subtopics.read_subtopics(SUBTOPICS, **o),
    "write_judgments": lambda path, **o: gf.write_judgments(JUDGMENTS, path / "j.qrels", **o),
    "write_run": lambda path, **o: gf.write_run(ONE, path / "r.run", **o),
    "rbo": lambda **o: gf.statistics.rbo(ONE, TWO, **o),
    "debias": lambda **o: gf.recommending.debias(JUDGMENTS, RUNS, "R@1", history=TWO, **o).rows,
    "estimate_gamma": lambda **o: (
        gf.recommending.estimate_gamma(
            [{"q": 1, "d": "a"}, {"q": 2, "d": "a"}, {"q": 1, "d": "b"}],
            exposures={"q": ["a", "b"]},
            **o,
        ).items
    ),
    "kendall_tau": lambda **o: gf.statistics.kendall_tau(ONE, TWO, **o),
    "tau_ap": lambda **o: gf.statistics.tau_ap(ONE, TWO, **o),
    "tau_h": lambda **o: gf.statistics.tau_h(ONE, TWO, **o),
    "least_item_promoted": lambda **o: gf.statistics.least_item_promoted(ONE, TWO, **o),
    "reference_judgments": lambda **o: gf.inputs.reference_judgments(ONE, k=1, **o),
    "similar": lambda **o: gf.statistics.similar(RUNS, **o).table().rows,
}
SEVERAL_RUNS = ("bounds_of_runs", "calibrate", "compare", "evaluate_runs", "leaderboard", "next_to_judge", "pool", "pool_bias", "report", "sample_documents")  # fmt: skip


def options_of(function):
    parameters = inspect.signature(function).parameters
    return {name for name in gf.inputs.MeasuringOptions.__annotations__ if name in parameters}


def test_every_function_that_reads_takes_the_record():
    measuring, reading = (
        set(gf.inputs.MeasuringOptions.__annotations__),
        set(gf.inputs.ReadingOptions.__annotations__),
    )
    assert reading < measuring
    takes = {
        name: options_of(each) for name, each in public_names().items() if inspect.isfunction(each)
    }
    found = {name for name, options in takes.items() if options >= reading}
    assert found == {*MEASURING, *WITHOUT_DIALECT, *READING}
    assert all(takes[name] == measuring for name in (*MEASURING, *WITHOUT_DIALECT))
    # Apart from these, the options are of functions that read nothing: arrays, lists, tables of scores.
    others = {name for name, options in takes.items() if options and name not in found}
    # The queries of `power` are a count, `find_runs` reads no more than names, `record` no more than texts, and
    # the cases of vectors are the package's own. Logs of clicks have options of their own.
    named = {
        "cases",
        "click_judgments",
        "click_models",
        "interleaving_verdict",
        "position_bias",
        "read_log",
        "would_earn",
        "compare_scores",
        "conformance",
        "conformance_of_command",
        "evaluate_arrays",
        "explain_grades",
        "find_runs",
        "leaderboard_of_scores",
        "locate_evidence",
        "power",
        "record",
        "split",
        "sql",
    }
    assert others == named


def test_the_command_line_offers_the_record():
    assert {*option_table.MEASURING, "progress"} == set(gf.inputs.MeasuringOptions.__annotations__)
    assert {*option_table.READING, "progress"} == set(gf.inputs.ReadingOptions.__annotations__)
    offered = {"columns", "memory", "threads", "temp_dir", "unpacked"}
    choices = {choice.name for choice in gf.measures.choices()}
    for name in ("evaluate", "compare", "explain", "report", "pool", "power", "why"):
        parameters = {each.name for each in command_line.get_command(None, name).params}
        assert {*offered, *choices, "chunks", "chunk_map"} <= parameters, name
        assert ("dialect" in parameters) == (name != "why"), name
    for name in ("check", "convert"):
        assert offered <= {each.name for each in command_line.get_command(None, name).params}, name


@pytest.mark.parametrize("name", [*MEASURING, *WITHOUT_DIALECT])
def test_another_keyword_is_refused_with_the_one_that_was_meant(name):
    work = MEASURING.get(name) or WITHOUT_DIALECT[name]
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) got an unexpected .*Did you mean 'columns'\?"
    ):
        work(colums={})


@pytest.mark.parametrize("name", [*MEASURING, *WITHOUT_DIALECT])
def test_a_policy_that_is_none_is_refused(name):
    work = MEASURING.get(name) or WITHOUT_DIALECT[name]
    expected = r"policy: expected a gainful\.Policy or a dict of choices, found"
    with pytest.raises(gf.errors.InputError, match=expected):
        work(policy="condense")


@pytest.mark.parametrize("name", [*MEASURING, *WITHOUT_DIALECT, "read_subtopics"])
def test_a_dict_of_choices_is_a_policy(name):
    work = (MEASURING | WITHOUT_DIALECT | READING)[name]
    chosen = {"precision": "single", "drop_self": "no"}
    assert work(policy=chosen) == work(policy=gf.Policy(**chosen))
    assert chosen == {"precision": "single", "drop_self": "no"}
    assert work(policy={}) == work()
    with pytest.raises(gf.errors.PolicyError, match=r"found 'mising'\. Did you mean 'missing'"):
        work(policy={"mising": "skip"})
    with pytest.raises(gf.errors.PolicyError, match="Did you mean 'skip'"):
        work(policy={"missing": "skp"})
    with pytest.raises(
        gf.errors.PolicyError, match="policy: expected the name of a choice, found 1"
    ):
        work(policy={1: "skip"})


def test_a_dict_of_choices_is_a_policy_where_nothing_is_read():
    arrays = {"labels": [[0, 0], [1, 0]], "scores": [[1, 2], [1, 2]]}
    assert gf.evaluate_arrays(**arrays, policy={"empty": "one"}).means == {
        "nDCG@10": (1 + 1 / np.log2(3)) / 2
    }
    assert gf.explanation.explain_grades([-1, 1], "CG", policy={"negative": "zero"}).value == 1
    assert (
        gf.measures.Dialect("ours", "a tool", policy={"missing": "skip"}).policy.missing == "skip"
    )
    for work in (
        lambda policy: gf.evaluate_arrays(**arrays, policy=policy),
        lambda policy: gf.explanation.explain_grades([1], policy=policy),
        lambda policy: gf.measures.Dialect("ours", "a tool", policy=policy),
    ):
        with pytest.raises(gf.errors.PolicyError, match="Did you mean 'empty'"):
            work({"emty": "one"})


@pytest.mark.parametrize("name", [*MEASURING, *WITHOUT_DIALECT])
def test_a_choice_that_is_given_as_a_keyword_is_told_its_place(name):
    work = MEASURING.get(name) or WITHOUT_DIALECT[name]
    expected = r"'missing'. It is a choice of the policy: policy=\{'missing': 'skip'\}\.$"
    with pytest.raises(TypeError, match=expected):
        work(missing="skip")


@pytest.mark.parametrize("name", MEASURING)
def test_a_dialect_is_its_measures_under_its_policy(name):
    tool = gf.measures.dialect("ir_measures")
    spoken = MEASURING[name](dialect="ir_measures")
    assert spoken == MEASURING[name](policy=tool.for_files())
    with pytest.raises(gf.errors.InputError, match="none with the dialect"):
        MEASURING[name](dialect="trec_eval-9", policy=gf.Policy())


def test_a_dialect_changes_what_is_measured():
    """Gain exp2 and an ideal of the retrieved documents, as LightGBM has them."""
    policy = gf.Policy(ties="order", missing="skip", empty="one")
    gain = gf.evaluate(JUDGMENTS, ONE, "nDCG(gain=exp2, ideal=retrieved)@3", policy=policy)
    found = gf.evaluate(JUDGMENTS, ONE, "ndcg@3", dialect="lightgbm")
    assert found["ndcg@3"] == gain["nDCG(gain=exp2, ideal=retrieved)@3"]
    compared = gf.compare(JUDGMENTS, RUNS, "ndcg@3", dialect="lightgbm")
    assert compared["two", "ndcg@3"].baseline_mean == found["ndcg@3"]
    assert "dialect: lightgbm" in compared.notes()
    assert compared.to_dict()["dialect"] == "lightgbm"
    assert not compared.gate("Δ ndcg@3 < -0.9").failed
    explained = gf.explain(JUDGMENTS, ONE, "ndcg@3", query="q1", dialect="lightgbm")
    assert explained.value == pytest.approx(found.values[found.queries.index("q1"), 0])
    page = gf.report(JUDGMENTS, RUNS, "ndcg@3", dialect="lightgbm", resamples=99).payload()
    assert page["policy"][0]["answer"] == "lightgbm"


@pytest.mark.parametrize(
    "name", [each for each in MEASURING if each not in ("pool", "sample_documents")]
)
def test_grades_that_a_tool_refuses_are_refused_everywhere(name, monkeypatch):
    bad = {query: {**docs, "a": 0.5} for query, docs in JUDGMENTS.items()}
    monkeypatch.setitem(globals(), "JUDGMENTS", bad)
    drawn = {query: {doc: (1, grade) for doc, grade in docs.items()} for query, docs in bad.items()}
    monkeypatch.setitem(globals(), "SAMPLES", drawn)
    with pytest.raises(gf.errors.InputError, match="dialect ir_measures: expected integer grades"):
        MEASURING[name](dialect="ir_measures")


@pytest.mark.parametrize("name", WITHOUT_DIALECT)
def test_a_dialect_is_refused_where_it_has_no_place(name):
    with pytest.raises(gf.errors.InputError, match="dialect: expected none: "):
        WITHOUT_DIALECT[name](dialect="trec_eval-9")


# `tune` fuses the chunks themselves, as `fuse` does, and folds what comes of it.
@pytest.mark.parametrize("name", [each for each in MEASURING if each != "tune"])
def test_chunks_are_folded_by_every_function_that_measures(name, monkeypatch):
    """Each document comes as two chunks; the better of them is the document."""
    expected = MEASURING[name]()
    spoken = MEASURING[name](dialect="ir_measures")

    def chunked(run):
        return {
            query: {f"{doc}#{part}": score - part for doc, score in docs.items() for part in (0, 1)}
            for query, docs in run.items()
        }

    monkeypatch.setitem(globals(), "ONE", chunked(ONE))
    monkeypatch.setitem(globals(), "TWO", chunked(TWO))
    monkeypatch.setitem(globals(), "RUNS", {"one": ONE, "two": TWO})
    whole = {f"{doc}#{part}": doc for doc in "abcdxy" for part in (0, 1)}
    for chunks in ("#", whole, lambda chunk: chunk.split("#")[0]):
        assert MEASURING[name](chunks=chunks) == expected
        assert MEASURING[name](policy={"fold": "max"}, chunks=chunks) == expected
    assert MEASURING[name](dialect="ir_measures", chunks="#") == spoken
    with pytest.raises(
        gf.errors.InputError, match=r"none, as documents stay in chunks \(policy fold=none"
    ):
        MEASURING[name](policy={"fold": "none"}, chunks="#")
    for answer in ("max", "first"):
        with pytest.raises(
            gf.errors.InputError, match=f"chunks: expected a delimiter.*fold={answer}"
        ):
            MEASURING[name](policy={"fold": answer})


def test_tools_are_set_beside_each_other_on_folded_documents():
    judgments = {"q": {"a": 2, "b": 1}}
    run = {"q": {"b#1": 3.0, "a#1": 2.0, "a#2": 1.0, "b#2": 0.5}}
    whole = {"q": {"b": 3.0, "a": 2.0}}
    for options in ({"chunks": "#"}, {"chunks": "#", "policy": {"fold": "first"}}):
        found = gf.why(judgments, run, dialects="lightgbm", **options)
        plain = gf.why(judgments, whole, dialects="lightgbm")
        assert (found.first_value, found.second_value) == (plain.first_value, plain.second_value)
        assert [cause.name for cause in found.causes] == [cause.name for cause in plain.causes]
        assert found.first.policy.fold == found.second.policy.fold != "none"
        number = f"{plain.second_value:.4f}"
        seen = gf.explanation.which(judgments, run, got=number, **options)
        beside = gf.explanation.which(judgments, whole, got=number)
        assert [each.value for each in seen.found] == [each.value for each in beside.found]
        assert "lightgbm" in {each.way.name for each in seen.found}


def test_subtopics_are_not_folded():
    with pytest.raises(
        gf.errors.InputError, match="chunks: expected none: subtopics are judged by doc"
    ):
        gf.subtopics.evaluate_subtopics(SUBTOPICS, ONE, chunks="#")


@pytest.fixture(scope="module")
def as_files(tmp_path_factory):
    """The runs and the judgments as files, by their names here."""
    folder = tmp_path_factory.mktemp("files")
    gf.write_run(ONE, folder / "one.csv")
    gf.write_run(TWO, folder / "two.csv")
    gf.write_judgments(JUDGMENTS, folder / "judgments.csv")
    one, two, judgments = (str(folder / f"{name}.csv") for name in ("one", "two", "judgments"))
    return {"ONE": one, "TWO": two, "JUDGMENTS": judgments, "RUNS": {"one": one, "two": two}}


@pytest.mark.parametrize("name", [*MEASURING, *WITHOUT_DIALECT, *READING])
def test_progress_is_told_from_files(name, as_files, monkeypatch, tmp_path):
    for kind, given in as_files.items():
        monkeypatch.setitem(globals(), kind, given)
    work = (MEASURING | WITHOUT_DIALECT | READING)[name]
    given = {"path": tmp_path} if name.startswith("write") else {}
    told = []
    work(progress=lambda *what: told.append(what), **given)
    # One protocol for all: a share and a name, as the bar on a terminal takes them.
    assert {len(what) for what in told} == {2}
    assert all(0 <= share <= 1 and isinstance(doing, str) for share, doing in told)
    assert told[-1][0] == pytest.approx(1.0)
    if name in SEVERAL_RUNS:
        assert told[0][1] == "one"
        shares = [share for share, _ in told]
        assert shares == sorted(shares)
    with pytest.raises(gf.errors.InputError, match="progress: expected a function"):
        work(progress=3, **given)


def test_the_threads_of_an_engine_hold_for_all_of_the_work(monkeypatch, tmp_path):
    """NumPy's part, the packing and the resampling, too, not only what DuckDB does."""
    seen = []

    class Recording(ThreadPoolExecutor):
        def __init__(self, workers, *given, **options):
            seen.append(workers)
            super().__init__(workers, *given, **options)

    monkeypatch.setattr(concurrent.futures, "ThreadPoolExecutor", Recording)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    rng = np.random.default_rng(1)
    judgments = {f"q{i}": {f"d{j}": int(rng.integers(3)) for j in range(5)} for i in range(40)}
    runs = {
        name: {
            query: {doc: float(rng.random()) for doc in docs} for query, docs in judgments.items()
        }
        for name in ("one", "two")
    }
    gf.write_judgments(judgments, tmp_path / "judgments.qrels")
    gf.write_run(runs["one"], tmp_path / "one.run")
    large = {f"q{i}": {f"d{j}": float(j) for j in range(1000)} for i in range(400)}

    def work(**options):
        seen.clear()
        gf.compare(judgments, runs, interval="bca", **options)
        resampled = max(seen, default=1)
        seen.clear()
        gf.write_run(large, tmp_path / "large.run.gz", **options)
        return resampled, max(seen, default=1)

    assert work() == (8, 8)
    assert work(engine=gf.Engine(threads=3)) == (3, 3)
    assert work(engine=gf.Engine(threads=1)) == (1, 1)


@pytest.mark.parametrize("name", ["one", "both", "any", "method"])
def test_progress_may_take_the_share_alone(name):
    """A function of the share alone is as good as one that also takes the name of the run."""
    calls = []
    progress = {
        "one": lambda share: calls.append((share,)),
        "both": lambda share, name: calls.append((share, name)),
        "any": lambda *told: calls.append(told),
        "method": calls.append,
    }[name]
    run = {"q": {"a": 1.0}}
    gf.evaluate({"q": {"a": 1}}, run, progress=progress)
    gf.evaluate_runs({"q": {"a": 1}}, {"one": run, "two": run}, progress=progress)
    gf.fuse({"one": run, "two": run}, progress=progress)
    assert len(calls) >= 3
    if name in ("both", "any"):
        assert {"one", "two"} <= {told[1] for told in calls}
