"""Clean TREC files are matched on arrays; the engine and dicts give the same, bit for bit."""

import itertools
import random

import pytest

from every_case import assert_every_case
from gainful.inputs import clean_trec_files
from gainful.inputs.clean_trec_files import read_trec_arrays
from gainful.inputs.judgments_or_run import JUDGMENTS, RUN
from gainful.matching import clean_trec_matching, dict_matching
from gainful.matching.reader import reading as opened
from gainful.measures.policy import Policy
from same_matched import assert_same


def made(seed, *, queries=12, longest=60, levels=40, id_length=(1, 30)):
    """Return judgments and a run with ids of many lengths, ties, missing and extra queries."""
    rng = random.Random(seed)  # noqa: S311
    alphabet = "abcdefgh0123456789-_#\"',.éß語🙂"

    def name():
        return "".join(rng.choices(alphabet, k=rng.randint(*id_length)))

    judgments, run = {}, {}
    for _ in range(queries):
        query = name()
        docs = list({name() for _ in range(rng.randint(1, longest))})
        scores = {doc: rng.randrange(levels) / 8 - 1 for doc in docs}
        judged = {doc: rng.choice((-1, 0, 0.5, 1, 2)) for doc in rng.sample(docs, len(docs) // 2)}
        judged[name() + "!"] = 3
        if rng.random() < 0.8:
            judgments[query] = judged
        if rng.random() < 0.8:
            run[query] = scores
    judgments["both"], run["both"] = {"a": 1, "b": 2}, {"a": 1.0, "b": 1.0, "c": 1.0}
    return judgments, run


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


DEPTHS = (None, 1, 3, 10, 100)
TIES = ("doc", "doc_ascending", "average", "order")


@pytest.mark.parametrize("seed", range(6))
def test_same_as_dicts(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(clean_trec_files, "_CHUNK", (97, 256, 1000, 5000, 1 << 20)[seed % 5])
    judgments, run = made(seed)
    mark = " \t"[seed % 2]
    qrels, system = written(tmp_path, judgments, run, mark=mark)
    judged = read_trec_arrays(qrels, JUDGMENTS, mark)
    assert judged is not None
    read = {depth: read_trec_arrays(system, RUN, mark, depth) for depth in DEPTHS}

    def check(choices):
        depth, policy = choices[0], Policy(ties=choices[1])
        matched = clean_trec_matching.match(judged, read[depth], policy, depth)
        assert matched is not None
        assert_same(matched, dict_matching.match(judgments, run, policy, depth))

    assert_every_case(check, itertools.product(DEPTHS, TIES))


def test_the_engine_gives_the_same(tmp_path, monkeypatch):
    judgments, run = made(99, levels=5)
    qrels, system = written(tmp_path, judgments, run)
    for depth in (None, 5):
        with opened(str(qrels), Policy()) as reader:
            fast, _ = reader.match(str(system), depth)
        with monkeypatch.context() as patch, opened(str(qrels), Policy()) as reader:
            patch.setattr(clean_trec_matching, "match", lambda *_: None)
            slow, _ = reader.match(str(system), depth)
        assert_same(fast, slow)


@pytest.mark.parametrize(
    "text",
    [
        b"q Q0 a  1 2 t\n",
        b"q Q0  1 2 t\n",
        b" q Q0 a 1 2 t\n",
        b"q Q0 a 1 2 t \n",
        b"q Q0 a 1 2 t\r\n",
        b"q Q0 a\t1 2 t\n",
        b"q Q0 a 1 2\n",
        b"q Q0 a 1 2 t\n\nq Q0 b 1 2 t\n",
        b"\xef\xbb\xbfq Q0 a 1 2 t\n",
        b"q Q0 a 1 x t\n",
        b"q Q0 a 1 nan t\n",
        b"q Q0 \xff 1 2 t\n",
        b"q Q0 a 1 2 t\np Q0 a 1 2 t\nq Q0 b 1 2 t\n",
        b"q Q0 a 1 2 t\nq Q0 a\x01b 1 2 t\n",
    ],
)
def test_what_is_not_clean_is_left_to_the_engine(tmp_path, text):
    path = tmp_path / "run"
    path.write_bytes(b"z Q0 z 1 2 t\n" + text)
    if not text.startswith((b"\xef", b" ")):
        assert read_trec_arrays(path, RUN, " ") is None
    path.write_bytes(text)
    assert read_trec_arrays(path, RUN, " ") is None


def test_a_last_line_may_lack_its_end(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 a 1 2 t\nq Q0 b 1 3 t")
    assert read_trec_arrays(path, RUN, " ").numbers.tolist() == [2.0, 3.0]


def test_long_ids(tmp_path, monkeypatch):
    judgments, run = made(5, id_length=(1, 300))
    qrels, system = written(tmp_path, judgments, run)
    judged, found = read_trec_arrays(qrels, JUDGMENTS, " "), read_trec_arrays(system, RUN, " ")
    matched = clean_trec_matching.match(judged, found, Policy(ties="doc"), None)
    assert_same(matched, dict_matching.match(judgments, run, Policy(ties="doc")))
    # A line that does not fit where the next chunk is looked for is left to the engine.
    monkeypatch.setattr(clean_trec_files, "_CHUNK", 64)
    monkeypatch.setattr(clean_trec_files, "_LONGEST_LINE", 100)
    assert read_trec_arrays(system, RUN, " ") is None


def test_documents_that_stand_twice_are_left_to_the_engine(tmp_path):
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}
    qrels, system = written(tmp_path, judgments, run)
    twice = system.read_text() + "q Q0 b 1 0.5 t\n"
    system.write_text(twice)
    found = read_trec_arrays(system, RUN, " ")
    assert (
        clean_trec_matching.match(
            read_trec_arrays(qrels, JUDGMENTS, " "), found, Policy(ties="doc"), None
        )
        is None
    )


def test_keys_that_agree_are_not_enough(tmp_path, monkeypatch):
    # With keys that say nothing but the length, only the bytes can tell documents apart.
    monkeypatch.setattr(
        clean_trec_files, "_keys", lambda words, starts, lengths: lengths.astype("uint64") << 50
    )
    judgments, run = {"q": {"ab": 1, "c": 2}}, {"q": {"xy": 1.0, "c": 0.5}}
    qrels, system = written(tmp_path, judgments, run)
    matched = clean_trec_matching.match(
        read_trec_arrays(qrels, JUDGMENTS, " "),
        read_trec_arrays(system, RUN, " "),
        Policy(ties="doc"),
        None,
    )
    assert_same(matched, dict_matching.match(judgments, run, Policy(ties="doc")))
