"""Runs recorded from PostgreSQL's full text search, in a real server."""

import re
from pathlib import Path

import psycopg
import pytest

import gainful as gf
from gainful.errors import GainfulError
from gainful.integrations.calling import parallel_calls
from search_server import DOCS, QUERIES

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "recording_runs.md"
SQL = (
    "SELECT id, ts_rank_cd(tsv, q) FROM docs, websearch_to_tsquery('english', %(query)s) AS q "
    "WHERE tsv @@ q ORDER BY 2 DESC, 1 LIMIT %(depth)s"
)


# Documents of these tables tie, and SQL orders them by id.
TIES = pytest.mark.filterwarnings("ignore:The service's scores don't strictly decrease")


@pytest.fixture
def address(postgres_address):
    with psycopg.connect(postgres_address, autocommit=True) as base:
        base.execute(
            "CREATE TABLE docs (id text, body text, tsv tsvector "
            "GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"
        )
        for row in DOCS.items():
            base.execute("INSERT INTO docs (id, body) VALUES (%s, %s)", row)
    return postgres_address


def ask(address, template=SQL, queries=QUERIES, **options):
    return gf.record(queries, engine="postgresql", url=address, template=template, **options)


@TIES
def test_a_database_is_recorded_as_it_searches(address, tmp_path, monkeypatch):
    run = ask(address)
    with psycopg.connect(address) as base:
        for query, text in QUERIES.items():
            rows = base.execute(SQL, {"query": text, "depth": 100}).fetchall()
            assert [*run[query]] == [doc for doc, _ in rows]
    assert next(iter(run["q1"])) == "d2"
    assert (run.empty, run.tag, run.scored_by) == (("q4",), "postgresql", "rank")
    file = tmp_path / "query.sql"
    file.write_text(SQL)
    assert dict(ask(address, file)) == dict(run)
    assert len(ask(address, depth=1)["q1"]) == 1
    quoted = ask(address, queries={"q": "bread'; DROP TABLE docs; --"})
    assert "d1" in quoted["q"] or quoted.empty == ("q",)
    alone = "SELECT id FROM docs WHERE body LIKE '%%' || %(query)s || '%%' ORDER BY id"
    assert ask(address, alone, depth=5)["q1"] == {"d1": 5, "d2": 4, "d5": 3}
    monkeypatch.setenv("A_PASSWORD", "planted-password")
    assert dict(ask(address, key_variable="A_PASSWORD", cache=tmp_path / "kept")) == dict(run)
    assert "planted" not in (tmp_path / "kept").read_text()


@TIES
def test_the_query_on_the_page(address):
    page = PAGE.read_text()
    (sql,) = re.findall(r"^```sql\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert dict(ask(address, sql.replace("articles", "docs"))) == dict(ask(address))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT %(query)s, 1, 2", "3 columns, not an id and a score"),
        ("SELEC %(query)s", "syntax error"),
        ("SELECT 'a', 'high' || %(query)s", "a score that is"),
        ("SELECT 'a' || %(query)s FROM pg_sleep(9)", "no answer within 0.2 s"),
        ("INSERT INTO docs (id) VALUES (%(query)s) RETURNING id", "read-only transaction"),
        ("SELECT %(other)s || %(query)s", "other"),
    ],
)
def test_what_sql_cannot_answer_is_told(address, sql, why):
    with pytest.raises(GainfulError, match=why):
        ask(address, sql, queries={"q": "x"}, timeout=0.2, retries=0)
    with psycopg.connect(address) as base:
        assert base.execute("SELECT count(*) FROM docs").fetchone() == (len(DOCS),)


def test_a_connection_that_is_lost_is_opened_anew(address, monkeypatch):
    monkeypatch.setattr(parallel_calls, "_FIRST_WAIT", 0.01)
    sql = "SELECT 'a' WHERE %(query)s <> 'end' OR pg_terminate_backend(pg_backend_pid())"
    queries = {"q1": "x", "q2": "end", "q3": "y"}
    run = ask(address, sql, queries, concurrency=1, retries=1, failed="leave-out")
    assert run["q1"] == run["q3"] == {"a": 100}
    assert "terminating connection" in run.failed["q2"]
    assert run.calls == 4


def test_no_server_is_told():
    with pytest.raises(GainfulError, match=r"no connection .* Check the address"):
        ask("postgresql://u@127.0.0.1:9/none")
