"""TREC files with any white space read as clean ones do."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.rows import clean_text_files
from input_forms import WORDS, as_dicts, fields_of, trec
from odd_cases import cases
from same_matched import assert_same, match_dicts

pytestmark = pytest.mark.filterwarnings("ignore:document ids")

BLANKS = st.text(" \t\v\f", min_size=1, max_size=3)
ENDS = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n \t\r\n", "\r\r\n"])


def matched(judgments, run, policy, depth=None):
    with reading(judgments, policy) as reader:
        return reader.match(run, depth)[0]


def spread(data, rows, kind):
    """The lines of rows, with any white space between, before and after the fields."""
    text = data.draw(st.sampled_from(["", "\ufeff"])) + data.draw(
        st.sampled_from(["", "\n", " \n"])
    )
    for fields in fields_of(rows, kind):
        text += data.draw(st.sampled_from(["", " ", "\t"]))
        text += "".join(
            field + (data.draw(BLANKS) if place else "") for place, field in enumerate(fields, -len(fields) + 1)
        )  # fmt: skip
        text += data.draw(ENDS)
    return (text if data.draw(st.booleans()) else text.rstrip()).encode()


@settings(max_examples=15)
@given(data=st.data())
def test_any_white_space(data):
    judgments, run = data.draw(cases(WORDS))
    policy = Policy(ties=data.draw(st.sampled_from(["doc", "order", "best"])))
    depth = data.draw(st.sampled_from([None, 2]))
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "qrels", Path(folder) / "run"
        for path, rows, kind in zip(paths, (judgments, run), ("judgments", "run"), strict=True):
            path.write_bytes(spread(data, rows, kind))
        found = matched(*paths, policy, depth)
    assert_same(found, match_dicts(as_dicts(judgments), as_dicts(run), policy, depth))


def large_rows(count):
    return [
        (f"q{number % 50}", f"d{number * 7919 % 100_003}", float(number % 997) / 8)
        for number in range(count)
    ]


@pytest.mark.parametrize("size", [7, 64, 4096])
def test_parts_of_a_file_of_any_size(size, monkeypatch, tmp_path):
    """Lines, pairs of blanks and marks may lie across the end of a part."""
    run = large_rows(300)
    judgments = [(query, doc, number % 3) for query, doc, number in run[::5]]
    monkeypatch.setattr(clean_text_files, "_SMALL_CHUNK", size)
    expected = match_dicts(as_dicts(judgments), as_dicts(run), Policy(ties="doc"))
    for change in (
        lambda text: text,
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b" Q0 ", b"  Q0\t"),
        lambda text: text.replace(b"\n", b"\n\n \n", 150),
        lambda text: b"\n \n" + text.rstrip(),
        lambda text: text[: len(text) // 2] + text[len(text) // 2 :].replace(b" ", b"\t"),
    ):
        path = tmp_path / "run"
        path.write_bytes(change(trec(run, "run")))
        assert_same(matched(as_dicts(judgments), path, Policy(ties="doc")), expected)


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_one_odd_line_in_a_large_file(place, tmp_path):
    """A file is clean only if it is to its end."""
    run = large_rows(60_000)
    judgments = [(query, doc, number % 3) for query, doc, number in run[::500]]
    lines = trec(run, "run").splitlines(keepends=True)
    odd = {"first": 0, "middle": len(lines) // 2, "last": len(lines) - 1}[place]
    lines[odd] = lines[odd].replace(b" ", b" \t").replace(b"\n", b" \r\n")
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines))
    expected = match_dicts(as_dicts(judgments), as_dicts(run), Policy(ties="doc"), 10)
    assert_same(matched(as_dicts(judgments), path, Policy(ties="doc"), 10), expected)


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\u2028", "\x85", "\x1c", "\x1f"])
@pytest.mark.parametrize("more", ["", ",", "|"])
def test_only_the_white_space_of_c_separates_fields(blank, more, tmp_path):
    """As in trec_eval: what Unicode calls a blank may stand in an id."""
    doc = f"a{blank}b{more}c"
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(trec([("q", doc, 1.0)], "judgments"))
    run.write_bytes(trec([("q", doc, 1.0)], "run"))
    assert gf.evaluate(qrels, run, "nDCG")["nDCG"] == 1.0


@pytest.mark.parametrize("query", ["{q", "[q]", "[1", "{}"])
def test_a_first_query_that_looks_like_json(query, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(trec([(query, "a", 1.0)], "judgments"))
    run.write_bytes(trec([(query, "a", 1.0)], "run"))
    assert gf.evaluate(qrels, run, "nDCG").queries == (query,)


@pytest.mark.parametrize("end", ["\r", "\r\r", "\r \r"])
@pytest.mark.parametrize("last", ["", "\r", "\n", "\r\n"])
def test_rows_that_carriage_returns_end_are_not_one_row(end, last, tmp_path):
    """Where columns have numbers, nothing tells how many fields a line should have."""
    path = tmp_path / "run"
    path.write_bytes((end.join(["q a 1.5", "q b 2.5"]) + last).encode())
    columns = {"query": "1", "doc": "2", "run.score": "3"}
    judgments = {"q": {"a": 1, "b": 2}}
    with pytest.raises(gf.errors.InputError, match="found carriage returns alone"):
        gf.evaluate(judgments, path, columns=columns)
    path.write_bytes(path.read_bytes().replace(b"\r", b"\n"))
    assert gf.evaluate(judgments, path, columns=columns)["nDCG@10"] == 1


@pytest.mark.parametrize("rows", [2, 400])
@pytest.mark.parametrize("mixed", [False, True], ids=["all", "one"])
@pytest.mark.parametrize("form", ["trec", "jsonl"])
@pytest.mark.parametrize("side", ["judgments", "run"])
def test_lines_that_carriage_returns_end_are_told_how_to_convert(side, form, mixed, rows, tmp_path):
    good = [("q", f"d{at}", float(rows - at)) for at in range(rows)]
    number = "grade" if side == "judgments" else "score"
    if form == "trec":
        content = trec(good, side)
    else:
        lines = [json.dumps(dict(zip(("query", "doc", number), row, strict=True))) for row in good]
        content = "".join(f"{line}\n" for line in lines).encode()
    path = tmp_path / f"rows.{form}"
    path.write_bytes(content.replace(b"\n", b"\r", 1 if mixed else -1))
    given = {"judgments": {"q": {"d0": 1}}, "run": {"q": {"d0": 1.0}}, side: path}
    with pytest.raises(gf.errors.InputError, match=r"tr '\\r' '\\n' < FILE > NEW\."):
        gf.evaluate(given["judgments"], given["run"])
    path.write_bytes(path.read_bytes().replace(b"\r", b"\n"))
    gf.evaluate(given["judgments"], given["run"])
