"""`gainful calibrate`, and the code that `gainful compare --human --model` shares with it."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import check_files, read_shared_options, runs_of
from gainful.cli.output import print_result
from gainful.cli.process import progress_bar

_PASSED = ("design", "strata", "by", "width", "judge", "baseline", "level", "margin", "correction")


@command("gainful calibrate people.qrels model.qrels bm25.run dense.run --design design.json")
@click.argument("human", type=option.InputFile(), metavar="HUMAN")
@click.argument("model", type=option.InputFile(), metavar="MODEL")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    "measures",
    "design",
    "comparing.baseline",
    {
        "--strata INPUT": "A table with one row per query: estimate within each stratum.",
        "--by COLUMN": "The column of --strata.  [default: the only one]",
    },
    "comparing.level",
    {
        "--width >0.0": "Compute how many more queries people must judge for intervals of this width.",
    },
    "comparing.margin",
    {
        "--correction [holm|bonferroni|benjamini-hochberg|none] = holm": "How to correct p-values for multiple comparisons.",
        "--judge NAME": "The name of the model that judged.",
        "--generator [RUN=]NAME...": "The name of the model that generated all RUNs, or one of them; warns if a model judges its own output. Repeat for more.",
    },
    *option.RESULT,
    *option.MEASURING,
    measures="What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    baseline="The name of the run to compare the others with.  [default: the first]",
)
def calibrate(human: str, model: str, runs: tuple[str, ...], **options: Any) -> None:
    """Correct a model's grades with a human-graded sample and re-estimate each run's score.

    HUMAN contains people's judgments of a random sample of queries; MODEL contains a model's
    judgments of all queries. The estimates (PPI++, prediction-powered inference) are unbiased, however
    wrong the model is.
    """
    named = runs_of(runs, options, human)
    refuse_standard_input(human, model, *named.values(), options["strata"], options["design"])
    check_files(options, human, model, *named.values(), options["design"], options["strata"])
    more = {name: options[name] for name in _PASSED} | {"generator": _generator(options, named)}
    found = calibrated(human, model, named, list(options["measures"]), options, **more)
    print_result(found, options, found.table().notes)


def refuse_standard_input(*files: str | None) -> None:
    """Reject standard input: the runs are read twice, once for people's grades and once for the model's."""
    if "-" in files:
        raise click.UsageError(
            "Grades, runs, designs and strata cannot be read from standard input here: pass files."
        )


def calibrated(
    human: str,
    model: str,
    runs: dict[str, str],
    measures: list[str],
    options: dict[str, Any],
    **more: Any,
) -> "gf.results.Calibration":
    """Calibrate, with the options that commands share."""
    drawn = "random" if options["drawn_at_random"] else None
    given = read_shared_options(option.MEASURING, options, human, model, *runs.values())
    with progress_bar() as progress:
        return gf.judging.calibrate(
            human, model, runs, measures, drawn=drawn, progress=progress, **more, **given
        )


def _generator(options: dict[str, Any], runs: dict[str, str]) -> str | dict[str, str] | None:
    """Return the name of the model that generated all runs, or one name per run."""
    names = options["generator"]
    split = [name.partition("=") for name in names]
    named = {run: name for run, equals, name in split if equals and run in runs}
    bare = [
        text
        for text, (run, equals, _) in zip(names, split, strict=True)
        if not equals or run not in runs
    ]
    if bare and (named or len(bare) > 1):
        raise click.UsageError(
            "Pass --generator once with a NAME for all RUNs, or RUN=NAME for each RUN, named after its file."
        )
    return bare[0] if bare else named or None
