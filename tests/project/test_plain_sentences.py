"""The pages and the docstrings of what is public have plain sentences: at most 25 words.

Counted are the words of the running text: paragraphs, list items, headings. Code, tables, comments and the
targets of links are left out; a name in code is one word.
"""

import inspect
import re
from pathlib import Path

import pytest

from public_names import public_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST = 25
# The changelog is for looking things up. The pages of the API are made of docstrings, which are held below.
PAGES = sorted(DOCS.rglob("*.md"))
PAGES += [ROOT / name for name in ("CONTRIBUTING.md", "README.md")]
PAGES += [ROOT / folder / "README.md" for folder in ("examples", "vectors")]


def blocks(text):
    """Yield the paragraphs, list items and headings of a page."""
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)  # its front matter
    # What is generated is reference: definitions as the catalogues have them.
    text = re.sub(r"<!-- generated: .*?<!-- end -->", "\n", text, flags=re.DOTALL)
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<(style|script|svg)\b.*?</\1>", "\n", text, flags=re.DOTALL)
    block = []
    for line in [*text.splitlines(), ""]:
        starts = re.match(r" *(#+|[-*+]|\d+[.)]|:|>+|!!!|\?\?\?\+?|===) +", line)
        table = re.match(r" *\|.*\| *$", line)
        if block and (starts or table or not line.strip()):
            yield " ".join(block)
            block = []
        if not table and (words := line[starts.end() if starts else 0 :].strip()):
            block.append(words)
            if line.startswith("#"):
                yield block.pop()


def sentences(block):
    """Return the sentences of a block without its markup."""
    block = re.sub(r"``.+?``|`[^`]*`", "code", block)
    block = re.sub(r"!\[[^]]*\](\([^)]*\)|\[[^]]*\])", "", block)  # a picture is not read aloud
    block = re.sub(r"\[([^]]*)\](\([^)]*\)|\[[^]]*\])(\{[^}]*\})?", r"\1", block)
    block = re.sub(r"</?\w[^>]*>|[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", block)
    block = re.sub(r"\b(e\.g|i\.e|et al|cf|vs|vol)\.", r"\1", block)
    return re.split(r"(?<=[.!?])[\"”’)»]*\s+", block)


def words(sentence):
    """Return the words of a sentence: what has a letter or a digit in it."""
    return [word for word in sentence.split() if re.search(r"\w", word)]


def long_sentences(text):
    return [
        sentence
        for block in blocks(text)
        for sentence in sentences(block)
        if len(words(sentence)) > MOST
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short(page):
    text = page.read_text(encoding="utf-8")
    if page.parent.name == "commands":  # what is generated there is the help, which is for reading
        text = text.replace("<!-- generated: ", "<!-- ")
    assert long_sentences(text) == []


# Formulas, with what each letter stands for.
FORMULAS = ("the precision at its rank k is 1/k", "with n documents of gains g")


def docstrings():
    """Return the docstrings of what is public, and of the methods of public classes, by name."""
    found = dict(public_names())
    for name, public in [*found.items()]:
        if isinstance(public, type):
            for part, member in vars(public).items():
                if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                    found[f"{name}.{part}"] = member
    return {name: text for name, each in found.items() if (text := inspect.getdoc(each))}


def prose(docstring):
    """Return a docstring as a page: without its examples, each argument a paragraph of its own."""
    text = re.sub(r"^ *>>> .*?(?=^ *$|\Z)", "", docstring, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(Args|Returns|Raises|Attributes|Yields):$", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?= {4}[*\w]+: )", "\n", text, flags=re.MULTILINE)


def test_sentences_of_docstrings_are_short():
    found = {
        name: [
            each for each in long_sentences(prose(text)) if not each.lower().startswith(FORMULAS)
        ]
        for name, text in docstrings().items()
    }
    assert len(found) > 300
    assert {name: each for name, each in found.items() if each} == {}


def test_there_are_pages():
    assert len(PAGES) > 130
    assert {DOCS / "start.md", DOCS / "hosts" / "mteb.md", ROOT / "README.md"} < set(PAGES)


LONG = "word " * MOST + "end."
SHORT = "word " * (MOST - 1) + "end."


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        f"# {LONG}",
        f"- {SHORT}\n- {LONG}",
        f"{SHORT} {LONG}",
        f"| a | b |\n|---|---|\n| c | d |\n{LONG}",
        "[" + "word " * MOST + "end](page.md).",
        f"```sh\n{LONG}\n```\n{LONG}",
        "word " * 20 + "\n" + "word " * 6,
        f"!!! note\n    {LONG}",
    ],
)
def test_long_ones_are_found(text):
    assert len(long_sentences(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        SHORT,
        f"{SHORT} {SHORT}",
        f"- {SHORT}\n- {SHORT}\n\n1. {SHORT}\n2. {SHORT}",
        f"# {SHORT}\n{SHORT}",
        f"```python\n{LONG}\n```\n{SHORT}",
        f"| {LONG} | {LONG} |\n{SHORT}",
        f"{SHORT[:-1]}? “{SHORT}” ({SHORT}) {SHORT}",
        "word " * 22 + f"[link](https://a.b/{'-'.join(['c'] * 30)}) `{LONG}` end.",
        f"<!-- {LONG} -->",
        f"{SHORT[:-1]} — end.".replace("word ", "", 1),
    ],
)
def test_short_ones_and_what_is_no_text_are_not(text):
    assert long_sentences(text) == []
