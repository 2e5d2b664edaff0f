"""The table of slow tests names tests that exist, so that none is forgotten when a file moves."""

from pathlib import Path

import pytest

from slow_tests import (
    ALIKE,
    APART,
    ONLY_DEEP,
    REPRESENTED,
    RESOURCES,
    SLOW,
    THINNED,
    drawn,
    part_of,
    shared_resource,
    thinned,
    values_of,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("start", [*SLOW, *(each for some in RESOURCES.values() for each in some)])
def test_entries_name_what_is_there(start):
    path, _, test = start.partition("::")
    assert (ROOT / path).exists()
    assert start in SLOW
    assert test.partition("[")[0] in (ROOT / path).read_text() if test else True


@pytest.mark.parametrize("start", APART)
def test_what_is_apart_is_there_and_has_no_part_of_a_matrix(start):
    """The process that has it does not see the other cases, by which some would be chosen."""
    path, _, test = start.partition("::")
    assert (ROOT / path).exists()
    name, case, _ = start.partition("[")
    assert not test or f"def {name.partition('::')[2]}(" in (ROOT / path).read_text()
    assert not case or name not in {*ALIKE, *THINNED, *REPRESENTED}


@pytest.mark.parametrize("name", sorted(ONLY_DEEP))
def test_what_takes_long_is_there(name):
    path, _, test = name.partition("::")
    assert f"def {test}(" in (ROOT / path).read_text()
    assert name not in {*ALIKE, *THINNED}


@pytest.mark.parametrize("name", [*ALIKE, *THINNED, *REPRESENTED])
def test_what_is_thinned_is_slow_and_there(name):
    path, _, test = name.partition("::")
    assert name.startswith(SLOW)
    assert f"def {test}(" in (ROOT / path).read_text()


@pytest.mark.parametrize("name", REPRESENTED)
def test_what_stands_for_another_is_tried(name):
    """That the cases exist, the collection itself holds: it stops at a name that is none."""
    assert name not in {*ALIKE, *THINNED}
    table = REPRESENTED[name]
    assert not table.keys() & {*table.values()}
    for path, mark, test in (stands.partition("::") for stands in table.values()):
        assert not mark or f"def {test}(" in (ROOT / path).read_text()
        assert f"{path}{mark}{test}" not in {*ALIKE, *THINNED, *REPRESENTED, *ONLY_DEEP}


def test_every_value_is_kept_and_so_many_cases():
    """Of 4 × 6 cases, six have every value; a third has eight."""
    cases = {f"{a}-{b}": {("a", a), ("b", b)} for a in range(4) for b in range(6)}
    for one_in, least in ((100, 6), (3, 8), (1, 24)):
        kept = thinned(cases, one_in)
        assert kept == [case for case in cases if case in kept]
        assert set().union(*map(cases.get, kept)) == set().union(*cases.values())
        assert least <= len(kept) <= max(least, 9)
    assert thinned({}, 2) == []


def test_of_cases_that_are_alike_so_many_are_drawn():
    cases = [f"test[{number}]" for number in range(10)]
    assert not ALIKE.keys() & THINNED.keys()
    for one_in, kept in ((1, 10), (3, 4), (10, 1), (99, 1)):
        assert len(drawn(cases, one_in)) == kept
        assert drawn(cases[::-1], one_in) == drawn(cases, one_in) <= {*cases}


def test_parts_have_every_test_once():
    names = {f"tests/test_{number}.py::test" for number in range(100)}
    parts = [part_of(names, f"{number}/4") for number in range(1, 5)]
    assert set().union(*parts) == names
    assert sum(map(len, parts)) == len(names)
    assert min(map(len, parts)) > 10
    for wrong in ("0/4", "5/4", "4", "a/b", "1/0"):
        with pytest.raises(ValueError, match=r"part|int|unpack|modulo"):
            part_of(names, wrong)


def test_a_packing_is_a_value_and_a_seed_is_none():
    cases = {f"test[{name}]": name for name in ("0-CSV.gz-x", "1-CSV-x", "2-TREC.gz-7", "3-a.b-7")}
    packed, plain, lines, other = values_of(cases).values()
    assert packed == {(0, ""), (1, "CSV"), (1, ".gz"), (2, "x"), (2, "")}
    assert plain == packed - {(1, ".gz")} | {(1, "")}
    assert lines == packed - {(1, "CSV"), (2, "x")} | {(1, "TREC"), (2, "7")}
    assert other >= {(1, "a.b"), (2, "7")}


def test_what_shares_a_resource_runs_in_one_process():
    assert shared_resource("tests/browser/test_page_main.py::test_one") == "browser"
    assert shared_resource("tests/spark/test_stream.py::test_one") == "Spark"
    assert shared_resource("tests/cli/test_cli.py::test_one") is None
