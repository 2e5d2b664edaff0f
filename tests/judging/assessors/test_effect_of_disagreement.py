"""What disagreement does to conclusions: against the public functions called one by one, and worked by hand."""

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.kernels.ranking_agreement import kendall_tau_of_rows, tau_ap_of_rows

NAMES = ("ann", "bob", "eve")


def sample(seed, *, queries=9, docs=6, partial=False):
    """Judgments of three assessors, who err, and three runs, which do, too."""
    rng = random.Random(seed)  # noqa: S311
    true = {
        f"q{i}": {f"d{i}{j}": rng.choice([0, 0, 1, 2]) for j in range(docs)} for i in range(queries)
    }
    people = []
    for right in (0.8, 0.6, 0.5):
        given = {
            query: {
                doc: grade if rng.random() < right else rng.choice([0, 1, 2])
                for doc, grade in known.items()
                if not partial or rng.random() < 0.8
            }
            for query, known in true.items()
        }
        people.append({query: known for query, known in given.items() if known})
    if partial:
        people[2] = {query: people[2][query] for query in [*people[2]][:5]}
    runs = {
        name: {
            query: {doc: grade + rng.gauss(0, noise) for doc, grade in known.items()}
            for query, known in true.items()
        }
        for name, noise in (("old", 3.0), ("new", 0.9), ("newer", 0.7))
    }
    return people, runs


def conclusions(people, runs, **options):
    options = {"names": NAMES[: len(people)], "resamples": 20, **options}
    return gf.judging.agreement(people, runs=runs, **options).conclusions


def over(judged, queries):
    return {query: judged[query] for query in queries}


@pytest.mark.parametrize("partial", [False, True], ids=["all there", "some missing"])
def test_means_and_verdicts_are_those_of_the_functions_by_themselves(partial):
    people, runs = sample(1, partial=partial)
    measures = ["nDCG@3", "P@2"]
    found = conclusions(people, runs, measures=measures)
    merged = {**gf.judging.merge_judgments(people, names=NAMES)}
    by_name = dict(zip(NAMES, people, strict=True))
    means = {(each.measure, each.run, each.assessor): each for each in found.means}
    for name, judged in [(None, merged), *by_name.items()]:
        scores = gf.evaluate_runs(judged, runs, measures)
        same = gf.evaluate_runs(over(merged, judged), runs, measures)
        for run, measure in itertools.product(runs, measures):
            each = means[measure, run, name]
            assert each.mean == pytest.approx(scores[run][measure], abs=1e-15)
            assert each.merged == pytest.approx(same[run][measure], abs=1e-15)
            assert each.queries == len(judged)
    assert len(means) == 3 * 2 * 4
    verdicts = {
        (each.measure, each.baseline, each.run, each.assessor): each for each in found.verdicts
    }
    for name, judged in [(None, merged), *by_name.items()]:
        compared = gf.compare(judged, runs, measures)
        same = gf.compare(over(merged, judged), runs, measures)
        for one, other in zip(compared.differences, same.differences, strict=True):
            each = verdicts[one.measure, one.baseline, one.run, name]
            assert (each.verdict, each.merged) == (one.verdict.word, other.verdict.word)
            assert (each.difference, each.p, each.queries) == (one.difference, one.p, one.queries)
            assert each.changes == (one.verdict.word != other.verdict.word)
    assert len(verdicts) == 2 * 2 * 4
    assert found.changed == tuple(each for each in found.verdicts if each.changes)


def test_all_pairs_another_baseline_and_another_rule():
    people, runs = sample(2)
    for options in (
        {"pairs": "all", "correction": "bonferroni"},
        {"baseline": "new"},
        {"correction": "tukey"},
    ):
        found = conclusions(people, runs, measures="nDCG@3", rule="median", **options)
        merged = gf.judging.merge_judgments(people, "median", names=NAMES)
        wanted = gf.compare(merged, runs, "nDCG@3", **options).differences
        given = [each for each in found.verdicts if each.assessor is None]
        assert [(e.baseline, e.run, e.verdict, e.p) for e in given] == [
            (e.baseline, e.run, e.verdict.word, e.p) for e in wanted
        ]


def test_orders_agree_as_the_coefficients_say():
    people, runs = sample(3, partial=True)
    found = conclusions(people, runs, measures="nDCG@3", resamples=400)
    merged = {**gf.judging.merge_judgments(people, names=NAMES)}
    by_name = {None: merged, **dict(zip(NAMES, people, strict=True))}
    couples = [(each.first, each.second) for each in found.orders]
    assert couples == [*((name, None) for name in NAMES), *itertools.combinations(NAMES, 2)]
    for each in found.orders:
        shared = [query for query in by_name[each.first] if query in by_name[each.second]]
        one, other = (
            gf.evaluate_runs(over(by_name[name], shared), runs, "nDCG@3")
            for name in (each.first, each.second)
        )
        means = [{run: side[run]["nDCG@3"] for run in runs} for side in (one, other)]
        assert each.queries == len(shared)
        assert each.tau == pytest.approx(gf.statistics.kendall_tau(*means))
        wanted = gf.statistics.tau_ap(means[1], means[0], symmetric=each.second is not None)
        assert each.tau_ap == pytest.approx(wanted)
        # Resamples of the queries, drawn here by another generator.
        values = [
            np.array(
                [
                    [side[run].per_query.to_dict()[q]["nDCG@3"] for run in runs]
                    for q in sorted(shared)
                ]
            )
            for side in (one, other)
        ]
        rng = np.random.default_rng(0)
        drawn = []
        for _ in range(400):
            rows = rng.integers(0, len(shared), len(shared))
            sides = [value[rows].mean(axis=0).round(12) for value in values]
            drawn.append(float(kendall_tau_of_rows(*(side[None] for side in sides))[0]))
        low, high = np.quantile([tau for tau in drawn if not math.isnan(tau)], (0.025, 0.975))
        assert (each.tau_low, each.tau_high) == pytest.approx((low, high), abs=0.7)
        assert each.tau_low <= each.tau <= each.tau_high


def test_taus_of_many_rows_are_those_of_each():
    rng = np.random.default_rng(4)
    one, other = rng.random((30, 6)), rng.random((30, 6))
    one[::3], other[::3] = one[::3].round(1), other[::3].round(1)  # some tie
    taus, aps = kendall_tau_of_rows(one, other), tau_ap_of_rows(one, other)
    for row in range(30):
        first, second = dict(enumerate(one[row])), dict(enumerate(other[row]))
        assert taus[row] == pytest.approx(gf.statistics.kendall_tau(first, second))
        if len({*one[row]}) == len({*other[row]}) == 6:
            assert aps[row] == pytest.approx(gf.statistics.tau_ap(first, second))
    assert math.isnan(kendall_tau_of_rows(np.ones((1, 3)), one[:1, :3])[0])
    # Equal scores stand in their order, on both sides.
    assert tau_ap_of_rows(np.array([[1.0, 1.0, 0.0]]), np.array([[2.0, 1.0, 0.0]])).tolist() == [
        1.0
    ]


def literal_items(people, runs, measures, **options):
    """What each disputed item moves and flips, by `compare` on judgments with one grade changed."""
    merged = {
        query: dict(docs) for query, docs in gf.judging.merge_judgments(people, names=NAMES).items()
    }
    usual = gf.compare(merged, runs, measures, interval="t", **options).differences
    found = {}
    for query, doc in sorted((query, doc) for query, docs in merged.items() for doc in docs):
        given = [judged[query][doc] for judged in people if doc in judged.get(query, {})]
        if min(given) == max(given):
            continue
        both = []
        for grade in (min(given), max(given)):
            changed = {**merged, query: {**merged[query], doc: grade}}
            both.append(gf.compare(changed, runs, measures, interval="t", **options).differences)
        changes = {
            (low.measure, low.baseline, low.run): high.difference - low.difference
            for low, high in zip(*both, strict=True)
        }
        flips = [
            (
                now.measure,
                now.baseline,
                now.run,
                now.verdict.word,
                low.verdict.word,
                high.verdict.word,
            )
            for now, low, high in zip(usual, *both, strict=True)
            if {low.verdict.word, high.verdict.word} != {now.verdict.word}
        ]
        found[query, doc] = changes, flips
    return found


@pytest.mark.parametrize(
    ("seed", "partial", "options"),
    [
        (5, False, {}),
        (6, True, {"pairs": "all", "correction": "none"}),
        (7, False, {"policy": {"empty": "skip"}}),
        (8, False, {"correction": "max-t", "queries": 6, "docs": 4}),
    ],
    ids=["holm", "all pairs", "queries may drop out", "a joint test"],
)
def test_the_items_to_settle_are_those_that_matter(seed, partial, options):
    shape = {name: options.pop(name) for name in ("queries", "docs") if name in options}
    people, runs = sample(seed, partial=partial, **(shape or {"queries": 7, "docs": 5}))
    measures = ["nDCG@2", "P@1"]
    found = conclusions(people, runs, measures=measures, **options)
    wanted = literal_items(people, runs, measures, **options)
    moving = {
        item
        for item, (changes, flips) in wanted.items()
        if flips or any(abs(c) > 1e-12 for c in changes.values())
    }
    assert {(each.query, each.doc) for each in found.settle} == moving
    assert found.unmoved == len(wanted) - len(moving)
    assert found.untried == 0
    flipping = 0
    for each in found.settle:
        changes, flips = wanted[each.query, each.doc]
        given = [(f.measure, f.baseline, f.run, f.merged, f.lowest, f.highest) for f in each.flips]
        assert given == flips, (each.query, each.doc)
        flipping += bool(flips)
        own = {key: change for key, change in changes.items() if key[0] == each.measure}
        assert each.change == pytest.approx(own[each.measure, each.baseline, each.run], abs=1e-12)
        assert abs(each.change) == pytest.approx(max(map(abs, own.values())), abs=1e-12)
    order = [
        (-len(e.flips), measures.index(e.measure), -round(abs(e.change), 9)) for e in found.settle
    ]
    assert order == sorted(order)
    if seed == 6:
        assert flipping > 0  # so that it is tried at all


def test_by_hand():
    # x puts b first, y puts a first, so that DCG@1 of a query is the grade of the one or of the other.
    rest = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 0}}
    people = [{"q0": {"a": 1, "b": 0}, **rest}, {"q0": {"a": 0, "b": 1}, **rest}]
    runs = {
        "x": {f"q{i}": {"a": 1, "b": 2} for i in range(4)},
        "y": {f"q{i}": {"a": 2, "b": 1} for i in range(4)},
    }
    found = conclusions(people, runs, measures="DCG@1")
    means = {(each.run, each.assessor): each.mean for each in found.means}
    # Merged, a and b of q0 have 0.5 each: x has 0.5 / 4, y (0.5 + 2 + 1 + 1) / 4.
    assert means == {
        ("x", None): 0.125, ("y", None): 1.125,
        ("x", "ann"): 0, ("y", "ann"): 1.25,
        ("x", "bob"): 0.25, ("y", "bob"): 1,
    }  # fmt: skip
    assert [each.tau for each in found.orders] == [1, 1, 1]
    # From grade 0 to 1, q0's a moves y by 1/4; q0's b moves x by as much, and the difference the other way.
    assert [(each.doc, each.change, each.merged) for each in found.settle] == [
        ("a", 0.25, 0.5),
        ("b", -0.25, 0.5),
    ]
    assert found.settle[0].grades == {"ann": 1, "bob": 0}
    assert found.settle[0].difference == 1
    # y − x is 0, 2, 1, 1 merged: t = 1 / (0.816 / 2) = 2.45, p = 0.092. With a of grade 1, or b of grade 0, it is
    # 0.5, 2, 1, 1: t = 1.125 / (0.629 / 2) = 3.58, p = 0.037, so the verdict hangs on both.
    (one,), (other,) = (each.flips for each in found.settle)
    assert (one.merged, one.lowest, one.highest) == ("inconclusive", "inconclusive", "better")
    assert (other.merged, other.lowest, other.highest) == ("inconclusive", "better", "inconclusive")
    # 1, 2, 1, 1 of ann: t = 1.25 / (0.5 / 2) = 5, p = 0.015; −1, 2, 1, 1 of bob: inconclusive.
    verdicts = {each.assessor: each.verdict for each in found.verdicts}
    assert verdicts == {None: "inconclusive", "ann": "better", "bob": "inconclusive"}
    assert [each.assessor for each in found.changed] == ["ann"]
    text = gf.judging.agreement(
        people, names=["ann", "bob"], runs=runs, measures="DCG@1", resamples=20
    )
    assert "1 of 2 verdicts by single assessors differ" in " ".join(text.rendered().split())
    assert "1 of the 2 verdicts by single assessors differs" in " ".join(str(text).split())


def test_lists_longer_than_the_cutoff():
    people, runs = sample(14)
    for number, run in enumerate(runs.values()):
        for query, docs in run.items():
            docs |= {f"{query}x{i}": float((i * (number + 3)) % 4) for i in range(30)}
    found = conclusions(people, runs, measures="nDCG@3", policy={"ties": "average"})
    merged = gf.judging.merge_judgments(people, names=NAMES)
    compared = gf.compare(merged, runs, "nDCG@3", policy={"ties": "average"})
    assert [*found.notes] == compared.basis
    wanted = literal_items(people, runs, ["nDCG@3"], policy={"ties": "average"})
    assert len(found.settle) > 5
    for each in found.settle:
        changes, _ = wanted[each.query, each.doc]
        change = changes[each.measure, each.baseline, each.run]
        assert each.change == pytest.approx(change, abs=1e-12)


def test_who_graded_how_much_is_said():
    people, runs = sample(9, partial=True)
    found = gf.judging.agreement(people, names=NAMES, runs=runs, measures="nDCG@3", resamples=20)
    shares = {each.assessor: each for each in found.conclusions.shares}
    merged = gf.judging.merge_judgments(people, names=NAMES)
    for name, judged in zip(NAMES, people, strict=True):
        each = shares[name]
        assert (each.queries, each.of_queries) == (len(judged), len(merged))
        assert each.items == sum(map(len, judged.values()))
        assert each.of_items == sum(len(merged[query]) for query in judged)
    said = " ".join(str(found).split())
    assert f"eve graded 5 of {len(merged)} queries" in said
    assert "the others are unjudged for them" in said


def test_agreement_by_query():
    people = [
        {"q2": {"a": 0, "b": 2}, "q10": {"c": 1}},
        {"q2": {"a": 0, "b": 0}},
        {"q2": {"a": 1}},
    ]
    found = gf.judging.agreement(people, names=NAMES, resamples=1)
    one, other = found.by_query
    # a: of three pairs one agrees, b: none of one; the spans are 1 and 2.
    assert (one.query, one.items, one.shared) == ("q2", 2, 2)
    assert (one.agreement, one.spread) == (pytest.approx(1 / 6), 1.5)
    assert (other.query, other.items, other.shared) == ("q10", 1, 0)
    assert math.isnan(other.agreement)
    assert found.to_dict()["by_query"][1]["spread"] is None
    assert found.conclusions is None
    assert found.to_dict()["conclusions"] is None


def test_every_format_has_it(tmp_path):
    people, runs = sample(10)
    found = gf.judging.agreement(people, names=NAMES, runs=runs, resamples=20)
    for name in ("found.md", "found.html", "found.txt", "found.tex"):
        found.write(tmp_path / name)
        assert "runs by assessor" in (tmp_path / name).read_text()
    told = json.loads(found.to_json())["conclusions"]
    assert {
        "rule",
        "runs",
        "measures",
        "shares",
        "means",
        "orders",
        "verdicts",
        "settle",
    } <= told.keys()
    assert gf.judging.agreement(people, names=NAMES, runs=runs, resamples=20) == found


def test_chunks_a_dialect_and_files_are_for_runs(tmp_path):
    people, runs = sample(11)
    chunked = {
        name: {
            query: {f"{doc}#0": score for doc, score in docs.items()} for query, docs in run.items()
        }
        for name, run in runs.items()
    }
    plain = conclusions(people, runs, measures="nDCG@3")
    assert conclusions(people, chunked, measures="nDCG@3", chunks="#").means == plain.means
    for name, run in runs.items():
        gf.write_run(run, tmp_path / f"{name}.csv")
    rows = [
        {"query": query, "doc": doc, "worker": name, "grade": grade}
        for name, judged in zip(NAMES, people, strict=True)
        for query, docs in judged.items()
        for doc, grade in docs.items()
    ]
    files = [tmp_path / f"{name}.csv" for name in runs]
    found = gf.judging.agreement(
        rows,
        runs=files,
        measures="nDCG@3",
        resamples=20,
        columns={"assessor": "worker", "score": "score"},
    )
    assert found.conclusions == plain
    dialect = conclusions(people, runs, measures="ndcg_cut_3", dialect="trec_eval", rule="majority")
    assert {each.measure for each in dialect.means} == {each.measure for each in dialect.verdicts}


def test_nothing_given_is_changed_and_no_warning_is_new():
    people, runs = sample(12)
    before = json.dumps([people, runs])
    conclusions(people, runs)
    assert json.dumps([people, runs]) == before


RUNS = {"x": {"q": {"a": 1}}, "y": {"q": {"b": 1}}}
PEOPLE = [{"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": {"x": RUNS["x"]}}, "at least 2 runs"),
        ({"runs": RUNS, "baseline": "z"}, "one of the runs, found 'z'"),
        ({"runs": RUNS, "rule": "average"}, "or one of the assessors '1', '2', found 'average'"),
        ({"runs": RUNS, "rule": 3}, "rule: expected mean"),
        ({"runs": RUNS, "correction": "tuckey"}, "correction"),
        ({"runs": RUNS, "pairs": "some"}, "pairs"),
        ({"runs": RUNS, "measures": "gm_AP"}, "a geometric mean|measure"),
        ({"runs": {"x": RUNS["x"], "y": {"r": {"a": 1}}}}, "run 'y'"),
        ({"policy": {"missing": "skip"}}, "policy: expected runs, which it applies to"),
        ({"chunks": "#"}, "chunks: expected runs"),
        ({"baseline": "x"}, "baseline: expected runs"),
        ({"measures": ["AP"]}, "measures: expected runs"),
        ({"rule": "max"}, "rule: expected runs"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(gf.errors.GainfulError, match=said):
        gf.judging.agreement(PEOPLE, resamples=1, **options)


def test_on_the_command_line(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, runs = sample(13)
    for name, judged in zip(NAMES, people, strict=True):
        gf.write_judgments(judged, f"{name}.qrels")
    for name, run in runs.items():
        gf.write_run(run, f"{name}.run")
    asked = [option for name in runs for option in ("--run", f"{name}.run")]
    done = cli(
        "agreement",
        "*.qrels",
        *asked,
        "-m",
        "nDCG@3",
        "-m",
        "P@2",
        "--resamples",
        "20",
        "-f",
        "json",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["conclusions"]
    wanted = gf.judging.agreement(
        [f"{name}.qrels" for name in NAMES],
        runs=[f"{name}.run" for name in runs],
        measures=["nDCG@3", "P@2"],
        resamples=20,
    )
    assert told == wanted.to_dict()["conclusions"]
    done = cli(
        "agreement",
        "*.qrels",
        "--run",
        "*.run",
        "--pairs",
        "all",
        "--baseline",
        "new",
        "--rule",
        "median",
        "--missing",
        "skip",
    )
    assert "merged by median" in done.stdout
    assert "other tables: pairs, leanings" in done.stdout
    assert "items to settle first" not in done.stdout
    assert Path("ann.qrels").exists()
    for wrong, said in (
        (("-m", "P@2"), "--measure requires --run."),
        (("--missing", "skip"), "--missing requires --run."),
        (("--chunks", "#"), "--chunks requires --run."),
        (("--run", "new.run"), "at least 2 runs"),
        (("--run", "*.x"), "files that match the pattern, found none"),
    ):
        done = cli("agreement", "*.qrels", *wrong)
        assert (done.returncode, said in " ".join(done.stderr.split())) == (2, True), done.stderr
