"""What the playground does with documents and links: moves, round trips, refusals, and the page that is built."""

import gzip
import html
import importlib.util
import re

import pytest
from playground_states import chosen, documents, drawn

from node_program import PLAYGROUND


def builder():
    spec = importlib.util.spec_from_file_location("build_playground", PLAYGROUND / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_built_from_its_parts():
    build = builder()
    page = build.PAGE.read_text(encoding="utf-8")
    assert page == build.built(), "run `python docs/playground/build.py`"
    # One file that loads nothing: it links to pages, and has no address of a script, a style or a picture.
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"@import|url\(|\bfetch\b|XMLHttpRequest|WebSocket", page)
    assert not re.search(r"\bsrc=", markup)
    assert re.findall(r'<link [^>]*href="([^"]*)"', page) == ["data:,"]
    assert not re.search(r"^\s*(import|export) ", page, re.MULTILINE)


def test_its_links_lead_to_pages_of_the_site(ask):
    page = builder().PAGE.read_text("utf-8")
    links = re.findall(r'<a href="\.\./([^"]+)\.html"', page)
    (story,) = ask([["STORY"]])
    assert len(links) == 6
    assert len(story) == 5  # as its heading says
    for link in (*links, *(step["more"][0] for step in story)):
        assert (PLAYGROUND.parent / f"{link}.md").is_file(), link
    (preview,) = re.findall(r'property="og:image" content="\.\./([^"]+)"', page)
    assert (PLAYGROUND.parent / preview).is_file()


def test_its_script_is_as_small_as_the_documentation_says():
    (script,) = re.findall(
        r"<script[^>]*>(.*)</script>", builder().PAGE.read_text("utf-8"), re.DOTALL
    )
    size = len(script.encode())
    assert f"without a framework: {size / 1000:.0f} kB, or less than 16 kB compressed." in (
        PLAYGROUND / "index.md"
    ).read_text("utf-8")
    assert len(gzip.compress(script.encode(), 9)) < 16_000


def test_the_names_of_the_parts_do_not_meet():
    """The scripts are one in the page, so a name is declared in one of them only."""
    declared = [
        set(
            re.findall(
                r"^(?:export )?(?:const|let|function|async function) (\w+)", part, re.MULTILINE
            )
        )
        for part in ((PLAYGROUND / name).read_text(encoding="utf-8") for name in builder().SCRIPTS)
    ]
    assert len(set.union(*declared)) == sum(map(len, declared))


def test_a_link_holds_the_whole_state(ask):
    rng = drawn(6)
    states = [documents(rng) | chosen(rng) for _ in range(200)]
    links = ask([["toLink", state] for state in states])
    assert ask([["fromLink", link] for link in links]) == states
    assert len(set(links)) == len(states)
    assert all(
        re.fullmatch(r"[\w=,~&.()-]+", link) for link in links
    )  # no character that a mail would break


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("", "“” is not a choice"),
        ("list=", "“” is not a document"),
        ("rest=A1", "it has no list"),
        ("list=A1&gain=exp3", "“gain=exp3” is not a choice"),
        ("list=A1&gain=toString", "“gain=toString” is not a choice"),
        ("list=A1&constructor=1", "“constructor=1” is not a choice"),
        ("list=A1&__proto__=1", "“__proto__=1” is not a choice"),
        ("list=A1&list=B1", "“list” appears twice"),
        ("list=A1,A2", "a document appears twice"),
        ("list=A1&rest=A2", "a document appears twice"),
        ("list=A1,b2", "“,b2” is not a document"),
        ("list=A1,B", "“,B” is not a document"),
        ("list=A1,B1e5", "“,B1e5” is not a document"),
        ("list=A99", "grade 99 is not from −10 to 30"),
        ("list=A-11", "grade -11 is not from −10 to 30"),
        ("list=<img src=x onerror=alert(1)>", "“<img src” is not a document"),
        ("list=" + ",".join(f"{letter}1" for letter in "ABCDEFGHIJKLMNOPQ"), "it has more than 16 documents"),
        ("x" * 100_000, f"“{'x' * 40}” is not a choice"),
    ],
)  # fmt: skip
def test_a_broken_link_is_told(ask, link, reason):
    (found,) = ask([["fromLink", link]])
    assert str(found) == f"Error: {reason}"


@pytest.mark.parametrize(
    ("before", "doc", "place", "after"),
    [
        ("list=A1,B2,C3", "C", 0, "list=C3,A1,B2"),
        ("list=A1,B2,C3", "A", 9, "list=B2,C3&rest=A1"),
        ("list=A1,B2&rest=C3", "C", 1, "list=A1,C3,B2"),
        ("list=A1,B2&rest=C3", "B", 1, "list=A1,B2&rest=C3"),
        ("list=A1,B2&rest=C3", "B", 2, "list=A1&rest=B2,C3"),
        ("list=A1", "A", 1, "list=A1"),  # a list is never without a document
        ("list=A1~B2,C3", "C", 1, "list=A1~C3~B2"),  # between equal scores there is but one score
        ("list=A1~B2,C3", "C", 0, "list=C3,A1~B2"),
        ("list=A1~B2~C3", "A", 2, "list=B2~C3,A1"),
        ("list=A1~B2~C3", "B", 0, "list=B2,A1~C3"),
        ("list=A1~B2", "A", 1, "list=B2,A1"),
        ("list=A1~B2,C3", "A", 2, "list=B2,C3,A1"),
        ("list=A1,B2~C3", "B", 3, "list=A1,C3&rest=B2"),
    ],
)
def test_moves(of_link, ask, before, doc, place, after):
    state = of_link(before)
    (found,) = ask([["moved", state, doc, place]])
    assert ask([["toLink", found]]) == [after]


def test_the_links_of_the_documentation_can_be_read(ask):
    pages = [*PLAYGROUND.parent.rglob("*.md"), *PLAYGROUND.parent.parent.glob("*.md")]
    links = [
        link
        for page in pages
        for link in re.findall(r"playground\.html#(list=[^)\s]+)\)", page.read_text("utf-8"))
    ]
    assert len(links) >= 7
    assert (
        ask([["toLink", state] for state in ask([["fromLink", link] for link in links])]) == links
    )
    page = html.unescape((PLAYGROUND / "page.html").read_text("utf-8"))
    examples = re.findall(r'<option value="(list=[^"]+)"', page)
    assert len(examples) == 7
    assert {*examples} <= {*links}
