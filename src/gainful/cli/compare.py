"""`gainful compare`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import gainful as gf
from gainful.cli.calibrate import (
    calibrated,
    grades_options,
    refuse_standard_input,
    write_calibration,
)
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.comparison_options import comparing_of, comparing_options
from gainful.cli.gate_rules import gate_rules, json_with_gate
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    InputFile,
    check_gate_files,
    define_option,
    ends_options,
    engine_options,
    format_of,
    format_option,
    gate_files_options,
    gate_options,
    judgments_and_runs,
    judgments_option,
    layout_of,
    output_option,
    read_shared_options,
    refuse_junit_alone,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, tell_lines, write
from gainful.message_texts import counted

Result = TypeVar("Result")

_FAILED = 1
_FEWEST = 2  # files to compare
_OF_RUNS = (
    "judgments", "columns", "query_ids", "assessors", "memory", "threads", "temp_dir", "unpacked", "engine",
    "master", "dialect", "chunks", "chunk_map"
)  # fmt: skip
_WITHOUT_GRADES = (
    "judgments", "scores", "pairs", "test", "interval", "tie", "resamples", "seed", "slices", "by", "html", "tests_",
    "systems", "per_query", "worst", "best", "engine", "master", "movers",
)  # fmt: skip


@click.command(
    cls=ProjectCommand,
    examples=[
        "gainful compare qrels.txt bm25.run dense.run",
        "gainful compare qrels.txt bm25.run dense.run -m nDCG@10 --fail-if 'Δ nDCG@10 < -0.01'",
        "gainful compare qrels.txt runs/ --baseline bm25 --systems -f latex",
        "gainful compare qrels.txt bm25.run dense.run --by judged",
        "gainful compare --scores old.csv new.csv",
    ],
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] BASE RUN [RUN]...")
@judgments_option
@define_option
@click.option(
    "--measure",
    "-m",
    "measures",
    multiple=True,
    help="What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more. With --scores, the columns to compare.  "
    "[default: nDCG@10; with --scores, all]",
)
@click.option(
    "--scores",
    is_flag=True,
    help="The files are scores of queries, BASE RUN [RUN]..., without judgments: tables with a column "
    "query, the output of trec_eval -q, or saved baselines.",
)
@click.option(
    "--human",
    type=InputFile(),
    help="Judgments of people, of some queries, drawn at random; with --model, and in place of JUDGMENTS. Differences and "
    "intervals are then those of `gainful calibrate`.",
)
@click.option(
    "--model", type=InputFile(), help="With --human: judgments of a model, of all queries."
)
@grades_options
@comparing_options
@gate_options(
    "Exit 1 if this holds, such as 'Δ nDCG@10 < -0.01'. That, or 'change(nDCG@10) < -0.01', is a change from BASE, of "
    "which all of the interval must say so. A floor of the RUN's own mean, of which the lower "
    "end of the interval decides: 'nDCG@10 < 0.6'. Also 'coverage < 0.9', 'missing > 0', 'unjudged > 0.3', 'saturation > 0.5', and changed (the "
    "judgments, since the baseline was saved); repeat for more.",
    "Exit 1 unless the interval says so, such as 'Δ nDCG@10 > -0.01'. That demands proof; repeat for more.",
)
@gate_files_options
@click.option(
    "--movers",
    type=click.IntRange(1),
    metavar="N",
    help="In --summary, also the N queries that lost and the N that gained most in each comparison, with the documents behind each.",
)
@click.option(
    "--html", metavar="FILE", help="Write a page about the runs, as `gainful report` does."
)
@click.option(
    "--tests", "tests_", is_flag=True, help="All p-values of all tests instead of the differences."
)
@click.option(
    "--systems",
    is_flag=True,
    help="A row for each system and a column for each measure, the best in bold and the significant "
    "marked, as papers show them; with --format latex (booktabs) or markdown.",
)
@click.option(
    "--per-query",
    is_flag=True,
    help="A row for each query instead of the differences: both scores, and the difference.",
)
@ends_options(
    "Only the N queries that lost most in each comparison, the worst first.",
    "Only the N queries that gained most in each comparison, the best first.",
)
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
@engine_options
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Say whether RUNs are better than BASE, how sure that is, and where they differ.

    JUDGMENTS and runs are files as for `gainful evaluate`; BASE may also be a baseline that
    `gainful evaluate --save-baseline` wrote. Every RUN is compared with BASE, query by query; p is
    corrected for the number of comparisons. Where --judgments or the project's file names the
    judgments, the files are BASE and RUNs. With --human and --model they are, too: people's grades of
    some queries and a model's of all then decide together.
    """
    if _has_grades(options):
        _compare_by_both(files, options)
        return
    judgments, runs = _files(files, options)
    _check_files([*([] if judgments is None else [judgments]), *runs.values()], options)
    _refuse_two_tables(options)
    _refuse_movers_alone([judgments, *runs.values(), options["query_ids"]], options)
    if judgments is None:
        rules = options["fail_if"], options["fail_unless"]
    else:
        rules = gate_rules(options, _measures(options), dialect=options["dialect"], compared=True)
    refuse_junit_alone(options, rules)
    given = dict(options)  # the comparison takes its options out of them
    page = _reported(judgments, runs, options) if options["html"] else None
    if page is not None and page.comparison is not None:
        found = page.comparison
    else:
        found = _compared(judgments, runs, options)
    gate = found.gate(*rules) if any(rules) else None
    moved = _moved(found, judgments, runs, given)
    _write(found, gate, moved, options)
    if page is not None:
        page.noting(*_conditions(gate)).write(options["html"])
    if gate is not None:
        tell_lines(f"\n{gate}")
        if gate.failed:
            sys.exit(_FAILED)


def _has_grades(options: dict[str, Any]) -> bool:
    """Return whether people and a model judge; refuse one without the other, and a design without both."""
    given = [name for name in ("human", "model") if options[name] is not None]
    if len(given) == 1:
        raise click.UsageError(
            "--human and --model go together: people's judgments, and a model's."
        )
    for name in ("design", "drawn_at_random"):
        if options[name] and not given:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --human and --model.")
    return bool(given)


def _compare_by_both(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Compare by people's grades of some queries and a model's of all."""
    for name in _WITHOUT_GRADES:
        if is_typed(name):
            option = name.strip("_").replace("_", "-")
            raise click.UsageError(
                f"--{option} does not go with --human and --model: differences are estimated by PPI++, see "
                "`gainful calibrate --help`."
            )
    set_aside(options, _WITHOUT_GRADES)
    human, model, measures = options["human"], options["model"], _measures(options)
    runs = runs_of(files, options, human)
    if len(runs) < _FEWEST:
        raise click.UsageError(f"Nothing to compare: expected BASE RUN, found {' '.join(files)}.")
    read = [
        human,
        model,
        *runs.values(),
        *([] if options["design"] is None else [options["design"]]),
    ]
    refuse_standard_input(*read)
    check_gate_files(options, ("output", "junit", "summary"), *read)
    format_of(options)
    check = gf.results.Calibration.check_conditions
    rules = gate_rules(options, measures, dialect=options["dialect"], compared=True, check=check)
    refuse_junit_alone(options, rules)
    more = {name: options[name] for name in ("baseline", "level", "margin", "correction", "design")}
    found = calibrated(human, model, runs, measures, options, **more)
    gate = found.gate(*rules) if any(rules) else None
    write_calibration(found, options, options["digits"], gate)
    if options["junit"] and gate is not None:
        gf.writing.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        parts = [*([] if gate is None else [gate.to_markdown()]), found.rendered("markdown") + "\n"]
        gf.writing.write_text("\n".join(parts), options["summary"])
    if gate is not None:
        tell_lines(f"\n{gate}")
        if gate.failed:
            sys.exit(_FAILED)


def _refuse_two_tables(options: dict[str, Any]) -> None:
    """Refuse to print more than one table in the place of the differences."""
    asked = {
        "--systems": options["systems"],
        "--tests": options["tests_"],
        "--per-query": options["per_query"],
        "--worst or --best": options["worst"] or options["best"],
    }
    tables = [name for name, given in asked.items() if given]
    if len(tables) > 1:
        raise click.UsageError(f"{' and '.join(tables)} are two tables: give one of them.")


def _refuse_movers_alone(files: list[str | None], options: dict[str, Any]) -> None:
    """Refuse queries and documents that moved where nothing shows them, or there are no documents."""
    if options["movers"] and "-" in files:
        raise click.UsageError("--movers reads the files again, and standard input is read once.")
    if options["movers"] and (options["scores"] or not options["summary"]):
        raise click.UsageError(
            "--movers N goes with --summary FILE, and with runs; --worst N and --best N print queries alone."
        )


def _files(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    """Return the judgments, if there are any, and the files to compare by their names."""
    if options["scores"]:
        _refuse_reading(options)
        judgments, given = options.pop("judgments"), files
    else:
        judgments, given = judgments_and_runs(files, options)
    runs = runs_of(given, options, judgments)
    if len(runs) < _FEWEST:
        wanted = "BASE RUN" if len(given) == len(files) else "JUDGMENTS BASE RUN"
        raise click.UsageError(f"Nothing to compare: expected {wanted}, found {' '.join(files)}.")
    return judgments, runs


def _check_files(files: list[str], options: dict[str, Any]) -> None:
    """Refuse what cannot be read twice, written, or written over, before the work."""
    read = [*files, *([] if options["slices"] is None else [options["slices"]])]
    refuse_standard_input_twice(*read)
    check_gate_files(options, ("output", "junit", "summary", "html"), *read)
    format_of(options)
    if options["html"] == "-" and options["output"] is None:
        raise click.UsageError("Standard output has the table: with --html -, give -o FILE for it.")
    if options["html"]:
        gf.results.Report.check_path(options["html"])


def _refuse_reading(options: dict[str, Any]) -> None:
    """Refuse options about judgments and runs where there are none; of the file, leave them out."""
    names = (*(choice.name for choice in gf.measures.choices()), *_OF_RUNS)
    set_aside(options, ("measures", *names))
    for name in names:
        if is_typed(name):
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is about judgments and runs, not for --scores.")


def _reported(
    judgments: str | None, runs: dict[str, str], options: dict[str, Any]
) -> "gf.results.Report":
    """Compare as a part of a page, so that nothing is read or measured twice."""
    title = None if options["html"] == "-" else Path(options["html"]).stem
    # Spark keeps the documents to itself.
    if judgments is None or options["engine"] == "spark":
        return gf.results.Report.of_comparison(_compared(judgments, runs, options), title=title)
    return _called(gf.report, judgments, runs, options, title=title)


def _compared(
    judgments: str | None, runs: dict[str, str], options: dict[str, Any]
) -> "gf.results.Comparison":
    if judgments is not None:
        return _called(gf.compare, judgments, runs, options)
    with progress_bar() as progress:
        return gf.comparison.compare_scores(
            runs, list(options["measures"]) or None, progress=progress, **comparing_of(options)
        )


def _called(
    function: Callable[..., Result],
    judgments: str,
    runs: dict[str, str],
    options: dict[str, Any],
    **more: Any,
) -> Result:
    given = read_shared_options(MEASURING, options, judgments, *runs.values(), options["slices"])
    with progress_bar() as progress:
        return function(
            judgments,
            runs,
            _measures(options),
            progress=progress,
            **comparing_of(options),
            **given,
            **more,
        )


def _moved(
    found: "gf.results.Comparison",
    judgments: str | None,
    runs: dict[str, str],
    options: dict[str, Any],
) -> "gf.results.Movers | None":
    """Return the queries and documents that moved, if they are asked for."""
    if not options["movers"]:
        return None
    given = read_shared_options(MEASURING, options, judgments, *runs.values(), options["slices"])
    return gf.comparison.movers(found, judgments, runs, count=options["movers"], **given)


def _measures(options: dict[str, Any]) -> list[str]:
    return list(options["measures"]) or ["nDCG@10"]


def _conditions(gate: "gf.results.Gate | None") -> list[str]:
    """Return the conditions of a gate, as a page says them."""
    if gate is None:
        return []
    return [f"gate {each.result}: {each.run}: {each.rule}: {each.found}" for each in gate.checked]


def _shown(found: "gf.results.Comparison", options: dict[str, Any]) -> Any:
    """Return the table that is asked for, or all of them."""
    if options["tests_"]:
        return found.tests_table()
    if options["worst"] or options["best"]:
        ends = found.per_query.ends(worst=options["worst"] or 0, best=options["best"] or 0)
        return ends.table()
    if options["per_query"]:
        return found.per_query.table()
    return found.systems_table() if options["systems"] else found


def _write(
    found: "gf.results.Comparison",
    gate: "gf.results.Gate | None",
    moved: "gf.results.Movers | None",
    options: dict[str, Any],
) -> None:
    shown = _shown(found, options)
    text = gf.writing.render(
        shown, format_of(options), digits=options["digits"], **layout_of(options)
    )
    if format_of(options) == "json":
        text = json_with_gate(text, gate)
    write(text, options["output"])
    # The tables alone are a list in json, without room for notes; the comparison has them in it.
    bare = WITHOUT_NOTES if shown is found else (*WITHOUT_NOTES, "json")
    if format_of(options) in bare:
        for note in found.notes() if shown is found else shown.notes:
            tell(note)
        if found.slices and shown is found:
            tell(f"{counted(len(found.slices), 'slice')}: in json, table, markdown, latex, html")
    if options["junit"] and gate is not None:
        gf.writing.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        text = found.to_markdown() + "\n" if gate is None else gate.to_markdown()
        if moved is not None:
            text += f"\n{gf.writing.render(moved, 'markdown')}\n"
        gf.writing.write_text(text, options["summary"])
