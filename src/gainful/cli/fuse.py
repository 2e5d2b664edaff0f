"""`gainful fuse`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    leave_out_columns,
    numbers,
    read_shared_options,
    refuse_standard_input_twice,
    runs_of,
)
from gainful.cli.output import check_target, refuse_other_endings
from gainful.cli.process import progress_bar, seen_enough, tell
from gainful.cli.project import leave_out

_METHODS = gf.fusion.methods()
_NORMALISATIONS = gf.fusion.normalisations()
_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="documents").values()))
_OF_TUNING = ("measure", "folds", "seed")


def _listed(entries: Any) -> str:
    return "  ".join(f"{each.name}: {each.formula}." for each in entries)


@command("gainful fuse bm25.run dense.run --method rrf --k 60 --top 1000 -o fused.run")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@option.give(
    {
        f"--method {'|'.join(method.name for method in _METHODS)} = {_METHODS[0].name}": f"The fusion method. {_listed(_METHODS)}",
        "--k NUMBER": "The k of rrf.  [default: 60]",
        "--p NUMBER": "The p of rbc, above 0 and below 1.  [default: 0.8]",
        "--weights NUMBERS": "One weight per RUN, in the same order: 1,2.  [default: equal weights]",
        f"--normalise {'|'.join(each.name for each in _NORMALISATIONS)}": "How to make scores comparable, for methods that use them. "
        f"{_listed(_NORMALISATIONS)}  [default: {_NORMALISATIONS[0].name}]",
        "--depth RANK>=1": "Use each RUN only down to this rank.  [default: all ranks]",
        "--top NUMBER>=1": "Keep this many documents per query.  [default: all]",
        "--tune JUDGMENTS": option.more(
            "Choose the best settings by these judgments, and report their value on held-out queries. Candidates: several numbers for "
            "--k or --p, several --weights as in 1,1:1,2 or grid; by default, values of k for rrf, of p for rbc, and of the weights for other methods.",
            name="judgments",
            type=option.InputFile(),
        ),
    },
    "measure",
    {
        "--folds loo|NUMBER": "With --tune: the cross-validation, leave-one-out (loo) or this many folds.  [default: loo]",
        "--seed INTEGER": "With --tune: the random seed of the folds.  [default: 0]",
        f"--format, -f [{'|'.join(_FORMATS)}]": "The format of the fused run.  [default: by the extension of --output; trec]",
        "--tag WORD": "The last field of a TREC run.  [default: fused]",
    },
    "output",
    *option.MEASURING,
    measure="With --tune: the measure to optimise.  [default: nDCG@10]",
    output="Write the fused run to this file instead of standard output; it is replaced when complete. With --tune, standard output "
    "shows the settings that were tried, and this file gets the run with the best ones.",
)
def fuse(runs: tuple[str, ...], **options: Any) -> None:
    """Fuse RUNs into one run, whose scores combine the documents' scores or ranks in the RUNs.

    A document that a RUN did not return gets nothing from that RUN; with borda, such documents share the
    remaining points. A query that only some RUNs contain is fused from these RUNs. Equal fused scores are
    sorted by document id, descending.
    """
    judgments, output = options["judgments"], options["output"]
    if judgments is None:
        _refuse_without_tuning(options)
    named = runs_of(runs, options, judgments)
    read = (*named.values(), judgments)
    refuse_standard_input_twice(*read)
    shared = read_shared_options(option.MEASURING, options, *read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    check_target(output, *read)
    policy = shared["policy"]
    how = {name: options[name] for name in ("method", "normalise", "depth")}
    how["ties"] = "auto" if policy is None else policy.ties
    lists: dict[str, Any] = {
        name: numbers(f"--{name}", options[name], "1,2")
        for name in ("k", "p")
        if options[name] is not None
    }
    if (weights := options["weights"]) is not None:
        several = weights.split(":")
        lists["weights"] = (
            weights
            if weights == "grid"
            else [numbers("--weights", each, "1,2") for each in several]
        )
    if judgments is not None:
        tuned = _tuned(judgments, named, options, {**lists, **how, **shared})
        with seen_enough():
            gf.writing.write_text(f"{tuned}\n", "-")
        if output is None:
            return
        how, lists = tuned.arguments, {}
    for name, values in lists.items():
        if len(values) > 1:
            raise click.UsageError(f"Several values for --{name} require --tune.")
    reading = {name: value for name, value in shared.items() if name in option.READING}
    how |= reading | {name: values[0] for name, values in lists.items()}
    if options["tag"] is not None:
        how["tag"] = options["tag"]
    target = "-" if output is None else output
    format_ = options["format"] or ("trec" if target == "-" else None)
    with seen_enough(), progress_bar() as progress:
        notes = gf.fusion.write_fused(
            named, target, top=options["top"], format=format_, progress=progress, **how
        )
    for note in notes:
        tell(note)


def _tuned(
    judgments: str, runs: dict[str, str], options: dict[str, Any], how: dict[str, Any]
) -> Any:
    """Choose the best settings by judgments."""
    chosen = {name: options[name] for name in _OF_TUNING if options[name] is not None}
    if (folds := chosen.get("folds", "loo")) != "loo":
        if not folds.removeprefix("-").isdecimal():
            raise click.UsageError(f"--folds expects loo or a number, not {folds!r}.")
        chosen["folds"] = int(folds)
    with progress_bar() as progress:
        return gf.fusion.tune(judgments, runs, progress=progress, **chosen, **how)


def _refuse_without_tuning(options: dict[str, Any]) -> None:
    """Reject options that need --tune; ignore the project file's settings for them."""
    of_tuning = (*_OF_TUNING, "assessors", "dialect", "chunks", "chunk_map")
    of_policy = tuple(each.name for each in gf.measures.choices() if each.name != "ties")
    leave_out(options, (*of_tuning, *of_policy), "requires --tune.")
    leave_out_columns(options, of="judgments")
