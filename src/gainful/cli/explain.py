"""`gainful explain`."""

import re
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command, no_such_option
from gainful.cli.options import check_files, judgments_and_runs, read_shared_options, refuse_tables
from gainful.cli.output import format_of, print_result
from gainful.cli.project import set_aside

_NUMBER = r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*"
_OF_RUNS = frozenset(
    ["ties", "unjudged", "missing", "duplicates", "extra", "fold", "drop_self", "precision"]
)
_GRADES = re.compile(rf"{_NUMBER}(,{_NUMBER})*")


@command(
    "gainful explain 3,2,3,0,1,2 --judged 3,2,3,0,1,2,3,2 -m nDCG@6",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, required=True, metavar="GRADES | [JUDGMENTS] RUN")
@option.give(
    "judgments",
    {
        "--judged GRADES": "All known grades, including the grades in the list, for the ideal.  [default: the grades in the list]",
        "--query, -q ID": "The id of the query to explain.",
        "--against BASE": "Another run: show which documents moved from it to RUN, and how each changed the value.",
    },
    "measure",
    *option.RESULT,
    *option.EVALUATING,
    measure="The measure to explain.  [default: nDCG at the length of GRADES; nDCG@10 for a run]",
)
def explain(arguments: tuple[str, ...], **options: Any) -> None:
    """Show the arithmetic behind a value, line by line.

    GRADES is a list in rank order, 3,2,3,0,1,2. JUDGMENTS and RUN are files, with --query. With --against
    BASE, it explains the difference between two runs, document by document. If --judgments or the project
    file names the judgments, pass RUN only.
    """
    _refuse_unknown_options(arguments)
    is_list = len(arguments) == 1 and _GRADES.fullmatch(arguments[0])
    if is_list or (len(arguments) == 1 and options["judgments"] is None):
        print_result(_of_grades(arguments[0], options), options)
    else:
        print_result(_of_run(arguments, options), options)


def _of_grades(text: str, options: dict[str, Any]) -> "gf.results.Explanation":
    """Explain a list of grades; the project file does not apply."""
    set_aside(options)
    grades = _grades(text)
    shared = read_shared_options(option.EVALUATING, options)
    format_of(options)  # reports a wrong format before the work
    _refuse_idle_choices(shared)
    refuse_tables(shared, "requires JUDGMENTS and RUN instead of GRADES")
    for name in ("query", "against", "judgments"):
        if options[name] is not None:
            raise click.UsageError(f"--{name} requires JUDGMENTS and RUN instead of GRADES.")
    judged, measure = options["judged"], options["measure"]
    return gf.explanation.explain_grades(
        grades,
        f"nDCG@{len(grades)}" if measure is None else measure,
        judged=None if judged is None else _grades(judged, "--judged"),
        policy=shared["policy"],
    )


def _of_run(
    arguments: tuple[str, ...], options: dict[str, Any]
) -> "gf.results.Explanation | gf.results.Attribution":
    """Explain a query of a run, or the difference between two runs."""
    judgments, runs = judgments_and_runs(arguments, options)
    base, measure = options["against"], options["measure"] or "nDCG@10"
    shared = read_shared_options(option.EVALUATING, options, judgments, *runs, base)
    if judgments is None or len(runs) != 1 or options["judged"] is not None:
        raise click.UsageError(_misfit(arguments))
    if base is not None:
        refuse_tables(shared, "cannot be combined with --against")
        runs = (base, *runs)
    check_files(options, judgments, *runs)
    if options["query"] is None:
        raise click.UsageError("Name the query to explain: --query ID.")
    work_out: Any = gf.explain if base is None else gf.explanation.attribute
    return work_out(judgments, *runs, measure, query=options["query"], **shared)  # type: ignore[no-any-return]


def _refuse_idle_choices(shared: dict[str, Any]) -> None:
    """Reject choices that have no meaning for a list of grades, which is ordered and judged."""
    policy = shared["policy"] or gf.Policy()
    idle = ["dialect"] if shared.get("dialect") is not None else []
    idle += [
        choice.name
        for choice in gf.measures.choices()
        if choice.name in _OF_RUNS and getattr(policy, choice.name) != choice.default
    ]
    if idle:
        name = option.option_name(idle[0])
        raise click.UsageError(f"{name} requires JUDGMENTS and RUN instead of GRADES.")


def _refuse_unknown_options(arguments: tuple[str, ...]) -> None:
    for argument in arguments:
        if argument.startswith("-") and argument != "-" and not _GRADES.fullmatch(argument):
            raise no_such_option(argument, "explain")


def _misfit(arguments: tuple[str, ...]) -> str:
    if all(_GRADES.fullmatch(argument.strip(",")) for argument in arguments):
        return "Pass the grades as one list, separated by commas without spaces: 3,2,0."
    return "Pass a list of grades (with --judged if there are more), or JUDGMENTS and RUN."


def _grades(text: str, option: str = "") -> list[float]:
    """Read a list of grades: the argument of the command, or the value of an option."""
    if not _GRADES.fullmatch(text):
        wanted = f"{option} expects" if option else "Expected"
        files = "" if option else ", or JUDGMENTS and RUN with --query"
        raise click.UsageError(f"{wanted} grades such as 3,2,3,0,1,2{files}; found {text!r}.")
    return [float(number.strip()) for number in text.split(",")]
