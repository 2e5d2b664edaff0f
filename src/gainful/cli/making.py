"""Commands that make files and texts: `report`, `fuse`, `recommend`, `convert` and `sql`."""

from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.evaluate import INTERVAL, IntervalCommand
from gainful.cli.main import print_data, seen_enough, tell, write
from gainful.cli.option_table import Options
from gainful.cli.project import command, set_aside

_MEGABYTE = 1_000_000
_OF_GRADES = ("query", "doc", "assessor", "grade")  # the columns of --grades
_METHODS = gf.fusion.methods()
_NORMALISATIONS = gf.fusion.normalisations()
_ENDINGS = gf.writing.endings(of="documents")
_FORMATS = [*dict.fromkeys(_ENDINGS.values())]
_FEWEST = 2  # runs that can be compared


@command("gainful report qrels.txt bm25.run dense.run --queries queries.tsv -o report.html")
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@option.give(
    "judgments output measures texts",
    {
        "--grades INPUT...": "Grades of several assessors, for a section about them: a table with query, doc, assessor and grade, or one file per "
        "assessor; repeat for more. --columns grades.query=NAME names a column; otherwise the judgments' column names are used if they fit.",
        "--log INPUT": "The click log behind the judgments, for a section about it; any log that `gainful clicks` can read. --columns log.doc=NAME names a column.",
        "--title TEXT": "The title of the page.  [default: the names of the runs]",
        "--depth RANK>=1": "The last rank to show in the lists.  [default: the cutoff of the first measure, or 20]",
    },
    "unjudged.estimate unjudged.model unjudged.random_sample comparing sampling columns assessors grade_words engine dialect policy chunks tables",
    output={
        "required": True,
        "help": "The page to write; an existing file is replaced once the page is complete. - is standard output.",
    },
    measures="What to measure, such as 'nDCG@10 AP'; repeat for more. Charts and details start with the first one.",
)
def report(files: tuple[str, ...], **options: Any) -> None:
    """Write an HTML page about RUNs: verdict, charts, and the ranked lists of every query that matters.

    The page is a single file that works offline. JUDGMENTS and RUNs have the same formats as for `gainful
    evaluate`; the first RUN is the baseline for the others. With a single RUN, the page has no comparison. If
    --judgments or the project file names the judgments, every file is a RUN.
    """
    target = options["output"]
    judgments, runs = call.judged_runs(files, options, entries=True)
    if len(runs) == 1:
        # Without a comparison, there is nothing to slice; but weights may be a column of the slices.
        sampled = any(options[name] for name in ("weights", "clusters", "strata"))
        set_aside(options, ["by"] if sampled else ["slices", "by"])
    grades = options.pop("grades")  # of assessors: not the possible grades of other commands
    shared = call.read_shared_options(options)
    gf.results.Report.check_path(target)
    assessors = _agreement(grades, runs, options, shared) if grades else None
    how = {
        "agreement": assessors,
        "log": call.read_click_log(options.pop("log"), shared, "log"),
        **shared,
    }
    page = call.work(gf.report, judgments, runs, options=options, **how)
    page.write(target)
    size = "" if target == "-" else f"{Path(target).stat().st_size / _MEGABYTE:.1f} MB, "
    tell(f"{target}: {size}{page.summary}")


def _agreement(
    files: tuple[str, ...], runs: dict[str, str], options: Options, shared: dict[str, Any]
) -> "gf.results.Agreement":
    """Return the agreement of the assessors of --grades; with several runs, also its effect on conclusions."""
    grades = files[0] if len(files) == 1 else files
    others = dict.fromkeys(("columns", "assessors", "queries", "resamples"))
    how = call.keywords(gf.judging.agreement, options | shared | others)
    if len(runs) > 1:
        call.refuse_standard_input("With --grades, runs", *runs.values())
        how["runs"] = runs
    else:
        how = {name: how[name] for name in ("level", "seed")}
    problems = []
    for columns in _columns_of_grades(shared, runs=len(runs) > 1):
        try:
            return gf.judging.agreement(grades, columns=columns, **how)
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
        if key.removeprefix("grades.") not in _OF_GRADES:
            known = ", ".join(f"grades.{role}" for role in _OF_GRADES)
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
        return [named | of_runs]
    of_judgments = {
        key: name
        for key, name in others.items()
        if not key.startswith("run.") and key not in ("score", "rank")
    }
    return [of_judgments | of_runs, of_runs]


def _formulas(entries: Any) -> str:
    return "  ".join(f"{entry.name}: {entry.formula}." for entry in entries)


def _weights(text: str) -> str | list[list[float]]:
    """Return one or several lists of weights, or grid."""
    return text if text == "grid" else [option.numbers_in(part) for part in text.split(":")]


def _folds(text: str) -> str | int:
    """Return the number of folds, or loo."""
    return text if text == "loo" else int(text)


@command("gainful fuse bm25.run dense.run --method rrf --k 60 --top 1000 -o fused.run")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@option.give(
    {
        f"--method {'|'.join(method.name for method in _METHODS)} = {_METHODS[0].name}": f"The fusion method. {_formulas(_METHODS)}",
        "--k NUMBERS": "The k of rrf.  [default: 60]",
        "--p NUMBERS": "The p of rbc, above 0 and below 1.  [default: 0.8]",
        "--weights NUMBERS": {
            "help": "One weight per RUN, in the same order: 1,2.  [default: equal weights]",
            "type": option.Parsed(_weights, "numbers such as 1,2"),
        },
        f"--normalise {'|'.join(each.name for each in _NORMALISATIONS)}": "How to make scores comparable, for methods that use them. "
        f"{_formulas(_NORMALISATIONS)}  [default: {_NORMALISATIONS[0].name}]",
        "--depth RANK>=1": "Use each RUN only down to this rank.  [default: all ranks]",
        "--top NUMBER>=1": "Keep this many documents per query.  [default: all]",
        "--judgments INPUT": "Choose the best settings by these judgments, and report their value on held-out queries. The candidates are the numbers in "
        "--k or --p, or several --weights, such as 1,1:1,2 or grid; by default, gainful tries values "
        "of k for rrf, of p for rbc, and of the weights for other methods.",
    },
    "measure",
    {
        "--folds loo|NUMBER": {
            "help": "With --judgments: the cross-validation, leave-one-out (loo) or this many folds.  [default: loo]",
            "type": option.Parsed(_folds, "loo or a number"),
        },
        "--seed INTEGER": "With --judgments: the random seed of the folds.  [default: 0]",
        f"--format, -f [{'|'.join(_FORMATS)}]": "The format of the fused run.  [default: from the extension of --output, or trec]",
        "--tag WORD": "The last field of a TREC run.  [default: fused]",
    },
    "output measuring",
    measure="With --judgments: the measure to optimise.  [default: nDCG@10]",
    output="Write the fused run to this file instead of standard output. An existing file is replaced only once the run is complete. With --judgments, standard output "
    "shows the settings that were tried, and this file gets the run with the best ones.",
)
def fuse(runs: tuple[str, ...], **options: Any) -> None:
    """Fuse RUNs into one run, whose scores combine the documents' scores or ranks in the RUNs.

    A document that a RUN did not return gets nothing from that RUN; with borda, such documents share the
    remaining points. A query that only some RUNs contain is fused from these RUNs. Equal fused scores are
    sorted by document id, descending.
    """
    judgments, named = call.runs_alone(runs, options)
    output = options["output"]
    shared = call.read_shared_options(options, documents="documents")
    policy = shared["policy"]
    options["ties"] = "auto" if policy is None else policy.ties
    lists = {name: options.pop(name) for name in ("k", "p", "weights")}
    lists = {name: values for name, values in lists.items() if values is not None}
    how = call.keywords(gf.fusion.write_fused, options)
    if judgments is not None:
        options["judgments"] = None  # an input, not an option
        candidates = lists | shared
        tuned = call.work(gf.fusion.tune, judgments, named, options=options, **candidates)
        print_data(f"{tuned}\n")
        if output is None:
            return
        how, lists = call.keywords(gf.fusion.write_fused, options | tuned.arguments), {}
    for name, values in lists.items():
        if len(values) > 1:
            raise click.UsageError(f"Several values for --{name} require --judgments.")
        how[name] = values[0]
    how |= call.reading(shared)
    target = "-" if output is None else output
    how["format"] = options["format"] or ("trec" if target == "-" else None)
    with seen_enough():
        notes = call.work(gf.fusion.write_fused, named, target, **how)
    for note in notes:
        tell(note)


@command(
    "gainful recommend lists.csv --items films.csv --history ratings.csv -m Coverage@10 "
    "-m 'ILD(by=genre)@10'",
    "gainful recommend a.csv b.csv --judgments liked.csv --history ratings.csv --debias snips -m 'nDCG@10 R@10'",
    cls=IntervalCommand,
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--measure, -m TEXT... -> measures": "What to measure, such as Coverage@10 or 'ILD(by=genre)@10' (see `gainful measures --recommend`); repeat for more.  "
        "[default: every measure that the files allow, with cutoff 10]",
    },
    "items judgments",
    {
        "--per-user": "Print one row per user instead of the means.",
        "--compare -> compared": "Compare each RUN with the first one, user by user, on the measures that have per-user values.",
        "--debias [snips|ips]": "Measure relevance as if popular items were observed no more often than others: weigh each relevant item by the inverse of its popularity in --history. -m defaults to nDCG@10. "
        "snips: relative to the best order of the weighted items; ips: not.",
        "--gamma NUMBER": {
            "help": "With --debias: how strongly popularity determines what users are shown, γ of Yang et al. 2018; 0 to 1 for mild corrections, -1 for none.  [default: 1]",
            "type": click.FloatRange(min=-1),
        },
        "--exposures INPUT": "With --debias: the items that users were shown, a row for each, from which γ is estimated.",
        "--clip >0.0<=1.0": "With --debias: the smallest probability of being observed, relative to the most popular item.  [default: 0.01]",
    },
    "comparing sampling",
    INTERVAL,
    "digits result reading",
    judgments="The items that are relevant to each user, in the same formats as for `gainful evaluate`.",
)
def recommend(runs: tuple[str, ...], **options: Any) -> None:
    """Measure recommendations beyond relevance: coverage, novelty, diversity.

    RUNs are files like those for `gainful evaluate`, with users as queries and items as documents. `gainful
    measures --recommend NAME` lists the other files that a measure needs.
    """
    judgments, named = call.runs_alone(runs, options)
    shared = call.read_shared_options(options)
    if (method := options.pop("debias")) is not None:
        _debias(judgments or "", named, options | {"method": method}, shared)
        return
    if options["compared"] and len(named) < _FEWEST:
        raise click.UsageError("--compare needs at least two RUNs.")
    evaluate_runs = gf.recommending.evaluate_recommendation_runs
    results = call.work(evaluate_runs, named, options=options, **shared)
    scores = next(iter(results.values()))
    if options["compared"]:  # by the measures with per-user values
        options["interval"] = options["interval"] or "hall"
        how = call.keywords(gf.comparison.compare_scores, options | {"measures": None})
        comparison = gf.comparison.compare_scores(results, **how)
        call.print_result(comparison, options)
        for note in scores.aggregates:
            tell(note)
        return
    per_user, interval = options["per_user"], options["interval"]
    for_people = call.format_of(options) in call.FOR_PEOPLE
    is_table = for_people and len(results) == 1 and not per_user and not interval
    how = {"per_query": per_user, "interval": interval, "level": options["level"]}
    call.print_result(scores.table() if is_table else results, options, **how)


def _debias(
    judgments: str, named: dict[str, str], options: Options, shared: dict[str, Any]
) -> None:
    """Correct measures of relevance for popular items."""
    if options["history"] is None:
        raise click.UsageError("--debias requires --history.")
    measures = [*options["measures"]] or "nDCG@10"
    own = {name: options[name] for name in ("history", "method", "gamma", "exposures", "clip", "level")}  # fmt: skip
    own = {name: value for name, value in own.items() if value is not None}
    debias = gf.recommending.debias
    call.print_result(debias(judgments, named, measures, **own, **call.reading(shared)), options)


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
@click.argument("output", type=option.OutputFile())
@option.give(
    {
        "--as [run|judgments] -> kind": {"help": "What INPUT contains.", "required": True},
        "--format, -f FORMAT": f"The format of OUTPUT: {_listed(_FORMATS, 'or')}.  "
        "[default: from its extension]",
        "--tag WORD": "The last field of a TREC run.  [default: gainful]",
        "--reference >=1": "With --as judgments: INPUT is a run to compare others with, such as an exact search; this many documents at the top of each query get grade 1.",
        "--hold-out latest|random|time": "With --as judgments: hold out some of the ratings in INPUT, write them to OUTPUT, and print what leaks. latest: the last ratings of each user; random: random ratings of each user; time: all ratings from a certain moment on.",
        "--training FILE": "With --hold-out: write all other ratings to this file.",
        "--size >=1": "With --hold-out latest or random: how many ratings per user to hold out.  [default: 1]",
        "--share >0.0<1.0": "With --hold-out time: the share of all ratings to hold out.  [default: 0.2]",
        "--at TIME": "With --hold-out time: hold out all ratings from this moment on, such as 2024-01-31, instead of a share.",
        "--core >=1": "With --hold-out: first leave out users and items with fewer ratings than this.",
        "--seed INTEGER": "With --hold-out random: the random seed.",
        "--within >=0.0": "With --reference: also accept further documents whose score or distance differs from that of the last one by at most this much.",
    },
    "reading",
)
def convert(input_: str, output: str, kind: str, **options: Any) -> None:
    """Write a run or judgments; `_help` writes the help, from the table of extensions."""
    if kind == "run":
        set_aside(options, ["assessors", "grade_words"])
    elif options["tag"] is not None:
        raise click.UsageError("--tag requires --as run: judgments have no tag.")
    k, within = options["reference"], options["within"]
    if k is not None and kind == "run":
        raise click.UsageError("--reference requires --as judgments.")
    call.leave_out_columns(options, of="judgments" if kind == "run" or k is not None else "run")
    write: Any = gf.write_run if kind == "run" else gf.write_judgments
    shared = call.read_shared_options(options)
    source: Any = input_
    if k is not None:
        source = gf.inputs.reference_judgments(input_, k=k, within=within, **shared)
        shared = {}
    if options["hold_out"] is not None:
        if kind == "run":
            raise click.UsageError("--hold-out requires --as judgments.")
        how = {
            name: options[name]
            for name in ("size", "share", "at", "core", "seed")
            if options[name] is not None
        }
        parts = gf.recommending.split(
            input_,
            method=options["hold_out"],
            **how,
            **call.keywords(gf.recommending.split, shared),
        )
        for sentence in parts.sentences():
            tell(sentence)
        source, shared = parts.judgments, {}
        if options["training"] is not None:
            gf.write_judgments(parts.seen, options["training"])
    with seen_enough():
        write(source, output, **call.keywords(write, options), **shared)


@command(
    "gainful sql nDCG@10",
    "gainful sql 'nDCG(gain=exp2)@10' --dialect postgres --judgments shop.grades --run shop.hits --columns doc=product",
)
@click.argument("measure", shell_complete=option.COMPLETED["--measure"])
@option.give(
    {
        "--dialect duckdb|sqlite|postgres|bigquery|snowflake|spark = duckdb": "The database. For bigquery, snowflake and spark, "
        "sqlglot translates the query, which gainful's tests don't execute there.",
        "--judgments TABLE = judgments": "The table with the columns query, doc and grade.",
        "--run TABLE = run": "The table with the columns query, doc and score.",
        "--columns ROLE=NAME...": "The name of a column, if it differs, such as doc=product; repeat for query, doc, grade and score, or separate pairs by commas.",
        "--per-query": "Return a row for each query instead of the mean.",
    },
    "policy output",
)
def sql(measure: str, **options: Any) -> None:
    """Write MEASURE as one SQL query, which computes inside a database what `gainful evaluate` computes.

    MEASURE is CG, DCG, IDCG, nDCG, P, R, Success, RR or AP, such as nDCG@10. The query needs two tables, of judgments and of a
    run, in which no document is repeated for a query and no number is missing. If a query can't follow a choice of the policy,
    the command says why.
    """
    policy = {choice.name: options.pop(choice.name) for choice in gf.measures.choices()}
    texts = [pair for text in options["columns"] for pair in text.split(",")]
    options["columns"] = call.pairs("--columns", texts, "ROLE=NAME, such as doc=product")
    query = gf.writing.sql(measure, policy=policy, **call.keywords(gf.writing.sql, options))
    write(query.rstrip(), options["output"])
