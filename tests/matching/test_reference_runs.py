"""A reference run in place of judgments: its top k, by ids and within a distance."""

import random

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

NAMED = {"rank": "distance"}


def literal_recall(distances, found, k, epsilon):
    """The recall of a list as ann-benchmarks defines it: by the true distances of what was found."""
    limit = sorted(distances.values())[k - 1] + epsilon
    return sum(distances[doc] <= limit for doc in found[:k]) / k


@pytest.mark.parametrize("seed", range(15))
def test_recall_within_a_distance_is_the_literal_one(seed):
    rng, k = random.Random(seed), 5  # noqa: S311
    distances = {f"q{i}": {f"d{n}": rng.randint(0, 40) / 8 for n in range(30)} for i in range(6)}
    exact = [
        {"query": query, "doc": doc, "distance": distance}
        for query, docs in distances.items()
        for doc, distance in docs.items()
    ]
    found = {query: rng.sample(sorted(docs), 12) for query, docs in distances.items()}
    for epsilon in (0.0, 0.25, 1.0):
        judgments = gf.inputs.reference_judgments(exact, k=k, within=epsilon, columns=NAMED)
        scores = gf.evaluate(judgments, found, f"RelP@{k}").per_query.to_dict()
        for query, row in scores.items():
            expected = literal_recall(distances[query], found[query], k, epsilon)
            assert [*row.values()] == [pytest.approx(expected)]
    by_ids = gf.inputs.reference_judgments(exact, k=k, columns=NAMED)
    assert all(len(docs) == k for docs in by_ids.values())
    everything = gf.inputs.reference_judgments(exact, k=k, within=0, columns=NAMED)
    assert all(docs.keys() <= everything[query].keys() for query, docs in by_ids.items())


def test_a_reference_finds_itself_and_lists_need_no_scores():
    lists = {"q1": ["a", "b", "c"], "q2": ["d"]}
    judgments = gf.inputs.reference_judgments(lists, k=2)
    assert judgments == {"q1": {"a": 1.0, "b": 1.0}, "q2": {"d": 1.0}}
    assert gf.evaluate(judgments, lists, "R@2")["R@2"] == 1.0
    with pytest.raises(gf.errors.InputError, match="scores or distances"):
        gf.inputs.reference_judgments(lists, k=2, within=0.1)


def test_a_shallow_reference_is_doubtful():
    exact = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"a": 0.9, "b": 0.8, "c": 0.1}}
    with pytest.warns(
        gf.errors.GainfulWarning, match="document of 1 query, such as 'q1', is within"
    ):
        gf.inputs.reference_judgments(exact, k=1, within=0.2)


@pytest.mark.parametrize(("options", "message"), [({"k": 0}, "k:"), ({"within": -1}, "within:")])
def test_odd_options_are_refused(options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.inputs.reference_judgments({"q": {"a": 1.0}}, **options)
    with pytest.raises(gf.errors.InputError, match="empty lists only"):
        gf.inputs.reference_judgments({"q": []})


def test_a_reference_on_the_command_line(files, tmp_path):
    exact = files("exact.run", "".join(f"q Q0 d{n} {n} {10 - n} t\n" for n in range(1, 7)))
    qrels = tmp_path / "reference.qrels"

    def run(*arguments):
        return CliRunner().invoke(commands, ["convert", str(exact), str(qrels), *arguments])

    assert run("--as", "judgments", "--reference", "2").exit_code == 0
    assert qrels.read_text().split() == ["q", "0", "d1", "1", "q", "0", "d2", "1"]
    assert run("--as", "judgments", "--reference", "2", "--within", "1").exit_code == 0
    assert len(qrels.read_text().splitlines()) == 3
    assert "--reference requires --as judgments" in run("--as", "run", "--reference", "2").output
    assert "--within requires --reference" in run("--as", "judgments", "--within", "1").output
