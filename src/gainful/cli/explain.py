"""`gainful explain`."""

import re
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    MEASURING,
    check_target,
    format_of,
    format_option,
    judgments_and_runs,
    judgments_option,
    layout_of,
    one_measure_option,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    shared_options,
    verbose_option,
)
from gainful.cli.standard_streams import write
from gainful.cli.unknown_options import no_such_option

_NUMBER = r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*"
_OF_RUNS = frozenset(
    ["ties", "unjudged", "missing", "duplicates", "extra", "fold", "drop_self", "precision"]
)
_GRADES = re.compile(rf"{_NUMBER}(,{_NUMBER})*")


@click.command(
    cls=ProjectCommand,
    # A list that begins with a bad document, -1,2, looks like an option to click.
    context_settings={"ignore_unknown_options": True},
    examples=["gainful explain 3,2,3,0,1,2 --judged 3,2,3,0,1,2,3,2 -m nDCG@6"],
)
@click.argument("arguments", nargs=-1, required=True, metavar="GRADES | [JUDGMENTS] RUN")
@judgments_option
@click.option(
    "--judged",
    metavar="GRADES",
    help="All known grades, those of the list included, for the ideal.  [default: the list's own]",
)
@click.option("--query", "-q", metavar="ID", help="The query of the run to work out.")
@click.option(
    "--against",
    metavar="BASE",
    help="Another run: which documents moved from it to RUN, and what each did to the value.",
)
@one_measure_option("What to work out.  [default: nDCG at the length of GRADES; nDCG@10 of a run]")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
def explain(arguments: tuple[str, ...], **options: Any) -> None:
    """Work a value out, line by line.

    GRADES is a list in rank order, 3,2,3,0,1,2. JUDGMENTS and RUN are files, with --query.
    With --against BASE, the difference of two runs is worked out, document by document. Where
    --judgments or the project's file names the judgments, RUN alone is enough.
    """
    _refuse_unknown_options(arguments)
    found: gf.results.Explanation | gf.results.Attribution
    if len(arguments) == 1 and (options["judgments"] is None or _GRADES.fullmatch(arguments[0])):
        found = _of_grades(arguments[0], options)
    else:
        found = _of_run(arguments, options)
    write(gf.writing.render(found, format_of(options), **layout_of(options)), options["output"])


def _of_grades(text: str, options: dict[str, Any]) -> "gf.results.Explanation":
    """Work out a list of grades, to which nothing of the project's file applies."""
    set_aside(options)
    grades = _grades(text)
    given = read_shared_options(MEASURING, options)
    format_of(options)  # says what is wrong with it before the work
    _refuse_idle_choices(given)
    for name in ("query", "against", "judgments"):
        if options[name] is not None:
            raise click.UsageError(f"--{name} goes with JUDGMENTS and RUN, not with GRADES.")
    judged, measure = options["judged"], options["measure"]
    return gf.explanation.explain_grades(
        grades,
        f"nDCG@{len(grades)}" if measure is None else measure,
        judged=None if judged is None else _grades(judged, "--judged"),
        policy=given["policy"],
    )


def _of_run(
    arguments: tuple[str, ...], options: dict[str, Any]
) -> "gf.results.Explanation | gf.results.Attribution":
    """Work out a query of a run, or the difference of two runs."""
    judgments, runs = judgments_and_runs(arguments, options)
    base, query, measure = options["against"], options["query"], options["measure"]
    given = read_shared_options(MEASURING, options, judgments, *runs, base)
    if judgments is None or len(runs) != 1 or options["judged"] is not None:
        raise click.UsageError(_misfit(arguments))
    if base is not None:
        runs = (base, *runs)
    refuse_standard_input_twice(judgments, *runs)
    check_target(options["output"], judgments, *runs)
    format_of(options)
    if query is None:
        raise click.UsageError("Name the query to work out: --query ID.")
    work_out: Any = gf.explain if base is None else gf.explanation.attribute
    chosen = "nDCG@10" if measure is None else measure
    return work_out(judgments, *runs, chosen, query=query, **given)  # type: ignore[no-any-return]


def _refuse_idle_choices(given: dict[str, Any]) -> None:
    """Refuse choices that mean nothing for a bare list, which has an order and is judged."""
    if given.get("dialect") is not None:
        raise click.UsageError("--dialect goes with JUDGMENTS and RUN, not with GRADES.")
    policy = given["policy"]
    for choice in gf.measures.choices():
        if choice.name in _OF_RUNS and getattr(policy, choice.name) != choice.default:
            raise click.UsageError(
                f"--{choice.name.replace('_', '-')} goes with JUDGMENTS and RUN, not with GRADES."
            )


def _refuse_unknown_options(arguments: tuple[str, ...]) -> None:
    for argument in arguments:
        if argument.startswith("-") and argument != "-" and not _GRADES.fullmatch(argument):
            raise no_such_option(argument, "explain")


def _misfit(arguments: tuple[str, ...]) -> str:
    if all(_GRADES.fullmatch(argument.strip(",")) for argument in arguments):
        return "Give the grades as one list, separated by commas and without blanks: 3,2,0."
    return "Give a list of grades (with --judged if there are more), or JUDGMENTS and RUN."


def _grades(text: str, option: str = "") -> list[float]:
    """Read a list of grades: that of the command, or that of an option."""
    if not _GRADES.fullmatch(text):
        wanted = f"{option} takes" if option else "Expected"
        files = "" if option else ", or JUDGMENTS and RUN with --query"
        raise click.UsageError(f"{wanted} grades such as 3,2,3,0,1,2{files}; found {text!r}.")
    return [float(number.strip()) for number in text.split(",")]
