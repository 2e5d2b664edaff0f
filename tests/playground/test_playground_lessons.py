"""What the playground teaches: costs of ranks, what-if sentences, the story, and challenges that can be solved."""

import itertools
import math
import string

import pytest
from playground_states import chosen, documents, drawn


def test_the_costs_of_all_ranks_are_what_is_missing_to_the_ideal(ask):
    rng = drawn(7)
    states = [documents(rng) | chosen(rng) for _ in range(300)]
    measured = ask([["measured", state] for state in states])
    compared = ask([["compared", each] for each in measured])
    checked = 0
    for state, values, costs in zip(states, measured, compared, strict=True):
        parts = [rank["cost"] for rank in costs["ranks"]] + [costs["unfilled"]["cost"]]
        if values["empty"]:
            assert set(parts) <= {0}
        else:
            assert sum(parts) == pytest.approx(values["ndcg"] - 1, abs=1e-9), state
            checked += len(parts)
        earned = sum(rank["ideal"] for rank in costs["ranks"])
        assert len(values["best"]) > len(values["rows"]) or earned == pytest.approx(values["idcg"])
    assert checked > 500


def test_what_each_rank_costs_by_hand(ask, of_link):
    """Ideal 3, 3, 3, 2, 2, 2, IDCG 8.740: rank 2 has 2 instead of 3, so it costs 0.631 / 8.740."""
    state = of_link("list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6")
    (found,) = ask([["compared", ask([["measured", state]])[0]]])
    assert [rank["cost"] for rank in found["ranks"]] == pytest.approx(
        [0, -0.0722, 0, -0.0986, -0.0443, 0], abs=5e-5
    )
    short = of_link("list=A1&rest=B1,C1,D1,E1&k=5")
    (found,) = ask([["compared", ask([["measured", short]])[0]]])
    assert (found["unfilled"]["first"], found["unfilled"]["last"]) == (2, 5)
    assert found["unfilled"]["cost"] == pytest.approx(1 / 2.9485 - 1, abs=5e-5)


@pytest.mark.parametrize(
    ("before", "after", "change", "sentence"),
    [
        (
            "list=A3,B2,C3,D0,E1,F2&k=6", "list=A3,B2,D0,C3,E1,F2&k=6", "Swapping C and D",
            "Swapping C and D changes DCG@6 from 6.861 to 6.653 and nDCG@6 from 0.961 to 0.932. CG@6 stays the same.",
        ),
        (
            "list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6", "list=A3,B2,D0,C3,E1,F2&rest=G3,H2&k=6", "Swapping C and D",
            "Swapping C and D changes DCG@6 from 6.861 to 6.653 and nDCG@6 from 0.785 to 0.761. CG@6 stays the same.",
        ),
        (
            "list=A1,B0,C1,D1,E0&k=3", "list=A1,C1,B0,D1,E0&k=3", "Swapping B and C",
            "Swapping B and C changes DCG@3 from 1.500 to 1.631 and nDCG@3 from 0.704 to 0.765. CG@3 stays the same.",
        ),
        (
            # CG is the same only while both ranks lie within the cutoff.
            "list=A1,B0,C1&k=2", "list=A1,C1,B0&k=2", "Swapping B and C",
            "Swapping B and C changes DCG@2 from 1.000 to 1.631, nDCG@2 from 0.613 to 1.000 and CG@2 from 1.000 to 2.000.",
        ),
        ("list=A2,B2", "list=B2,A2", "Swapping A and B", "Swapping A and B changes none of DCG, nDCG and CG."),
        ("list=A2,B2&k=1", "list=A2,B2", "Setting k", "Setting k changes DCG from 2.000 to 3.262 and CG from 2.000 to 4.000. nDCG stays the same."),
        ("list=A0", "list=A-1", "Grading A −1", "Grading A −1 changes DCG from 0.000 to −1.000 and CG from 0.000 to −1.000. nDCG stays the same."),
        ("list=A3,B2&rest=C0", "list=A3,B2&rest=C0.0001", "Grading C", "Grading C changes nDCG by less than 0.001. DCG and CG stay the same."),
    ],
)  # fmt: skip
def test_what_a_change_does_as_a_sentence(ask, of_link, before, after, change, sentence):
    assert ask([["effect", of_link(before), of_link(after), change]]) == [sentence]


def ndcg(state):
    """Return nDCG@k with linear gains, as a formula."""
    grades = [doc["grade"] for doc in state["list"]]
    ideal = sorted((*grades, *(doc["grade"] for doc in state["rest"])), reverse=True)
    dcg, best = (
        sum(grade / math.log2(rank + 1) for rank, grade in enumerate(some[: int(state["k"])], 1))
        for some in (grades, ideal)
    )
    return dcg / best


def orders(state, moves):
    """Return all states that so many moves lead to, by their order; the line between list and rest stays."""
    docs = {doc["id"]: doc for doc in state["list"] + state["rest"]}
    reached = {"".join(doc["id"] for doc in state["list"]) + "|" + "".join(doc["id"] for doc in state["rest"])}  # fmt: skip
    for _ in range(moves):
        nexts = set()
        for text in reached:
            for at, doc in enumerate(text):
                rest = text[:at] + text[at + 1 :]
                if doc != "|":
                    nexts |= {rest[:to] + doc + rest[to:] for to in range(len(text))}
        reached |= {text for text in nexts if not text.startswith("|")}
    return {
        text: state | dict(zip(("list", "rest"), ([docs[doc] for doc in part] for part in text.split("|")), strict=True))
        for text in reached
    }  # fmt: skip


def progress(ask, index, states):
    """Return what states have achieved in a challenge; the five steps of the story come before the challenges."""
    return ask([["progress", 5 + index, state] for state in states])


SOLUTIONS = {
    "Reach 0.9 in two moves": "list=G3,A3,B2,C3,E1,F2&rest=H2,D0&k=6",
    "Reach 1 in three moves": "list=A3,C3,B2,E1,D0&k=5",
    "Move, and change nothing": "list=A3,C2,B2,D0,E1&rest=F3&k=3",
    "Judge more, score less": "list=A3,B2,C1,D0,U3&k=5",
    "Make two tools agree": "list=A1,B2,C0,X3&k=4",
}


def test_every_challenge_has_a_solution_and_none_is_solved_at_the_start(ask, of_link):
    (challenges,) = ask([["CHALLENGES"]])
    assert [each["title"] for each in challenges] == list(SOLUTIONS)
    for index, each in enumerate(challenges):
        start, end = of_link(each["link"]), of_link(SOLUTIONS[each["title"]])
        before, after = progress(ask, index, [start, end])
        assert not before["done"], each["title"]
        assert after["done"], each["title"]
        assert after["moves"] == each.get("moves")


@pytest.mark.parametrize(("index", "goal"), [(0, 0.9), (1, 1)])
def test_a_challenge_needs_all_of_its_moves(ask, of_link, index, goal):
    (challenges,) = ask([["CHALLENGES"]])
    start, moves = of_link(challenges[index]["link"]), challenges[index]["moves"]
    assert max(map(ndcg, orders(start, moves - 1).values())) < goal - 1e-9
    assert max(map(ndcg, orders(start, moves).values())) >= goal - 1e-9


def test_moves_are_counted_as_few_as_they_can_be(ask, of_link):
    start = of_link("list=A1,B2,C3&rest=D0,E1")
    for moves in (1, 2):
        closer, states = orders(start, moves - 1), orders(start, moves)
        # The order of what was not returned means nothing.
        shown = {(text.split("|")[0], *sorted(text.split("|")[1])) for text in closer}
        texts = [
            text
            for text in states
            if (text.split("|")[0], *sorted(text.split("|")[1])) not in shown
        ]
        counts = ask([["movesBetween", start, states[text]] for text in texts])
        assert set(counts) == {moves}
    others = ["list=A1,B2,C3&rest=D0,E2", "list=A1~B2,C3&rest=D0,E1", "list=A1,B2,C3&rest=D0,E1&gain=exp2", "list=A1,B2,C3&rest=D0"]  # fmt: skip
    assert ask([["movesBetween", start, of_link(other)] for other in others]) == [None] * 4


def test_more_moves_or_other_changes_do_not_solve_a_challenge(ask, of_link):
    (challenges,) = ask([["CHALLENGES"]])
    assert challenges[0]["moves"] == 2
    perfect = of_link("list=A3,C3,G3,B2,F2,H2&rest=D0,E1&k=6")
    graded = of_link("list=A3,B3,C3,D3,E3,F3&rest=G3,H2&k=6")
    assert [each["done"] for each in progress(ask, 0, [perfect, graded])] == [False, False]


STEPS = (
    "list=A3,B2,C3,E1,F2,D0&k=6",
    "list=A3,B2,D0,C3,E1,F2&k=6",
    "list=A3,G3,B2,C3,D0,E1,F2&rest=H2&k=6",
    "list=A3,B0,C2,D0,E1&rest=F2&k=5",
    "list=A1,B2,C0,U_&rest=X3&k=4&gain=exp2&ideal=retrieved",
)


def test_every_step_of_the_story_has_a_task_that_can_be_done(ask, of_link):
    (story,) = ask([["STORY"]])
    for index, (step, link) in enumerate(zip(story, STEPS, strict=True)):
        start = of_link(step["link"])
        found = ask([["progress", index, state] for state in (start, of_link(link))])
        assert [each["done"] for each in found] == [False, True], step["title"]


def test_the_numbers_in_the_story_are_those_of_the_page(ask, of_link, tools):
    (story,) = ask([["STORY"]])
    first, swapped = ask([["measured", of_link(link)] for link in (story[1]["link"], STEPS[1])])
    assert "DCG falls from 6.861 to 6.653" in story[1]["task"]
    assert (f"{first['dcg']:.3f}", f"{swapped['dcg']:.3f}") == ("6.861", "6.653")
    assert (first["cg"], swapped["cg"]) == (11, 11)
    state = of_link(story[4]["link"])
    said = {tool["name"]: ask([["said", state, tool]])[0]["ndcg"] for tool in tools}
    for name in ("gdeval", "trec_eval", "LightGBM", "scikit-learn"):
        assert f"{name} {'says ' if name == 'gdeval' else ''}{said[name]:.3f}" in story[4]["text"]
    assert len({round(value, 9) for value in said.values()}) == 6  # different ways
    (challenges,) = ask([["CHALLENGES"]])
    agree = of_link(challenges[4]["link"])
    values = {tool["name"]: ask([["said", agree, tool]])[0]["ndcg"] for tool in tools}
    assert challenges[4]["text"] == (
        f"trec_eval says {values['trec_eval']:.3f} and scikit-learn says {values['scikit-learn']:.3f}."
    )
    same = of_link(challenges[2]["link"])
    assert f"exactly {ndcg(same):.3f}" in challenges[2]["task"]


def test_every_document_is_a_recipe(ask):
    titles = ask([["titleOf", letter] for letter in string.ascii_uppercase])
    assert all(title.startswith(letter) for letter, title in zip(string.ascii_uppercase, titles, strict=True))  # fmt: skip
    assert len(set(titles)) == 26
    assert not any(one in other for one, other in itertools.permutations(titles, 2))
