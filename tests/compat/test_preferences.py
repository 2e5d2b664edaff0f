"""Measures of preferences and of several judges: worked by hand, and counted pair by pair."""

import random
from itertools import permutations

import pytest

import gainful as gf

# Of a judge who has ordered all: a over b and c, b over c. Of another, in two groups: c over a, and
# a over d, so c over d follows.
PREFERENCES = "1 x g a 3\n1 x g b 2\n1 x g c 1\n1 y g c 2\n1 y g a 1\n1 y h a 2\n1 y h d 1\n"
RUN = "1 Q0 b 1 9 t\n1 Q0 u 2 8 t\n1 Q0 a 3 7 t\n1 Q0 c 4 6 t\n"  # d is not retrieved


def values(arguments, files, judgments, run):
    """Return what is printed for all queries, by name."""
    paths = str(files("q", judgments)), str(files("r", run))
    done = gf.compat.trec_eval([*arguments, *paths])
    assert done.code == 0, done.error
    rows = [line.split("\t") for line in done.output.splitlines()]
    return {name.strip(): value for name, query, value in rows if query == "all"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Six preferences: a>b lost; a>c, b>c fulfilled; c>a lost; a>d, c>d fulfilled, d not there.
        ("prefs_num_prefs_poss", "6"),
        ("prefs_num_prefs_ful", "4"),
        ("prefs_num_prefs_ful_ret", "2"),
        ("prefs_simp", "0.6667"),
        ("prefs_simp_ret", "0.5000"),
        ("prefs_simp_imp", "0.6667"),
        ("prefs_avgjg", "0.6667"),
        ("prefs_avgjg_ret", "0.3333"),  # (2/3 + 0/1) / 2
        # The pairs ab: 0, bc: 1, ac: 1/2, ad: 1, cd: 1.
        ("prefs_pair", "0.7000"),
        ("prefs_pair_ret", "0.5000"),
        ("prefs_pair_imp", "0.7000"),
        # None is irrelevant: each relevant document retrieved is above three more, or not there:
        # (2 + 3·3) / (3 + 3·3) and (2 + 2·3) / (3 + 3·3).
        ("prefs_avgjg_Rnonrel", "0.7917"),
    ],
)
def test_preferences_worked_by_hand(name, value, files):
    found = values(["-R", "prefs", "-m", "all_prefs"], files, PREFERENCES, RUN)
    assert found[name] == value


def test_documents_with_equal_scores_stand_by_id_ascending(files):
    judgments, run = "1 x g a 2\n1 x g b 1\n", "1 Q0 a 1 5 t\n1 Q0 b 2 5 t\n"
    found = values(["-R", "prefs", "-m", "prefs_simp"], files, judgments, run)
    assert found == {"prefs_simp": "1.0000"}  # where -R qrels has b first


@pytest.mark.parametrize(
    "judgments", ["1 x a 2\n1 x b 1\n1 x c 0\n", "1 x g a 2\n1 x g b 1\n1 x g c 0\n"]
)
def test_grades_are_the_preferences_of_one_group(judgments, files):
    form = "prefs" if "g" in judgments else "qrels_prefs"
    run = "1 Q0 b 1 5 t\n1 Q0 c 2 4 t\n"
    found = values(["-R", form, "-m", "prefs"], files, judgments, run)
    assert found["prefs_num_prefs_poss"] == "3"
    assert found["prefs_num_prefs_ful"] == "1"


@pytest.mark.parametrize(
    ("judgments", "told"),
    [
        ("1 x g a 2\n1 x g a 1\n", "two levels"),
        ("1 x g a 2\n1 x g b 0\n1 x h a 0\n1 x h b 0\n", "at level 0 and above"),
        ("1 x g a 2\n1 x g b 1\n1 x h b 2\n1 x h a 1\n", "are circular"),
        ("1 x g a 2\n1 x g b 1\n1 x h b 2\n1 x h c 1\n1 x i c 2\n1 x i a 1\n", "are circular"),
        ("1 x g a nan\n1 x g b 1\n", "a number"),
    ],
)
def test_contradictions(judgments, told, files):
    paths = str(files("q", judgments)), str(files("r", "1 Q0 a 1 5 t\n"))
    done = gf.compat.trec_eval(["-R", "prefs", "-m", "prefs", *paths])
    assert (done.output, done.code) == ("", 4)
    assert told in done.error
    # Different judges may disagree.
    apart = "1 x g a 2\n1 x g b 1\n1 y h b 2\n1 y h a 1\n"
    found = values(["-R", "prefs", "-m", "prefs_simp"], files, apart, "1 Q0 a 1 5 t\n")
    assert found == {"prefs_simp": "0.5000"}


def literal(judges, docs, retrieved):
    """Count preferences pair by pair: {judge: [(level, group, doc)]}, documents by rank."""
    place = {doc: number for number, doc in enumerate(docs)}
    shares, pairs, total, fulfilled = [], {}, 0, 0
    for opinions in judges.values():
        over = {
            (one, other)
            for level, group, one in opinions
            for low, same, other in opinions
            if same == group and level > low
        }
        while True:
            more = {(a, d) for a, b in over for c, d in over if b == c} - over
            if not more:
                break
            over |= more
        won = [pair for pair in over if place[pair[0]] < min(place[pair[1]], retrieved)]
        if over:
            shares.append(len(won) / len(over))
        else:
            shares.append(0.0)
        total, fulfilled = total + len(over), fulfilled + len(won)
        for pair in over:
            counts = pairs.setdefault(frozenset(pair), [0, 0])
            counts[0] += pair in won
            counts[1] += 1
    return {
        "prefs_simp": fulfilled / total if total else 0.0,
        "prefs_avgjg": sum(shares) / len(shares),
        "prefs_pair": sum(won / all_ for won, all_ in pairs.values()) / max(len(pairs), 1),
    }


def test_preferences_as_a_literal_count_has_them(files):
    rng = random.Random(11)  # noqa: S311 - the same every time
    judgments, run, expected = [], [], []
    for query in range(60):
        docs = [f"d{number}" for number in range(rng.randint(2, 9))]
        judges = {}
        for judge in rng.sample("xyz", rng.randint(1, 3)):
            order = {doc: rng.randint(1, 4) for doc in docs}  # so no judge contradicts itself
            judges[judge] = [
                (order[doc], group, doc)
                for group in rng.sample("gh", rng.randint(1, 2))
                for doc in rng.sample(docs, rng.randint(1, len(docs)))
            ]
        found = rng.sample(docs, rng.randint(1, len(docs)))
        judged = {doc for opinions in judges.values() for _, _, doc in opinions}
        first = [doc for doc in found if doc in judged]
        expected.append(literal(judges, [*first, *(judged - set(first))], len(first)))
        judgments += [
            f"{query:02} {judge} {group} {doc} {level}"
            for judge, opinions in judges.items()
            for level, group, doc in opinions
        ]
        run += [f"{query:02} Q0 {doc} 0 {-rank} t" for rank, doc in enumerate(found)]
    names = list(expected[0])
    arguments = [part for name in names for part in ("-m", name)]
    paths = [str(files("q", "\n".join(judgments))), str(files("r", "\n".join(run)))]
    output = gf.compat.trec_eval(["-R", "prefs", "-q", "-n", *arguments, *paths]).output
    found = [line.split("\t") for line in output.splitlines()]
    assert len(found) == len(expected) * len(names)
    for name, query, value in found:
        assert float(value) == pytest.approx(expected[int(query)][name.strip()], abs=5e-5), (
            name,
            query,
        )


def test_as_many_irrelevant_as_relevant_documents(files):
    """One relevant document, three others: only the first of these counts, and it with itself."""
    judgments = "1 x g a 1\n1 x g b 0\n1 x g c 0\n1 x g d 0\n"
    for order in permutations("abcd"):
        run = "".join(f"1 Q0 {doc} 0 {-rank} t\n" for rank, doc in enumerate(order))
        found = values(["-R", "prefs", "-m", "prefs_avgjg_Rnonrel"], files, judgments, run)
        # Of four pairs with the first of b, c, d: a over it, and the three of it and its like,
        # which trec_eval counts as possible though none of them stands above it.
        share = 0.25 if order[0] == "a" else 0.0
        assert found == {"prefs_avgjg_Rnonrel": f"{share:.4f}"}


def test_measures_averaged_over_judges(files):
    # By x, a and b are relevant, at ranks 1 and 3: (1 + 2/3) / 2; by y, c at rank 2: 1/2.
    judgments = "1 x a 1\n1 x b 1\n1 y c 1\n1 y a 0\n"
    run = "1 Q0 a 1 9 t\n1 Q0 c 2 8 t\n1 Q0 b 3 7 t\n"
    arguments = [
        "-R",
        "qrels_jg",
        "-m",
        "map_avgjg",
        "-m",
        "P_avgjg.1,2",
        "-m",
        "Rprec_mult_avgjg.1",
    ]
    assert values(arguments, files, judgments, run) == {
        "map_avgjg": "0.6667",
        "P_avgjg_1": "0.5000",
        "P_avgjg_2": "0.5000",
        "Rprec_mult_avgjg_1.00": "0.2500",
    }
    alone = values(["-m", "map"], files, judgments.replace("1 y c 1\n1 y a 0\n", ""), run)
    one = values([*arguments[:4]], files, judgments.replace("1 y c 1\n1 y a 0\n", ""), run)
    assert one["map_avgjg"] == alone["map"]


def test_a_document_that_one_judge_has_twice(files):
    paths = str(files("q", "1 x a 1\n1 x a 1\n")), str(files("r", RUN))
    done = gf.compat.trec_eval(["-R", "qrels_jg", "-m", "qrels_jg", *paths])
    assert (done.output, done.code) == ("", 2)
