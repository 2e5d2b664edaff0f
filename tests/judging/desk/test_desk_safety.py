"""Attacks on the desk: each is refused in plain words, and changes nothing."""

import email
import http.client
import json
import socket
import time
from contextlib import ExitStack, suppress
from unittest.mock import Mock
from urllib.parse import quote, urlsplit

import pytest

import gainful as gf
from desk_server import HOSTILE, Client, desk, hostile_acts, study
from gainful.judging.desk import connection_limits, desk_server, web_app

INTERNAL = ("Traceback", "sqlite", "SELECT", "/src/", ".py", "token_hash")


@pytest.fixture(scope="module")
def running():
    with desk() as found:
        yield found


@pytest.fixture(scope="module")
def ann(running):
    return running.client("ann")


@pytest.fixture(scope="module")
def lead(running):
    return running.client("lea", "lead")


def quiet(answer):
    """Assert that an answer says what is wrong and nothing of what is inside."""
    assert not any(word in answer.text for word in INTERNAL), answer.text
    if answer.headers["Content-Type"] == "application/json":
        assert list(answer.json) == ["error"]
    return answer.status


def events(running):
    return len(list(running.study.record()))


def raw(running, sent, wait=10):
    """Return what comes back for bytes, until the desk ends the connection or has answered."""
    where = urlsplit(running.address)
    with socket.create_connection((where.hostname, where.port), timeout=wait) as line:
        line.sendall(sent)
        found = b""
        while part := line.recv(65536):
            found += part
            if b"\r\n\r\n" in found:
                break
    return found.partition(b"\r\n\r\n")[0].decode("latin-1")


def has_the_headers(headers):
    """Assert that each header of every answer is there once."""
    for name, value in web_app.RAW_HEADERS:
        assert headers.get_all(name.decode()) == [value.decode()]
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "server" not in headers


def headers_of(head):
    return email.message_from_string(head.partition("\r\n")[2])


METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"]
PATHS = [
    "/", "/lead", "/lead/", "/pages/", "/api/lead/", "/i/wrong", "/i/", "/pages/assessor.js", "/pages/none", "/api/me", "/api/next", "/api/act",
    "/api/lead/export", "/api/lead/record", "/api/lead/design", "/api/lead/progress", "/api/lead/settings",
    "/api/lead/reset", "/api/lead/none", "/api", "/nothing", "//", "/%2e%2e/", "/?x=1",
]  # fmt: skip


@pytest.mark.parametrize("who", ["nobody", "assessor", "lead"])
def test_every_answer_has_the_headers(who):
    with desk() as own:
        routes = {route.path for route in own.server._config.app._routes.routes}
        assert {path.split("{")[0] for path in routes} <= {*PATHS}  # those of a new route, too
        for path in PATHS:
            client = Client(own.address) if who == "nobody" else own.client("me", who)
            for method in METHODS:
                for headers in ({}, {"X-Desk": "1", "Content-Type": "application/json"}):
                    answer = client.ask(method, path, b"{}" if method == "POST" else None, headers)
                    has_the_headers(answer.headers)
                    assert answer.status < 500
                    assert answer.status != 405 or answer.headers["Allow"]
                    if answer.status >= 400 and method != "HEAD":
                        quiet(answer)


NO_REQUESTS = [
    b"GARBAGE\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n",
    b"POST /api/act HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("sent", NO_REQUESTS, ids=range(len(NO_REQUESTS)))
def test_what_is_no_request_is_refused_with_the_headers(running, sent):
    head = raw(running, sent)
    assert 400 <= int(head.split()[1]) < 500
    has_the_headers(headers_of(head))


HOSTS = [
    "", "[::1", "[::1]:x", "::1]", "[]", "[zz]", "[::1]evil", "[v1.x]", "localhost:99999", "localhost:-1", "localhost:abc",
    "localhost:1:2", "a@localhost", "localhost/evil", "localhost?x", "localhost#x", "evil.example", "localhost.evil.example",
    "127.0.0.1.evil.example", "\x7f", "ℓocalhost", "xn--", ".", "localhost%00", "[::1%25]", "localhost:\u0665",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_is_none_of_ours_is_refused(running, ann, host):
    for path in ("/", "/lead", "/api/me", "/i/wrong", "/pages/desk.css", "/nothing"):
        head = raw(
            running, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {ann.cookie}\r\n\r\n".encode()
        )
        assert head.split()[1] == "400", head
        has_the_headers(headers_of(head))


@pytest.mark.parametrize(
    "origin", [*HOSTS, "null", "http://[::1", "http://", "://", "http://[zz]:x/"]
)
def test_an_origin_that_is_none_of_ours_is_refused(running, ann, origin):
    netloc = urlsplit(running.address).netloc
    sent = f"POST /api/next HTTP/1.1\r\nHost: {netloc}\r\nCookie: {ann.cookie}\r\nX-Desk: 1\r\nOrigin: {origin}\r\n"
    head = raw(
        running, f"{sent}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    )
    assert head.split()[1] in ("400", "403"), head
    has_the_headers(headers_of(head))


def test_failures_outside_of_all_pages_have_the_headers(monkeypatch, logged):
    usual, calls = web_app._Desk._refusal, []

    def fails_once(self, problem, *, page):
        calls.append(1)
        if len(calls) % 2:
            raise RuntimeError("swordfish")
        return usual(self, problem, page=page)

    with desk() as own:
        monkeypatch.setattr(web_app._Desk, "_refusal", fails_once)
        for path in ("/nothing", "/api/me"):
            answer = Client(own.address).get(path)
            assert quiet(answer) == 500
            assert "swordfish" not in answer.text
            has_the_headers(answer.headers)
        monkeypatch.setattr(web_app, "_MOST_AT_ONCE", 0)
        for path in PATHS:
            answer = Client(own.address).get(path)
            assert answer.status == 503
            has_the_headers(answer.headers)


def test_pages_have_no_code_of_their_own():
    for path in web_app.PAGES.glob("*.html"):
        text = path.read_text()
        assert "<style" not in text
        assert " style=" not in text
        assert " on" not in "".join(part.partition(">")[0] for part in text.split("<")).replace(
            " one", ""
        )
        assert text.count("<script") == text.count('<script type="module" src="/pages/')
    for path in web_app.PAGES.glob("*.js"):
        text = path.read_text()
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert way not in text


def test_the_cookie_is_for_this_site_and_no_script(running):
    answer = Client(running.address).get(urlsplit(running.link("kim")).path)
    cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"desk{urlsplit(running.address).port}=" in cookie


def test_who_has_no_link_sees_nothing(running):
    stranger = Client(running.address)
    for path in (
        "/",
        "/lead",
        "/api/me",
        "/api/lead/progress",
        "/api/lead/export",
        "/api/lead/record",
    ):
        assert quiet(stranger.get(path)) == 401
    for path in ("/api/next", "/api/act", "/api/lead/invite"):
        assert quiet(stranger.post(path, {})) == 401


def test_forged_tokens_are_nobodys(running, ann):
    name, _, value = ann.cookie.partition("=")
    token, _, proof = value.partition(".")
    for forged in (
        token,
        f"{token}.",
        f"{token}.{'0' * 64}",
        f"{token[:-1]}{'a' if token[-1] != 'a' else 'b'}.{proof}",
        f"{'A' * 43}.{proof}",
        "' OR 1=1 --",
        f"{'x' * 5000}.{proof}",
        "\x7f\xff",
    ):
        client = Client(running.address, f"{name}={forged}")
        assert quiet(client.get("/api/me")) in (401, 429)
    assert ann.get("/api/me").status == 200


def test_wrong_links_are_slowed_down():
    with desk() as own:
        stranger = Client(own.address)
        found = [quiet(stranger.get(f"/i/{'A' * 40}{place:03}")) for place in range(30)]
        assert found[:5] == [404] * 5
        assert found[-1] == 429
        assert own.client("ann").get("/api/me").status == 200  # who has a right one goes on


@pytest.mark.parametrize("proxied", [False, True])
def test_who_asks_is_told_by_a_proxy_that_was_named_and_by_nobody_else(proxied):
    secret = "correct horse & battery"  # noqa: S105
    with desk(secret=secret, **({"behind_proxy": "127.0.0.1"} if proxied else {})) as own:
        stranger = Client(own.address)

        def wrong(place, **headers):
            return quiet(stranger.get(f"/i/{'A' * 40}{place:03}", **headers))

        forged = [wrong(place, **{"X-Forwarded-For": f"198.51.100.{place}"}) for place in range(30)]
        assert (429 in forged) is not proxied
        if proxied:
            same = [
                wrong(place, **{"X-Forwarded-For": f"198.51.100.{place}, 203.0.113.7"})
                for place in range(30)
            ]
            assert (
                same[-1] == 429
            )  # what a client has said itself stands before what the proxy says
        form = {"Content-Type": "application/x-www-form-urlencoded", "X-Forwarded-Proto": "https"}
        path = urlsplit(own.link("ann")).path
        if proxied:
            form["X-Forwarded-For"] = "192.0.2.1"
        answer = Client(own.address).ask("POST", path, f"secret={quote(secret)}".encode(), form)
        assert answer.status == 200
        assert ("; secure" in answer.headers["Set-Cookie"].lower()) is proxied


def test_a_proxy_is_an_address_and_needs_a_secret():
    with study() as made:
        for proxy in ("proxy.example", "", "*", "127.0.0.1:80"):
            with pytest.raises(gf.errors.InputError, match="behind_proxy: expected the address"):
                desk_server.DeskServer(made, port=0, behind_proxy=proxy, secret="x" * 12)
        with pytest.raises(gf.errors.InputError, match="behind_proxy: expected a secret"):
            desk_server.DeskServer(made, port=0, behind_proxy="127.0.0.1")


def test_an_invitation_that_was_taken_back_ends_at_once(running):
    client = running.client("gone")
    assert client.get("/api/me").status == 200
    running.study.revoke("gone")
    assert quiet(client.get("/api/me")) == 401
    assert quiet(client.post("/api/next", {"count": 1})) == 401


def test_an_assessor_is_no_lead(running, ann):
    for path in (
        "/lead",
        *(
            f"/api/lead/{name}"
            for name in (
                "progress",
                "standing",
                "agreement",
                "disputed",
                "export",
                "record",
                "none",
            )
        ),
    ):
        assert quiet(ann.get(path)) == 403
    for name in ("invite", "revoke", "adjudicate", "guideline"):
        assert quiet(ann.post(f"/api/lead/{name}", {"name": "eve", "role": "lead"})) == 403
    assert all(each.name != "eve" for each in running.study.people)


def test_an_assessor_sees_nothing_of_others(running, ann):
    bob = running.client("bob")
    task = bob.post("/api/next", {"count": 1}).json["tasks"][0]
    assert bob.act(
        {"key": "b1", "item": task["item"], "kind": "grade", "grade": 2, "note": "of bob"}
    )["confirmed"]
    event = next(each.id for each in running.study.record() if each.assessor == "bob")
    for told in (ann.get("/api/me").text, ann.post("/api/next", {"count": 50}).text):
        assert "bob" not in told
        assert f'"item":{task["item"]},' not in told
        assert "rank" not in told
        assert '"old"' not in told
    before = events(running)
    refused = ann.act({"key": "a9", "kind": "undo", "event": event})["refused"]
    assert [each["key"] for each in refused] == ["a9"]
    again = ann.act(
        {"key": "b1", "item": task["item"], "kind": "grade", "grade": 0}
    )  # bob's key, bob's document
    assert again["confirmed"] == []
    assert events(running) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"X-Desk": None},
    ],
)
def test_posts_of_other_sites_are_refused(running, ann, headers):
    task = ann.post("/api/next", {"count": 1}).json["tasks"][0]
    sent = {"Content-Type": "application/json", "X-Desk": "1", **headers}
    sent = {name: value for name, value in sent.items() if value is not None}
    body = f'{{"acts": [{{"key": "x", "item": {task["item"]}, "kind": "grade", "grade": 3}}]}}'
    before = events(running)
    assert quiet(ann.ask("POST", "/api/act", body.encode(), sent)) in (403, 415)
    assert events(running) == before


def test_other_sites_read_nothing(running, ann):
    assert quiet(ann.get("/api/me", **{"Sec-Fetch-Site": "cross-site"})) == 403
    assert ann.get("/api/me", **{"Sec-Fetch-Site": "same-origin"}).status == 200
    assert "Access-Control-Allow-Origin" not in ann.get("/api/me").headers


def test_a_name_that_points_here_is_not_ours(running, ann):
    assert quiet(ann.get("/api/me", Host="evil.example")) == 400
    assert ann.get("/api/me", Host=f"localhost:{urlsplit(running.address).port}").status in (
        200,
        401,
    )


def test_bodies_are_limited(running, ann):
    before = events(running)
    assert quiet(ann.post("/api/act", b"[" * 200_000)) == 400
    assert quiet(ann.post("/api/act", b"{" + b" " * 1_100_000 + b"}")) == 413
    assert quiet(ann.post("/api/act", {"acts": [{}] * 1000})) == 400
    assert quiet(ann.post("/api/act", b'"acts"')) == 400
    assert quiet(ann.post("/api/act", b"\xff\xfe")) == 400
    assert quiet(ann.post("/api/next", {"count": -1})) == 400
    assert len(ann.post("/api/next", {"count": 10**9}).json["tasks"]) <= 100
    assert events(running) == before


BAD = [
    {},
    {"kind": "adjudicate"},
    {"kind": "grade"},
    {"kind": "grade", "grade": "3"},
    {"kind": "grade", "grade": 7},
    {"kind": "grade", "grade": 1e999},
    {"kind": "grade", "grade": True},
    {"kind": "grade", "grade": 1, "item": "1"},
    {"kind": "grade", "grade": 1, "item": 10**30},
    {"kind": "grade", "grade": 1, "note": "x" * 5000},
    {"kind": "grade", "grade": 1, "note": ["x"]},
    {"kind": "grade", "grade": 1, "tags": "off topic"},
    {"kind": "grade", "grade": 1, "tags": ["x"] * 50},
    {"kind": "cannot", "why": "dull"},
    {"kind": ["grade"], "grade": 1},
    {"kind": "undo", "event": "1"},
    {"kind": "undo", "event": 10**30},
    {"kind": "grade", "grade": 1, "guideline": "1"},
    {"kind": "grade", "grade": 1, "guideline": 1},  # there is none
    {"kind": "grade", "grade": 1, "guideline": -1},
    {"kind": "later", "guideline": 10**30},
    {"kind": "undo", "guideline": True},
]


def test_wrong_acts_are_refused_one_by_one(running, ann):
    item = ann.post("/api/next", {"count": 1}).json["tasks"][0]["item"]
    acts = [{"key": f"bad-{place}", "item": item, **bad} for place, bad in enumerate(BAD)]
    right = {"key": "right", "item": item, "kind": "grade", "grade": 1, "ms": -5, "position": "x"}
    answer = ann.post("/api/act", {"acts": [*acts, None, {"key": 3}, right]})
    assert answer.status == 200, answer.text
    assert [each["key"] for each in answer.json["confirmed"]] == ["right"]
    assert len(answer.json["refused"]) == len(BAD) + 2
    assert not any(word in answer.text for word in INTERNAL), answer.text
    assert ann.act({"key": "back", "kind": "undo"})["confirmed"]


def test_hostile_acts_leave_those_beside_them_alone():
    with desk() as own:
        client = own.client("ann")
        first, second = client.post("/api/next", {"count": 2}).json["tasks"]
        acts = hostile_acts(first["item"])
        for start in range(0, len(acts), 40):
            some = acts[start : start + 40]
            right = [
                {"key": f"{start} {end}", "item": second["item"], "kind": "grade", "grade": 2}
                for end in "ab"
            ]
            sent = [json.dumps(right[0]), *some, json.dumps(right[1])]
            answer = client.post("/api/act", f'{{"acts": [{", ".join(sent)}]}}'.encode())
            assert answer.status == 200, answer.text
            assert not any(word in answer.text for word in INTERNAL), answer.text
            confirmed = [each["key"] for each in answer.json["confirmed"]]
            assert {each["key"] for each in right} <= {*confirmed}
            assert len(confirmed) + len(answer.json["refused"]) == len(sent)
            assert not any(key.startswith(("grade", "item")) for key in confirmed)


@pytest.mark.parametrize(
    ("what", "usual"),
    [
        ("adjudicate", {"item": 1, "grade": 2, "key": "k", "guideline": 0}),
        ("unsettle", {"item": 1, "key": "k", "guideline": 0}),
        ("settings", {"overlap": 1, "overlap_share": 1, "title": "t", "order": "rank", "measure": "nDCG@10", "tags": ["a"], "compare": [], "show_ranks": False}),
        ("grades", {"grades": [{"value": 0, "word": "w", "key": "z"}]}),
        ("reset", {"assessor": "lea", "query": "q0", "before_guideline": 1, "count": 0, "key": "k"}),
        ("guideline", {"text": "t", "version": 0}),
        ("invite", {"name": "n", "role": "assessor"}),
        ("revoke", {"name": "n"}),
        ("import", {"name": "n", "role": "model", "grades": {"name": "a.csv", "content": ""}}),
        ("practice", {"answers": {"name": "a.csv", "content": ""}}),
    ],
)  # fmt: skip
def test_hostile_values_of_a_lead_are_refused_in_plain_words(what, usual):
    with desk() as own:
        client = own.client("lea", "lead")
        texts = {name: json.dumps(value) for name, value in usual.items()}
        if what == "grades":
            row = {name: json.dumps(value) for name, value in usual["grades"][0].items()}
            bodies = [
                {
                    "grades": f"[{{{', '.join(f'{chr(34)}{n}{chr(34)}: {v}' for n, v in (row | {name: value}).items())}}}]"
                }
                for name in row
                for value in HOSTILE
            ]
        else:
            bodies = [texts | {name: value} for name in texts for value in HOSTILE]
        for body in bodies:
            sent = ", ".join(f'"{name}": {value}' for name, value in body.items())
            answer = client.post(f"/api/lead/{what}", f"{{{sent}}}".encode())
            if answer.status == 429:
                time.sleep(0.5)
                answer = client.post(f"/api/lead/{what}", f"{{{sent}}}".encode())
            assert answer.status in (200, 400, 409), (sent[:300], answer.text)
            assert not any(word in answer.text for word in INTERNAL), answer.text


def test_many_requests_are_slowed_down(running, ann):
    hasty = running.client("hasty")
    found = next(answer for _ in range(2000) if (answer := hasty.get("/api/me")).status != 200)
    assert quiet(found) == 429
    assert int(found.headers["Retry-After"]) > 0
    assert ann.get("/api/me").status == 200  # others go on


def test_a_slow_body_is_cut_off(monkeypatch, running, ann):
    monkeypatch.setattr(web_app, "_SLOWEST_BODY", 0.3)
    where = urlsplit(running.address)
    head = (
        f"POST /api/act HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: {ann.cookie}\r\nX-Desk: 1\r\n"
    )
    with socket.create_connection((where.hostname, where.port), timeout=10) as slow:
        slow.sendall(
            f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode()
        )
        assert slow.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_slow_head_is_cut_off(monkeypatch):
    monkeypatch.setattr(connection_limits, "_HEAD_WITHIN", 0.4)
    with desk() as own:
        where = urlsplit(own.address)
        begun = time.monotonic()
        with socket.create_connection((where.hostname, where.port), timeout=10) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\n")
            assert slow.recv(1000) == b""
        assert 0.3 < time.monotonic() - begun < 5
        # One that asks now and then is kept, until it stops in the middle of a head.
        connection = http.client.HTTPConnection(where.netloc, timeout=10)
        connection.connect()
        kept = connection.sock
        for _ in range(8):
            connection.request("GET", "/api/me")
            assert connection.getresponse().read()
            time.sleep(0.1)
        assert connection.sock is kept
        kept.sendall(b"GET / HT")
        assert kept.recv(1000) == b""
        connection.close()


def test_a_body_that_drips_after_its_refusal_is_cut_off(monkeypatch):
    monkeypatch.setattr(connection_limits, "_HEAD_WITHIN", 0.4)
    with desk() as own:
        where = urlsplit(own.address)
        begun = time.monotonic()
        with socket.create_connection((where.hostname, where.port), timeout=10) as slow:
            slow.sendall(
                f"POST /api/act HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 1000\r\n\r\n".encode()
            )
            assert slow.recv(20).startswith(b"HTTP/1.1 403")
            with suppress(OSError):  # whichever error tells that it has ended
                while time.monotonic() - begun < 10:
                    slow.sendall(b"x")
                    time.sleep(0.05)
        assert time.monotonic() - begun < 5


CROWDS = {
    "nothing": b"",
    "a part of a head": b"GET / HTTP/1.1\r\nHost: x",
    "an answered request": b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a request whose body does not come": b"POST /api/act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
}


@pytest.mark.parametrize("sent", CROWDS.values(), ids=CROWDS)
def test_a_crowd_of_slow_connections_keeps_nobody_out(monkeypatch, sent):
    monkeypatch.setattr(connection_limits, "_MOST", 30)
    with desk() as own, ExitStack() as open_ones:
        ann, where = own.client("ann"), urlsplit(own.address)
        kept = http.client.HTTPConnection(where.netloc, timeout=10)
        open_ones.callback(kept.close)
        kept.request("GET", "/api/me", headers={"Cookie": ann.cookie})
        assert kept.getresponse().read()
        mine = kept.sock
        for turn in range(4):
            for _ in range(25):
                slow = open_ones.enter_context(
                    socket.create_connection((where.hostname, where.port), timeout=10)
                )
                slow.sendall(sent)
            assert own.client(f"bob{turn}").get("/api/me").status == 200
            assert ann.post("/api/next", {"count": 1}).status == 200
            if b"\r\n\r\n" not in sent:  # who has asked something stays, before those who have not
                kept.request("GET", "/api/me", headers={"Cookie": ann.cookie})
                assert kept.getresponse().read()
                assert kept.sock is mine
        assert len(own.server._server.server_state.connections) <= 31


def test_who_makes_room_is_of_the_address_with_most_connections():
    def connection(address, has_asked, since):
        found = connection_limits.Connection.__new__(connection_limits.Connection)
        found.client, found.has_asked, found.waiting_since = (address, 1), has_asked, since
        found.connections, found.transport = every, Mock()
        every.add(found)
        return found

    every = set()
    alone = connection("192.0.2.1", False, 0.0)
    answered = connection("192.0.2.9", True, None)
    crowd = [
        connection("192.0.2.9", asked, since)
        for asked, since in ((True, 1.0), (False, 5.0), (False, 3.0))
    ]
    newest = connection("192.0.2.2", False, 9.0)
    gone = []
    while len(every) > 2:
        before = {*every}
        newest._make_room()
        [lost] = before - every
        lost.transport.abort.assert_called_once_with()
        gone.append(lost)
    assert gone == [crowd[2], crowd[1], alone, crowd[0]]
    newest._make_room()
    assert every == {newest, answered}  # all others are being answered


def test_files_are_those_of_the_pages(ann):
    for name in (
        "..%2fweb_app.py",
        "%2e%2e/web_app.py",
        "assessor.html",
        "none.js",
        "../web_app.py",
    ):
        assert quiet(ann.get(f"/pages/{name}")) == 404


def test_other_addresses_need_a_secret():
    with study() as made:
        for host in ("192.0.2.1", "::", "192.168.1.2", "desk.example"):
            with pytest.raises(gf.errors.InputError, match="a secret, because other machines"):
                desk_server.DeskServer(made, host=host, port=0)
        with pytest.raises(gf.errors.InputError, match="at least 12 characters"):
            desk_server.DeskServer(made, host="192.0.2.1", port=0, secret="short")  # noqa: S106


def test_the_secret_is_asked_for_besides_the_link():
    secret = "correct horse & battery"  # noqa: S105
    with desk(secret=secret) as own:
        path = urlsplit(own.link("ann")).path
        client = Client(own.address)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.get(path).headers.get("Set-Cookie") is None
        assert quiet(client.ask("POST", path, b"secret=wrong", form)) == 403
        assert quiet(client.ask("POST", path, b"", form)) == 403
        right = f"secret={quote(secret)}".encode()
        assert (
            quiet(client.ask("POST", path, right, {**form, "Origin": "http://evil.example"})) == 403
        )
        # The token alone makes no cookie, nor does another secret's proof.
        name = f"desk{urlsplit(own.address).port}"
        assert quiet(Client(own.address, f"{name}={path[3:]}").get("/api/me")) == 401
        assert client.ask("POST", path, right, {**form, "Origin": own.address}).status == 200
        assert client.get("/api/me").json["name"] == "ann"


def test_a_failure_says_nothing_of_itself(running, ann, monkeypatch, logged):
    def fails(*_):
        raise RuntimeError("the password is swordfish, see /src/gainful/judging/desk/store.py")

    monkeypatch.setattr(running.study, "assessor", fails)
    answer = ann.post("/api/next", {"count": 1})
    assert quiet(answer) == 500
    assert "swordfish" not in answer.text
    assert "saved in this browser" in answer.json["error"]
    assert "swordfish" in "\n".join(logged)


def test_a_lead_makes_links_and_shows_nobodys_token(running, lead):
    made = lead.post("/api/lead/invite", {"name": "new one"}).json
    assert Client(running.address).get(made["path"]).status == 200
    assert made["path"][3:] not in lead.get("/api/lead/progress").text
    for wrong in (
        {},
        {"name": ""},
        {"name": 3},
        {"name": "x" * 1000},
        {"name": "y", "role": "king"},
    ):
        assert quiet(lead.post("/api/lead/invite", wrong)) == 400
    assert quiet(lead.post("/api/lead/revoke", {"name": "lea"})) == 400
    assert lead.post("/api/lead/revoke", {"name": "new one"}).status == 200
    assert Client(running.address).get(made["path"]).status in (404, 429)
