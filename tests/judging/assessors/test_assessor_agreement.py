"""How far assessors agree: literal formulas, other tools, numbers worked by hand, and odd tables."""

import itertools
import json
import math
import random

import krippendorff
import numpy as np
import pandas as pd
import pytest
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

import gainful as gf
import literal_agreement as literal

NAMES = ("ann", "bob", "cid", "dot", "eve")


def random_grades(seed, *, missing=True):
    """Grades [item][assessor], None where there is none; assessors follow the first half of the time."""
    rng = random.Random(seed)  # noqa: S311
    scale = rng.choice([(0, 1), (0, 1, 2, 3), (-1, 0, 2.5), (0, 1, 4, 9)])
    people = rng.randint(2, 5)
    items = []
    for _ in range(rng.randint(6, 40)):
        first = rng.choice(scale)
        grades = [
            first,
            *(first if rng.random() < 0.5 else rng.choice(scale) for _ in range(people - 1)),
        ]
        if missing:
            grades = [grade if rng.random() < 0.75 else None for grade in grades]
        items.append(grades)
    return [grades for grades in items if any(grade is not None for grade in grades)]


def as_dicts(items):
    return {
        f"q{place // 4}": {
            f"d{row}": {
                name: grade
                for name, grade in zip(NAMES, items[row], strict=False)
                if grade is not None
            }
            for row in range(4 * (place // 4), min(4 * (place // 4) + 4, len(items)))
        }
        for place in range(0, len(items), 4)
    }


def several(items):
    known = [sum(grade is not None for grade in grades) for grades in items]
    people = [sum(grades[at] is not None for grades in items) for at in range(len(items[0]))]
    return max(known) > 1 and min(people) > 0


def same(found, wanted):
    return (math.isnan(found) and math.isnan(wanted)) or math.isclose(
        found, wanted, rel_tol=1e-9, abs_tol=1e-9
    )


@pytest.mark.parametrize("missing", [True, False], ids=["some missing", "all there"])
def test_the_coefficients_are_those_of_their_definitions(missing, deep):
    compared = 0
    for seed in range(200 if deep else 40):
        items = random_grades(seed, missing=missing)
        values = sorted({grade for grades in items for grade in grades if grade is not None})
        if not several(items) or len(values) < 2:
            continue
        found = gf.judging.agreement(as_dicts(items), resamples=1)
        compared += 1
        assert same(found["raw"], literal.raw(items)), seed
        assert same(found["fleiss"], literal.fleiss(items)), seed
        for name, weight in (
            ("gwet_ac1", literal.identity),
            ("gwet_ac2_linear", literal.linear),
            ("gwet_ac2_quadratic", literal.quadratic),
        ):
            assert same(found[name], literal.gwet(items, weight)), (seed, name)
        for kind in ("nominal", "ordinal", "interval"):
            wanted = literal.krippendorff(items, kind)
            assert same(found[f"krippendorff_{kind}"], wanted), (seed, kind)
        for pair in found.pairs:
            first, second = NAMES.index(pair.first), NAMES.index(pair.second)
            if not pair.items:
                continue
            for given, weight in (
                (pair.kappa, literal.identity),
                (pair.linear, literal.linear),
                (pair.quadratic, literal.quadratic),
            ):
                wanted = literal.cohen(items, first, second, weight, values)
                assert same(given, wanted), (seed, pair)
    assert compared > 20


def test_cohen_is_that_of_scikit_learn():
    for seed in range(20):
        items = random_grades(seed, missing=False)
        items = [[abs(round(grade)) % 4 for grade in grades] for grades in items]
        found = gf.judging.agreement(as_dicts(items), resamples=1)
        scale = [round(grade) for grade in found.scale]
        if scale != [*range(scale[0], scale[-1] + 1)]:
            continue  # there, weights go by places among the grades
        for pair in found.pairs:
            one, other = (
                [grades[NAMES.index(name)] for grades in items]
                for name in (pair.first, pair.second)
            )
            for given, weights in (
                (pair.kappa, None), (pair.linear, "linear"), (pair.quadratic, "quadratic"),
            ):  # fmt: skip
                wanted = cohen_kappa_score(one, other, weights=weights, labels=scale)
                assert same(given, float(wanted)), (seed, pair, weights)


@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("missing", [True, False], ids=["some missing", "all there"])
def test_the_coefficients_are_those_of_other_tools(missing):
    compared = 0
    for seed in range(25):
        items = random_grades(seed, missing=missing)
        values = sorted({grade for grades in items for grade in grades if grade is not None})
        if not several(items) or len(values) < 2:
            continue
        found = gf.judging.agreement(as_dicts(items), resamples=1)
        table = np.array(
            [[math.nan if grade is None else grade for grade in row] for row in items], float
        )
        compared += 1
        for kind in ("nominal", "ordinal", "interval"):
            wanted = krippendorff.alpha(reliability_data=table.T, level_of_measurement=kind)
            assert same(found[f"krippendorff_{kind}"], float(wanted)), (seed, kind)
        for name, weights in (
            ("gwet_ac1", "identity"), ("gwet_ac2_linear", "linear"), ("gwet_ac2_quadratic", "quadratic"),
        ):  # fmt: skip
            given = CAC(pd.DataFrame(table), weights=weights, categories=values, digits=12)
            wanted = given.gwet()["est"]["coefficient_value"]
            assert found[name] == pytest.approx(wanted, abs=1e-9), (seed, name)
        wanted = CAC(pd.DataFrame(table), categories=values, digits=12).fleiss()
        assert found["fleiss"] == pytest.approx(wanted["est"]["coefficient_value"], abs=1e-9)
        if not missing:
            counts = [[row.count(value) for value in values] for row in items]
            assert found["fleiss"] == pytest.approx(float(fleiss_kappa(counts)))
    assert compared > 15


def test_two_assessors_by_hand():
    # Of four items they agree on three. By chance: 1/4·2/4 + 3/4·2/4 = 1/2, so κ = (3/4 − 1/2) / (1/2).
    ann, bob = {"q": {"a": 0, "b": 1, "c": 1, "d": 1}}, {"q": {"a": 0, "b": 0, "c": 1, "d": 1}}
    found = gf.judging.agreement([ann, bob], names=["ann", "bob"])
    assert (found["raw"], found["cohen"]) == (0.75, 0.5)
    # Fleiss: of eight grades three are 0, so (3/4 − 34/64) / (30/64).
    assert found["fleiss"] == pytest.approx((0.75 - 34 / 64) / (30 / 64))
    # Krippendorff: 1 − 7·2/(2·3·5): two of eight paired grades differ, of 56 pairs 30 do.
    assert found["krippendorff_nominal"] == pytest.approx(1 - 7 * 2 / 30)
    # Gwet: by chance 2·(3/8)·(5/8).
    assert found["gwet_ac1"] == pytest.approx((0.75 - 30 / 64) / (1 - 30 / 64))
    first, second = found.leanings
    assert (first.assessor, first.higher, second.higher) == ("ann", 0.25, -0.25)
    assert (first.grades, first.items, first.mean) == (4, 4, 0.75)
    assert found.shares == (0.375, 0.625)
    assert found.confusion == ((0.25, 0.125), (0.125, 0.5))
    (only,) = found.disputed
    assert (only.query, only.doc, only.span, only.grades) == ("q", "b", 1, {"ann": 1, "bob": 0})


def test_the_published_table_of_krippendorff():
    # K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011, section C: nominal 0.743, interval 0.849.
    rows = [
        "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
    ]  # fmt: skip
    judgments = [
        {"q": {f"d{at}": int(grade) for at, grade in enumerate(row.split()) if grade != "."}}
        for row in rows
    ]
    found = gf.judging.agreement(judgments)
    assert found["krippendorff_nominal"] == pytest.approx(0.743, abs=5e-4)
    assert found["krippendorff_ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert found["krippendorff_interval"] == pytest.approx(0.849, abs=5e-4)
    assert found.shared == 11


def test_every_form_gives_the_same(tmp_path):
    items = random_grades(3)
    dicts = as_dicts(items)
    records = [
        {"query": query, "doc": doc, "assessor": name, "grade": grade}
        for query, docs in dicts.items()
        for doc, grades in docs.items()
        for name, grade in grades.items()
    ]
    expected = gf.judging.agreement(dicts, resamples=50)
    assert gf.judging.agreement(records, resamples=50) == expected
    file = tmp_path / "grades.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert gf.judging.agreement(file, resamples=50) == expected
    names = expected.assessors
    each = [
        {
            query: {doc: grades[name] for doc, grades in docs.items() if name in grades}
            for query, docs in dicts.items()
        }
        for name in names
    ]
    paths = []
    for name, judgments in zip(names, each, strict=True):
        paths.append(tmp_path / f"{name}.qrels")
        gf.write_judgments(judgments, paths[-1])
    assert gf.judging.agreement(paths, resamples=50) == expected
    assert gf.judging.agreement(each, names=names, resamples=50) == expected


def test_intervals_are_those_of_resampled_items():
    items = random_grades(7, missing=False)
    dicts = as_dicts(items)
    found = gf.judging.agreement(dicts, resamples=4000, seed=1)
    assert gf.judging.agreement(dicts, resamples=4000, seed=1) == found
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(2000):
        some = [items[at] for at in rng.integers(0, len(items), len(items))]
        if len({grade for grades in some for grade in grades}) > 1:
            drawn.append((literal.krippendorff(some, "ordinal"), literal.raw(some)))
    for name, values in zip(("krippendorff_ordinal", "raw"), zip(*drawn, strict=True), strict=True):
        low, high = np.quantile(values, (0.025, 0.975))
        (one,) = [each for each in found.coefficients if each.name == name]
        assert (one.low, one.high) == pytest.approx((low, high), abs=0.06)


def test_the_order_of_items_and_assessors_does_not_matter():
    items = random_grades(11)
    turned = [grades[::-1] for grades in items[::-1]]
    one, other = (
        gf.judging.agreement(as_dicts(items), resamples=1),
        gf.judging.agreement(as_dicts(turned), resamples=1),
    )
    for first, second in zip(one.coefficients, other.coefficients, strict=True):
        assert same(first.value, second.value), first.name


def test_one_grade_alone_leaves_the_coefficients_undefined():
    found = gf.judging.agreement([{"q": {"a": 1, "b": 1}}, {"q": {"a": 1, "b": 1}}])
    assert found["raw"] == 1
    assert all(math.isnan(each.value) for each in found.coefficients if each.name != "raw")
    assert "all grades are the same" in str(found)
    assert found.disputed == ()


def test_high_agreement_and_low_kappa_are_told_apart():
    ann = {"q": {f"d{at}": int(at == 0) for at in range(50)}}
    bob = {"q": {f"d{at}": int(at == 1) for at in range(50)}}
    found = gf.judging.agreement([ann, bob])
    assert found["raw"] == 0.96
    assert found["cohen"] < 0 < found["gwet_ac1"]
    assert "98% of all grades are 0" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("grades", "options", "said"),
    [
        ([], {}, "a table, or judgments of two assessors or more, found none"),
        ([{"q": {"a": 1}}], {}, "two assessors or more, found 1"),
        ({"q": {"a": {"ann": 1}}}, {}, "two assessors or more, found 1"),
        ([{"q": {"a": 1}}, {"q": {"b": 1}}], {}, "documents graded by several assessors"),
        ([{"q": {"a": 1}}, {"q": {"a": 1}}], {"names": ["x", "x"]}, "'x' twice"),
        (
            [{"q": {"a": 1}}, {"q": {"a": 1}}],
            {"names": ["x"]},
            "2, one for each judgments file or dict, found 1",
        ),
        ([{"q": {"a": 1}}, {"q": {"a": 1}}], {"names": "xy"}, "a list of the names"),
        ({"q": {"a": {"x": 1, "y": 1}}}, {"names": ["x", "y"]}, "None for a table"),
        ({"q": {"a": {"x": 1, "y": math.nan}}}, {}, "finite"),
        ([{"q": {"a": 1}}, {"q": {"a": "?"}}], {}, "number"),
        ({"q": {"a": {"x": 1, "y": 1}}}, {"level": 1}, "a number between 0 and 1"),
        ({"q": {"a": {"x": 1, "y": 1}}}, {"resamples": 0}, "resamples"),
    ],
)
def test_what_cannot_be_told_is_refused(grades, options, said):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.judging.agreement(grades, **options)


def test_a_name_of_no_coefficient_is_refused():
    found = gf.judging.agreement([{"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}])
    with pytest.raises(gf.errors.InputError, match="one of raw, cohen"):
        found["kappa"]


def test_on_the_command_line(cli, tmp_path):
    for name, text in {"ann": "q 0 a 1\nq 0 b 0\n", "bob": "q 0 a 1\nq 0 b 1\n"}.items():
        (tmp_path / f"{name}.qrels").write_text(text)
    paths = [tmp_path / "ann.qrels", tmp_path / "bob.qrels"]
    done = cli("agreement", *paths)
    assert "2 assessors, 2 items, 2 graded by several" in done.stdout
    assert done.stdout.startswith("Two assessors give an item the same grade 50% of the time.")
    assert "other tables: pairs, leanings, confusion" in done.stdout
    assert "ann, bob" not in done.stdout
    assert "ann, bob" in cli("agreement", *paths, "--table", "pairs").stdout
    assert "ann, bob" in cli("agreement", *paths, "--verbose").stdout
    told = json.loads(cli("agreement", *paths, "--names", "x,y", "--format", "json").stdout)
    assert told["assessors"] == ["x", "y"]
    rows = cli("agreement", *paths, "--format", "csv", "--seed", "3").stdout.splitlines()
    assert rows[0] == "coefficient,value,low,high"
    assert rows[1].startswith("raw agreement,0.5,")
    alone = cli("agreement", paths[0])
    assert alone.returncode == 2
    assert "Traceback" not in alone.stderr


def test_pairs_are_all_pairs():
    items = random_grades(2, missing=False)
    found = gf.judging.agreement(as_dicts(items), resamples=1)
    assert [(each.first, each.second) for each in found.pairs] == [
        *itertools.combinations(found.assessors, 2)
    ]


def test_a_dict_that_could_mean_either_is_refused():
    ann, bob = {"q": {"a": 0, "b": 1, "c": 1}}, {"q": {"a": 0, "b": 0, "c": 1}}
    with pytest.raises(gf.errors.InputError, match="a dict that could also be"):
        gf.judging.agreement({"ann": ann, "bob": bob})
    # Documents of several queries, and many more queries than assessors: nobody means the other.
    table = {f"q{at}": {"d": {"ann": at % 3, "bob": at % 2}} for at in range(30)}
    assert gf.judging.agreement(table, resamples=1).assessors == ("ann", "bob")


def test_many_assessors_and_grades_are_summed_up():
    rng = random.Random(1)  # noqa: S311
    rows = [
        {
            "query": f"q{at // 5}",
            "doc": f"d{at}",
            "assessor": f"w{rng.randrange(60)}",
            "grade": rng.random(),
        }
        for at in range(40)
        for _ in range(3)
    ]
    rows = [*{(row["doc"], row["assessor"]): row for row in rows}.values()]
    found = gf.judging.agreement(rows, resamples=20)
    assert 0 < len(found.pairs) <= 120
    assert not math.isnan(found["cohen"])
    (cohen,) = [each for each in found.coefficients if each.name == "cohen"]
    assert math.isnan(cohen.low)
    assert len(found.rendered().splitlines()) < 150
    assert "different grades" in found.rendered()


def test_base_rates_and_the_queries_with_the_least_agreement_are_shown():
    ann = {"q1": {"a": 0, "b": 0}, "q2": {"a": 0, "b": 1}, "q3": {"a": 2}}
    bob = {"q1": {"a": 0, "b": 1}, "q2": {"a": 0, "b": 1}, "q3": {"a": 0}}
    found = gf.judging.agreement([ann, bob], resamples=9)
    assert "base rate of each grade: 0: 60.0%, 1: 30.0%, 2: 10.0%" in found.table().notes
    shown = next(
        each for each in found.tables() if each.title == "queries with the least agreement"
    )
    assert shown.rows == [["q3", 1, 1, 0.0, 2.0], ["q1", 2, 2, 0.5, 0.5], ["q2", 2, 2, 1.0, 0.0]]


def test_more_different_grades_than_can_be_told_apart_are_refused():
    some = [{"q": {f"d{at}": at / 1000 for at in range(201)}}, {"q": {"d0": 0.0}}]
    with pytest.raises(gf.errors.InputError, match=r"at most 200 different ones.*found 201. Round"):
        gf.judging.agreement(some)
    del some[0]["q"]["d200"]
    assert len(gf.judging.agreement(some, resamples=2).scale) == 200


def test_grades_that_have_no_squares_are_refused():
    with pytest.raises(gf.errors.InputError, match=r"from -1e\+100 to 1e\+100.*1e\+308"):
        gf.judging.agreement([{"q": {"a": 1e308}}, {"q": {"a": -1e308}}])


def test_it_is_said_which_pairs_and_resamples_are_undefined():
    same, mixed = (
        {"q": {f"d{at}": 1 for at in range(10)}},
        {"q": {f"d{at}": min(at, 1) for at in range(10)}},
    )
    found = gf.judging.agreement([same, same, mixed], resamples=500)
    kappas = [pair.kappa for pair in found.pairs]
    assert [math.isnan(kappa) for kappa in kappas] == [True, False, False]
    assert found["cohen"] == 0.0
    # d0 isn't in a resample with probability 0.9¹⁰ = 0.349; then no pair has a κ, nor is α defined.
    alike = found.fewer_pairs
    assert 500 * 0.349 - 50 < alike < 500 * 0.349 + 50
    assert {each.name: each.undefined for each in found.coefficients}["cohen"] == alike
    assert {each.name: each.undefined for each in found.coefficients}["raw"] == 0
    notes = "\n".join(found.table().notes)
    assert "undefined for 1 of 3 pairs" in notes
    assert f"in {alike} of 500 resamples it is undefined for more pairs" in notes
    assert f"up to {alike} of 500" in notes
    assert "undefined" not in "\n".join(
        gf.judging.agreement([mixed, mixed, mixed], resamples=1, seed=1).table().notes
    )


def test_the_result_in_a_sentence():
    ann = {"q": {f"d{at}": at % 4 for at in range(12)}}
    eve = {"q": {f"d{at}": 3 - at % 4 for at in range(12)}}
    said = "Two assessors give an item the same grade 100% of the time. Agreement beyond chance is high"
    assert gf.judging.agreement([ann, ann], names=["ann", "bob"], resamples=50).sentence.startswith(said)  # fmt: skip
    said = (
        "Two assessors give an item the same grade 0% of the time. Agreement beyond chance is low"
    )
    assert gf.judging.agreement([ann, eve], names=["ann", "eve"], resamples=50).sentence.startswith(said)  # fmt: skip


def test_fewer_than_ten_shared_items_have_no_interval():
    ann = {"q": {f"d{at}": at % 3 for at in range(12)}}
    bob = {"q": {f"d{at}": at % 2 for at in range(9)}}
    found = gf.judging.agreement([ann, bob], names=["ann", "bob"], resamples=50)
    assert found.shared == 9
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in found.coefficients)
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in found.leanings)
    why = "too few items for an interval (9; at least 10 needed)"
    assert found.sentence.endswith(f"ordinal, is {found['krippendorff_ordinal']:.2f}: {why}.")
    assert why in found.table().notes
    assert "resamples" not in str(found)

    # With a third assessor there are enough items, but not for bob's leaning.
    eve = {"q": {f"d{at}": (at + 1) % 3 for at in range(12)}}
    found = gf.judging.agreement([ann, bob, eve], names=["ann", "bob", "eve"], resamples=50)
    assert not math.isnan(found.coefficients[0].low)
    assert [math.isnan(each.low) for each in found.leanings] == [False, True, False]
    assert why in found.named_tables()["leanings"].notes


def test_names_that_differ_only_in_case_or_spaces_are_warned_of():
    grades = {"q": {"a": 2, "b": 0}}
    with pytest.warns(gf.errors.GainfulWarning, match="'Anna' and ' anna' differ only in case"):
        gf.judging.agreement([grades, grades], names=["Anna", " anna"], resamples=50)
