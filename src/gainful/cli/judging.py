"""Commands about judgments: `pool`, `judge`, `agreement`, `collect`, `sample` and `merge`."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.main import print_data, progress_bar, tell, tell_some
from gainful.cli.options import (
    ROWS,
    check_cache,
    check_files,
    check_target,
    format_of_documents,
    formats_of,
    leave_out_columns,
    listed,
    numbers,
    pairs,
    print_result,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    runs_of,
    write_documents,
    write_pool,
)
from gainful.cli.project import command, leave_out, set_aside
from gainful.message_texts import counted, shortened

_OF_POOLS = ("measure", "budget", "grades", "compare", "depth")


@command("gainful pool bm25.run dense.run --judgments qrels.txt -m nDCG@10 --budget 50")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--depth RANK>=1": "Pool documents down to this rank.  [default: 100; with --judgments, the measure's cutoff, if any]",
    },
    "judgments",
    "measure",
    {
        "--budget NUMBER": option.more(
            "With --judgments: the maximum number of documents to list.  [default: 50]", type=int
        ),
        "--grades GRADES": "With --judgments: the possible grades, such as 0,1,2,3.  [default: 0 and the lowest and highest grade in the judgments]",
        "--compare NAME NAME": option.more(
            "With --judgments: settle the difference between two runs, named after their files without the extension.",
            nargs=2,
        ),
        f"--format, -f [{'|'.join(formats_of('pools'))}]": "The output format; trec: query 0 doc grade, with ? for unjudged.  "
        "[default: by the extension of --output; table]",
    },
    "output",
    *option.MEASURING,
    judgments="List only unjudged documents, those that could change the measure most first.",
    measure="With --judgments: the measure to settle.  [default: nDCG@10]",
)
def pool(runs: tuple[str, ...], **options: Any) -> None:
    """List the documents to judge: every document near the top of any RUN.

    With --judgments, list only unjudged documents, ordered by how much their grade could change the
    measure: how far its mean moves between the best and the worst possible grade of that one document.
    """
    judgments = options["judgments"]
    if judgments is None:
        set_aside(options, ["measure", "assessors"])
        leave_out_columns(options, of="judgments")
    named = runs_of(runs, options, judgments)
    read = (*named.values(), judgments)
    shared = read_shared_options(option.MEASURING, options, *read)
    refuse_standard_input_twice(*read)
    check_target(options["output"], *read)
    format_ = format_of_documents(options, "pools")
    option.refuse_conflicts("pool", options)
    chosen = {name: options[name] for name in _OF_POOLS if options[name] is not None}
    if "grades" in chosen:
        chosen["grades"] = tuple(numbers("--grades", chosen["grades"], "0,1,2,3"))
    with progress_bar() as progress:
        how = chosen | shared | {"progress": progress}
        if judgments is None:
            found = gf.pool(named, **how)
        else:
            found = gf.judging.next_to_judge(judgments, named, **how)
    if write_pool(found, options, format_):
        tell(found.summary)


_OF_A_NEW_ONE = (
    "queries", "docs", "judgments", "scale", "depth", "order", "compare", "overlap", "overlap_share", "show_ranks",
    "tag", "seed", "title",
)  # fmt: skip


@command("gainful judge bm25.run dense.run --queries queries.tsv --docs docs.jsonl --db study.db")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@option.give(
    "texts",
    "judgments",
    {
        "--scale LOW..HIGH": "The grades, such as 0..3, optionally with labels: '0=off topic,1=related,2=answers it'.  [default: 0..3]",
        "--depth RANK>=1": "Judge the documents down to this rank of any RUN.  [default: 20]",
        "--order [effect|verdict|random|rank]": "The order of the documents. effect: first those that could change the measure most; verdict: those that could reverse the comparison of two RUNs; "
        "random: shuffled; rank: by the best rank in any RUN.  [default: effect]",
        "--compare NAME NAME": option.more(
            "The two RUNs of --order verdict, named after their files without the extension, the baseline first.  [default: the first two]",
            nargs=2,
        ),
        "--overlap NUMBER>=1": "The number of assessors per document.  [default: 1]",
        "--overlap-share SHARE>=0.0<=1.0": "The share of documents, drawn at random, that --overlap assessors judge, such as 0.2; one assessor judges the others.  [default: 1]",
        "--show-ranks/--hide-ranks": option.more(
            "Whether assessors see the ranks of a document in the RUNs.  [default: hide-ranks]",
            default=None,
        ),
        "--tag WORDS...": "A reason that assessors can attach to a grade; repeat for more.  [default: some common reasons]",
        "--seed INTEGER": "The random seed of the order and of --overlap-share.  [default: 0]",
        "--title TEXT": "The title of the study.  [default: the name of the database]",
        "--guideline INPUT": "A text file with instructions for assessors; a changed text becomes a new version.",
        "--db FILE|postgresql://… = study.db": "The database of the study: an SQLite file or a PostgreSQL database. With RUNs, it is created if missing.",
        "--invite NAME...": "Print a link for the assessor with this name; repeat for more. The assessor's previous link stops working.",
        "--host TEXT = 127.0.0.1": "The address of the desk. Other machines can reach every address except the default, so any other requires a --secret.",
        "--port >=0<=65535 = 8765": "The port of the desk; 0 selects a free port.",
        "--secret TEXT": option.more(
            "A secret of at least 12 characters that everybody enters once after opening their link; preferably set as GAINFUL_DESK_SECRET.",
            envvar="GAINFUL_DESK_SECRET",
        ),
        "--behind-proxy ADDRESS": "The IP address of a reverse proxy, whose X-Forwarded-For and -Proto headers are trusted; requires --secret.",
        "--no-open": "Print the link without opening it in a browser.",
        "--offline": "Write the desk as a single page, --output, for an assessor without a server; --invite names the assessor.",
        "--budget NUMBER>=1<=5000": "With --offline: the maximum number of documents on the page, up to 5,000. They are reserved for 30 days.  [default: 200]",
        "--output, -o FILE": "With --offline: the page to write.",
        "--merge INPUT...": "Import grades that an offline page saved, without starting the desk; repeat for more.",
        "--as NAME": "With --merge: confirm that the grades come from this assessor, for a file without the proof of its page.",
        "--backup FILE": "Copy the whole study to this file, without starting the desk; works while a desk is open. An existing file is replaced once the copy is complete.",
    },
    judgments="Existing judgments; documents judged there are not judged again.",
)
def judge(runs: tuple[str, ...], **options: Any) -> None:
    """Open the judging desk: a grading page for assessors and a dashboard for the lead.

    The command prints and opens the lead's link, where the lead invites assessors. With the same --db, it continues an
    existing study; RUNs, if any, add new documents. Stop it with Ctrl-C: nothing is lost.
    """
    from gainful.judging.desk.desk_server import take_address

    _refuse_together(runs, options)
    offline, merged = options["offline"], options["merge"]
    if options["backup"] is not None:
        _back_up(options["db"], options["backup"])
        return
    # Everything that can fail comes before the study is created or changed.
    guideline = None if options["guideline"] is None else _guideline(options["guideline"])
    with ExitStack() as open_ones:
        taken = None
        if not (offline or merged):
            address = (options[name] for name in ("host", "port", "secret", "behind_proxy"))
            taken = open_ones.enter_context(take_address(*address))
        study = open_ones.enter_context(_study(runs, options))
        if guideline is not None and guideline != study.guideline.text:
            study.set(guideline=guideline)
        if merged:
            _import_pages(study, merged, options["as"])
        elif offline:
            _write_offline(study, options)
        else:
            _serve(study, options, taken)


def _refuse_together(runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Reject options that cannot be combined."""
    from gainful.judging.desk.study import LEAD

    offline, merged = options["offline"], options["merge"]
    option.refuse_conflicts("judge", options)
    if offline and len(options["invite"]) != 1:
        raise click.UsageError(
            "--offline requires the name of its assessor: pass --invite NAME once."
        )
    alone = (runs, offline, merged, options["invite"], options["guideline"])
    if options["backup"] is not None and any(alone):
        raise click.UsageError("--backup can only be combined with --db.")
    if LEAD in [name.strip() for name in options["invite"]]:
        raise click.UsageError(
            f"--invite {LEAD}: the lead already has a link. Choose another name for an assessor."
        )


def _study(runs: tuple[str, ...], options: dict[str, Any]) -> Any:
    from gainful.judging.desk.offline import LEASE

    address = options["db"]
    lease: dict[str, Any] = {"lease": LEASE} if options["offline"] else {}
    if not runs:
        set_aside(options, ["judgments", "queries", "docs"])
    chosen = {name: options[name] for name in _OF_A_NEW_ONE if options[name] not in (None, ())}
    if not runs:
        if chosen:
            listed = ", ".join(map(option.option_name, chosen))
            raise click.UsageError(
                f"{listed}: only allowed with RUNs. An existing study keeps its own settings."
            )
        with _in_words_of_the_command():
            return gf.judging.Study(address, **lease)
    named = runs_of(runs, options, options["judgments"])
    texts = {name: options[name] for name in ("queries", "docs")}
    refuse_standard_input_twice(*named.values(), *texts.values(), options["judgments"])
    for name, path in texts.items():
        if path is None:
            raise click.UsageError(f"Missing option '--{name}': assessors need the texts to judge.")
    if "tag" in chosen:
        chosen["tags"] = chosen.pop("tag")
    if "scale" in chosen:
        chosen["scale"] = _judging_scale(chosen["scale"])
    return gf.judging.Study.create(address, named, **chosen, **lease)


@contextmanager
def _in_words_of_the_command() -> Iterator[None]:
    """Add the command that creates a study to the error about a missing one."""
    try:
        yield
    except gf.errors.StudyError as problem:
        if problem.code != "study.missing":
            raise
        remedy = "Create one: gainful judge RUN… --queries FILE --docs FILE --db …."
        raise problem.with_remedy(remedy) from None


def _judging_scale(text: str) -> str | dict[float, str]:
    """Return a scale, with the labels of its grades if any."""
    if "=" not in text:
        return text
    example = "LOW..HIGH or GRADE=WORD,GRADE=WORD"
    words = pairs("--scale", text.split(","), example)
    try:
        scale = {float(number): word for number, word in words.items()}
    except ValueError:
        raise click.UsageError(f"--scale expects {example}, not {text!r}.") from None
    if len(scale) < len(words):
        raise click.UsageError(f"--scale expects {example}, each grade once, not {text!r}.")
    return scale


def _guideline(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise gf.errors.InputError(file, "a text file in UTF-8", str(problem)) from None


def _serve(study: Any, options: dict[str, Any], taken: Any) -> None:
    from gainful.judging.desk.desk_server import DeskServer, open_in_browser
    from gainful.judging.desk.study import LEAD

    def started(address: str) -> None:
        link = f"{address}/i/{study.invite(LEAD, role='lead')}"
        progress = study.progress()
        tell(f"{study.address}: {progress.done:,} of {counted(progress.items, 'document')} judged")
        print_data(f"{LEAD}\t{link}\n")
        for name in options["invite"]:
            print_data(f"{name}\t{address}/i/{study.invite(name)}\n")
        tell("Press Ctrl-C to stop the desk; run the same command again to continue.")
        if not options["no_open"] and sys.stdout.isatty():
            open_in_browser(link)

    named = {name: options[name] for name in ("host", "secret", "behind_proxy")}
    desk = DeskServer(study, **named, taken=taken)
    with suppress(KeyboardInterrupt):  # the desk has already closed its connections
        desk.run(started)


def _write_offline(study: Any, options: dict[str, Any]) -> None:
    from gainful.judging.desk.offline import USUAL, write_offline

    [name] = map(str.strip, options["invite"])
    check_target(options["output"])
    page = write_offline(study, name, options["output"], options["budget"] or USUAL)
    told = f"{options['output']}: {counted(page.documents, 'document')} for {name}"
    if page.left:
        told += f"; {page.left:,} more remain, see --budget"
    tell(told)


def _back_up(address: str, path: str) -> None:
    from gainful.judging.desk.store import back_up

    with _in_words_of_the_command():
        acts = back_up(address, path)
    tell(f"{path}: a copy of {address} with {counted(acts, 'action')}")


def _import_pages(study: Any, files: tuple[str, ...], assessor: str | None) -> None:
    from gainful.judging.desk.offline import merge

    for file in files:
        found = merge(study, file, assessor)
        tell(f"{file}: {counted(found.confirmed, 'action')} by {found.assessor} imported")
        for line in found.refused:
            tell(line)


if TYPE_CHECKING:
    from gainful.output.rendering.table_formats import Table

_OF_RUNS = ("measures", "rule", "baseline", "pairs", "correction")  # in Python and here
_OF_CONCLUSIONS = ("means", "orders", "verdicts", "settle")
_TABLES = (
    "coefficients", "pairs", "leanings", "confusion", "queries", "disputed", "means", "orders", "verdicts", "settle",
)  # fmt: skip


@command("gainful agreement ann.qrels bob.qrels eve.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    "names",
    "level",
    "resamples",
    "seed",
    {
        "--run RUN...": option.more(
            "A run, a folder of runs or a pattern; repeat for more. With two or more, also show how disagreement affects "
            "conclusions: means per assessor and for the merged grades, agreement of rankings, changed verdicts, items to settle first.",
            name="runs",
        ),
    },
    "measures",
    {
        "--rule RULE = mean": "With --run: how to merge the grades, as in `gainful merge`.",
        "--baseline NAME": "With --run: the name of the run to compare the others with.  [default: the first]",
        **option.comparison(
            pairs="With --run: the pairs of runs to compare.",
            correction="With --run: how to correct p-values for multiple comparisons.",
        ),
        "--html FILE": "With --run: write an HTML page about runs and assessors, as `gainful report --grades` does, using the merged grades.",
        f"--table [{'|'.join(_TABLES)}]": option.more(
            "Write only this table; means, orders, verdicts and settle need --run.  [default: all; coefficients in csv, tsv, jsonl]",
            name="table_name",
        ),
    },
    *option.RESULT,
    *option.MEASURING,
    level="The confidence level of the intervals.",
    resamples={"help": "The number of bootstrap resamples for the intervals.", "default": 2000},
    seed="The random seed; equal seeds give equal results.",
    measures="With --run: what to measure, such as nDCG@10; repeat for more.",
)
def agreement(files: tuple[str, ...], **options: Any) -> None:
    """Measure how well assessors agree, who grades high or low, and how that affects conclusions.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # it merges several assessors, and here each of them counts
    if not options["runs"]:
        _refuse_without_runs(options)
    runs = runs_of(options["runs"], options)
    read = (*files, *runs.values())
    check_files(options, *read)
    given = read_shared_options(option.MEASURING, options, *read)
    if not runs:
        given = {name: value for name, value in given.items() if name in option.READING}
    if options["html"]:
        check_target(options["html"], *read)
        gf.results.Report.check_path(options["html"])
    grades = files[0] if len(files) == 1 else files
    names = listed(options["names"])
    found = gf.judging.agreement(
        grades,
        names=names,
        level=options["level"],
        resamples=options["resamples"],
        seed=options["seed"],
        **({"runs": runs, **{name: options[name] for name in _OF_RUNS}} if runs else {}),
        **given,
    )
    if options["html"]:
        _page(found, grades, names, runs, options, given).write(options["html"])
    shown = _chosen(found, options["table_name"])
    notes = []
    if shown is found:
        others = ", ".join(name for name in found.named_tables() if name != "coefficients")
        notes = [
            f"Only the coefficients; use --table for another table ({others}), or json for all."
        ]
    print_result(shown, options, notes)


def _chosen(found: "gf.results.Agreement", name: str | None) -> "gf.results.Agreement | Table":
    """Return the table named by --table, or the whole result."""
    tables = found.named_tables()
    if name is None or name in tables:
        return found if name is None else tables[name]
    if name in _OF_CONCLUSIONS:
        raise click.UsageError(f"--table {name} requires --run.")
    raise click.UsageError(f"--table {name} lists disputed items, but there are none.")


def _page(
    found: "gf.results.Agreement",
    grades: Any,
    names: list[str] | None,
    runs: dict[str, str],
    options: dict[str, Any],
    given: dict[str, Any],
) -> "gf.results.Report":
    """Return the report on the runs (by the merged grades) and on the assessors."""
    reading = {name: value for name, value in given.items() if name in option.READING}
    merged = gf.judging.merge_judgments(grades, options["rule"], names=names, **reading)
    measured = {name: given[name] for name in ("policy", "dialect", "chunks") if name in given}
    chosen = {name: options[name] for name in ("baseline", "pairs", "correction", "level", "seed")}
    return gf.report(merged, runs, list(options["measures"]), agreement=found, **chosen, **measured)


def _refuse_without_runs(options: dict[str, Any]) -> None:
    """Reject options that need --run; ignore the project file's settings for them."""
    of_policy = tuple(each.name for each in gf.measures.choices())
    names = (*_OF_RUNS, "html", "dialect", "chunks", "chunk_map", *of_policy)
    leave_out(options, names, "requires --run.")
    leave_out_columns(options, of="run")


_READING = ("columns", "engine")
_CACHE = ".answers.jsonl"
_LETTERS = 4  # characters per token, roughly

_NOT_PASSED = ("model", "call", "parameters", "grades", "cache", "dry_run", "format", "output")
"""The options that Python passes differently, or doesn't have."""


@command(
    "gainful collect pool.qrels --queries queries.tsv --docs docs.jsonl --endpoint "
    "http://localhost:8000/v1 --model llama -o model.csv"
)
@click.argument("source", metavar="PAIRS", type=option.InputFile())
@option.give(
    "texts",
    {
        "--depth RANK>=1": "PAIRS is a run: grade the documents down to this rank.",
        "--endpoint URL": "A server with chat completions, such as http://localhost:8000/v1.",
        "--model NAME": "With --endpoint: the name of the model.",
        "--call MODULE:NAME": "A Python function instead, from a prompt to an answer; its module is in the current folder.",
        "--key-variable NAME": "With --endpoint: the environment variable that contains the key. The key is never written.",
        "--parameter NAME=VALUE...": option.more(
            "With --endpoint: an extra request parameter, such as temperature=0; repeat for more.",
            name="parameters",
        ),
        "--prompt INPUT": "A template with {query}, {document} and {scale}; {{ and }} are braces.  [default: gainful's prompt]",
        "--grade NUMBER[=MEANING]...": option.more(
            "A grade of the scale and its meaning; repeat for each.  [default: gainful's scale, 0 to 3]",
            name="grades",
        ),
        "--per-prompt >=1 = 1": "The number of documents per prompt, if the prompt contains {documents}.",
        "--batch NUMBER>=1": "With --call: the function accepts a list of this many prompts and returns a list of answers.",
        "--longest NUMBER>=1": "The maximum number of characters per document.",
        "--missing-texts [error|skip] = error": "What to do if a text is missing: fail (error), or leave the document unjudged (skip).",
        "--concurrency NUMBER>=1": "The number of simultaneous calls.  [default: 8 with --endpoint, 1 with --call]",
        "--retries NUMBER>=0": "Retries of a failed call, after 1, 2, 4, … seconds.  [default: 5 with --endpoint, 0 with --call]",
        "--ask-again >=0 = 0": "How often to repeat a prompt if its answer cannot be parsed.",
        "--per-minute NUMBER": option.more("The maximum number of calls per minute.", type=float),
        "--timeout SECONDS": option.more(
            "With --endpoint: the time limit for an answer.  [default: 120]", type=float
        ),
        "--prices IN OUT": option.more(
            "The prices per million input and output tokens, to compute the cost.",
            type=float,
            nargs=2,
        ),
        "--price-per-call NUMBER>=0.0": "The price of a call, to compute the cost; with --prices, it is added to the price of the tokens.",
        "--max-calls NUMBER>=0": "The maximum number of calls, including retries. If prompts remain, print how many and exit 1.",
        "--max-cost NUMBER>=0.0": "Stop before a call that could raise the total cost above this (needs a price); then print how many prompts remain and exit 1.",
        "--cache FILE": f"Save every answer in this file, and send only the missing prompts.  [default: OUTPUT{_CACHE} with --output]",
        "--name NAME": "The model's name as an assessor.  [default: the model's name]",
        "--dry-run": "Send nothing: show the first prompt, the number of calls and their size.",
        f"--format, -f [{'|'.join(formats_of('pools'))}]": "The output format; trec: query 0 doc grade.  [default: by the extension of --output; table]",
    },
    "output",
    *_READING,
    queries={"required": True},
    docs={
        "required": True,
        "help": "The texts of the documents: a file as for --queries, with a title, a text or both.",
    },
)
def collect(source: str, **options: Any) -> None:
    """Collect grades from a model for PAIRS: a pool, judgments, or a table with query and doc.

    The model is a server (--endpoint) or a Python function (--call). An answer is valid if its last line is
    `grade: 2`, or if it is JSON {"grade": 2} or just the number. Other answers are saved and counted, and their
    documents stay unjudged. If calls failed, a limit was reached or nothing could be graded, the exit code is 1: run
    the same command again to send the remaining prompts.
    """
    output, dry = options["output"], options["dry_run"]
    leave_out_columns(options, of="judgments")
    if options["depth"] is None:
        leave_out_columns(options, of="run")
    read = (source, options["queries"], options["docs"], options["prompt"])
    shared = read_shared_options(_READING, options, *read)
    refuse_standard_input_twice(*read)
    if not dry:
        check_target(output, *read)
    chosen = format_of_documents(options, "pools")
    # Answers cost money, so they are cached even without --cache.
    cache = options["cache"] or (None if output in (None, "-") else f"{output}{_CACHE}")
    check_cache(cache, output, *read)
    with option.own_modules(click.get_current_context().obj), progress_bar() as progress:
        found = gf.judging.collect_grades(
            source,
            _model_of(options),
            **{name: value for name, value in options.items() if name not in _NOT_PASSED},
            parameters=_parameters_of(options["parameters"]),
            grades=_grades_of(options["grades"]),
            cache=cache,
            dry=dry,
            progress=progress,
            **shared,
        )
    if dry:
        _show_plan(found)
        return
    is_bare = write_pool(found, options, chosen)
    if is_bare or output is not None:
        left = [*found.unread, *found.failed, *found.without_text]
        tell_some([_not_judged(item) for item in left])
        tell(found.summary)
    if options["cache"] is None and cache is not None:
        tell(f"the answers are saved in {cache}")
    if found.limit is not None:
        _tell_limit(found, cache)
    if found.failed or found.limit is not None or (found.rows and not found.graded):
        sys.exit(1)


def _model_of(options: dict[str, Any]) -> str:
    if options["endpoint"] is None and options["call"] is None:
        raise click.UsageError(
            "Name the model: --endpoint URL --model NAME, or --call MODULE:NAME."
        )
    option.refuse_conflicts("collect", options)
    return str(options["call"] or options["model"])


def _parameters_of(texts: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the extra request parameters: each value as JSON if it parses, otherwise as text."""
    parameters: dict[str, Any] = dict(
        pairs("--parameter", texts, "NAME=VALUE, such as temperature=0")
    )
    for name, value in parameters.items():
        with suppress(ValueError):
            parameters[name] = json.loads(value)
    return parameters or None


def _grades_of(texts: tuple[str, ...]) -> dict[float, str] | list[float] | None:
    numbers, meanings = [], []
    for text in texts:
        number, _, meaning = text.partition("=")
        try:
            numbers.append(float(number))
        except ValueError:
            message = f"--grade expects NUMBER=MEANING, such as 0='off topic', not {text!r}."
            raise click.UsageError(message) from None
        meanings.append(meaning.strip())
    if len({*numbers}) < len(numbers):
        raise click.UsageError("--grade names a grade twice.")
    if any(meanings) and not all(meanings):
        raise click.UsageError("--grade: pass a meaning for every grade or for none.")
    if not any(meanings):
        return numbers or None
    return dict(zip(numbers, meanings, strict=True))


def _not_judged(item: Any) -> str:
    answer = "" if item.answer is None else f": {shortened(item.answer, 120)!r}"
    return f"unjudged: query {item.query}, document {item.doc}, {item.why}{answer}"


def _tell_limit(found: "gf.results.CollectedGrades", cache: str | None) -> None:
    """Report the prompts that remain after a limit, and how to continue."""
    left = f"{counted(found.unasked, 'prompt')} left, {_size(found)}"
    more = (
        "Run the same command again to continue: saved answers are not requested again."
        if cache is not None
        else "Without --cache or --output, answers are not saved, and the next call starts over."
    )
    tell(f"stopped at {option.option_name(str(found.limit))}: {left}. {more}")


def _size(found: "gf.results.CollectedGrades") -> str:
    """Return the size of the remaining prompts as text."""
    size = found.unasked_characters
    return f"{size:,} characters" + (f", about {size // _LETTERS:,} tokens" if size else "")


def _show_plan(found: "gf.results.CollectedGrades") -> None:
    plan = f"{counted(found.unasked, 'prompt')} to send, {_size(found)}; {found.cached:,} cached"
    print_data(f"{found.first_prompt.rstrip()}\n")
    tell(f"dry run, first prompt: {plan}")
    tell(found.summary)


_OF_SAMPLES = ("size", "allocation", "seed")


@command("gainful sample model.qrels --size 60 --design design.json -o to_judge.csv")
@click.argument("files", nargs=-1, required=True, metavar="SOURCE...")
@option.give(
    {
        "--size >=1": option.more("The sample size.", required=True),
        "--design FILE": "Write the design to this file (.json) for `gainful calibrate`: what was drawn, from what, and how.",
        "--strata INPUT": "A table with one row per query: draw from each stratum separately.",
        "--by COLUMN...": "The column of --strata; with --documents, query, rank or grade; repeat for more.  [default: the only column; query]",
        "--allocation [proportional|equal] = proportional": "The number drawn from each stratum: proportional to its size, or equal.",
        "--documents": "Draw documents instead of whole queries, for DCG and CG; the SOURCEs are runs.",
        "--depth RANK>=1": "With --documents: draw from the documents down to this rank.  [default: 10]",
        "--model INPUT": "With --documents: a model's judgments, for --by grade.",
    },
    "seed",
    *option.RESULT,
    *option.MEASURING,
    seed="The random seed; equal seeds draw equal samples.",
)
def sample(files: tuple[str, ...], **options: Any) -> None:
    """Draw a random sample of queries or documents for people to judge, and save the design.

    SOURCE lists the queries: judgments (such as a model's), a run, query texts, or one id per line.
    With --documents, the SOURCEs are runs, and their documents are sampled.
    """
    documents, design, output = options["documents"], options["design"], options["output"]
    read = (*files, options["strata"], options["model"])
    if "-" in read:
        raise click.UsageError("This command cannot read standard input: pass a file.")
    if design is not None:
        check_target(design, *read)
    check_files(options, *read)
    refuse_other_endings(design, ".json")
    if design is not None and design == output:
        raise click.UsageError("Each output needs a file of its own.")
    option.refuse_conflicts("sample", options)
    found = (_sample_of_documents if documents else _sample_of_queries)(files, options)
    if design is not None:
        found.write(design, format="json")
    print_result(found.table(), options, [found.summary], bare=ROWS)
    if design is None:
        tell(
            "The design was not saved: pass --design FILE so that `gainful calibrate` can read it."
        )


def _sample_of_queries(
    files: tuple[str, ...], options: dict[str, Any]
) -> "gf.results.SampleDesign":
    if len(files) > 1:
        raise click.UsageError("Queries are drawn from one SOURCE: pass a single file.")
    if len(options["by"]) > 1:
        raise click.UsageError("--by accepts one column of --strata: pass it once.")
    by = options["by"][0] if options["by"] else None
    set_aside(options, ["dialect", "chunks", "chunk_map"])
    shared = read_shared_options(option.MEASURING, options, *files)
    how = {name: shared[name] for name in option.READING if name in shared}
    how |= {name: options[name] for name in ("strata", *_OF_SAMPLES)}
    return gf.judging.sample_queries(files[0], by=by, **how)


def _sample_of_documents(
    files: tuple[str, ...], options: dict[str, Any]
) -> "gf.results.SampleDesign":
    if options["model"] is None:
        set_aside(options, ["assessors"])
    named = runs_of(files, options, options["model"])
    how = read_shared_options(option.MEASURING, options, *files)
    how |= {name: options[name] for name in _OF_SAMPLES}
    how |= {name: options[name] for name in ("depth", "model") if options[name] is not None}
    if options["by"]:
        how["by"] = list(options["by"])
    return gf.judging.sample_documents(named, **how)


_MERGED_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="merged").values()))


@command("gainful merge ann.qrels bob.qrels eve.qrels --rule median -o merged.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    {
        "--rule RULE = mean": "How to merge grades: mean; median; majority, the most frequent grade; max; min; dawid-skene, the most probable grade given "
        "each assessor's confusions; or the name of an assessor, to use only their grades.",
        "--ties [lowest|highest|mean|first]": "The tied grade that wins with median, majority or dawid-skene; first: the grade of the first assessor who gave one of them.  "
        "[default: mean with median, otherwise lowest]",
        "--first NAME": "The assessor whose grades take precedence; for documents that this assessor did not grade, the rule merges the other grades.",
        "--weights WEIGHTS": "Weights of assessors for mean, median and majority: ann=2,bob=0.5.  [default: 1 each]",
    },
    "names",
    {
        f"--format, -f [{'|'.join(_MERGED_FORMATS)}]": "The output format; csv, tsv, jsonl and parquet also list how many grades were merged, and whose; json contains "
        "everything.  [default: by the extension of --output; trec]",
    },
    "output",
    *option.READING,
    output="Write the judgments to this file instead of standard output; it is replaced when complete.",
)
def merge(files: tuple[str, ...], **options: Any) -> None:
    """Merge the grades that several assessors gave to a document into one.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # --rule has the same meaning here
    shared = read_shared_options(option.READING, options, *files)
    refuse_standard_input_twice(*files)
    refuse_other_endings(options["output"], *gf.writing.endings(of="merged"))
    check_target(options["output"], *files)
    weights = options["weights"]
    merged = gf.judging.merge_judgments(
        files[0] if len(files) == 1 else files,
        options["rule"],
        names=listed(options["names"]),
        weights=None if weights is None else _weights(weights),
        ties=options["ties"],
        first=options["first"],
        **shared,
    )
    write_documents(merged, options, options["format"])
    for line in merged.notes:
        tell(line)


def _weights(text: str) -> dict[str, float]:
    example = "assessors with numbers, such as ann=2,bob=0.5"
    named = pairs("--weights", text.split(","), example, str.rpartition)
    try:
        return {name: float(number) for name, number in named.items()}
    except ValueError:
        raise click.UsageError(f"--weights expects {example}, not {text!r}.") from None
