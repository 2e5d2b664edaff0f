"""`collect_grades`: what is asked, how answers are read, and that nothing is asked twice or lost."""

import _thread
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pandas as pd
import pytest

import gainful as gf
from chat_server import Answer, serving
from gainful.integrations.calling import parallel_calls
from gainful.judging.assessors.answer_reading import read_answer, read_answers
from gainful.judging.assessors.prompts import DEFAULT_SCALE, read_scale, read_template

InputError, GainfulError = gf.errors.InputError, gf.errors.GainfulError
KEY = "sk-this-is-a-secret"
QUERIES = {"q1": "how to bake bread", "q2": "tyres"}
DOCS = {f"d{number}": f"text number {number}." for number in range(40)}
PAIRS = {"q1": ["d0", "d1", "d2"], "q2": ["d1", "d3"]}


def collect(model="a model", pairs=PAIRS, **options):
    return gf.judging.collect_grades(pairs, model, **{"queries": QUERIES, "docs": DOCS, **options})


def ask(server, pairs=PAIRS, **options):
    return collect("a model", pairs, endpoint=server.url, **options)


def many(count):
    return {"q1": [f"d{number}" for number in range(count)]}


def number_in(prompt):
    """Return the number of the document that a prompt shows."""
    return int(re.search(r"text number (\d+)\.", prompt)[1])


class FakeClock(parallel_calls.Clock):
    """Time that passes only where somebody waits, and then at once."""

    def __init__(self):
        self.time, self.waits, self.lock = 0.0, [], threading.Lock()

    def now(self):
        return self.time

    def sleep(self, seconds, stop):
        with self.lock:
            self.waits.append(seconds)
            self.time += seconds

    def random(self):
        return 1.0


@pytest.fixture
def clock(monkeypatch):
    found = FakeClock()
    monkeypatch.setattr(parallel_calls, "CLOCK", found)
    return found


# --- answers


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("2", 2),
        (" 2\n", 2),
        ("2.0", 2),
        ("0", 0),
        ("grade: 3", 3),
        ("Grade: 3", 3),
        ("GRADE = 1", 1),
        ("Final grade: 1.", 1),
        ("**Grade: 2**", 2),
        ("**Grade:** 2", 2),
        ("It is off topic.\n\ngrade: 0\n\n", 0),
        ("grade: 2\nreasons\ngrade: 2", 2),
        ("I would not give it a 3, rather a 1.\ngrade: 1", 1),
        ('{"grade": 2}', 2),
        ('{"why": "a\\nb", "grade": 2}', 2),
        ('{"Grade": "2"}', 2),
        ('```json\n{"grade": 2}\n```', 2),
        ('It helps.\n{"grade": 2}', 2),
        ("<think>grade: 1\nno</think>\ngrade: 2", 2),
        ("<think>hm</think>2", 2),
        ("grade: 1\nOr rather not.\n</think>\n\ngrade: 2", 2),  # <think> stands in the prompt
        ("1\n</think>2", 2),
    ],
)
def test_an_answer_that_gives_a_grade(answer, grade):
    assert read_answer(answer, DEFAULT_SCALE) == (grade, "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "an empty answer"),
        (" \n ", "an empty answer"),
        ("<think>2</think>", "an empty answer"),
        ("grade: 2</think>", "an empty answer"),
        ("two", "no grade at its end"),
        ("2 or 3", "no grade at its end"),
        ("2/3", "no grade at its end"),
        ("I give it a 2", "no grade at its end"),
        ("grade: 2\nThat is my view.", "no grade at its end"),
        ("grade: 2 or 3", "no grade at its end"),
        ("grade: 2-3", "no grade at its end"),
        ("grade:", "no grade at its end"),
        ("grade: ٢", "no grade at its end"),
        ("٢", "no grade at its end"),
        ("4", "the grade 4, which is none of 0, 1, 2, 3"),
        ("-1", "the grade -1, which is none of 0, 1, 2, 3"),
        ("1.5", "the grade 1.5, which is none of 0, 1, 2, 3"),
        ("grade: 7", "the grade 7, which is none of 0, 1, 2, 3"),
        ("grade: 1\ngrade: 2", "different grades: 1, 2"),
        ('grade: 1\n{"grade": 2}', "different grades: 1, 2"),
        ('{"grade": 1, "grade": 2}', "different grades: 1, 2"),
        ('{"grade": true}', "a grade that isn't a number"),
        ('{"grade": null}', "a grade that isn't a number"),
        ('{"grade": [2]}', "a grade that isn't a number"),
        ('{"grade": NaN}', "a grade that isn't a number"),
        (f'{{"grade": 1{"0" * 400}}}', "a grade that isn't a number"),
        ('{"score": 2}', "no grade at its end"),
        ('{"grade": 2', "no grade at its end"),
        ("[" * 100_000, "no grade at its end"),
    ],
)
def test_an_answer_that_gives_none(answer, why):
    assert read_answer(answer, DEFAULT_SCALE) == (None, why)


def test_answers_about_several_documents_go_by_their_numbers():
    def grades(answer, count=3):
        return [each.grade for each in read_answers(answer, count, DEFAULT_SCALE)]

    for answer in (
        "1: 3\n2: 0\n3: 1",
        "3: 1\n\n1: 3\n2: 0",
        "Here:\nDocument 1: 3\n**Document 2:** 0\n[3]: grade: 1",
        '{"1": 3, "2": 0, "3": 1}',
        '[{"document": 3, "grade": 1}, {"document": 1, "grade": 3}, {"document": 2, "grade": 0}]',
        "```\n1: 3\n2: 0\n3: 1\n```",
    ):
        assert grades(answer) == [3, 0, 1]
    assert grades("1: 3\n3: 1") == [3, None, 1]
    assert grades("1: 3\n2: 9\n3: 1\n3: 2") == [3, None, None]
    assert grades("1: 3\n1: 3\n2: 0\n3: 1") == [3, 0, 1]
    # Who counts from 0 means other documents by 1 and 2.
    assert grades("0: 3\n1: 0\n2: 1") == [None] * 3
    assert grades("1: 3\n2: 0\n3: 1\n4: 2") == [None] * 3
    assert grades("3\n0\n1") == grades("") == grades("[3, 0, 1]") == [None] * 3
    (why, *_) = (each.why for each in read_answers("4: 1", 3, DEFAULT_SCALE))
    assert why == "a grade for document 4, of 3 documents"


# --- prompts


def test_braces_in_texts_mean_nothing():
    queries = {"q1": "{document} {scale} {{}}", "q2": "}"}
    docs = {**DOCS, "d0": "a {query} { }} {unknown} \\1 %s é 語 🍞"}
    seen = []
    collect(
        lambda prompt: seen.append(prompt) or "1",
        queries=queries,
        docs=docs,
        prompt="<{query}|{document}>",
        grades=[0, 1],
    )
    assert seen[0] == f"<{queries['q1']}|{docs['d0']}>"
    assert seen[-1] == "<}|text number 3.>"


def test_braces_of_a_template_are_written_twice():
    template = read_template('{{"q": "{query}"}} {document}}}', read_scale([0, 1]))
    assert template.prompt("a", ["b"]) == '{"q": "a"} b}'


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (
            "{query}\n{document} {doc}",
            r"prompt:2: expected \{query\}, .* found '\{doc\}'. Write \{\{ and \}\} for",
        ),
        ('{query}\n\n{document} {"grade": 1}', r"prompt:3: expected .* found '\{\"grade\": 1\}'"),
        ("{query} {document} {", r"prompt:1: expected .* found '\{'"),
        ("{query} {document} }", r"prompt:1: expected .* found '\}'"),
        ("{query} {document} {}", r"prompt:1: expected .* found '\{\}'"),
        ("{query} {document:10}", r"found '\{document:10\}'"),
        (
            "{query}",
            r"prompt: expected a template with \{document\} or \{documents\}, found neither",
        ),
        ("{query} {document} {documents}", "found both"),
        ("{query} \ud800 {document}", "lone surrogate"),
        ("nowhere.txt", "nowhere.txt: expected a file, found none of that name"),
        (3, r"prompt: expected a template .*, found 3"),
    ],
)
def test_a_template_that_is_none_is_refused(prompt, message):
    with pytest.raises(InputError, match=message):
        collect(lambda _: "1", prompt=prompt)


def test_a_template_from_a_file(files):
    path = files("prompt.txt", "\ufeffQ {query}\nD {document}\n{scale}\n")
    seen = []
    scale = {1: "on", 0: "off", 0.5: "both"}
    found = collect(lambda prompt: seen.append(prompt) or "0.5", prompt=path, grades=scale)
    assert seen[0] == "Q how to bake bread\nD text number 0.\n0: off\n0.5: both\n1: on\n"
    assert found["q1"] == dict.fromkeys(PAIRS["q1"], 0.5)
    assert found.first_prompt == seen[0]
    with pytest.raises(
        InputError, match=r"prompt.txt: expected a template with \{query\}, found none"
    ):
        collect(lambda _: "1", prompt=files("prompt.txt", "{document}"))
    with pytest.raises(InputError, match="expected UTF-8 text"):
        collect(lambda _: "1", prompt=files("prompt.txt", b"{query} \xff {document}"))


def test_a_scale_without_meanings_needs_a_template_that_has_them():
    with pytest.raises(InputError, match=r"the meaning of each grade, for \{scale\}, found 0, 1"):
        collect(lambda _: "1", grades=[0, 1])
    assert collect(lambda _: "1", grades=[1, 0], prompt="{query} {document}")["q2"] == {
        "d1": 1,
        "d3": 1,
    }
    for wrong in ([0], [0, 0], {0: ""}, {0: "a", 1: " "}, ["a", "b"], [0, float("nan")], {}, 3):
        with pytest.raises(InputError, match="grades"):
            collect(lambda _: "1", grades=wrong)


def test_the_hash_of_the_prompt_is_that_of_the_template_and_the_scale():
    one = collect(lambda _: "1")
    assert one.prompt_hash == collect(lambda _: "2", pairs={"q2": ["d9"]}).prompt_hash
    scale = {0: "off", 1: "on"}
    others = {collect(lambda _: "1", grades=scale).prompt_hash, one.prompt_hash}
    others.add(collect(lambda _: "1", grades=scale, prompt="{query} {document}").prompt_hash)
    assert len(others) == 3


def test_a_title_and_a_text_are_both_shown():
    docs = {**DOCS, "d0": ("A title", "a text"), "d1": (None, "alone"), "d2": ("Title", None)}
    seen = []
    model = lambda prompt: seen.append(prompt) or "1"  # noqa: E731
    collect(
        model, {"q1": ["d0", "d1", "d2"]}, docs=docs, prompt="{query}|{document}", grades=[0, 1]
    )
    assert [each.partition("|")[2] for each in seen] == ["A title\n\na text", "alone", "Title"]


def test_long_documents_are_shown_whole_or_cut_and_counted():
    docs = {"long": "é" * 300_000, "short": "s"}
    seen = []
    options = {
        "pairs": {"q1": ["long", "short"]}, "docs": docs, "prompt": "{query}|{document}", "grades": [0, 1],
    }  # fmt: skip
    model = lambda prompt: seen.append(prompt) or "1"  # noqa: E731
    assert collect(model, **options).cut == 0
    found = collect(model, **options, longest=5)
    assert found.cut == 1
    assert "1 text cut" in found.summary
    assert [each.count("é") for each in seen] == [300_000, 0, 5, 0]


# --- what is graded, and the texts


def test_pairs_come_from_whatever_holds_them(tmp_path, files):
    pool = gf.pool([{"q1": {"d0": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}}], depth=2)
    expected = [("q1", "d0"), ("q1", "d1"), ("q2", "d3")]
    given = [
        pool,
        [*expected, expected[0]],
        {"q1": {"d0": 3, "d1": None}, "q2": ["d3"]},
        pd.DataFrame(expected, columns=["query", "doc"]),
        [{"qid": query, "docid": doc} for query, doc in expected],
        files("some.csv", "query,doc,note\nq1,d0,x\nq1,d1,\nq2,d3,y\n"),
        files("some.txt", "q1 d0\nq1 d1\nq2 d3\n"),
        files(
            "some.jsonl", "".join(json.dumps({"query": q, "doc": d}) + "\n" for q, d in expected)
        ),
    ]
    for ending in ("qrels", "csv", "tsv", "json", "jsonl", "parquet"):
        given.append(tmp_path / f"pool.{ending}")
        pool.write(given[-1])
    gf.write_judgments({"q1": {"d0": 1, "d1": 0}, "q2": {"d3": 2}}, tmp_path / "judged.qrels")
    given.append(tmp_path / "judged.qrels")
    for each in given:
        found = collect(lambda _: "1", each)
        assert [(row.query, row.doc) for row in found.rows] == expected, each
        assert list(found.graded) == list(found.rows)


def test_a_run_needs_a_depth(tmp_path):
    run = {"q1": {"d0": 1.0, "d1": 3.0, "d2": 2.0}, "q2": {"d3": 1.0}}
    gf.write_run(run, tmp_path / "a.run")
    gf.write_run(run, tmp_path / "a.csv")
    for given in (run, tmp_path / "a.run", tmp_path / "a.csv", gf.fuse([run, run])):
        found = collect(lambda _: "1", given, depth=2)
        assert {query: [*docs] for query, docs in found.items()} == {
            "q1": ["d1", "d2"],
            "q2": ["d3"],
        }
    for given in (tmp_path / "a.run", tmp_path / "a.csv", gf.fuse([run, run])):
        with pytest.raises(
            InputError,
            match=r"pairs: expected a depth for a run.*depth=10, on the command line --depth 10\.$",
        ):
            collect(lambda _: "1", given)
    with pytest.raises(InputError, match="depth: expected a whole number from 1"):
        collect(lambda _: "1", run, depth=0)


@pytest.mark.parametrize(
    "pairs", [{}, [], {"q1": []}, {"q1": "d0"}, {"q1": [None]}, {"": ["d0"]}, 3, None, [1, 2]]
)
def test_pairs_that_are_none_are_refused(pairs):
    with pytest.raises(InputError):
        collect(lambda _: "1", pairs)


def test_ids_come_back_in_their_type():
    frame = pd.DataFrame({"query": [1, 1], "doc": [7, 8]})
    found = collect(lambda _: "1", frame, queries={1: "a"}, docs={7: "b", 8: "c"})
    assert found["1"] == {"7": 1, "8": 1}
    assert found.to_pandas()["doc"].tolist() == [7, 8]


def test_a_missing_text_is_refused_or_told():
    docs = {"d0": "there", "d1": "  ", "d2": None, "d3": "x"}
    asked = []
    model = lambda prompt: asked.append(prompt) or "1"  # noqa: E731
    with pytest.raises(
        InputError,
        match=r"docs: expected text for each of 4 ids, found none for 2: 'd1', 'd2'\. Add them, or",
    ):
        collect(model, docs=docs)
    assert not asked
    found = collect(model, docs=docs, missing_texts="skip")
    assert {query: [*docs] for query, docs in found.items()} == {"q1": ["d0"], "q2": ["d3"]}
    assert len(asked) == 2
    assert [(row.query, row.doc, row.state) for row in found.without_text] == [
        ("q1", "d1", "no text"), ("q1", "d2", "no text"), ("q2", "d1", "no text"),
    ]  # fmt: skip
    assert "2 of 5 documents graded, 3 without text" in found.summary
    with pytest.raises(
        InputError, match=r"queries: expected text for each of 2 ids, found none for 1: 'q2'"
    ):
        collect(model, queries={"q1": "x"})
    assert [*collect(model, queries={"q1": "x"}, missing_texts="skip")] == ["q1"]
    with pytest.raises(InputError, match="Check the ids"):  # nothing fits: a wrong file
        collect(model, docs={"other": "x"}, missing_texts="skip")


# --- functions


def test_a_function_is_asked_once_for_each_pair_in_order():
    seen = []
    found = collect(lambda prompt: seen.append(number_in(prompt)) or str(number_in(prompt) % 4))
    assert seen == [0, 1, 2, 1, 3]
    assert dict(found) == {"q1": {"d0": 0, "d1": 1, "d2": 2}, "q2": {"d1": 1, "d3": 3}}
    assert (found.calls, found.prompts, found.cached, found.cost) == (5, 5, 0, None)


def test_texts_that_are_the_same_are_asked_about_once():
    docs = {f"d{number}": "the same" for number in range(5)}
    seen = []
    found = collect(lambda prompt: seen.append(prompt) or "2", many(5), docs=docs)
    assert (len(seen), found.prompts, len(found["q1"])) == (1, 1, 5)


def test_a_function_takes_lists_of_prompts():
    sizes = []

    def model(prompts):
        sizes.append(len(prompts))
        return [str(number_in(prompt) % 4) for prompt in prompts]

    found = collect(model, many(10), batch=4)
    assert sizes == [4, 4, 2]
    assert found["q1"] == {f"d{number}": number % 4 for number in range(10)}
    with pytest.raises(InputError, match="model: expected a list of 4 answers, found 1 answer"):
        collect(lambda _: ["1"], many(4), batch=4)
    with pytest.raises(InputError, match="model: expected a list of 4 answers, found '1'"):
        collect(lambda _: "1", many(4), batch=4)


@pytest.mark.parametrize("answer", [None, 2, b"2", ["2"]])
def test_a_function_that_returns_no_text_is_refused(answer):
    with pytest.raises(
        InputError, match="model: expected a string as the answer to a prompt, found"
    ):
        collect(lambda _: answer, concurrency=3)


def test_a_function_that_raises_is_told_and_its_document_not_judged():
    def model(prompt):
        if number_in(prompt) == 2:
            raise RuntimeError("out of memory")
        return "1"

    found = collect(model)
    assert [(row.doc, row.state, row.why, row.answer) for row in found.failed] == [
        ("d2", "failed", "RuntimeError: out of memory", None)
    ]
    assert "1 without an answer" in found.summary
    assert "d2" not in found["q1"]


def test_a_function_that_always_raises_is_not_asked_for_ever(clock):
    calls = []

    def broken(prompt):
        calls.append(prompt)
        return 1 / 0

    with pytest.raises(
        GainfulError, match=r"expected an answer, found ZeroDivisionError: division by zero\.$"
    ) as problem:
        collect(broken, many(40))
    assert len(calls) == 3
    assert isinstance(problem.value.__cause__, ZeroDivisionError)
    assert clock.waits == []
    with pytest.raises(GainfulError):
        collect(broken, many(9), retries=2)
    assert clock.waits == [1.0, 2.0] * 3


def test_a_function_may_be_named_by_its_place(tmp_path, monkeypatch):
    (tmp_path / "own_judge.py").write_text("def strict(prompt):\n    return '0'\nvalue = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert collect("own_judge:strict").model == "strict"
    for wrong in (
        "own_judge:nothing",
        "own_judge:value",
        "no_such_module:x",
        "strict",
        "own_judge.py:strict",
    ):
        with pytest.raises(InputError, match=r"^model: expected"):
            collect(wrong)


def test_several_documents_stand_in_one_prompt():
    seen = []

    def model(prompt):
        seen.append(prompt)
        numbers = re.findall(r"^\[(\d+)\]\ntext number (\d+)\.", prompt, re.M)
        return "\n".join(f"{place}: {int(number) % 4}" for place, number in reversed(numbers))

    pairs = {"q1": [f"d{number}" for number in range(5)], "q2": ["d7"]}
    found = collect(model, pairs, per_prompt=3)
    assert len(seen) == 3
    assert dict(found) == {"q1": {f"d{n}": n % 4 for n in range(5)}, "q2": {"d7": 3}}
    found = collect(lambda prompt: "1: 2\n3: 9", pairs, per_prompt=3)
    assert [(row.doc, row.grade, row.why) for row in found.rows[:3]] == [
        ("d0", 2, ""),
        ("d1", None, "no grade for document 2"),
        ("d2", None, "the grade 9, which is none of 0, 1, 2, 3"),
    ]
    with pytest.raises(
        InputError, match=r"prompt: expected \{documents\}, since per_prompt is above 1"
    ):
        collect(model, pairs, per_prompt=3, prompt="{query} {document}")


def test_answers_that_cannot_be_read_are_kept_and_not_judged():
    answers = {0: "2", 1: "maybe a 2?", 2: "grade: 9", 3: ""}
    asked = []

    def model(prompt):
        asked.append(number_in(prompt))
        return answers[number_in(prompt)]

    found = collect(model)
    assert asked == [0, 1, 2, 1, 3]  # none of them again
    assert dict(found) == {"q1": {"d0": 2}}
    assert [(row.doc, row.answer, row.why) for row in found.unread] == [
        ("d1", "maybe a 2?", "no grade at its end"),
        ("d2", "grade: 9", "the grade 9, which is none of 0, 1, 2, 3"),
        ("d1", "maybe a 2?", "no grade at its end"),
        ("d3", "", "an empty answer"),
    ]
    assert "1 of 5 documents graded, 4 with an unreadable answer" in found.summary
    assert "maybe a 2?" in str(found)


def test_unread_answers_are_asked_for_again_if_one_wants_it(tmp_path):
    asked = []

    def model(prompt):
        asked.append(number_in(prompt))
        return "hm" if asked.count(number_in(prompt)) < 3 else "1"

    found = collect(model, many(2), ask_again=1, cache=tmp_path / "answers", name="m")
    assert asked == [0, 0, 1, 1]
    assert len(found.unread) == 2
    assert collect(model, many(2), cache=tmp_path / "answers", name="m").calls == 0
    found = collect(model, many(2), ask_again=1, cache=tmp_path / "answers", name="m")
    assert found["q1"] == {"d0": 1, "d1": 1}
    assert (found.calls, found.cached) == (2, 0)
    found = collect(model, many(2), cache=tmp_path / "answers", name="m")
    assert (found["q1"], found.calls, found.cached) == ({"d0": 1, "d1": 1}, 0, 2)


# --- the cache


@pytest.mark.parametrize("concurrency", [1, 3])
def test_what_is_done_is_kept_when_the_work_is_interrupted(tmp_path, concurrency):
    cache = tmp_path / "answers.jsonl"
    asked = []

    def model(prompt, *, until=12):
        if len(asked) == until:
            raise KeyboardInterrupt
        asked.append(number_in(prompt))
        return str(number_in(prompt) % 4)

    with pytest.raises(KeyboardInterrupt):
        collect(model, many(30), cache=cache, name="m", concurrency=concurrency)
    before = len(cache.read_text().splitlines())
    assert before == len(asked) == 12
    rest = lambda prompt: model(prompt, until=None)  # noqa: E731
    found = collect(rest, many(30), cache=cache, name="m", concurrency=concurrency)
    assert sorted(asked) == [*range(30)]  # each once
    assert found["q1"] == {f"d{number}": number % 4 for number in range(30)}
    assert (found.calls, found.cached) == (18, 12)


def test_a_line_that_a_crash_left_half_written_is_asked_again(tmp_path):
    cache = tmp_path / "answers.jsonl"
    asked = []
    model = lambda prompt: asked.append(number_in(prompt)) or "1"  # noqa: E731
    collect(model, many(3), cache=cache, name="m")
    whole = cache.read_bytes()
    for cut in (1, 40, len(whole.splitlines()[2])):  # with all but the line end, too
        cache.write_bytes(whole[: -cut - 1] if cut < 100 else whole[:-1])
        asked.clear()
        if cut < 100:
            with pytest.warns(
                gf.errors.GainfulWarning, match="1 unreadable line, perhaps from a crash"
            ):
                found = collect(model, many(4), cache=cache, name="m")
        else:
            found = collect(model, many(4), cache=cache, name="m")
        assert asked == ([2, 3] if cut < 100 else [3])
        assert len(found["q1"]) == 4
        asked.clear()
        if cut < 100:
            with pytest.warns(
                gf.errors.GainfulWarning,
                match="1 unreadable line.* unless that has happened already",
            ):
                assert collect(model, many(4), cache=cache, name="m").calls == 0
        else:
            assert collect(model, many(4), cache=cache, name="m").calls == 0
    cache.write_bytes(whole[:5])  # of the first line
    with pytest.warns(gf.errors.GainfulWarning, match="1 unreadable line"):
        assert collect(model, many(3), cache=cache, name="m").calls == 3


def test_another_file_is_not_taken_for_a_cache(files, tmp_path):
    path = files("judged.qrels", "q1 0 d0 1\n")
    with pytest.raises(
        InputError, match="expected answers of a model, as collect_grades keeps them, found 'q1 0"
    ):
        collect(lambda _: "1", cache=path, name="m")
    assert path.read_text() == "q1 0 d0 1\n"
    for wrong in (tmp_path, tmp_path / "no" / "file", "a\0b", "", 3, "/dev/null"):
        with pytest.raises(InputError):
            collect(lambda _: "1", cache=wrong, name="m")


def test_the_cache_tells_models_prompts_and_parameters_apart(tmp_path):
    cache = tmp_path / "answers"
    with serving("1") as server, serving("2") as other:
        one = {"cache": cache, "pairs": many(2)}
        assert ask(server, **one).calls == 2
        assert ask(server, **one).calls == 0
        assert ask(server, **one, retries=0, concurrency=1, timeout=3).calls == 0
        assert ask(server, **one, parameters={"temperature": 0}).calls == 2
        assert ask(server, **one, grades={0: "off", 1: "on"}).calls == 2
        assert ask(server, **one, docs={**DOCS, "d0": "changed"}).calls == 1
        assert ask(server, **one, queries={"q1": "changed"}).calls == 2
        assert collect("another", endpoint=server.url, **one).calls == 2
        assert ask(other, **one)["q1"] == {"d0": 2, "d1": 2}
        assert ask(server, **one)["q1"] == {"d0": 1, "d1": 1}


def test_a_nameless_function_needs_a_name_for_the_cache(tmp_path):
    with pytest.raises(InputError, match="name: expected a name for this model, found none"):
        collect(lambda _: "1", cache=tmp_path / "answers")
    assert collect(lambda _: "1").model == "model"
    assert collect(lambda _: "1", name="mine").model == "mine"


FILL = """
import sys
import gainful as gf
cache, first = sys.argv[1], int(sys.argv[2])
docs = {f"d{number}": f"text number {number}." for number in range(40)}
def model(prompt):
    number = int(prompt.split("text number ")[1].split(".")[0])
    return "x" * 5000 + f"\\ngrade: {number % 4}"
pairs = {"q1": [*docs][first : first + 30]}
queries = {"q1": "how to bake bread"}
gf.judging.collect_grades(pairs, model, queries=queries, docs=docs, cache=cache, name="m", concurrency=4)
"""


def test_threads_and_processes_share_a_cache(tmp_path):
    cache = tmp_path / "answers"
    command = [sys.executable, "-c", FILL, str(cache)]
    processes = [subprocess.Popen([*command, str(first)]) for first in (0, 10)]
    assert [each.wait(60) for each in processes] == [0, 0]
    lines = [json.loads(line) for line in cache.read_text().splitlines()]
    assert len(lines) >= 40
    for line in lines:
        assert line["answer"] == f"{'x' * 5000}\ngrade: {int(line['docs'][0][1:]) % 4}"
    found = collect(lambda _: 1 / 0, many(40), cache=cache, name="m")
    assert found["q1"] == {f"d{number}": number % 4 for number in range(40)}
    threads = [
        threading.Thread(
            target=collect,
            args=(lambda _: f"{'y' * 9000}\n1", many(40)),
            kwargs={"cache": cache, "name": "n"},
        )
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(json.loads(line) for line in cache.read_text().splitlines())


def test_a_dry_run_asks_nothing_and_leaves_nothing(tmp_path):
    cache = tmp_path / "answers"
    found = collect(lambda _: 1 / 0, cache=cache, name="m", dry=True)
    assert not cache.exists()
    assert (len(found.waiting), found.unasked, found.calls, dict(found)) == (5, 5, 0, {})
    assert found.unasked_characters == pytest.approx(5 * len(found.first_prompt), rel=0.02)
    collect(lambda _: "1", {"q1": ["d0"]}, cache=cache, name="m")
    found = collect(lambda _: 1 / 0, cache=cache, name="m", dry=True)
    assert (len(found.waiting), found.cached, dict(found)) == (4, 1, {"q1": {"d0": 1}})


# --- an endpoint


def test_a_request_is_what_servers_expect(monkeypatch):
    monkeypatch.setenv("A_KEY", f" {KEY}\n")
    with serving("grade: 2") as server:
        found = ask(
            server, key_variable="A_KEY", parameters={"temperature": 0, "seed": 7}, prices=(2, 10)
        )
        first = server.requests[0]
        assert set(first) == {"model", "messages", "temperature", "seed"}
        assert (first["model"], first["temperature"], first["seed"]) == ("a model", 0, 7)
        assert [message["role"] for message in first["messages"]] == ["user"]
        assert sorted(server.prompts)[0].startswith("Somebody searches")
        assert {*server.paths} == {"/v1/chat/completions"}
        assert {each["Authorization"] for each in server.seen} == {f"Bearer {KEY}"}
        assert (found.tokens_in, found.tokens_out) == (500, 35)
        assert found.cost == (500 * 2 + 35 * 10) / 1e6
        assert found.model == "a model"
        ask(server, many(1))
        assert "Authorization" not in server.seen[-1]
        for ending in ("", "/", "/chat/completions", "?api-version=1"):
            collect("m", many(1), endpoint=server.url + ending)
        assert server.paths[-4:] == ["/v1/chat/completions"] * 3 + [
            "/v1/chat/completions?api-version=1"
        ]


def test_a_flood_keeps_to_its_bound_and_to_the_order(tmp_path):
    docs = {f"d{number}": f"text number {number}." for number in range(400)}
    pairs = {"q1": [*docs]}

    def answer(prompt, _):
        return Answer(str(number_in(prompt) % 4), slow=0.002 * (number_in(prompt) % 5))

    with serving(answer) as server:
        options = {"docs": docs, "cache": tmp_path / "answers", "concurrency": 32}
        half = {"q1": [*docs][::2]}
        assert ask(server, half, **options).calls == 200
        found = ask(server, pairs, **options)
        assert 4 <= server.most <= 32
        assert server.connections <= 2 * 32  # they are used again
        assert len(server.prompts) == len({*server.prompts}) == 400
        assert list(found["q1"]) == [*docs]
        assert found["q1"] == {doc: number % 4 for number, doc in enumerate(docs)}
        assert (found.calls, found.cached) == (200, 200)


def test_connections_that_a_server_closed_are_opened_anew():
    with serving(lambda *_: Answer("1", headers={"Connection": "close"})) as server:
        assert len(ask(server, many(6), concurrency=2)["q1"]) == 6
        assert server.connections == 6


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Answer(body=b"<html>", status=200), "no JSON but '<html>'"),
        (Answer(body=b"\xff\xfe", status=200), "no JSON but"),
        (Answer(body={"choices": []}), r"no choices\[0\].message in"),
        (Answer(body=[1]), r"no choices\[0\].message in"),
        (Answer(body={"choices": [{"message": {"content": 3}}]}), r"no choices\[0\].message in"),
        (Answer(body={"choices": [{"message": {"content": ["x"]}}]}), "no choices"),
        (
            Answer(status=500, body={"error": {"message": "overloaded."}}),
            "500 Internal Server Error: overloaded",
        ),
        (Answer(status=502, body=b""), "502 Bad Gateway"),
        (Answer(status=529, body={"detail": "busy"}), "529: busy"),
        (Answer("1", drop="at once"), "the connection was dropped"),
        (Answer("1", drop="midway"), "an answer that breaks off|Connection reset"),
    ],
)
def test_what_goes_wrong_is_tried_again(bad, why, clock):
    with serving(lambda _, before: bad if before < 2 else Answer("1")) as server:
        found = ask(server, many(2), concurrency=1)
        assert found["q1"] == {"d0": 1, "d1": 1}
        assert found.calls >= 5
        assert clock.waits[:2] == [1.0, 2.0]
    good = Answer("1")
    with serving(lambda prompt, _: bad if number_in(prompt) == 1 else good) as server:
        found = ask(server, many(3), concurrency=1, retries=1)
        assert found["q1"] == {"d0": 1, "d2": 1}
        assert re.search(why, found.failed[0].why), found.failed[0].why
        assert len(found.failed) == 1


def test_waits_double_up_to_a_minute_and_are_not_the_same_for_all(clock, monkeypatch):
    with serving(Answer(status=500, body={})) as server, pytest.raises(GainfulError, match="500"):
        ask(server, many(3), retries=8, concurrency=1)
    assert clock.waits == [1, 2, 4, 8, 16, 32, 60, 60] * 3
    monkeypatch.setattr(FakeClock, "random", lambda _: 0.0)
    clock.waits.clear()
    with serving(Answer(status=500, body={})) as server, pytest.raises(GainfulError, match="500"):
        ask(server, many(3), retries=2, concurrency=1)
    assert clock.waits == [0.5, 1] * 3


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_to_wait_is_waited_for(clock, status):
    busy = Answer(status=status, headers={"Retry-After": "17"}, body={"error": "slow down"})
    with serving(lambda _, before: Answer("1") if before else busy) as server:
        assert len(ask(server, many(2), concurrency=1)["q1"]) == 2
    assert (
        clock.waits == [pytest.approx(18.7)] * 2
    )  # and a tenth more, so that not all come at once
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    busy.headers = {"Retry-After": when}
    clock.waits.clear()
    with serving(lambda _, before: Answer("1") if before else busy) as server:
        ask(server, many(1), concurrency=1)
    assert clock.waits == [pytest.approx(110, abs=4)]
    for nonsense in ("soon", "-3", ""):
        busy.headers = {"Retry-After": nonsense}
        clock.waits.clear()
        with serving(lambda _, before: Answer("1") if before else busy) as server:
            ask(server, many(1), concurrency=1)
        assert clock.waits == [1.0]


def test_all_calls_wait_where_the_server_asks_one_to(clock):
    pace = parallel_calls._Pace(None, threading.Event())
    pace.hold(20)
    pace.wait_for_turn()
    assert clock.waits == [20]
    pace.wait_for_turn()
    assert clock.waits == [20]


def test_a_server_that_asks_to_wait_for_hours_is_not_waited_for(clock):
    busy = Answer(status=429, headers={"Retry-After": "86400"}, body={})
    with serving(lambda prompt, _: busy if number_in(prompt) else Answer("1")) as server:
        found = ask(server, many(2), concurrency=1)
    assert clock.waits == []
    assert found.failed[0].why == "429 Too Many Requests: {}, and asks to wait for 86,400 s"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            401,
            r"found 401 Unauthorized: bad key\. Name the environment variable that holds the key: key_variable=…, on the command line --key-variable …\.$",
        ),
        (403, "found 403 Forbidden: bad key"),
        (
            404,
            r"found 404 Not Found: bad key\. Check the address and the name of the model, 'a model'\.$",
        ),
        (405, "found 405 Method Not Allowed"),
        (301, r"found 301 Moved Permanently, moved to 'https://elsewhere/'\. Use that address\.$"),
    ],
)
def test_what_no_other_prompt_can_help_ends_it_at_once(status, said, clock):
    answer = Answer(
        status=status,
        body={"error": {"message": "bad key"}},
        headers={"Location": "https://elsewhere/"},
    )
    with serving(answer) as server, pytest.raises(GainfulError, match=said) as problem:
        ask(server, many(40), concurrency=4)
    assert len(server.requests) <= 4
    assert clock.waits == []
    assert str(problem.value).startswith(
        f"{server.url}/chat/completions: expected an answer, found"
    )
    assert "\n" not in str(problem.value)


def test_a_request_that_is_refused_is_not_tried_again(clock):
    refused = Answer(status=400, body={"error": {"message": "unknown parameter 'temprature'"}})
    with (
        serving(refused) as server,
        pytest.raises(GainfulError, match="400 Bad Request: unknown parameter"),
    ):
        ask(server, many(40), concurrency=1)
    assert len(server.requests) == 3
    # One prompt that is too long says nothing of the others.
    long = Answer(status=400, body={"error": {"message": "too long"}})
    with serving(lambda prompt, _: long if number_in(prompt) > 4 else Answer("1")) as server:
        found = ask(server, many(40), concurrency=1)
        assert (len(found["q1"]), len(found.failed)) == (5, 35)
        assert len(server.requests) == 40
    assert clock.waits == []


def test_a_server_that_breaks_down_is_not_asked_for_ever(clock, tmp_path):
    down = Answer(status=503, body=b"down")
    with serving(lambda prompt, _: down if number_in(prompt) > 3 else Answer("1")) as server:
        kept = tmp_path / "answers"
        with pytest.raises(GainfulError, match=f"503.*: down. 4 earlier answers are in {kept}"):
            ask(server, many(40), concurrency=1, retries=0, cache=kept)
        assert len(server.requests) == 24
        with pytest.raises(
            GainfulError, match="4 earlier answers are lost: use a cache to keep them"
        ):
            ask(server, many(40), concurrency=1, retries=0)
        server.answer = lambda *_: Answer("2")
        found = ask(server, many(40), cache=kept)
        assert (found.cached, found.calls, len(found["q1"])) == (4, 36, 40)


def test_an_address_where_nobody_listens_is_told_at_once(clock):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = r"expected an answer, found no connection \(Connection refused\)\. Check the address, and that the server runs\.$"
    with pytest.raises(GainfulError, match=said):
        collect("m", endpoint=f"http://127.0.0.1:{port}/v1")
    assert clock.waits == []


def test_an_answer_that_takes_too_long_is_given_up(clock):
    slow = Answer("1", slow=0.6)
    with serving(lambda _, before: slow if not before else Answer("1")) as server:
        start = time.monotonic()
        found = ask(server, many(2), timeout=0.1, concurrency=2)
        assert time.monotonic() - start < 3
        assert len(found["q1"]) == 2
        assert clock.waits == [1.0] * 2
    with serving(slow) as server, pytest.raises(GainfulError, match=r"no answer within 0\.1 s"):
        ask(server, many(3), timeout=0.1, retries=0, concurrency=3)


def test_a_byte_now_and_then_is_no_answer(clock):
    with (
        serving(Answer("1", drip=0.03)) as server,
        pytest.raises(GainfulError, match="no answer within"),
    ):
        ask(server, many(3), timeout=0.15, retries=0, concurrency=3)


def test_a_connection_that_is_not_secure_is_told_at_once(clock):
    with (
        serving("1") as server,
        pytest.raises(GainfulError, match=r"found no connection \(.*SSL") as problem,
    ):
        collect("m", endpoint=server.url.replace("http:", "https:"))
    assert "\n" not in str(problem.value)
    assert clock.waits == []


def test_who_interrupts_does_not_wait_for_what_is_on_its_way(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel_calls, "_GRACE", 0.05)
    cache, release, before = tmp_path / "answers", threading.Event(), threading.active_count()
    waiting = threading.Event()

    def answer(prompt, _):
        if number_in(prompt) > 3:
            waiting.set()
            release.wait(10)
        return Answer("1")

    def interrupt():
        waiting.wait(10)
        time.sleep(0.3)  # so that the others are answered
        _thread.interrupt_main()

    # A shell that starts the tests in the background has them ignore it.
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
    with serving(answer) as server:
        timer = threading.Thread(target=interrupt)
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            ask(server, many(9), cache=cache, concurrency=3)
        assert time.monotonic() - start < 5
        timer.join()
        signal.signal(signal.SIGINT, ignored)
        assert len(cache.read_text().splitlines()) == 4
        release.set()
        assert ask(server, many(9), cache=cache).cached == 4
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)  # until the last of them has seen that nobody waits for it
    assert threading.active_count() <= before
    assert len(cache.read_text().splitlines()) == 9


def test_a_wait_ends_with_the_work():
    stop = threading.Event()
    stop.set()
    start = time.monotonic()
    parallel_calls.Clock().sleep(60, stop)
    assert time.monotonic() - start < 1
    assert 0 <= parallel_calls.Clock().random() <= 1


def test_wrong_answers_of_a_server_are_not_judged():
    answers = [
        Answer("5"), Answer("grade: 1\ngrade: 2"), Answer(""), Answer("grade: 1", finish="length"),
        Answer(body={"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}),
        Answer(body={"choices": [{"message": {"content": [{"type": "text", "text": "grade: 3"}]}}], "usage": "?"}),
    ]  # fmt: skip
    with serving(lambda prompt, _: answers[number_in(prompt)]) as server:
        found = ask(server, many(6))
    assert [row.why for row in found.rows] == [
        "the grade 5, which is none of 0, 1, 2, 3",
        "different grades: 1, 2",
        "an empty answer",
        "an answer that was truncated at its token limit",
        "no grade at its end",
        "",
    ]
    assert found.unread[4].answer == "I cannot."
    assert dict(found) == {"q1": {"d5": 3}}
    assert len(server.requests) == 6


def test_an_answer_that_does_not_fit_the_memory_is_refused(clock, monkeypatch):
    monkeypatch.setattr("gainful.integrations.calling.http_client.LARGEST_ANSWER", 1000)
    with serving("x" * 5000) as server, pytest.raises(GainfulError, match="an answer of more than"):
        ask(server, many(3), retries=0)


def test_the_rate_is_limited(clock):
    with serving("1") as server:
        ask(server, many(10), per_minute=30, concurrency=1)
    assert clock.waits == [2.0] * 9
    assert clock.time == 18


def test_the_key_is_written_nowhere(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("A_KEY", KEY)
    cache = tmp_path / "answers"
    told = []
    options = {"key_variable": "A_KEY", "cache": cache, "progress": lambda *what: told.append(what)}
    with serving(f"your key is {KEY}\ngrade: 1") as server:  # which repeats what it heard
        found = ask(server, **options)
        found.write(tmp_path / "grades.json")
        found.write(tmp_path / "grades.csv")
        assert len(found.graded) == 5
    said = [str(found), repr(found), found.to_json(), str(told), *capsys.readouterr()]
    for answer in (
        Answer(status=401, body={"error": {"message": f"wrong: {KEY}"}}),
        Answer(status=401, body=f"wrong: {KEY}".encode()),
        Answer(status=301, headers={"Location": f"https://x/?k={KEY}"}, body=b""),
        Answer(body=f"<html>{KEY}".encode()),
        Answer(body=[KEY]),
    ):
        with serving(answer) as server, pytest.raises(GainfulError) as problem:
            ask(server, many(3), key_variable="A_KEY", retries=0)
        said += [str(problem.value), repr(problem.value), repr(problem.value.__cause__)]
    for wrong in (
        KEY,
        f"{KEY} ",
        f"{KEY}\n",
        3,
        "",
        "a\0b",
        "a=b",
    ):  # the key in the place of its name
        with pytest.raises(InputError, match="key_variable") as problem:
            collect("m", endpoint="http://x/v1", key_variable=wrong)
        said.append(str(problem.value))
    monkeypatch.setenv("A_KEY", f"{KEY}\nInjected: 1")
    with pytest.raises(InputError, match="key_variable") as problem:
        collect("m", endpoint="http://x/v1", key_variable="A_KEY")
    said.append(str(problem.value))
    for address in (f"http://me:{KEY}@x/v1", f"http://{KEY}@x/v1"):
        with pytest.raises(
            InputError, match="endpoint: expected an address without a name"
        ) as problem:
            collect("m", endpoint=address)
        said.append(str(problem.value))
    with pytest.raises(
        InputError, match="key_variable: expected None without an endpoint"
    ) as problem:
        collect(lambda _: "1", key_variable=KEY)
    said.append(str(problem.value))
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"your key is [key]" in written
    assert KEY.encode() not in written
    assert all(KEY not in each for each in said)


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": "localhost:8000"}, {"endpoint": "ftp://x/v1"}, {"endpoint": "http://"}, {"endpoint": 3},
        {"endpoint": "http://x:99999999/v1"}, {"endpoint": "http://x y/"}, {"endpoint": "http://é/"},
        {"endpoint": "http://x/#a"}, {"endpoint": "http://x", "model": ""}, {"endpoint": "http://x", "model": len},
        {"endpoint": "http://x", "batch": 3}, {"endpoint": "http://x", "parameters": {"model": "y"}},
        {"endpoint": "http://x", "parameters": {"stream": True}}, {"endpoint": "http://x", "parameters": [1]},
        {"endpoint": "http://x", "parameters": {"a": float("nan")}}, {"endpoint": "http://x", "timeout": 0},
        {"parameters": {"temperature": 0}}, {"timeout": 3}, {"concurrency": 0}, {"retries": -1},
        {"ask_again": 1.5}, {"per_minute": 0}, {"prices": 3}, {"prices": (1, -1)}, {"prices": (1, 2, 3)},
        {"name": ""}, {"name": 3}, {"dry": "no"}, {"missing_texts": "maybe"}, {"longest": 0}, {"per_prompt": 0},
        {"batch": 0}, {"model": 3}, {"model": int}, {"model": None}, {"progress": 3}, {"assessors": "mean"},
    ],
    ids=str,
)  # fmt: skip
def test_bad_arguments_are_refused_before_anybody_is_asked(wrong):
    model = wrong.pop("model", "m" if "endpoint" in wrong else lambda _: "1")
    with pytest.raises(InputError):
        collect(model, **wrong)


def test_arguments_are_left_as_they_were():
    pairs, queries, docs = {"q1": ["d0"]}, dict(QUERIES), dict(DOCS)
    parameters, grades = {"stop": ["x"]}, {1: "on", 0: "off"}
    with serving("1") as server:
        found = ask(server, pairs, queries=queries, docs=docs, parameters=parameters, grades=grades)
    assert (pairs, queries, docs) == ({"q1": ["d0"]}, QUERIES, DOCS)
    assert (parameters, list(grades)) == ({"stop": ["x"]}, [1, 0])
    found["q1"]["d9"] = 3.0
    assert "d9" not in found["q1"]


# --- what comes of it


def test_progress_is_told_with_counts_and_cost(tmp_path):
    told = []

    def answer(prompt, _):
        number = number_in(prompt)
        return Answer(status=400, body={}) if number == 8 else Answer("hm" if number == 9 else "1")

    with serving(answer) as server:
        options = {"cache": tmp_path / "answers", "prices": (1000, 1000), "concurrency": 1}
        ask(server, many(4), **options)
        ask(server, many(10), **options, progress=lambda *what: told.append(what))
    assert told[0] == (0.0, "0 of 6 prompts, 4 cached, cost 0.0000")
    share, line = told[-1]
    assert share == 1.0
    pattern = (
        r"6 of 6 prompts, 4 cached, 1 unread, 1 failed, 500 \+ 35 tokens, cost 0\.5350, [\d.]+/s"
    )
    assert re.fullmatch(pattern, line), line
    assert re.search(r"3 of 6 prompts, .*/s, \d+ s left$", told[3][1]), told[3]
    assert [share for share, _ in told] == sorted(share for share, _ in told)


def test_the_grades_are_judgments_everywhere(tmp_path):
    people = {"q1": {"d0": 0, "d1": 1, "d2": 2}, "q2": {"d1": 1, "d3": 2}}
    run = {"q1": {"d0": 3.0, "d1": 2.0, "d2": 1.0}, "q2": {"d3": 2.0, "d1": 1.0}}
    found = collect(lambda prompt: str(number_in(prompt)), name="m")
    plain = {query: dict(docs) for query, docs in found.items()}
    assert gf.evaluate(found, run) == gf.evaluate(plain, run)
    assert gf.compare(found, {"a": run, "b": {**run, "q1": {"d2": 1.0}}}).differences
    assert gf.judging.agreement([people, found], names=["ann", "m"])["raw"] == pytest.approx(0.8)
    assert gf.check(found).summary == gf.check(plain).summary
    for ending in ("qrels", "csv", "tsv", "jsonl", "parquet"):
        path = tmp_path / f"grades.{ending}"
        found.write(path)
        assert gf.evaluate(path, run)["nDCG@10"] == gf.evaluate(found, run)["nDCG@10"], ending
    assert (
        tmp_path / "grades.qrels"
    ).read_text() == "q1 0 d0 0\nq1 0 d1 1\nq1 0 d2 2\nq2 0 d1 1\nq2 0 d3 3\n"
    head, first, *_ = (tmp_path / "grades.csv").read_text().splitlines()
    assert (head, first) == ("query,doc,assessor,grade", "q1,d0,m,0")
    # A table of people and the model together is what agreement takes.
    rows = [
        (query, doc, "ann", grade) for query, docs in people.items() for doc, grade in docs.items()
    ]
    frame = pd.DataFrame(rows, columns=["query", "doc", "assessor", "grade"])
    both = pd.concat([frame, found.to_pandas()], ignore_index=True)
    assert gf.judging.agreement(both)["raw"] == pytest.approx(0.8)


def test_the_file_of_all_has_what_is_not_judged(tmp_path):
    found = collect(lambda prompt: "1" if number_in(prompt) == 0 else "hm")
    found.write(tmp_path / "all.json")
    plain = json.loads((tmp_path / "all.json").read_text())
    assert plain["judgments"] == {"q1": {"d0": 1.0}}
    assert [row["answer"] for row in plain["rows"]] == ["1", *["hm"] * 4]
    assert plain["prompt_hash"] == found.prompt_hash
    assert len(plain["prompt_hash"]) == 64
    nothing = collect(lambda _: "hm")
    for ending in ("qrels", "csv", "json", "jsonl", "md", "txt"):
        nothing.write(tmp_path / f"nothing.{ending}")
    assert (tmp_path / "nothing.qrels").read_text() == ""
    with pytest.raises(
        InputError, match="collected grades: expected one of its queries: 'q1', found 'q9'"
    ):
        found["q9"]
    assert (found.get("q9"), found.get("q9", 3), "q9" in found, 3 in found) == (
        None,
        3,
        False,
        False,
    )


def test_odd_texts_go_there_and_back(tmp_path):
    docs = {"d é 1": "naïve 語 🍞 \x00 \u2028 end"}
    answer = "«naïve» 🍞\u2028\ngrade: 2"
    with serving(answer) as server:
        options = {"docs": docs, "queries": {"q ü": "œuvre"}, "cache": tmp_path / "answers"}
        found = ask(server, {"q ü": ["d é 1"]}, **options)
        assert docs["d é 1"] in server.prompts[0]
        again = ask(server, {"q ü": ["d é 1"]}, **options)
    assert found.rows == again.rows
    assert again.rows[0].answer == answer
    half = collect(lambda _: "\ud800\n2\n", many(1))
    assert half.rows[0].answer == "?\n2\n"
    half.write(tmp_path / "half.json")


# --- the command line


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files("pool.qrels", "q1 0 d0 ?\nq1 0 d1 ?\nq2 0 d1 ?\nq2 0 d3 ?\n")
    files("queries.tsv", "query\ttext\nq1\thow to bake bread\nq2\ttyres\n")
    files(
        "docs.jsonl",
        "".join(json.dumps({"_id": doc, "text": text}) + "\n" for doc, text in DOCS.items()),
    )
    return tmp_path


TEXTS = ("--queries", "queries.tsv", "--docs", "docs.jsonl")


def test_the_command_asks_an_endpoint(folder, cli, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    with serving(
        lambda prompt, _: Answer("hm" if number_in(prompt) == 3 else "grade: 2")
    ) as server:
        given = (
            "--endpoint", server.url, "--model", "llama", "--key-variable", "A_KEY", "--parameter", "temperature=0",
            "--parameter", "user=me", "--prices", "1", "2",
        )  # fmt: skip
        done = cli("collect", "pool.qrels", *TEXTS, *given, "-o", "model.csv")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert (
            Path("model.csv").read_text()
            == "query,doc,assessor,grade\nq1,d0,llama,2\nq1,d1,llama,2\nq2,d1,llama,2\n"
        )
        told, counts, kept = done.stderr.splitlines()
        assert kept == "the answers are saved in model.csv.answers.jsonl"
        assert told == "unjudged: query q2, document d3, no grade at its end: 'hm'"
        assert counts == (
            "llama: 3 of 4 documents graded, 1 with an unreadable answer; 4 calls, 0 cached; "
            "400 tokens in, 28 out; cost 0.0005"
        )
        assert (server.requests[0]["temperature"], server.requests[0]["user"]) == (0, "me")
        assert len(Path("model.csv.answers.jsonl").read_text().splitlines()) == 4
        done = cli("collect", "pool.qrels", *TEXTS, *given, "-o", "model.csv")
        assert "0 calls, 4 cached" in done.stderr
        done = cli(
            "collect",
            "pool.qrels",
            *TEXTS,
            *given,
            "-f",
            "trec",
            "--cache",
            "model.csv.answers.jsonl",
        )
        assert done.stdout == "q1 0 d0 2\nq1 0 d1 2\nq2 0 d1 2\n"
        assert len(server.requests) == 4
    assert all(KEY.encode() not in path.read_bytes() for path in folder.iterdir())
    assert cli("agreement", "model.csv").returncode == 2  # of one assessor alone
    Path("people.csv").write_text("q1,d0,ann,2\nq1,d1,ann,1\n")
    Path("both.csv").write_text(Path("model.csv").read_text() + Path("people.csv").read_text())
    done = cli("agreement", "both.csv", "-f", "json")
    assert json.loads(done.stdout)["assessors"] == ["ann", "llama"]


def test_the_command_calls_a_function(folder, cli):
    Path("own_grader.py").write_text(
        "def grade(prompt):\n    import own_grader_words\n    return own_grader_words.ANSWER\n"
    )
    Path("own_grader_words.py").write_text("ANSWER = '1'\n")
    call = ("collect", "pool.qrels", *TEXTS, "--call", "own_grader:grade")
    done = cli(*call)
    assert done.returncode == 0, done.stderr
    assert "q2      d3    grade" in done.stdout
    assert done.stdout.endswith("grade: 4 of 4 documents graded; 4 calls, 0 cached\n")
    done = cli(
        *call,
        "--grade",
        "0=off",
        "--grade",
        "1=on",
        "--per-prompt",
        "2",
        "--name",
        "mine",
        "-f",
        "csv",
    )
    assert (done.returncode, done.stdout) == (1, "query,doc,assessor,grade\n")
    assert "unjudged: query q1, document d0, no grade for document 1: '1'" in done.stderr
    Path("run.csv").write_text("query,doc,score\nq1,d0,1\nq1,d1,2\n")
    done = cli(
        "collect", "run.csv", *TEXTS, "--call", "own_grader:grade", "--depth", 1, "-f", "trec"
    )
    assert done.stdout == "q1 0 d1 1\n"


def test_an_interrupted_command_keeps_its_answers(folder, cli, monkeypatch):
    # The process ends at once while threads run, and those of servers in other tests may.
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    Path("ended_grader.py").write_text(
        "seen = []\ndef grade(prompt):\n    seen.append(prompt)\n    if len(seen) == 3:\n"
        "        raise KeyboardInterrupt\n    return '1'\n"
    )
    call = ("collect", "pool.qrels", *TEXTS, "--call", "ended_grader:grade", "-o", "model.qrels")
    assert cli(*call)[:2] == (130, "")
    assert not Path("model.qrels").exists()
    assert len(Path("model.qrels.answers.jsonl").read_text().splitlines()) == 2
    done = cli(*call)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "grade: 4 of 4 documents graded; 2 calls, 2 cached",
        "the answers are saved in model.qrels.answers.jsonl",
    ]


def test_a_dry_run_of_the_command(folder, cli):
    Path("prompt.txt").write_text("{query}?\n{document}\n")
    call = (
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--prompt",
        "prompt.txt",
        "--dry-run",
    )
    done = cli("collect", "pool.qrels", *TEXTS, *call, "-o", "model.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "how to bake bread?\ntext number 0.\n"
    assert "4 prompts to send, 112 characters, about 28 tokens; 0 cached" in done.stderr
    assert not Path("model.csv").exists()
    assert not Path("model.csv.answers.jsonl").exists()


def test_calls_that_failed_are_told_by_the_exit_code(folder, cli, clock):
    with serving(
        lambda prompt, _: Answer("1") if number_in(prompt) == 0 else Answer(status=422, body={})
    ) as server:
        call = ("--endpoint", server.url, "--model", "m", "--concurrency", 1, "-o", "model.qrels")
        done = cli("collect", "pool.qrels", *TEXTS, *call)
        assert done.returncode == 1
        assert Path("model.qrels").read_text() == "q1 0 d0 1\n"
        assert "3 without an answer" in done.stderr
        server.answer = lambda *_: Answer("2")
        assert cli("collect", "pool.qrels", *TEXTS, *call).returncode == 0
        assert len(server.requests) == 4 + 3
    assert Path("model.qrels").read_text() == "q1 0 d0 1\nq1 0 d1 2\nq2 0 d1 2\nq2 0 d3 2\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name the model: --endpoint URL --model NAME, or --call MODULE:NAME."),
        (("--model", "m"), "--model requires --endpoint"),
        (("--call", "a:b", "--model", "m"), "--model requires --endpoint."),
        (
            ("--endpoint", "http://x", "--model", "m", "--call", "a:b"),
            "--endpoint cannot be combined with --call.",
        ),
        (("--endpoint", "http://x"), "--endpoint requires --model NAME"),
        (("--call", "nowhere_at_all:b"), "model: expected a module that can be imported"),
        (("--call", "a:b", "--parameter", "x"), "--parameter expects NAME=VALUE"),
        (
            ("--call", "a:b", "--parameter", "x=1", "--parameter", "x=2"),
            "--parameter names x twice",
        ),
        (("--call", "a:b", "--grade", "x"), "--grade expects NUMBER=MEANING"),
        (
            ("--call", "a:b", "--grade", "0", "--grade", "1=on"),
            "pass a meaning for every grade or for none",
        ),
        (("--call", "a:b", "--grade", "0=x", "--grade", "0=on"), "--grade names a grade twice"),
        (("--call", "a:b", "-o", "pool.qrels"), "is one of the inputs"),
        (("--call", "a:b", "-o", "x.png"), "promises a picture"),
        (("--call", "a:b", "--docs", "nowhere.tsv"), "expected"),
    ],
)
def test_wrong_words_are_refused(folder, cli, words, message):
    done = cli("collect", "pool.qrels", *TEXTS, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_json_of_grades_is_read_as_judgments(tmp_path):
    found = collect(lambda prompt: str(number_in(prompt) % 3), name="m")
    found.write(tmp_path / "grades.json")
    run = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    expected = gf.evaluate(dict(found), run, "DCG").values.tolist()
    assert gf.evaluate(tmp_path / "grades.json", run, "DCG").values.tolist() == expected
    assert gf.evaluate(found.to_dict(), run, "DCG").values.tolist() == expected
