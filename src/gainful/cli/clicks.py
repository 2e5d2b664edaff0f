"""The command that answers questions about click logs: `clicks`."""

from collections.abc import Callable
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import progress_bar, tell
from gainful.cli.option_table import Options
from gainful.cli.project import command

_QUESTIONS = ("grades", "log", "models", "positions", "earnings", "preference")
_MODELS = ("ctr", "coec", "cascade", "dcm", "sdbn", "dbn", "pbm", "ubm", "ccm")
_DIALECTS = ("opensearch-workbench",)
_FORMATS = call.formats_of("merged")
Progress = Callable[[float, str], None] | None


@command("gainful clicks impressions.csv --columns doc=product -o clicks.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="LOG")
@option.give(
    {
        f"--show [{'|'.join(_QUESTIONS)}] = grades": "What to compute. grades: judgments; log: what LOG contains, and anything odd in it; models: which click model "
        "predicts best; positions: how often users look at each rank; earnings: what --run would have earned; preference: the verdict of an interleaving test.",
        "--lists INPUT": "The lists that were shown, if LOG contains only events such as clicks.",
        f"--model [{'|'.join(_MODELS)}]": "With --show grades: the click model.  [default: dbn; for counts, pbm, or ctr without positions]",
        f"--dialect [{'|'.join(_DIALECTS)}]": "With --show grades: reproduce the grades of another tool, by coec.",
        "--thresholds NUMBERS": "With --show grades: the lowest estimates that get grades 1, 2, …, such as 0.1,0.25,0.5.  [default: the estimates are the grades]",
        "--rounds >=1 = 100": "With --show grades or models: the maximum number of rounds of EM.",
        "--method METHOD": "With --show positions: pbm, ubm, swaps or harvesting. With earnings: dr, ips, clipped or snips. With preference, or --interleave: team_draft, balanced, "
        "probabilistic or optimised.  [default: the first]",
        "--depth RANK>=1 = 10": "With --show positions or earnings, or --interleave: the deepest rank.",
        "--run RUN... -> runs": "With --show earnings: the run. With --show preference: a run that the lists were made from; repeat for more.",
        "--interleave": "Make lists to show to users: each LOG is a run.",
        "--actions WEIGHTS": "The actions that count as clicks, with weights: click=1,add_to_cart=3,purchase=5.  [default: click]",
        "--first-position >=0<=1": "The position of the first document, 0 or 1.  [default: the lowest in LOG]",
        "--session-gap MINUTES>0.0": "The pause after which a user's next session begins, for a LOG without sessions.  [default: 30]",
        "--most-clicks >=1": "Leave out sessions with more clicks than this, which are probably bots.",
        "--columns ROLE=NAME...": "The name of a column that isn't recognised, such as doc=sku; repeat for more. The roles: list, session, user, query, doc, position, clicks, action, time, "
        "propensity, impressions, shown, clicked, team.",
    },
    "comparing.level comparing.seed",
    {
        f"--format, -f [{'|'.join(_FORMATS)}]": "The output format; trec is for judgments.  [default: by the extension of --output; table]",
    },
    "output engine",
    level="The confidence level of the intervals.",
    seed="The random seed; equal seeds give equal results.",
)
def clicks(files: tuple[str, ...], **options: Any) -> None:
    """Turn a click log into judgments, and answer other questions about it.

    LOG has a row per shown document (session, query, doc, position, clicked), a row per list (query, shown,
    clicked), a row per event, with the lists in --lists (such as OpenSearch's UBI), or counts (query, doc,
    impressions, clicks). It is a CSV, TSV, JSON, JSON lines or Parquet file.
    """
    documents = "merged" if options["show"] == "grades" and not options["interleave"] else ""
    options["reading"] = call.read_shared_options(options, documents=documents)
    if options["interleave"]:
        _print(_interleaved(files, options), options)
        return
    if len(files) > 1:
        raise click.UsageError(f"Expected one LOG, found {' '.join(files)}.")
    show = options["show"]
    _refuse_unused(show)
    with progress_bar() as progress:
        log = gf.behaviour.read_log(files[0], **_reading(options))
        result = _ANSWERS[show](log, options, progress)
    if result is not log:  # whose table already shows them
        for oddity in log.oddities:
            tell(f"{files[0]}: {oddity}")
    _print(result, options)


def _print(result: Any, options: Options) -> None:
    """Print or write a result; judgments can also be written as TREC."""
    is_judgments = isinstance(result, gf.results.ClickJudgments)
    if is_judgments and (options["output"] or options["format"] == "trec"):
        call.write_documents(result, options, options["format"])
        tell(result.summary)
        return
    call.print_result(result, options)


def _reading(options: Options) -> dict[str, Any]:
    """Return the keyword arguments that read the log, as in `LogOptions`."""
    how = {
        name: options[name]
        for name in ("lists", "first_position", "session_gap", "most_clicks", "actions")
        if options[name] is not None
    }
    if options["reading"]["columns"]:
        how["columns"] = options["reading"]["columns"]
    return how | {"engine": options["reading"]["engine"]}


def _grades(log: Any, options: Options, progress: Progress) -> Any:
    return gf.behaviour.click_judgments(
        log, options["model"], dialect=options["dialect"], thresholds=options["thresholds"],
        level=options["level"], rounds=options["rounds"],
        progress=progress,
    )  # fmt: skip


def _models(log: Any, options: Options, progress: Progress) -> Any:
    how = {name: options[name] for name in ("rounds", "seed")}
    return gf.behaviour.click_models(log, progress=progress, **how)


def _positions(log: Any, options: Options, progress: Progress) -> Any:
    how = {name: options[name] for name in ("depth", "level", "seed")}
    how |= _method(options)
    return gf.behaviour.position_bias(log, progress=progress, **how)


def _method(options: Options) -> dict[str, Any]:
    return {} if options["method"] is None else {"method": options["method"]}


def _earnings(log: Any, options: Options, _: Progress) -> Any:
    if len(options["runs"]) != 1:
        raise click.UsageError("--show earnings requires one --run.")
    how = {"cutoff": options["depth"], "level": options["level"], **_method(options)}
    return gf.behaviour.would_earn(log, options["runs"][0], **how)


def _preference(log: Any, options: Options, _: Progress) -> Any:
    runs = call.runs_of(options["runs"], options) if options["runs"] else None
    how = {"level": options["level"], **_method(options)}
    return gf.behaviour.interleaving_verdict(log, runs=runs, **how)


def _interleaved(files: tuple[str, ...], options: Options) -> Any:
    runs = call.runs_of(files, options)
    how = {"depth": options["depth"], "seed": options["seed"], **_method(options)}
    return gf.behaviour.interleave_runs(runs, **how)


_ANSWERS: dict[str, Callable[[Any, Options, Progress], Any]] = {
    "grades": _grades,
    "log": lambda log, *_: log,
    "models": _models,
    "positions": _positions,
    "earnings": _earnings,
    "preference": _preference,
}
# The questions that use an option, of those that not all use.
_USED_BY = {
    "model": "grades",
    "dialect": "grades",
    "thresholds": "grades",
    "rounds": "grades models",
    "method": "positions earnings preference",
    "depth": "positions earnings",
    "runs": "earnings preference",
    "level": "grades positions earnings preference",
    "seed": "models positions",
}


def _refuse_unused(show: str) -> None:
    """Reject options that the question doesn't use, instead of ignoring them."""
    written = {param.name: param.opts[0] for param in click.get_current_context().command.params}
    for name, questions in _USED_BY.items():
        if option.is_typed(name) and show not in questions.split():
            meant = " or ".join(questions.split())
            raise click.UsageError(f"{written[name]} needs --show {meant}.")
