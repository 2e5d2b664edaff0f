"""Every measure of recommendations against its literal formula, by hand, and by what must hold."""

import math
import random

import numpy as np
import pytest

import gainful as gf
import literal_recommending as literal

evaluate = gf.recommending.evaluate_recommendations
CUTOFFS = (None, 1, 2, 3, 10)


def random_data(seed, *, users=9, items=14):
    """A run with ties and short lists, and all else; ids that some of them lack."""
    rng = random.Random(seed)  # noqa: S311
    ids = [f"i{number}" for number in range(items)]
    people = [f"u{number}" for number in range(users)]
    genres = ["x", "y", "z", "w"]
    data = {
        "items": {
            item: rng.sample(genres, rng.choice([1, 1, 2, 3]))
            for item in ids[: items - rng.choice([0, 3])]
        },
        "vectors": {
            item: [rng.choice([0.0, 1.0, -0.5, 2.0]) for _ in range(3)] for item in ids[1:]
        },
        "history": {
            user: {
                item: rng.choice([0, 1, 1, 2, 5]) for item in rng.sample(ids[2:], rng.randint(1, 6))
            }
            for user in [*people[1:], "other"]
        },
        "judgments": {
            user: {item: rng.choice([0, 1, 2]) for item in rng.sample(ids, rng.randint(1, 6))}
            for user in [*people[2:], "missing"]
        },
    }
    data["history"]["other"][ids[3]] = 1
    data["judgments"]["missing"][ids[0]] = 1
    run = {
        user: {item: rng.choice([0.1, 0.2, 0.5, 3]) for item in rng.sample(ids, rng.randint(1, 8))}
        for user in people
    }
    run[people[-1]] = {} if seed % 3 == 0 else run[people[-1]]
    return run, data


def at(name, k):
    return name if k is None else f"{name}@{k}"


def expected_of_users(run, data, k):
    """What each user has, None where a user has nothing, by measure."""
    items, vectors, history = data["items"], data["vectors"], data["history"]
    judged = data["judgments"]
    catalogue = {*items}
    everyone = [*run, *(user for user in judged if user not in run)]
    found = {}
    for user in everyone:
        scores = run.get(user, {})
        past = history.get(user, {})
        row = {}
        for count in ("once", "all"):
            inside = "" if count == "once" else "(count=all)"
            row[f"Novelty{inside}"] = literal.novelty(scores, history, k, count) if scores else None
            row[f"Popularity{inside}"] = (
                literal.popularity(scores, history, k, count) if scores else None
            )
        row["ILD(by=category)"] = literal.diversity(scores, items, k)
        row["ILD(by=vectors)"] = literal.vector_diversity(scores, vectors, k)
        row["Miscalibration"] = literal.miscalibration(scores, past, items, k)
        row["Miscalibration(alpha=0.2, count=all)"] = literal.miscalibration(
            scores, past, items, k, 0.2, "all"
        )
        relevant = {item for item, grade in judged.get(user, {}).items() if grade >= 1}
        for segment in "xyz":
            inside = {item for item, own in items.items() if segment in own}
            row[f"HitRate(segment={segment})"] = literal.hit(scores, relevant, inside, k)
        if k is not None:
            popular = literal.most_popular(history, k)
            has = user in judged
            row["Serendipity"] = literal.serendipity(scores, relevant, popular, k) if has else None
            row["Serendipity(unexpected=rank)"] = (
                literal.rank_serendipity(scores, relevant, history, catalogue, k) if has else None
            )
        found[user] = row
    return found


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("seed", range(12))
def test_users_have_the_values_of_the_literal_formulas(seed, k):
    run, data = random_data(seed)
    # Ranks of popularity are of the catalogue: so the history has no other items here.
    data["history"] = {
        user: {item: times for item, times in past.items() if item in data["items"]}
        for user, past in data["history"].items()
    }
    expected = expected_of_users(run, data, k)
    names = [
        name
        for name in next(iter(expected.values()))
        if any(row[name] is not None for row in expected.values())
    ]
    assert len(names) > 8
    found = evaluate(run, [at(name, k) for name in names], **data).per_query.to_dict()
    for user, row in expected.items():
        for name in names:
            value = row[name]
            ours = found.get(user, {}).get(at(name, k))
            if value is None:
                assert ours is None, (user, name)
            else:
                assert ours == pytest.approx(value, abs=1e-12), (user, name)


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("seed", range(12))
def test_runs_have_the_values_of_the_literal_formulas(seed, k):
    run, data = random_data(seed)
    names = ["Coverage", "Gini", "Entropy", "Personalisation"]
    found = evaluate(run, [at(name, k) for name in names], items=data["items"])
    catalogue = {*data["items"]}
    expected = [
        literal.coverage(run, catalogue, k),
        literal.gini(run, catalogue, k),
        literal.entropy(run, catalogue, k),
        literal.personalisation(run, k),
    ]
    assert [*found.run_values.values()] == pytest.approx(expected, abs=1e-12)
    assert found.run_values == found.means
    # Without a table of items, the catalogue is what the history has.
    past = evaluate(run, at("Coverage", k), history=data["history"])
    known = {item for each in data["history"].values() for item, n in each.items() if n}
    assert past[at("Coverage", k)] == pytest.approx(literal.coverage(run, known, k), abs=1e-12)


@pytest.mark.parametrize(
    "family", gf.recommending.recommendation_catalogue(), ids=lambda family: family.name
)
def test_examples_of_the_catalogue(family):
    example = family.example
    run = {f"u{place}": [*items] for place, items in enumerate(example.lists, 1)}
    value = evaluate(run, example.measure, **example.given)[example.measure]
    digits = len(example.value.partition(".")[2])
    assert f"{value:.{digits}f}" == example.value
    assert example.value in str(example)
    assert example.measure.startswith(family.name)


def test_by_hand():
    run = {"u": ["a", "b"], "v": ["a"], "w": ["z"]}
    history = {"u": {"a": 3, "b": 1}, "v": ["a"] and {"a": 1}, "x": {"a": 1}, "y": {"c": 1}}
    found = evaluate(
        run,
        ["Novelty", "Novelty(count=all)", "Popularity", "Popularity(count=all)"],
        history=history,
    ).per_query
    # Of 4 users, 3 have a, 1 has b, and none has z, which counts as if one had it.
    a = math.log2(4 / 3)
    assert found["Novelty"] == pytest.approx([(a + 2) / 2, a, 2])
    # Of 7 interactions, 5 are with a, 1 is with b.
    b = math.log2(7 / 5)
    assert found["Novelty(count=all)"] == pytest.approx([(b + math.log2(7)) / 2, b, math.log2(7)])
    assert found["Popularity"] == [2.0, 3.0, 0.0]
    assert found["Popularity(count=all)"] == [3.0, 5.0, 0.0]


def test_vectors_by_hand():
    run = {"u": ["a", "b", "c"], "v": ["a", "d"], "w": ["a", "o"]}
    vectors = {"a": [2, 0], "b": [0, 1], "c": [-1, 0], "d": [5, 0], "o": [0, 0]}
    found = evaluate(run, "ILD", vectors=vectors).per_query["ILD"]
    assert found == pytest.approx([(1 + 2 + 1) / 3, 0.0, 1.0], abs=1e-15)
    # Vectors too large or too small for the square of their length have directions, too.
    for factor in (1e300, 1e-300):
        scaled = {item: [factor * number for number in row] for item, row in vectors.items()}
        assert evaluate(run, "ILD", vectors=scaled).per_query["ILD"] == pytest.approx(found)


def test_expected_lists_are_those_of_a_simple_recommender():
    run = {"u": ["a", "b", "c"], "v": ["a", "b", "c"]}
    judgments = {"u": {"a": 1, "c": 1}, "v": {"b": 1}}
    simple = {"u": ["c", "z", "a"], "w": ["b"]}
    found = evaluate(run, ["Serendipity@3", "Serendipity@2"], judgments=judgments, expected=simple)
    assert found.per_query["Serendipity@3"] == [0.0, 1 / 3]
    assert found.per_query["Serendipity@2"] == [1 / 2, 1 / 2]  # down to rank 2, a is not expected


def test_gini_of_equal_exposure_is_nothing_and_of_one_item_the_most():
    items = list("abcd")
    equal = evaluate({"u": ["a", "b"], "v": ["c", "d"]}, ["Gini", "Entropy"], items=items)
    assert (equal["Gini"], equal["Entropy"]) == (0.0, 2.0)
    one = evaluate({"u": ["a"], "v": ["a"]}, ["Gini", "Entropy"], items=items)
    assert (one["Gini"], one["Entropy"]) == (3 / 4, 0.0)


def test_same_lists_have_nothing_personal():
    for count in (2, 3, 7):
        run = {f"u{place}": list("abc") for place in range(count)}
        assert evaluate(run, "Personalisation")["Personalisation"] == 0.0
    apart = {"u": ["a", "b"], "v": ["c"], "w": ["d", "e", "f"]}
    assert evaluate(apart, "Personalisation")["Personalisation"] == 1.0


def test_a_list_like_the_history_is_calibrated():
    items = {"a": ["x", "y"], "b": "x", "c": "z", "d": ["x", "y"], "e": "x", "f": "z"}
    found = evaluate(
        {"u": ["a", "b", "c"]}, "Miscalibration", items=items, history={"u": ["d", "e", "f"]}
    )
    assert found["Miscalibration"] == 0.0
    other = evaluate({"u": ["c"]}, "Miscalibration", items=items, history={"u": ["b"]})
    assert other["Miscalibration"] == pytest.approx(math.log2(100))


MEASURES = [
    "Coverage@3", "Gini@3", "Entropy@3", "Personalisation@3", "Novelty@3", "Popularity@3",
    "ILD(by=category)@3", "ILD(by=vectors)@3", "Serendipity@3", "Serendipity(unexpected=rank)@3",
    "HitRate@3", "Miscalibration@3",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_names_and_orders_do_not_matter(seed):
    run, data = random_data(seed)
    # Without ties, which ids decide.
    run = {u: {item: place for place, item in enumerate(docs)} for u, docs in run.items()}
    found = evaluate(run, MEASURES, **data)

    def renamed(given):
        backwards = [*given.items()][::-1]
        return {f"new {user}": found for user, found in backwards}

    turned = {name: renamed(data[name]) for name in ("history", "judgments")}
    again = evaluate(renamed(run), MEASURES, items=data["items"], vectors=data["vectors"], **turned)
    assert [*again.means.values()] == pytest.approx([*found.means.values()], abs=1e-14)
    # Another copy of everyone changes no mean over users, nor what is shown of a catalogue.
    names = [name for name in MEASURES if not name.startswith("Personalisation")]
    twice = evaluate(
        run | renamed(run), names, items=data["items"], vectors=data["vectors"],
        history=data["history"] | turned["history"], judgments=data["judgments"] | turned["judgments"],
    )  # fmt: skip
    for name, value in twice.means.items():
        factor = 2 if name.startswith("Popularity") else 1
        if not name.startswith(
            "Novelty"
        ):  # an unknown item is as if one user had it, of twice as many
            assert value == pytest.approx(factor * found[name], abs=1e-12), name


@pytest.mark.parametrize("seed", range(6))
def test_more_of_the_lists_shows_more_of_the_catalogue(seed):
    run, data = random_data(seed)
    shown = evaluate(run, [f"Coverage@{k}" for k in range(1, 9)], items=data["items"]).run_values
    assert [*shown.values()] == sorted(shown.values())
    hits = evaluate(
        run, "HitRate(segment=x)@1,2,5,9", items=data["items"], judgments=data["judgments"]
    )
    assert [*hits.means.values()] == sorted(hits.means.values())
    bounds = {"Coverage@3": 1, "Gini@3": 1, "Personalisation@3": 1, "ILD(by=category)@3": 1,
              "ILD(by=vectors)@3": 2, "Serendipity@3": 1, "Miscalibration@3": math.log2(100)}  # fmt: skip
    found = evaluate(run, [*bounds], **data)
    for name, highest in bounds.items():
        assert 0 <= found[name] <= highest + 1e-12, name
    size = len(data["items"])
    assert evaluate(run, "Entropy@3", items=data["items"])["Entropy@3"] <= math.log2(size)


def test_segments_are_measures_of_their_own():
    run, data = random_data(1)
    found = evaluate(run, "HitRate@3", items=data["items"], judgments=data["judgments"])
    names = [f"HitRate(segment={name})@3" for name in "wxyz"]
    assert [*found.means] == names
    assert found[names[1]] == found.means["HitRate(segment=x)@3"]
    again = evaluate(run, names[::-1], items=data["items"], judgments=data["judgments"])
    assert {**again} == {**found}
    with pytest.raises(gf.errors.InputError, match=r"a segment of the items, found 'q'"):
        evaluate(run, "HitRate(segment=q)@3", items=data["items"], judgments=data["judgments"])


def test_what_was_not_asked_for_by_name_is_left_out_where_nobody_has_a_value():
    items, judgments = {"a": "p", "b": "q"}, {"u": {"a": 1}}
    found = evaluate({"u": ["a"]}, items=items, judgments=judgments)
    names = ["Coverage@10", "Gini@10", "Entropy@10", "HitRate(segment=p)@10"]
    assert [*found.means] == names
    nobody = ("Personalisation@10", "ILD@10", "HitRate(segment=q)@10")
    assert found.coverage.left_out == nobody
    assert f"Measures without a value: {nobody[0]}" in str(found.coverage)
    with pytest.raises(
        gf.errors.InputError, match=r"HitRate\(segment=q\)@10: expected at least one"
    ):
        evaluate({"u": ["a"]}, "HitRate(segment=q)@10", items=items, judgments=judgments)
    with pytest.raises(gf.errors.InputError, match="at least two users with a list"):
        evaluate({"u": ["a"]}, "Personalisation")


def test_users_without_a_value_are_left_out_and_told():
    run = {"u": ["a", "b"], "v": ["a"], "w": [], "x": ["unknown", "a"]}
    found = evaluate(
        {**run, "w": {}}, ["ILD@5", "Coverage@5"], items={"a": "p", "b": "q", "c": "p"}
    )
    assert found.per_query.to_dict() == {"u": {"ILD@5": 1.0}}
    assert found["ILD@5"] == 1.0
    assert found.coverage.without == {"ILD@5": 3}
    assert found.coverage.empty == ("v", "w", "x")
    assert found.coverage.unknown == {"items": 1}
    said = " ".join(str(found).split())
    left_out = "Left out of the mean of ILD@5: 3 users without two known items in the list."
    assert f"1 of 4 users got no list. {left_out}" in said
    assert "1 of them is not in the items." in said
    assert found["Coverage@5"] == 2 / 3  # what the catalogue lacks covers none of it


def test_the_reason_why_users_are_left_out_is_the_same_note_for_several_runs():
    items, history = {"a": "p", "b": "q", "c": "p"}, {"u": ["a"], "v": ["c"]}
    runs = {"one": {"u": ["a", "b"], "w": ["b"]}, "two": {"u": ["a", "c"], "w": ["c"]}}
    names = ["ILD@5", "Miscalibration@5"]
    found = gf.recommending.evaluate_recommendation_runs(runs, names, items=items, history=history)
    said = " ".join(str(found).split())
    reasons = (
        "ILD@5: 1 user without two known items in the list; "
        "of Miscalibration@5: 1 user without a list and a history in known categories."
    )
    assert said.count(f"Left out of the mean of {reasons}") == 1
    assert "no relevant documents" not in said


def test_of_many_measures_the_first_say_whom_they_leave_out():
    items = {f"i{at}": f"c{at}" for at in range(8)}
    run = {"u": ["i0", "i1"], "v": ["i1"]}
    liked = {"u": dict.fromkeys(items, 1)}
    found = evaluate(run, "HitRate@5", items=items, judgments=liked)
    said = " ".join(str(found).split())
    assert "HitRate(segment=c5)@5: 1 user without a relevant item in the segment" in said
    assert "; of 2 more measures." in said


def test_what_the_run_has_as_a_whole_is_told_apart():
    run, data = random_data(4)
    found = evaluate(run, ["Gini@3", "Novelty@3"], history=data["history"])
    assert [*found.run_values] == ["Gini@3"]
    assert found.per_query.columns == ("query", "Novelty@3")
    assert [row[2].split()[0] for row in found.table().rows] == ["the", "mean"]
    assert found.interval("Novelty@3").low < found["Novelty@3"]
    with pytest.raises(gf.errors.InputError, match="a value of the run as a whole"):
        found.interval("Gini@3")
    intervals = gf.writing.render({"one": found}, "csv", interval="hall").splitlines()
    assert intervals[1].startswith("one,Gini@3,")
    assert intervals[1].endswith(",,,")
    assert "Gini@3: computed over the whole run" in gf.writing.render({"one": found}, "table")
    assert found.interval() == found.interval("Novelty@3")  # the first of which users have values
    drawn = found.plot.distribution().to_dict()
    assert "Novelty@3" in str(drawn)
    assert found.per_query.worst(1, measure="novelty@3").queries == found.per_query.worst(1).queries
    with pytest.raises(gf.errors.InputError, match="'Gini@3', a value of the whole run"):
        found.per_query["gini@3"]
    with pytest.raises(gf.errors.InputError, match="a value of the run as a whole"):
        gf.results.Gate.of_scores({"one": found}, ["Gini@3 < 0.1"])
    with pytest.raises(gf.errors.InputError, match="found those of recommendations"):
        _ = found.judged
    with pytest.raises(gf.errors.InputError, match="Measures of subtopics or of recom"):
        gf.comparison.save_baseline(found, "never.json")
    alone = evaluate(run, "Gini@3", history=data["history"])
    assert alone["Gini@3"] == found["Gini@3"]
    with pytest.raises(gf.errors.InputError, match="a measure with values per query"):
        gf.comparison.compare_scores({"one": alone, "two": alone})


def test_runs_are_compared_by_what_users_have():
    run, data = random_data(2, users=40)
    other = {user: {item: -score for item, score in docs.items()} for user, docs in run.items()}
    runs = gf.recommending.evaluate_recommendation_runs(
        {"one": run, "other": other}, ["Gini@2", "Novelty@2"], history=data["history"]
    )
    found = gf.comparison.compare_scores(runs)
    (difference,) = found.differences
    assert difference.measure == "Novelty@2"
    assert difference.difference == pytest.approx(
        runs["other"]["Novelty@2"] - runs["one"]["Novelty@2"], abs=1e-12
    )
    for name, scores in runs.items():
        alone = evaluate(
            {"one": run, "other": other}[name], ["Gini@2", "Novelty@2"], history=data["history"]
        )
        assert alone == scores
        assert alone.signature("Gini@2") == scores.signature("Gini@2")


def test_signatures_are_of_what_a_measure_sees():
    run, data = random_data(7)
    found = evaluate(run, ["Novelty@2"], history=data["history"])
    rows = [
        {"user": user, "item": item, "count": count}
        for user, items in data["history"].items()
        for item, count in items.items()
    ]
    same = evaluate(
        {u: {**docs} for u, docs in [*run.items()][::-1]}, "Novelty@2", history=rows[::-1]
    )
    assert same.signature("Novelty@2") == found.signature("Novelty@2")
    other = evaluate(run, "Novelty@2", history={**data["history"], "new": {"i3": 1}})
    assert other.hashes("Novelty@2")[0] != found.hashes("Novelty@2")[0]
    assert other.hashes("Novelty@2")[1] == found.hashes("Novelty@2")[1]


def test_many_kinds_of_categories_give_the_same_as_few(monkeypatch):
    from gainful.arithmetic.kernels import recommendations

    run, data = random_data(5, users=20, items=40)
    found = evaluate(run, "ILD", items=data["items"]).per_query["ILD"]
    vectors = evaluate(run, "ILD", vectors=data["vectors"]).per_query["ILD"]
    monkeypatch.setattr(recommendations, "_MOST_IN_TABLE", 0)
    monkeypatch.setattr(recommendations, "_BLOCK", 8)
    assert evaluate(run, "ILD", items=data["items"]).per_query["ILD"] == found
    again = evaluate(run, "ILD", vectors=data["vectors"]).per_query["ILD"]
    assert again == pytest.approx(vectors, abs=1e-15, nan_ok=True)


def test_nothing_that_was_given_is_changed():
    run, data = random_data(3)
    arrays = (list(data["vectors"]), np.array([*data["vectors"].values()]))
    before = repr((run, data, arrays))
    evaluate(run, MEASURES, **{**data, "vectors": arrays})
    assert repr((run, data, arrays)) == before
