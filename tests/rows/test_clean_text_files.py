"""Clean texts are matched on arrays; the engine and dicts give the same, bit for bit."""

import itertools
import random

import pytest

from every_case import assert_every_case
from gainful.errors import InputError
from gainful.matching import input as inputs
from gainful.matching import match as the_matcher
from gainful.matching.match import judged_in
from gainful.matching.reader import reading as opened
from gainful.measures.policy import Policy
from gainful.rows import clean_text_files
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.text_formats import Layout
from random_texts import made
from same_matched import assert_same, match_dicts


def read_judgments(path, mark):
    return judgments_in(path, Layout("trec", mark, JUDGMENTS.fields, JUDGMENTS.places))


def judgments_in(path, layout):
    rows = clean_text_files.read_clean_rows(path, layout)
    return None if rows is None else judged_in(rows)


def match(judged, path, mark, policy, depth):
    return match_in(judged, path, Layout("trec", mark, RUN.fields, RUN.places), policy, depth)


def match_in(judged, path, layout, policy, depth):
    """Match a clean run; None where it is not clean."""
    run = inputs.CleanRun(path, layout)
    return the_matcher.match(judged, run, policy, depth)


def written(tmp_path, judgments, run, mark=" "):
    qrels, system = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(
        "".join(
            mark.join((q, "0", d, repr(g))) + "\n"
            for q, ds in judgments.items()
            for d, g in ds.items()
        )
    )
    system.write_text(
        "".join(
            mark.join((q, "Q0", d, "1", repr(s), "t")) + "\n"
            for q, ds in run.items()
            for d, s in ds.items()
        )
    )
    return qrels, system


def table(path, rows, number, *, mark=",", end="\n", columns=("query", "doc", "number")):
    """Write a table with a header, its columns in an order, and an other one; return its layout."""
    names = [*columns[:2], "other", columns[2]]
    lines = [mark.join(name.replace("number", number) for name in names)]
    for query, docs in rows.items():
        for doc, value in docs.items():
            cells = {"query": query, "doc": doc, "number": repr(value), "other": "x"}
            lines.append(mark.join(cells[name] for name in names))
    path.write_text(end.join(lines) + end, newline="")
    places = tuple(names.index(name) for name in ("query", "doc", "number"))
    return Layout("table", mark, tuple(names), places, header=True)


DEPTHS = (None, 1, 3, 10, 100)
TIES = ("doc", "doc_ascending", "average", "order")


@pytest.mark.parametrize("seed", range(6))
def test_same_as_dicts(tmp_path, monkeypatch, seed, deep):
    chunk = (97, 256, 1000, 5000, 1 << 20)[seed % 5]
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda size: chunk)
    judgments, run = made(seed, queries=12 if deep else 6)
    mark = " \t"[seed % 2]
    qrels, system = written(tmp_path, judgments, run, mark=mark)
    judged = read_judgments(qrels, mark)
    assert judged is not None

    def check(choices):
        depth, policy = choices[0], Policy(ties=choices[1])
        matched = match(judged, system, mark, policy, depth)
        assert matched is not None
        assert_same(matched, match_dicts(judgments, run, policy, depth))

    assert_every_case(check, itertools.product(DEPTHS, TIES))


@pytest.mark.parametrize(
    ("mark", "end", "columns"),
    [
        (",;\t"[case % 3], ("\n", "\r\n")[case % 2], columns)
        for case, columns in enumerate(itertools.permutations(("query", "doc", "number")))
    ],
)
def test_same_of_tables(tmp_path, monkeypatch, mark, end, columns, deep):
    queries = 12 if deep else 6
    judgments, run = made(len(end) + ord(mark), queries=queries, alphabet="abc0123-_#'.é語🙂")
    qrels, system = tmp_path / "judgments.csv", tmp_path / "run.csv"
    judged_layout = table(qrels, judgments, "grade", mark=mark, end=end, columns=columns)
    layout = table(system, run, "score", mark=mark, end=end, columns=columns)
    judged = judgments_in(qrels, judged_layout)
    for chunk, depth, ties in itertools.product((150, 1 << 20), (None, 3), TIES):
        monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _, chunk=chunk: chunk)
        policy = Policy(ties=ties)
        matched = match_in(judged, system, layout, policy, depth)
        assert matched is not None
        assert_same(matched, match_dicts(judgments, run, policy, depth))
    system.write_bytes(system.read_bytes().removesuffix(end.encode()))
    matched = match_in(judged, system, layout, Policy(ties="doc"), None)
    if end == "\n":
        assert_same(matched, match_dicts(judgments, run, Policy(ties="doc")))
    else:  # a last line that ends in another way than the others is for the engine
        assert matched is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("chunk", [40, 1 << 20])
def test_tables_with_quotes_and_spaces(tmp_path, monkeypatch, end, chunk):
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _: chunk)
    path = tmp_path / "run.csv"
    lines = [
        '"query",doc,"title",score',
        'q,"a","A, ""B""",2',
        '"q",b c,,"1.5"',
        "q,c,  ,1 ",
        '"p,","d","",0',
        '"p,","e","""",-1',
    ]
    path.write_text("".join(line + end for line in lines), newline="")
    layout = Layout("table", ",", ("query", "doc", "title", "score"), (0, 1, 3), header=True)
    rows = clean_text_files.read_clean_rows(path, layout)
    expected = {"q": {"a": 2.0, "b c": 1.5, "c": 1.0}, "p,": {"d": 0.0, "e": -1.0}}
    assert dict(zip(rows.names, rows.documents(), strict=True)) == expected
    # The engine may misread such a table.
    assert clean_text_files.count_clean_rows(path, layout) is None


@pytest.mark.parametrize(
    "text",
    [
        'q,a"b,2\n',
        'q,"a"b,2\n',
        'q,"a""b",2\n',
        'q,"a\nb",2\n',
        'q,"a,2\n',
        'q,"",2\n',
        'q," a",2\n',
        "q, a,2\n",
        "q,a,\n",
        "q,,2\n",
        ",a,2\n",
        "q,a,2,\n",
        "q,a\n",
        "q,a,2\n\nq,b,1\n",
        "q,a,2\r\nq,b,1\n",
        "q,a,2\rq,b,1\n",
        "q,a,\r\nq,b,\r\n",
        "q,a,2\n\r",
        "q,a,x\n",
        "q,a,inf\n",
        "q,a,1_0\n",
        "q,a,2\np,a,2\nq,b,1\n",
        "q,a,2\n\x01,a,2\n",
        "",
    ],
)
def test_tables_that_are_not_clean_are_left_to_the_engine(tmp_path, text):
    qrels, path = tmp_path / "judgments", tmp_path / "run.csv"
    qrels.write_text("q 0 a 1\n")
    path.write_text("query,doc,score\n" + text, newline="")
    layout = Layout("table", ",", ("query", "doc", "score"), (0, 1, 2), header=True)
    matched = match_in(read_judgments(qrels, " "), path, layout, Policy(ties="doc"), None)
    assert matched is None


def test_lists_much_longer_than_a_chunk(tmp_path, monkeypatch):
    rng = random.Random(3)  # noqa: S311
    run = {f"q{n}": {f"d{d}": rng.randrange(300) / 4 for d in range(400)} for n in range(3)}
    judgments = {q: {f"d{d}": d % 4 for d in range(450)} for q in run}
    qrels, system = written(tmp_path, judgments, run)
    judged = read_judgments(qrels, " ")
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _: 1000)
    for depth, ties in itertools.product(DEPTHS, TIES):
        matched = match(judged, system, " ", Policy(ties=ties), depth)
        assert_same(matched, match_dicts(judgments, run, Policy(ties=ties), depth))
    # What would have to be kept of them is limited.
    monkeypatch.setattr(clean_text_files, "_MOST_KEPT", 5000)
    found = match(judged, system, " ", Policy(ties="doc"), None)
    assert found is None


@pytest.mark.parametrize("ties", TIES)
def test_many_ties(tmp_path, monkeypatch, ties):
    """Where all scores are the same, and ids differ in their last characters alone."""
    docs = [f"document-{number % 7:03d}-{number}" for number in range(300)]
    run = {"q": dict.fromkeys(docs, 1.5), "p": {doc: len(doc) / 2 for doc in docs}}
    judgments = {q: {doc: place % 3 for place, doc in enumerate(docs[::2])} for q in run}
    qrels, system = written(tmp_path, judgments, run)
    judged = read_judgments(qrels, " ")
    for pairs in (1, 1000, 1 << 20):
        monkeypatch.setattr(the_matcher, "_PAIRS", pairs)
        for depth in (None, 10):
            matched = match(judged, system, " ", Policy(ties=ties), depth)
            assert_same(matched, match_dicts(judgments, run, Policy(ties=ties), depth))


def test_the_engine_gives_the_same(tmp_path, monkeypatch):
    judgments, run = made(99, levels=5)
    qrels, system = written(tmp_path, judgments, run)
    for depth in (None, 5):
        with opened(str(qrels), Policy()) as reader:
            fast, _ = reader.match(str(system), depth)
        with monkeypatch.context() as patch, opened(str(qrels), Policy()) as reader:
            patch.setattr(inputs, "work_on_clean_rows", lambda *_, **__: None)
            slow, _ = reader.match(str(system), depth)
        assert_same(fast, slow)


@pytest.mark.parametrize(
    "text",
    [
        b"q Q0  1 2 t\n",
        b"q Q0 a 1 2\n",
        b"q Q0 a 1 x t\n",
        b"q Q0 a 1 nan t\n",
        b"q Q0 \xff 1 2 t\n",
        b"q Q0 a 1 2 t\np Q0 a 1 2 t\nq Q0 b 1 2 t\n",
        b"q Q0 a 1 2 t\nq Q0 a\x01b 1 2 t\n",
    ],
)
def test_what_is_not_clean_is_left_to_the_engine(tmp_path, text):
    path = tmp_path / "run"
    for start in (b"", b"z Q0 z 1 2 t\n"):
        path.write_bytes(start + text)
        assert matched_with(tmp_path, path) is None


@pytest.mark.parametrize("size", [5, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [
        b"q Q0 a  1 2 t\n",
        b" q Q0 a 1 2 t\n",
        b"q Q0 a 1 2 t \n",
        b"q Q0 a 1 2 t\r\n",
        b"q Q0 a\t1 2 t\n",
        b"\n \n\nq Q0 a 1 2 t\n\n\n",
        b"\xef\xbb\xbfq Q0 a 1 2 t\n",
    ],
)
def test_white_space_is_normalised(tmp_path, text, size, monkeypatch):
    monkeypatch.setattr(clean_text_files, "_SMALL_CHUNK", size)
    clean, path = tmp_path / "clean", tmp_path / "run"
    path.write_bytes(text + b"z Q0 z 1 2 t\nz Q0 y 2 1 t")
    clean.write_text("q Q0 a 1 2 t\nz Q0 z 1 2 t\nz Q0 y 2 1 t\n")
    assert_same(matched_with(tmp_path, path), matched_with(tmp_path, clean))


def matched_with(tmp_path, run):
    """Match a run with judgments."""
    qrels = tmp_path / "judgments"
    qrels.write_text("q 0 a 1\nz 0 z 2\n")
    return match(read_judgments(qrels, " "), run, " ", Policy(ties="doc"), None)


def test_a_last_line_may_lack_its_end(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 a 1 2 t\nq Q0 b 1 3 t")
    assert matched_with(tmp_path, path).rank.tolist() == [2]


def test_long_ids(tmp_path, monkeypatch):
    judgments, run = made(5, id_length=(1, 300))
    qrels, system = written(tmp_path, judgments, run)
    judged = read_judgments(qrels, " ")
    matched = match(judged, system, " ", Policy(ties="doc"), None)
    assert_same(matched, match_dicts(judgments, run, Policy(ties="doc")))
    # A line that does not fit where the next chunk is looked for is left to the engine.
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda size: 64)
    monkeypatch.setattr(clean_text_files, "_LONGEST_LINE", 100)
    assert match(judged, system, " ", Policy(ties="doc"), None) is None


def test_documents_that_stand_twice_are_refused(tmp_path):
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}
    qrels, system = written(tmp_path, judgments, run)
    twice = system.read_text() + "q Q0 b 1 0.5 t\n"
    system.write_text(twice)
    with pytest.raises(InputError, match=r"each document once.*'b' of query 'q' again"):
        match(read_judgments(qrels, " "), system, " ", Policy(ties="doc"), None)


def test_keys_that_agree_are_not_enough(tmp_path, monkeypatch):
    # With keys that say nothing but the length, only the bytes can tell documents apart.
    monkeypatch.setattr(
        clean_text_files, "keys_of", lambda words, starts, lengths: lengths.astype("uint64") << 50
    )
    judgments, run = {"q": {"ab": 1, "c": 2}}, {"q": {"xy": 1.0, "c": 0.5}}
    qrels, system = written(tmp_path, judgments, run)
    matched = match(read_judgments(qrels, " "), system, " ", Policy(ties="doc"), None)
    assert_same(matched, match_dicts(judgments, run, Policy(ties="doc")))
