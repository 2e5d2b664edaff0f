"""`gainful collect`."""

import json
import sys
from contextlib import suppress
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    leave_out_columns,
    pairs,
    read_shared_options,
    refuse_standard_input_twice,
)
from gainful.cli.output import (
    check_cache,
    check_target,
    format_of_documents,
    formats_of,
    write_pool,
)
from gainful.cli.process import print_data, progress_bar, tell, tell_some
from gainful.message_texts import counted, shortened

_READING = ("columns", "engine")
_CACHE = ".answers.jsonl"
_LETTERS = 4  # characters per token, roughly

_OWN = ("model", "call", "parameters", "grades", "cache", "dry_run", "format", "output")
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
            **{name: value for name, value in options.items() if name not in _OWN},
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
