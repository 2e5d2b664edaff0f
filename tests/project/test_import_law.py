"""Who may import whom, and what `import gainful` loads."""

import ast
import functools
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import gainful
from every_case import assert_every_case

pytestmark = pytest.mark.import_law

PACKAGE = Path(__file__).parents[2] / "src" / "gainful"

# Each layer, and the layers of the package that it may import, besides those that are for all.
FOR_ALL = {"errors", "message_texts", "arguments", "array_types"}
# By this the package gives its public places their names.
OFFER = "_offer"
LAW = {
    "errors": set(),
    "results": set(),
    "message_texts": set(),
    "arguments": set(),
    "array_types": set(),
    "version": set(),
    "measures": set(),
    "arithmetic": set(),
    "rows": {"arithmetic"},
    "matching": {"arithmetic", "measures", "rows"},
    "output": {"arithmetic", "matching", "measures", "rows"},
    "training": {"arithmetic", "measures"},
    "evaluation": {"arithmetic", "matching", "measures", "output", "rows", "version"},
    "integrations": {"arithmetic", "gainful", "matching", "measures", "output", "rows"},
    "analysis": {"arithmetic", "evaluation", "matching", "measures", "output", "rows", "version"},
    "behaviour": {"arithmetic", "gainful", "matching", "measures", "output", "rows"},
    "compat": {
        "analysis",
        "arithmetic",
        "evaluation",
        "matching",
        "measures",
        "output",
        "rows",
    },
    "judging": {
        "analysis",
        "arithmetic",
        "behaviour",
        "evaluation",
        "gainful",
        "integrations",
        "matching",
        "measures",
        "output",
        "rows",
    },
    "reporting": {
        "analysis",
        "arithmetic",
        "behaviour",
        "evaluation",
        "judging",
        "matching",
        "measures",
        "output",
        "rows",
        "version",
    },
    "cli": {"gainful", "integrations", "judging", "output"},
    "__main__": {"cli"},
}
# What each room may import from outside the standard library.
OUTSIDE = {
    "array_types": {"numpy"},
    "arithmetic": {"numpy", "scipy"},
    "rows": {
        "numpy",
        "duckdb",
        "backports",
        "compression",
        "deltalake",
        "fsspec",
        "hudi",
        "psycopg",
        "pyarrow",
        "pyiceberg",
        "pyspark",
    },
    "matching": {"numpy", "pyarrow", "pyspark"},
    "output": {
        "numpy",
        "duckdb",
        "backports",
        "compression",
        "rich",
        "altair",
        "sqlglot",
        "vl_convert",
    },
    "evaluation": {"numpy", "pyarrow", "pyspark"},
    "analysis": {"numpy", "duckdb", "psycopg"},
    "behaviour": {"numpy"},
    "compat": {"numpy"},
    "judging": {"numpy", "psycopg", "starlette", "uvicorn", "h11"},
    "training": {"numpy", "array_api_compat", "torch", "jax", "triton"},
    "reporting": {"numpy", "jinja2", "vl_convert"},
    "integrations": {
        "numpy",
        "psycopg",
        "catboost",
        "deepeval",
        "haystack",
        "ir_datasets",
        "ir_measures",
        "langchain_core",
        "lightgbm",
        "llama_index",
        "mcp",
        "mcp_types",
        "mlflow",
        "pandas",
        "pytest",
        "ragas",
        "sentence_transformers",
        "sklearn",
        "torch",
        "torchmetrics",
        "xgboost",
    },
    "cli": {"click", "rich"},
}


KINDS = (ast.Import, ast.ImportFrom, ast.If, ast.With, ast.Call, ast.ClassDef)


@functools.cache
def nodes_of(source):
    """Return the nodes of a source that are looked at here, found in one walk through it."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, KINDS)]


def imports(path):
    """Yield the modules that a file imports, at any depth of it."""
    for node in nodes_of(path.read_text()):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "gainful":
                yield from (f"gainful.{name.name}" for name in node.names)
            else:
                yield node.module


def breaches(layer, modules):
    """Return the modules that a layer may not import."""
    allowed = LAW[layer] | FOR_ALL | {layer, OFFER}
    found = []
    for module in modules:
        head, *rest = module.split(".")
        if head == "gainful":
            target = rest[0] if rest else "gainful"
            if target not in allowed:
                found.append(module)
        elif head not in sys.stdlib_module_names and head not in OUTSIDE.get(layer, set()):
            found.append(module)
    return found


def layer_of(path):
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_the_architecture_page_has_this_table():
    page = PACKAGE.parents[1] / "docs" / "develop" / "architecture.md"
    rows = re.findall(r"^\| `(\w+)/` \| .* \| ([^|]*) \|$", page.read_text(), re.M)
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    found = {layer: {*names.split(", ")} - {"the standard library"} for layer, names in rows}
    assert found == {layer: LAW[layer] | OUTSIDE.get(layer, set()) for layer in folders}


def test_imports_go_one_way():
    def check(path):
        assert breaches(layer_of(path), imports(path)) == []

    assert_every_case(check, FILES)


def test_the_law_can_be_broken():
    assert breaches("measures", ["gainful.evaluation.scores", "numpy", "math"]) == [
        "gainful.evaluation.scores",
        "numpy",
    ]
    assert breaches("cli", ["gainful.reporting.render_any_result", "gainful", "click"]) == [
        "gainful.reporting.render_any_result"
    ]


def imported(source, modules):
    """Return those of some modules that a source imports, at any depth, but for type checkers.

    A public name, such as `gf.judging.pool`, stands for the module that defines it.
    """
    nodes, found = nodes_of(source), set()
    public = set()  # what the source calls the package
    typed = {
        inner
        for node in nodes
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node not in typed:
            names = {f"{node.module}.{name.name}" for name in node.names}
            found |= names & modules or {node.module} & modules
        elif isinstance(node, ast.Import) and node not in typed:
            found |= {name.name for name in node.names} & modules
            public |= {name.asname or name.name for name in node.names if name.name == "gainful"}
    for node in ast.walk(ast.parse(source)) if public else ():
        written = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        name, _, path = written.partition(".")
        if name in public:
            found |= {module_of(path)} & modules
    return found


def module_of(path):
    """Return the module that defines a public name, such as `judging.next_to_judge`; "" for others."""
    place, _, name = f"gainful.{path}".rpartition(".")
    return gainful._PLACES.get(place, {}).get(name, ("",))[0]


def in_circles(graph):
    """Return the modules that import themselves by way of others: what is left without its ends."""
    left = dict(graph)
    while ends := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in ends}
    while starts := left.keys() - {other for others in left.values() for other in others}:
        left = {name: others for name, others in left.items() if name not in starts}
    return sorted(left)


def test_no_imports_go_in_circles():
    places = {
        ".".join(("gainful", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in FILES
        if path.name != "__init__.py"
    }
    graph = {name: imported(path.read_text(), places.keys()) for name, path in places.items()}
    assert sum(map(len, graph.values())) > len(graph)
    assert in_circles(graph) == []


def test_a_circle_is_seen():
    source = "if TYPE_CHECKING:\n    from g.a import A\ndef f():\n    from g import b, c\n"
    assert imported(source, {"g.a", "g.b"}) == {"g.b"}
    assert imported("def f():\n    import g.a, g.b as b\n", {"g.a", "g.b"}) == {"g.a", "g.b"}
    public = "import gainful as gf\ngf.pool(gf.judging.Study)\n"
    modules = {
        "gainful.judging.pool",
        "gainful.judging.desk.study",
        "gainful.judging.bias_of_pools",
    }
    assert imported(public, modules) == modules - {"gainful.judging.bias_of_pools"}
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}) == []
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


def test_every_folder_has_its_law():
    assert {layer_of(path) for path in FILES} == set(LAW)


def test_files_are_named_after_what_they_hold():
    for path in FILES:
        assert path.stem not in {"utils", "util", "helpers", "common", "misc"}, path


def loaded_by(code):
    command = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


HEAVY = {
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "array_api_compat",
    "altair",
    "pyspark",
    "sklearn",
    "lightgbm",
    "xgboost",
    "catboost",
    "torchmetrics",
    "jax",
    "rich",
    "duckdb",
}


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import gainful") & {"numpy", *HEAVY} == set()
    places = "gf.results, gf.errors, gf.judging, gf.statistics, gf.writing, dir(gf.inputs), dir(gf.integrations)"
    assert loaded_by(f"import gainful as gf; {places}") & {"numpy", *HEAVY} == set()
    # The command line handles signals before what takes time is imported.
    assert loaded_by("import gainful.cli") & {"click", "numpy", *HEAVY} == set()
    assert "concurrent" not in loaded_by("import gainful; gainful.ndcg([1, 0])")


LAYERS = {
    "evaluation",
    "matching",
    "analysis.comparison",
    "analysis.explanation",
    "reporting",
    "judging.pool",
}
CALLS = """
import contextlib, io, sys
from gainful.cli.commands import commands
for words in {calls}:
    with contextlib.redirect_stdout(io.StringIO()):
        commands.main(words, standalone_mode=False)
print(*sys.modules)
"""


def loaded_by_commands(calls):
    """What commands import: the names of all modules."""
    code = CALLS.format(calls=calls)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def loaded_by_help(*commands):
    """What the help of commands imports: libraries, and folders of the package."""
    calls = [[each, "--help"] if each else ["--help"] for each in commands]
    parts = [name.removeprefix("gainful.").split(".") for name in loaded_by_commands(calls)]
    return {each[0] for each in parts} | {".".join(each[:2]) for each in parts}


def test_the_help_of_commands_loads_only_what_it_names():
    assert loaded_by_help("") & {"numpy", "rich", "measures", *LAYERS} == set()
    light = ("evaluate", "explain", "why", "check", "power", "measures", "dialects")
    assert loaded_by_help(*light) & {"numpy", *HEAVY, *LAYERS} == set()
    choices = LAYERS - {"analysis.comparison"}  # where the choices of a comparison are defined
    assert loaded_by_help("compare", "report", "pool", "convert") & {*HEAVY, *choices} == set()
    assert {"numpy", "arithmetic"} <= loaded_by_help("compare")  # so loading is seen


# What an evaluation of files needs only for another kind of input, or another format of output.
ELSEWHERE = {
    "gainful.rows.letor",
    "gainful.rows.nested_json",
    "gainful.rows.spark_frames",
    "gainful.rows.parquet_and_frame_tables",
    "gainful.arithmetic.kernels.swapped_arguments",
    "gainful.matching.spark.spark_input",
    "gainful.matching.array_matching",
    "gainful.measures.dialect_catalogue",
    "gainful.output.writing.table_files",
    "json",
}
OF_THE_ENGINE = {
    "duckdb",
    "gainful.matching.engine_rows",
}


def test_an_evaluation_loads_only_what_it_uses(tmp_path):
    for name in {*ELSEWHERE, *OF_THE_ENGINE} - {"json", "duckdb"}:
        assert find_spec(name) is not None, name
    cooking = PACKAGE.parents[1] / "examples" / "cooking"
    trec = loaded_by_commands(
        [["evaluate", str(cooking / "judgments.qrels"), str(cooking / "hybrid.run")]]
    )
    slow = {"hashlib", "html", "queue", "shutil", "tempfile"}
    assert trec & {*ELSEWHERE, *OF_THE_ENGINE, *slow} == set()
    assert "gainful.matching.input" in trec
    grades, scores = tmp_path / "grades.csv", tmp_path / "scores.csv"
    grades.write_text("query,doc,grade\n1,a,1\n")
    scores.write_text("query,doc,score\n1,a,0.5\n")
    table = loaded_by_commands([["evaluate", str(grades), str(scores)]])
    assert table & {*ELSEWHERE, *OF_THE_ENGINE} == set()
    lines = tmp_path / "scores.jsonl"
    lines.write_text('{"query": "1", "doc": "a", "score": 0.5}\n')
    assert loaded_by_commands([["evaluate", str(grades), str(lines)]]) & OF_THE_ENGINE == set()
    scores.write_text('query,doc,score\n1,"a\nb",0.5\n1,a,1\n')  # with a field that spans lines
    table = loaded_by_commands([["evaluate", str(grades), str(scores)]])
    assert table & ELSEWHERE == set()
    assert table >= OF_THE_ENGINE  # so loading is seen


def test_a_history_in_a_file_loads_no_database(tmp_path):
    def loaded_by_history(name):
        return loaded_by(
            f"import gainful as gf; path = {str(tmp_path / name)!r}; "
            "gf.history.add(path, gf.evaluate({'q': {'a': 1}}, {'q': {'a': 1}}, 'RR')); gf.history.page(path)"
        )

    assert "duckdb" not in loaded_by_history("search.history")
    assert "duckdb" in loaded_by_history("search.duckdb")  # so loading is seen


def test_what_is_heavy_can_be_seen():
    assert loaded_by("import pandas") & HEAVY >= {"pandas"}


# What writes outside of `writing/`, and why each may.
WRITES = {
    "cli/main.py": "opens the null device in the place of a stream that is closed",
    "rows/duckdb_engine.py": "writes in the folder of a session, which is removed at its end",
    "judging/desk/lead_requests.py": "keeps what a lead sends in a folder that is removed when it is read",
}
WRITING = re.compile("[wax+]")
# What writes a file whatever its arguments are.
WRITERS = {
    "NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "copy2", "copyfile", "mkdtemp",
    "mkstemp", "move", "save", "savetxt", "savez", "to_csv", "to_parquet", "tofile", "touch",
    "write_bytes", "write_csv", "write_parquet", "write_text",
}  # fmt: skip
# What opens a file, in a mode.
OPENERS = {"FileIO", "fdopen", "memmap", "open"}


def writes(source):
    """Return the lines of a source that write a file, but to one that `writing/` has opened."""
    nodes = nodes_of(source)
    ours = {"gf.writing.write_text", "write_text"} if "gainful" in source else set()
    ours |= {
        f"{item.optional_vars.id}.{name}"
        for node in nodes
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.context_expr, ast.Call)
        and ast.unparse(item.context_expr.func) == "replacing"
        and isinstance(item.optional_vars, ast.Name)
        for name in ("open", "write_bytes", "write_text")
    }
    return [
        node.lineno
        for node in nodes
        if (isinstance(node, ast.Call) and is_writing(node) and ast.unparse(node.func) not in ours)
        or (isinstance(node, ast.ClassDef) and "io.FileIO" in map(ast.unparse, node.bases))
    ]


def is_writing(call):
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    if name in WRITERS and not ast.unparse(call.func).startswith("super()"):
        return True
    if name not in OPENERS:
        return False
    if ast.unparse(call.func) == "os.open":
        return "os.O_WRONLY" in ast.unparse(call) or "os.O_RDWR" in ast.unparse(call)
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [each.value for each in given if isinstance(each, ast.Constant)]
    return any(isinstance(mode, str) and WRITING.search(mode) for mode in modes)


def test_files_are_written_by_one_layer_alone():
    """So each is replaced when the new one is complete, and what fails leaves the old."""

    def check(path):
        lines = writes(path.read_text())
        assert bool(lines) == (str(path.relative_to(PACKAGE)) in WRITES), lines

    assert_every_case(check, [path for path in FILES if path.parent.name != "writing"])


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "io.open(path, 'r+')",
        "path.open('x')",
        "np.memmap(path, mode='w+')",
        "class File(io.FileIO): ...",
        "gzip.open(path, 'wt')",
        "path.write_text('')",
        "path.write_bytes(content)",
        "os.fdopen(number, 'w')",
        "os.open(path, os.O_CREAT | os.O_WRONLY)",
        "tempfile.mkstemp()",
        "np.save(path, array)",
        "frame.to_parquet(path)",
        "shutil.copyfile(one, other)",
        "with other(path) as file:\n    file.write_text('')",
    ],
)
def test_what_writes_is_seen(source):
    assert len(writes(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open(path)",
        "path.open('rb')",
        "np.memmap(path, np.uint8, 'r')",
        "gzip.open(path, 'rb')",
        "import gainful as gf\ngf.writing.write_text(text, path)",
        "with replacing(path) as file:\n    file.write_bytes(content)",
        "with replacing(path) as file, file.open('wb') as target:\n    pass",
    ],
)
def test_what_reads_or_has_the_layer_write_is_left_alone(source):
    assert writes(source) == []
