"""`record`: what is sent, what becomes of the answers, and that no query is asked twice, lost or counted as empty."""

import gzip
import html
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.errors import GainfulError, GainfulWarning, InputError
from gainful.integrations.calling import parallel_calls
from search_server import QUERIES, Answer, fts5, index, plain, serving

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "recording_runs.md"
KEY = "s3cret/planted+key"
PATHS = {"ids": "hits[*].id", "scores": "hits[*].score"}
SEARCH = index()
ANSWERED = {query: text for query, text in QUERIES.items() if query != "q4"}
EXPECTED = {query: dict(SEARCH(text, 10)) for query, text in QUERIES.items()}


class QuickClock(parallel_calls.Clock):
    """Waits no time, and notes how long it would have."""

    def __init__(self):
        self.waits = []

    def now(self):
        return super().now() + sum(self.waits)

    def sleep(self, seconds, stop):
        self.waits.append(seconds)

    def random(self):
        return 1.0


@pytest.fixture
def clock(monkeypatch):
    found = QuickClock()
    monkeypatch.setattr(parallel_calls, "CLOCK", found)
    return found


def ask(server, queries=QUERIES, **options):
    return gf.record(
        queries, url=f"{server.url}/search?q={{query}}&n={{depth}}", **{**PATHS, **options}
    )


# --- functions


def test_a_function_gives_ids_pairs_or_a_dict():
    for given in (["b", "a"], ("b", "a")):
        assert gf.record({"q": "x"}, lambda _, given=given: given, depth=3)["q"] == {"b": 3, "a": 2}
    for given in ([("b", 0.5), ("a", 0.25)], [["b", 0.5], ["a", 0.25]], {"a": 0.25, "b": 0.5}):
        run = gf.record({"q": "x"}, lambda _, given=given: given)
        assert [*run["q"].items()] == [("b", 0.5), ("a", 0.25)]
        assert run.scored_by == "service"
    assert gf.record({"q": "x"}, lambda _: [7, 8, 9], depth=2)["q"] == {"7": 2, "8": 1}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["a", None], "an id that is None"),
        ([""], "an empty id"),
        ([("a", "high")], "a score that is 'high'"),
        ([("a", float("nan"))], "a score that is nan"),
        ([("a", True)], "a score that is True"),
        ([{"id": 1}], "an id that is {'id': 1}"),
    ],
)
def test_what_is_no_list_of_documents_fails(given, why):
    run = gf.record(
        {"q": "x", "r": "y"}, lambda text: given if text == "x" else ["a"], failed="leave-out"
    )
    assert why in run.failed["q"]
    assert "q" not in run
    assert run["r"] == {"a": 100}
    with pytest.raises(InputError, match="which failed: "):
        run["q"]
    with pytest.raises(InputError, match="a list of ids"):
        gf.record({"q": "x"}, lambda _: "abc")


def test_a_failed_query_is_an_error_and_never_an_empty_list():
    def search(text):
        if text == "butter":
            raise OSError("the index is gone")
        return [doc for doc, _ in SEARCH(text, 10)]

    with pytest.raises(
        GainfulError,
        match=r"none to 1: q2 \(OSError: the index is gone\).*3 received answers are lost",
    ):
        gf.record(QUERIES, search)
    run = gf.record(QUERIES, search, failed="leave-out")
    assert run.failed == {"q2": "OSError: the index is gone"}
    assert run.empty == ("q4",)
    assert [*run] == ["q1", "q3", "q4"]
    assert "3 of 4 queries recorded, 1 failed, 1 with no document" in run.summary
    assert "q2" in str(run)
    assert run.to_dict()["failed"] == run.failed


def test_the_order_of_the_service_is_kept():
    with pytest.warns(GainfulWarning, match=r"don't strictly decrease for 1 query \('q'\)"):
        ties = gf.record({"q": "x"}, lambda _: [("a", 1.0), ("b", 1.0), ("c", 0.5)], depth=9)
    assert (ties["q"], ties.scored_by) == ({"a": 9, "b": 8, "c": 7}, "rank")
    assert "; scored by rank;" in ties.summary
    # Equal scores are ordered by id where a run is measured, which the service did not do.
    assert gf.evaluate({"q": {"a": 1}}, ties, "RR").means == {"RR": 1.0}
    falling = gf.record({"q": "x"}, lambda _: [("b", 1.0), ("a", 0.5)])
    assert (falling["q"], falling.scored_by) == ({"b": 1, "a": 0.5}, "service")
    with pytest.warns(GainfulWarning, match=r"don't strictly decrease for 1 query \('q'\)"):
        run = gf.record(
            {"q": "x", "r": "y"}, lambda text: [("a", 1), ("b", 0.5 + (text == "x"))], depth=9
        )
    assert (run["q"], run["r"], run.scored_by) == ({"a": 9, "b": 8}, {"a": 9, "b": 8}, "rank")
    repeated = gf.record({"q": "x"}, lambda _: ["a", "b", "a", "c"], depth=4)
    assert (repeated["q"], repeated.repeated) == ({"a": 4, "b": 3, "c": 2}, 1)
    assert "1 repeated document left out" in repeated.summary


def test_equal_texts_are_asked_once():
    asked = []
    run = gf.record({"q": "x", "r": "x", "s": "y"}, lambda text: asked.append(text) or [text])
    assert (asked, run.calls) == (["x", "y"], 2)
    assert run["q"] == run["r"] == {"x": 100}


def test_percentiles_are_those_of_the_definition():
    row = gf.record({"q": "x"}, lambda _: ["a"]).rows[0]
    from dataclasses import replace

    from gainful.integrations.recording.recorded_run import RecordedRun

    rows = tuple(replace(row, query=str(n), seconds=n / 1000) for n in range(200, 0, -1))
    run = RecordedRun("t", "0" * 64, rows, 100, "rank", 200)
    assert run.latency == {"p50": 0.1, "p95": 0.19, "p99": 0.198, "max": 0.2}
    assert "latency in ms: p50 100.0, p95 190.0, p99 198.0, max 200.0" in run.summary


# --- servers


def test_any_address_is_recorded_as_it_searches(tmp_path):
    with serving(fts5()) as server:
        run = ask(server, {**QUERIES, "q5": 'bread & "butter" 100%?'}, depth=10)
        assert {query: run[query] for query in QUERIES} == EXPECTED
        assert run["q5"] == dict(SEARCH('bread & "butter" 100%?', 10))
        assert {each.parameters["n"] for each in server.requests} == {"10"}
        assert (run.calls, run.tag) == (5, "127.0.0.1")
        by_rank = ask(server, scores=None, depth=7)
        assert [*by_rank["q1"]] == [*EXPECTED["q1"]]
        assert [*by_rank["q1"].values()] == [7, 6, 5]
        posted = gf.record(
            QUERIES, url=server.url, template={"q": "{query}", "size": "{depth}"}, **PATHS
        )
        assert dict(posted) == EXPECTED
        assert (server.requests[-1].method, server.requests[-1].body["size"]) == ("POST", 100)
    with pytest.warns(GainfulWarning, match="queries without documents are not in the file: 'q4'"):
        run.write(tmp_path / "r.run")
    lines = (tmp_path / "r.run").read_text().splitlines()
    assert {line.split()[-1] for line in lines} == {f"127.0.0.1-{run.request_hash[:12]}"}
    judgments = {"q1": {"d1": 2, "d2": 1}, "q2": {"d4": 1}}
    assert gf.evaluate(judgments, run).means == gf.evaluate(judgments, EXPECTED).means


def lucene(hits):
    found = [{"_id": doc, "_score": score} for doc, score in hits]
    return {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": found}}


def vespa(hits):
    root = {"fields": {"totalCount": len(hits)}}
    children = [{"id": doc, "relevance": score} for doc, score in hits]
    return {"root": {**root, "children": children} if hits else root}


ENGINES = {
    "elasticsearch": ("/a/_search", lucene, ("Authorization", f"ApiKey {KEY}")),
    "opensearch": (
        "/a/_search",
        lucene,
        ("Authorization", f"Basic {b64encode(KEY.encode()).decode()}"),
    ),
    "solr": (
        "/a/select",
        lambda hits: {"response": {"docs": [{"id": doc, "score": score} for doc, score in hits]}},
        ("Authorization", f"Bearer {KEY}"),
    ),
    "vespa": ("/a/search/", vespa, ("Authorization", f"Bearer {KEY}")),
    "typesense": (
        "/a/documents/search",
        lambda hits: {"hits": [{"document": {"id": doc}, "text_match": 2**60} for doc, _ in hits]},
        ("X-Typesense-Api-Key", KEY),
    ),
    "meilisearch": (
        "/a/search",
        lambda hits: {"hits": [{"id": doc, "_rankingScore": score} for doc, score in hits]},
        ("Authorization", f"Bearer {KEY}"),
    ),
    "algolia": (
        "/a/query",
        lambda hits: {"hits": [{"objectID": doc} for doc, _ in hits]},
        ("X-Algolia-Api-Key", KEY),
    ),
    "qdrant": (
        "/a/points/query",
        lambda hits: {"result": {"points": [{"id": doc, "score": score} for doc, score in hits]}},
        ("Api-Key", KEY),
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_is_asked_in_its_own_words(engine, monkeypatch):
    path, form, (header, value) = ENGINES[engine]
    monkeypatch.setenv("A_KEY", KEY)
    vectors = {text: [float(place), 0.5] for place, text in enumerate(QUERIES.values())}

    def answer(asked, _):
        text = asked.query
        if engine == "qdrant":
            text = next(text for text, vector in vectors.items() if vector == asked.body["query"])
        return form(SEARCH(text, 10))

    options = {"qdrant": {"embed": vectors.get}}.get(engine, {})
    if engine == "typesense":
        options = {"template": {"q": "{query}", "query_by": "text", "per_page": "{depth}"}}
    with serving(answer) as server:
        call = {"engine": engine, "url": f"{server.url}/a", "key_variable": "A_KEY", "depth": 10}
        run = gf.record(QUERIES, **call, **options)
        assert {query: [*run[query]] for query in run} == {
            query: [*docs] for query, docs in EXPECTED.items()
        }
        assert run.tag == engine
        if engine in ("typesense", "algolia"):
            assert run.scored_by == "rank"
        else:
            assert dict(run) == EXPECTED
        asked = server.requests[0]
        assert asked.path == path
        found = {name.title(): value for name, value in asked.headers.items()}
        assert found[header.title()] == value
        depth = asked.parameters or asked.body
        assert 10 in depth.values() or "10" in depth.values()
        again = gf.record(
            QUERIES, **{**call, "url": f"{server.url}{path}"}, **options
        )  # the whole address
        assert dict(again) == dict(run)


@pytest.mark.parametrize(
    ("engine", "body", "why"),
    [
        ("opensearch", {**lucene([]), "timed_out": True}, "timed_out is True"),
        ("elasticsearch", {**lucene([]), "_shards": {"failed": 2}}, "_shards.failed is 2"),
        (
            "solr",
            {"responseHeader": {"partialResults": True}, "response": {"docs": []}},
            "partialResults is True",
        ),
        ("vespa", {"root": {"errors": [{"code": 12}]}}, "root.errors is"),
        ("vespa", {"root": {}}, r"no root.children\[\*\].id in"),
        ("opensearch", {"hits": {}}, r"no hits.hits\[\*\]._id in"),
        ("opensearch", {"hits": {"hits": [{"_score": 1}]}}, r"no hits.hits\[\*\]._id in item 1"),
    ],
)
def test_half_an_answer_of_an_engine_is_none(engine, body, why):
    with serving(lambda *_: body) as server, pytest.raises(GainfulError, match=why):
        gf.record({"q1": "bread"}, engine=engine, url=server.url, retries=0)


def test_null_scores_of_an_engine_leave_its_order():
    body = {"hits": {"hits": [{"_id": "b", "_score": None}, {"_id": "a", "_score": None}]}}
    with serving(lambda *_: body) as server:
        run = gf.record({"q": "x"}, engine="opensearch", url=server.url, depth=2)
    assert (run["q"], run.scored_by) == ({"b": 2, "a": 1}, "rank")


BAD = {
    "failing": (Answer({"error": "overloaded"}, status=503), "503 Service Unavailable: overloaded"),
    "flooded": (Answer({}, status=429, headers={"Retry-After": "7"}), "429 Too Many Requests"),
    # Many servers write the names of headers in small letters.
    "flooded, small": (Answer({}, status=429, headers={"retry-after": "7"}), "429 Too Many"),
    "broken": (Answer(b'{"hits": ['), "no JSON but"),
    "dropped": (Answer(drop=True), "the connection was dropped"),
    "slow": (Answer({}, slow=0.4), "no answer within 0.2 s"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_fails_is_tried_again_and_then_told(kind, clock):
    bad, why = BAD[kind]

    def answer(asked, before):
        if asked.query == "butter" and (before < 2 or "always" in asked.parameters):
            return bad
        return plain(SEARCH(asked.query, 10))

    with serving(answer) as server:
        options = {"timeout": 0.2, "concurrency": 1}
        run = ask(server, retries=2, **options)
        assert dict(run) == EXPECTED
        # What a server drops on a connection that was used before is sent again on a new one at once.
        tries = 1 if kind == "dropped" else 2
        assert run.calls == len(QUERIES) + tries
        if "flooded" in kind:
            assert max(clock.waits) >= 7  # as long as the server asks
        else:
            assert clock.waits == [1.0, 2.0][:tries]  # twice as long each time
        if kind != "slow":
            assert run.latency["max"] < 1
        url = f"{server.url}/?q={{query}}&always=1"
        run = gf.record(QUERIES, url=url, **PATHS, retries=1, failed="leave-out", **options)
        assert [*run.failed] == ["q2"]
        assert why in run.failed["q2"]
        assert "q2" not in run
        with pytest.raises(GainfulError, match="none to 1: q2"):
            gf.record(QUERIES, url=url, **PATHS, retries=0, **options)


@contextmanager
def raw(answer):
    """A server that says the same bytes to everybody, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/?q={{query}}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


BODY = b'{"hits": [{"id": "a", "score": 1.5}]}'
CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (CHUNK + b"25\r\n" + BODY + b"\r\n0\r\n\r\n", None),
        (b"HTTP/1.0 200 OK\r\n\r\n" + BODY, None),
        (b"HTTP/1.0 200 OK\r\n\r\n\xef\xbb\xbf" + BODY, None),
        (b"HTTP/1.0 200 OK\r\n\r\n" + BODY.replace(b'"hits"', b'"\xef\xbf\xbd": 1, "hits"'), None),
        (
            b"HTTP/1.0 200 OK\r\n\r\n" + BODY.replace(b'"a"', b'"caf\xe9"'),
            "an answer that isn't UTF-8",
        ),
        (CHUNK + b"99\r\n" + BODY, "an answer that breaks off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + BODY, "an answer that breaks off"),
        (
            b"HTTP/1.0 200 OK\r\ncontent-encoding: GZIP\r\n\r\n" + gzip.compress(BODY, mtime=0),
            "compressed with 'gzip'",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "no JSON but ''"),
        (b"SSH-2.0-OpenSSH_9\r\n", "no HTTP but 'SSH-2.0-OpenSSH_9"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n",
            "moved to 'http://x/'",
        ),
        (b'HTTP/1.0 200 OK\r\n\r\n{"hits": [{"id": "a", "score": NaN}]}', "a score that is nan"),
    ],
)
def test_odd_answers_are_read_or_told(answer, why):
    with raw(answer) as url:
        if why is None:
            assert gf.record({"q": "x"}, url=url, **PATHS)["q"] == {"a": 1.5}
            return
        with pytest.raises(GainfulError, match=re.escape(why)):
            gf.record({"q": "x"}, url=url, **PATHS, retries=0)


def test_a_query_that_is_refused_stops_no_other(clock):
    def answer(asked, _):
        if asked.query == "butter":
            return Answer({"error": {"reason": "syntax"}}, status=400)
        return plain(SEARCH(asked.query, 10))

    with serving(answer) as server:
        run = ask(server, failed="leave-out", concurrency=1)
        assert "400 Bad Request" in run.failed["q2"]
        assert (run.calls, len(run)) == (4, 3)


def test_a_service_that_is_not_there_is_told_at_once():
    with pytest.raises(GainfulError, match=r"no connection .* Check the address"):
        gf.record(QUERIES, url="http://127.0.0.1:9/?q={query}", ids="[*]")
    with serving(lambda *_: Answer({}, status=404)) as server:
        with pytest.raises(GainfulError, match=r"404 Not Found.* which contains the index"):
            ask(server, concurrency=1)
        assert len(server.requests) == 1


def test_calls_are_made_at_the_same_time_and_at_a_limited_rate(clock):
    queries = {f"q{n}": f"bread {n}" for n in range(24)}
    with serving(lambda asked, _: Answer(plain([(asked.query, 1)]), slow=0.02)) as server:
        run = ask(server, queries, concurrency=6)
        assert 2 <= server.most <= 6
        assert [*run] == [*queries]
        assert all([*run[query]] == [text] for query, text in queries.items())
        ask(server, queries, concurrency=1, per_second=0.5)
    assert sum(clock.waits) > 24  # every 2 s


def test_progress_tells_the_share_and_the_counts():
    told = []
    gf.record(QUERIES, lambda _: ["a"], progress=lambda share, line: told.append((share, line)))
    assert [share for share, _ in told] == [0, 0.25, 0.5, 0.75, 1]
    assert told[-1][1].startswith("4 of 4 queries, 0 cached, ")


# --- the cache


def test_what_is_kept_is_not_asked_again(tmp_path):
    cache = tmp_path / "answers.jsonl"
    with serving(fts5()) as server:
        some = {"q1": "bread", "q4": "submarine"}
        assert ask(server, some, cache=cache).calls == 2
        run = ask(server, cache=cache)
        assert (dict(run), run.calls, run.cached) == (EXPECTED, 2, 2)
        assert ask(server, cache=cache).calls == 0
        assert len(server.requests) == 4
        assert ask(server, cache=cache, retries=0, concurrency=1, timeout=9, tag="t").calls == 0
        for other in ({"depth": 5}, {"scores": None}, {"headers": {"X-Version": "2"}}):
            found = ask(server, cache=cache, **other)
            assert (found.calls, found.request_hash == run.request_hash) == (4, False)
        cache.write_bytes(cache.read_bytes()[:-9])  # as after a crash
        with pytest.warns(GainfulWarning, match="1 unreadable line"):
            assert ask(server, cache=cache, headers={"X-Version": "2"}).calls == 1
    with pytest.raises(InputError, match="tag: expected a name for this function"):
        gf.record(QUERIES, lambda _: ["a"], cache=cache)
    other = tmp_path / "other"
    other.write_text("q1 Q0 d1 1 1 x\n")
    with pytest.raises(InputError, match="answers of a search service, as record keeps them"):
        gf.record(QUERIES, lambda _: ["a"], cache=other, tag="x")


def test_answers_before_a_failure_are_kept(tmp_path, clock):
    cache = tmp_path / "answers.jsonl"
    works = [False]

    def answer(asked, _):
        ok = works[0] or asked.query != "butter"
        return plain(SEARCH(asked.query, 10)) if ok else Answer({}, status=500)

    with serving(answer) as server:
        with pytest.raises(GainfulError, match=r"3 received answers are in .*answers.jsonl"):
            ask(server, cache=cache, retries=0)
        works[0] = True
        run = ask(server, cache=cache)
        assert (run.calls, dict(run)) == (1, EXPECTED)


def test_killed_in_the_middle_it_asks_for_no_answer_twice(tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text("".join(f"q{n}\tbread {n}\n" for n in range(30)))
    output = tmp_path / "out.run"
    part = tmp_path / "out.run.part.jsonl"
    hold = [0.03]
    with serving(
        lambda asked, _: Answer(plain([(asked.query.split()[-1], 1)]), slow=hold[0])
    ) as server:
        words = [
            "run",
            str(queries),
            "--url",
            f"{server.url}/?q={{query}}",
            "--ids",
            "hits[*].id",
            "-o",
            str(output),
        ]
        process = subprocess.Popen([sys.executable, "-m", "gainful", *words, "--concurrency", "2"])
        until = time.monotonic() + 30
        while not part.exists() or part.read_bytes().count(b"\n") < 8:
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert not output.exists()
        kept = [json.loads(line)["query"] for line in part.read_text().splitlines()]
        assert 8 <= len(kept) < 30
        time.sleep(2 * hold[0])
        before, hold[0] = len(server.requests), 0.0
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == 0, done.output
        second = [f"q{each.query.split()[-1]}" for each in server.requests[before:]]
        assert sorted([*kept, *second]) == sorted(f"q{n}" for n in range(30))
        assert before - len(kept) <= 2  # those that were on their way
    assert not part.exists()
    rows = [line.split() for line in output.read_text().splitlines()]
    assert {(row[0], row[2]) for row in rows} == {(f"q{n}", str(n)) for n in range(30)}


# --- secrets


def echo(asked, _):
    """Repeat all headers and the path, as a server does that was set up to be debugged."""
    return Answer(
        {"error": json.dumps(asked.headers) + asked.path + json.dumps(asked.parameters)}, status=400
    )


def test_a_planted_secret_is_nowhere(tmp_path, monkeypatch, clock, logged):
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setenv("B_TOKEN", "second-planted-one")
    texts = []
    cache = tmp_path / "answers.jsonl"

    def answer(asked, before):
        return echo(asked, before) if asked.query == "butter" else plain(SEARCH(asked.query, 10))

    forms = [
        {"key_variable": "A_KEY"},
        {"headers": {"Authorization": "Token ${A_KEY}", "X-Other-Token": "${B_TOKEN}"}},
        {"key_variable": "A_KEY", "engine": "opensearch", "ids": "hits[*].id", "method": "POST"},
    ]
    for given in forms:
        with serving(answer) as server:
            url = server.url if "engine" in given else f"{server.url}/?q={{query}}"
            call = {"url": url, "ids": "hits[*].id", "cache": cache, **given}
            run = gf.record(ANSWERED, **call, failed="leave-out")
            assert "[key]" in run.failed["q2"]
            for form in ("x.run", "x.json", "x.html", "x.csv"):
                run.write(tmp_path / form)
            texts += [str(run), repr(run), run.to_json()]
            with pytest.raises(GainfulError) as caught:
                gf.record(ANSWERED, **call)
            texts += [str(caught.value), repr(caught.value.args)]
    with serving(lambda asked, _: plain([(asked.headers["Authorization"], 1)])) as server:
        run = ask(
            server,
            {"q": "x", "r": "y"},
            key_variable="A_KEY",
            failed="leave-out",
            retries=0,
            concurrency=1,
        )
        assert run.failed == dict.fromkeys("qr", "an id that contains the key")
    for wrong in (
        {"key_variable": KEY},
        {"headers": {"X-Api-Key": KEY}},
        {"headers": f"Authorization: {KEY}"},
        {"url": f"http://u:{KEY}@h/?q={{query}}"},
        {"url": f"http://h/?q={{query}}&api_key={KEY}"},
        {"url": f"http://h/?q={{query}}&X-Algolia-API-Key={KEY}"},
        {"url": f"http://h/?access_token={KEY}&q={{query}}"},
    ):
        with pytest.raises(InputError) as caught:
            gf.record(ANSWERED, **{"url": "http://h/?q={query}", "ids": "[*]", **wrong})
        texts += [str(caught.value), repr(caught.value.args)]

    def search(_):
        raise OSError(f"the key {KEY} is wrong")

    run = gf.record({"q": "x"}, search, failed="leave-out")
    assert run.failed["q"] == "OSError: the key [key] is wrong"
    run = gf.record(
        {"q": "x"}, command=["sh", "-c", "echo $A_KEY >&2; exit 3"], failed="leave-out", retries=0
    )
    assert run.failed["q"] == "exit code 3: [key]"
    texts += [*logged, *(path.read_text() for path in tmp_path.iterdir())]
    for secret in (KEY, "second-planted-one", b64encode(KEY.encode()).decode()):
        assert not [text for text in texts if secret in text]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8765/ok?q={query}&key=KEY",
        "ftp://h/?q={query}&key=KEY",
        "http://h:port/?q={query}&key=KEY",
        "http://h:KEY/?q={query}",
        "http://[KEY/?q={query}",
        "http://h/?q={query}#key=KEY",
        "http://h h/?q={query}&key=KEY",
        "KEY/?q={query}",
    ],
)
@pytest.mark.parametrize("key", ["hunter2hunter2", "hunter2#hunter2", "hunter2@?{query}"])
def test_an_address_that_is_none_shows_no_key(address, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KS", key)
    Path("q.tsv").write_text("q1\tbread\n")
    given = address.replace("KEY", "${KS}")
    with pytest.raises(InputError) as caught:
        gf.record({"q": "x"}, url=given, ids="hits[*].id")
    told = [str(caught.value), repr(caught.value.args)]
    assert given in told[0] or "may hold a password" in told[0] or "a password" in told[0]
    told.append(refused("run", "q.tsv", "--ids", "hits[*].id", "--url", given))
    Path("gainful.toml").write_text(f"[run]\nids = 'hits[*].id'\nurl = '{given}'\n")
    told.append(refused("run", "q.tsv"))
    if "key=" in address:
        literal = address.replace("KEY", key.partition("{")[0])
        with pytest.raises(InputError, match="found the key itself") as caught:
            gf.record({"q": "x"}, url=literal, ids="hits[*].id")
        told += [str(caught.value), refused("run", "q.tsv", "--ids", "[*]", "--url", literal)]
    assert not [text for text in told if "hunter2" in text]


@pytest.mark.parametrize("key", ["a#b&c=d?e", "{query}%2F/{depth}", "p+l;us"])
def test_a_key_in_an_address_is_written_as_addresses_write_it(key, monkeypatch):
    monkeypatch.setenv("KS", key)
    monkeypatch.setenv("query", "of-the-environment")
    with serving(lambda *_: plain([("a", 1)])) as server:
        url = f"{server.url}/${{KS}}/?q={{query}}&k=${{KS}}&other=${{query}}"
        assert gf.record({"q": "x y"}, url=url, **PATHS)["q"] == {"a": 1}
        (asked,) = server.requests
        assert asked.parameters == {"q": "x y", "k": key, "other": "of-the-environment"}
        assert asked.path == f"/{quote(key, safe='')}/"
    for written in (key, quote(key, safe="")):
        with serving(lambda *_, written=written: Answer({"error": written}, status=400)) as server:
            url = f"{server.url}/?q={{query}}&k=${{KS}}"
            run = gf.record({"q": "x", "r": "y"}, url=url, **PATHS, failed="leave-out")
        assert run.failed["q"] == "400 Bad Request: [key]"
        with serving(lambda *_, written=written: plain([(written, 1)])) as server:
            url = f"{server.url}/?q={{query}}&k=${{KS}}"
            run = gf.record({"q": "x", "r": "y"}, url=url, **PATHS, failed="leave-out")
        assert run.failed["q"] == "an id that contains the key"


def test_the_server_may_come_from_the_environment(monkeypatch):
    with serving(fts5()) as server:
        monkeypatch.setenv("BASE", server.url)
        monkeypatch.setenv("HOST", server.url.removeprefix("http://"))
        for start in ("${BASE}", "http://${HOST}"):
            run = gf.record(QUERIES, url=f"{start}/?q={{query}}&n={{depth}}", **PATHS, depth=10)
            assert (dict(run), run.tag) == (EXPECTED, "search")


@pytest.mark.parametrize(
    "written",
    [
        json.dumps,
        quote,
        lambda key: quote(key, safe=""),
        lambda key: quote(key, safe="").lower(),
        html.escape,
        lambda key: json.dumps(key).replace("/", "\\/"),
        lambda key: f"the password {key.partition(':')[2]} is wrong",
    ],
)
@pytest.mark.parametrize("is_json", [True, False])
def test_a_secret_that_is_repeated_in_other_letters_is_hidden(written, is_json, monkeypatch):
    key = 'user:pa/s&"word+%<1'
    monkeypatch.setenv("A_KEY", key)
    said = written(key)
    answer = Answer({"error": said}, status=400) if is_json else Answer(f"no: {said}".encode())
    with serving(lambda *_: answer) as server:
        call = {"engine": "opensearch", "url": server.url, "key_variable": "A_KEY", "retries": 0}
        run = gf.record({"q": "x", "r": "y"}, **call, failed="leave-out")
    assert "[key]" in run.failed["q"]
    for secret in (key, key.partition(":")[2]):
        forms = (
            secret,
            quote(secret),
            quote(secret, safe=""),
            html.escape(secret),
            secret.replace("/", "\\/"),
        )
        assert not [form for form in forms if form.lower() in run.failed["q"].lower()]


def test_a_password_that_is_a_word_refuses_no_document(monkeypatch):
    monkeypatch.setenv("A_KEY", "admin:admin")
    with serving(lambda *_: lucene([("admin-guide", 1.0)])) as server:
        run = gf.record({"q": "x"}, engine="opensearch", url=server.url, key_variable="A_KEY")
    assert run["q"] == {"admin-guide": 1.0}


def test_the_hash_tells_requests_apart_and_knows_no_key(monkeypatch):
    hashes = []
    with serving(fts5()) as server:
        for key in ("one-long-key", "another-long-key"):
            monkeypatch.setenv("A_KEY", key)
            hashes.append(ask(server, key_variable="A_KEY").request_hash)
            hashes.append(ask(server, headers={"X-Key": "${A_KEY}"}).request_hash)
        hashes.append(ask(server, depth=3).request_hash)
    assert hashes[0] == hashes[2]
    assert hashes[1] == hashes[3]
    assert len({*hashes}) == 3


@pytest.mark.parametrize(
    "ending", ["run", "csv", "tsv", "jsonl", "parquet", "csv.gz", "json", "html", "md"]
)
def test_the_hash_is_in_every_file_of_a_run(ending, tmp_path):
    run = gf.record(ANSWERED, lambda text: SEARCH(text, 10), tag="mine")
    path = tmp_path / f"x.{ending}"
    run.write(path)
    tag = f"mine-{run.request_hash[:12]}"
    judgments = {"q1": {"d1": 2, "d2": 1}, "q2": {"d4": 1}}
    if ending in ("run", "csv", "tsv", "jsonl", "parquet", "csv.gz"):  # which are runs
        assert gf.evaluate(judgments, path).means == gf.evaluate(judgments, run).means
    if ending == "parquet":
        import pyarrow.parquet

        assert {*pyarrow.parquet.read_table(path)["tag"].to_pylist()} == {tag}
    elif ending in ("json", "html", "md"):
        assert run.request_hash[:12] in path.read_text()
    else:
        content = path.read_bytes()
        lines = (
            (gzip.decompress(content) if ending.endswith("gz") else content).decode().splitlines()
        )
        header = ending.startswith(("csv", "tsv"))
        assert all(tag in line for line in lines[header:])
        assert len(lines) == sum(map(len, run.values())) + header
    assert {*run.to_pandas()["tag"]} == {tag}


# --- commands


def test_a_command_is_called_for_each_query(tmp_path):
    words = ["printf", "%s\\t%s\\n", "{query}", "2", "b", "1"]
    assert gf.record({"q": "x; rm -rf /"}, command=words)["q"] == {"x; rm -rf /": 2, "b": 1}
    run = gf.record({"q": "bread", "r": "tyres"}, command="cat", depth=3)
    assert (run["q"], run["r"], run.tag) == ({"bread": 3}, {"tyres": 3}, "cat")
    code = "import json, sys; print(json.dumps({'found': [{'id': sys.argv[1] + sys.argv[2]}]}))"
    found = gf.record(
        {"q": "x"},
        command=[sys.executable, "-c", code, "{id}", "{depth}"],
        ids="found[*].id",
        depth=9,
    )
    assert found["q"] == {"q9": 9}
    assert gf.record({"q": "x"}, command="true").empty == ("q",)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sh -c 'echo lost >&2; exit 4'", "exit code 4: lost"),
        ("no-such-command-here", "no such command"),
        ("sh -c 'sleep 30 & sleep 30'", "no answer within 0.2 s"),
        ("printf 'a\\tb\\tc\\n'", "lines that are not all an id"),
        ("printf 'a\\thigh\\n'", "a score that isn't a number"),
    ],
)
def test_a_command_that_fails_is_told(command, why):
    begin = time.monotonic()
    with pytest.raises(GainfulError, match=why):
        gf.record({"q": "x"}, command=command, retries=0, timeout=0.2 if "sleep" in command else 9)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_a_command_that_prints_without_end_is_ended(stream, monkeypatch):
    monkeypatch.setattr("gainful.integrations.recording.service_transports.LARGEST_ANSWER", 100_000)
    begin = time.monotonic()
    why = "no answer within 0.3 s" if stream else "an answer of more than 100,000 bytes"
    with pytest.raises(GainfulError, match=why):
        gf.record(
            {"q": "x"},
            command=["sh", "-c", f"yes document{stream}"],
            retries=0,
            timeout=0.3 if stream else 20,
        )
    assert time.monotonic() - begin < 5


def test_the_time_of_a_command_ends_while_it_prints():
    slow = "while true; do echo d; sleep 0.05; done"
    begin = time.monotonic()
    with pytest.raises(GainfulError, match=r"no answer within 0\.3 s"):
        gf.record({"q": "x"}, command=["sh", "-c", slow], retries=0, timeout=0.3)
    assert time.monotonic() - begin < 5


def test_a_command_may_print_much_and_be_told_much():
    long = "bread " * 50_000  # more than a pipe holds
    run = gf.record({"q": long, "r": "x"}, command=["sh", "-c", "cat >&2; seq 50000"], depth=50_000)
    assert [*run["q"]] == [*run["r"]] == [str(n) for n in range(1, 50_001)]
    assert [*gf.record({"q": long}, command="cat")["q"]] == [long.strip()]
    assert gf.record({"q": long}, command="true").empty == ("q",)  # which reads nothing


def test_ids_of_a_command_are_utf_8():
    run = gf.record({"q": "x"}, command=["printf", "caf\\351\\n"], failed="leave-out", retries=0)
    assert run.failed["q"] == "an answer that isn't UTF-8"
    assert [*gf.record({"q": "x"}, command=["printf", "café\n"])["q"]] == ["café"]


# --- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one search service, found none"),
        ({"url": "http://h/{query}", "command": "x"}, "found url and command"),
        ({"url": "http://h/{query}"}, "ids: expected a path, or an engine"),
        ({"url": "http://h/", "ids": "[*]"}, r"url: expected \{query\} or \{vector\} in it"),
        ({"url": "http://{query}/", "ids": "[*]"}, "after the name of the server"),
        ({"url": "http://h/{query}", "ids": "hits"}, "a path with one"),
        ({"url": "http://h/{query}", "ids": "hits[*].id[*]"}, "a path with one"),
        ({"url": "http://h/{query}", "ids": "a[*].id", "scores": "b[*].s"}, "in the same list"),
        ({"url": "http://h/a", "engine": "lucene"}, "engine: expected"),
        ({"url": "http://h/a", "engine": "typesense"}, "template: expected one for Typesense"),
        ({"url": "http://h/a", "engine": "qdrant"}, "embed: expected a function"),
        ({"url": "http://h/a", "engine": "solr", "embed": len}, "embed: expected none"),
        ({"url": "http://h/a", "engine": "solr", "template": '{"q": 1'}, "no JSON"),
        ({"url": "http://h/a", "engine": "solr", "template": '{"q": 1}'}, "neither"),
        ({"url": "ftp://h/{query}", "ids": "[*]"}, "url: expected the address"),
        ({"url": "http://h/${NOT_SET_HERE}?q={query}", "ids": "[*]"}, "none that is set"),
        (
            {"url": "http://h/{query}", "ids": "[*]", "headers": {"a b": "c"}},
            "the name of a header",
        ),
        ({"url": "http://h/{query}", "ids": "[*]", "headers": {"a": "b\nc"}}, "plain letters"),
        ({"command": "a 'b"}, "command: expected"),
        ({"command": "a {vector}"}, "vector"),
        ({"command": "a", "engine": "solr"}, "engine: expected none without a url"),
        ({"search": len, "timeout": 3}, "timeout: expected none with a function"),
        (
            {"url": "http://h", "engine": "postgresql", "template": "%(query)s"},
            "the address of a database",
        ),
        ({"url": "postgresql://u:pw@h/d", "engine": "postgresql"}, "without a password"),
        ({"url": "postgresql://u@h/d", "engine": "postgresql"}, "template: expected SQL"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        gf.record({"q": "x"}, **options)


def test_queries_need_texts(tmp_path):
    with pytest.raises(InputError, match="none for 'r'"):
        gf.record({"q": "x", "r": " "}, len)
    path = tmp_path / "queries.jsonl"
    path.write_text('{"_id": "1", "text": "bread"}\n{"_id": "2", "text": "butter"}\n')
    assert [*gf.record(path, lambda text: [text])] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("q.csv", "q1,fish, chips\n", "Quote the text, or name the columns."),
        ("q.tsv", "q1\tbread\textra\n", "Leave the others out, or name the columns."),
    ],
)
def test_a_third_field_without_a_name_is_not_sent(name, content, remedy, tmp_path):
    (tmp_path / name).write_text(content)
    asked = []
    with pytest.raises(InputError, match=f"found 3 fields. {remedy}"):
        gf.record(tmp_path / name, lambda text: asked.append(text) or [])
    assert not asked
    (tmp_path / name).write_text('q1,"fish, chips"\n' if name == "q.csv" else "q1\tfish, chips\n")
    assert [*gf.record(tmp_path / name, lambda text: [text])["q1"]] == ["fish, chips"]


@pytest.mark.parametrize(
    ("names", "sent", "told"),
    [
        ("query_id,title,description", "one", "'title' was sent, not 'description'"),
        ("qid,Description,Title", "two", "'Title' was sent, not 'Description'"),
        ("query_id,title,text", "two", "'text' was sent, not 'title'"),
        ("query_id,description,other", "one", ""),
        ("query_id,title,other", "one", ""),
    ],
)
def test_the_column_that_is_sent_is_told_where_there_is_a_choice(names, sent, told, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"{names}\nq1,one,two\n")
    run = gf.record(path, lambda text: [text])
    assert [*run["q1"]] == [sent]
    assert run.sent == told
    assert told in run.summary
    assert ("was sent" in run.summary) == ("sent" in run.to_dict()) == bool(told)
    path.write_text("query_id,name,description\nq1,one,two\n")
    with pytest.raises(
        InputError, match=r"found 'name' and 'description'. Rename one of them to 'text'."
    ):
        gf.record(path, lambda text: [text])


def test_a_place_that_is_misspelt_is_told():
    with serving(fts5()) as server:
        with pytest.warns(
            GainfulWarning, match=r"\{dpeth\} is sent unchanged: did you mean \{depth\}"
        ):
            gf.record(QUERIES, url=f"{server.url}/?q={{query}}&n={{dpeth}}", **PATHS)
        # Solr and templates of other languages have braces of their own.
        template = {"q": "{!edismax v=$qq}", "qq": "{query}", "other": "{{depths}}"}
        assert len(gf.record(QUERIES, url=server.url, template=template, **PATHS)) == 4
        with pytest.raises(InputError, match=r"template: expected \{query\}"):
            gf.record(QUERIES, url=server.url, template={"{query}": "bread"}, **PATHS)
        found = gf.record(QUERIES, url=f"{server.url}/?q={{query}}", ids="$.hits[*].id")
        assert [*found["q1"]] == [*EXPECTED["q1"]]


def test_an_answer_that_is_too_large_is_told(monkeypatch):
    monkeypatch.setattr("gainful.integrations.calling.http_client.LARGEST_ANSWER", 1000)
    body = plain([(f"d{n}", 1) for n in range(200)])
    with (
        serving(lambda *_: body) as server,
        pytest.raises(GainfulError, match="an answer of more than 1,000 bytes"),
    ):
        ask(server, retries=0)


def test_a_dry_run_is_checked_and_not_written(tmp_path):
    run = gf.record({"q 1": "x"}, lambda _: ["a"])
    run.write(tmp_path / "x.csv", dry=True)
    with pytest.raises(InputError, match="query 'q 1': expected an id without white space"):
        run.write(tmp_path / "x.run", dry=True)
    with pytest.raises(InputError, match="whose ending implies the format"):
        run.write(tmp_path / "x.png", dry=True)
    with pytest.raises(InputError, match="dry: expected"):
        run.write(tmp_path / "x.csv", dry="no")
    assert not [*tmp_path.iterdir()]


# --- the command line


def test_answers_that_trec_cannot_hold_are_written_otherwise_and_not_asked_again(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\nq2\tbutter\n")
    with serving(lambda asked, _: plain([(f"about {asked.query}", 1.0)])) as server:
        words = [
            "run",
            "queries.tsv",
            "--url",
            f"{server.url}/?q={{query}}",
            "--ids",
            "hits[*].id",
            "-o",
        ]
        told = refused(*words, "x.run")
        assert "without white space" in told
        assert (
            "The responses were saved: run the command again with --cache x.run.part.jsonl." in told
        )
        called(*words, "x.csv", "--cache", "x.run.part.jsonl")
        assert len(server.requests) == 2
    assert gf.evaluate({"q2": {"about butter": 1}}, "x.csv", "RR").means == {"RR": 1.0}


@pytest.mark.parametrize("output", [["-o", "x.run"], ["-o", "x.csv", "--format", "trec"], []])
def test_queries_that_trec_cannot_hold_are_refused_before_the_first_call(
    output, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\nq 2\tbutter\n")
    words = ["run", "queries.tsv", "--command", "sh -c 'touch called; echo d'"]
    told = refused(*words, *output)
    assert "query 'q 2': expected an id without white space" in told
    assert [path.name for path in tmp_path.iterdir()] == ["queries.tsv"]
    called(*words, "-o", "x.csv")
    assert gf.evaluate({"q 2": {"d": 1}}, "x.csv", "RR").means == {"RR": 1.0}


def called(*words, code=0):
    done = CliRunner().invoke(commands, [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_the_command_writes_the_run_and_tells_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in QUERIES.items())
    )
    (tmp_path / "query.json").write_text(
        json.dumps({"query": {"match": {"text": {"query": "{query}"}}}, "size": "{depth}"})
    )
    with serving(lambda asked, _: lucene(SEARCH(asked.query, 10))) as server:
        words = (
            "run",
            "queries.tsv",
            "--engine",
            "opensearch",
            "--url",
            f"{server.url}/a",
            "--template",
            "query.json",
        )
        with pytest.warns(
            GainfulWarning, match="queries without documents are not in the file: 'q4'"
        ):
            done = called(*words, "-o", "bm25.run", "--tag", "bm25", "--header", "X-Tenant: acme")
        assert "bm25: 4 of 4 queries recorded, 1 with no document; 4 calls" in done.stderr
        assert server.requests[0].headers["X-Tenant"] == "acme"
        assert server.requests[0].body["size"] == 100
        called(*words, "-o", "all.json", "--cache", "kept.jsonl")
        called(*words, "-o", "again.json", "--cache", "kept.jsonl")
        assert len(server.requests) == 8
    lines = [line.split() for line in (tmp_path / "bm25.run").read_text().splitlines()]
    assert lines[0][:4] == ["q1", "Q0", next(iter(EXPECTED["q1"])), "1"]
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["documents"] == EXPECTED
    assert lines[0][5] != f"bm25-{found['request_hash'][:12]}"  # the header is another request
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "all.json", "bm25.run", "kept.jsonl", "queries.tsv", "query.json"]  # fmt: skip


def test_the_command_writes_no_run_where_a_query_failed(tmp_path, monkeypatch, clock):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY", KEY)
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in QUERIES.items())
    )

    def answer(asked, before):
        return echo(asked, before) if asked.query == "butter" else plain(SEARCH(asked.query, 10))

    with serving(answer) as server:
        words = [
            "run",
            "queries.tsv",
            "--url",
            f"{server.url}/?q={{query}}",
            "--ids",
            "hits[*].id",
            "-o",
            "x.csv",
            "--key-variable",
            "A_KEY",
        ]
        done = CliRunner().invoke(commands, words)
        assert "none to 1: q2" in str(done.exception)
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "queries.tsv",
            "x.csv.part.jsonl",
        ]
        done = called(*words, "--failed", "leave-out")
        assert len(server.requests) == 4 + 1
        assert "left out: query q2, 400 Bad Request" in done.stderr
        assert "x.csv.part.jsonl: run the command again" in done.stderr
        assert KEY not in done.output
        assert "q2" not in (tmp_path / "x.csv").read_text()
    assert all(KEY not in path.read_text() for path in tmp_path.iterdir())


PROJECT = """
[report]
queries = "texts/queries.tsv"

[run]
engine = "opensearch"
url = "{url}/a"
template = "texts/query.json"
headers = ["X-Tenant: acme", "X-Token: ${{A_KEY}}"]
depth = 7
concurrency = 2
per-second = 1000.0
timeout = 5
retries = 0
tag = "ours"
"""


def test_a_project_names_the_service(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAINFUL_TRUST", "1")
    monkeypatch.setenv("A_KEY", KEY)
    Path("texts").mkdir()
    Path("texts/queries.tsv").write_text("q1\tbread\nq2\tbutter\n")
    template = {"query": {"match": {"text": {"query": "{query}"}}}, "size": "{depth}"}
    Path("texts/query.json").write_text(json.dumps(template))
    Path("mine.py").write_text("def search(text):\n    return [text]\n")
    with serving(lambda asked, _: lucene(SEARCH(asked.query, 10))) as server:
        Path("gainful.toml").write_text(PROJECT.format(url=server.url))
        done = called("run", "-o", "x.run")
        (first, second) = server.requests
        assert {first.query, second.query} == {"bread", "butter"}
        assert (first.body["size"], first.path) == (7, "/a/_search")
        assert (first.headers["X-Tenant"], first.headers["X-Token"]) == ("acme", KEY)
        assert done.stderr.endswith(
            f"gainful.toml: queries, engine=opensearch, url={server.url}/a, template, headers, depth=7, "
            "concurrency=2, per_second=1000, timeout=5, retries=0, tag=ours\n"
        )
        assert "ours: 2 of 2 queries recorded" in done.stderr
        # What is typed counts before the file, and takes away what belongs to another service.
        called("run", "texts/queries.tsv", "--depth", "3", "-o", "x.run")
        assert server.requests[-1].body["size"] == 3
        called("run", "--engine", "elasticsearch", "-o", "x.run")
        assert "multi_match" in server.requests[-1].body["query"]
        called("run", "--command", "cat", "-o", "x.run")
        called("run", "--call", "mine:search", "-o", "x.run")
        assert Path("x.run").read_text().startswith("q1 Q0 bread 1 7.0 ours-")
        assert len(server.requests) == 6
        done = called("config")
        assert KEY not in done.output
    Path("gainful.toml").write_text("[run]\nengine = 'lucene'\n")
    assert "run.engine: expected elasticsearch or" in str(refused("run", "texts/queries.tsv"))
    Path("gainful.toml").write_text("judgments = 'j'\n")
    assert "Missing argument 'QUERIES'" in called("run", "--command", "cat", code=2).output


def refused(*words):
    done = CliRunner().invoke(commands, words)
    assert done.exit_code
    return f"{done.output} {done.exception}"


@pytest.mark.parametrize(
    "setting",
    [
        f'url = "http://h/?q={{query}}&api_key={KEY}"',
        f'url = "http://u:{KEY}@h/?q={{query}}"',
        f'url = "postgresql://u:{KEY}@h/d"',
        f'headers = ["X-Api-Key: {KEY}"]',
    ],
)
def test_a_project_holds_no_key(setting, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\n")
    Path("gainful.toml").write_text(f"[run]\n{setting}\n")
    for words in (["config"], ["run", "queries.tsv"], ["measures"]):
        told = refused(*words) if words != ["measures"] else called(*words).output
        assert KEY not in told
    assert "environment variable" in refused("config")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (f'headers = {{"X-Api-Key" = "{KEY}"}}', "a string or a list of strings, found dict"),
        (f'headers = [["X-Api-Key", "{KEY}"]]', "a string or a list of strings, found list"),
        (f'url = ["http://h/?key={KEY}"]', "a string, found list"),
        (f'key_variable = {{name = "{KEY}"}}', "a string, found dict"),
        (f'command = ["curl", "{KEY}"]', "a string, found list"),
    ],
)
def test_a_project_shows_no_value_that_may_hold_a_key(setting, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\n")
    Path("gainful.toml").write_text(f"[run]\n{setting}\n")
    for words in (["config"], ["run", "queries.tsv"]):
        told = refused(*words)
        assert expected in told
        assert KEY not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--url", "http://h", "--command", "x"], "exactly one of --url, --call and --command"),
        ([], "exactly one of --url, --call and --command"),
        (["--command", "cat", "-o", "queries.tsv"], "is one of the inputs"),
        (["--command", "cat", "-o", "x.run", "--cache", "x.run"], "a file of its own"),
        (
            ["--url", "http://h/{query}", "--ids", "[*]", "--header", KEY],
            "--header takes NAME:VALUE",
        ),
    ],
)
def test_what_the_command_refuses(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.tsv").write_text("q1\tbread\n")
    done = called("run", "queries.tsv", *words, code=2)
    assert message in done.output
    assert KEY not in done.output


@pytest.mark.parametrize("name", ["x.md", "x.html", "x.tex", "x.qrels", "x", "x.gz", "x.md.gz"])
def test_an_ending_that_is_no_run_is_refused_before_the_first_call(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\n")
    words = ["run", "queries.tsv", "--command", "sh -c 'touch called; echo d'", "-o", name]
    refused = CliRunner().invoke(commands, words).exception
    assert "a name whose ending implies the format" in str(refused)
    assert not Path("called").exists()
    called(*words, "--format", "csv")
    assert Path("called").exists()


@pytest.mark.parametrize(
    "name", ["x.RUN", "x.trec", "x.txt", "x.csv.gz", "x.jsonl", "x.parquet", "x.json"]
)
def test_an_ending_of_a_run_tells_its_format(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\n")
    called("run", "queries.tsv", "--command", "cat", "-o", name)
    if name != "x.json":
        assert gf.evaluate({"q1": {"bread": 1}}, name, "RR").means == {"RR": 1.0}


def test_what_a_function_prints_or_ends_is_no_part_of_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tbread\nq2\ttyres\n")
    Path("noisy.py").write_text(
        "import sys\nprint('loading')\n\n\ndef search(text):\n    print('asked for', text)\n"
        "    return [text] if text == 'bread' else sys.exit(3)\n"
    )
    words = ["run", "queries.tsv", "--call", "noisy:search"]
    done = called(*words, "--failed", "leave-out")
    (line,) = done.stdout.splitlines()
    assert line.startswith("q1 Q0 bread 1 100.0 search-")
    assert "loading" in done.stderr
    assert "asked for tyres" in done.stderr
    assert "left out: query q2, SystemExit: 3" in done.stderr
    assert "none to 1: q2 (SystemExit: 3)" in refused(*words)


@pytest.mark.parametrize("name", ["X-Auth", "X-Session", "x-auth-request", "Authorization"])
def test_headers_whose_names_promise_a_key_take_none_literally(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="found the key itself") as caught:
        gf.record({"q": "x"}, url="http://h/?q={query}", ids="[*]", headers={name: KEY})
    assert KEY not in str(caught.value)
    Path("gainful.toml").write_text(f"[run]\nheaders = ['{name}: {KEY}']\n")
    told = refused("config")
    assert "found the key itself" in told
    assert KEY not in told


def test_the_queries_of_a_project_have_their_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gainful.toml").write_text("[run]\nqueries = 'queries.tsv'\n")
    assert "Write it in the table [report] or [watch]." in refused("run", "--command", "cat")


def test_the_commands_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    blocks = {kind: re.search(rf"^```{kind}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1] for kind in ("sh", "json")}  # fmt: skip
    Path("query.json").write_text(blocks["json"])
    Path("queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in ANSWERED.items())
    )
    Path("judgments.qrels").write_text("q1 0 d2 1\nq2 0 d4 1\nq3 0 d3 1\n")
    with serving(
        lambda asked, _: lucene(SEARCH(asked.body["query"]["match"]["body"], 10))
    ) as server:
        for line in blocks["sh"].replace("http://localhost:9200", server.url).splitlines():
            program, *words = shlex.split(line)
            assert program == "gainful"
            done = called(*words)
        assert {each.path for each in server.requests} == {"/articles/_search"}
        assert server.requests[0].body["_source"] is False
    assert "3 queries. 57% of the top 10" in done.output


def test_the_command_knows_the_engines():
    from gainful.cli.option_table import _ENGINES
    from gainful.integrations.recording.engine_table import ENGINES as TABLE

    assert (*TABLE, "postgresql") == _ENGINES
    assert {*ENGINES} == {*TABLE}
    page = PAGE.read_text()
    for name, engine in TABLE.items():
        assert f"| `{name}` | `{engine.address}` |" in page
