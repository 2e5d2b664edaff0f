"""Commands that record runs, and scores over time: `run`, `history` and `watch`."""

import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import FAILED, tell, tell_some, write
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
    format_ = options.pop("format")
    if format_ is None:
        to_output = output in (None, "-")
        format_ = "trec" if to_output else read_naming(output, None, _RUN_ENDINGS).format
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


_ACTIONS = ("add", "show", "page")
_AGAIN = "again"  # the name of the old run while both are measured
_OF_ADDING = ("label", "commit", "time", "again", "judgments", "weights", "clusters", "strata")
_OF_ENTRIES = {
    "--label TEXT": "The release, or another event, to show on the page of the history.",
    "--commit TEXT": "The commit that is measured.",
    "--time TIME": "When it was measured, such as 2026-05-01T06:00; in UTC unless a time zone is given.  [default: now]",
}
_RECORDING = tuple(option.options_of_group("recording"))


@command(
    "gainful history add search.history qrels.txt bm25.run --label 2.4",
    "gainful history show search.history --changes",
    "gainful history page search.history -o history.html",
)
@click.argument("action", type=option.Choice(_ACTIONS), metavar="[add|show|page]")
@click.argument("path", type=option.InputFile(), metavar="FILE")
@click.argument("files", nargs=-1, type=option.InputFile(), metavar="[JUDGMENTS] [RUN]...")
@option.give(
    "judgments measures",
    _OF_ENTRIES,
    {
        "--again RUN": "If JUDGMENTS changed: the run of the previous entry, which is measured again, so that a jump can be attributed to judgments or run.",
        "--changes": "With show: print the real changes instead of the entries.",
    },
    "comparing.level sampling",
    {"--slices INPUT": "A table with one row per query, for --weights and --clusters."},
    "digits result evaluating",
    measures="With add: what to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    level="The joint confidence level of all comparisons of a run, on which the marked changes are based.",
)
def history(action: str, path: str, files: tuple[str, ...], **options: Any) -> None:
    """Keep scores over time in FILE, show them, or write a page that marks the real changes.

    add measures RUNs as `gainful evaluate` does, and appends an entry for each: entries of files with the same name form one line
    in the history. FILE only grows; it survives killed processes and any number of simultaneous writers. If it ends in
    .duckdb or .sqlite, it is a database; postgresql://USER@HOST/DATABASE keeps the history on a server. show prints the
    entries or their changes. page writes an HTML page with each measure over time, its intervals, labels, real changes and
    the queries behind them.
    """
    if action == "add":
        results = add_runs(path, files, options)
        call.print_result(results, options)
        return
    if wrong := [name for name in _OF_ADDING if is_typed(name)]:
        raise click.UsageError(
            f"{option.option_name(wrong[0])} needs the action add, not {action}."
        )
    if options["changes"] and action == "page":
        raise click.UsageError("--changes needs the action show; the page has the changes.")
    if options["partition_by"] and action == "page":
        raise click.UsageError("--partition-by needs the action add or show.")
    if files:
        raise click.UsageError(f"Expected {action} FILE, found also {' '.join(files)}.")
    call.read_shared_options(options)
    entries = gf.history.read(path)
    if action == "page":
        write(gf.history.page(entries, level=options["level"]), options["output"])
        return
    call.print_result(entries.changes(options["level"]) if options["changes"] else entries, options)


def add_runs(path: str, files: tuple[str, ...], options: Options) -> "gf.results.RunScores":
    """Measure runs, append an entry for each to a history, and return their scores."""
    if not files:
        raise click.UsageError(
            "Expected add FILE JUDGMENTS RUN, such as: gainful history add search.history qrels.txt bm25.run"
        )
    judgments, runs = call.judged_runs(files, options)
    old = options["again"]
    if old is not None and len(runs) > 1:
        raise click.UsageError(
            "--again measures the previous run of one RUN: add one RUN at a time."
        )
    shared = call.read_shared_options(options)
    named = {f"run {name}": run for name, run in runs.items()} | ({_AGAIN: old} if old else {})
    scores = call.work(gf.evaluate_runs, judgments, named, options=options, **shared)
    again = scores.pop(_AGAIN, None)
    results = gf.results.RunScores({name: scores[f"run {name}"] for name in runs})
    about = call.keywords(gf.history.add, options) | {"again": again}
    for name, result in results.items():
        entry = gf.history.add(path, result, run=name, **about)
        tell(f"{path}: added {name}, {entry.title}")
    return results


@command(
    "gainful watch qrels.txt bm25.run --store search.history",
    "gainful watch qrels.txt bm25.run --store search.history --fail-if 'Δ nDCG@10 < -0.01' --webhook CHAT_URL",
    "gainful watch qrels.txt --queries queries.tsv --engine opensearch --url http://localhost:9200/articles --store search.duckdb",
)
@click.argument("files", nargs=-1, metavar="[JUDGMENTS] [RUN]...")
@option.give(
    "judgments measures watching",
    _OF_ENTRIES,
    {
        "--dry-run": "Measure and check as usual, but store, write and post nothing.",
    },
    "comparing.level comparing.interval comparing.anytime comparing.slices comparing.by gate sampling recording digits result evaluating",
    measures="What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    level="The joint confidence level of the conditions for all RUNs, and of the real changes.",
    anytime="Use intervals that hold however often you look while queries are added (betting). Requires measures with a range.",
    slices="A table with one row per query, for conditions on slices, such as 'Δ nDCG@10[category=Toys] < -0.02', and for --weights and --clusters.",
    by="Slice by this column of --slices, or by judged (the number of judged documents); repeat for more.",
)
def watch(files: tuple[str, ...], **options: Any) -> None:
    """Measure RUNs, add them to a history, check conditions against an earlier entry, and notify.

    Run it in cron, containers and scheduled CI jobs. Each RUN is compared with its own earlier entry in --store; without RUNs,
    one is recorded from a search service. The result is one paragraph on standard output, and an exit code: 0 (passed), 1
    (failed) or 2 (not measured). All options can be set in [watch], [run] and [gate] of a project file.
    """
    project = current_project()
    judgments, runs = call.judgments_and_runs(files, options)
    if judgments is None:
        raise click.UsageError(
            "Expected JUDGMENTS RUN, such as: gainful watch qrels.txt bm25.run --store search.history"
        )
    _check_sources(runs, options)
    if project is not None:
        project.refuse_untrusted([name for name in options if is_set(name)])
    service = {name: options.pop(name) for name in _RECORDING}
    queries = options.pop("queries")
    options["fail_if"], options["fail_unless"] = call.gate_rules(options, compared=True)
    shared = call.read_shared_options(options)
    url, template = options["webhook"], options["webhook_template"]
    webhook = None if url is None else gf.history.Webhook(url, template)
    try:
        named: dict[str, Any] = {**call.runs_of(runs, options, judgments)}
        if not runs:
            recorded = record_run(queries_to_send(queries), service)
            tell_recorded(recorded)
            named = {recorded.tag: recorded}
        inputs = options["store"], judgments, named
        watched = call.work(gf.history.watch, *inputs, options=options, **shared)
    except gf.errors.GainfulError as problem:
        if webhook is not None and not options["dry_run"]:
            _post(webhook, _fields_of(problem, options), "", must_arrive=False)
        raise
    _finish_watching(watched, webhook, options)


def _check_sources(runs: tuple[str, ...], options: Options) -> None:
    """Reject a call without a history, or without exactly one source of runs."""
    if options["store"] is None:
        raise click.UsageError(
            "Name the history: --store search.history, or store in [watch] of a project file."
        )
    typed = [name for name in SERVICE if is_typed(name)]
    if runs and typed:
        written = " and ".join(map(option.option_name, typed))
        raise click.UsageError(f"{written} records a run: leave it out, or the RUNs.")
    if runs:
        set_aside(options, (*_RECORDING, "queries"))
        return
    set_aside_others(options)
    if sum(options[name] is not None for name in SERVICE) != 1:
        raise click.UsageError(
            "Pass a RUN, or the search service to record one from: exactly one of --url, --call and --command."
        )


def _finish_watching(
    watched: "gf.results.Watched", webhook: "gf.history.Webhook | None", options: Options
) -> None:
    """Print the result, write its files, post it, and exit with 1 if it failed."""
    call.print_result(watched, options)
    files = {"summary": watched.to_markdown, "openmetrics": watched.to_openmetrics}
    if watched.is_dry:
        would = [f"write {options[name]}" for name in files if options[name] is not None]
        would += [] if webhook is None else [f"post {webhook.body(watched)}"]
        for line in (f"nothing was added to {watched.history}", *(f"would {one}" for one in would)):
            tell(f"dry run: {line}")
    else:
        entries = "; ".join(f"{run.run}, {run.entry.title}" for run in watched)
        tell(f"{watched.history}: added {entries}")
        for name, text in files.items():
            if options[name] is not None:
                gf.writing.write_text(text(), options[name])
        if webhook is not None:
            kept = f"The entry is in {watched.history}."
            _post(webhook, watched.fields(), kept, must_arrive=not watched.failed)
    if watched.failed:
        sys.exit(FAILED)


def _post(
    webhook: "gf.history.Webhook", fields: dict[str, Any], remedy: str, *, must_arrive: bool
) -> None:
    """Post fields. A failure is only a warning if the command fails anyway."""
    try:
        webhook.send(fields)
    except gf.errors.GainfulError as problem:
        failure = problem.with_remedy(f"{problem.remedy} {remedy}".strip())
        if must_arrive:
            raise failure from None
        tell(f"{failure}", "gainful: warning:")


def _fields_of(problem: gf.errors.GainfulError, options: Options) -> dict[str, Any]:
    """Return the fields of a webhook for a call that could not measure."""
    return {
        "paragraph": f"Nothing was measured. {problem}",
        "result": "error",
        "title": "gainful watch: error",
        "markdown": f"## gainful watch: error\n\n{problem}\n",
        "time": options["time"] or "",
        "label": options["label"] or "",
        "commit": options["commit"] or "",
        "history": options["store"],
        "details": {"result": "error", "error": str(problem)},
    }
