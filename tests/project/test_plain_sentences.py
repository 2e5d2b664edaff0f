"""The pages and the docstrings of what is public have plain sentences: at most 25 words.

Counted are the words of the running text, written by hand or generated: paragraphs, list items, headings. Code,
tables, comments and the targets of links are left out. What stands in code, a name or a formula, is one word, and
what has a line of its own there is none. In a formula that is not in code, each part between blanks is a word.
"""

import ast
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from public_names import APART, places, public_names

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
    assert long_sentences(page.read_text(encoding="utf-8")) == []


def docstrings():
    """Return the docstrings of public places, of what is there, and of the methods of public classes, by name."""
    found = {**places(), **public_names()}
    for name, public in [*found.items()]:
        if isinstance(public, type):
            for part, member in vars(public).items():
                if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                    found[f"{name}.{part}"] = member
    return {name: text for name, each in found.items() if (text := inspect.getdoc(each))}


DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def written(module):
    """Return the docstrings of a module and of what it offers, as they are in its source: hosts may be missing."""
    tree = source(module)
    found = {module: ast.get_docstring(tree)}
    for name in ast.literal_eval(value_of("__all__", tree)):
        inside = f"{module}.{name}"
        found |= written(inside) if module == "gainful.integrations" else written_of(name, module)
    return {name: text for name, text in found.items() if text}


def written_of(name, module):
    """Return the docstrings of a name, of a class with those of its methods."""
    tree = source(module)
    for each in ast.walk(tree):
        if isinstance(each, ast.ImportFrom) and name in {alias.name for alias in each.names}:
            return written_of(name, each.module)
        if isinstance(each, DEFINITIONS) and each.name == name:
            methods = each.body if isinstance(each, ast.ClassDef) else ()
            parts = {
                f"{module}.{name}.{part.name}": ast.get_docstring(part)
                for part in methods
                if isinstance(part, DEFINITIONS) and not re.match("_(?!_init__)", part.name)
            }
            return {f"{module}.{name}": ast.get_docstring(each), **parts}
    value_of(name, tree)
    return {}  # a table, which has no docstring of its own


def source(module):
    return ast.parse(Path(find_spec(module).origin).read_text(encoding="utf-8"))


def value_of(name, tree):
    """Return what a module assigns to a name."""
    (found,) = (
        each.value
        for each in tree.body
        if isinstance(each, ast.Assign | ast.AnnAssign)
        and ast.unparse(each.targets[0] if isinstance(each, ast.Assign) else each.target) == name
    )
    return found


def prose(docstring):
    """Return a docstring as a page: without its examples, each argument a paragraph of its own."""
    text = re.sub(r"^ *>>> .*?(?=^ *$|\Z)", "", docstring, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(Args|Returns|Raises|Attributes|Yields):$", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?= {4}[*\w]+: )", "\n", text, flags=re.MULTILINE)


def long_ones(docstrings):
    found = {name: long_sentences(prose(text)) for name, text in docstrings.items()}
    return {name: each for name, each in found.items() if each}


def test_sentences_of_docstrings_are_short():
    found = docstrings()
    assert len(found) > 300
    assert long_ones(found) == {}


# Where each of the public places that are read from their source is.
IN_SOURCE = {
    "compat": "gainful.compat",
    "integrations": "gainful.integrations",
    "losses": "gainful.tensors.losses",
    "metrics": "gainful.tensors.metrics",
}


def test_sentences_of_losses_and_metrics_and_of_adapters_are_short():
    assert set(IN_SOURCE) == set(APART)
    found = {name: text for module in IN_SOURCE.values() for name, text in written(module).items()}
    assert len(found) > 100
    assert {
        "gainful.integrations.ragas.RankingMetric",
        "gainful.compat.pytrec_eval.RelevanceEvaluator.evaluate",
        "gainful.tensors.losses.torch_module.Loss",
    } < set(found)
    assert long_ones(found) == {}


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
        f"<!-- generated: names -->\n{LONG}\n<!-- end -->",
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
