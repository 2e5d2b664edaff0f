"""`page`: one document, whose policy allows what it holds and nothing else."""

import base64
import hashlib
import html
import re
from importlib import resources

import pytest

from gainful.errors import InputError
from gainful.reporting.page.compose import SCRIPTS, page
from page_data import payload_in

FOLDER = resources.files("gainful.reporting.page")


def sources(text, directive):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1])
    return next(part.split()[1:] for part in policy.split("; ") if part.startswith(directive))


def hashes(elements):
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in elements
    ]


@pytest.mark.parametrize("name", ["cooking", "hostile"])
def test_the_policy_has_the_hash_of_every_script_and_style(reports, name):
    text = reports(name).html
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(scripts) == 2
    assert sources(text, "script-src") == hashes(scripts)
    assert sources(text, "style-src") == hashes(styles)


@pytest.mark.parametrize("name", ["cooking", "hostile", "bare"])
def test_the_data_come_through_unchanged(reports, name):
    case = reports(name)
    assert payload_in(case.html) == case.payload


def test_nothing_is_fetched_from_elsewhere(reports):
    text = re.sub(r"<script>.*?</script>", "", reports("cooking").html, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:,", "#main"]


def test_half_of_a_pair_of_surrogates_can_be_written(reports):
    payload = {**reports("bare").payload, "notes": ["\ud83d"]}
    text = page(payload)
    text.encode()
    assert payload_in(text)["notes"] == ["\ud83d"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "expected a payload of format 1, found 2"),
        ({"notes": [float("nan")]}, "expected plain, finite values"),
        ({"notes": [{1, 2}]}, "expected plain, finite values"),
    ],
)
def test_what_is_no_payload_is_refused(reports, change, message):
    with pytest.raises(InputError, match=message):
        page({**reports("bare").payload, **change})


def test_scripts_are_small_complete_and_parse_no_markup():
    names = [file.name for file in FOLDER.iterdir() if file.name.endswith(".js")]
    assert sorted((*SCRIPTS, "history.js")) == sorted(
        names
    )  # the page of a history has one of its own
    for name in names:
        text = FOLDER.joinpath(name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 300, name
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, (name, word)
