"""One grade of several: hand-worked numbers, literal formulas, crowd-kit's answers, files, and what is refused."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
import literal_merging as literal
from gainful.arithmetic.kernels import dawid_skene as kernels
from gainful.rows.several_assessors import RULES

NAMES = ("ann", "bob", "cid", "dot", "eve")
RECORDED = Path(__file__).parents[2] / "stand_ins" / "dawid_skene.json"
RUN = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"d": 2, "a": 1}}


def random_items(seed, people=5):
    """{query: {doc: {assessor: grade}}}, each document with a grade at least."""
    rng = random.Random(seed)  # noqa: S311
    scale = rng.choice([(0, 1), (0, 1, 2, 3), (-1, 0, 2.5), (0.1, 0.2, 0.3)])
    found = {}
    for at in range(rng.randint(5, 25)):
        some = rng.sample(NAMES[:people], rng.randint(1, people))
        docs = found.setdefault(f"q{at // 4}", {})
        docs[f"d{at}"] = {name: rng.choice(scale) for name in some}
    return found


def each(given):
    return [(query, doc, grades) for query, docs in given.items() for doc, grades in docs.items()]


def fit_for_all(given):
    names = {name for _, _, grades in each(given) for name in grades}
    return len(names) > 1 and any(len(grades) > 1 for _, _, grades in each(given))


def test_the_rules_are_their_definitions():
    compared = 0
    for seed in range(20):
        given = random_items(seed)
        if not fit_for_all(given):
            continue
        order = sorted({name for _, _, grades in each(given) for name in grades})
        rng = random.Random(seed)  # noqa: S311
        weights = {name: rng.choice([1, 2, 0.1, 0.2, 0.3]) for name in order}
        for heavy in (None, weights):
            by = heavy or dict.fromkeys(order, 1)
            for ties in (None, "lowest", "highest", "mean", "first"):
                median = gf.judging.merge_judgments(given, "median", weights=heavy, ties=ties)
                majority = gf.judging.merge_judgments(given, "majority", weights=heavy, ties=ties)
                for query, doc, grades in each(given):
                    wanted = literal.median(grades, by, ties or "mean", order)
                    assert median[query][doc] == pytest.approx(wanted, abs=1e-12), (seed, doc)
                    wanted = literal.majority(grades, by, ties or "lowest", order)
                    assert majority[query][doc] == pytest.approx(wanted, abs=1e-12), (seed, doc)
            mean = gf.judging.merge_judgments(given, "mean", weights=heavy)
            for query, doc, grades in each(given):
                wanted = literal.mean(grades, by)
                assert mean[query][doc] == pytest.approx(wanted, abs=1e-12), (seed, doc)
        for rule, take in (("max", max), ("min", min)):
            found = gf.judging.merge_judgments(given, rule)
            assert dict(found) == {
                query: {doc: take(grades.values()) for doc, grades in docs.items()}
                for query, docs in given.items()
            }
        compared += 1
    assert compared > 15


def test_by_hand():
    given = {"q": {"a": {"ann": 3, "bob": 0, "cid": 1, "dot": 0}, "b": {"bob": 2, "dot": 1}}}
    for rule, ties, wanted in (
        ("mean", None, (1, 1.5)),
        ("median", None, (0.5, 1.5)),
        ("median", "highest", (1, 2)),
        ("median", "first", (0, 2)),  # of a: bob's 0 comes before cid's 1
        ("majority", None, (0, 1)),
        ("majority", "highest", (0, 2)),
        ("majority", "mean", (0, 1.5)),
        ("majority", "first", (0, 2)),
        ("max", None, (3, 2)),
        ("min", None, (0, 1)),
    ):
        found = gf.judging.merge_judgments(given, rule, ties=ties)
        assert (found["q"]["a"], found["q"]["b"]) == wanted, (rule, ties)
    # 3·3 + 1 of a weight of 6; half of 6 is at or below 1; bob and dot have 2, ann alone 3.
    heavy = {"ann": 3}
    assert gf.judging.merge_judgments(given, weights=heavy)["q"]["a"] == 10 / 6
    assert gf.judging.merge_judgments(given, "median", weights=heavy)["q"]["a"] == 2
    assert gf.judging.merge_judgments(given, "majority", weights=heavy)["q"]["a"] == 3


def test_one_assessor_first_or_alone():
    given = {
        "q": {"a": {"ann": 3, "bob": 0, "cid": 1}, "b": {"bob": 2, "cid": 1}},
        "r": {"c": {"bob": 1}},
    }
    first = gf.judging.merge_judgments(given, "max", first="ann")
    assert dict(first) == {"q": {"a": 3, "b": 2}, "r": {"c": 1}}
    assert first.provenance("q", "a").assessors == ("ann",)
    assert first.provenance("q", "b").assessors == ("bob", "cid")
    alone = gf.judging.merge_judgments(given, "ann")
    assert dict(alone) == {"q": {"a": 3}}
    assert alone.left_out == 2
    assert "2 documents left out, not graded by ann" in str(alone)
    # The same word is the same rule in every function that reads.
    run = {"q": {"b": 2, "a": 1}}
    for rule in (*RULES, "ann"):
        wanted = gf.evaluate(given, run, "DCG", assessors=rule)["DCG"]
        merged = gf.judging.merge_judgments(given, rule)
        expected = wanted if rule != "ann" else wanted * 2  # there, r is a query without judgments
        assert gf.evaluate(merged, run, "DCG")["DCG"] == pytest.approx(expected), rule


def test_each_grade_says_of_how_many_and_whose():
    given = {"q": {"a": {"ann": 3, "bob": 0}, "b": {"bob": 2}}}
    found = gf.judging.merge_judgments(given)
    one = found.provenance("q", "a")
    assert (one.grade, one.of, one.assessors, one.given) == (
        1.5,
        2,
        ("ann", "bob"),
        {"ann": 3, "bob": 0},
    )
    assert one.probabilities == {}
    rows = found.to_pandas().to_dict("records")
    assert rows == [
        {"query": "q", "doc": "a", "grade": 1.5, "of": 2, "from": "ann, bob"},
        {"query": "q", "doc": "b", "grade": 2.0, "of": 1, "from": "bob"},
    ]
    assert found.to_dict()["provenance"]["q"]["b"] == {
        "of": 1,
        "assessors": ["bob"],
        "given": {"bob": 2},
    }
    assert "1 document with one" in str(found)


def grades_of(rows):
    found = {}
    for doc, name, grade in rows:
        found.setdefault("q", {}).setdefault(doc, {})[name] = grade
    return found


def test_dawid_skene_is_that_of_crowd_kit():
    cases = json.loads(RECORDED.read_text())["cases"]
    for case in cases:
        found = gf.judging.merge_judgments(grades_of(case["rows"]), "dawid-skene")
        model = found.model
        assert model.converged
        for doc, wanted in case["probabilities"].items():
            known = found.provenance("q", doc).probabilities
            for grade, share in wanted.items():
                assert known[float(grade)] == pytest.approx(share, abs=2e-6), doc
        for grade, share in case["shares"].items():
            place = model.scale.index(float(grade))
            assert model.shares[place] == pytest.approx(share, abs=2e-6)
        for name, given, true, share in case["confusion"]:
            places = model.scale.index(float(true)), model.scale.index(float(given))
            assert model.confusion[name][places] == pytest.approx(share, abs=2e-6)
    assert len(cases) == 8


def test_dawid_skene_is_the_literal_em():
    for seed in range(12):
        given = random_items(seed)
        if not fit_for_all(given):
            continue
        items = [grades for _, _, grades in each(given)]
        names = sorted({name for grades in items for name in grades})
        scale = sorted({grade for grades in items for grade in grades.values()})
        codes = np.array(
            [[scale.index(item[n]) if n in item else -1 for n in names] for item in items]
        )
        for iterations in (1, 2, 7):
            found = kernels.dawid_skene(codes, len(scale), iterations)
            believed, shares, confusion = literal.dawid_skene(items, names, scale, iterations)
            wanted = [[each[grade] for grade in scale] for each in believed]
            assert np.allclose(found.probabilities, wanted, atol=1e-9), seed
            assert np.allclose(found.shares, [shares[grade] for grade in scale], atol=1e-9)
            wanted = [[[confusion[n][t][g] for g in scale] for t in scale] for n in names]
            assert np.allclose(found.confusion, wanted, atol=1e-9), seed
            assert found.iterations <= iterations


def test_dawid_skene_finds_who_errs():
    rng = np.random.default_rng(3)
    true = rng.integers(0, 3, 400)
    columns = [
        np.where(rng.random(400) < right, true, rng.integers(0, 3, 400))
        for right in (0.9, 0.9, 0.9)
    ]
    columns.append(2 - true)  # turned upside down, and so as telling as the truth
    given = {
        "q": {
            f"d{i}": {n: int(c[i]) for n, c in zip(NAMES, columns, strict=False)}
            for i in range(400)
        }
    }
    found = gf.judging.merge_judgments(given, "dawid-skene")
    right = np.mean([found["q"][f"d{i}"] == true[i] for i in range(400)])
    plain = gf.judging.merge_judgments(given, "majority")
    assert right > 0.99 > np.mean([plain["q"][f"d{i}"] == true[i] for i in range(400)])
    assert np.allclose(found.model.confusion["dot"], np.eye(3)[::-1], atol=0.01)
    assert np.allclose(found.model.confusion["ann"].sum(axis=1), 1)
    assert np.allclose(found.model.probabilities.sum(axis=1), 1)
    assert "EM converged after" in str(found)
    assert "gives 2" in str(found)


def test_rows_too_long_to_be_a_number_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, 4, (50, 3))
    codes[:, 0] = np.abs(codes[:, 0])
    few = kernels.dawid_skene(codes, 4)
    monkeypatch.setattr(kernels, "_FITS", 0)
    assert np.allclose(kernels.dawid_skene(codes, 4).probabilities, few.probabilities)


@pytest.mark.parametrize("ending", [".qrels", ".csv", ".tsv", ".jsonl", ".parquet", ".qrels.gz"])
def test_every_file_reads_back_as_judgments(tmp_path, ending):
    given = {"q1": {"a": {"ann": 2, "bob": 1}, "b": {"bob": 0}}, "q2": {"d": {"ann": 1, "bob": 1}}}
    for rule in ("mean", "dawid-skene"):
        merged = gf.judging.merge_judgments(given, rule)
        path = tmp_path / f"merged{ending}"
        merged.write(path)
        assert dict(gf.evaluate(path, RUN, ["DCG"])) == dict(gf.evaluate(merged, RUN, ["DCG"]))
    assert json.loads(merged.rendered("json"))["documents"]["q2"] == {"d": 1.0}


def test_it_goes_wherever_judgments_go():
    given = {"q1": {"a": {"ann": 2, "bob": 1}, "b": {"bob": 0}}, "q2": {"d": {"ann": 1, "bob": 1}}}
    merged = gf.judging.merge_judgments(given)
    plain = {query: dict(merged[query]) for query in merged}
    assert (
        gf.compare(merged, {"x": RUN, "y": RUN}).differences
        == gf.compare(plain, {"x": RUN, "y": RUN}).differences
    )
    assert gf.check(merged, {"x": RUN}).summary == gf.check(plain, {"x": RUN}).summary
    assert gf.judging.agreement([merged, plain], resamples=1)["raw"] == 1
    assert gf.judging.merge_judgments(given) == merged
    assert gf.judging.merge_judgments(given, "max") != merged


def test_ids_come_back_with_their_types():
    rows = [{"query": 7, "doc": 10, "assessor": n, "grade": g} for n, g in (("x", 1), ("y", 2))]
    import pandas as pd

    frame = gf.judging.merge_judgments(pd.DataFrame(rows)).to_pandas()
    assert frame["query"].tolist() == [7]
    assert frame["doc"].dtype.kind == "i"


def test_dicts_of_odd_values_are_read_as_well():
    plain = {"7": {"1": {"ann": 2, "bob": 1}, "2": {"bob": 0}}}
    odd = {7: {1: {"ann": np.float64(2), "bob": True}, 2: {"bob": 0}}}
    assert gf.judging.merge_judgments(odd) == gf.judging.merge_judgments(plain)
    for wrong, said in (
        ({"7": {"1": {"ann": 1, "bob": 1}}, 7: {"2": {"ann": 1}}}, "each query once"),
        ({"q": {"a": {"ann": 1, "bob": None}}}, "finite number"),
        ({"q": {"a": {"ann": 1, "bob": 2**53 + 1}}}, "float64 holds exactly"),
        ({"q": {"a": {"ann": 1, "bob": 1, "\ud800": 1}}}, "assessor"),
        ({"q": {"a": [1, 2]}}, "a dict {assessor: grade}"),
    ):
        with pytest.raises(gf.errors.InputError, match=said):
            gf.judging.merge_judgments(wrong)


def test_nothing_given_is_changed():
    given = {"q": {"a": {"ann": 2, "bob": 1}}}
    weights = {"ann": 2}
    gf.judging.merge_judgments(given, "median", weights=weights)
    assert given == {"q": {"a": {"ann": 2, "bob": 1}}}
    assert weights == {"ann": 2}


TABLE = {"q": {"a": {"ann": 1, "bob": 2}}}


@pytest.mark.parametrize(
    ("grades", "options", "said"),
    [
        (TABLE, {"rule": "average"}, "or one of the assessors 'ann', 'bob', found 'average'"),
        (TABLE, {"rule": "medain"}, "Did you mean 'median'"),
        (TABLE, {"rule": None}, "rule: expected mean, median"),
        (TABLE, {"rule": "max", "weights": {"ann": 2}}, "None with the rule 'max'.*Weights apply to mean, median, majority"),
        (TABLE, {"rule": "dawid-skene", "weights": {"ann": 2}}, "None with the rule 'dawid-skene'"),
        (TABLE, {"rule": "ann", "weights": {"ann": 2}}, "the name of an assessor"),
        (TABLE, {"weights": {"eve": 2}}, "one of the assessors 'ann', 'bob', found 'eve'"),
        (TABLE, {"weights": {"ann": 0}}, "a number above 0, found 0"),
        (TABLE, {"weights": {"ann": math.nan}}, "a number above 0"),
        (TABLE, {"weights": [1, 2]}, "a dict {assessor: weight}"),
        (TABLE, {"ties": "lowest"}, "None with the rule 'mean'.*Ties occur with median, majority"),
        (TABLE, {"rule": "median", "ties": "low"}, "ties"),
        (TABLE, {"first": "eve"}, "first: expected one of the assessors"),
        (TABLE, {"rule": "dawid-skene", "first": "ann"}, "None with the rule 'dawid-skene'"),
        (
            {"q": {f"d{i}": {"ann": i, "bob": i} for i in range(51)}},
            {"rule": "dawid-skene"},
            "at most 50 different grades for dawid-skene",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(grades, options, said):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.judging.merge_judgments(grades, **options)


def test_what_is_asked_of_it_and_is_not_there():
    merged = gf.judging.merge_judgments(TABLE)
    with pytest.raises(gf.errors.InputError, match="one of its queries: 'q', found 'r'"):
        merged["r"]
    with pytest.raises(gf.errors.InputError, match="one of its documents: 'a', found 'b'"):
        merged.provenance("q", "b")
    with pytest.raises(gf.errors.InputError, match="dawid-skene, which has confusions"):
        merged.confusion_table()
    assert merged.get("r") is None


def test_very_large_grades_have_a_mean():
    found = gf.judging.merge_judgments({"q": {"a": {"x": 1.5e308, "y": 1.5e308}}})
    assert found["q"]["a"] == 1.5e308


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "ann": "q 0 a 2\nq 0 b 0\n",
        "bob": "q 0 a 1\nq 0 b 1\n",
        "eve": "q 0 a 1\n",
    }.items():
        Path(f"{name}.qrels").write_text(text)
    return ("ann.qrels", "bob.qrels", "eve.qrels")


def test_on_the_command_line(cli, files):
    done = cli("merge", *files, "--rule", "majority")
    assert done.stdout == "q 0 a 1\nq 0 b 0\n"
    assert "majority, ties lowest: 2 documents of 1 query, from 3 assessors" in done.stderr
    assert cli("merge", *files, "--first", "ann").stdout == "q 0 a 2\nq 0 b 0\n"
    done = cli("merge", *files, "--weights", "ann=2", "-o", "merged.csv")
    assert done.returncode == 0, done.stderr
    assert Path("merged.csv").read_text().splitlines()[:2] == [
        "query,doc,grade,of,from",
        'q,a,1.5,3,"ann, bob, eve"',
    ]
    done = cli("merge", *files, "--rule", "dawid-skene", "-f", "json", "--names", "x,y,z")
    assert json.loads(done.stdout)["assessors"] == ["x", "y", "z"]
    for wrong, said in (
        (("--weights", "ann"), "--weights expects names with numbers"),
        (("--weights", "zoe=1"), "one of the assessors 'ann'"),
        (("--rule", "best"), "found 'best'"),
        (("-o", "ann.qrels"), "one of the inputs"),
        (("-o", "merged.png"), "a picture"),
    ):
        done = cli("merge", *files, *wrong)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_the_help_names_every_rule(cli):
    said = " ".join(cli("help", "merge").stdout.split())
    assert all(rule in said for rule in RULES)
    assert all(rule in " ".join(cli("help", "evaluate").stdout.split()) for rule in RULES)


@pytest.mark.parametrize("command", ["agreement", "merge"])
def test_a_file_twice_and_a_pattern(cli, files, command):
    for again in ("ann.qrels", "./ann.qrels"):
        done = cli(command, "ann.qrels", again)
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        assert f"grades: expected each file once, found '{again}' again. Leave it out." in said
    whole = cli(command, *files, "-f", "json").stdout
    assert cli(command, "*.qrels", "-f", "json").stdout == whole
    assert cli(command, "ann.qrels", "*.qrels", "-f", "json").stdout == whole
    done = cli(command, "*.trec")
    assert done.returncode == 2
    assert "*.trec: expected files that match the pattern, found none" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize("command", ["agreement", "merge"])
def test_one_file_alone_is_of_one_assessor(cli, files, command):
    Path("one.csv").write_text("query,doc,grade\nq,a,1\n")
    Path("odd.csv").write_text("x,y,z\nq,a,1\n")
    for name, said in (
        ("ann.qrels", "grades of two assessors or more, found judgments without a column of assessors. Pass a list with the judgments"),
        ("one.csv", "a column for assessor"),
        ("odd.csv", "a column for query"),
        ("none.qrels", "none.qrels: expected a file"),
    ):  # fmt: skip
        done = cli(command, name)
        assert (done.returncode, said in " ".join(done.stderr.split())) == (2, True), done.stderr


def test_a_pattern_in_python(files):
    assert gf.judging.merge_judgments("*.qrels") == gf.judging.merge_judgments(files)
    assert gf.judging.merge_judgments(["*.qrels"]).assessors == ("ann", "bob", "eve")
    with pytest.raises(gf.errors.InputError, match="each file once"):
        gf.judging.agreement([files[0], Path(files[0])])


@pytest.mark.parametrize("rule", ["mean", "dawid-skene"])
def test_the_json_of_merged_judgments_is_read_as_judgments(rule, tmp_path):
    found = gf.judging.merge_judgments([{"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 0}}], rule)
    for name in ("merged.json", "merged.json.gz"):
        found.write(tmp_path / name)
        again = gf.judging.merge_judgments(
            [tmp_path / name, found.to_dict()], names=["file", "dict"]
        )
        assert dict(again) == dict(found)


def test_a_query_may_be_called_as_a_key_of_that_json():
    run = {"rule": {"a": 1}, "documents": {"a": 1}, "provenance": {"a": 1}}
    judgments = {"rule": {"a": 1}, "documents": {"a": 0}, "provenance": {"a": 0}}
    assert gf.evaluate(judgments, run, "P@1").values.mean() == 1 / 3


@pytest.mark.parametrize("weight", [1e308, 10**400])
def test_a_weight_that_no_sum_could_hold_is_refused(weight):
    with pytest.raises(gf.errors.InputError, match=r"weights, 'ann'.*a number of at most 1e\+100"):
        gf.judging.merge_judgments({"q": {"a": {"ann": 1, "bob": 2}}}, weights={"ann": weight})


def test_an_assessor_who_is_named_as_the_rule_is_refused():
    given = {"q": {"a": {"mean": 1, "bob": 3}}}
    with pytest.raises(gf.errors.InputError, match=r"rule: .*'mean', which is both.*another"):
        gf.judging.merge_judgments(given)
    with pytest.raises(gf.errors.InputError, match=r"assessors: .*'mean', which is both"):
        gf.evaluate(given, {"q": {"a": 1}}, "CG", assessors="mean")
    assert gf.judging.merge_judgments(given, "max")["q"] == {"a": 3.0}


@pytest.mark.parametrize("merge", [gf.judging.merge_judgments, gf.judging.agreement])
def test_what_is_said_of_grades_given_twice_or_not_at_all_helps(merge):
    twice = [{"query": "q", "doc": "a", "grade": 1}] * 2
    with pytest.raises(gf.errors.InputError, match="one grade, so remove one of them") as raised:
        merge([twice, {"q": {"a": 1}}])
    assert "policy" not in str(raised.value)
    with pytest.raises(
        gf.errors.InputError, match="documents graded by several assessors, found none"
    ):
        merge([{}, {}])
    with pytest.raises(gf.errors.InputError, match="two assessors or more, found 1"):
        merge([{}])
