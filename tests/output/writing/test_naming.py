"""Formats are told by names, or said."""

import pytest

import gainful as gf
from gainful.output.writing.output_files import DOCUMENTS, TABLES, read_naming

RUN = {"q": {"a": 1.0}}


@pytest.mark.parametrize("endings", [DOCUMENTS, TABLES], ids=["documents", "tables"])
def test_every_ending_in_any_case_and_packed(endings):
    for ending, form in endings.items():
        assert read_naming(f"a.b{ending}", None, endings).format == form
        assert read_naming(f"A{ending.upper()}", None, endings).format == form
        if form != "parquet":
            for packing in (".gz", ".zst"):
                naming = read_naming(f"x{ending}{packing}", None, endings)
                assert (naming.format, naming.packing) == (form, packing)


def test_a_format_that_is_said_wins_over_the_name(tmp_path):
    gf.write_run(RUN, tmp_path / "x.csv", format="trec")
    assert (tmp_path / "x.csv").read_text() == "q Q0 a 1 1.0 gainful\n"
    gf.write_run(RUN, tmp_path / "none.gz", format="tsv")
    assert (tmp_path / "none.gz").read_bytes().startswith(b"\x1f\x8b")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x.cvs", "found '.cvs'. Did you mean '.csv'? Choices: .run, .qrels, .trec"),
        ("x.parqet.gz", "Did you mean '.parquet'?"),
        ("x", "found no ending. Choices: .run"),
        (".gz", "found no ending"),
        ("x.gz", "found no ending"),
        ("-", "Or say it: format=…, on the command line --format …."),
        ("x.parquet.gz", "expected Parquet without .gz, found 'x.parquet.gz'"),
    ],
)
def test_names_that_tell_nothing(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gf.errors.InputError) as caught:
        gf.write_run(RUN, name)
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_formats_that_are_none(tmp_path):
    for form in ("parket", "json", 3):
        with pytest.raises(gf.errors.InputError, match="Choices: trec, csv, tsv, jsonl, parquet"):
            gf.write_run(RUN, tmp_path / "x", format=form)
    scores = gf.evaluate(RUN, {**RUN})
    with pytest.raises(gf.errors.InputError, match="Did you mean 'markdown'"):
        scores.write(tmp_path / "x", format="markdwn")
    with pytest.raises(gf.errors.InputError, match=r"Choices: \.csv, \.tsv, \.json"):
        scores.write(tmp_path / "x.run")


@pytest.mark.parametrize("name", ["a.run", "a.qrels", "a.trec.gz"])
def test_results_named_as_runs_say_what_writes_runs(tmp_path, name):
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}})
    for write in (scores.write, scores.per_query.write):
        with pytest.raises(
            gf.errors.InputError,
            match=r"for runs and judgments, which gf\.write_run, .* write\. Choices: \.csv, .*\.txt\.",
        ) as caught:
            write(tmp_path / name)
        assert "Did you mean" not in str(caught.value)
    assert not list(tmp_path.iterdir())
