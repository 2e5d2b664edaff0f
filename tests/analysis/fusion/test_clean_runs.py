"""Runs in clean files, which are fused on arrays: the same as through the engine, to the last byte."""

import gzip
import itertools
import json
import random

import numpy as np
import pytest

import gainful as gf
from gainful.analysis.fusion import candidate_documents, clean_runs, reading_runs
from gainful.output.writing import trec_run_lines
from gainful.rows import clean_text_files, packed_rows
from gainful.rows.clean_text_files import CleanIds

pytestmark = pytest.mark.usefixtures("on_engine")

METHODS = [method.name for method in gf.fusion.methods()]
ONE = {"q": {"a": 30, "b": 20, "c": 10}}
# What ids look like: of one length or several, with much in common or little, longer than a word.
IDS = {
    "numbers": [str(number) for number in (*range(12), 99, 100, 8_388_607, 70_000_000)],
    "padded": [f"D{number:07d}" for number in range(0, 160_000, 10_007)],
    "prefixes": ["a" * length for length in range(1, 20)],
    "long": [f"msmarco_passage_{number % 3:02d}_{number * 7919}" for number in range(25)],
    # So much in common that a key has no room for where they differ.
    "late": [f"{first}{'zyxwvutsrq' * 3}{number}" for first in "aBc9" for number in range(8)],
    "all bytes": [f"{first}{second}ä漢🙂"[:5] for first in "a~!Ωø" for second in ";|Zµ"],
    "longest": ["x" * 63 + mark for mark in "abc"] + ["y" * 64],
    "too long": ["x" * 64 + mark for mark in "abcd"],
    "hexadecimal": [
        "".join(random.Random(seed).choices("0123456789abcdef", k=32))  # noqa: S311
        for seed in range(20)
    ],
}


def runs_of(ids, seed, *, runs=3, queries=7):
    """Runs with ties, absent documents, and queries that some do not have."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    found = []
    for place in range(runs):
        names = [f"{'q' * (number % 3)}{number}" for number in range(queries)]
        chance.shuffle(names)
        run = {}
        for query in names[place % 2 :]:
            docs = chance.sample(ids, chance.randint(1, len(ids)))
            run[query] = {doc: chance.choice([-1.5, 0.0, 0.25, 3.5, 1e-7]) for doc in docs}
        found.append(run)
    return found


def written(runs, folder, form="trec"):
    """The runs in files, as they stand."""
    files = []
    for number, run in enumerate(runs):
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        file = folder / f"{number}.{form}"
        if form == "trec":
            lines = [f"{query} Q0 {doc} 1 {score} t" for query, doc, score in rows]
        elif form == "csv":
            lines = ["query,doc,score", *(f"{query},{doc},{score}" for query, doc, score in rows)]
        else:
            lines = [
                json.dumps({"query": query, "doc": doc, "score": score}, ensure_ascii=False)
                for query, doc, score in rows
            ]
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        files.append(file)
    return files


@pytest.fixture
def by_engine(monkeypatch):
    """Return a function that calls another with the engine reading all files."""

    def call(function, *given, **options):
        with monkeypatch.context() as patched:
            patched.setattr(reading_runs, "_from_clean_texts", lambda *_: None)
            return function(*given, **options)

    return call


@pytest.fixture
def on_arrays(monkeypatch):
    """Return a function that calls another, and refuses to have the engine read anything."""

    def refuse(*_):
        raise AssertionError("the engine reads")

    def call(function, *given, **options):
        with monkeypatch.context() as patched:
            patched.setattr(reading_runs, "_from_tables", refuse)
            return function(*given, **options)

    return call


def small_parts(monkeypatch, size):
    """Have everything done in small parts, on several threads."""
    monkeypatch.setattr(candidate_documents, "_PART", size)
    monkeypatch.setattr(trec_run_lines, "_PART", size)
    monkeypatch.setattr(packed_rows, "_PART", size)


def assert_same(found, expected):
    assert found.queries == expected.queries
    assert found.docs.tolist() == expected.docs.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert found.notes == expected.notes


@pytest.mark.parametrize("ids", [kind for kind in IDS if kind != "too long"])
@pytest.mark.parametrize("form", ["trec", "csv", "jsonl"])
def test_the_same_as_by_the_engine(tmp_path, monkeypatch, by_engine, on_arrays, ids, form):
    files = written(runs_of(IDS[ids], len(ids)), tmp_path, form)
    small_parts(monkeypatch, 7)
    first = list(IDS).index(ids) + len(form)
    for place in range(first, first + 3):  # each method with some ids
        method = METHODS[place % len(METHODS)]
        given = {"depth": [None, 2, 5][place % 3], "top": [None, 4][place % 2]}
        given["ties"] = ["doc", "doc_ascending", "average"][place // 2 % 3]
        expected = by_engine(gf.fuse, files, method, **given)
        assert_same(on_arrays(gf.fuse, files, method, **given), expected)
    ours, theirs = tmp_path / "ours.run", tmp_path / "theirs.run"
    on_arrays(gf.fusion.write_fused, files, ours, method, **given)
    by_engine(gf.fusion.write_fused, files, theirs, method, **given)
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("normalise", [each.name for each in gf.fusion.normalisations()])
def test_the_parts_do_not_move_a_bit(tmp_path, monkeypatch, by_engine, normalise):
    chance = random.Random(3)  # noqa: S311
    runs = [
        {str(query): {str(doc): chance.uniform(-5, 5) for doc in range(40)} for query in range(9)}
        for _ in range(3)
    ]
    files = written(runs, tmp_path)
    expected = by_engine(gf.fuse, files, "sum", normalise=normalise)
    for size in (1, 50, 130, 10_000):
        small_parts(monkeypatch, size)
        assert_same(gf.fuse(files, "sum", normalise=normalise), expected)
        assert dict(gf.fuse(runs, "sum", normalise=normalise)) == dict(expected)


def test_the_chunks_of_a_file_do_not_matter(tmp_path, monkeypatch, on_arrays):
    files = written(runs_of(IDS["late"] + IDS["numbers"], 5), tmp_path)
    expected = on_arrays(gf.fuse, files)
    for chunk in (64, 100, 333):
        monkeypatch.setattr(clean_text_files, "_chunk_size", lambda _, chunk=chunk: chunk)
        assert_same(on_arrays(gf.fuse, files), expected)


def test_other_formats_and_packing_hold_the_same(tmp_path, by_engine, on_arrays):
    files = written(runs_of(IDS["padded"], 1), tmp_path)
    plain = tmp_path / "fused.run"
    said = on_arrays(gf.fusion.write_fused, files, plain, "sum", tag="mine")
    assert by_engine(gf.fusion.write_fused, files, tmp_path / "b.run", "sum", tag="mine") == said
    packed = tmp_path / "fused.run.gz"
    on_arrays(gf.fusion.write_fused, files, packed, "sum", tag="mine")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    for ending in ("csv", "jsonl", "tsv"):
        ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"
        on_arrays(gf.fusion.write_fused, files, ours)
        by_engine(gf.fusion.write_fused, files, theirs)
        assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize(
    "lines",
    [
        "q Q0 a 1 2.0 t\nq Q0 a 2 1.0 t\n",  # twice
        "q Q0 a 1 2.0 t\nq Q0 b 2 nan t\n",
        "q Q0 a 1 2.0 t\nq Q0 b 2\n",
        "q Q0 a 1 2.0 t\nq Q0 b 2 1e999 t\n",
        "",
    ],
)
def test_what_is_wrong_is_said_in_the_same_words(tmp_path, by_engine, lines):
    (good,) = written([ONE], tmp_path)
    bad = tmp_path / "bad.run"
    bad.write_text(lines)
    said = []
    for call in (by_engine, lambda function, *given: function(*given)):
        with pytest.raises(gf.errors.InputError) as found:
            call(gf.fuse, [good, bad])
        said.append(str(found.value))
    assert said[0] == said[1]


def test_what_an_array_does_not_hold_goes_to_the_engine(tmp_path, monkeypatch, by_engine):
    def count(*given):
        asked.append(True)
        return tables(*given)

    tables, asked = reading_runs._from_tables, []
    monkeypatch.setattr(reading_runs, "_from_tables", count)
    apart = [{"q": {"a": 1.0}}, {"r": {"b": 2.0}}, {"q": {"c": 3.0}}]
    first, second, third = written(apart, tmp_path)
    first.write_text("".join(file.read_text() for file in (first, second, third)))
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('query,doc,score\nq,"a\nb",1\n')
    long = tmp_path / "long.run"
    gf.write_run({"q": dict.fromkeys(IDS["too long"], 1.0)}, long)
    for number, file in enumerate((first, quoted, long)):
        assert_same(gf.fuse([second, file]), by_engine(gf.fuse, [second, file]))
        assert len(asked) == 2 * (number + 1)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q": {"a b": 1.0}}, "an id without white space"),
        ({"q r": {"a": 1.0}}, "an id without white space"),
        ({"\ufeffq": {"a": 1.0}}, "an id that TREC can represent"),
        ({"query,doc,score": {"a": 1.0}}, "the first line reads as TREC"),
    ],
)
def test_ids_that_trec_does_not_hold_are_refused(tmp_path, by_engine, on_arrays, run, message):
    files = written([run, run], tmp_path, "jsonl")
    target = tmp_path / "fused.run"
    target.write_text("kept")
    said = []
    for call in (by_engine, on_arrays):
        with pytest.raises(gf.errors.InputError) as found:
            call(gf.fusion.write_fused, files, target)
        said.append(str(found.value))
    assert message in said[0]
    assert said[0] == said[1]
    assert target.read_text() == "kept"


def test_ranks_are_warned_of_once_for_each_file(tmp_path, on_arrays):
    ranks = {f"q{query}": {f"d{rank}": rank for rank in range(1, 12)} for query in range(30)}
    one, other = written([ranks, ranks], tmp_path)
    with pytest.warns(gf.errors.GainfulWarning) as found:
        on_arrays(gf.fuse, [one, other])
    assert len([each for each in found if "look like ranks" in str(each.message)]) == 2


def test_the_first_run_that_overflows_is_named_whatever_the_parts_are(monkeypatch):
    large = {"a": 1e308, "b": -1e308}
    small = {"a": 1.0, "b": 2.0}
    one = {"q1": small, "q2": small, "q3": large}
    two = {"q1": large, "q2": small, "q3": small}
    for size in (1, 1000):
        small_parts(monkeypatch, size)
        with pytest.raises(gf.errors.InputError, match="runs, query 'q3'"):
            gf.fuse([one, two], "sum")


def test_keys_that_cannot_tell_ids_apart_are_noticed(monkeypatch):
    """With room for one bit, or for none, whole ids decide."""
    ids = sorted(itertools.chain(*IDS.values()))
    words = [each.encode().ljust(72, b"\0") for each in ids]
    table = np.frombuffer(b"".join(words), ">u8").reshape(len(ids), -1).T.astype(np.uint64)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(ids)), 2))
    lengths = np.array([5, rows.size - 25, 20])
    for bits in (64, 30, 14, 9):
        leading = clean_runs._leading

        def less(words, room, bits=bits, leading=leading):
            return leading(words, min(room, bits))

        with monkeypatch.context() as patched:
            patched.setattr(clean_runs, "_leading", less)
            order, opens = clean_runs._by_id(table[:, rows], lengths)
        start = 0
        for length in lengths.tolist():
            part = slice(start, start + length)
            expected = sorted(range(start, start + length), key=lambda row: (-rows[row], row))
            assert order[part].tolist() == expected
            named = [ids[rows[row]] for row in expected]
            new = [True, *(one != other for one, other in itertools.pairwise(named))]
            assert opens[part].tolist() == new
            start += length


def test_a_document_that_stands_twice_is_noticed():
    def rows(docs, starts, queries):
        words = np.array([[ord(doc) << 56 for doc in docs]], np.uint64)
        return CleanIds(queries, np.array(starts), np.arange(1.0, len(docs) + 1), words)

    other = rows("ab", [0, 2], [b"q"])
    assert clean_runs.gather_clean([rows("aba", [0, 2, 3], [b"q", b"r"]), other], "doc") is not None
    assert clean_runs.gather_clean([rows("aba", [0, 3], [b"q"]), other], "doc") is None


def test_many_ids_become_strings(monkeypatch):
    ids = sorted(itertools.chain(*(each for kind, each in IDS.items() if kind != "too long")))
    words = [each.encode().ljust(64, b"\0") for each in ids]
    table = np.frombuffer(b"".join(words), ">u8").reshape(len(ids), -1).T.astype(np.uint64)
    for size in (3, 1000):
        monkeypatch.setattr(packed_rows, "_PART", size)
        assert packed_rows.IdWords(table).texts().tolist() == ids
        assert packed_rows.IdWords(table[:, :0]).texts().tolist() == []
    assert not packed_rows.IdWords(table).have_blanks
