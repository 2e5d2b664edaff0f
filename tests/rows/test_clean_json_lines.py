"""Clean JSON lines are matched on arrays; dicts, the engine and the rows give the same, in numbers and words."""

import itertools
import json
import random

import numpy as np
import pytest

import gainful as gf
from every_case import assert_every_case
from gainful.matching import input as inputs
from gainful.matching import match as the_matcher
from gainful.matching.input import TableInput
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.rows import clean_text_files
from gainful.rows.clean_text_files import _stands
from gainful.rows.files import LocalFile
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.text_formats import Row, json_lines_layout, rows
from random_texts import made
from same_matched import assert_same, match_dicts

ALPHABET = "abc0123-_#'.:;{}[] é語🙂\x7f"
TIES = ("doc", "doc_ascending", "average", "order")
COMPACT, USUAL = (",", ":"), (", ", ": ")


def lines(rows, number, *, order=("query", "doc", "number"), marks=USUAL, end="\n"):
    """Write dicts as JSON lines, with keys in an order; those that are no roles get a value."""
    content = ""
    for query, docs in rows.items():
        for doc, value in docs.items():
            record = {"query": query, "doc": doc, "number": value}
            found = {key.replace("number", number): record.get(key, key) for key in order}
            content += json.dumps(found, ensure_ascii=False, separators=marks) + end
    return content


def layout_of(path, kind, columns=None):
    with path.open("rb") as file:
        return json_lines_layout(file.readline(), str(path), kind, columns or {})


def match(judgments, run, policy, depth):
    judged = inputs.read_clean_judgments(judgments, layout_of(judgments, JUDGMENTS))
    assert judged is not None
    system = inputs.CleanRun(run, layout_of(run, RUN))
    return the_matcher.match(judged, system, policy, depth)


ORDERS = [
    *itertools.permutations(("query", "doc", "number")),
    ("tag", "query", "doc", "number"),
    ("number", "a", "doc", "b", "query", "c"),
]


@pytest.mark.parametrize("case", range(len(ORDERS)))
def test_same_as_dicts(files, monkeypatch, case, deep):
    judgments, run = made(case, alphabet=ALPHABET, longest=40)
    written = {"order": ORDERS[case], "marks": (COMPACT, USUAL)[case % 2]}
    written["end"] = ("\n", "\r\n")[case // 2 % 2]
    qrels = files("judgments.jsonl", lines(judgments, "grade", **written))
    system = files("run.jsonl", lines(run, "score", **written))

    def check(choices):
        chunk, depth, ties = choices
        monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _: chunk)
        matched = match(qrels, system, Policy(ties=ties), depth)
        assert_same(matched, match_dicts(judgments, run, Policy(ties=ties), depth))

    every = list(itertools.product((150, 1000, 1 << 20), (None, 3), TIES))
    # A third of them has every chunk and every rule for ties; the next of ORDERS has the next third.
    assert_every_case(check, every if deep else every[case % 3 :: 3])
    system.write_bytes(system.read_bytes().removesuffix(written["end"].encode()))
    matched = match(qrels, system, Policy(ties="doc"), None)
    if written["end"] == "\n":
        assert_same(matched, match_dicts(judgments, run, Policy(ties="doc")))
    else:  # a last line that ends in another way than the others is for the engine
        assert matched is None


@pytest.fixture
def matches(monkeypatch):
    """Whether each file that may be clean was, or was left to the engine."""
    clean = []
    work = inputs.work_on_clean_rows

    def noted(*given, **options):
        found = work(*given, **options)
        clean.append(found is not None)
        return found

    monkeypatch.setattr(inputs, "work_on_clean_rows", noted)
    return clean


def answers(judgments, run, monkeypatch, **options):
    """Return what is told of files, as it is and by the engine alone: values, or a message."""

    def answer():
        try:
            found = gf.evaluate(judgments, run, ["nDCG", "nDCG@1", "AP"], **options)
        except gf.errors.GainfulError as problem:
            return str(problem)
        return {**found}, found.per_query.to_dict(), found.coverage

    fast = answer()
    with monkeypatch.context() as patch:
        patch.setattr(TableInput, "_clean_file", None)
        slow = answer()
    return fast, slow


@pytest.mark.parametrize("seed", range(3))
def test_the_engine_gives_the_same(files, monkeypatch, matches, seed):
    judgments, run = made(seed, levels=5, alphabet=ALPHABET)
    qrels = files("judgments.jsonl", lines(judgments, "relevance"))
    system = files("run.jsonl", lines(run, "similarity", marks=COMPACT))
    for depth in (None, 5):
        with reading(str(qrels), Policy()) as reader:
            fast, _ = reader.match(str(system), depth)
        with monkeypatch.context() as patch, reading(str(qrels), Policy()) as reader:
            patch.setattr(TableInput, "_clean_file", None)
            slow, _ = reader.match(str(system), depth)
        assert_same(fast, slow)
    assert matches == [True] * 2


def test_columns_that_the_caller_names(files, monkeypatch, matches):
    qrels = files("j.jsonl", '{"a": "q", "b": "x", "c": 1}\n{"a": "q", "b": "y", "c": 0}\n')
    run = files(
        "r.jsonl", '{"c": 2, "d": 1, "a": "q", "b": "x"}\n{"c": 1, "d": 2, "a": "q", "b": "y"}\n'
    )
    columns = {"query": "a", "doc": "b", "judgments.grade": "c", "run.score": "d"}
    fast, slow = answers(qrels, run, monkeypatch, columns=columns)
    assert fast == slow
    assert fast[0]["nDCG@1"] == 0.0
    columns["run.score"] = "c"
    fast, slow = answers(qrels, run, monkeypatch, columns=columns)
    assert fast == slow
    assert fast[0]["nDCG@1"] == 1.0
    assert matches == [True] * 2


LINE = '{{"query": {}, "doc": {}, "score": {}}}\n'
JUDGED = "".join(
    f"q 0 {doc} {grade}\n"
    for doc, grade in [("a", 1), ("b", 2), ("5", 3), ("-5", 1), ("é🙂", 2), ("c", 1), ("0", 2)]
)
# What is written as the score of b, between 1 and 3, or as a document that has 2.
NUMBERS = (
    "0", "-0", "0.0", "-0.0", "7", "-7", "0.5", "-12.25", "1e5", "1E5", "1e-5", "1e+2", "-1e300",
    "1e-400", "123456789012345", "1234567890123456", "9007199254740992", "18446744073709551616",
    "1000000000000000000", "0.1234567890123456789", "2.00000000000000000001", "2.0000000000000004",
)  # fmt: skip
LEFT_NUMBERS = (
    "9007199254740993", "1000000000000000000000001", "1e999", "NaN", "Infinity", "-Infinity", "-inf",
    "true", "null", '"5"', '""', "[5]", "{}", '{"a":5}', "05", "-05", ".5", "-.5", "5.", "+5", "1_0",
    "1.e5", "1e", "--1", "-", "", "1,5", "1 5", " 5", "5 ", "0x1", "٣", "1e5e", "1.2.3", "1e0.5",
)  # fmt: skip
IDS = (
    '"a b"',
    '"é🙂"',
    '" "',
    '"5"',
    '"a}"',
    '"},{"',
    '"a,b"',
    '"x,yz"',
    '",xy"',
    '"null"',
    '"\x7f"',
    '"/"',
)
LEFT_IDS = (
    '""', '"\\""', '"\\\\"', '"\\u0061"', '"a\\/b"', "5", "-5", "5.0", "true", "null", "[5]", "{}",
    '"\\ud800"', '"a\tb"', '"a\x01"', '"a', 'a"', '"x","doc": "b"', '"ends, "', '"a""b"',
)  # fmt: skip


def check_value(doc, score, files, monkeypatch, matches, *, clean):
    """Hold a line among others to what the engine and the rows give."""
    system = files("run.jsonl", LINE.format('"q"', '"c"', 1) + LINE.format('"q"', doc, score)
                   + LINE.format('"q"', '"d"', 3))  # fmt: skip
    matches.clear()
    fast, slow = answers(files("j.qrels", JUDGED), system, monkeypatch)
    assert fast == slow
    assert matches[0] is clean, (doc, score)
    return fast


@pytest.mark.parametrize("clean", [True, False])
def test_values(files, monkeypatch, matches, clean):
    numbers, ids = (NUMBERS, IDS) if clean else (LEFT_NUMBERS, LEFT_IDS)

    def check(case):
        check_value(*case, files, monkeypatch, matches, clean=clean)

    assert_every_case(check, [('"b"', number) for number in numbers])
    assert_every_case(check, [(doc, "2") for doc in ids])


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_those_of_a_dict(files, matches, number):
    system = files("run.jsonl", LINE.format('"q"', '"c"', 1) + LINE.format('"q"', '"b"', number))
    judgments, qrels = {"q": {"b": 2, "c": 1}}, files("j.qrels", "q 0 b 2\nq 0 c 1\n")
    for ties in ("average", "order"):
        with reading(str(qrels), Policy(ties=ties)) as reader:
            found, _ = reader.match(str(system))
        run = {"q": {"c": 1.0, "b": float(number)}}
        assert_same(found, match_dicts(judgments, run, Policy(ties=ties)))
    assert all(matches)


# Integers as ids, in all lines; what is not one as it would be written is left to the engine.
INTEGERS = ("5", "-5", "0", "10", "12345678", "123456789", "12345678901234567890", "9" * 40)
NO_INTEGERS = (
    "-0",
    "05",
    "5.0",
    "1e2",
    "5x",
    "",
    "-",
    "+5",
    "--5",
    "5,6",
    "1234567x",
    "x1234567",
    "NaN",
)


@pytest.mark.parametrize("clean", [True, False])
def test_integers_as_ids(files, monkeypatch, matches, clean):
    def check(doc):
        others = [LINE.format(7, other, score) for other, score in ((3, 1), (5555555555, 3))]
        system = files("run.jsonl", others[0] + LINE.format(7, doc, 2) + others[1])
        judged = {"7": {"5": 1, "-5": 1, "0": 1, "3": 2, "12345678901234567890": 3}}
        qrels = files("j.jsonl", lines(judged, "grade"))
        matches.clear()
        fast, slow = answers(qrels, system, monkeypatch)
        assert fast == slow
        assert matches[0] is clean
        if clean:
            run = {"7": {"3": 1.0, doc: 2.0, "5555555555": 3.0}}
            with reading(str(qrels), Policy()) as reader:
                found, _ = reader.match(str(system))
            assert_same(found, match_dicts(judged, run, Policy(ties="doc")))

    assert_every_case(check, INTEGERS if clean else NO_INTEGERS)


GOOD = '{"query": "q", "doc": "a", "score": 2, "n": 1}'


def good(doc):
    return GOOD.replace('"a"', f'"{doc}"') + "\n"


# Lines that are not those of the first, and whole files; some are refused, by the same words.
OTHERS = (
    '{"doc": "b", "query": "q", "score": 1, "n": 1}', '{"query": "q", "doc": "b", "score": 1}',
    '{"query":"q", "doc": "b", "score": 1, "n": 1}', '{"query": "q", "doc": "b", "score": 1, "n": 1} ',
    ' {"query": "q", "doc": "b", "score": 1, "n": 1}', '{"query": "q", "doc": "b", "score": 1, "n": 1',
    '{"query": "q", "doc": "b", "score": 1, "n": 1}}', '{"query": "q", "doc": "b", "score": 1, "n": 1,}',
    '{"query": "q", "doc": "b", "score": 1, "n": 01}', '{"query": "q", "doc": "b", "score": 1, "n": null}',
    '{"query": "q", "doc": "b", "score": 1, "n": "1"}', '{"query": "q", "doc": "b", "score": 1, "n": 1x}',
    '{"query": "q", "doc": "b", "score": 1, "n": }', '{"query": "q", "doc": "b", "score": , "n": 1}',
    '{"query": "q", "doc": "b", "scoRe": 1, "n": 1}', '{"query": "q", "doc": "b", "doc": "c", "score": 1}',
    '{"query": "q", "doc": "b", "score": 1, "n": 1}\r', '{"query": "q", "doc": "b", "score": 1, "n": {}}',
    '{"query": "q"; "doc": "b", "score": 1, "n": 1}', '["query": "q", "doc": "b", "score": 1, "n": 1}',
    '{"query": "q, "doc": "b"", "score": 1, "n": 1}', '{"query": "q" "doc": "b", "score": 1, "n": 1}',
    '{"query": ", "doc": "b", "score": 1, "n": 1}', '{"query": "q", "doc": ", "score": 1, "n": 1}',
    good("b"), "", " ", "x", "null", '{"query": "', '"', "\x00",
    '{"query": "p", "doc": "a", "score": 1, "n": 1}\n' + GOOD.replace('"a"', '"z"'),
    "# " + GOOD, GOOD + GOOD,
)  # fmt: skip


@pytest.mark.parametrize("place", ["last", "last without an end", "in the middle"])
def test_lines_unlike_the_first(files, monkeypatch, matches, place, deep):
    """The last line is looked at in a chunk of its own, or beside others."""
    qrels = files("j.qrels", JUDGED)
    some = "".join(map(good, "acd"))

    def check(case):
        chunk, line = case
        monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _: chunk)
        end = {"last": "\n", "last without an end": ""}.get(
            place, "\n" + GOOD.replace('"a"', '"y"')
        )
        matches.clear()
        fast, slow = answers(qrels, files("run.jsonl", some + line + end), monkeypatch)
        assert fast == slow
        whole = place == "last without an end" and line in ("", good("b"))
        assert matches[0] is whole

    # One line in a chunk, and, for some, all in one. Every line is tried in the middle, and at one end.
    cases = list(itertools.product((64, 1 << 20), OTHERS))
    apart, beside = cases[: len(OTHERS)], cases[len(OTHERS) :: 5]
    if place != "in the middle":
        apart = apart[("last", "last without an end").index(place) :: 2]
    assert_every_case(check, cases if deep else apart + beside)


def test_bytes_that_are_no_text(files, monkeypatch, matches):
    for bad in (b"\xff", b"\xed\xa0\x80", b"\xc3"):
        run = files("run.jsonl", good("a").encode() + good("BAD").encode().replace(b"BAD", bad))
        fast, slow = answers(files("j.qrels", JUDGED), run, monkeypatch)
        assert fast == slow
    assert not any(matches)


def test_a_quote_too_few_in_one_line_and_too_many_in_another(files, monkeypatch, matches):
    """Their number is right, and every literal stands where it should."""
    few, many = GOOD.replace('"q", "doc"', '", "doc"'), GOOD.replace('"a"', '"b"c"')
    run = files("run.jsonl", f"{GOOD}\n{few}\n{many}\n")
    fast, slow = answers(files("j.qrels", JUDGED), run, monkeypatch)
    assert fast == slow
    assert f"{run}:2: expected a JSON object" in fast
    assert matches == [False]


FIRST = (
    GOOD, GOOD.replace("2", '"2"'), GOOD.replace(', "n"', ',"n"'), GOOD.replace(', "n"', ',\t"n"'),
    GOOD.replace('"n"', '"\\u006e"'), GOOD.replace('"n"', '"doc"'), GOOD.replace("1}", "[1]}"),
    GOOD.replace("1}", "true}"), GOOD.replace("1}", '"a, \\"b"}'), GOOD.replace('"n"', '"a,b"'),
    GOOD.replace('"n"', '"rank"'), GOOD.replace('"n"', '"assessor"'), "\ufeff" + GOOD, "\n" + GOOD,
    GOOD.replace('"n"', '"é"'), GOOD.replace("}", " }"), GOOD.replace(":", " :"), GOOD.replace("1}", "1e5}"),
    GOOD.replace('"n"', '",x"'), GOOD.replace('"n"', '""'), GOOD.replace("2", "2  "), GOOD + "\r",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["judgments", "run"])
def test_skeletons(files, monkeypatch, kind):
    """Whatever the first line is, a file of one or two such lines is read as before."""
    number = {"judgments": '"grade"', "run": '"score"'}[kind]

    def check(first):
        second = first.replace('"a"', '"b"').replace("\ufeff", "")
        for text in (first, f"{first}\n{second}\n"):
            made = files(f"{kind}.jsonl", text.replace('"score"', number))
            if kind == "run":
                fast, slow = answers(files("j.qrels", JUDGED), made, monkeypatch)
            else:
                run = files("x.run", "q Q0 a 1 1 t\nq Q0 b 2 3 t\n")
                fast, slow = answers(made, run, monkeypatch)
            assert fast == slow

    assert_every_case(check, FIRST)


def test_what_else_is_told_as_by_the_engine(files, monkeypatch, matches):
    both = good("a") + good("b")
    qrels, run = files("j.qrels", JUDGED), files("run.jsonl", both + GOOD)  # a document twice
    fast, slow = answers(qrels, run, monkeypatch)
    assert fast == slow
    assert f"{run}:3: expected each document once" in fast
    run.write_text(both)
    long = files("long.jsonl", both + good("x" * 9000))
    for given in (run, long):
        fast, slow = answers(qrels, given, monkeypatch)
        assert fast == slow
    assert matches == [True] * 2
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _: 64)
    fast, slow = answers(qrels, long, monkeypatch)
    assert fast == slow


BASES = (
    '{"query": "q", "doc": "a,b", "score": 2.5, "n": 1}\n{"query": "q", "doc": "é", "score": -10, "n": 0}\n',
    '{"score":0.25,"query":7,"x":"","doc":-12}\n{"score":1e2,"query":7,"x":", ","doc":123456789}\n',
    '{"doc": "d", "score": 0, "query": "q"}\r\n{"doc": "e", "score": 3, "query": "q"}\r\n',
)
BYTES = [
    *(bytes([code]) for code in b'"\\,:{}[] 0019-+.eEnax_\n\r\t\0\x1f\x7f'),
    b", ",
    b'"a"',
    "é".encode(),
    b"\xff",
]


@pytest.mark.parametrize("base", BASES, ids=range(len(BASES)))
def test_what_is_read_after_an_accident_is_what_the_rows_are(files, base, deep):
    """Bytes are put in, replaced or taken out; what still is clean is no fault, and says the same."""
    rng = random.Random(base)  # noqa: S311
    first = files("first.jsonl", base)
    layout = layout_of(first, RUN)
    clean, tries = 0, 1500 if deep else 600
    for _ in range(tries):
        text = base.encode()
        for _ in range(rng.choice((1, 1, 2))):
            at, width = rng.randrange(len(text)), rng.randrange(2)
            text = text[:at] + rng.choice([*BYTES, b""]) + text[at + width :]
        path = files("run.jsonl", text)
        try:
            if layout_of(path, RUN) != layout:
                continue
        except (ValueError, gf.errors.GainfulError):
            continue
        found = clean_text_files.read_clean_rows(path, layout)
        if found is None:
            continue
        clean += 1
        read = list(rows(LocalFile("run", path), layout, RUN))
        assert all(isinstance(row, Row) for row in read), text
        owners = [
            each for each, n in zip(found.queries, found.retrieved, strict=True) for _ in range(n)
        ]
        places = zip(found.docs, found.lengths, strict=True)
        docs = [found.text[at : at + length].tobytes().decode() for at, length in places]
        queries = [query.decode() for query in owners]
        assert [*zip(queries, docs, found.numbers.tolist(), strict=True)] == [
            (row.query, row.doc, row.number) for row in read
        ], text
    assert clean > tries / 50


def test_literals_are_compared_byte_by_byte():
    literal = b'", "relevance": "'  # of two words of eight bytes and one more
    for size in range(1, len(literal) + 1):
        line = b"x" * 5 + literal[:size] + b"y" * 24
        text = np.frombuffer(line * 2, np.uint8)
        places = np.array([5, len(line) + 5])
        assert _stands(literal[:size], text, places)
        for at in range(size):
            other = text.copy()
            other[places[1] + at] ^= 128
            assert not _stands(literal[:size], other, places)
    assert not _stands(literal, text, np.array([text.size - 3]))
