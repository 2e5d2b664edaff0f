"""Histories in DuckDB, SQLite and PostgreSQL: the same entries as in a file, after kills and with several writers."""

import sqlite3
from datetime import UTC, datetime

import duckdb
import numpy as np
import pytest

import gainful as gf
from gainful.analysis.history.stored_lines import EntryColumns
from gainful.analysis.history.stores import store_at
from history_writers import kill_writers, labels_in, on_linux, scores_of, write_at_once

PLACES = ("duckdb", "sqlite", "postgresql")


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    """Return the place of a history that doesn't exist yet."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres_address")
    return str(tmp_path / f"search.{request.param}")


def rows_of(place, sql):
    """Return the rows of a query, as another program reads them."""
    if place.endswith(".duckdb"):
        with duckdb.connect(place, read_only=True) as connection:
            return connection.execute(sql).fetchall()
    if place.endswith(".sqlite"):
        connection = sqlite3.connect(place)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()
    import psycopg

    with psycopg.connect(place) as connection:
        return connection.execute(sql).fetchall()


@on_linux
def test_kills_at_random_times_lose_no_completed_entry(place):
    kill_writers(place, 50, longest=0.15)


@on_linux
def test_a_thousand_kills_lose_no_completed_entry(place):
    kill_writers(place, 1000, longest=0.15)


@on_linux
def test_processes_can_write_at_the_same_time(place):
    write_at_once(place)
    assert rows_of(place, "SELECT COUNT(*) FROM gainful_query_sets") == [(2,)]


def test_a_database_keeps_the_same_as_a_file(place, tmp_path):
    path, scores = tmp_path / "h.history", scores_of(queries=40)
    weighed = gf.evaluate(
        {"q1": {"a": 1}, "ü": {"b": 0, "c": 2}}, {"q1": {"a": 1}}, "AP", weights={"q1": 1, "ü": 3}
    )
    for target in (path, place):
        gf.history.add(target, scores, label="2", commit="abc", time="2026-05-02", again=scores)
        gf.history.add(target, weighed, run="other", time="2026-05-01T08:00+02:00")
    file, database = gf.history.read(path), gf.history.read(place)
    assert str(database.table()) == str(file.table())
    assert database.path == place
    for one, other in zip(file, database, strict=True):
        assert other.to_dict() == one.to_dict()
        np.testing.assert_array_equal(other.scores.values, one.scores.values)
        assert other.scores.queries == one.scores.queries
    np.testing.assert_array_equal(database[0].sampling.weights, file[0].sampling.weights)
    np.testing.assert_array_equal(database[1].again.values, scores.values)


def test_dashboards_can_query_times_and_means(place):
    scores = scores_of(queries=40)
    gf.history.add(place, scores, label="a\0b", commit="c", run="bm25", time="2026-05-02T06:00")
    entries = rows_of(place, "SELECT number, run, label, commit_id, CAST(measured AS TEXT) FROM gainful_entries")  # fmt: skip
    assert [row[:4] for row in entries] == [(1, "bm25", "a\N{REPLACEMENT CHARACTER}b", "c")]
    assert entries[0][4].replace("T", " ").startswith("2026-05-02 0")
    assert gf.history.read(place)[0].label == "a\0b"
    means = rows_of(place, "SELECT number, measure, mean, low, high FROM gainful_means ORDER BY measure DESC")  # fmt: skip
    expected = [
        (1, name, scores[name], scores.interval(name).low, scores.interval(name).high)
        for name in ("nDCG@10", "AP")
    ]
    assert means == expected


def test_a_place_without_a_history_is_named(place):
    with pytest.raises(gf.errors.InputError, match=r"history|No such file"):
        gf.history.read(place)


@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
@pytest.mark.parametrize("content", ["q1 0 a 1\n", '{"gainful": "history", "format": 1}\n'])
def test_other_files_are_never_changed(tmp_path, ending, content):
    path = tmp_path / f"other.{ending}"
    path.write_text(content)
    for use in (lambda: gf.history.add(path, scores_of(queries=12)), lambda: gf.history.read(path)):
        with pytest.raises(gf.errors.InputError, match="a history that gainful wrote"):
            use()
    assert path.read_text() == content


@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
def test_a_folder_that_does_not_exist_is_named(tmp_path, ending):
    with pytest.raises(gf.errors.InputError, match=r"none.*search"):
        gf.history.add(tmp_path / "none" / f"search.{ending}", scores_of(queries=12))


def test_other_tables_in_the_database_stay(place):
    gf.history.add(place, scores_of(queries=12), label="1")
    if place.endswith(".duckdb"):
        with duckdb.connect(place) as connection:
            connection.execute("CREATE TABLE mine AS SELECT 7 AS number")
    elif place.endswith(".sqlite"):
        with sqlite3.connect(place) as connection:
            connection.execute("CREATE TABLE mine AS SELECT 7 AS number")
    else:
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute("CREATE TABLE mine AS SELECT 7 AS number")
    gf.history.add(place, scores_of(queries=12), label="2")
    assert rows_of(place, "SELECT number FROM mine") == [(7,)]
    assert labels_in(place) == ["1", "2"]


def test_a_failed_append_leaves_nothing(place):
    gf.history.add(place, scores_of(queries=12), label="1")
    mean_of_a_wrong_type = EntryColumns(datetime.now(UTC), "run", "2", "", {"AP": (object(), 0, 1)})
    with pytest.raises((gf.errors.InputError, TypeError)):
        store_at(place).append({"new": "{}"}, "{}", mean_of_a_wrong_type)
    assert rows_of(place, "SELECT label FROM gainful_entries") == [("1",)]
    assert rows_of(place, "SELECT COUNT(*) FROM gainful_query_sets") == [(1,)]
    gf.history.add(place, scores_of(queries=12), label="2")
    assert labels_in(place) == ["1", "2"]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:SECRET@localhost/search",
        "postgresql://localhost/search?password=SECRET",
    ],
)
def test_an_address_with_a_password_is_rejected_without_showing_it(address):
    with pytest.raises(gf.errors.InputError) as caught:
        gf.history.read(address)
    assert "SECRET" not in str(caught.value)


def test_a_server_that_is_not_there_is_named(tmp_path):
    with pytest.raises(gf.errors.InputError, match="postgresql"):
        gf.history.read(f"postgresql://nobody@/search?host={tmp_path}")
