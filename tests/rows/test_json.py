"""JSON, in lines and in one piece: integers as they are written, and each key once."""

import pytest

import gainful as gf
from gainful.rows import clean_text_files

JUDGMENTS = {"q1": {"a": 1, "b": 2}}
LAX = gf.Policy(duplicates="first")


def line(doc, number, key="score"):
    return f'{{"query": "q1", "doc": "{doc}", "{key}": {number}}}\n'


# A float64 holds none of these; the engine takes the last three for fractions, and rounds them.
INEXACT = [2**53 + 1, 2**64 - 1, 2**64 + 1, -(2**63) - 1, 10**30 + 1]


@pytest.mark.parametrize("number", INEXACT)
@pytest.mark.parametrize("key", ["score", "grade"])
def test_integers_that_a_float64_does_not_hold_are_refused_wherever_they_stand(
    files, tmp_path, number, key
):
    if key == "score":
        lines = files("x.jsonl", line("a", 0.5) + line("b", number))
        pairs = [(JUDGMENTS, lines), (JUDGMENTS, files("x.json", f'{{"q1": {{"b": {number}}}}}'))]
    else:
        lines = files("x.jsonl", line("a", 1, key) + line("b", number, key))
        pairs = [(lines, {"q1": {"a": 1.0}})]
    for pair in pairs:
        for measure in ("nDCG", "nDCG@1"):
            said = f"{key} that a float64 holds exactly, found {number}.*scale them down"
            with pytest.raises(gf.errors.InputError, match=said) as caught:
                gf.evaluate(*pair, measure)
            assert caught.value.where.startswith(str(pair[pair[0] is JUDGMENTS]))
    with pytest.raises(gf.errors.InputError) as caught:
        (gf.write_run if key == "score" else gf.write_judgments)(lines, tmp_path / "out.trec")
    assert caught.value.where == f"{lines}:2"


@pytest.mark.parametrize("number", ["1e300", "-1e300", str(2**64), str(-(2**64)), "9.3e18", "1E19"])
def test_large_numbers_that_a_float64_holds_are_taken(files, number):
    """The engine leaves them to the slow reader, and the result is that of a dict."""
    run = {"q1": {"a": float(number), "b": 0.5, "c": -0.25}}
    lines = files("x.jsonl", "".join(line(doc, text) for doc, text in
                                     [("a", number), ("b", 0.5), ("c", -0.25)]))  # fmt: skip
    for measures in (["nDCG", "RR"], "nDCG@1"):
        for policy in (None, LAX, gf.Policy(ties="order")):
            found = gf.evaluate(JUDGMENTS, lines, measures, policy=policy)
            assert found.means == gf.evaluate(JUDGMENTS, run, measures, policy=policy).means
    graded = files("j.jsonl", line("a", number, "grade") + line("b", 1, "grade"))
    expected = gf.evaluate({"q1": {"a": float(number), "b": 1}}, run, "DCG").means
    assert gf.evaluate(graded, run, "DCG").means == expected


def test_large_numbers_survive_writing(files, tmp_path):
    lines = files("x.jsonl", line("a", "1e300") + line("b", 2**64))
    gf.write_run(lines, tmp_path / "y.run")
    assert (tmp_path / "y.run").read_text().split()[4::6] == ["1e+300", repr(float(2**64))]


# name, content, what the message begins with after the path, and what it says
TWICE = [
    ("documents", '{"q0": {"a": 1}, "q1": {"a": 1, "b": 1, "b": 2}}',
     ", query 'q1': expected each document once, found 'b' again."),
    ("queries", '{"q1": {"a": 1}, "q2": {}, "q1": {"b": 2}}',
     ": expected each query once, found 'q1' again."),
    ("both", '{"q1": {"a": 1, "a": 2}, "q1": {"b": 2}}',
     ": expected each query once, found 'q1' again."),
    ("records", '[{"query": "q1", "doc": "a", "score": 1},\n{"query": "q1", "doc": "b", "doc": "c"}]',
     ", record 2: expected each key once, found 'doc' again."),
    ("before a mistake", '{"q1": {"a": 1, "a": 2}, ', ": expected each key once, found 'a' again."),
    ("within lists", '{"q1": {"a": [{"x": 1, "x": 2}]}}', ": expected each key once, found 'x' again."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "said"), TWICE, ids=[name for name, *_ in TWICE])
def test_a_key_twice_is_refused_with_its_place_under_every_policy(files, name, content, said):
    path = files("x.json", content)
    for policy in (None, LAX):
        with pytest.raises(gf.errors.InputError) as caught:
            gf.evaluate(JUDGMENTS, path, "nDCG", policy=policy)
        told = str(caught.value)
        assert told.startswith(f"{path}{said}")
        assert "Remove one: keys in a JSON object must be unique" in told
        by_query = name in ("documents", "queries", "both")
        assert told.endswith("The policy duplicates is for rows.") == by_query


def test_a_key_twice_in_a_line_says_what_to_do(files):
    path = files("x.jsonl", line("a", 1) + '{"query": "q1", "doc": "b", "doc": "c", "score": 1}\n')
    said = f"{path}:2: expected each key once, found 'doc' again. Remove one: keys in a JSON object"
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(JUDGMENTS, path)
    assert str(caught.value).startswith(said)


def test_a_key_twice_in_a_table_of_queries_says_what_to_do(files):
    path = files("x.json", '{"q1": {"length": 1, "length": 2}}')
    with pytest.raises(
        gf.errors.InputError, match=r"'length' again\. Remove one: keys in a JSON object"
    ):
        gf.comparison.compare_scores({"a": path, "b": {"q1": 1.0}})


def test_a_key_twice_among_very_many_is_found_at_once(files):
    documents = ", ".join(f'"d{number}": 1' for number in range(300_000))
    path = files("x.json", f'{{"q1": {{{documents}, "d299999": 2}}}}')
    with pytest.raises(gf.errors.InputError, match="query 'q1': expected each document once"):
        gf.evaluate(JUDGMENTS, path)


NUMBERS = (
    "0", "-0", "0.0", "-0.0", "7", "-7", "0.5", "-12.25", "1e5", "1E5", "1e-5", "1e300", "1e24",
    "123456789012345", "1234567890123456", "9007199254740993", "1000000000000000000000000",
    "0.1234567890123456789", "18446744073709551615", "1e999", "NaN", "Infinity", "-Infinity", "-inf",
    "true", "null", '"5"', '""', "[5]", "{}", '{"a":5}', "05", ".5", "5.", "+5", "1_0",
)  # fmt: skip
IDS = (
    '"a"', '"a b"', '"é🙂"', '""', '" "', '"\\""', '"\\\\"', '"\\u0061"', '"a\\/b"', '"5"', "5", "-5",
    "5.0", "1e2", "true", "null", "[5]", '["a"]', "{}", '"\\ud800"', "12345678901234567890",
)  # fmt: skip


@pytest.mark.parametrize(
    ("doc", "score"), [('"b"', number) for number in NUMBERS] + [(name, "0.5") for name in IDS]
)
def test_the_engine_reads_values_as_the_rows_are_read(tmp_path, monkeypatch, doc, score):
    path = tmp_path / "run.jsonl"
    line = '{{"query": "q", "doc": {}, "score": {}}}\n'
    path.write_text(line.format('"c"', 1) + line.format(doc, score) + line.format('"d"', 3))
    judgments = {"q": {"a": 1, "b": 2, "5": 3, "-5": 1, "é🙂": 2, "a b": 1, "c": 1, '"': 2}}

    def answer():
        try:
            return dict(gf.evaluate(judgments, path, ["nDCG", "nDCG@2"]))
        except gf.errors.GainfulError as problem:
            return str(problem)

    found = answer()
    monkeypatch.setattr(
        clean_text_files,
        "count_json_lines",
        lambda _: None,
    )
    assert found == answer()


def test_the_broken_one_of_nested_lines_is_named(tmp_path):
    lines = [
        '{"query": "a", "docs": ["x"]}',
        '{"query": "b", "docs": ["y"]}',
        '{"query": "c", "docs": ["z"}',
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(gf.errors.InputError, match=r"run.jsonl:3: expected a JSON object, found"):
        gf.evaluate({"a": {"x": 1}}, path)
