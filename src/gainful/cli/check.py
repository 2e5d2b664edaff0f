"""`gainful check`."""

import sys
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import check_files, judged_runs, looks_like_judgments, read_shared_options
from gainful.cli.output import print_result
from gainful.cli.process import tell
from gainful.cli.project import current_project, is_set

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
