"""Commands that explain, check and plan: `explain`, `why`, `check` and `power`."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import FAILED
from gainful.cli.option_table import Options
from gainful.cli.project import ProjectCommand, command, is_typed, no_such_option, set_aside

_NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_GRADES = re.compile(rf"\s*{_NUMBER}((\s*,\s*|\s+){_NUMBER})*\s*")
_OF_RUNS = (
    "query", "against", "judgments", *call.TABLES, "dialect",
    "ties", "unjudged", "missing", "duplicates", "extra", "fold", "drop_self", "precision",
)  # fmt: skip


_CHANGES = ("swap", "move", "remove", "regrade")
_CHANGE = re.compile(rf"--({'|'.join(_CHANGES)})(=.*)?", re.DOTALL)


class _WhatIfCommand(ProjectCommand):
    """A command whose options change a list in the order of the command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, and remember the order of the changes."""
        end = args.index("--") if "--" in args else len(args)
        found = (_CHANGE.fullmatch(word) for word in args[:end])
        ctx.meta[_WhatIfCommand.__name__] = [option[1] for option in found if option]
        return super().parse_args(ctx, args)


def _what_if(options: Options) -> list[str] | None:
    """Take the changes of a list out of the options, in the order of the command line; None without changes."""
    values = {kind: iter(options.pop(kind)) for kind in _CHANGES}
    kinds = click.get_current_context().meta[_WhatIfCommand.__name__]
    return [f"{kind} {next(values[kind])}" for kind in kinds] or None


def _rules() -> str:
    """Return the help on all rules."""
    rules = "\n\n".join(
        f"{rule.name} ({rule.severity}): {rule.what}" for rule in gf.results.Findings.rules
    )
    return f"Rules:\n\n{rules}"


def _grades(text: str) -> list[float]:
    """Return grades that are separated by commas or blanks."""
    if not _GRADES.fullmatch(text):
        raise ValueError(text)
    return [float(number) for number in re.split(r"[,\s]+", text.strip())]


@command(
    "gainful explain 3,2,3,0,1,2 --judged 3,2,3,0,1,2,3,2 -m nDCG@6",
    "gainful explain 3,2,3,0,1,2 --swap 3,4",
    cls=_WhatIfCommand,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, required=True, metavar="GRADES | [JUDGMENTS] RUN")
@option.give(
    "judgments",
    {
        "--judged GRADES": {
            "help": "All known grades, including the grades in the list, for the ideal.  [default: the grades in the list]",
            "type": option.Parsed(_grades, "grades such as 3,2,3,0,1,2"),
        },
        "--query, -q ID": "The id of the query to explain.",
        "--swap RANK,RANK...": "Swap the documents at two ranks, and show which terms change by how much; repeat for more. "
        "--swap, --move, --remove and --regrade apply in the order in which they are typed.",
        "--move RANK,RANK...": "Move the document at one rank to another, such as 5,2; repeat for more.",
        "--remove RANK...": "Remove the document at this rank from the list. It stays judged, so it remains in the ideal; repeat for more.",
        "--regrade RANK=GRADE...": "Give the document at this rank another grade, such as 3=2; repeat for more.",
        "--against BASE": "Another run: show which documents moved from it to RUN, and how each changed the value.",
    },
    "measure result evaluating",
    measure="The measure to explain.  [default: nDCG for GRADES, as in gf.ndcg; nDCG@10 for a run]",
)
def explain(arguments: tuple[str, ...], **options: Any) -> None:
    """Show the arithmetic behind a value, line by line.

    GRADES is a list in rank order, 3,2,3,0,1,2 or "3 2 3 0 1 2". JUDGMENTS and RUN are files; --query selects the query. With --against
    BASE, it explains the difference between two runs, document by document. If --judgments or the project
    file names the judgments, pass only RUN.
    """
    options["what_if"] = _what_if(options)
    grades = " ".join(arguments)
    are_grades = bool(_GRADES.fullmatch(grades)) and not any(
        Path(argument).exists() for argument in arguments[1:]
    )
    for argument in arguments:
        if argument.startswith("-") and argument != "-" and not are_grades:
            raise no_such_option(argument, "explain")
    if are_grades:
        explanation: Any = _of_grades(_grades(grades), options)
    elif len(arguments) == 1 and options["judgments"] is None:
        raise click.UsageError(
            f"Expected grades such as 3,2,3,0,1,2, or JUDGMENTS and RUN with --query; found {grades!r}."
        )
    else:
        explanation = _of_run(arguments, options)
    call.print_result(explanation, options)


def _of_grades(grades: list[float], options: Options) -> "gf.results.Explanation":
    """Explain a list of grades; the project file does not apply."""
    set_aside(options)
    shared = call.read_shared_options(options)
    if idle := [name for name in _OF_RUNS if is_typed(name)]:
        raise click.UsageError(
            f"{option.option_name(idle[0])} requires JUDGMENTS and RUN instead of GRADES."
        )
    measure = options["measure"] or "nDCG"
    how = {name: options[name] for name in ("judged", "what_if")} | {"policy": shared["policy"]}
    return gf.explanation.explain_grades(grades, measure, **how)


def _of_run(
    arguments: tuple[str, ...], options: Options
) -> "gf.results.Explanation | gf.results.Attribution":
    """Explain a query of a run, or the difference between two runs."""
    judgments, runs = call.judgments_and_runs(arguments, options)
    base, measure = options["against"], options["measure"] or "nDCG@10"
    shared = call.read_shared_options(options)
    if judgments is None or len(runs) != 1 or options["judged"] is not None:
        raise click.UsageError(
            "Pass a list of grades (with --judged if there are more), or JUDGMENTS and RUN."
        )
    if base is not None:
        runs = (base, *runs)
    if options["query"] is None:
        raise click.UsageError(
            "Name the query to explain: --query ID. For labels with qid:, whose documents have no ids, "
            "pass the grades of a list instead: gainful explain 3,0,1."
        )
    work_out: Any = gf.explain if base is None else gf.explanation.attribute
    if base is None:
        shared["what_if"] = options["what_if"]
    return work_out(judgments, *runs, measure, query=options["query"], **shared)  # type: ignore[no-any-return]


@command(
    "gainful why qrels.txt my.run --dialects trec_eval,scikit-learn",
    "gainful why qrels.txt my.run --got 0.4231",
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN")
@option.give(
    "judgments measure",
    {
        "--dialects TOOL,TOOL": "Explain the gap between two tools' numbers. A single tool is compared with gainful under the given policy. "
        "`gainful dialects` lists the tools.",
        "--got NUMBER": "Find the tools and choices that produce this number, to the digits shown: 0.4231 or 42.31%.",
    },
    "digits result reading policy chunks",
    measure="The measure to explain.  [default: nDCG@10]",
)
def why(files: tuple[str, ...], **options: Any) -> None:
    """Explain why two tools report different numbers for RUN, or find the tool behind a number.

    The explanation changes one choice at a time, from the first tool to the second: first the measure's
    parameters, then how documents are treated, then which queries count.
    """
    judgments, runs = call.judged_runs(files, options, most=1)
    (run,) = runs.values()
    if (options["dialects"] is None) == (options["got"] is None):
        raise click.UsageError("Pass either --dialects or --got.")
    tools = options["dialects"] or []
    if len(tools) > 1 and "gainful" not in tools:  # each tool has its own policy
        set_aside(options, call.set_choices())
        if choices := call.given_choices():
            raise click.UsageError(f"Each tool has its own policy: leave out {', '.join(choices)}.")
    is_chosen = bool(call.given_choices() or call.set_choices())
    shared = call.read_shared_options(options)
    measure = options["measure"] or "nDCG@10"
    if not is_chosen:
        shared["policy"] = None
    if options["got"] is not None:
        origin = gf.explanation.which(judgments, run, measure, got=options["got"], **shared)
        call.print_result(origin, options, [*origin.remarks, *origin.basis])
    else:
        gap = gf.why(judgments, run, measure, dialects=tools, **shared)
        call.print_result(gap, options, gap.basis)


@command("gainful check qrels.txt bm25.run --scale 0..3 --strict", more=_rules())
@click.argument("files", nargs=-1, metavar="[JUDGMENTS] [RUN]...")
@option.give(
    "judgments",
    {
        "--cutoff, -k >=1 = 10": "Check the ranked lists down to this rank.",
        "--scale LOW..HIGH": "The lowest and highest grade, such as 0..3.",
        "--strict": "Also exit with 1 if there are only warnings.",
    },
    "format output reading chunks",
)
def check(files: tuple[str, ...], **options: Any) -> None:
    """Check JUDGMENTS, and any RUNs, for errors and likely mistakes.

    It accepts the same files as evaluate. The exit code is 0 if there are at most warnings, 1 if there
    are errors (or, with --strict, warnings), and 2 if a file cannot be read at all. If --judgments or the project
    file names the judgments, every file is a RUN. `gainful help check` lists the rules.
    """
    judgments, runs = call.judged_runs(files, options, fewest=0)
    reading = call.read_shared_options(options)
    findings = gf.check(
        judgments, runs, cutoff=options["cutoff"], scale=options["scale"], **reading
    )
    call.print_result(findings, options)
    if findings.counts["error"] or (options["strict"] and not findings.clean):
        sys.exit(FAILED)


@command("gainful power --sd 0.18 --difference 0.02")
@click.argument("files", nargs=-1, metavar="[[JUDGMENTS] BASE RUN]")
@option.give(
    "judgments",
    {
        "--sd >0.0": "The standard deviation of the per-query differences between two runs; computed from BASE and RUN if they are given.",
        "--difference >0.0": "The difference in the measure that the comparison should detect.",
        "--queries >=2": "The number of queries available.",
        "--power >0.0<1.0": "The probability of detecting the difference.  [default: 0.8]",
        "--alpha >0.0<1.0 = 0.05": "The probability of detecting a difference that does not exist.",
        "--cluster-size NUMBER": {
            "help": "The mean number of queries in a cluster, if --sd comes from a comparison with clusters.  [default: from --clusters, or 1]",
            "type": float,
        },
        "--slices INPUT": "A table with one row per query, for --weights and --clusters.",
    },
    "sampling measure result measuring",
    measure="The measure to compare BASE and RUN by.  [default: nDCG@10]",
)
def power(files: tuple[str, ...], **options: Any) -> None:
    """Compute how many queries a comparison needs, or what it can detect with the queries it has.

    Pass --difference to compute the number of queries, --queries to compute the smallest detectable
    difference, or both to compute the power.
    """
    sd, basis = options["sd"], list[str]()
    if not files and not is_typed("judgments"):
        set_aside(options)  # no files are read
        judgments, runs = None, dict[str, str]()
    else:
        judgments, runs = call.judged_runs(files, options, fewest=2, most=2)
    shared = call.read_shared_options(options)
    if judgments is not None:
        both = dict(zip(("base", "run"), runs.values(), strict=True))
        measure = options["measure"] or "nDCG@10"
        how = call.keywords(gf.comparison.compare_scores, options) | shared
        comparison = call.work(gf.compare, judgments, both, measure, **how)
        difference = comparison.differences[0]
        sd = difference.sd
        if difference.clusters is not None:
            options["cluster_size"] = difference.queries / difference.clusters
        basis = [
            f"sd of the differences in {difference.measure} over {difference.queries} queries",
            *comparison.basis,
        ]
        if not sd:
            instead = "one query" if sd is None else "the same difference on all queries"
            raise gf.errors.InputError("power", "runs that differ from query to query", instead)
    if sd is None:
        raise click.UsageError("Pass --sd, or JUDGMENTS BASE RUN to compute it from.")
    table = gf.power(**call.keywords(gf.power, options | {"sd": sd})).table()
    call.print_result(replace(table, notes=[*table.notes, *basis]), options, basis)
