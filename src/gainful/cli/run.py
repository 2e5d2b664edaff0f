"""`gainful run`."""

import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import current_project, is_set, is_typed, set_aside
from gainful.cli.options import (
    InputFile,
    check_target,
    folders_of,
    is_among,
    modules_from,
    refuse_other_endings,
    refuse_standard_input_twice,
)
from gainful.cli.progress import progress_bar
from gainful.cli.recording_options import recording_options
from gainful.cli.standard_streams import seen_enough, tell

_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "json")
_SERVICE = ("url", "call", "command")
_OF_ENGINES = ("template", "ids", "scores", "method")
_OF_SERVERS = ("engine", "headers", "key_variable", "embed", "timeout")
_PART = ".part.jsonl"
_PACKED = (".gz", ".zst")
_SHOWN = 5
# Taken as they are typed, under the names that Python has for them.
_PASSED = (
    "url", "engine", "template", "ids", "scores", "method", "key_variable", "embed", "command", "depth",
    "concurrency", "per_second", "timeout", "retries", "failed", "tag",
)  # fmt: skip


@click.command(
    cls=ProjectCommand,
    examples=[
        (
            "gainful run queries.tsv --engine opensearch --url http://localhost:9200/articles "
            "--template query.json -o bm25.run"
        )
    ],
)
@click.argument("queries", type=InputFile(), required=False)
@recording_options
@click.option(
    "--cache",
    metavar="FILE",
    help=f"Keep every answer here for good, and ask only what is missing.  [default: OUTPUT{_PART}, which is "
    "removed when the run is complete]",
)
@click.option(
    "--format",
    "-f",
    "format_",
    type=click.Choice(_FORMATS),
    help="The format of the run.  [default: by the ending of --output; trec]",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write the run to this file instead of standard output; it is replaced when complete.",
)
def run(queries: str | None, **options: Any) -> None:
    """Record a run: send QUERIES to a search service, and write what it finds.

    The service is a server (--url, with --engine or --ids), a function of Python (--call) or a command (--command). A
    query that failed is never an empty list. Called again after it was stopped, or after queries
    failed, it asks only what is missing.
    """
    queries = _queries_of(queries)
    _set_aside_others(options)
    _refuse_untrusted(options)
    output, cache = options["output"], options["cache"]
    read = [queries, *([options["template"]] if options["template"] else [])]
    refuse_standard_input_twice(*read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    chosen = options["format_"] or _format_of(output)
    check_target(output, *read)
    if cache is not None and (
        (output is not None and _is_same(cache, output)) or is_among(cache, *read)
    ):
        raise click.UsageError("The cache of answers needs a file of its own.")
    if sum(options[name] is not None for name in ("url", "call", "command")) != 1:
        raise click.UsageError("Name the search service: --url, --call or --command, one of them.")
    if chosen == "trec" and queries != "-":  # which is read only once
        _refuse_ids(queries)
    part = f"{output}{_PART}" if cache is None and output not in (None, "-") else None
    with (
        modules_from(folders_of(click.get_current_context().obj)),
        progress_bar() as progress,
        redirect_stdout(sys.stderr),  # what a function prints is no part of the run
    ):
        found = gf.record(
            queries,
            options["call"],
            **{name: options[name] for name in _PASSED},
            headers=_headers_of(options["headers"]),
            cache=part or cache,
            progress=progress,
        )
    try:
        with seen_enough():
            found.write("-" if output is None else output, format=chosen)
    except gf.errors.GainfulError as problem:
        raise _with_answers(problem, part or cache) from None
    if part is not None:
        if found.failed:
            tell(f"the answers are in {part}: call it again to ask for what failed")
        else:
            Path(part).unlink(missing_ok=True)
    for query, why in [*found.failed.items()][:_SHOWN]:
        tell(f"left out: query {query}, {why}")
    if len(found.failed) > _SHOWN:
        tell(f"… and {len(found.failed) - _SHOWN:,} more; --format json has all")
    tell(found.summary)


def _format_of(output: str | None) -> str:
    """Return the format that the name of the output tells, before the work for it: one of a run."""
    if output in (None, "-"):
        return "trec"
    known = {
        ending: name for ending, name in gf.writing.endings(of="fused").items() if name in _FORMATS
    }
    *most, last = Path(str(output)).suffixes[-2:] or [""]
    packed = last.lower() in _PACKED
    ending = (most[0] if packed and most else "" if packed else last).lower()
    if ending not in known:
        raise click.UsageError(
            f"{output}: the format of a run is told by its ending. End the name in {', '.join(known)}, or give --format."
        )
    return known[ending]


def _refuse_ids(queries: str) -> None:
    """Refuse queries whose ids TREC cannot hold, before the first call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same are told when they are sent
        gf.record(queries, lambda _: []).write("-", format="trec", dry=True)


def _queries_of(given: str | None) -> str:
    """Return the file of queries: that of the project where none is typed."""
    project = current_project()
    found = project.use("report.queries") if given is None and project is not None else given
    if found is None:
        raise click.UsageError(
            "Missing argument 'QUERIES', a file with an id and a text for each query."
        )
    return str(found)


def _set_aside_others(options: dict[str, Any]) -> None:
    """Forget what the project's file says of a service that is not the one on the command line."""
    if is_typed("call") or is_typed("command"):
        set_aside(options, {*_SERVICE, *_OF_ENGINES, *_OF_SERVERS})
    elif is_typed("url"):
        set_aside(options, {"call", "command"})
    if is_typed("engine"):
        set_aside(options, _OF_ENGINES)


def _refuse_untrusted(options: dict[str, Any]) -> None:
    """Refuse a service of the project's file that nobody has trusted."""
    project = current_project()
    if project is not None:
        project.refuse_untrusted([name for name in options if is_set(name)])


def _with_answers(problem: gf.errors.GainfulError, kept: str | None) -> gf.errors.GainfulError:
    """Say in an error of writing how the answers can be written in another way, without asking again."""
    if kept is None:
        return problem
    remedy = f"{problem.remedy} The answers are kept: call it again with --cache {kept}."
    return type(problem)(problem.where, problem.expected, problem.found, remedy.strip())


def _is_same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _headers_of(given: tuple[str, ...]) -> dict[str, str] | None:
    found = {}
    for each in given:
        name, colon, value = each.partition(":")
        if not colon or not name.strip():
            # What was typed may hold a key, so it is not shown.
            raise click.UsageError("--header takes NAME:VALUE, such as 'X-Tenant: acme'.")
        found[name.strip()] = value.strip()
    return found or None
