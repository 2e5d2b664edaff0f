"""The command that records runs from search services: `run`."""

import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import tell, tell_some
from gainful.cli.option_table import Options
from gainful.cli.project import command, current_project, is_set, is_typed, own_modules, set_aside
from gainful.output.writing.output_files import read_naming

SERVICE = ("url", "call", "command")
"""The options that name the search service; a call has one of them."""
_RUN_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "json")
_RUN_ENDINGS = {
    ending: name for ending, name in gf.writing.endings(of="fused").items() if name in _RUN_FORMATS
}
_ENDINGS = gf.writing.endings(of="documents")
_OF_ENGINES = ("template", "ids", "scores", "method")
_OF_SERVERS = ("engine", "headers", "key_variable", "embed", "timeout")
_PART = ".part.jsonl"


@command(
    "gainful run queries.tsv --engine opensearch --url http://localhost:9200/articles "
    "--template query.json -o bm25.run"
)
@click.argument("queries", type=option.InputFile(), required=False)
@option.give(
    "recording",
    {
        "--cache FILE": f"Keep all responses in this file and send only the missing queries.  [default: OUTPUT{_PART}, removed on completion]",
        f"--format, -f [{'|'.join(_RUN_FORMATS)}]": "The format of the run.  [default: from the extension of --output, or trec]",
    },
    "output",
    output="Write the run to this file instead of standard output. An existing file is replaced only once the run is complete.",
)
def run(queries: str | None, **options: Any) -> None:
    """Record a run by sending QUERIES to a search service.

    The service is a server (--url, with --engine or --ids), a Python function (--call) or a command (--command). A
    failed query is never recorded as an empty list. After an interruption or failed queries, run the same command
    again: it sends only the missing queries.
    """
    queries, project = queries_to_send(queries), current_project()
    set_aside_others(options)
    if project is not None:
        project.refuse_untrusted([name for name in options if is_set(name)])
    output, own_cache = options["output"], options.pop("cache")
    call.check_files()
    call.refuse_other_endings(output, *_ENDINGS)
    format_ = options.pop("format") or _format_of_run(output)
    if sum(options[name] is not None for name in SERVICE) != 1:
        raise click.UsageError(
            "Name the search service with exactly one of --url, --call and --command."
        )
    if format_ == "trec" and queries != "-":  # standard input can be read only once
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are shown when the queries are sent
            # Ids that TREC cannot hold are rejected before the first call.
            gf.record(queries, lambda _: []).write("-", format="trec", dry=True)
    part = f"{output}{_PART}" if own_cache is None and output not in (None, "-") else None
    cache = part or own_cache
    recorded = record_run(queries, options, cache=cache)
    try:
        call.write_documents(recorded, options, format_)
    except gf.errors.GainfulError as problem:
        if cache is None:
            raise
        more = f"The responses were saved: run the command again with --cache {cache}."
        raise problem.with_remedy(f"{problem.remedy} {more}".strip()) from None
    if part is not None and recorded.failed:
        tell(
            f"the responses are saved in {part}: run the command again to retry the failed queries"
        )
    elif part is not None:
        Path(part).unlink(missing_ok=True)
    tell_recorded(recorded)


def queries_to_send(queries: str | None) -> str:
    """Return the file of the queries: that of the command line, or of the report in the project file."""
    project = current_project()
    if queries is None and project is not None:
        queries = project.use("report.queries")
    if queries is None:
        raise click.UsageError(
            "Missing argument 'QUERIES': a file with the id and the text of each query."
        )
    return queries


def record_run(
    queries: str, options: Options, *, cache: str | None = None
) -> "gf.results.RecordedRun":
    """Send queries to the search service that the options describe."""
    headers = _headers_of(options["headers"])
    with (
        own_modules(click.get_current_context().obj),
        redirect_stdout(sys.stderr),  # the output of a user's function isn't part of the run
    ):
        how = {"cache": cache, "headers": headers}
        return call.work(gf.record, queries, options["call"], options=options, **how)  # type: ignore[no-any-return]


def tell_recorded(recorded: "gf.results.RecordedRun") -> None:
    """Report the queries that failed, and what was recorded."""
    tell_some([f"left out: query {query}, {why}" for query, why in recorded.failed.items()])
    tell(recorded.summary)


def _format_of_run(output: str | None) -> str:
    """Return the format that the extension of the output selects."""
    if output is None or output == "-":
        return "trec"
    return read_naming(output, None, _RUN_ENDINGS).format


def set_aside_others(options: Options) -> None:
    """Ignore the project file's settings for a service other than the one on the command line."""
    if is_typed("call") or is_typed("command"):
        set_aside(options, {*SERVICE, *_OF_ENGINES, *_OF_SERVERS})
    elif is_typed("url"):
        set_aside(options, {"call", "command"})
    if is_typed("engine"):
        set_aside(options, _OF_ENGINES)


def _headers_of(headers: tuple[str, ...]) -> dict[str, str] | None:
    values = {}
    for header in headers:
        name, colon, value = (part.strip() for part in header.partition(":"))
        if not colon or not name:
            # The text may contain a key, so the message doesn't show it.
            raise click.UsageError("--header takes NAME:VALUE, such as 'X-Tenant: acme'.")
        values[name] = value
    return values or None
