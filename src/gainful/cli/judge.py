"""`gainful judge`."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    InputFile,
    check_target,
    refuse_standard_input_twice,
    runs_of,
    texts_options,
)
from gainful.cli.standard_streams import print_data, tell
from gainful.message_texts import counted

_OF_A_NEW_ONE = (
    "queries",
    "docs",
    "judgments",
    "scale",
    "depth",
    "order",
    "compare",
    "overlap",
    "overlap_share",
    "show_ranks",
    "tag",
    "seed",
    "title",
)


@click.command(
    cls=ProjectCommand,
    examples=[
        "gainful judge bm25.run dense.run --queries queries.tsv --docs docs.jsonl --db study.db"
    ],
)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@texts_options
@click.option(
    "--judgments",
    type=InputFile(),
    help="Judgments that there are already; what they have is not asked for again.",
)
@click.option(
    "--scale",
    metavar="LOW..HIGH",
    help="The grades, such as 0..3, or each with its word: '0=off topic,1=related,2=answers it'.  [default: 0..3]",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="Judge the documents down to this rank of any RUN.  [default: 20]",
)
@click.option(
    "--order",
    type=click.Choice(["effect", "verdict", "random", "rank"]),
    help="What comes first. effect: those that could move the measure most; verdict: those that could turn the "
    "difference of two RUNs; random: any; rank: the best of any RUN.  [default: effect]",
)
@click.option(
    "--compare",
    nargs=2,
    metavar="NAME NAME",
    help="The two RUNs that --order verdict goes by, called by their files without the ending; the first is the baseline.  "
    "[default: the first two]",
)
@click.option(
    "--overlap",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="How many assessors judge a document.  [default: 1]",
)
@click.option(
    "--overlap-share",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Share of the documents that have so many assessors, such as 0.2, drawn at random; the others have one.  "
    "[default: 1]",
)
@click.option(
    "--show-ranks/--hide-ranks",
    default=None,
    help="Whether assessors see at which ranks of which RUNs a document stands.  [default: hide-ranks]",
)
@click.option(
    "--tag",
    multiple=True,
    metavar="WORDS",
    help="A reason that assessors may give with a grade; repeat for more.  [default: some usual ones]",
)
@click.option(
    "--seed",
    type=int,
    help="The start of what is random: the order, and the share of --overlap-share.  [default: 0]",
)
@click.option(
    "--title", metavar="TEXT", help="The name of the study.  [default: that of the database]"
)
@click.option(
    "--guideline",
    type=InputFile(),
    help="A text file that says how to judge; where it differs from before, it is a new version.",
)
@click.option(
    "--db",
    default="study.db",
    show_default=True,
    metavar="FILE|postgresql://…",
    help="Where the study is kept: a file of SQLite, or a database of PostgreSQL. With RUNs it is made where there "
    "is none.",
)
@click.option(
    "--invite",
    multiple=True,
    metavar="NAME",
    help="Print a link for an assessor of this name; repeat for more. A link that they had stops working.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address of the desk. Other machines reach any but this one, so it needs a --secret.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port of the desk; 0 is any that is free.",
)
@click.option(
    "--secret",
    envvar="GAINFUL_DESK_SECRET",
    metavar="TEXT",
    help="A text of 12 characters or more that everybody enters once, besides their link; better in the variable "
    "GAINFUL_DESK_SECRET than on the command line.",
)
@click.option(
    "--behind-proxy",
    metavar="ADDRESS",
    help="The IP address of a server in front of the desk, such as 127.0.0.1: the desk believes its X-Forwarded-For and "
    "X-Forwarded-Proto, and nobody else's. It needs a --secret.",
)
@click.option("--no-open", is_flag=True, help="Print the link and do not open it.")
@click.option(
    "--offline",
    is_flag=True,
    help="Write the desk as one page, --output, for an assessor without a server; --invite names the assessor.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 5000),
    metavar="NUMBER",
    help="With --offline: the most documents of the page, up to 5,000. Nobody else is given them for 30 days.  "
    "[default: 200]",
)
@click.option("--output", "-o", metavar="FILE", help="With --offline: the page to write.")
@click.option(
    "--merge",
    type=InputFile(),
    multiple=True,
    help="Read grades back that such a page has saved, and serve nothing; repeat for more.",
)
@click.option(
    "--as",
    "as_",
    metavar="NAME",
    help="With --merge: vouch that the grades come from this assessor, for a file without the proof of its page.",
)
@click.option(
    "--backup",
    metavar="FILE",
    help="Copy the study to this file, with all that is saved, and serve nothing. A desk may be open meanwhile. The file is "
    "replaced when the copy is complete.",
)
def judge(runs: tuple[str, ...], **options: Any) -> None:
    """Open the judging desk: a page where people grade the documents of RUNs, and one for who leads.

    It prints and opens the lead's link; there, assessors are invited. Called again with the same --db it goes on where
    it was left; then RUNs, if there are any, may bring new documents. Ctrl-C ends it, and nothing is lost.
    """
    from gainful.desk.desk_server import take_address

    _refuse_together(runs, options)
    offline, merged = options["offline"], options["merge"]
    if options["backup"] is not None:
        _back_up(options["db"], options["backup"])
        return
    # What can fail comes before the study is made or changed.
    guideline = None if options["guideline"] is None else _guideline(options["guideline"])
    with ExitStack() as open_ones:
        taken = None
        if not (offline or merged):
            address = (options[name] for name in ("host", "port", "secret", "behind_proxy"))
            taken = open_ones.enter_context(take_address(*address))
        study = open_ones.enter_context(_study(runs, options))
        if guideline is not None and guideline != study.guideline.text:
            study.set_guideline(guideline)
        if merged:
            _merge(study, merged, options["as_"])
        elif offline:
            _write_offline(study, options)
        else:
            _serve(study, options, taken)


def _refuse_together(runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options that do not go with each other."""
    from gainful.desk.study import LEAD

    offline, merged = options["offline"], options["merge"]
    if offline != (options["output"] is not None):
        raise click.UsageError("--offline and --output go together.")
    if options["budget"] is not None and not offline:
        raise click.UsageError("--budget goes with --offline.")
    if offline and merged:
        raise click.UsageError("Give --offline or --merge, not both.")
    if offline and len(options["invite"]) != 1:
        raise click.UsageError("--offline needs the name of its assessor: one --invite NAME.")
    if options["as_"] is not None and not merged:
        raise click.UsageError("--as goes with --merge.")
    alone = (runs, offline, merged, options["invite"], options["guideline"])
    if options["backup"] is not None and any(alone):
        raise click.UsageError("--backup goes with --db alone.")
    if LEAD in [name.strip() for name in options["invite"]]:
        raise click.UsageError(
            f"--invite {LEAD}: who leads has a link already; take another name to judge."
        )


def _study(runs: tuple[str, ...], options: dict[str, Any]) -> Any:
    from gainful.desk.offline import LEASE

    address = options["db"]
    lease: dict[str, Any] = {"lease": LEASE} if options["offline"] else {}
    given = {name: options[name] for name in _OF_A_NEW_ONE if options[name] not in (None, ())}
    if not runs:
        set_aside(options, ["judgments", "queries", "docs"])
        given = {name: options[name] for name in _OF_A_NEW_ONE if options[name] not in (None, ())}
        if given:
            listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise click.UsageError(
                f"{listed}: goes with RUNs. A study that exists has these already."
            )
        with _in_words_of_the_command():
            return gf.Study(address, **lease)
    named = runs_of(runs, options, options["judgments"])
    read = [
        *named.values(),
        *(options[name] for name in ("queries", "docs", "judgments") if options[name]),
    ]
    refuse_standard_input_twice(*read)
    for name in ("queries", "docs"):
        if options[name] is None:
            raise click.UsageError(f"Missing option '--{name}': assessors need texts to judge.")
    if "tag" in given:
        given["tags"] = given.pop("tag")
    if "scale" in given:
        given["scale"] = _scale(given["scale"])
    return gf.Study.create(address, named, **given, **lease)


@contextmanager
def _in_words_of_the_command() -> Iterator[None]:
    """Say of a study that there is none by which command it is made."""
    try:
        yield
    except gf.errors.StudyError as problem:
        if "Study.create" not in problem.remedy:
            raise
        remedy = "Make one: gainful judge RUN… --queries FILE --docs FILE --db …."
        told = problem.where, problem.expected, problem.found
        raise gf.errors.StudyError(*told, remedy) from None


def _scale(text: str) -> str | dict[float, str]:
    """Return a scale, with the words of its grades where it has any."""
    if "=" not in text:
        return text
    found: dict[float, str] = {}
    for each in text.split(","):
        number, equals, word = each.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = None
        if value is None or not equals or value in found:
            raise click.UsageError(
                f"--scale takes LOW..HIGH or GRADE=WORD,GRADE=WORD, each once, not {text!r}."
            )
        found[value] = word.strip()
    return found


def _guideline(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise gf.errors.InputError(file, "a text file in UTF-8", str(problem)) from None


def _serve(study: Any, options: dict[str, Any], taken: Any) -> None:
    from gainful.desk.desk_server import DeskServer, open_in_browser
    from gainful.desk.study import LEAD

    def started(address: str) -> None:
        link = f"{address}/i/{study.invite(LEAD, role='lead')}"
        progress = study.progress()
        tell(f"{study.address}: {progress.done:,} of {counted(progress.items, 'document')} judged")
        print_data(f"{LEAD}\t{link}\n")
        for name in options["invite"]:
            print_data(f"{name}\t{address}/i/{study.invite(name)}\n")
        tell("Ctrl-C ends the desk; the same command goes on where it was left.")
        if not options["no_open"] and sys.stdout.isatty():
            open_in_browser(link)

    named = {name: options[name] for name in ("host", "secret", "behind_proxy")}
    desk = DeskServer(study, **named, taken=taken)
    with suppress(KeyboardInterrupt):  # it has closed what it had open
        desk.run(started)


def _write_offline(study: Any, options: dict[str, Any]) -> None:
    from gainful.desk.offline import USUAL, write_offline

    [name] = map(str.strip, options["invite"])
    check_target(options["output"])
    page = write_offline(study, name, options["output"], options["budget"] or USUAL)
    told = f"{options['output']}: {counted(page.documents, 'document')} for {name}"
    if page.left:
        told += f"; {page.left:,} more are left, see --budget"
    tell(told)


def _back_up(address: str, path: str) -> None:
    from gainful.desk.store import back_up

    with _in_words_of_the_command():
        acts = back_up(address, path)
    tell(f"{path}: a copy of {address} with {counted(acts, 'act')}")


def _merge(study: Any, files: tuple[str, ...], assessor: str | None) -> None:
    from gainful.desk.offline import merge

    for file in files:
        found = merge(study, file, assessor)
        tell(f"{file}: {counted(found.confirmed, 'act')} of {found.assessor} taken")
        for line in found.refused:
            tell(line)
