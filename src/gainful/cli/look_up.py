"""Commands that look things up: `measures`, `dialects`, `conformance`, `config`, `help`, `completion` and `mcp`."""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import COMPLETE_VARIABLE, FAILED, print_data, tell, tell_lines
from gainful.cli.project import (
    EXAMPLE,
    NAME,
    PYPROJECT,
    Project,
    all_settings,
    command,
    default_of,
    read_project_file,
    read_settings,
    refuse_conflicts,
    use_definitions,
)
from gainful.message_texts import closest
from gainful.output.rendering.table_formats import Cell, Table


@click.command()
@click.argument("name", required=False, shell_complete=option.COMPLETED["--measure"])
@option.give(
    {
        "--subtopics": "List the measures for queries with subtopics.",
        "--recommend": "List the measures for recommendations beyond relevance.",
    },
    "define format output",
)
@click.pass_context
def measures(
    context: click.Context, /, name: str | None, subtopics: bool, recommend: bool, **options: Any
) -> None:
    """List the measures, or show the definition of the measure NAME."""
    use_definitions(options.pop("define"), context.obj)
    refuse_conflicts(["measures"], {"subtopics": subtopics, "recommend": recommend})
    needs = "items" if recommend else "subtopics" if subtopics else None
    if name is None:
        call.print_result(gf.measures.families(needs=needs), options)
        return
    entry: Any = gf.measures.family
    if needs == "items":
        entry = gf.recommending.recommendation_family
    elif needs == "subtopics":
        entry = gf.subtopics.subtopic_family
    else:
        _define_those_of_the_project(name, context)
    call.print_result(entry(name), options)


def _define_those_of_the_project(name: str, context: click.Context) -> None:
    """Import the definitions of the project file if a measure is not built in."""
    try:
        gf.measures.family(name)
    except gf.errors.MeasureError:
        if (file := read_project_file(context.parent)) is None:
            raise
        project = read_settings(file)
        project.refuse_untrusted(["define"])
        use_definitions(project.values.get("define", ()), project)


@click.command()
@click.argument("name", required=False, shell_complete=option.COMPLETED["--dialect"])
@option.give("format", "output")
def dialects(name: str | None, **options: Any) -> None:
    """List the tools that --dialect reproduces, or describe one in detail."""
    chosen = gf.measures.dialects() if name is None else gf.measures.dialect(name)
    call.print_result(chosen, options)


@command(
    "gainful conformance python3 my_ndcg.py",
    "gainful conformance --topic definition --topic ties python3 my_ndcg.py",
    "gainful conformance --dialect scikit-learn python3 my_ndcg.py",
    "gainful conformance --print --topic ties",
    context_settings={"allow_interspersed_args": False},
    cls=option.GroupedCommand,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [ARGUMENT]...")
@option.give(
    {
        "--topic NAME... -> topics": "Use only the cases of this topic, such as definition or ties; repeat for more.",
        "--dialect TOOL": "Use only the cases of this tool.",
        "--tolerance >=0.0<1.0 = 1e-9": "The permitted error: absolute for values up to 1, and relative above. Use 1e-6 for single precision.",
        "--timeout SECONDS>0.0<=86400.0 = 60.0": "Stop the command after this time.",
        "--one-by-one": "Start the command once per case. A crash then counts as one failure.",
        "--print": "Print the cases as they would be sent, one per line, and run nothing.",
    },
    "format output",
)
def conformance(words: tuple[str, ...], topics: tuple[str, ...], **options: Any) -> None:
    """Test COMMAND, an nDCG implementation in any language, on cases with exact values.

    COMMAND reads one case per line from standard input, as JSON, and prints one line per case, in any
    order: {"id": "golden", "value": 0.475}. It prints "value": null if the value is undefined. Instead of
    "value", it prints "error": "reason" to reject a case, and "skip": "reason" if it doesn't support
    such cases.

    Every failure comes with a likely cause: a different choice (such as gain=exp2), the behaviour of
    another tool, or a common mistake. The exit code is 0 if no case fails, 1 if some fail or all are skipped, and 2 if the command cannot be run or
    crashes. vectors/README.md defines the cases.
    """
    call.format_of(options)  # reports a wrong format before the work
    chosen = {"topics": topics or None, "dialect": options.pop("dialect")}
    if options["print"]:
        if words:
            raise click.UsageError("--print runs nothing: leave out COMMAND.")
        cases = gf.vectors.cases(**chosen)
        print_data("".join(f"{json.dumps(case.asked(), ensure_ascii=False)}\n" for case in cases))
        return
    if not words:
        raise click.UsageError("Expected COMMAND, such as: gainful conformance python3 my_ndcg.py")
    how = call.keywords(gf.vectors.conformance_of_command, options) | chosen
    report = gf.vectors.conformance_of_command(words, **how)
    call.print_result(report, options)
    if not report.conforms:
        sys.exit(FAILED)


_NONE = (
    f"Found no {NAME}, and no {PYPROJECT} with a [tool.gainful] table, in this folder or its parents. "
    f"Example of a {NAME}:"
)


@click.command(
    epilog=f"Settings are in {NAME}, or in the [tool.gainful] table of {PYPROJECT}. gainful uses the nearest of them, "
    "in the current folder or its parents."
)
@option.give(
    {
        "--trust": "Let the file, as it is now, run code, call services and send keys from now on. Changing the file revokes the trust.",
    },
    "format output",
)
@click.pass_context
def config(context: click.Context, /, trust: bool, **options: Any) -> None:
    """Show the project settings and their origins, without importing or calling anything.

    The command line overrides the file, and the file overrides the defaults. Use gainful --config FILE
    COMMAND to read another file, and gainful --no-config COMMAND to ignore project files.
    """
    call.format_of(options)  # reports a wrong format before the work
    file = read_project_file(context.parent, to_show=True)
    call.check_files(*(() if file is None else (file.path,)))
    if trust and file is None:
        raise click.UsageError("--trust: found no project file to trust.")
    project = None if file is None else _checked(read_settings(file))
    rows = _rows(project, context, exact=call.format_of(options) not in call.FOR_PEOPLE)
    title = "" if project is None else f"Settings of {project}"
    call.print_result(Table(["setting", "value", "from"], rows, title=title), options)
    if project is None:
        if context.parent is None or not context.parent.params["no_config"]:
            tell_lines("")
            tell(_NONE)
            tell_lines(f"\n{EXAMPLE}")
        return
    _tell_trust(project, trust=trust)
    if (other := project.file.shadowed) is not None:
        tell(
            f"{other} also contains a [tool.gainful] table; it is ignored because {project} takes precedence."
        )


def _checked(project: Project) -> Project:
    """Reject unknown measures, conditions and dialects.

    If the file has definitions, nothing is checked: they are not imported here, so the measures are unknown.
    """
    if "define" in project.values:
        return project
    rules = (project.values.get(f"gate.{name}", []) for name in ("fail_if", "fail_unless"))
    try:
        gf.results.Gate.check_conditions(
            project.measures, *rules, dialect=project.values.get("dialect")
        )
    except gf.errors.GainfulError as problem:
        raise project.located(problem, applies=lambda _: True) from None
    return project


def _tell_trust(project: Project, *, trust: bool) -> None:
    """Report what the file may not do until it is trusted; or trust it and report that."""
    acting, owners = project.written(project.acting), project.file.foreign_owners
    if trust:
        more = acting and f", with {acting}"
        tell(f"trusted as it is now: {project}{more}; recorded in {project.file.trust()}")
    elif not project.file.is_trusted:
        if owners:
            tell(
                f"{project}: {' and '.join(owners)}; commands ignore it unless you name it with --config or trust it."
            )
        if acting:
            tell(
                f"not trusted, so commands refuse to use {acting}. Run `gainful config --trust` to trust the file."
            )


def _rows(project: Project | None, context: click.Context, *, exact: bool) -> list[list[Cell]]:
    """Return one row per setting; with `exact`, unrounded numbers and the full path."""
    values = {} if project is None else project.values
    name = "" if project is None else str(project) if exact else project.file.name
    rows: list[list[Cell]] = []
    for key, setting in all_settings().items():
        value = values.get(key)
        if key not in values and setting is not None:
            value = default_of(setting, context)
        source = name if key in values else "default"
        rows.append([key, _written(value, exact=exact), source])
    return rows


def _written(value: Any, *, exact: bool) -> Cell:
    """Return a value as a cell."""
    if isinstance(value, float) and not exact:
        return f"{value:g}"
    if isinstance(value, dict):
        value = [f"{role}={name}" for role, name in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(value) or None
    return value  # type: ignore[no-any-return]


Part = str | tuple[str, Iterable[tuple[str, str]]]
"""A part of a help page: a paragraph, or a title and rows of names and meanings."""


def _options(topic: str) -> Part:
    """Return the full help on the options of a group, as in `gainful evaluate`."""
    from gainful.cli.evaluate import evaluate

    context = click.Context(evaluate, info_name="evaluate")
    groups = option.groups_of(evaluate, evaluate.params)
    options = next(options for group, options in groups if group.topic == topic)
    return "Options", [row for each in options if (row := each.get_help_record(context))]


# The functions below are topics: the first line of the docstring is in the list of topics, and the page consists of the
# docstring and the parts that the function yields.


def _on_measures() -> Iterator[Part]:
    """The measures, and how to write them.

    Write a measure as NAME(parameter=value)@cutoff, where only the name is required: nDCG, nDCG@10, P(rel=2)@5. You can
    combine several cutoffs and several measures: 'nDCG@5,10 AP'. Names are case-insensitive. A formula is also a measure:
    '0.5*nDCG@10 + 0.5*RR'.
    """
    yield "Measures", [(family.name, family.title) for family in gf.measures.families()]
    parameters = gf.measures.family("nDCG").parameters
    yield "Parameters of nDCG", [(each.name, each.values) for each in parameters]
    yield (
        "`gainful measures NAME` defines a measure, with its parameters, an example and the paper. "
        "`gainful measures --subtopics` and `--recommend` list the measures for subtopics and for "
        "recommendations. These need tables in addition to judgments and runs: --subtopic-judgments, "
        "--items, --vectors, --history. --define adds a measure of your own."
    )


def _on_policy() -> Iterator[Part]:
    """The choices that make two tools differ.

    Two tools that compute the same measure often print different numbers, because of choices that are not part of the
    measure. Each choice is an option. Choices that differ from the defaults are printed under every table; --verbose and
    files show all of them. --dialect makes every choice the way another tool does.
    """
    for choice in gf.measures.choices():
        yield f"{option.option_name(choice.name)}: {choice.question}"
        answers = dict(choice.answers) | ({"GRADE": choice.grade} if choice.grade else {})
        default = choice.default
        yield "", [(name + " (default)" * (name == default), answers[name]) for name in answers]


def _on_dialects() -> Iterator[Part]:
    """The tools that --dialect reproduces.

    --dialect TOOL reproduces that tool, with its gain, ideal and policy. `gainful dialects TOOL` describes a tool, `gainful
    why` shows which choices make two tools differ, and `gainful why --got NUMBER` finds the tool behind a number.
    """
    yield "Dialects", [(dialect.name, dialect.tool) for dialect in gf.measures.dialects()]


_FORMATS = (
    ("TREC", "judgments `query iteration doc grade`, runs `query Q0 doc rank score tag`"),
    ("CSV, TSV", "column names in the first line; fields separated by , ; tab or |"),
    ("JSON lines", 'one object per line, {"query_id": "q1", "doc_id": "d7", "relevance": 2}'),
    ("JSON", "{query: {doc: number}}, a list of objects, lists, responses of search services, golden sets, or traces"),
    ("Parquet", "a file, a directory, or a quoted pattern"),
    ("SVMlight, LETOR", "`label qid:7 1:0.3`; a run has one prediction per line, in the same order"),
)  # fmt: skip


def _on_formats() -> Iterator[Part]:
    """The input formats.

    Judgments grade how relevant a document is to a query; a run lists what a system returned. Both are files, in any of
    these formats, which you can mix. gainful detects the format from the content of a file, and uses its name only if the
    content is ambiguous.
    """
    yield "Formats", _FORMATS
    yield (
        "Files may be compressed, .gz or .zst, and - is standard input. A RUN may also be a folder or a "
        "quoted pattern of files, each of which is a run. The first file is the judgments, unless "
        "--judgments or the project file (`gainful config`) names them; then every file is a RUN."
    )
    yield (
        "`gainful check` finds errors in files, `gainful convert` converts a run or judgments to another "
        "format, and `gainful help columns` lists the column names."
    )


def _on_columns() -> Iterator[Part]:
    """The columns of a file: names, ids, chunks, assessors.

    Columns are recognised by name, regardless of case, and of _, - or a space between words. These names are known, in
    order of precedence; use --columns for others.
    """
    names = gf.inputs.column_names()
    yield "Names", [(role, ", ".join(known)) for role, known in names.items()]
    yield _options("columns")


_EXITS = (
    ("0", "done"),
    ("1", "a gate or a check failed"),
    ("2", "bad input or usage, reported in one line"),
    ("130, 143", "stopped by Ctrl-C or SIGTERM"),
)


def _on_output() -> Iterator[Part]:
    """The output formats, and the exit codes.

    Data goes to standard output or to --output, everything else to standard error. An existing file is replaced once the new
    one is complete. Its extension selects the format, unless --format does.
    """
    endings: dict[str, list[str]] = {}
    for ending, name in gf.writing.endings().items():
        endings.setdefault(name, []).append(ending)
    names = (*gf.writing.formats(), "parquet")
    yield "Formats", [(name, ", ".join(endings[name])) for name in names]
    yield (
        "table, markdown, latex and html round numbers; the other formats contain all digits. csv, tsv, jsonl "
        "and parquet have no room for notes: policy and coverage are printed to standard error. With .gz or .zst "
        "after the extension, the file is compressed."
    )
    yield "Exit codes", _EXITS


_CONDITIONS = (
    ("Δ nDCG@10 < -0.01", "a change from BASE, confirmed by the whole interval; also change(nDCG@10)"),
    ("nDCG@10 < 0.6", "a floor for a RUN's mean, checked against the lower end of the interval"),
    ("changed", "the judgments differ from the saved baseline's"),
)  # fmt: skip


def _on_gates() -> Iterator[Part]:
    """The conditions of --fail-if and --fail-unless.

    A gate decides whether a change may be merged. `gainful compare` and `gainful evaluate` exit with 1 if a --fail-if
    condition holds or a --fail-unless condition doesn't. The interval decides, not the mean, so a change that may be chance
    doesn't fail.
    """
    yield "Conditions", _CONDITIONS
    yield "Facts to compare with a number, such as coverage < 0.9", gf.results.Gate.facts.items()
    yield (
        "Δ, changed and saturation work in `gainful compare` only. Each option may be repeated. --junit "
        "and --summary write the results for CI."
    )


def _on_weights() -> Iterator[Part]:
    """Weights and clusters of queries.

    The mean over queries treats them as equal and independent. If a query stands for a share of your traffic, weigh it;
    if queries come from the same user or document, name their clusters, or intervals are too short.
    """
    yield _options("weights")
    yield (
        "A table has one row per query: CSV, TSV, JSON, JSON lines or Parquet with a column of query ids. "
        "With --slices, the name of one of its columns is enough."
    )


def _on_machine() -> Iterator[Part]:
    """Memory, cores, and the engine that reads files.

    DuckDB matches files on this machine, and writes data that doesn't fit into memory to disk. If the data is on a cluster,
    use Spark: the numbers are the same.
    """
    yield _options("machine")


_PAGES = (
    *(_on_measures, _on_policy, _on_dialects, _on_formats, _on_columns),
    *(_on_output, _on_gates, _on_weights, _on_machine),
)
TOPICS: dict[str, Callable[[], Iterable[Part]]] = {
    page.__name__.removeprefix("_on_"): page for page in _PAGES
}


def _complete_topic(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    commands = cast("click.Group", context.find_root().command).list_commands(context)
    return [name for name in (*TOPICS, *commands) if name.startswith(incomplete)]


@command("gainful completion bash", cls=option.GroupedCommand)
@click.argument("shell", type=option.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options, values and files.

    SHELL is bash (4.4 or newer), zsh or fish. To install the completion in bash, add the line
    eval "$(gainful completion bash)" to ~/.bashrc; in zsh, add eval "$(gainful completion zsh)" to ~/.zshrc, after
    compinit; in fish, run gainful completion fish > ~/.config/fish/completions/gainful.fish.
    """
    from click import shell_completion

    kind = getattr(shell_completion, f"{shell.title()}Complete")
    script = kind(context.find_root().command, {}, "gainful", COMPLETE_VARIABLE).source()
    print_data(f"{script.strip()}\n")
    if sys.stdout.isatty():
        tell("To install this script, see `gainful completion --help`.")


@click.command(name="help")
@click.argument(
    "topic", required=False, metavar="[TOPIC | COMMAND]", shell_complete=_complete_topic
)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Show help on a TOPIC, or the full help for a COMMAND, with every option."""
    commands = cast("click.Group", context.find_root().command)
    formatter = context.make_formatter()
    if topic is None:
        lines = [(name, (page.__doc__ or "").partition("\n")[0]) for name, page in TOPICS.items()]
        _write(("Topics", lines), formatter)
        option.write_paragraphs(
            formatter,
            "Run gainful help TOPIC for a topic, gainful help COMMAND for the full help for a command, and "
            "gainful --help for the list of commands.",
        )
    elif topic in TOPICS:
        line, *paragraphs = inspect.cleandoc(TOPICS[topic].__doc__ or "").split("\n\n")
        formatter.write(f"{line}\n")
        for part in (*paragraphs, *TOPICS[topic]()):
            _write(part, formatter)
    pages = [page] if (page := formatter.getvalue()) else []
    if topic is not None and (command := commands.get_command(context, topic)) is not None:
        pages.append(_help_of(command, context.parent, topic))
    if not pages:
        close = closest(topic, [*TOPICS, *commands.list_commands(context)])
        hint = f" Did you mean 'gainful help {close}'?" if close else ""
        raise click.UsageError(
            f"There is no help on {topic!r}.{hint} `gainful help` lists the topics, and `gainful --help` "
            "lists the commands."
        )
    print_data("\n".join(pages))


def _write(part: Part, formatter: click.HelpFormatter) -> None:
    """Write a part of a help page; rows without a title belong to the paragraph before them."""
    if isinstance(part, str):
        option.write_paragraphs(formatter, part)
        return
    title, rows = part
    with formatter.section(title) if title else formatter.indentation():
        formatter.write_dl([*rows])


def _help_of(command: click.Command, parent: click.Context | None, name: str) -> str:
    """Return the full help for a command."""
    context = command.make_context(name, [], parent, resilient_parsing=True)
    if not command.add_help_option:  # trec_eval prints its own help
        return f"{command.get_usage(context)}\n\n  {command.help}\n"
    context.meta[option.FULL_HELP] = True
    return f"{command.get_help(context)}\n"


@command("gainful mcp ./judgments ./runs", cls=option.GroupedCommand)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
def mcp(folders: tuple[str, ...]) -> None:
    """Run an MCP server so an LLM can call evaluate, compare, explain, why, check and bounds.

    The server speaks the Model Context Protocol over standard input and output; clients start it themselves.
    It reads files only in the FOLDERs, and writes none. It requires the
    extra mcp: `pip install '.[mcp]'`, run from the root of gainful's repository.
    """
    gf.integrations.mcp.server(folders).run()
