"""The rules against their definitions, written out slowly, on random judgments and runs."""

import random
from itertools import combinations

import pytest

import gainful as gf

CUTOFF = 3


def random_rows(rng):
    """Rows of a small run, in any order: query, doc, rank, score; some documents twice."""
    rows = []
    for query in rng.sample("123456", rng.randint(2, 5)):
        docs = rng.choices("abcdefg1234", k=rng.randint(1, 8))
        scores = [rng.choice([0.5, 1.0, 1.5, 2.0, 3.0, 4.0]) for _ in docs]
        if rng.random() < 0.5:
            scores.sort(reverse=True)
        rows += [
            (query, doc, rank, score)
            for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
        ]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    return rows


def random_grades(rng):
    scale = rng.choice([(-1, 0, 0, 1, 2, 2.5), (-2, -1, 0, 1, 2, 2.5)])
    return {
        query: {doc: rng.choice(scale) for doc in rng.sample("abcdefg1234", rng.randint(1, 6))}
        for query in rng.sample("123456", rng.randint(1, 5))
    }


def expected_of_run(rows, grades):
    """Return rule → count, by the letter of each rule."""
    lists = {}
    for query, doc, rank, score in rows:
        lists.setdefault(query, []).append((doc, rank, score))
    counts = {
        "duplicate-document": len({(q, d) for q, docs in lists.items() for d, *_ in docs if [e[0] for e in docs].count(d) > 1}),
        "self-match": sum(query == doc for query, doc, *_ in rows),
        "rank-against-score": sum(
            any((a[1] - b[1]) * (a[2] - b[2]) > 0 for a, b in combinations(docs, 2))
            for docs in lists.values()
        ),
        "constant-score": sum(len(docs) > 1 and len({e[2] for e in docs}) == 1 for docs in lists.values()),
        "short-list": sum(len(docs) < CUTOFF for docs in lists.values()),
    }  # fmt: skip
    numbers = [[score for *_, score in docs] for docs in lists.values()]
    ranks = any(all(sorted(each) == [*range(first, first + len(each))] for each in numbers) for first in (0, 1))  # fmt: skip
    falls = all(each == sorted(each, reverse=True) for each in numbers)
    if ranks and not falls and max(row[3] for row in rows) >= 2:
        counts["rank-as-score"] = len(lists)
    ordered = {
        query: sorted(docs, key=lambda each: (each[2], each[0]), reverse=True)
        for query, docs in lists.items()
    }
    counts["tie-at-cutoff"] = sum(
        len(docs) > CUTOFF and docs[CUTOFF - 1][2] == docs[CUTOFF][2] for docs in ordered.values()
    )
    shared = lists.keys() & grades.keys()
    if not shared:
        return counts | {"no-shared-queries": len(lists)}
    counts["missing-query"] = len(grades.keys() - shared)
    counts["extra-query"] = len(lists.keys() - shared)
    if not any(doc in grades[query] for query in shared for doc, *_ in lists[query]):
        return counts | {"no-shared-documents": sum(len(lists[query]) for query in shared)}
    seen = [(query, doc) for query in shared for doc, *_ in ordered[query][:CUTOFF]]
    unjudged = sum(doc not in grades[query] for query, doc in seen)
    return counts | {"mostly-unjudged": unjudged if unjudged / len(seen) > 0.5 else 0}


def expected_of_judgments(grades):
    numbers = [grade for docs in grades.values() for grade in docs.values()]
    return {
        "self-match": sum(query in docs for query, docs in grades.items()),
        "grade-off-scale": sum(not 0 <= grade <= 2 for grade in numbers),
        "unjudged-mark": sum(grade == -1 for grade in numbers)
        * all(grade >= -1 for grade in numbers),
        "fractional-grade": sum(grade != int(grade) for grade in numbers),
        "no-relevant-document": sum(max(docs.values()) <= 0 for docs in grades.values()),
    }


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_the_definitions(tmp_path, seed):
    rng = random.Random(seed)  # noqa: S311
    grades, rows = random_grades(rng), random_rows(rng)
    path = tmp_path / "run"
    path.write_text("".join(f"{q} Q0 {d} {rank} {score} t\n" for q, d, rank, score in rows))
    findings = gf.check(grades, {"run": path}, cutoff=CUTOFF, scale=(0, 2))
    for name, expected in (
        ("judgments", expected_of_judgments(grades)),
        ("run", expected_of_run(rows, grades)),
    ):
        found = {each.rule: each.count for each in findings if each.input == name}
        assert found == {rule: count for rule, count in expected.items() if count}
    for finding in findings:
        if finding.place.startswith(f"{path}:"):
            line = path.read_text().splitlines()[int(finding.place.rpartition(":")[2]) - 1].split()
            assert finding.query == line[0]
            assert finding.doc in (None, line[2])


def test_every_rule_that_is_counted_occurs():
    rules = set()
    for seed in range(40):
        rng = random.Random(seed)  # noqa: S311
        grades, rows = random_grades(rng), random_rows(rng)
        for counts in (expected_of_judgments(grades), expected_of_run(rows, grades)):
            rules |= {rule for rule, count in counts.items() if count}
    assert len(rules) >= 12
