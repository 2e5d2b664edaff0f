"""Marks, blank lines and long lines, which other readers of the same formats pass over."""

import pytest

import gainful as gf

JUDGMENTS = {"q": {"a": 1, "b": 2}}
VALUE = gf.evaluate(JUDGMENTS, {"q": {"a": 1.0, "b": 0.5}}, "nDCG").means
CSV = "query,doc,score\nq,a,1\nq,b,0.5\n"
LINES = '{"query": "q", "doc": "a", "score": 1}\n{"query": "q", "doc": "b", "score": 0.5}\n'
LIST = '[{"query": "q", "doc": "a", "score": 1}, {"query": "q", "doc": "b", "score": 0.5}]'
NESTED = '{"q": {"a": 1, "b": 0.5}}'
TREC = "q Q0 a 1 1 t\nq Q0 b 2 0.5 t\n"
LONG = '{"query": "q", "text": "%s", "doc": "a", "score": 1}\n' % ("word " * 50_000)


@pytest.mark.parametrize("text", [CSV, LINES, LIST, NESTED, TREC])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n\n" + text,
        lambda text: "\r\n\r\n" + text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text + "\n\n\n",
        lambda text: text.rstrip(),
        lambda text: "\ufeff\n" + text.rstrip(),
    ],
    ids=["mark", "CRLF", "before", "CRLF before", "between", "after", "open end", "mark, before"],
)
def test_marks_and_blank_lines(text, change, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(change(text).encode())
    assert gf.evaluate(JUDGMENTS, path, "nDCG").means == VALUE


def test_a_first_line_that_is_very_long(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(LONG + LINES.splitlines()[1])
    assert gf.evaluate(JUDGMENTS, path, "nDCG").means == VALUE


def test_a_later_line_that_is_very_long(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(LINES.splitlines()[1] + "\n" + LONG)
    assert gf.evaluate(JUDGMENTS, path, "nDCG").means == VALUE


def test_integers_of_any_length_are_ids_in_json(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"query": "q", "doc": {2**70}, "score": 1}}\n')
    assert gf.evaluate({"q": {str(2**70): 1}}, path, "nDCG")["nDCG"] == 1.0


def test_ids_that_only_python_reads_and_no_judged_document(files):
    """What the engine refuses is read row by row; that nothing is judged is a warning as ever."""
    path = files("run.jsonl", '{"qid": "q", "docno": 1180591620717411303424, "score": 1}\n')
    for measure in ("nDCG", "nDCG@1"):
        with pytest.warns(gf.errors.GainfulWarning, match="the run has '1180591620717411303424'"):
            assert gf.evaluate({"q": {"a": 1}}, path, measure)[measure] == 0.0


@pytest.mark.parametrize("run", [{"q": {"a": 1.0}}, "query,doc,score\nq,a,1\n", "1 qid:1 1:0\n"])
def test_predictions_are_no_judgments(files, run):
    given = run if isinstance(run, dict) else files("run.txt", run)
    with pytest.raises(gf.errors.InputError, match="Labels come first, then the predictions"):
        gf.evaluate(files("p.txt", "0.1\n0.2\n"), given)
