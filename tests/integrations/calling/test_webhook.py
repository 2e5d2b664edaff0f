"""`Webhook`: what is posted, when it is tried again, and that its address is never shown."""

import json

import pytest

import gainful as gf
from gainful.integrations.calling import webhook as webhook_module
from hook_server import PATH, hook_server

FIELDS = {
    "paragraph": 'nDCG@10 0.4120 "low"\nµ',
    "result": "failed",
    "details": {"runs": [{"run": "bm25"}]},
}
SECRETS = ("SECRETPATH", "SECRETTOKEN", "127.0.0.1")


class QuickClock:
    """Waits no time, and notes how long it would have."""

    def __init__(self):
        self.waits = []

    def sleep(self, seconds, _):
        self.waits.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    found = QuickClock()
    monkeypatch.setattr(webhook_module, "CLOCK", found)
    return found


@pytest.fixture
def to(monkeypatch):
    """Return a function that makes a webhook to an address."""

    def webhook(url, template=None, **options):
        monkeypatch.setenv("HOOK", url)
        return gf.history.Webhook("HOOK", template, **options)

    return webhook


def test_the_template_is_posted_as_json(to):
    template = {
        "text": "{result}: {paragraph}",
        "{result}": ["{label}", 3, None, True],
        "data": "{details}",
        "inside": "data {details}",
        "kept": "${result} {{result}} {not a place}",
    }
    with hook_server() as server:
        to(server.url, template).send(FIELDS)
    ((path, headers, body),) = server.requests
    assert path == PATH
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(body) == {
        "text": f"failed: {FIELDS['paragraph']}",
        "{result}": ["", 3, None, True],
        "data": FIELDS["details"],
        "inside": 'data {"runs": [{"run": "bm25"}]}',
        "kept": "${result} {{result}} {not a place}",
    }


def test_a_template_may_be_text_or_a_file(to, tmp_path):
    text = '{"content": "{paragraph}"}'
    path = tmp_path / "template.json"
    path.write_text(text)
    for template in (text, path, str(path), json.loads(text)):
        body = to("https://chat.example.com/x", template).body(FIELDS)
        assert json.loads(body) == {"content": FIELDS["paragraph"]}
    default = to("https://chat.example.com/x").body({"title": "gainful watch: failed", **FIELDS})
    assert json.loads(default) == {"text": f"gainful watch: failed. {FIELDS['paragraph']}"}


def test_the_places_are_the_fields_of_a_result(tmp_path, to):
    judgments = {f"q{at}": {"a": 1} for at in range(12)}
    run = {query: {"a": 0.5} for query in judgments}
    watched = gf.history.watch(tmp_path / "h", judgments, {"bm25": run}, "RR", label="1.0")
    assert tuple(watched.fields()) == webhook_module.FIELDS
    template = {name: f"{{{name}}}" for name in webhook_module.FIELDS}
    body = json.loads(to("https://chat.example.com/x", template).body(watched))
    assert body["details"] == json.loads(watched.to_json())
    assert (body["runs"], body["label"], body["result"]) == ("bm25", "1.0", "passed")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_it_is_tried_again_after_1_2_and_4_seconds(to, clock, status):
    with hook_server(status, status, status) as server:
        to(server.url).send(FIELDS)
    assert len(server.requests) == 4
    assert clock.waits == [1, 2, 4]


def test_the_server_may_ask_for_more_time_up_to_a_minute(to, clock):
    with hook_server(429, headers=[("Retry-After", "7")]) as server:
        to(server.url).send(FIELDS)
    with hook_server(429, headers=[("Retry-After", "3600")]) as server:
        to(server.url).send(FIELDS)
    assert clock.waits == [7, 60]


@pytest.mark.parametrize(("statuses", "tries"), [((404,) * 9, 1), ((400,) * 9, 1), ((500,) * 9, 3)])
def test_a_failure_is_an_error_without_the_address(to, clock, statuses, tries):
    with hook_server(*statuses) as server, pytest.raises(gf.errors.GainfulError) as caught:
        to(server.url, retries=2).send(FIELDS)
    assert len(server.requests) == tries
    assert str(caught.value).startswith(f"webhook: expected an answer, found {statuses[0]}")
    assert not any(secret in str(caught.value) for secret in SECRETS)


def test_a_server_that_is_not_there_is_tried_again(to, clock):
    with hook_server() as server:
        url = server.url
    with pytest.raises(gf.errors.GainfulError, match="no connection") as caught:
        to(url).send(FIELDS)
    assert clock.waits == [1, 2, 4]
    assert not any(secret in str(caught.value) for secret in SECRETS)


@pytest.mark.parametrize(
    ("url", "template", "said"),
    [
        ("", None, "none that is set"),
        ("ftp://SECRETPATH/x", None, "another text"),
        ("https://me:SECRETTOKEN@host/x", None, "without a name and a password"),
        ("https://host/x", {"text": "{paragrah}"}, "Did you mean 'paragraph'"),
        ("https://host/x", [1], "a JSON object"),
        ("https://host/x", '{"text": ', "no JSON"),
        ("https://host/x", "none.json", "Check the path"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_sent(to, url, template, said):
    with pytest.raises(gf.errors.InputError, match=said) as caught:
        to(url, template)
    assert not any(secret in str(caught.value) for secret in SECRETS)


def test_its_repr_has_no_address(to):
    assert repr(to("https://chat.example.com/SECRETPATH", {"a": "{label}"})) == (
        'Webhook({"a": "{label}"})'
    )
