"""The command that answers questions about click logs: `clicks`."""

import inspect
from collections.abc import Callable
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import tell
from gainful.cli.project import command, is_typed

_QUESTIONS = {
    "grades": "click_judgments",
    "log": "read_log",
    "models": "click_models",
    "positions": "position_bias",
    "earnings": "would_earn",
    "preference": "interleaving_verdict",
}
"""The questions, and the functions of `gf.behaviour` that answer them with their own options."""
_OTHER_NAMES = {"depth": "cutoff", "runs": "run"}  # of options, in some of these functions
_MODELS = ("ctr", "coec", "cascade", "dcm", "sdbn", "dbn", "pbm", "ubm", "ccm")
_DIALECTS = ("opensearch-workbench",)
_FORMATS = call.formats_of("merged")


@command("gainful clicks impressions.csv --columns doc=product -o clicks.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="LOG")
@option.give(
    {
        f"--show [{'|'.join(_QUESTIONS)}] = grades": "What to compute. grades: judgments; log: what LOG contains, and anything unusual in it; models: which click model "
        "predicts best; positions: how often users look at each rank; earnings: what --run would have earned; preference: the verdict of an interleaving test.",
        "--lists INPUT": "The lists that were shown, if LOG contains only events such as clicks.",
        f"--model [{'|'.join(_MODELS)}]": "With --show grades: the click model.  [default: dbn; for counts, pbm, or ctr without positions]",
        f"--dialect [{'|'.join(_DIALECTS)}]": "With --show grades: reproduce the grades of another tool, computed with coec.",
        "--thresholds NUMBERS": "With --show grades: the lowest estimates that get grades 1, 2, …, such as 0.1,0.25,0.5.  [default: the estimates are the grades]",
        "--rounds >=1 = 100": "With --show grades or models: the maximum number of iterations of EM.",
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
        f"--format, -f [{'|'.join(_FORMATS)}]": "The output format; trec is for judgments.  [default: from the extension of --output, or table]",
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
    show, is_interleaving = options["show"], options["interleave"]
    documents = "merged" if show == "grades" and not is_interleaving else ""
    shared = call.read_shared_options(options, documents=documents)
    if is_interleaving:
        runs = call.runs_of(files, options)
        call.print_result(call.work(gf.behaviour.interleave_runs, runs, options=options), options)
        return
    if len(files) > 1:
        raise click.UsageError(f"Expected one LOG, found {' '.join(files)}.")
    _refuse_unused(show)
    options |= {"run": next(iter(options["runs"]), None), "cutoff": options["depth"]}
    if show == "earnings" and len(options["runs"]) != 1:
        raise click.UsageError("--show earnings requires one --run.")
    if show == "preference":
        options["runs"] = call.runs_of(options["runs"], options) or None
    reading = call.keywords(gf.behaviour.read_log, options | shared)
    log = result = gf.behaviour.read_log(files[0], **reading)
    if show != "log":  # whose table already shows the oddities
        own = {name: value for name, value in options.items() if name not in reading}
        result = call.work(_answer(show), log, options=own)
        for oddity in log.oddities:
            tell(f"{files[0]}: {oddity}")
    if show == "grades" and (options["output"] or options["format"] == "trec"):
        call.write_documents(result, options, options["format"])
        tell(result.summary)
    else:
        call.print_result(result, options)


def _answer(show: str) -> Callable[..., Any]:
    """Return the function that answers a question."""
    function: Callable[..., Any] = getattr(gf.behaviour, _QUESTIONS[show])
    return function


def _refuse_unused(show: str) -> None:
    """Reject options that the question doesn't use, instead of ignoring them."""
    for param in click.get_current_context().command.params:
        names = {str(param.name), _OTHER_NAMES.get(str(param.name), "")}

        def uses(question: str, names: set[str] = names) -> bool:
            return bool(names & {*inspect.signature(_answer(question)).parameters})

        if is_typed(str(param.name)) and not uses(show) and (users := [*filter(uses, _QUESTIONS)]):
            raise click.UsageError(f"{param.opts[0]} needs --show {' or '.join(users)}.")
