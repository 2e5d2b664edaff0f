"""`gainful check`."""

import sys
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import current_project
from gainful.cli.options import (
    READING,
    WITHOUT_NOTES,
    check_target,
    format_of,
    format_option,
    judgments_and_runs,
    judgments_option,
    layout_of,
    output_option,
    read_shared_options,
    refuse_missing,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
)
from gainful.cli.standard_streams import tell, write

_FAILED = 1
_SHARED = (*READING, "chunks")


def _rules() -> str:
    """Tell all the rules."""
    rules = "\n\n".join(
        f"{rule.name} ({rule.severity}): {rule.what}" for rule in gf.results.Findings.rules
    )
    return f"What is looked for:\n\n{rules}"


@click.command(
    cls=ProjectCommand,
    more=_rules(),
    examples=["gainful check qrels.txt bm25.run --scale 0..3 --strict"],
)
@click.argument("files", nargs=-1, metavar="[JUDGMENTS] [RUN]...")
@judgments_option
@click.option(
    "--cutoff",
    "-k",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The rank down to which the lists matter.",
)
@click.option(
    "--scale", metavar="LOW..HIGH", help="The lowest and the highest grade, such as 0..3."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@format_option
@output_option
@shared_options(_SHARED)
def check(files: tuple[str, ...], **options: Any) -> None:
    """Look at JUDGMENTS, and RUNs if any, for what is wrong or probably not meant.

    The files are those that evaluate reads. Exit 0 if there is nothing graver than a warning, 1 if
    there are errors (with --strict, warnings too). Exit 2 if a file cannot be read at all. Where
    --judgments or the project's file names the judgments, every file is a RUN. `gainful help check`
    tells what is looked for.
    """
    judgments, runs = judgments_and_runs(files, options)
    if judgments is None:
        refuse_missing("JUDGMENTS", "check")
    reading = read_shared_options(_SHARED, options, judgments, *runs)
    named = runs_of(runs, options, judgments)
    refuse_standard_input_twice(judgments, *runs)
    check_target(options["output"], judgments, *named.values())
    format_of(options)  # says what is wrong with it before the work
    findings = gf.check(
        judgments,
        named,
        cutoff=options["cutoff"],
        scale=_scale(options["scale"]),
        **reading,
    )
    write(gf.writing.render(findings, format_of(options), **layout_of(options)), options["output"])
    if format_of(options) in WITHOUT_NOTES:  # the others carry it themselves
        tell(findings.summary)
    if (project := current_project()) is not None:
        for told in {project.why_a_run(each.remedy) for each in findings} - {""}:
            tell(told)
    if findings.counts["error"] or (options["strict"] and not findings.clean):
        sys.exit(_FAILED)


def _scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    low, _, high = text.partition("..")
    try:
        return float(low), float(high)
    except ValueError:
        raise click.UsageError(f"--scale takes LOW..HIGH, such as 0..3, not {text!r}.") from None
