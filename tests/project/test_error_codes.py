"""Programs branch on the codes of errors and warnings: texts are for people."""

import ast
import pickle
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import gainful as gf
from gainful.errors import CODES, warn

SOURCE = Path(gf.__file__).parent
TEXTS = {"expected", "found", "remedy", "message"}  # of errors, faults and findings
ERRORS = {"problem", "fault", "error", "warning", "refusal"}  # how variables of them are called
SEARCHES = {
    "startswith", "endswith", "find", "index", "count", "search", "match", "fullmatch", "partition",
}  # fmt: skip
PASSING = {
    "strip",
    "lower",
    "upper",
    "casefold",
    "replace",
    "removeprefix",
    "removesuffix",
    "split",
    "format",
}
OURS = frozenset(gf.errors.__all__)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
CODED = {"code", "usual_code"}


@cache
def modules() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
    }


def own_errors(nodes: list[ast.AST]) -> set[str]:
    """Return how a function calls errors of ours: those that it catches, and its arguments."""
    names = set()
    for node in nodes:
        match node:
            case ast.ExceptHandler(name=str(name), type=ast.AST() as kind) if is_ours(kind):
                names.add(name)
            case ast.arg(arg=name, annotation=ast.AST() as kind) if is_ours(kind):
                names.add(name)
    return names


def is_ours(kind: ast.AST) -> bool:
    """Whether a type names an error of gainful; the texts of other libraries may be all that they say."""
    return any(
        getattr(node, "id", getattr(node, "attr", getattr(node, "value", None))) in OURS
        for node in ast.walk(kind)
        if isinstance(node, ast.Name | ast.Attribute | ast.Constant)
    )


def is_text_of_an_error(node: ast.AST, ours: set[str]) -> bool:
    """Whether a node is a text of an error, such as `problem.remedy`, `str(problem)` or `f"{problem}"`."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in TEXTS:
            return name in ERRORS | ours
        case (
            ast.Attribute(value=ast.Name(id=name), attr="args")
            | ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)])
            | ast.FormattedValue(value=ast.Name(id=name))
        ):
            return name in ours
    return False


def parts_of(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or a module in order, without those of functions inside."""
    waiting = [*ast.iter_child_nodes(function)][::-1]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, FUNCTIONS):
            yield node
            waiting += [*ast.iter_child_nodes(node)][::-1]


def steering(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that compare, search or convert a text of an error, or a variable that was made of one."""
    for function in [tree, *(node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))]:
        nodes = list(parts_of(function))
        ours, texts = own_errors(nodes), set[str]()
        if not any(is_text_of_an_error(node, ours) for node in nodes):
            continue

        def has_text(node: ast.AST, ours: set[str] = ours, texts: set[str] = texts) -> bool:
            return any(
                is_text_of_an_error(part, ours) or (isinstance(part, ast.Name) and part.id in texts)
                for part in ast.walk(node)
            )

        for node in nodes:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.NamedExpr(target=ast.Name(id=name), value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ) if is_plain(value) and has_text(value):
                    texts.add(name)
        for node in nodes:
            match node:
                case ast.Compare(left=left, comparators=others):
                    if any(is_plain(one) and has_text(one) for one in [left, *others]):
                        yield node.lineno
                case ast.Match(subject=subject) if is_plain(subject) and has_text(subject):
                    yield node.lineno
                case ast.Call(func=ast.Attribute(attr=attr) as called) if attr in SEARCHES:
                    if any(map(has_text, [called.value, *node.args])):
                        yield node.lineno
                case ast.Call(func=ast.Name(id="float" | "int"), args=values):
                    if any(map(has_text, values)):
                        yield node.lineno


def is_plain(node: ast.AST) -> bool:
    """Whether a node passes a text on, rather than handing it to a function that makes something else of it."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr")):
            return True
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in PASSING
        case ast.Call():
            return False
    return True


def test_no_code_looks_into_the_text_of_an_error():
    lines = [f"{name}:{line}" for name, tree in modules().items() for line in steering(tree)]
    assert lines == []


@pytest.mark.parametrize(
    "line",
    [
        "if 'judgments' in problem.remedy: pass",
        "fault.expected.startswith('a finite')",
        "float(fault.found.strip())",
        "re.search('x', problem.found)",
        "try: pass\nexcept InputError as problem: print('x' in str(problem))",
        "try: pass\nexcept (ValueError, gf.errors.InputError) as trouble: print(f'{trouble}' == 'x')",
        "def is_x(problem: GainfulError): return problem.args[0].lower() == 'x'",
        "text = problem.remedy; text.endswith('x')",
        "if (text := problem.remedy) and 'x' in text: pass",
        "match problem.found:\n    case 'none': pass",
    ],
)
def test_what_looks_into_a_text_is_seen(line):
    assert len([*steering(ast.parse(line))]) == 1


@pytest.mark.parametrize(
    "line",
    [
        "if problem.remedy: pass",
        "text = f'{problem.where}: {problem.remedy}'",
        "if problem.code == 'rows.fields': pass",
        "try: pass\nexcept duckdb.Error as problem: print('x' in str(problem))",
        "raise InputError(problem.where, problem.expected, problem.found) from problem",
    ],
)
def test_what_only_shows_a_text_is_not(line):
    assert [*steering(ast.parse(line))] == []


def codes_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts in whatever is given or compared as a code."""
    for node in ast.walk(tree):
        coded: list[ast.AST] = []
        match node:
            case ast.keyword(arg="code", value=value):
                coded = [value]
            case ast.Assign(
                targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value
            ) if name in CODED:
                coded = [value]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.AST() as value) if name in CODED:
                coded = [value]
            case ast.Compare(left=ast.Attribute(attr="code"), comparators=coded):
                pass
            case ast.Call(func=ast.Name(id="warn"), args=[_, value]):
                coded = [value]
            case ast.arguments():
                coded = list(node.defaults)
        for part in coded:
            for inner in ast.walk(part):
                match inner:
                    case ast.Constant(value=str(text)) if "." in text and " " not in text:
                        yield text


def test_every_code_in_use_is_in_the_table_and_the_other_way_round():
    prefixes = {code.partition(".")[0] for code in CODES}
    used = {code for tree in modules().values() for code in codes_of(tree)}
    used = {code for code in used if code.partition(".")[0] in prefixes}
    raised = (SOURCE / "errors.py").read_text(encoding="utf-8")
    used |= {code for code in CODES if raised.count(f'"{code}"') > 1}
    assert used == {*CODES}


def test_codes_are_stable_words_with_a_sentence():
    for code, meaning in CODES.items():
        assert code.replace(".", "").replace("-", "").isalpha()
        assert code.islower()
        assert meaning.endswith(".")
    assert [*CODES] == sorted(CODES)


CAUSES = {
    "file.not-found": lambda: gf.evaluate("nowhere.qrels", {"q": {"a": 1.0}}),
    "input.disjoint": lambda: gf.evaluate({"q": {"a": 1}}, {"p": {"a": 1.0}}),
    "measure.invalid": lambda: gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "nDGC"),
    "policy.invalid": lambda: gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, policy={"ties": "x"}),
    "policy.refused": lambda: gf.evaluate(
        {"q": {"a": 1}, "p": {"a": 1}}, {"q": {"a": 1.0}}, policy={"missing": "error"}
    ),
    "rows.not-finite": lambda: gf.evaluate({"q": {"a": 1}}, {"q": {"a": float("nan")}}),
    "study.missing": lambda: gf.judging.Study("nowhere.db"),
}


@pytest.mark.parametrize("code", CAUSES)
def test_an_error_has_its_code(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gf.errors.GainfulError) as caught:
        CAUSES[code]()
    problem = caught.value
    assert problem.code == code
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    assert (again.code, str(again)) == (code, str(problem))
    assert problem.at("elsewhere").code == problem.with_remedy("None.").code == code


FILES = {
    "rows.fields": ("a.qrels", "q1 0 d1 1\nq1 0 d2\n", "run"),
    "rows.duplicate": ("a.qrels", "q1 0 d1 1\nq1 0 d1 1\n", "run"),
    "rows.not-finite": ("a.qrels", "q1 0 d1 1e999\n", "run"),
    "rows.grade-word": ("a.qrels", "q1 0 d1 high\n", "run"),
    "rows.no-column": ("a.csv", "query,passage,grade\nq1,d1,1\n", "run"),
    "input.swapped": ("a.run", "q1 Q0 d1 1 0.5 tag\n", "run"),
}


@pytest.mark.parametrize("code", FILES)
def test_an_error_about_a_file_has_its_code(code, tmp_path):
    name, text, _ = FILES[code]
    (tmp_path / name).write_text(text)
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(tmp_path / name, {"q1": {"d1": 1.0}})
    assert caught.value.code == code


def test_a_missing_column_is_the_subject(tmp_path):
    (tmp_path / "a.csv").write_text("query,doc,grade\nq1,d1,1\n")
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(tmp_path / "a.csv", {"q1": {"d1": 1.0}}, columns={"judgments.grade": "label"})
    assert (caught.value.code, caught.value.subject) == ("rows.no-such-column", "label")


def test_a_warning_has_its_code():
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        gf.evaluate({"q": {"a": 1, "b": -1}}, {"q": {"a": 1.0}})
    assert [one.message.code for one in seen] == ["judgments.marked-unjudged"]


def test_a_warning_without_a_code_is_of_the_usual_one():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn("many ties.")
    assert seen[0].message.code == "input.doubtful"
