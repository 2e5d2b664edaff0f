"""`gainful judge`."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import pairs, refuse_standard_input_twice, runs_of
from gainful.cli.output import check_target
from gainful.cli.process import print_data, tell
from gainful.cli.project import set_aside
from gainful.message_texts import counted

_OF_A_NEW_ONE = (
    "queries", "docs", "judgments", "scale", "depth", "order", "compare", "overlap", "overlap_share", "show_ranks",
    "tag", "seed", "title",
)  # fmt: skip


@command("gainful judge bm25.run dense.run --queries queries.tsv --docs docs.jsonl --db study.db")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@option.give(
    "texts",
    "judgments",
    {
        "--scale LOW..HIGH": "The grades, such as 0..3, optionally with labels: '0=off topic,1=related,2=answers it'.  [default: 0..3]",
        "--depth RANK>=1": "Judge the documents down to this rank of any RUN.  [default: 20]",
        "--order [effect|verdict|random|rank]": "The order of the documents. effect: first those that could change the measure most; verdict: those that could reverse the comparison of two RUNs; "
        "random: shuffled; rank: by the best rank in any RUN.  [default: effect]",
        "--compare NAME NAME": option.more(
            "The two RUNs of --order verdict, named after their files without the extension, the baseline first.  [default: the first two]",
            nargs=2,
        ),
        "--overlap NUMBER>=1": "The number of assessors per document.  [default: 1]",
        "--overlap-share SHARE>=0.0<=1.0": "The share of documents, drawn at random, that --overlap assessors judge, such as 0.2; one assessor judges the others.  [default: 1]",
        "--show-ranks/--hide-ranks": option.more(
            "Whether assessors see the ranks of a document in the RUNs.  [default: hide-ranks]",
            default=None,
        ),
        "--tag WORDS...": "A reason that assessors can attach to a grade; repeat for more.  [default: some common reasons]",
        "--seed INTEGER": "The random seed of the order and of --overlap-share.  [default: 0]",
        "--title TEXT": "The title of the study.  [default: the name of the database]",
        "--guideline INPUT": "A text file with instructions for assessors; a changed text becomes a new version.",
        "--db FILE|postgresql://… = study.db": "The database of the study: an SQLite file or a PostgreSQL database. With RUNs, it is created if missing.",
        "--invite NAME...": "Print a link for the assessor with this name; repeat for more. The assessor's previous link stops working.",
        "--host TEXT = 127.0.0.1": "The address of the desk. Other machines can reach every address except the default, so any other requires a --secret.",
        "--port >=0<=65535 = 8765": "The port of the desk; 0 selects a free port.",
        "--secret TEXT": option.more(
            "A secret of at least 12 characters that everybody enters once after opening their link; preferably set as GAINFUL_DESK_SECRET.",
            envvar="GAINFUL_DESK_SECRET",
        ),
        "--behind-proxy ADDRESS": "The IP address of a reverse proxy, whose X-Forwarded-For and -Proto headers are trusted; requires --secret.",
        "--no-open": "Print the link without opening it in a browser.",
        "--offline": "Write the desk as a single page, --output, for an assessor without a server; --invite names the assessor.",
        "--budget NUMBER>=1<=5000": "With --offline: the maximum number of documents on the page, up to 5,000. They are reserved for 30 days.  [default: 200]",
        "--output, -o FILE": "With --offline: the page to write.",
        "--merge INPUT...": "Import grades that an offline page saved, without starting the desk; repeat for more.",
        "--as NAME": "With --merge: confirm that the grades come from this assessor, for a file without the proof of its page.",
        "--backup FILE": "Copy the whole study to this file, without starting the desk; works while a desk is open. An existing file is replaced once the copy is complete.",
    },
    judgments="Existing judgments; documents judged there are not judged again.",
)
def judge(runs: tuple[str, ...], **options: Any) -> None:
    """Open the judging desk: a grading page for assessors and a dashboard for the lead.

    The command prints and opens the lead's link, where the lead invites assessors. With the same --db, it continues an
    existing study; RUNs, if any, add new documents. Stop it with Ctrl-C: nothing is lost.
    """
    from gainful.judging.desk.desk_server import take_address

    _refuse_together(runs, options)
    offline, merged = options["offline"], options["merge"]
    if options["backup"] is not None:
        _back_up(options["db"], options["backup"])
        return
    # Everything that can fail comes before the study is created or changed.
    guideline = None if options["guideline"] is None else _guideline(options["guideline"])
    with ExitStack() as open_ones:
        taken = None
        if not (offline or merged):
            address = (options[name] for name in ("host", "port", "secret", "behind_proxy"))
            taken = open_ones.enter_context(take_address(*address))
        study = open_ones.enter_context(_study(runs, options))
        if guideline is not None and guideline != study.guideline.text:
            study.set(guideline=guideline)
        if merged:
            _merge(study, merged, options["as"])
        elif offline:
            _write_offline(study, options)
        else:
            _serve(study, options, taken)


def _refuse_together(runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Reject options that cannot be combined."""
    from gainful.judging.desk.study import LEAD

    offline, merged = options["offline"], options["merge"]
    option.refuse_conflicts("judge", options)
    if offline and len(options["invite"]) != 1:
        raise click.UsageError(
            "--offline requires the name of its assessor: pass --invite NAME once."
        )
    alone = (runs, offline, merged, options["invite"], options["guideline"])
    if options["backup"] is not None and any(alone):
        raise click.UsageError("--backup can only be combined with --db.")
    if LEAD in [name.strip() for name in options["invite"]]:
        raise click.UsageError(
            f"--invite {LEAD}: the lead already has a link. Choose another name for an assessor."
        )


def _study(runs: tuple[str, ...], options: dict[str, Any]) -> Any:
    from gainful.judging.desk.offline import LEASE

    address = options["db"]
    lease: dict[str, Any] = {"lease": LEASE} if options["offline"] else {}
    if not runs:
        set_aside(options, ["judgments", "queries", "docs"])
    chosen = {name: options[name] for name in _OF_A_NEW_ONE if options[name] not in (None, ())}
    if not runs:
        if chosen:
            listed = ", ".join(map(option.option_name, chosen))
            raise click.UsageError(
                f"{listed}: only allowed with RUNs. An existing study keeps its own settings."
            )
        with _in_words_of_the_command():
            return gf.judging.Study(address, **lease)
    named = runs_of(runs, options, options["judgments"])
    texts = {name: options[name] for name in ("queries", "docs")}
    refuse_standard_input_twice(*named.values(), *texts.values(), options["judgments"])
    for name, path in texts.items():
        if path is None:
            raise click.UsageError(f"Missing option '--{name}': assessors need the texts to judge.")
    if "tag" in chosen:
        chosen["tags"] = chosen.pop("tag")
    if "scale" in chosen:
        chosen["scale"] = _scale(chosen["scale"])
    return gf.judging.Study.create(address, named, **chosen, **lease)


@contextmanager
def _in_words_of_the_command() -> Iterator[None]:
    """Add the command that creates a study to the error about a missing one."""
    try:
        yield
    except gf.errors.StudyError as problem:
        if problem.code != "study.missing":
            raise
        remedy = "Create one: gainful judge RUN… --queries FILE --docs FILE --db …."
        raise problem.with_remedy(remedy) from None


def _scale(text: str) -> str | dict[float, str]:
    """Return a scale, with the labels of its grades if any."""
    if "=" not in text:
        return text
    example = "LOW..HIGH or GRADE=WORD,GRADE=WORD"
    words = pairs("--scale", text.split(","), example)
    try:
        scale = {float(number): word for number, word in words.items()}
    except ValueError:
        raise click.UsageError(f"--scale expects {example}, not {text!r}.") from None
    if len(scale) < len(words):
        raise click.UsageError(f"--scale expects {example}, each grade once, not {text!r}.")
    return scale


def _guideline(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise gf.errors.InputError(file, "a text file in UTF-8", str(problem)) from None


def _serve(study: Any, options: dict[str, Any], taken: Any) -> None:
    from gainful.judging.desk.desk_server import DeskServer, open_in_browser
    from gainful.judging.desk.study import LEAD

    def started(address: str) -> None:
        link = f"{address}/i/{study.invite(LEAD, role='lead')}"
        progress = study.progress()
        tell(f"{study.address}: {progress.done:,} of {counted(progress.items, 'document')} judged")
        print_data(f"{LEAD}\t{link}\n")
        for name in options["invite"]:
            print_data(f"{name}\t{address}/i/{study.invite(name)}\n")
        tell("Press Ctrl-C to stop the desk; run the same command again to continue.")
        if not options["no_open"] and sys.stdout.isatty():
            open_in_browser(link)

    named = {name: options[name] for name in ("host", "secret", "behind_proxy")}
    desk = DeskServer(study, **named, taken=taken)
    with suppress(KeyboardInterrupt):  # the desk has already closed its connections
        desk.run(started)


def _write_offline(study: Any, options: dict[str, Any]) -> None:
    from gainful.judging.desk.offline import USUAL, write_offline

    [name] = map(str.strip, options["invite"])
    check_target(options["output"])
    page = write_offline(study, name, options["output"], options["budget"] or USUAL)
    told = f"{options['output']}: {counted(page.documents, 'document')} for {name}"
    if page.left:
        told += f"; {page.left:,} more remain, see --budget"
    tell(told)


def _back_up(address: str, path: str) -> None:
    from gainful.judging.desk.store import back_up

    with _in_words_of_the_command():
        acts = back_up(address, path)
    tell(f"{path}: a copy of {address} with {counted(acts, 'action')}")


def _merge(study: Any, files: tuple[str, ...], assessor: str | None) -> None:
    from gainful.judging.desk.offline import merge

    for file in files:
        found = merge(study, file, assessor)
        tell(f"{file}: {counted(found.confirmed, 'action')} by {found.assessor} imported")
        for line in found.refused:
            tell(line)
