"""`gainful collect`."""

import json
import sys
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.options import (
    InputFile,
    check_target,
    folders_of,
    is_among,
    leave_out_columns,
    modules_from,
    output_option,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    shared_options,
    told_format,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import print_data, seen_enough, tell
from gainful.message_texts import counted, shortened

_ENDINGS = gf.writing.endings(of="pools")
_FORMATS = tuple(dict.fromkeys((*gf.writing.formats(), *_ENDINGS.values())))
_NOTED = ("table", "markdown", "latex", "html")  # these carry the summary themselves
_READING = ("columns", "engine")
_CACHE = ".answers.jsonl"
_SHOWN = 5  # of what is not judged
_LETTERS = 4  # of a token, more or less
# Taken as they are typed, under the names that Python has for them.
_PASSED = (
    "queries", "docs", "depth", "prompt", "per_prompt", "longest", "missing_texts", "batch", "endpoint",
    "key_variable", "timeout", "concurrency", "retries", "ask_again", "per_minute", "prices", "price_per_call",
    "max_calls", "max_cost", "name",
)  # fmt: skip


@click.command(
    cls=ProjectCommand,
    examples=[
        (
            "gainful collect pool.qrels --queries queries.tsv --docs docs.jsonl --endpoint "
            "http://localhost:8000/v1 --model llama -o model.csv"
        )
    ],
)
@click.argument("pairs", type=InputFile())
@click.option(
    "--queries",
    type=InputFile(),
    required=True,
    help="What the queries say: TSV, CSV or JSON lines with an id and a text, JSON {id: text}, Parquet.",
)
@click.option(
    "--docs",
    type=InputFile(),
    required=True,
    help="What the documents say: a file as for --queries, with a title, a text or both.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="PAIRS is a run: grade the documents down to this rank.",
)
@click.option(
    "--endpoint",
    metavar="URL",
    help="A server with chat completions, such as http://localhost:8000/v1.",
)
@click.option("--model", metavar="NAME", help="With --endpoint: the name of the model.")
@click.option(
    "--call",
    metavar="MODULE:NAME",
    help="A function of Python instead, from a prompt to an answer; the module lies in this folder.",
)
@click.option(
    "--key-variable",
    metavar="NAME",
    help="With --endpoint: the environment variable that has the key. The key is written nowhere.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --endpoint: what else is sent, such as temperature=0; repeat for more.",
)
@click.option(
    "--prompt",
    type=InputFile(),
    help="A template with {query}, {document} and {scale}; {{ and }} are braces.  [default: our own]",
)
@click.option(
    "--grade",
    "grades",
    multiple=True,
    metavar="NUMBER[=MEANING]",
    help="A grade of the scale, and what it means; repeat for each.  [default: our own, 0 to 3]",
)
@click.option(
    "--per-prompt",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Documents in one prompt, where it has {documents}.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="With --call: the function takes a list of so many prompts, and returns a list of answers.",
)
@click.option(
    "--longest", type=click.IntRange(1), metavar="NUMBER", help="The most characters of a document."
)
@click.option(
    "--missing-texts",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="Where a text is missing: error; skip: leave the document not judged.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Calls at a time.  [default: 8 with --endpoint, 1 with --call]",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="How often a call that failed is tried again, after 1, 2, 4, … seconds.  [default: 5 with "
    "--endpoint, 0 with --call]",
)
@click.option(
    "--ask-again",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="How often a prompt is asked again whose answer cannot be read.",
)
@click.option("--per-minute", type=float, metavar="NUMBER", help="The most calls a minute.")
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="With --endpoint: when an answer must be there.  [default: 120]",
)
@click.option(
    "--prices",
    nargs=2,
    type=float,
    metavar="IN OUT",
    help="The prices of a million tokens in and out, for the cost.",
)
@click.option(
    "--price-per-call",
    type=click.FloatRange(0),
    metavar="NUMBER",
    help="The price of a call, for the cost; with --prices, in addition to that of its tokens.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="Make no more calls than this, those that are tried again among them. What is left is told, and the exit code is 1.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="NUMBER",
    help="Stop before a call that might cost more than this in all; needs --prices or --price-per-call. What is left is "
    "told, and the exit code is 1.",
)
@click.option(
    "--cache",
    metavar="FILE",
    help="Keep every answer here as it comes, and ask only what is missing.  [default: OUTPUT"
    f"{_CACHE}, where there is an --output]",
)
@click.option(
    "--name", metavar="NAME", help="The name of the model as assessor.  [default: its own]"
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Ask nothing: show the first prompt, how many calls there are to make, and their size.",
)
@click.option(
    "--format",
    "-f",
    "format_",
    type=click.Choice(_FORMATS),
    help="How the grades are written; trec: query 0 doc grade.  [default: by the ending of --output; "
    "table]",
)
@output_option
@shared_options(_READING)
def collect(pairs: str, **options: Any) -> None:
    """Have a model grade documents: those of PAIRS, a pool, judgments or a table with query and doc.

    The model is behind --endpoint, or a function of Python, --call. An answer counts where its last line is
    `grade: 2`, or it is JSON {"grade": 2} or the number alone. Any other is kept, counted and not judged.
    Where calls failed, a limit was reached, or nothing could be graded, the exit code is 1: call it again to ask the rest.
    """
    output, dry = options["output"], options["dry_run"]
    for kind in ("judgments", "run"):
        if kind == "judgments" or options["depth"] is None:
            leave_out_columns(options, of=kind)
    read = [pairs, *(options[name] for name in ("queries", "docs", "prompt") if options[name])]
    given = read_shared_options(_READING, options, *read)
    refuse_standard_input_twice(*read)
    refuse_other_endings(output)
    if not dry:
        check_target(output, *read)
    chosen = options["format_"] or told_format(output, _ENDINGS, _FORMATS)
    asked = {name: options[name] for name in _PASSED}
    cache = _cache_of(options)
    if cache is not None and (is_same(cache, output) or is_among(cache, *read)):
        raise click.UsageError("The cache of answers needs a file of its own.")
    with modules_from(folders_of(click.get_current_context().obj)), progress_bar() as progress:
        found = gf.collect_grades(
            pairs,
            _model_of(options),
            **asked,
            parameters=_parameters_of(options["parameters"]),
            grades=_grades_of(options["grades"]),
            cache=cache,
            dry=dry,
            progress=progress,
            **given,
        )
    if dry:
        _show_plan(found)
        return
    with seen_enough():
        found.write("-" if output is None else output, format=chosen)
    if chosen not in _NOTED or output is not None:
        _tell(found)
    if options["cache"] is None and cache is not None:
        tell(f"the answers are in {cache}")
    if found.limit is not None:
        _tell_limit(found, cache)
    if found.failed or found.limit is not None or (found.rows and not found.graded):
        sys.exit(1)


def _model_of(options: dict[str, Any]) -> str:
    model, call = options["model"], options["call"]
    if options["endpoint"] is None:
        if call is None:
            raise click.UsageError(
                "Name the model: --endpoint URL --model NAME, or --call MODULE:NAME."
            )
        if model is not None:
            raise click.UsageError("--model goes with --endpoint.")
        return str(call)
    if call is not None:
        raise click.UsageError("Give --endpoint or --call, not both.")
    if model is None:
        raise click.UsageError("--endpoint needs the name of a model: --model NAME.")
    return str(model)


def _parameters_of(given: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what else is sent: JSON where a value is, else text."""
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.UsageError(
                f"--parameter takes NAME=VALUE, such as temperature=0, not {each!r}."
            )
        if name in found:
            raise click.UsageError(f"--parameter names {name} twice.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None


def _grades_of(given: tuple[str, ...]) -> dict[float, str] | list[float] | None:
    numbers, meanings = [], []
    for each in given:
        number, _, meaning = each.partition("=")
        try:
            numbers.append(float(number))
        except ValueError:
            message = f"--grade takes NUMBER=MEANING, such as 0='off topic', not {each!r}."
            raise click.UsageError(message) from None
        meanings.append(meaning.strip())
    if len({*numbers}) < len(numbers):
        raise click.UsageError("--grade names a grade twice.")
    if any(meanings) and not all(meanings):
        raise click.UsageError("--grade: give the meaning of every grade, or of none.")
    if not any(meanings):
        return numbers or None
    return dict(zip(numbers, meanings, strict=True))


def _cache_of(options: dict[str, Any]) -> str | None:
    """Return the file that keeps the answers: what was paid for is not lost where nobody thinks of it."""
    output = options["output"]
    if options["cache"] is not None or output in (None, "-"):
        return options["cache"]  # type: ignore[no-any-return]
    return f"{output}{_CACHE}"


def is_same(one: str, other: str | None) -> bool:
    """Return whether two names are of one file, which need not be there yet."""
    return other is not None and Path(one).resolve() == Path(other).resolve()


def _tell(found: "gf.results.CollectedGrades") -> None:
    """Say what was not judged, and the counts."""
    left = [*found.unread, *found.failed, *found.without_text]
    for item in left[:_SHOWN]:
        answer = "" if item.answer is None else f": {shortened(item.answer, 120)!r}"
        tell(f"not judged: query {item.query}, document {item.doc}, {item.why}{answer}")
    if len(left) > _SHOWN:
        tell(f"… and {len(left) - _SHOWN:,} more; --format json has all")
    tell(found.summary)


def _tell_limit(found: "gf.results.CollectedGrades", cache: str | None) -> None:
    """Say what a limit has left, and how to go on."""
    option = f"--{str(found.limit).replace('_', '-')}"
    left = f"{counted(found.unasked, 'prompt')} left, {_size(found)}"
    more = (
        "Call it again to go on: answers that are there are not asked again."
        if cache is not None
        else "Without --cache or --output, the answers are not kept, and another call begins anew."
    )
    tell(f"stopped at {option}: {left}. {more}")


def _size(found: "gf.results.CollectedGrades") -> str:
    """Write how long the prompts are that were not asked."""
    size = found.unasked_characters
    return f"{size:,} characters" + (f", about {size // _LETTERS:,} tokens" if size else "")


def _show_plan(found: "gf.results.CollectedGrades") -> None:
    plan = f"{counted(found.unasked, 'prompt')} to ask, {_size(found)}; {found.cached:,} cached"
    print_data(f"{found.first_prompt.rstrip()}\n")
    tell(f"dry run, the first prompt: {plan}")
    tell(found.summary)
