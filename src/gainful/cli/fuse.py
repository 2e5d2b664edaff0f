"""`gainful fuse`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    MEASURING,
    READING,
    InputFile,
    check_target,
    leave_out_columns,
    one_measure_option,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import seen_enough, tell

_METHODS = gf.fusion.methods()
_NORMALISATIONS = gf.fusion.normalisations()
_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="documents").values()))
_OF_TUNING = ("measure", "folds", "seed")


def _listed(entries: Any) -> str:
    return "  ".join(f"{each.name}: {each.formula}." for each in entries)


@click.command(
    cls=ProjectCommand,
    examples=["gainful fuse bm25.run dense.run --method rrf --k 60 --top 1000 -o fused.run"],
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--method",
    metavar="|".join(method.name for method in _METHODS),
    default=_METHODS[0].name,
    show_default=True,
    help=f"How runs are fused. {_listed(_METHODS)}",
)
@click.option("--k", metavar="NUMBER", help="The k of rrf.  [default: 60]")
@click.option("--p", metavar="NUMBER", help="The p of rbc, above 0 and below 1.  [default: 0.8]")
@click.option(
    "--weights",
    metavar="NUMBERS",
    help="A weight for each RUN, in their order: 1,2.  [default: all the same]",
)
@click.option(
    "--normalise",
    metavar="|".join(each.name for each in _NORMALISATIONS),
    help="How scores are made comparable, for methods that use them. "
    f"{_listed(_NORMALISATIONS)}  [default: {_NORMALISATIONS[0].name}]",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="Look at each RUN down to this rank only.  [default: all of it]",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Keep so many documents of each query.  [default: all]",
)
@click.option(
    "--tune",
    "judgments",
    metavar="JUDGMENTS",
    type=InputFile(),
    help="Choose the settings that are best by these judgments, and say what they are worth on "
    "queries that had no part in the choice. Tried are: several numbers for --k or --p, several "
    "--weights as in 1,1:1,2 or grid; if none of these, k of rrf, p of rbc, the weights of the others.",
)
@one_measure_option("With --tune: what to choose by.  [default: nDCG@10]")
@click.option(
    "--folds",
    metavar="loo|NUMBER",
    help="With --tune: leave out one query at a time, or a part of so many.  [default: loo]",
)
@click.option(
    "--seed", type=int, help="With --tune: the seed of the draw of the parts.  [default: 0]"
)
@click.option(
    "--format",
    "-f",
    "format_",
    type=click.Choice(_FORMATS),
    help="The format of the fused run.  [default: by the ending of --output; trec]",
)
@click.option("--tag", metavar="WORD", help="The last field of a TREC run.  [default: fused]")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write the fused run to this file instead of standard output; it is replaced when complete. "
    "With --tune, standard output has the settings that were tried, and this file the run of the best.",
)
@shared_options(MEASURING)
def fuse(runs: tuple[str, ...], **options: Any) -> None:
    """Fuse RUNs: write one run, in which each document has a score made of those in the RUNs.

    A RUN says nothing of documents that it does not have; with borda they share the points that are left
    over. A query that only some RUNs have is fused from these. Equal fused scores stand by id,
    descending.
    """
    judgments, output = options["judgments"], options["output"]
    if judgments is None:
        _refuse_without_tuning(options)
    named = runs_of(runs, options, judgments)
    read = (*named.values(), *([] if judgments is None else [judgments]))
    refuse_standard_input_twice(*read)
    given = read_shared_options(MEASURING, options, *read)
    refuse_other_endings(output, *gf.writing.endings(of="documents"))
    check_target(output, *read)
    policy = given["policy"]
    how = {name: options[name] for name in ("method", "normalise", "depth")}
    how["ties"] = "auto" if policy is None else policy.ties
    lists: dict[str, Any] = {
        name: _numbers(name, options[name]) for name in ("k", "p") if options[name] is not None
    }
    weights = None if options["weights"] is None else _weights(options["weights"])
    if judgments is not None:
        asked = {name: options[name] for name in _OF_TUNING if options[name] is not None}
        if asked.get("folds", "loo") != "loo":
            asked["folds"] = _folds(asked["folds"])
        with progress_bar() as progress:
            tuned = gf.fusion.tune(
                judgments,
                named,
                progress=progress,
                weights=weights,
                **lists,
                **asked,
                **how,
                **given,
            )
        with seen_enough():
            gf.writing.write_text(f"{tuned}\n", "-")
        if output is None:
            return
        how, lists, weights = tuned.arguments, {}, None
    several = [name for name, values in lists.items() if len(values) > 1]
    if several or isinstance(weights, str) or (weights is not None and len(weights) > 1):
        raise click.UsageError(
            f"Several values for --{(*several, 'weights')[0]} are tried with --tune."
        )
    reading = {name: value for name, value in given.items() if name in READING}
    how |= {name: values[0] for name, values in lists.items()}
    if weights is not None:
        how["weights"] = weights[0]
    _write(named, options, {**reading, **how})


def _refuse_without_tuning(options: dict[str, Any]) -> None:
    """Refuse what has a meaning with --tune alone; what the project's file says of it is left out."""
    of_tuning = (*_OF_TUNING, "assessors", "dialect", "chunks", "chunk_map")
    of_policy = tuple(each.name for each in gf.measures.choices() if each.name != "ties")
    for name in (*of_tuning, *of_policy):
        if is_typed(name):
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --tune.")
    set_aside(options, (*of_tuning, *of_policy))
    leave_out_columns(options, of="judgments")


def _write(named: dict[str, str], options: dict[str, Any], how: dict[str, Any]) -> None:
    """Write the fused run, and tell what was done."""
    output = options["output"]
    chosen = options["format_"] or (None if output not in (None, "-") else "trec")
    if options["tag"] is not None:
        how = {**how, "tag": options["tag"]}
    target = "-" if output is None else output
    with seen_enough(), progress_bar() as progress:
        told = gf.fusion.write_fused(
            named, target, top=options["top"], format=chosen, progress=progress, **how
        )
    for line in told:
        tell(line)


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--{name} takes numbers such as 1,2, not {text!r}.") from None


def _weights(text: str) -> str | list[list[float]]:
    """Return weights, several lists of them, or the word for all that are usually tried."""
    return text if text == "grid" else [_numbers("weights", each) for each in text.split(":")]


def _folds(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"--folds takes loo or a number, not {text!r}.") from None
