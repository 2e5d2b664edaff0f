"""`gainful run`."""

from pathlib import Path
from typing import Any

import click

import gainful as gf
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
from gainful.cli.project_command import ProjectCommand
from gainful.cli.standard_streams import seen_enough, tell

_ENGINES = (
    "elasticsearch", "opensearch", "solr", "vespa", "typesense", "meilisearch", "algolia", "qdrant", "postgresql",
)  # fmt: skip
_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "json")
_PART = ".part.jsonl"
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
@click.argument("queries", type=InputFile())
@click.option(
    "--engine",
    type=click.Choice(_ENGINES),
    help="What is behind --url: its path, template, ids and scores are known.",
)
@click.option(
    "--url",
    metavar="URL",
    help="The address of the service, such as http://localhost:9200/articles; {query}, {depth} and {id} in "
    "it are filled in, and ${NAME} from the environment.",
)
@click.option(
    "--template",
    type=InputFile(),
    help="What is sent: a file of JSON with {query}, {depth}, {id} and {vector} in its texts; for "
    "postgresql, SQL with %(query)s and %(depth)s.  [default: the engine's]",
)
@click.option(
    "--ids",
    metavar="PATH",
    help="Where the answer has the ids, such as hits[*].id.  [default: the engine's]",
)
@click.option(
    "--scores",
    metavar="PATH",
    help="Where the answer has the scores, such as hits[*].score.  [default: the engine's; else by rank]",
)
@click.option(
    "--method",
    type=click.Choice(["GET", "POST"]),
    help="How it is sent.  [default: the engine's; POST with --template, else GET]",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="One more header; ${NAME} in it is filled in from the environment; repeat for more.",
)
@click.option(
    "--key-variable",
    metavar="NAME",
    help="The environment variable that has the key; opensearch: user:password; postgresql: the password. The "
    "key is written nowhere.",
)
@click.option(
    "--embed",
    metavar="MODULE:NAME",
    help="A function of Python from a query to its vector, for {vector}.",
)
@click.option(
    "--call",
    metavar="MODULE:NAME",
    help="A function of Python instead, from a query to ids, or to pairs of id and score; the module lies in this folder.",
)
@click.option(
    "--command",
    metavar="WORDS",
    help="A command instead, called for each query with {query} and {depth} in its words, or the query on "
    "standard input; it prints an id on each line, and after a tab its score; with --ids, JSON.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="NUMBER",
    help="The most documents of a query.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Calls at a time.  [default: 8; 1 with --call]",
)
@click.option("--per-second", type=float, metavar="NUMBER", help="The most calls a second.")
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="When an answer must be there.  [default: 30; none with --call]",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="How often a call that failed is tried again, after 1, 2, 4, … seconds.  [default: 3; 0 with --call]",
)
@click.option(
    "--failed",
    type=click.Choice(["error", "leave-out"]),
    default="error",
    show_default=True,
    help="Where a query has no answer: error, and no run is written; leave-out: write the run without it.",
)
@click.option(
    "--cache",
    metavar="FILE",
    help=f"Keep every answer here for good, and ask only what is missing.  [default: OUTPUT{_PART}, which is "
    "removed when the run is complete]",
)
@click.option(
    "--tag",
    metavar="WORD",
    help="The name of the run; each row of the file has it with the request's hash.  [default: the engine's]",
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
def run(queries: str, **options: Any) -> None:
    """Record a run: send QUERIES to a search service, and write what it finds.

    The service is a server (--url, with --engine or --ids), a function of Python (--call) or a command (--command). A
    query that failed is never an empty list. Called again after it was stopped, or after queries
    failed, it asks only what is missing.
    """
    output, cache = options["output"], options["cache"]
    read = [queries, *([options["template"]] if options["template"] else [])]
    refuse_standard_input_twice(*read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    check_target(output, *read)
    if cache is not None and (
        (output is not None and _is_same(cache, output)) or is_among(cache, *read)
    ):
        raise click.UsageError("The cache of answers needs a file of its own.")
    if sum(options[name] is not None for name in ("url", "call", "command")) != 1:
        raise click.UsageError("Name the search service: --url, --call or --command, one of them.")
    part = f"{output}{_PART}" if cache is None and output not in (None, "-") else None
    with modules_from(folders_of(click.get_current_context().obj)), progress_bar() as progress:
        found = gf.record(
            queries,
            options["call"],
            **{name: options[name] for name in _PASSED},
            headers=_headers_of(options["headers"]),
            cache=part or cache,
            progress=progress,
        )
    chosen = options["format_"] or (None if output not in (None, "-") else "trec")
    with seen_enough():
        found.write("-" if output is None else output, format=chosen)
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
