"""What the documentation shows is what happens."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import pytest

import gainful as gf
from every_case import assert_every_case
from heavy_hosts import HEAVY, HEAVY_PAGES

pytestmark = pytest.mark.documentation

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "gainful" / "cli" / "demo_files"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The pages of heavy hosts are run in tests/hosts/, where these are installed; those for users of other
# tools, with their tables, in test_coming_from.py; the cookbook in test_measure_cookbook.py.
RUN_HERE = [
    page
    for page in PAGES
    if page.parent.name != "coming_from"
    and (page.parent.name != "hosts" or page.stem not in HEAVY_PAGES)
    and page.stem != "measure_cookbook"
]
# Kernels for a GPU, and what launches them, need a compiler that PyTorch for CPUs does not bring.
ELSEWHERE = re.compile(r"__main__$|\.fused\.|\.fused_\w+$")
MODULES = ["gainful"] + [
    module.name
    for module in pkgutil.walk_packages(gf.__path__, "gainful.")
    if not ELSEWHERE.search(module.name)
    and module.name not in {f"gainful.integrations.{host}" for host in HEAVY}
]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page, language):
    """Yield the code blocks of a page in a language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def folder_of(module):
    """The folder of the package that a module is in, or the module where it is in none."""
    return module.split(".")[1] if "." in module else module


@pytest.mark.parametrize("folder", dict.fromkeys(map(folder_of, MODULES)))
def test_examples_in_docstrings(folder):
    def check(name):
        module = importlib.import_module(name)
        if ">>>" in Path(module.__file__).read_text():
            failed, tried = doctest.testmod(module, optionflags=FLAGS)
            assert failed == 0
            assert tried

    assert_every_case(check, [name for name in MODULES if folder_of(name) == folder])


def name_of(page):
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def is_about_the_demo(page):
    """Return whether the examples of a page are in the folder that `gainful demo` makes."""
    return "cd gainful-demo\n" in page.read_text()


def test_the_first_pages_are_about_the_demo():
    first = [ROOT / name for name in ("README.md", "docs/index.md", "docs/start.md")]
    assert {page for page in PAGES if is_about_the_demo(page)} >= {*first}


@pytest.mark.parametrize("page", RUN_HERE, ids=name_of)
def test_python_on_the_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files, and read the examples
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if is_about_the_demo(page):
        shutil.copytree(DEMO, tmp_path, dirs_exist_ok=True)
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried or not list(blocks(page, "python"))


@pytest.mark.parametrize("choice", gf.comparison.comparison_choices())
def test_every_choice_of_a_comparison_is_on_its_pages(choice):
    guides = ROOT / "docs" / "guides"
    pages = ("comparing", "comparing_statistics", "slices_and_gates", "means_that_hold")
    page = "".join((guides / f"{name}.md").read_text() for name in pages)
    for name in gf.comparison.comparison_choices()[choice]:
        assert f"`{name}`" in page or f'"{name}"' in page


def shown_calls():
    for page in PAGES:
        for block in blocks(page, "console"):
            for call in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, printed = call.partition("\n")
                folder = DEMO if is_about_the_demo(page) else ROOT
                yield pytest.param(folder, command, printed, id=f"{name_of(page)}: {command[:40]}")


@pytest.mark.parametrize(("folder", "command", "printed"), list(shown_calls()))
def test_commands_on_the_page(folder, command, printed, cli, monkeypatch):
    program, *arguments = shlex.split(command)
    assert program == "gainful"
    monkeypatch.chdir(folder)
    done = cli(*arguments)
    if "--fail-if" in arguments:  # what a gate decides goes to standard error
        assert done.returncode == printed.count("Gate failed\n"), done.stderr
        assert (done.stdout + done.stderr).strip() == printed.strip()
        return
    # A page may also show a check that fails; bad input and usage are never meant.
    assert done.returncode in ((0, 1) if arguments[0] == "check" else (0,)), done.stderr
    assert done.stdout.rstrip() == printed.rstrip()


def test_there_are_commands_and_examples_to_test():
    assert len(list(shown_calls())) >= 2
    assert sum(len(list(blocks(page, "python"))) for page in PAGES) >= 8


def test_generated_parts_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    pages = [page for page in PAGES if "<!-- generated:" in page.read_text()]
    assert pages
    used = {
        name for page in pages for name in re.findall(r"<!-- generated: (\w+)", page.read_text())
    }
    assert used == {*generate.PARTS}
    for page in pages:
        assert generate.renewed(page.read_text()) == page.read_text(), "run `make docs`"
    pictures = generate.policy_pictures
    api = generate.api_pages.pages()
    for path, text in {**generate.stubs(), **pictures.pictures(), **api}.items():
        assert text == path.read_text(), "run `make docs`"
    configuration = (ROOT / "mkdocs.yml").read_text()
    assert generate.renewed_navigation(configuration) == configuration, "run `make docs`"
    for choice in gf.measures.choices():  # each answer has its row
        grade = ["1"] if choice.grade else []
        assert [*pictures.CASES[choice.name].boxes] == [*choice.answers, *grade]


def test_every_public_name_is_on_one_page_of_the_api(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import api_pages

    pages = [page for task in api_pages.TASKS.values() for page in task]
    assert pages[0].title == "evaluate"
    shown = [name for page in pages for name in page.names.split()]
    assert sorted(shown) == sorted(api_pages.every_name())
    assert len({page.file for page in pages}) == len(pages)


def without_code(page):
    """Return the text of a page without its blocks of code, where # and [ mean other things."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors_of(page):
    """Return the anchors of a page as GitHub makes them of its headings, and the site of its names.

    In lower case, with hyphens for blanks and without punctuation; the second of two equal
    ones ends in -1, the third in -2.
    """
    found = []
    described = re.findall(r"^::: (\S+)", page.read_text(), re.MULTILINE)
    for heading in re.findall(r"^#+ +(.+?) *$", without_code(page), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)  # of a link, what is shown
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = sum(other == anchor for other, _ in found)
        found.append((anchor, count))
    return {f"{anchor}-{count}" if count else anchor for anchor, count in found} | {*described}


def dead_links(page):
    """Return the links of a page to files or headings of this repository that are not there."""
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = page.parent / name if name else page
        if file.name == "playground.html" and anchor.startswith(("list=", "story=", "challenge=")):
            anchor = ""  # a list, which tests/playground/test_playground_links.py reads
        if not file.exists() or (anchor and anchor not in anchors_of(file)):
            dead.append(target)
    return dead


def test_every_page_has_its_place_on_the_site():
    """`make site` builds the pages and checks more; here, that none is left out or named in vain."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    named = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", nav, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:]}
    made = {"reference/changelog.md", "develop/contributing.md"}  # of files beside docs/
    home = {"index.md"}  # which is in no tab
    assert sorted(named) == sorted((pages | made) - home)


OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_links_lead_somewhere(page):
    assert dead_links(page) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text(
        "# What it's `for`, in short\n\n```sh\n# no heading\n```\n## Use\n## Use\n\n::: gainful.x\n"
    )
    good = [
        "other.md#gainful.x",
        "other.md",
        "other.md#what-its-for-in-short",
        "other.md#use-1",
        "#mine",
        "https://a.b/#c",
    ]
    bad = ["none.md", "other.md#no-heading", "other.md#use-2", "#use"]
    page.write_text("# Mine\n" + " ".join(f"[text]({target})" for target in [*good, *bad]))
    assert dead_links(page) == bad


def test_the_make_targets_that_the_readme_names_exist():
    targets = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert targets[:2] == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert (ROOT / ".ci" / "run").read_text().count("\nmake test\n") == 1


def test_every_error_has_its_entry():
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    sections = dict(
        part.partition("\n")[::2] for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    )
    assert {*gf.errors.__all__} - {"CODES", "GainfulError"} == {*sections} - {"Codes", "Usage"}
    for name in {*sections} - {"Codes", "Usage", "GainfulWarning"}:
        entries = re.split(r"^### ", sections[name], flags=re.MULTILINE)[1:]
        assert entries, name
        for entry in entries:
            title, _, text = entry.partition("\n")
            assert "*Meaning.*" in text, title
            assert "*Remedy.*" in text, title
            if "```python" in text:  # it is the message that it says it is
                assert title in text.replace(" (query iteration doc grade)", ""), title


def test_every_choice_of_a_policy_is_in_the_glossary():
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    named = set(re.findall(r"policy\.md#(\w+)", page))
    about_files = {"drop_self", "precision"}
    assert named == {choice.name for choice in gf.measures.choices()} - about_files


_SCORED = {"q": {f"d{place}": 19.5 - place / 4 for place in range(20)}}
_POSITIONAL = 3  # arguments of evaluate
WARNED = {
    "no retrieved document is judged": ({"q": {"a": 1}}, {"q": {"x": 1.0}}),
    "the grade −1, the only negative one": ({"q": {"a": 1, "b": -1}}, {"q": {"a": 1.0}}),
    "the grades look like ratings": (
        {"q": {"a": 1, "b": 3, "c": 5}},
        {"q": {"a": 0.3, "b": 0.2}},
        "R@10",
    ),
    "counts each query by the size of its ideal": (
        {f"q{at}": {"a": 100 if at == 0 else 1} for at in range(12)},
        {f"q{at}": {"a": 0.5} for at in range(12)},
        "DCG@10",
    ),
    "the grades have fractions, and all scores are whole numbers": (
        _SCORED,
        {"q": {"d1": 1, "d2": 0}},
    ),
    "this looks like two runs without judgments": (_SCORED, {**_SCORED}),
    "judgments and run are the same": (_SCORED, _SCORED),
    "each row counts as grade 1, and the column": (
        [
            {"user": "q", "item": "a", "event": "click"},
            {"user": "q", "item": "b", "event": "purchase"},
        ],
        {"q": {"a": 1.0}},
    ),
    "documents are identified by their texts": (
        [{"input": "q", "context": ["a"], "retrieval_context": ["a"]}],
        {"q": ["a"]},
    ),
    "a query needs any one of several documents": (
        [{"qid": "q", "query": "…", "retrieval_gt": [["a", "b"]]}],
        {"q": ["a"]},
    ),
    "several times in the documents": (
        {"q": ["one"]},
        {"q": [("d", 0, 3)]},
        "evidence_recall",
        {"offsets": "characters", "documents": {"d": "one and one"}},
    ),
    "so they look like ranks": ({"q": {"a": 1}}, {"q": {"a": 1, "b": 2, "c": 3}}),
    "are not contiguous. Predictions are matched with labels by position": (
        "labels",
        "predictions",
    ),
    "all lists of the run are empty": ({"q": {"a": 1}}, {"q": []}),
}


@pytest.mark.filterwarnings("always::gainful.errors.GainfulWarning")
def test_the_warnings_of_the_page_are_those_that_are_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("labels").write_text("1 qid:1 1:0\n0 qid:2 1:0\n0 qid:1 1:0\n")
    Path("predictions").write_text("0.5\n0.25\n0.125\n")
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    rows = re.findall(r"^\| (.+?) \|", page.partition("## GainfulWarning")[2], re.MULTILINE)
    assert [row for row in rows if row != "warning"] == [*WARNED]
    for text, given in WARNED.items():
        options = given[-1] if len(given) > _POSITIONAL else {}
        with pytest.warns(gf.errors.GainfulWarning, match=re.escape(text)):
            gf.evaluate(*given[:_POSITIONAL], **options)


def test_the_boxes_of_a_policy_are_what_is_measured(monkeypatch):
    """Where an answer changes the list alone, its boxes have the value that stands beside them."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    import policy_pictures

    seen = 0
    for name in ("ties", "unjudged", "absent", "negative", "duplicates", "fold", "precision"):
        case = policy_pictures.CASES[name]
        (judged,) = case.judgments.values()
        ideal = gf.idcg([*judged.values()], k=3)
        for answer, boxes, value in policy_pictures.rows_of(name):
            if value == "error" or answer in ("average", "both") or (answer == "1"):
                continue  # no list, several, or another ideal
            signs = [box.split()[-1] for box in boxes.split("|")]
            grades = [float(sign) if sign not in "?·" else 0.0 for sign in signs]
            assert f"{gf.dcg(grades, k=3) / ideal:.4f}" == value, (name, answer)
            seen += 1
    assert seen > 18
