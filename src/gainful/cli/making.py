"""Commands that make files: `report`, `run`, `fuse`, `recommend` and `convert`."""

import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.main import progress_bar, seen_enough, tell, tell_some
from gainful.cli.options import (
    check_cache,
    check_files,
    check_target,
    comparing_of,
    format_of,
    judged_runs,
    leave_out_columns,
    numbers,
    print_result,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    runs_of,
    write_documents,
)
from gainful.cli.project import command, current_project, is_set, is_typed, leave_out, set_aside
from gainful.message_texts import counted

_MEGABYTE = 1_000_000
_ROLES = ("query", "doc", "assessor", "grade")  # the columns of --grades


@command("gainful report qrels.txt bm25.run dense.run --queries queries.tsv -o report.html")
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@option.give(
    "judgments",
    "output",
    "measures",
    "texts",
    {
        "--grades INPUT...": "Grades of several assessors, for a section about them: a table with query, doc, assessor and grade, or one file per "
        "assessor; repeat for more. --columns grades.query=NAME names a column; otherwise the judgments' column names are used if they fit.",
        "--title TEXT": "The title of the page.  [default: the names of the runs]",
        "--depth RANK>=1": "The last rank that the lists show.  [default: the cutoff of the first measure, or 20]",
    },
    "comparing",
    *option.PAGE,
    output={
        "required": True,
        "help": "The page to write; an existing file is replaced once the page is complete. - is standard output.",
    },
    measures="What to measure, such as 'nDCG@10 AP'; repeat for more. Charts and details show the first one at first.",
)
def report(files: tuple[str, ...], **options: Any) -> None:
    """Write an HTML page about RUNs: verdict, charts, and the ranked lists of every query that matters.

    The page is a single file that works offline. JUDGMENTS and RUNs are files as for `gainful evaluate`;
    the first RUN is the baseline of the others. With a single RUN, the page has no comparison. If
    --judgments or the project file names the judgments, every file is a RUN.
    """
    target = options["output"]
    judgments, runs = judged_runs(files, options)
    if len(runs) == 1:
        set_aside(options, ["slices", "by"])  # without a comparison, there is nothing to slice
    texts = {name: options[name] for name in ("queries", "docs")}
    read = (judgments, *runs.values(), options["slices"], *texts.values(), *options["grades"])
    refuse_standard_input_twice(*read)
    check_target(target, *read)
    gf.results.Report.check_path(target)
    shared = read_shared_options(option.PAGE, options, *read)
    assessors = _agreement(runs, options, shared) if options["grades"] else None
    chosen = texts | {name: options[name] for name in ("title", "depth")} | comparing_of(options)
    measures = list(options["measures"])
    with progress_bar() as progress:
        found = gf.report(
            judgments, runs, measures, agreement=assessors, progress=progress, **chosen, **shared
        )
    found.write(target)
    kept = found.payload()["kept"]
    detail = f"{kept['queries']} of {counted(kept['of'], 'query', 'queries')} in detail"
    size = "" if target == "-" else f"{Path(target).stat().st_size / _MEGABYTE:.1f} MB, "
    why = "" if kept["why"] is None else f" ({kept['why']})"
    tell(f"{target}: {size}{detail}{why}")


def _agreement(
    runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> "gf.results.Agreement":
    """Return the agreement of the assessors of --grades; with several runs, also its effect on conclusions."""
    files = options["grades"]
    grades = files[0] if len(files) == 1 else files
    chosen: dict[str, Any] = {"level": options["level"], "seed": options["seed"]}
    if len(runs) > 1:
        if "-" in runs.values():
            raise click.UsageError(
                "--grades reads the runs twice, so none of them can be standard input: pass files."
            )
        chosen |= {"runs": runs, "measures": list(options["measures"])}
        chosen |= {name: options[name] for name in ("baseline", "pairs", "correction")}
        measuring = ("policy", "dialect", "chunks", "engine")
        chosen |= {name: shared[name] for name in measuring if name in shared}
    problems = []
    for columns in _columns_of_grades(shared, runs=len(runs) > 1):
        try:
            return gf.judging.agreement(grades, columns=columns, **chosen)
        except gf.errors.InputError as problem:
            problems.append(problem)
    raise problems[0]


def _columns_of_grades(shared: dict[str, Any], *, runs: bool) -> list[dict[str, str]]:
    """Take the columns of --grades out of the shared columns; return ways to read them, the likeliest first.

    The column names of the judgments may not apply to the grades, which may be files without columns.
    """
    columns: dict[str, str] = shared["columns"]
    own = {key: name for key, name in columns.items() if key.startswith("grades.")}
    for key in own:
        if key.removeprefix("grades.") not in _ROLES:
            known = ", ".join(f"grades.{role}" for role in _ROLES)
            raise click.UsageError(f"--columns {key}: the columns of --grades are {known}.")
    others = {key: name for key, name in columns.items() if key not in own}
    of_assessors = ("assessor", "judgments.assessor")
    shared["columns"] = {
        key: name
        for key, name in others.items()
        if key not in of_assessors or "assessors" in shared  # otherwise only the grades have them
    }
    of_runs = {
        f"run.{role}": others[key]
        for role in ("query", "doc", "score", "rank")
        for key in (role, f"run.{role}")  # run.query overrides query
        if runs and key in others
    }
    if own:
        named = {f"judgments.{key.removeprefix('grades.')}": name for key, name in own.items()}
        return [named | of_runs, named]
    both = {
        key: name
        for key, name in others.items()
        if runs or (not key.startswith("run.") and key not in ("score", "rank"))
    }
    return [both, of_runs, {}]


_RUN_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "json")
_SERVICE = ("url", "call", "command")
_OF_ENGINES = ("template", "ids", "scores", "method")
_OF_SERVERS = ("engine", "headers", "key_variable", "embed", "timeout")
_PART = ".part.jsonl"
_PACKED = (".gz", ".zst")
_NOT_PASSED = ("call", "headers", "cache", "format", "output")
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
        f"--format, -f [{'|'.join(_RUN_FORMATS)}]": "The format of the run.  [default: by the ending of --output; trec]",
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
    chosen = options["format"] or _run_format(output)
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
            **{name: value for name, value in options.items() if name not in _NOT_PASSED},
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


def _run_format(output: str | None) -> str:
    """Return the format that the name of the output tells, before the work for it: one of a run."""
    if output in (None, "-"):
        return "trec"
    known = {
        ending: name
        for ending, name in gf.writing.endings(of="fused").items()
        if name in _RUN_FORMATS
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


_METHODS = gf.fusion.methods()
_NORMALISATIONS = gf.fusion.normalisations()
_FUSED_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="documents").values()))
_OF_TUNING = ("measure", "folds", "seed")


def _formulas(entries: Any) -> str:
    return "  ".join(f"{each.name}: {each.formula}." for each in entries)


@command("gainful fuse bm25.run dense.run --method rrf --k 60 --top 1000 -o fused.run")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@option.give(
    {
        f"--method {'|'.join(method.name for method in _METHODS)} = {_METHODS[0].name}": f"The fusion method. {_formulas(_METHODS)}",
        "--k NUMBER": "The k of rrf.  [default: 60]",
        "--p NUMBER": "The p of rbc, above 0 and below 1.  [default: 0.8]",
        "--weights NUMBERS": "One weight per RUN, in the same order: 1,2.  [default: equal weights]",
        f"--normalise {'|'.join(each.name for each in _NORMALISATIONS)}": "How to make scores comparable, for methods that use them. "
        f"{_formulas(_NORMALISATIONS)}  [default: {_NORMALISATIONS[0].name}]",
        "--depth RANK>=1": "Use each RUN only down to this rank.  [default: all ranks]",
        "--top NUMBER>=1": "Keep this many documents per query.  [default: all]",
        "--tune JUDGMENTS": option.more(
            "Choose the best settings by these judgments, and report their value on held-out queries. Candidates: several numbers for "
            "--k or --p, several --weights as in 1,1:1,2 or grid; by default, values of k for rrf, of p for rbc, and of the weights for other methods.",
            name="judgments",
            type=option.InputFile(),
        ),
    },
    "measure",
    {
        "--folds loo|NUMBER": "With --tune: the cross-validation, leave-one-out (loo) or this many folds.  [default: loo]",
        "--seed INTEGER": "With --tune: the random seed of the folds.  [default: 0]",
        f"--format, -f [{'|'.join(_FUSED_FORMATS)}]": "The format of the fused run.  [default: by the extension of --output; trec]",
        "--tag WORD": "The last field of a TREC run.  [default: fused]",
    },
    "output",
    *option.MEASURING,
    measure="With --tune: the measure to optimise.  [default: nDCG@10]",
    output="Write the fused run to this file instead of standard output; it is replaced when complete. With --tune, standard output "
    "shows the settings that were tried, and this file gets the run with the best ones.",
)
def fuse(runs: tuple[str, ...], **options: Any) -> None:
    """Fuse RUNs into one run, whose scores combine the documents' scores or ranks in the RUNs.

    A document that a RUN did not return gets nothing from that RUN; with borda, such documents share the
    remaining points. A query that only some RUNs contain is fused from these RUNs. Equal fused scores are
    sorted by document id, descending.
    """
    judgments, output = options["judgments"], options["output"]
    if judgments is None:
        _refuse_without_tuning(options)
    named = runs_of(runs, options, judgments)
    read = (*named.values(), judgments)
    refuse_standard_input_twice(*read)
    shared = read_shared_options(option.MEASURING, options, *read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    check_target(output, *read)
    policy = shared["policy"]
    how = {name: options[name] for name in ("method", "normalise", "depth")}
    how["ties"] = "auto" if policy is None else policy.ties
    lists: dict[str, Any] = {
        name: numbers(f"--{name}", options[name], "1,2")
        for name in ("k", "p")
        if options[name] is not None
    }
    if (weights := options["weights"]) is not None:
        several = weights.split(":")
        lists["weights"] = (
            weights
            if weights == "grid"
            else [numbers("--weights", each, "1,2") for each in several]
        )
    if judgments is not None:
        tuned = _tuned(judgments, named, options, {**lists, **how, **shared})
        with seen_enough():
            gf.writing.write_text(f"{tuned}\n", "-")
        if output is None:
            return
        how, lists = tuned.arguments, {}
    for name, values in lists.items():
        if len(values) > 1:
            raise click.UsageError(f"Several values for --{name} require --tune.")
    reading = {name: value for name, value in shared.items() if name in option.READING}
    how |= reading | {name: values[0] for name, values in lists.items()}
    if options["tag"] is not None:
        how["tag"] = options["tag"]
    target = "-" if output is None else output
    format_ = options["format"] or ("trec" if target == "-" else None)
    with seen_enough(), progress_bar() as progress:
        notes = gf.fusion.write_fused(
            named, target, top=options["top"], format=format_, progress=progress, **how
        )
    for note in notes:
        tell(note)


def _tuned(
    judgments: str, runs: dict[str, str], options: dict[str, Any], how: dict[str, Any]
) -> Any:
    """Choose the best settings by judgments."""
    chosen = {name: options[name] for name in _OF_TUNING if options[name] is not None}
    if (folds := chosen.get("folds", "loo")) != "loo":
        if not folds.removeprefix("-").isdecimal():
            raise click.UsageError(f"--folds expects loo or a number, not {folds!r}.")
        chosen["folds"] = int(folds)
    with progress_bar() as progress:
        return gf.fusion.tune(judgments, runs, progress=progress, **chosen, **how)


def _refuse_without_tuning(options: dict[str, Any]) -> None:
    """Reject options that need --tune; ignore the project file's settings for them."""
    of_tuning = (*_OF_TUNING, "assessors", "dialect", "chunks", "chunk_map")
    of_policy = tuple(each.name for each in gf.measures.choices() if each.name != "ties")
    leave_out(options, (*of_tuning, *of_policy), "requires --tune.")
    leave_out_columns(options, of="judgments")


_FEWEST = 2  # runs that can be compared
_FILES = ("items", "vectors", "history", "judgments", "expected")
_HIGHER = "better and worse mean higher and lower here: whether a high value is good depends on the measure"


@command(
    "gainful recommend lists.csv --items films.csv --history ratings.csv -m Coverage@10 "
    "-m 'ILD(by=genre)@10'"
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--measure, -m TEXT...": option.more(
            "What to measure, such as Coverage@10 or 'ILD(by=genre)@10' (see `gainful measures --recommend`); repeat for more.  "
            "[default: everything that the files allow, at 10]",
            name="asked",
        ),
    },
    "items",
    "judgments",
    {
        "--per-user": "Print one row per user instead of the means.",
        "--intervals": "Print one row per RUN and measure, with the confidence interval of the mean over users.",
        "--compare": option.more(
            "Compare the RUNs with the first, user by user, by the measures with per-user values.",
            name="compared",
        ),
    },
    "comparing",
    "digits",
    *option.RESULT,
    *option.READING,
    judgments="The items relevant to each user, as for `gainful evaluate`.",
)
def recommend(runs: tuple[str, ...], **options: Any) -> None:
    """Measure recommendations beyond relevance: coverage, novelty, diversity.

    RUNs are files as for `gainful evaluate`, with users as queries and items as documents. `gainful
    measures --recommend NAME` lists the other files that a measure needs.
    """
    option.refuse_conflicts("recommend", options)
    for name in comparing_of(options):
        needed = ["--compare"]
        if name in ("interval", "level"):
            needed.insert(0, "--intervals")
        if is_typed(name) and not (
            options["compared"] or (options["intervals"] and len(needed) > 1)
        ):
            raise click.UsageError(f"--{name} requires {' or '.join(needed)}.")
    named = runs_of(runs, options)
    tables = {name: options.pop(name) for name in _FILES}
    read = (*named.values(), *tables.values())
    check_files(options, *read)
    if tables["judgments"] is None:
        set_aside(options, ["assessors"])
        leave_out_columns(options, of="judgments")
    shared = read_shared_options(option.READING, options, *read)
    if options["compared"] and len(named) < _FEWEST:
        raise click.UsageError("--compare needs at least two RUNs.")
    with progress_bar() as progress:
        found = gf.recommending.evaluate_recommendation_runs(
            named,
            list(options["asked"]) or None,
            separator=options["separator"],
            progress=progress,
            **tables,
            **shared,
        )
    if options["compared"]:
        _write_comparison(found, options)
    else:
        _write(found, options)


def _write(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the values; notes go to standard error if the format has no room for them."""
    alone = len(found) == 1 and not options["per_user"] and not options["intervals"]
    table = format_of(options) in ("table", "markdown", "latex", "html") and alone
    result: Any = next(iter(found.values())).table() if table else found
    notes = [f"{name}: {scores.coverage}" for name, scores in found.items()]
    print_result(
        result,
        options,
        [*notes, *next(iter(found.values())).aggregates],
        per_query=options["per_user"],
        interval=options["interval"] if options["intervals"] else None,
        level=options["level"],
    )


def _write_comparison(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the differences between runs, by the measures with per-user values."""
    compared = gf.comparison.compare_scores(found, **comparing_of(options))
    print_result(compared, options, compared.notes())
    tell(_HIGHER)
    for note in next(iter(found.values())).aggregates:
        tell(note)


_ENDINGS = gf.writing.endings(of="documents")


def _help() -> str:
    """Return the help of the command, with all file extensions."""
    trec = [ending for ending, name in _ENDINGS.items() if name == "trec"]
    others = [ending for ending, name in _ENDINGS.items() if name != "trec"]
    return (
        "Convert runs or judgments to another format.\n\n"
        "INPUT is a file in any format that evaluate reads. The extension of OUTPUT selects its format: "
        f"{_listed(trec, 'and')} are TREC, the others {_listed(others, 'and')}. Text may be "
        "compressed, .gz or .zst. - is standard input or output. OUTPUT is replaced once it is "
        "complete; numbers and ids are preserved exactly."
    )


def _listed(words: list[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


@command("gainful convert bm25.run bm25.parquet --as run", help=_help())
@click.argument("input_", metavar="INPUT")
@click.argument("output")
@option.give(
    {
        "--as [run|judgments]": option.more("What INPUT contains.", name="kind", required=True),
        "--format, -f FORMAT": f"The format of OUTPUT: {_listed(list(dict.fromkeys(_ENDINGS.values())), 'or')}.  "
        "[default: by its extension]",
        "--tag WORD": "The last field of a TREC run.  [default: gainful]",
    },
    *option.READING,
)
def convert(input_: str, output: str, kind: str, **options: Any) -> None:
    """Write a run or judgments; `_help` writes the help, from the table of extensions."""
    check_target(output, input_)
    if kind == "run":
        set_aside(options, ["assessors"])
    leave_out_columns(options, of="judgments" if kind == "run" else "run")
    if options["tag"] is not None:
        if kind != "run":
            raise click.UsageError("--tag requires --as run: judgments have no tag.")
        tagged = {"tag": options["tag"]}
    else:
        tagged = {}
    write: Any = gf.write_run if kind == "run" else gf.write_judgments
    shared = read_shared_options(option.READING, options)
    with seen_enough():
        write(input_, output, format=options["format"], **tagged, **shared)
