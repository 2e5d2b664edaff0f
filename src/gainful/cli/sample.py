"""`gainful sample`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import check_files, read_shared_options, runs_of
from gainful.cli.output import ROWS, check_target, print_result, refuse_other_endings
from gainful.cli.process import tell
from gainful.cli.project import set_aside

_PASSED = ("size", "allocation", "seed")


@command("gainful sample model.qrels --size 60 --design design.json -o to_judge.csv")
@click.argument("files", nargs=-1, required=True, metavar="SOURCE...")
@option.give(
    {
        "--size >=1": option.more("The sample size.", required=True),
        "--design FILE": "Write the design to this file (.json) for `gainful calibrate`: what was drawn, from what, and how.",
        "--strata INPUT": "A table with one row per query: draw from each stratum separately.",
        "--by COLUMN...": "The column of --strata; with --documents, query, rank or grade; repeat for more.  [default: the only column; query]",
        "--allocation [proportional|equal] = proportional": "The number drawn from each stratum: proportional to its size, or equal.",
        "--documents": "Draw documents instead of whole queries, for DCG and CG; the SOURCEs are runs.",
        "--depth RANK>=1": "With --documents: draw from the documents down to this rank.  [default: 10]",
        "--model INPUT": "With --documents: a model's judgments, for --by grade.",
    },
    "seed",
    *option.RESULT,
    *option.MEASURING,
    seed="The random seed; equal seeds draw equal samples.",
)
def sample(files: tuple[str, ...], **options: Any) -> None:
    """Draw a random sample of queries or documents for people to judge, and save the design.

    SOURCE lists the queries: judgments (such as a model's), a run, query texts, or one id per line.
    With --documents, the SOURCEs are runs, and their documents are sampled.
    """
    documents, design, output = options["documents"], options["design"], options["output"]
    read = (*files, options["strata"], options["model"])
    if "-" in read:
        raise click.UsageError("This command cannot read standard input: pass a file.")
    if design is not None:
        check_target(design, *read)
    check_files(options, *read)
    refuse_other_endings(design, ".json")
    if design is not None and design == output:
        raise click.UsageError("Each output needs a file of its own.")
    option.refuse_conflicts("sample", options)
    found = (_documents if documents else _queries)(files, options)
    if design is not None:
        found.write(design, format="json")
    print_result(found.table(), options, [found.summary], bare=ROWS)
    if design is None:
        tell(
            "The design was not saved: pass --design FILE so that `gainful calibrate` can read it."
        )


def _queries(files: tuple[str, ...], options: dict[str, Any]) -> "gf.results.SampleDesign":
    if len(files) > 1:
        raise click.UsageError("Queries are drawn from one SOURCE: pass a single file.")
    if len(options["by"]) > 1:
        raise click.UsageError("--by accepts one column of --strata: pass it once.")
    by = options["by"][0] if options["by"] else None
    set_aside(options, ["dialect", "chunks", "chunk_map"])
    shared = read_shared_options(option.MEASURING, options, *files)
    how = {name: shared[name] for name in option.READING if name in shared}
    how |= {name: options[name] for name in ("strata", *_PASSED)}
    return gf.judging.sample_queries(files[0], by=by, **how)


def _documents(files: tuple[str, ...], options: dict[str, Any]) -> "gf.results.SampleDesign":
    if options["model"] is None:
        set_aside(options, ["assessors"])
    named = runs_of(files, options, options["model"])
    how = read_shared_options(option.MEASURING, options, *files)
    how |= {name: options[name] for name in _PASSED}
    how |= {name: options[name] for name in ("depth", "model") if options[name] is not None}
    if options["by"]:
        how["by"] = list(options["by"])
    return gf.judging.sample_documents(named, **how)
