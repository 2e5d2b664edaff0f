"""What is judged and what is not: every part of an output says the same of it."""

import itertools
import math
import random
import warnings
from decimal import Decimal

import numpy as np
import pytest

import gainful as gf
from input_forms import FORMS, as_dicts
from random_runs import random_case

pytestmark = pytest.mark.usefixtures("on_engine")

TIES = ("doc", "doc_ascending", "order", "average", "best", "worst")
NEGATIVE = ("keep", "zero", "both", "unjudged")


def without_negative(judgments):
    return {q: {d: g for d, g in docs.items() if g >= 0} for q, docs in judgments.items()}


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("ties", TIES)
def test_coverage_says_what_the_measures_say(ties):
    """Also where documents tie across the cutoff, and where grades are negative."""
    fractions = 0
    for seed, negative in itertools.product(range(40), NEGATIVE):
        judgments, run = random_case(f"{seed} {ties}")
        k = 1 + seed % 4
        measures = [f"Unjudged@{k}", f"Judged@{k}", f"NumRet@{k}", f"UnjudgedMass@{k}"]
        policy = gf.Policy(ties=ties, negative=negative)
        scores = gf.evaluate(judgments, run, measures, policy=policy)
        rows = scores.per_query.to_dict().values()
        unjudged = math.fsum(row[f"Unjudged@{k}"] * k for row in rows)
        seen = sum(row[f"NumRet@{k}"] for row in rows)
        judged = math.fsum(row[f"Judged@{k}"] * row[f"NumRet@{k}"] for row in rows)
        assert scores.coverage.unjudged == pytest.approx(unjudged, abs=1e-8)
        assert scores.coverage.seen == seen
        assert scores.coverage.seen - scores.coverage.unjudged == pytest.approx(judged, abs=1e-8)
        for row in rows:
            assert (row[f"UnjudgedMass@{k}"] == 0) == (row[f"Unjudged@{k}"] == 0)
        fractions += scores.coverage.unjudged % 1 > 0
    assert (fractions > 10) == (ties == "average")


def test_two_documents_tie_across_the_cutoff():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "u": 1.0, "v": 1.0, "w": 1.0}}
    for ties, unjudged in (("doc", 1), ("doc_ascending", 0), ("average", 0.75), ("best", 0)):
        policy = gf.Policy(ties=ties)
        scores = gf.evaluate(judgments, run, "Unjudged@1", policy=policy)
        assert scores["Unjudged@1"] == scores.coverage.unjudged == unjudged
        assert scores.coverage.seen == 1
        assert type(scores.coverage.unjudged) is (float if ties == "average" else int)


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_a_negative_grade_that_is_no_judgment_is_as_if_it_were_not_there():
    measures = [
        family.name
        for family in gf.measures.families(needs="grades")
        if family.name not in ("infAP", "SDCG")
    ]
    fixed = ("Unjudged", "grid_DCG", "grid_nDCG")
    measures = [gf.Measure(name, cutoff=5 if name in fixed else None) for name in measures]
    for seed in range(60):
        rng = random.Random(seed)  # noqa: S311
        judgments, run = random_case(seed)
        choices = {
            "ties": rng.choice(["doc", "best", "order"]),
            "unjudged": rng.choice(["zero", "condense", 1.0]),
            "absent": rng.choice(["zero", "lowest"]),
        }
        left = without_negative(judgments)
        if not any(left.values()):
            continue
        marked = gf.evaluate(
            judgments, run, measures, policy=gf.Policy(**choices, negative="unjudged")
        )
        plain = gf.evaluate(left, run, measures, policy=gf.Policy(**choices))
        assert marked.per_query.to_dict() == plain.per_query.to_dict()
        assert marked.coverage == plain.coverage
        assert [marked.hashes(each) for each in measures] == [
            plain.hashes(each) for each in measures
        ]


def test_infap_reads_the_marks_itself():
    judgments, run = (
        {"q": {"a": 1, "b": -1, "c": 1, "d": 0}},
        {"q": {"b": 4, "a": 3, "d": 2, "c": 1}},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.evaluate(judgments, run, ["infAP", "bpref", "GMbpref", "NumNonrelRet"])
    with pytest.raises(gf.errors.PolicyError, match=r"infAP: .* found negative=unjudged"):
        gf.evaluate(judgments, run, "infAP", policy=gf.Policy(negative="unjudged"))


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_documents_that_are_marked_alone_are_warned_of_from_every_form(form, tmp_path):
    """Where `negative=unjudged` leaves no retrieved document judged."""
    judged = [("q1", "a", -1.0), ("q1", "b", 1.0), ("q2", "c", 1.0)]
    found = [("q1", "a", 2.0), ("q1", "z", 0.5), ("q2", "y", 1.0)]
    judgments, run = form.make(judged, "judgments", tmp_path), form.make(found, "run", tmp_path)
    said = "no retrieved document is judged: judgments have 'b', 'c'; the run has 'a', 'y', 'z'"
    with pytest.warns(gf.errors.GainfulWarning, match=said) as seen:
        gf.evaluate(judgments, run, "nDCG@10", policy=gf.Policy(negative="unjudged"))
    assert len(seen) == 1


MARKED = [("q1", "a", 1.0), ("q1", "b", -1.0), ("q2", "a", -1.0), ("q2", "c", 0.0)]
RUN = [("q1", "a", 2.0), ("q1", "b", 3.0), ("q2", "c", 1.0), ("q2", "a", 2.0)]
WARNING = r"2 documents have the grade −1, the only negative one.*negative=unjudged.*negative=keep"


ONE_OF_EACH = ("TREC", "ragged TREC", "CSV.gz", "JSON lines", "JSON dicts", "JSON records",
               "Parquet folder", "pandas", "Arrow reader", "dicts")  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_minus_one_as_the_only_negative_grade_is_warned_of_from_every_form(form, tmp_path):
    judgments, run = form.make(MARKED, "judgments", tmp_path), form.make(RUN, "run", tmp_path)
    with pytest.warns(gf.errors.GainfulWarning, match=WARNING) as seen:
        gf.evaluate(judgments, run, "nDCG@10")
    assert len(seen) == 1
    # A policy that says what it is; all of them where the form is one of each way to be read.
    answers = NEGATIVE if form.name in ONE_OF_EACH else NEGATIVE[FORMS.index(form) % 4 :][:1]
    for answer in answers:
        folder = tmp_path / answer
        folder.mkdir()
        judgments, run = form.make(MARKED, "judgments", folder), form.make(RUN, "run", folder)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gf.evaluate(judgments, run, "nDCG@10", policy=gf.Policy(negative=answer))


JUDGED, RETURNED = as_dicts(MARKED), as_dicts(RUN)
OTHER = {"q1": {"b": 1.0, "x": 0.5, "a": 0.2}, "q2": {"a": 1.0, "c": 0.5}}
CALLS = {
    "evaluate_runs": lambda j, **p: gf.evaluate_runs(j, {"one": RETURNED, "two": OTHER}, **p),
    "compare": lambda j, **p: gf.compare(j, {"one": RETURNED, "two": OTHER}, **p),
    "explain": lambda j, **p: gf.explain(j, RETURNED, query="q1", **p),
    "attribute": lambda j, **p: gf.explanation.attribute(j, RETURNED, OTHER, query="q1", **p),
    "why": lambda j, **p: gf.why(j, RETURNED, dialects=["catboost"], **p),
    "which": lambda j, **p: gf.explanation.which(j, RETURNED, got="0.5", **p),
    "bounds": lambda j, **p: gf.bounds(j, RETURNED, "nDCG@2", grades=(-1, 2), **p),
    "difference": lambda j, **p: gf.bounds(j, RETURNED, "DCG@2", grades=(-1, 2), against=OTHER, **p),
    "random_order": lambda j, **p: gf.judging.random_order(j, RETURNED, **p),
    "curve": lambda j, **p: gf.curve(j, RETURNED, **p),
    "pool": lambda j, **p: gf.pool([RETURNED], judgments=j, **p),
    "next_to_judge": lambda j, **p: gf.judging.next_to_judge(j, [OTHER], **p),
    "pool_bias": lambda j, **p: gf.judging.pool_bias(j, {"one": RETURNED, "two": OTHER}, **p),
    "arrays": lambda j, **p: gf.evaluate_arrays(
        labels=[g for docs in j.values() for g in docs.values()],
        scores=range(sum(map(len, j.values()))),
        query=[q for q, docs in j.items() for _ in docs],
        **p,
    ),
    "subtopics": lambda j, **p: gf.subtopics.evaluate_subtopics(
        {q: {"1": docs} for q, docs in j.items()}, RETURNED, "alpha_nDCG@2", **p
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_it_is_warned_of_wherever_judgments_are_read_and_once(name):
    with pytest.warns(
        gf.errors.GainfulWarning, match="the grade −1, the only negative one"
    ) as seen:
        CALLS[name](JUDGED)
    assert len(seen) == 1
    assert seen[0].filename == __file__


@pytest.mark.parametrize("name", CALLS)
def test_it_is_not_where_the_policy_or_another_grade_says_what_it_is(name):
    others = {"q1": JUDGED["q1"], "q2": {"a": -2.0, "c": 0.0}}
    half = {"q1": {**JUDGED["q1"], "d": -0.5}, "q2": {"c": 1.0}}
    none = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 1.0, "a": 0.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if name not in ("explain", "attribute"):  # which read one query alone
            CALLS[name](others)
        CALLS[name](half)
        CALLS[name](none)
        for answer in ("keep", "zero", "unjudged"):
            CALLS[name](JUDGED, policy=gf.Policy(negative=answer))


def test_sampled_pools_mark_what_was_not_drawn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.judging.inferred_ndcg({"q": {"a": (1, 2), "b": (1, -1)}}, {"q": {"a": 2.0, "b": 1.0}})


def test_empty_queries_left_out_of_every_measure():
    """As if they were not judged: also of measures that have a value there."""
    measures = ["nDCG@3", "DCG@3", "CG", "Judged@2", "NumRet"]
    for seed in range(40):
        judgments, run = random_case(seed)
        full = {q: docs for q, docs in judgments.items() if max(docs.values(), default=0) > 0}
        if not full.keys() & run.keys():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
            left = gf.evaluate(judgments, run, measures, policy=gf.Policy(empty="skip_all"))
            plain = gf.evaluate(full, run, measures)
        assert left.per_query.to_dict() == plain.per_query.to_dict()
        assert left.means == plain.means
        assert set(left.coverage.empty) == judgments.keys() - full.keys()


def literal_minmax(judged, listed, k, absent):
    """The value between the worst and the best of all lists of judged and other documents."""

    def dcg(gains):
        filled = (*gains, *([absent] * (k - len(gains))))[:k]
        return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(filled, 1))

    pool = [*judged, *([0.0] * k)]
    lists = [dcg(some) for size in range(k + 1) for some in itertools.permutations(pool, size)]
    low, high = min(lists), max(lists)
    return None if high - low < 1e-12 else (dcg(listed) - low) / (high - low)


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("absent", [0.0, -1.0, -2.5, 1.0, 0.5])
def test_minmax_of_all_lists_there_are(absent):
    rng, empty = random.Random(str(absent)), 0  # noqa: S311
    for _ in range(120):
        k = rng.choice((1, 2, 3))
        scale = rng.choice(((0,), (0, -1), (-2, -1, 0, 1, 2)))
        judged = {f"d{place}": rng.choice(scale) for place in range(rng.randint(1, 3))}
        docs = rng.sample([*judged, "u"], rng.randint(1, len(judged) + 1))
        run = {"q": {doc: -place for place, doc in enumerate(docs)}}
        listed = [judged.get(doc, 0) for doc in docs]
        expected = literal_minmax(judged.values(), listed, k, absent)
        empty += expected is None
        policy = gf.Policy(absent=absent, empty="nan", negative="keep")
        scores = gf.evaluate({"q": judged}, run, f"nDCG(norm=minmax)@{k}", policy=policy)
        value = float(scores.values[0, 0])
        assert value == pytest.approx(np.nan if expected is None else expected, nan_ok=True)
        assert len(scores.coverage.empty) == (expected is None)
    assert (empty > 5) == (absent == 0)


def test_a_positive_absent_grade_is_a_gain_to_find():
    for measure in ("nDCG@2", "DCG@2", "CG@2", "IDCG@2"):
        scores = gf.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, measure, policy=gf.Policy(absent=1))
        assert scores.coverage.empty == ()
    scores = gf.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, "nDCG@2", policy=gf.Policy(absent=1))
    second = 1 / math.log2(3)
    assert scores["nDCG@2"] == pytest.approx(second / (1 + second))
    whole = gf.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, "nDCG", policy=gf.Policy(absent=1))
    assert whole.coverage.empty == ("q",)  # without a cutoff no rank is open


@pytest.mark.parametrize("dialect", ["quepid", "ntcir", "spark-mllib", "recbole"])
def test_a_dialect_says_itself_what_minus_one_is(dialect):
    """The policy cannot be set beside it, so no warning may advise that."""
    measure = {"spark-mllib": "AP", "ntcir": "nDCG@2"}.get(dialect, "nDCG@2")
    with warnings.catch_warnings():
        warnings.simplefilter("error", gf.errors.GainfulWarning)
        gf.evaluate({"q": {"a": 1, "b": -1}}, {"q": {"a": 0.5, "b": 0.7}}, measure, dialect=dialect)


@pytest.mark.parametrize("grade", [Decimal("0.5"), "0.5", np.float32(0.5)])
def test_the_grade_of_unjudged_documents_is_a_number_of_any_type(grade):
    judgments, run = {"q": {"a": 1}}, {"q": ["b", "a"]}
    found = gf.evaluate(judgments, run, "nDCG", policy={"unjudged": grade})["nDCG"]
    assert found == gf.evaluate(judgments, run, "nDCG", policy={"unjudged": 0.5})["nDCG"]


@pytest.mark.parametrize("grade", [Decimal("nan"), Decimal("sNaN"), Decimal("1e400"), 1j])
def test_a_grade_of_unjudged_documents_that_is_not_finite_is_refused(grade):
    with pytest.raises(gf.errors.PolicyError, match="policy unjudged"):
        gf.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, policy={"unjudged": grade})
