"""A few seconds of fuzzing from a fixed seed, and proof that it would find something."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from fuzzing import differential, mutations, numbers, reference
from fuzzing.differential import REFUSED, expected_of, input_of, look
from fuzzing.seeds import ROWS, SEEDS, Seed, ranked
from input_forms import as_dicts

INPUTS = 240
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_readers_agree_with_the_reference_on_mutated_files(part):
    assert look(range(part, INPUTS, PARTS), "tests") == []


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed.kind} {seed.name}")
def test_the_reference_reads_every_seed(seed):
    if seed.name.startswith("letor"):
        values = [value for _, _, value in ROWS[seed.kind]]
        found = reference.read(seed.content, seed.name, seed.kind)
        assert [one if seed.kind == "run" else one[1] for one in found] == values
    elif seed.name.endswith(".parquet"):
        assert expected_of(seed) is None
    else:
        found = reference.read(seed.content, seed.name, seed.kind, seed.columns)
        rows = [row for row in ROWS[seed.kind] if row[1] in found[row[0]]]
        assert len(rows) >= len(ROWS[seed.kind]) - 2
        if seed.name.startswith("ranks"):
            rows = [(query, doc, -float(rank)) for query, doc, rank in ranked(rows)]
        assert found == as_dicts(rows)


HEAD = "query,doc,score\r\nq1,a,1.0\r\n"


@pytest.mark.parametrize(
    ("line", "doc", "score"),
    [
        ('q1, "c",3', ' "c"', 3), ('q1,"c" ,3', None, 0), ('q1,"c"""  ,3', None, 0), ('q1,"c"" ,d",3', 'c" ,d', 3), ('q1,c"",3', 'c""', 3), ('q1,"c"x,3', None, 0),
        ("q1,c,3,", None, 0), ('q1,c,3,""', None, 0), ("q1, c,3", " c", 3), ("q1,c ,3", "c ", 3),
        ("q1,'c',3", "'c'", 3), ('q1,"c\r\n",3', "c\r\n", 3), ('q1,"""c""",3', '"c"', 3), ('q1,c,"3"', "c", 3),
        ("q1,c, 3 ", "c", 3), ("q1,c,1_0", None, 0), ("q1,c,0x3", None, 0), ("q1,c,\u0663", None, 0), ("q1,c,+3", "c", 3),
        ("q1,c,.5e1", "c", 5), ("q1,NULL,3", "NULL", 3), ("q1,\\N,3", "\\N", 3), ('q1,"c\\",3', "c\\", 3), ("q1,\ufeffc,3", "\ufeffc", 3),
        ("q1,\0c,3", "\0c", 3), ("q1,c,nan", None, 0), ("q1,a,2", None, 0), (" \r\nq1,c,3", None, 0), ("\r\nq1,c,3", "c", 3),
    ],
)  # fmt: skip
def test_lines_that_readers_of_csv_differ_on(line, doc, score):
    seed = Seed("run.csv", (HEAD + line + "\r\n").encode(), "run")
    right = REFUSED if doc is None else {"q1": {"a": 1.0, doc: float(score)}}
    assert expected_of(seed) == right
    readers = differential.Readers()
    try:
        checks = [readers.by_all_readers, readers.by_rows_and_lines, readers.by_matching]
        assert list(readers._differences(0, seed, right, checks)) == []
    finally:
        readers.close()


def test_numbers_are_what_the_columns_try():
    texts = numbers.column(0, "tests")
    assert len({*texts}) > numbers.CELLS / 2
    assert all(reference.DECIMAL.fullmatch(text) for text in texts)


def loses_a_document(opened, kind, session):
    found = CONTENT(opened, kind, session)
    if isinstance(found, dict):
        found[next(iter(found))].popitem()
    return found


def takes_everything(*given):
    try:
        return CONTENT(*given)
    except gf.errors.GainfulError:
        return {"q": {"d": 1.0}}


def stumbles(*_):
    raise ZeroDivisionError


CONTENT = differential._content


@pytest.mark.parametrize("name", ["_by_engine", "_by_clean_rows", "_by_clean_ids"])
def test_each_reader_of_a_small_table_is_tried(monkeypatch, name):
    """A small clean file has a reader of its own; each other reader that could read it is tried, too."""
    read = getattr(differential, name)

    def loses(opened):
        found = read(opened)
        if isinstance(found, dict):
            found[next(iter(found))].popitem()
        return found

    monkeypatch.setattr(differential, name, loses)
    found = [str(each) for each in look(range(60), "tests")]
    assert found
    assert all("by_all_readers" in each and name[4:].replace("_", " ") in each for each in found)


ENDS_OF_HEADERS = ("\r", "\r\r", "\n\r", "\r\n", "\r\r\n")


@pytest.mark.parametrize("end", ENDS_OF_HEADERS)
@pytest.mark.parametrize("name", ["clean.csv", "clean.tsv", "clean-bars.txt", "comma.csv"])
@pytest.mark.parametrize("kind", ROWS)
def test_every_reader_on_every_end_of_a_header(kind, name, end):
    (seed,) = (each for each in SEEDS if (each.kind, each.name) == (kind, name))
    header, _, rest = seed.content.replace(b"\r\n", b"\n").partition(b"\n")
    seed = seed._replace(content=header + end.encode() + rest)
    readers = differential.Readers()
    try:
        checks = [
            readers.by_all_readers,
            readers.by_rows_and_lines,
            readers.by_matching,
            readers.by_check,
        ]
        assert list(readers._differences(0, seed, expected_of(seed), checks)) == []
    finally:
        readers.close()


def test_line_ends_of_headers_are_tried():
    """A header that ended in a carriage return alone once lost rows, in small files only."""
    rng = random.Random("tests")  # noqa: S311
    found = {mutations.one_line_end(b"h\na\nb\n", rng) for _ in range(300)}
    assert {b"h" + end.encode() + b"a\nb\n" for end in ENDS_OF_HEADERS} <= found


@pytest.mark.parametrize("bad", [loses_a_document, takes_everything, stumbles])
def test_a_bad_reader_is_found(monkeypatch, bad):
    monkeypatch.setattr(differential, "_content", bad)
    found = look(range(40), "tests")
    assert {difference.reader for difference in found} == {"by_all_readers"}
    assert "by_all_readers on" in str(found[0])


def test_an_input_is_made_from_its_number_alone():
    assert input_of(7, "a") == input_of(7, "a")
    assert len({input_of(number, "a").content for number in range(50)}) > 40


def test_the_command_tries_inputs_and_keeps_none(tmp_path):
    command = [sys.executable, "-m", "fuzzing", "--minutes", "0", "--processes", "1"]
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    tried = int(done.stdout.splitlines()[-1].split()[0].replace(",", ""))
    assert tried >= differential.BATCH
    assert list(tmp_path.iterdir()) == []
