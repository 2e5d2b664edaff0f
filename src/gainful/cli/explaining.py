"""Commands that explain and check: `explain`, `why` and `check`."""

import re
import sys
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.main import tell
from gainful.cli.options import (
    check_files,
    format_of,
    given_choices,
    judged_runs,
    judgments_and_runs,
    listed,
    looks_like_judgments,
    print_result,
    read_shared_options,
    refuse_tables,
    set_choices,
)
from gainful.cli.project import command, current_project, is_set, no_such_option, set_aside

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


_TOOLS = 2  # the gap is between two tools
_WITHOUT_DIALECT = [name for name in option.MEASURING if name != "dialect"]


@command(
    "gainful why qrels.txt my.run --dialects trec_eval,scikit-learn",
    "gainful why qrels.txt my.run --got 0.4231",
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN")
@option.give(
    "judgments",
    "measure",
    {
        "--dialects TOOL,TOOL": "Explain the gap between two tools' numbers. A single tool is compared with gainful under the given policy. "
        "`gainful dialects` lists the tools.",
        "--got NUMBER": "Find the tools and choices that produce this number, to the digits shown: 0.4231 or 42.31%.",
    },
    "digits",
    "format",
    "output",
    "verbose",
    *_WITHOUT_DIALECT,
    measure="The measure to explain.  [default: nDCG@10]",
)
def why(files: tuple[str, ...], **options: Any) -> None:
    """Explain why two tools report different numbers for RUN, or find the tool behind a number.

    The explanation changes one choice at a time, from the first tool to the second: first the measure's
    parameters, then how documents are treated, then which queries count.
    """
    judgments, runs = judged_runs(files, options, most=1)
    (run,) = runs.values()
    if (options["dialects"] is None) == (options["got"] is None):
        raise click.UsageError("Pass either --dialects or --got.")
    tools = listed(options["dialects"]) or []
    alone = len(tools) < _TOOLS or "gainful" in tools
    if not alone:
        set_aside(options, set_choices())  # each tool has its own policy
        if choices := given_choices():
            raise click.UsageError(f"Each tool has its own policy: leave out {', '.join(choices)}.")
    is_chosen = bool(given_choices() or set_choices())
    shared = read_shared_options(_WITHOUT_DIALECT, options, judgments, run)
    check_files(options, judgments, run)
    measure = options["measure"] or "nDCG@10"
    if not is_chosen:
        shared["policy"] = None
    found: Any
    if options["got"] is not None:
        found = gf.explanation.which(judgments, run, measure, got=options["got"], **shared)
        print_result(found, options, [*found.remarks, *found.basis])
    else:
        found = gf.why(judgments, run, measure, dialects=tools, **shared)
        print_result(found, options, found.basis)


_FAILED = 1
_SHARED = (*option.READING, "chunks")


def _rules() -> str:
    """Return the help on all rules."""
    rules = "\n\n".join(
        f"{rule.name} ({rule.severity}): {rule.what}" for rule in gf.results.Findings.rules
    )
    return f"Rules:\n\n{rules}"


@command("gainful check qrels.txt bm25.run --scale 0..3 --strict", more=_rules())
@click.argument("files", nargs=-1, metavar="[JUDGMENTS] [RUN]...")
@option.give(
    "judgments",
    {
        "--cutoff, -k >=1 = 10": "The last rank that the checks of the lists look at.",
        "--scale LOW..HIGH": "The lowest and highest grade, such as 0..3.",
        "--strict": "Exit 1 on warnings, too.",
    },
    "format",
    "output",
    *_SHARED,
)
def check(files: tuple[str, ...], **options: Any) -> None:
    """Check JUDGMENTS, and any RUNs, for errors and likely mistakes.

    It accepts the same files as evaluate. Exit 0 if there are at most warnings, 1 if there are errors
    (or, with --strict, warnings), and 2 if a file cannot be read at all. If --judgments or the project
    file names the judgments, every file is a RUN. `gainful help check` lists the rules.
    """
    judgments, named = judged_runs(files, options, fewest=0)
    reading = read_shared_options(_SHARED, options, judgments, *named.values())
    check_files(options, judgments, *named.values())
    scale = _scale(options["scale"])
    findings = gf.check(judgments, named, cutoff=options["cutoff"], scale=scale, **reading)
    print_result(findings, options, [findings.summary])
    unreadable = {finding.input for finding in findings if finding.rule == "unreadable-row"}
    project = current_project()
    if (
        project is not None
        and is_set("judgments")
        and any(looks_like_judgments(path) for name, path in named.items() if name in unreadable)
    ):
        tell(project.why_a_run())
    if findings.counts["error"] or (options["strict"] and not findings.clean):
        sys.exit(_FAILED)


def _scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    low, _, high = text.partition("..")
    try:
        return float(low), float(high)
    except ValueError:
        raise click.UsageError(f"--scale expects LOW..HIGH, such as 0..3, not {text!r}.") from None
