"""The playground's JavaScript, in Node, gives the numbers of gainful: values, bounds, tools, and its texts."""

import itertools
import json
import re
import shlex

import pytest
from click.testing import CliRunner
from playground_states import (
    ANSWERS,
    ANY,
    DEFAULTS,
    WHOLE,
    chosen,
    documents,
    drawn,
    inputs,
    measure,
    policy,
)

import gainful as gf
from gainful.cli.commands import commands

CLOSE = 1e-12
NAMES = {"trec_eval": "trec_eval-10", "Spark MLlib": "spark-mllib"}
ALSO = {"OpenSearch": "elasticsearch"}


def near(value, expected):
    return value == pytest.approx(expected, rel=CLOSE, abs=CLOSE)


def test_worked_by_hand(ask, of_link):
    state = of_link("list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6")
    (found,) = ask([["measured", state]])
    assert found["cg"] == 11
    assert (found["dcg"], found["idcg"]) == pytest.approx((6.861, 8.740), abs=5e-4)
    assert [doc["id"] for doc in found["best"]] == ["A", "C", "G", "B", "F", "H"]
    assert [doc["weight"] for doc in found["rows"][:3]] == pytest.approx(
        [1, 0.63093, 0.5], abs=1e-5
    )
    # Järvelin and Kekäläinen's own list: DCG 3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61.
    list_of_2002 = of_link("list=A3,B2,C3,D0,E0,F1,G2,H2,I3,J0&discount=jarvelin")
    sums = list(
        itertools.accumulate(doc["term"] for doc in ask([["measured", list_of_2002]])[0]["rows"])
    )
    published = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert sums == pytest.approx(published, abs=6e-3)


def test_every_value_is_that_of_gainful(ask):
    rng = drawn(1)
    groups = []
    for name, words in ANSWERS.items():  # every answer once at least, with random others
        groups += [chosen(rng, **{name: word}) for word in words]
    groups = [[documents(rng) | settings for _ in range(12)] for settings in groups]
    found = iter(ask([["measured", state] for group in groups for state in group]))
    seen = 0
    for group in groups:
        names = ("CG", "DCG", "IDCG", "nDCG")
        scores = gf.evaluate(
            *inputs(group), [measure(group[0], name) for name in names], policy=policy(group[0])
        )
        assert scores.queries == tuple(f"q{place}" for place in range(len(group)))
        for state, values in zip(group, scores.values.tolist(), strict=True):
            ours = next(found)
            assert near([ours[name.lower()] for name in names], values), state
            seen += ours["ndcg"] > 0
    assert seen > 150


def test_empty_queries_and_all_equal_gains(ask, of_link):
    nothing = of_link("list=A0,B_&rest=C0&k=2")
    balanced = of_link("list=A0.1,B0.2,C-0.3&discount=none&ideal=retrieved&negative=both")
    found = ask(
        [["measured", nothing], ["measured", {**nothing, "empty": "one"}], ["measured", balanced]]
    )
    assert [(each["ndcg"], each["idcg"], each["empty"]) for each in found] == [
        (0, 0, True),
        (1, 0, True),
        (0, 0, True),
    ]


def test_bounds_are_those_of_gainful(ask):
    rng = drawn(2)
    groups = [
        chosen(rng, ideal="judged", depth="cutoff", unjudged="zero", ties=ties, negative=negative, scale=scale)
        for ties in ("doc", "order", "doc_ascending")
        for negative in ("keep", "zero")
        for scale in ("1", "2", "4")
    ]  # fmt: skip
    half = (*ANY, None, None, None, None)
    groups = [[documents(rng, half) | settings for _ in range(8)] for settings in groups]
    found = iter(ask([["bounds", state] for group in groups for state in group]))
    wide = 0
    for group in groups:
        grades = set(range(int(group[0]["scale"]) + 1))
        ends = gf.bounds(*inputs(group), measure(group[0]), grades=grades, policy=policy(group[0]))
        for state, low, high in zip(
            group, ends.low[:, 0].tolist(), ends.high[:, 0].tolist(), strict=True
        ):
            ours = next(found)
            if all(doc["grade"] is not None for doc in state["list"]):
                assert ours is None
            else:
                assert near((ours["low"], ours["high"]), (low, high)), state
                wide += high - low > 0.01
    assert wide > 60


def test_bounds_are_the_ends_of_all_gradings(ask):
    """Where gainful has none, too: other ideals, negative gains in the ideal, ties averaged over."""
    rng = drawn(3)
    states, gradings = [], []
    for ties, ideal, depth in itertools.product(
        ("average", "order"), ANSWERS["ideal"], ANSWERS["depth"]
    ):
        settings = chosen(rng, unjudged="zero", ties=ties, ideal=ideal, depth=depth, scale="2")
        state = documents(rng, (None, None, 0, 1, 2, -1), most=5) | settings
        state["list"][0]["grade"] = None
        states.append(state)
        places = [place for place, doc in enumerate(state["list"]) if doc["grade"] is None]
        gradings.append([])
        for grades in itertools.product((0, 1, 2), repeat=len(places)):
            given = dict(zip(places, grades, strict=True))
            listed = [
                doc | {"grade": given.get(place, doc["grade"])}
                for place, doc in enumerate(state["list"])
            ]
            gradings[-1].append(state | {"list": listed})
    found = ask([["bounds", state] for state in states])
    for ours, graded in zip(found, gradings, strict=True):
        scores = gf.evaluate(*inputs(graded), measure(graded[0]), policy=policy(graded[0]))
        assert near((ours["low"], ours["high"]), (scores.values.min(), scores.values.max())), (
            graded[0]
        )


def test_there_are_no_bounds_where_a_grade_changes_the_order(ask, of_link):
    states = [
        of_link(f"list=A1,B_,C0&{choice}")
        for choice in ("ties=best", "ties=worst", "unjudged=condense")
    ]
    assert ask([["bounds", state] for state in states]) == [None] * 3


def dialects_of(tool):
    """Return the dialects that a row of tools stands for."""
    names = [tool["name"], *filter(None, (tool.get("also") or "").split(", "))]
    return [gf.measures.dialect(NAMES.get(name) or ALSO.get(name) or name) for name in names]


def test_twelve_tools_as_their_dialects_have_it(tools):
    assert len(tools) == 12  # as the documentation says
    for tool in tools:
        for dialect in dialects_of(tool):
            settings = {name: str(word) for name, word in dialect.settings.items()}
            own = {"ties": dialect.policy.ties, "negative": dialect.policy.negative}
            own |= {"empty": "one"} if dialect.policy.empty == "one" else {}
            own["negative"] = own["negative"].replace("auto", "keep")
            wanted = DEFAULTS | settings | own
            assert DEFAULTS | tool["set"] == wanted, dialect.name
            assert tool.get("k") == dialect.cutoff or dialect.cutoff == 32  # beyond any list here
            words = {"skip_all": "left out", "error": "refused"}
            assert tool.get("empty") == words.get(dialect.policy.empty)


def test_tools_say_what_their_dialects_say(ask, tools):
    rng, checked = drawn(4), 0
    for grades, cutoffs in ((WHOLE, ("all", "3")), (ANY, ("5",))):
        for k in cutoffs:
            states = [documents(rng, grades) | chosen(rng, k=k) for _ in range(20)]
            found = iter(ask([["said", state, tool] for tool in tools for state in states]))
            asked = "nDCG" if k == "all" else f"nDCG@{k}"
            for tool in tools:
                said = [next(found) for _ in states]
                taken = [
                    (state, value["ndcg"])
                    for state, value in zip(states, said, strict=True)
                    if "ndcg" in value
                ]
                for dialect in dialects_of(tool):
                    scores = gf.evaluate(
                        *inputs([state for state, _ in taken]), asked, dialect=dialect
                    )
                    assert near([value for _, value in taken], scores.values[:, 0].tolist()), (
                        dialect.name
                    )
                checked += len(taken)
    assert checked > 12 * 2 * 10


@pytest.mark.parametrize(
    "link",
    [
        "list=A0.5,B1",
        "list=A-1,B1",
        "list=A5,B1",
        "list=B1&rest=A-1",
        "list=A0,B_",
        "list=B0&rest=A0",
    ],
)
def test_tools_refuse_what_their_dialects_refuse(ask, of_link, tools, link):
    state = of_link(link)
    for tool, said in zip(tools, ask([["said", state, tool] for tool in tools]), strict=True):
        for dialect in dialects_of(tool):
            try:
                scores = gf.evaluate(*inputs([state]), "nDCG", dialect=dialect)
            except gf.errors.GainfulError:
                refused = True
            else:
                refused = scores.coverage.empty != () and dialect.policy.empty == "skip_all"
            assert ("refusal" in said) == refused, (dialect.name, said)
            assert "refusal" not in said or re.match(r"accepts |refused|left out", said["refusal"])


def test_what_a_tool_does_otherwise_is_named(ask, of_link, tools):
    state = of_link("list=A1,B2,C0,U_&rest=X3&k=4")
    named = ask([["differences", state, tool] for tool in tools])
    by_name = dict(zip((tool["name"] for tool in tools), named, strict=True))
    assert by_name["trec_eval"] == by_name["ranx"] == []  # another order of ties moves nothing here
    assert by_name["LightGBM"] == ["gain", "ideal"]
    assert by_name["LensKit"] == ["discount"]
    golden = [0.47499501, 0.30797979, 0.47499501, 0.85971870, 0.85971870, 0.79670758]
    values = [each["ndcg"] for each in ask([["said", state, tool] for tool in tools])]
    assert values[:6] == pytest.approx(golden, abs=5e-9)
    assert len({round(value, 9) for value in values}) == 6  # as the documentation says


def test_the_lines_to_copy_give_the_value_of_the_page(ask, tmp_path, monkeypatch):
    rng = drawn(5)
    monkeypatch.chdir(tmp_path)
    states = [documents(rng, most=5) | chosen(rng) for _ in range(14)]
    for state in states[::2]:
        for doc in state["list"]:
            doc |= {"tied": False, "grade": 2 if doc["grade"] is None else abs(doc["grade"])}
    calls = [[name, state] for state in states for name in ("python", "command", "measured")]
    found, forms = ask(calls), set()
    for place, state in enumerate(states):
        python, command, measured = found[3 * place : 3 * place + 3]
        explained = {}
        exec(python.replace("print(", "shown = ("), explained)  # noqa: S102
        assert near(explained["shown"].value, measured["ndcg"]), python
        *files, line = command.splitlines()
        for text in files:
            _, content, _, name = shlex.split(text)
            (tmp_path / name).write_text(content.replace("\\n", "\n"))
        done = CliRunner().invoke(commands, [*shlex.split(line)[1:], "--format", "json"])
        assert done.exit_code == 0, (line, done.output)
        assert near(json.loads(done.stdout)["value"], measured["ndcg"]), (state, line)
        forms.add(bool(files))
    assert forms == {True, False}
