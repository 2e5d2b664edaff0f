"""The limits of `collect_grades`: nothing is asked beyond them, nothing is lost, and the rest can be asked later."""

import json
import re
import threading
from pathlib import Path

import pytest

import gainful as gf
from chat_server import Answer, serving
from gainful.integrations.calling import parallel_calls
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.judging.assessors.model_endpoint import Reply
from gainful.judging.assessors.spending_limit import Prices, SpendingLimit

InputError = gf.errors.InputError
COUNT = 12
GRADES = {0: "no", 1: "yes"}
PROMPT = "{query}: {document} {scale} " + "." * 120
DOCS = {f"d{number}": f"text number {number}." for number in range(COUNT)}
PAIRS = {"q1": list(DOCS)}
IN, OUT = 100, 7  # tokens that the server counts for each answer
PRICES = (1000.0, 10_000.0)  # of a million
EACH = IN * PRICES[0] / 1e6 + OUT * PRICES[1] / 1e6  # 0.17


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(parallel_calls, "_FIRST_WAIT", 0.001)


def collect(model="m", **options):
    return gf.judging.collect_grades(
        PAIRS, model, queries={"q1": "bread"}, docs=DOCS, prompt=PROMPT, grades=GRADES, **options
    )


def usage(tokens_in=IN, tokens_out=OUT):
    message = {"message": {"content": "1"}, "finish_reason": "stop"}
    counts = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return Answer(body={"choices": [message], "usage": counts})


# What is sent on a connection that the server has just closed is sent again, and is one call: here, none is used again.
CLOSED = Answer("1", headers={"Connection": "close"})
FAILING = {
    "all answered": lambda *_: Answer("1"),
    "each fails once": lambda _, before: Answer("1") if before else Answer(body={}, status=503),
    "each is refused once": lambda _, before: (
        Answer("1") if before else Answer(body={}, status=429)
    ),
    "each hangs up once": lambda _, before: CLOSED if before else Answer("1", drop="at once"),
    "each is unread once": lambda _, before: Answer("1" if before else "perhaps"),
}


# Where many calls fail before the first answer, the work ends with an error, whatever the limit.
TOGETHER = ("all answered", "each is unread once")


@pytest.mark.parametrize(
    ("name", "concurrency"), [*((name, 1) for name in FAILING), *((name, 8) for name in TOGETHER)]
)
@pytest.mark.parametrize("most", [0, 1, 5, 12, 100])
def test_no_more_calls_are_made_than_allowed(name, most, concurrency):
    with serving(FAILING[name]) as server:
        found = collect(
            endpoint=server.url, max_calls=most, concurrency=concurrency, retries=1, ask_again=1
        )
        made = len(server.requests)
    needed = COUNT * (1 if name == "all answered" else 2)
    assert made == found.calls == min(most, needed)
    assert found.limit == ("max_calls" if most < needed else None)
    left = len(found.waiting)
    assert left == found.unasked
    assert len(found.graded) + len(found.unread) + len(found.failed) + left == COUNT
    if name == "all answered":
        assert (len(found.graded), left) == (min(most, COUNT), max(0, COUNT - most))


@pytest.mark.parametrize("parameters", [None, {"max_tokens": 7}, {"max_completion_tokens": 20}])
@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("limit", [0.0, 0.6, 1.0, 1.7, 100.0])
def test_no_more_is_spent_than_allowed(limit, concurrency, parameters):
    with serving("1") as server:
        found = collect(
            endpoint=server.url,
            max_cost=limit,
            prices=PRICES,
            concurrency=concurrency,
            parameters=parameters,
        )
        made = len(server.requests)
    assert found.cost == pytest.approx(made * EACH)
    assert found.cost <= limit
    if limit > COUNT * EACH + 1:
        assert (made, found.limit) == (COUNT, None)
        return
    # It ends only where one more call might be too much: twice the answers so far, or what a parameter allows.
    assert limit == 0 or found.cost > limit - 0.4
    assert found.limit == "max_cost"
    assert len(found.graded) == made
    assert len(found.waiting) == found.unasked == COUNT - made


def test_the_limit_holds_whatever_the_server_counts():
    """It counts nothing, every answer is longer than the one before, or most calls fail."""
    lengths = iter(range(10, 10_000, 10))

    def only_first(other):
        return lambda prompt, _: CLOSED if "number 0." in prompt else other

    for answer in (
        lambda *_: Answer(body={"choices": [{"message": {"content": "1"}}]}),
        lambda *_: usage(IN, next(lengths)),
        only_first(Answer(body={}, status=500)),
        only_first(Answer("1", drop="half")),
        only_first(Answer(body=b"no JSON")),
    ):
        with serving(answer) as server:
            found = collect(
                endpoint=server.url, max_cost=1.5, prices=PRICES, retries=0, concurrency=1
            )
        assert found.limit == "max_cost"
        assert len(server.requests) < COUNT
        assert found.cost <= 1.5


def test_what_is_refused_costs_nothing():
    with serving(
        lambda _, before: Answer("1") if before else Answer(body={}, status=429)
    ) as server:
        found = collect(endpoint=server.url, max_cost=COUNT * EACH + 2, prices=PRICES, retries=1)
    assert (found.limit, len(found.graded)) == (None, COUNT)


@pytest.mark.parametrize("batch", [None, 4])
def test_a_function_has_a_price_of_each_call(batch):
    asked = []

    def model(given):
        asked.append(given)
        return "1" if batch is None else ["1"] * len(given)

    found = collect(model, batch=batch, price_per_call=0.3, max_cost=0.7)
    assert len(asked) == found.calls == 2
    assert found.cost == pytest.approx(0.6)
    assert len(found.graded) == 2 * (batch or 1)
    assert found.limit == "max_cost"


def test_a_second_call_asks_the_rest(tmp_path):
    """Until nothing is left; each prompt is asked once, and a limit is of one call."""
    with serving("1") as server:
        found = [
            collect(endpoint=server.url, max_calls=5, cache=tmp_path / "kept") for _ in range(4)
        ]
        assert len(server.requests) == COUNT
        assert len({*server.prompts}) == COUNT
    assert [each.calls for each in found] == [5, 5, 2, 0]
    assert [each.cached for each in found] == [0, 5, 10, 12]
    assert [each.limit for each in found] == ["max_calls", "max_calls", None, None]
    assert found[0].summary.startswith(
        "m: 5 of 12 documents graded, 7 not asked yet; 5 calls, 0 cached"
    )
    assert found[0].summary.endswith("; stopped at max_calls, 7 prompts left")
    assert dict(found[3]) == {"q1": dict.fromkeys(DOCS, 1.0)}


def test_what_is_on_the_way_counts():
    """Calls at the same time never take together what each of them may take alone."""
    limit = SpendingLimit(max_calls=None, max_cost=10.0, prices=Prices(0, 0, 4.0), parameters={})
    first, second = limit.take(["a"]), limit.take(["b"])
    later = []
    waiting = threading.Thread(target=lambda: later.append(limit.take(["c"])))
    waiting.start()
    assert limit.reached is None
    limit.settle(first, UnansweredError("429", refused=True))
    waiting.join()
    assert later[0] is not None
    limit.settle(second, [Reply("1", 1, 1)])
    limit.settle(later[0], [Reply("1", 1, 1)])
    assert limit.take(["d"]) is None
    assert limit.reached == "max_cost"


WRONG = [
    ({"max_calls": -1}, "max_calls: expected a non-negative integer"),
    ({"max_calls": 1.5}, "max_calls: expected a non-negative integer"),
    ({"max_cost": -1, "price_per_call": 1}, "max_cost: expected a non-negative number"),
    ({"max_cost": float("nan"), "price_per_call": 1}, "max_cost: expected a non-negative number"),
    ({"max_cost": 1}, "max_cost: expected prices, to compute the cost, found none. Pass prices="),
    ({"max_cost": 1, "price_per_call": 0}, "max_cost: expected prices above 0"),
    ({"max_cost": 1, "prices": (1, 2)}, "max_cost: expected a price of each call, with a function"),
    ({"price_per_call": -1}, "price_per_call: expected the price of a call"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "told"), WRONG)
def test_limits_that_are_none(options, told):
    with pytest.raises(InputError, match=f"^{re.escape(told)}"):
        collect(len, **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.json").write_text('{"q1": "bread"}')
    Path("docs.json").write_text(json.dumps(DOCS))
    Path("pool.csv").write_text("query,doc\n" + "".join(f"q1,{doc}\n" for doc in DOCS))
    return tmp_path


def test_on_the_command_line(folder, cli):
    call = [
        "collect",
        "pool.csv",
        "--queries",
        "queries.json",
        "--docs",
        "docs.json",
        "--model",
        "m",
    ]
    with serving("1") as server:
        call += ["--endpoint", server.url]
        done = cli(*call, "-o", "m.csv", "--max-calls", "5")
        assert done.returncode == 1
        assert "\nstopped at --max-calls: 7 prompts left, " in done.stderr
        assert (
            "Run the same command again to continue: saved answers are not requested again."
            in done.stderr
        )
        assert Path("m.csv").read_text().count("\n") == 1 + 5
        cost = ["--prices", PRICES[0], PRICES[1], "--parameter", "max_tokens=7", "--max-cost", "1"]
        done = cli(*call, "-o", "m.csv", *cost)
        assert done.returncode == 1
        assert "stopped at --max-cost: " in done.stderr
        done = cli(*call, "-o", "m.csv")
        assert (done.returncode, "stopped" in done.stderr) == (0, False)
        assert Path("m.csv").read_text().count("\n") == 1 + COUNT
        assert len(server.requests) == len({*server.prompts}) == COUNT
        done = cli(*call, "--max-calls", "1", "-f", "csv")
        assert "Without --cache or --output, answers are not saved" in done.stderr
        assert cli(*call, "--max-cost", "1").returncode == 2
