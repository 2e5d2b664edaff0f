"""`collect_support`: what is asked about nuggets, how answers are read, and that the result is what measures read."""

import pytest

import gainful as gf
from chat_server import Answer, serving
from gainful.judging.assessors.answer_reading import read_answer
from gainful.judging.assessors.prompts import SUPPORT_SCALE

QUERIES = {"refunds": "How do refunds work?", "leave": "How much leave do I have?"}
DOCS = {
    "shop#1": "Return it within 30 days.",
    "shop#2": "Bring the receipt, if you have it.",
    "hr#1": "You have 28 days of leave.",
}
NUGGETS = {
    "refunds": {"within 30 days": "vital", "the receipt": "vital", "in any branch": "okay"},
    "leave": {"28 days": None},
}
PAIRS = {"refunds": ["shop#1", "shop#2"], "leave": ["hr#1", "shop#1"]}
EXPECTED = {
    "refunds": {
        "within 30 days": {"shop#1": ("vital", "support"), "shop#2": ("vital", "not_support")},
        "the receipt": {"shop#1": ("vital", "not_support"), "shop#2": ("vital", "partial_support")},
        "in any branch": {"shop#1": ("okay", "not_support"), "shop#2": ("okay", "not_support")},
    },
    "leave": {"28 days": {"hr#1": ("vital", "support"), "shop#1": ("vital", "not_support")}},
}


def judge(prompt):
    """Support a fact whose words are in the text, and partly if the text has a condition."""
    question, text = prompt.split("\n\nThe text:\n")
    text = text.split("\n\nThe grades:\n")[0]
    fact = question.rpartition("The fact:\n")[2]
    word = "not_support" if fact not in text else "support"
    return (
        f"It depends.\ngrade: {'partial_support' if word == 'support' and 'if' in text else word}"
    )


def collect(model=judge, **options):
    given = {"nuggets": NUGGETS, "queries": QUERIES, "docs": DOCS, **options}
    return gf.judging.collect_support(given.pop("pairs", PAIRS), model, **given)


def test_the_result_is_what_measures_read(tmp_path):
    found = collect()
    assert found.nuggets == EXPECTED
    judged = {"refunds": {"shop#1": 1}, "leave": {"hr#1": 1}}
    measures = ["NuggetRecall@1", "NuggetRecall(partial=half)", "NuggetRecall(nuggets=weighted)"]
    means = [
        gf.evaluate(judged, PAIRS, measures, nuggets=nuggets).means
        for nuggets in (found.nuggets, EXPECTED)
    ]
    for name in ("support.csv", "support.jsonl", "support.parquet"):
        found.write(tmp_path / name)
        means.append(gf.evaluate(judged, PAIRS, measures, nuggets=tmp_path / name).means)
    assert all(one == means[0] for one in means)
    assert [*means[0].values()] == pytest.approx([3 / 4, 7 / 8, (1 / 2.5 + 1) / 2])
    # As judgments, the best support of each nugget.
    assert {query: found[query] for query in found} == {
        "refunds": {"within 30 days": 1, "the receipt": 0.5, "in any branch": 0},
        "leave": {"28 days": 1},
    }
    assert found.collected.calls == 8
    assert found.summary.startswith("4 nuggets; judge: 8 of 8 answers read; 8 calls")


def test_a_server_is_asked_for_each_nugget_and_document_once(tmp_path):
    with serving(lambda prompt, _: Answer(judge(prompt))) as server:
        for _ in range(2):
            found = collect("a model", endpoint=server.url, cache=tmp_path / "answers.jsonl")
            assert found.nuggets == EXPECTED
        prompts = [request["messages"][-1]["content"] for request in server.requests]
    assert len(prompts) == len({*prompts}) == 8
    assert found.collected.cached == 8
    one = next(one for one in prompts if "The fact:\nthe receipt" in one and "Bring" in one)
    assert QUERIES["refunds"] in one
    assert all(f"\n{word}: " in one for word in ("support", "partial_support", "not_support"))


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("support", 1),
        ("Partial support", 0.5),
        ("**grade: not_support**", 0),
        ("The fact: support is missing.\ngrade: not_support.", 0),
        ('{"grade": "partial_support"}', 0.5),
        ("<think>grade: support</think>grade: not support", 0),
        ("grade: 0.5", 0.5),
        ("grade: support\ngrade: not_support", None),
        ("grade: supported by the text", None),
        ("It supports the fact.", None),
        ("grade: 2", None),
    ],
)
def test_answers_are_read_strictly(answer, grade):
    assert read_answer(answer, SUPPORT_SCALE).grade == grade


def test_unreadable_answers_are_reported():
    def unsure(prompt):
        return "perhaps" if "The fact:\nthe receipt" in prompt else judge(prompt)

    with pytest.warns(
        gf.errors.GainfulWarning, match="1 nugget of 4 have no readable answer.*the receipt"
    ):
        found = collect(unsure)
    assert "the receipt" not in found.nuggets["refunds"]
    assert len(found.collected.unread) == 2
    assert "2 with an unreadable answer" in found.summary


def test_forms_of_nuggets_and_documents(files):
    table = files("nuggets.csv", "query,nugget,importance\nrefunds,the receipt,okay\n")
    assert collect(nuggets=table).nuggets == {
        "refunds": {
            "the receipt": {
                "shop#1": ("okay", "not_support"),
                "shop#2": ("okay", "partial_support"),
            }
        }
    }
    run = {"leave": {"hr#1": 2.0, "shop#1": 1.0}}
    found = collect(pairs=run, depth=1, nuggets={"leave": ["28 days", "per year"]})
    assert found["leave"] == {"28 days": 1, "per year": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"nuggets": {"other": ["x"]}},
            "nuggets of the queries to read, such as 'refunds', 'leave'",
        ),
        (
            {"nuggets": {"leave": {"x": "high"}}},
            "query 'leave', nugget 'x': expected vital or okay",
        ),
        ({"nuggets": {"leave": "28 days"}}, "nuggets, query 'leave': expected a list of nuggets"),
        ({"grades": [0, 1]}, "grades: expected None, since the answers are fixed"),
        ({"per_prompt": 3}, "per_prompt: expected None"),
        ({"queries": {"leave": "?"}}, "text for each of 2 ids"),
    ],
)
def test_what_cannot_be_collected_is_said(options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        collect(**options)


def test_calibrate_corrects_a_model_with_peoples_support():
    queries = {f"q{at}": "?" for at in range(120)}
    nuggets = {query: [f"{query} a", f"{query} b", f"{query} c"] for query in queries}
    truth = {
        query: {nugget: int((at + place) % 2 == 0) for place, nugget in enumerate(nuggets[query])}
        for at, query in enumerate(queries)
    }
    docs = {f"answer {query}": query for query in queries}

    def generous(prompt):
        nugget = prompt.split("The fact:\n")[1].split("\n")[0]
        query = nugget.split()[0]
        right = truth[query][nugget]
        return (
            "support"
            if right or (nugget.endswith("c") and int(query[1:]) % 4 < 2)
            else "not_support"
        )

    found = gf.judging.collect_support(
        {query: [f"answer {query}"] for query in queries},
        generous,
        nuggets=nuggets,
        queries=queries,
        docs=docs,
    )
    design = gf.judging.sample_queries(found, 60, seed=1)
    people = {query: truth[query] for query in design.queries}
    estimated = gf.judging.calibrate(people, found, {"mine": nuggets}, "P", design=design)[
        "mine", "P"
    ]
    true = sum(sum(support.values()) / 3 for support in truth.values()) / len(truth)
    assert estimated.model.value > true + 0.05
    assert estimated.estimate.low < true < estimated.estimate.high
