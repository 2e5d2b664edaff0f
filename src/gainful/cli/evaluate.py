"""`gainful evaluate`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import (
    BARE,
    chunks_of,
    folding_options,
    format_of,
    format_option,
    names_of,
    output_option,
    policy_of,
    policy_options,
    reading_of,
    reading_options,
    refuse_overwriting,
    write,
)
from gainful.cli.progress import progress_bar


@click.command(
    epilog="Example: gainful evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m 'nDCG(gain=exp2)@10'"
)
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@click.option(
    "--measure",
    "-m",
    "measures",
    multiple=True,
    default=["nDCG@10"],
    show_default=True,
    help="What to measure, e.g. nDCG@10 or DCG@5,10; repeat for more.",
)
@click.option("--per-query", is_flag=True, help="A row for each query instead of the means.")
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@reading_options
@policy_options
@folding_options
def evaluate(judgments: str, runs: tuple[str, ...], **options: Any) -> None:
    """Measure one or more RUNs against JUDGMENTS.

    Both are files, of any of these formats: TREC (query iteration doc grade, and query Q0
    doc rank score tag), CSV, TSV and JSON lines with names of columns, JSON
    {query: {doc: number}}, Parquet (also a directory or a quoted pattern), or labels with qid:
    and a file of predictions; also packed, .gz or .zst. - is standard input.
    """
    policy, chunks, reading = policy_of(options), chunks_of(options), reading_of(options)
    if (judgments, *runs).count("-") > 1:
        raise click.UsageError("Standard input can be read once: give - for one file only.")
    format_of(options)  # says what is wrong with it before the work
    refuse_overwriting(options["output"], judgments, *runs)
    named = dict(zip(names_of(runs), runs, strict=True))
    with progress_bar() as progress:
        results = gf.evaluate_runs(
            judgments,
            named,
            list(options["measures"]),
            policy=policy,
            chunks=chunks,
            progress=progress,
            **reading,
        )
    text = gf.render(
        results, format_of(options), per_query=options["per_query"], digits=options["digits"]
    )
    write(text, options["output"])
    if format_of(options) in BARE:  # the others carry these themselves
        click.echo(f"policy: {next(iter(results.values())).policy}", err=True)
        for name, scores in results.items():
            click.echo(f"{name}: {scores.coverage}", err=True)
