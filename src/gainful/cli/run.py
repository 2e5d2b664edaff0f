"""`gainful run`."""

import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import refuse_standard_input_twice
from gainful.cli.output import check_cache, check_target, refuse_other_endings, write_documents
from gainful.cli.process import progress_bar, tell, tell_some
from gainful.cli.project import current_project, is_set, is_typed, set_aside

_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "json")
_SERVICE = ("url", "call", "command")
_OF_ENGINES = ("template", "ids", "scores", "method")
_OF_SERVERS = ("engine", "headers", "key_variable", "embed", "timeout")
_PART = ".part.jsonl"
_PACKED = (".gz", ".zst")
_OWN = ("call", "headers", "cache", "format", "output")
"""The options that Python passes differently, or doesn't have."""


@command(
    "gainful run queries.tsv --engine opensearch --url http://localhost:9200/articles "
    "--template query.json -o bm25.run"
)
@click.argument("queries", type=option.InputFile(), required=False)
@option.give(
    "recording",
    {
        "--cache FILE": f"Keep all responses in this file and send only the missing queries.  [default: OUTPUT{_PART}, removed on completion]",
        f"--format, -f [{'|'.join(_FORMATS)}]": "The format of the run.  [default: by the ending of --output; trec]",
    },
    "output",
    output="Write the run to this file instead of standard output; it is replaced when complete.",
)
def run(queries: str | None, **options: Any) -> None:
    """Record a run by sending QUERIES to a search service.

    The service is a server (--url, with --engine or --ids), a Python function (--call) or a command (--command). A
    failed query is never recorded as an empty list. After an interruption or failed queries, run the same command
    again: it sends only the missing queries.
    """
    project = current_project()
    if queries is None and project is not None:
        queries = project.use("report.queries")
    if queries is None:
        raise click.UsageError(
            "Missing argument 'QUERIES': a file with an id and a text for each query."
        )
    _set_aside_others(options)
    if project is not None:
        project.refuse_untrusted([name for name in options if is_set(name)])
    output, cache = options["output"], options["cache"]
    read = (queries, options["template"])
    refuse_standard_input_twice(*read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    chosen = options["format"] or _format_of(output)
    check_target(output, *read)
    check_cache(cache, output, *read)
    if sum(options[name] is not None for name in _SERVICE) != 1:
        raise click.UsageError(
            "Name the search service with exactly one of --url, --call and --command."
        )
    if chosen == "trec" and queries != "-":  # standard input can be read only once
        _refuse_ids(queries)
    part = f"{output}{_PART}" if cache is None and output not in (None, "-") else None
    with (
        option.own_modules(click.get_current_context().obj),
        progress_bar() as progress,
        redirect_stdout(sys.stderr),  # the output of a user's function isn't part of the run
    ):
        found = gf.record(
            queries,
            options["call"],
            **{name: value for name, value in options.items() if name not in _OWN},
            headers=_headers_of(options["headers"]),
            cache=part or cache,
            progress=progress,
        )
    try:
        write_documents(found, options, chosen)
    except gf.errors.GainfulError as problem:
        if (kept := part or cache) is None:
            raise
        more = f"The responses were saved: run the command again with --cache {kept}."
        raise problem.with_remedy(f"{problem.remedy} {more}".strip()) from None
    if part is not None:
        if found.failed:
            tell(
                f"the responses are saved in {part}: run the command again to retry the failed queries"
            )
        else:
            Path(part).unlink(missing_ok=True)
    tell_some([f"left out: query {query}, {why}" for query, why in found.failed.items()])
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
            f"{output}: cannot infer the run's format from this extension. End the name in {', '.join(known)}, or pass --format."
        )
    return known[ending]


def _refuse_ids(queries: str) -> None:
    """Reject query ids that the TREC format cannot hold, before the first call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are shown when the queries are sent
        gf.record(queries, lambda _: []).write("-", format="trec", dry=True)


def _set_aside_others(options: dict[str, Any]) -> None:
    """Ignore the project file's settings for a service other than the one on the command line."""
    if is_typed("call") or is_typed("command"):
        set_aside(options, {*_SERVICE, *_OF_ENGINES, *_OF_SERVERS})
    elif is_typed("url"):
        set_aside(options, {"call", "command"})
    if is_typed("engine"):
        set_aside(options, _OF_ENGINES)


def _headers_of(headers: tuple[str, ...]) -> dict[str, str] | None:
    values = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            # The text may contain a key, so the message doesn't show it.
            raise click.UsageError("--header takes NAME:VALUE, such as 'X-Tenant: acme'.")
        values[name.strip()] = value.strip()
    return values or None
