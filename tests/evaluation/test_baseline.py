"""Saved baselines read back bit for bit, and what is wrong with one is said."""

import gzip
import json
import math
import sys

import numpy as np
import pytest

import gainful as gf
from gainful.evaluation.saved_baseline import Baseline, is_baseline, read_baseline, save_baseline

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEASURES = [
    "nDCG@10",
    "nDCG(gain={0: 0, 0.1: 0.2, 1: 0.1, 2: 3, e: 4})",
    "CG",
    "RR",
    "NumRet",
    "GMAP",
    "RBP(p=0.95)",
]
ODD = [
    "007",
    "7",
    " ",
    "two words",
    "a\tb\nc",
    "quo\"te's",
    "größe",
    "日本",
    "\U0001f600",
    "\\u0041",
    "q\u2028",
    "\x7f",
]


def some_scores(seed=0, **policy):
    """Scores of a random run with missing and empty queries, and odd ids."""
    rng = np.random.default_rng(seed)
    judgments, run = {}, {}
    for place, query in enumerate([*ODD, *map(str, range(30))]):
        grades = rng.integers(0, 3, 8) * (place % 5 > 0)
        judgments[query] = {
            f"d{doc}": int(grade) for doc, grade in enumerate(grades[: 3 + place % 6])
        }
        if place % 4:
            run[query] = {
                f"d{doc}": float(rng.random()) for doc in rng.choice(20, 12, replace=False)
            }
    return gf.evaluate(judgments, run, MEASURES, policy=gf.Policy(**policy))


def bits(array):
    return array.dtype, array.shape, array.tobytes()


def assert_same(one, other):
    assert one.measures == other.measures
    assert one.policy == other.policy
    assert one.queries == other.queries
    assert bits(one.counted) == bits(other.counted)
    assert bits(one.judged) == bits(other.judged)
    np.testing.assert_array_equal(np.isnan(one.values), np.isnan(other.values))
    known = ~np.isnan(one.values)
    assert one.values[known].tobytes() == other.values[known].tobytes()
    for name in ("signatures", "judgments", "runs", "coverage", "version"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"empty": "skip"},
        {"empty": "nan"},
        {"missing": "skip"},
        {"missing": "skip", "empty": "nan", "ties": "average", "precision": "single"},
        {"unjudged": 0.1, "absent": math.e},
    ],
    ids=str,
)
@pytest.mark.parametrize("ending", ["json", "anything", "json.gz", "json.zst"])
def test_a_round_trip_keeps_every_bit(policy, ending, tmp_path):
    scores = some_scores(len(policy), **policy)
    path = tmp_path / f"main.{ending}"
    save_baseline(scores, path)
    read = read_baseline(path)
    assert_same(read, Baseline.of(scores))
    assert read.name == str(path)
    assert is_baseline(path)
    assert not read.values.flags.writeable
    assert not read.counted.flags.writeable
    assert not read.judged.flags.writeable
    for place, measure in enumerate(scores.measures):
        name = str(measure)
        assert read.signatures[name] == scores.signature(measure)
        assert (read.judgments[name], read.runs[name]) == scores.hashes(measure)
        kept = read.values[read.counted[:, place], place]
        np.testing.assert_array_equal(kept, scores.values[scores.counted[:, place], place])
    assert read.coverage == scores.coverage.counts()
    again = tmp_path / f"again.{ending}"
    read.write(again)
    assert again.read_bytes() == path.read_bytes()


def test_not_counted_and_not_a_number_are_told_apart(tmp_path):
    judgments = {"a": {"x": 1}, "b": {"x": 0}, "c": {"x": 1}}
    run = {"a": {"x": 1.0}, "b": {"x": 1.0}}
    policy = gf.Policy(empty="nan", missing="skip")
    path = tmp_path / "b.json"
    save_baseline(gf.evaluate(judgments, run, ["nDCG", "CG"], policy=policy), path)
    text = path.read_text()
    assert json.loads(text)["values"] == {"nDCG": [1.0, "nan"], "CG": [1.0, 0.0]}
    assert "NaN" not in text
    read = read_baseline(path)
    assert read.counted.all()
    assert math.isnan(read.values[1, 0])
    policy = gf.Policy(empty="skip")
    save_baseline(gf.evaluate(judgments, run, ["nDCG", "CG"], policy=policy), path)
    assert json.loads(path.read_text())["values"] == {
        "nDCG": [1.0, None, 0.0],
        "CG": [1.0, 0.0, 0.0],
    }
    read = read_baseline(path)
    assert read.counted.tolist() == [[True, True], [False, True], [True, True]]
    assert math.isnan(read.values[1, 0])


def test_other_values_that_json_has_no_numbers_for(tmp_path):
    baseline = Baseline.of(
        gf.evaluate_arrays(labels=[[1, 0]] * 4, scores=[[1, 0]] * 4, measures="CG")
    )
    values = np.array([[math.inf], [-math.inf], [-0.0], [5e-324]])
    path = tmp_path / "b.json"
    changed = Baseline(
        **{name: getattr(baseline, name) for name in Baseline.__slots__ if name != "values"},
        values=values,
    )
    changed.write(path)
    assert json.loads(path.read_text())["values"]["CG"] == ["inf", "-inf", -0.0, 5e-324]
    assert read_baseline(path).values.tobytes() == values.tobytes()


@pytest.mark.parametrize("unjudged", ["zero", "condense", 0, 1, 0.5])
def test_how_many_documents_of_each_query_are_judged(unjudged, tmp_path):
    judgments = {
        "q1": {"a": 1, "b": 0, "c": 2},
        "q2": {"a": 1},
        "q3": {"a": 0, "b": 0},
        "q4": {"a": 1, "b": 1},
    }
    run = {"q1": {"y": 3.0, "x": 2.0, "a": 1.0}, "q2": {"z": 1.0}, "q3": {"a": 1.0}}
    policy = gf.Policy(unjudged=unjudged, missing="skip")
    qrels, trec = tmp_path / "j.qrels", tmp_path / "r.run"
    gf.write_judgments(judgments, qrels)
    gf.write_run(run, trec)
    for given in ((judgments, run), (qrels, trec)):
        scores = gf.evaluate(*given, ["nDCG@2"], policy=policy)
        assert dict(zip(scores.queries, scores.judged.tolist(), strict=True)) == {
            "q1": 3,
            "q2": 1,
            "q3": 2,
        }
        assert scores.judged.dtype == np.int64
        assert not scores.judged.flags.writeable


def test_the_judged_documents_of_batches():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 60_000)
    labels, given = rng.integers(0, 3, sizes.sum()), rng.random(sizes.sum())
    scores = gf.evaluate_arrays(
        labels=labels, scores=given, group=sizes, policy=gf.Policy(empty="skip")
    )
    expected = dict(enumerate(sizes.tolist()))
    assert scores.judged.tolist() == [expected[int(query)] for query in scores.queries]
    assert len(scores.queries) < 60_000


def test_the_hashes_are_those_of_the_signature():
    scores = some_scores()
    for name in ("nDCG@10", "CG"):
        judgments, run = scores.hashes(name)
        assert f"judgments={judgments} run={run}" in scores.signature(name)
    with pytest.raises(gf.errors.InputError, match="a measure that was evaluated"):
        scores.hashes("P@5")


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "b.json"
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1}}

    def double(grade):
        return 2 * grade

    scores = gf.evaluate(judgments, run, gf.Measure("nDCG", gain=double))
    with pytest.raises(
        gf.errors.InputError,
        match=r"found 'nDCG\(gain=<double>\)'. gainful.measures.define names",
    ):
        save_baseline(scores, path)
    topics = gf.subtopics.evaluate_subtopics({"q": {"1": {"a": 1}}}, run, "alpha_nDCG@5")
    with pytest.raises(gf.errors.InputError, match="found 'alpha_nDCG@5'"):
        save_baseline(topics, path)
    assert topics.judged.tolist() == [1]
    for other in (None, {"run": scores}, 0.5):
        with pytest.raises(gf.errors.InputError, match="scores: expected what evaluate returns"):
            save_baseline(other, path)
    halves = "\ud83d\ude00"
    with pytest.raises(gf.errors.InputError, match="ids of whole characters"):
        save_baseline(gf.evaluate({halves: {"a": 1}}, {halves: {"a": 1}}), path)
    with pytest.raises(gf.errors.InputError, match="a file that can be written"):
        save_baseline(gf.evaluate(judgments, run), tmp_path / "no" / "b.json")
    with pytest.raises(gf.errors.InputError, match="path: expected the path of a file"):
        save_baseline(gf.evaluate(judgments, run), 5)
    assert list(tmp_path.iterdir()) == []


def test_it_says_what_it_is():
    baseline = Baseline.of(gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["nDCG@5", "CG"]))
    assert repr(baseline) == "Baseline(nDCG@5, CG; 1 query)"
    assert (baseline.name, baseline.version) == ("baseline", gf.__version__)
    with pytest.raises(AttributeError):
        baseline.version = "2"


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "main.json"
    save_baseline(
        gf.evaluate({"a": {"x": 1}, "b": {"x": 2}}, {"a": {"x": 1}}, ["nDCG@5", "CG"]), path
    )
    return path


DELETED = object()


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (["gainful"], "run", ": expected a baseline that gainful saved, found other JSON"),
        (["gainful"], DELETED, ": expected a baseline that gainful saved"),
        (["format"], 2, ": expected a baseline of format 1, found format 2, of gainful '"),
        (["format"], True, ": expected a baseline of format 1, found format True"),
        (["format"], "1", ": expected a baseline of format 1, found format '1'"),
        (["format"], DELETED, ": expected a baseline of format 1, found format None"),
        (["version"], DELETED, ", version: expected a string, found None. Save it again"),
        (["measures"], DELETED, ", measures: expected measures in the notation, found None"),
        (["measures", 0], 5, ", measures: expected"),
        (["measures", 0], "nDGC", ", measures: expected a measure from the catalogue, found 'nDGC'"),
        (["measures", 0], "nDCG@5,10", ", measures: expected one measure, found 2"),
        (["measures", 0], "nDCG@0", ", measures: expected a whole number"),
        (["measures", 0], "nDCG@6", ", values: expected for each measure, a number or null"),
        (["policy"], [], ", policy: expected choices of a policy"),
        (["policy", "tie"], "doc", ", policy: expected choices of a policy"),
        (["policy", "ties"], "docs", ", policy ties: expected auto or doc"),
        (["policy", "ties"], "auto", ", policy: expected choices of a policy, with a decided answer"),
        (["policy", "ties"], DELETED, ", policy: expected choices of a policy, with a decided"),
        (["policy", "empty"], None, ", policy empty: expected zero or"),
        (["coverage"], 5, ", coverage: expected the counts judged, evaluated"),
        (["coverage", "missing"], DELETED, ", coverage: expected the counts judged, evaluated"),
        (["signatures", "CG"], DELETED, ", signatures: expected a string for each measure"),
        (["judgments"], {}, ", judgments: expected a string for each measure, found {}"),
        (["queries"], 5, ", queries: expected texts, each once, found 5"),
        (["queries"], ["a", "a"], ", values: expected for each measure, a number or null"),
        (["queries"], ["a"], ", values: expected for each measure, a number or null for each query"),
        (["judged"], [1], ", judged: expected a non-negative integer for each query, found [1]"),
        (["judged", 0], 2**64, ", judged: expected a non-negative integer"),
        (["values"], [], ", values: expected for each measure"),
        (["values", "CG"], DELETED, ", values: expected for each measure"),
        (["values", "CG"], None, ", values: expected for each measure"),
        (["values", "CG"], [1.0, 2.0, 3.0], ", values: expected for each measure"),
        (["values", "CG", 0], "high", ", values: expected for each measure"),
        (["values", "CG", 0], "0.5", ", values: expected for each measure"),
        (["values", "CG", 0], [1], ", values: expected for each measure"),
        (["values", "CG", 0], 10**400, ", values: expected for each measure"),
    ],
)  # fmt: skip
def test_a_file_that_was_edited(place, value, told, saved):
    content = json.loads(saved.read_text())
    *way, last = place
    inner = content
    for key in way:
        inner = inner[key]
    if value is DELETED:
        del inner[last]
    else:
        inner[last] = value
    saved.write_text(json.dumps(content))
    with pytest.raises(gf.errors.InputError) as problem:
        gf.comparison.read_baseline(saved)
    assert str(problem.value).startswith(f"{saved}{told}")


def test_what_may_be_edited(saved):
    """Other tools indent, order keys, and write whole floats without a point."""
    before = read_baseline(saved)
    content = json.loads(saved.read_text())
    content["values"]["CG"] = [int(value) for value in content["values"]["CG"]]
    del content["policy"]["precision"]  # a choice that is younger than the file
    saved.write_bytes(b"\xef\xbb\xbf" + json.dumps(content, indent=2).encode())
    assert is_baseline(saved)
    assert_same(read_baseline(saved), before)
    saved.write_text(json.dumps(content, sort_keys=True))
    assert_same(read_baseline(saved), before)


def test_a_file_that_is_cut_off_is_refused_at_every_length(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole.rstrip()), 7):
        saved.write_bytes(whole[:length])
        with pytest.raises(gf.errors.InputError, match=str(saved)):
            read_baseline(saved)
    for packed in (gzip.compress(whole), zstd.compress(whole)):
        saved.write_bytes(packed[: len(packed) // 2])
        with pytest.raises(gf.errors.InputError, match="cut off or damaged"):
            read_baseline(saved)


@pytest.mark.parametrize(
    "content", ["[]", "5", '{"a": 1, "a": 2}', "q Q0 d 1 0.5 t\n", b"\xff\x00", "[" * 10**5]
)
def test_other_files(content, files):
    path = files("other", content)
    assert not is_baseline(path)
    with pytest.raises(gf.errors.InputError, match=str(path)):
        read_baseline(path)


def test_telling_a_baseline_never_fails(tmp_path, saved):
    assert is_baseline(saved)
    assert is_baseline(str(saved))
    for other in (
        "",
        "-",
        "no such file",
        "a\0b",
        tmp_path,
        tmp_path / "no" / "such",
        None,
        1.5,
        {},
    ):
        assert not is_baseline(other)
    for content in (b"", b"\x1f\x8b", b"\x1f\x8bgarbage", b"\x28\xb5\x2f\xfdgarbage", b"\xff" * 99):
        saved.write_bytes(content)
        assert not is_baseline(saved)


def test_reading_what_is_no_file(tmp_path):
    with pytest.raises(gf.errors.InputError, match="expected a file, found none of that name"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(
        gf.errors.InputError, match="baseline: expected the path of a file, found 5"
    ):
        read_baseline(5)
