"""Commands about judgments: `pool`, `judge`, `agreement`, `collect`, `sample` and `merge`."""

import json
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import FAILED, print_data, tell, tell_some
from gainful.cli.option_table import Options
from gainful.cli.project import command, own_modules, set_aside
from gainful.message_texts import counted, shortened

_TABLES = (
    "coefficients", "pairs", "leanings", "confusion", "queries", "disputed", "means", "orders", "verdicts", "settle",
)  # fmt: skip
_OF_CONCLUSIONS = _TABLES[-4:]


class _AgreementTable(option.Choice):
    """The name of a table of `agreement`; an error tells which tables need --run."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is wrong with a name, the choices, and what they need."""
        message = super().get_invalid_choice_message(value, ctx)
        return f"{message} Only with --run: {', '.join(_OF_CONCLUSIONS)}."


_CLICK_LOG = (
    "a click log that `gainful clicks` can read. Documents whose clicks say little about their grade come first. "
    "--columns clicks.doc=NAME names a column."
)
_MERGED_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="merged").values()))
_CACHE = ".answers.jsonl"
_ASK = ("grades", "evidence", "nuggets", "support")
_NOT_TREC = ("evidence", "nuggets")
_LETTERS = 4  # characters per token, roughly


@command("gainful pool bm25.run dense.run --judgments qrels.txt -m nDCG@10 --budget 50")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--depth RANK>=1": "Pool documents down to this rank.  [default: 100 or, with --judgments, the measure's cutoff if it has one]",
    },
    "judgments measure",
    {
        "--budget NUMBER>=1": "With --judgments: the maximum number of documents to list.  [default: 50]",
        "--grades GRADES": "With --judgments: the possible grades, such as 0,1,2,3. Words with grades, such as Exact=3,Irrelevant=0, have the same meaning as for --grade-words.  "
        "[default: 0 and the lowest and highest grade in the judgments]",
        "--compare NAME NAME": "With --judgments: settle the difference between two runs, named after their files without the extension.",
        "--clicks INPUT": f"With --judgments: {_CLICK_LOG}",
        f"--format, -f [{'|'.join(call.formats_of('pools'))}]": "The output format; trec: query 0 doc grade, with ? for unjudged.  "
        "[default: from the extension of --output, or table]",
    },
    "output measuring",
    judgments="List only unjudged documents, starting with those that could change the measure most.",
    measure="With --judgments: the measure to settle.  [default: nDCG@10]",
)
def pool(runs: tuple[str, ...], **options: Any) -> None:
    """List the documents to judge: every document near the top of any RUN.

    With --judgments, list only unjudged documents, ordered by how much their grade could change the
    measure: how far its mean moves between the best and the worst possible grade of that one document.
    """
    judgments, named = call.runs_alone(runs, options)
    how = call.read_shared_options(options, documents="pools")
    format_ = call.format_of(options, "pools")
    options["judgments"] = None  # an input, not an option
    log = call.read_click_log(options.pop("clicks"), how, "clicks")
    if log is not None:
        how["clicks"] = gf.behaviour.click_judgments(log)
    if judgments is None:
        documents = call.work(gf.pool, named, options=options, **how)
    else:
        make = gf.judging.next_to_judge
        documents = call.work(make, judgments, named, options=options, **how)
    call.write_documents(documents, options, format_)
    if format_ not in call.FOR_PEOPLE:
        tell(documents.summary)


def _judging_scale(text: str) -> str | dict[float, str]:
    """Return a scale, with the labels of its grades if any."""
    if "=" not in text:
        return text  # a range, or the name of a preset
    pairs = [pair.partition("=") for pair in text.split(",")]
    scale = {float(number): word.strip() for number, equals, word in pairs if equals}
    if len(scale) < len(pairs):
        raise ValueError(text)
    return scale


@command("gainful judge bm25.run dense.run --queries queries.tsv --docs docs.jsonl --db study.db")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@option.give(
    "texts judgments",
    {
        "--scale LOW..HIGH": {
            "help": "The grades, such as 0..3, optionally with labels: '0=off topic,1=related,2=answers it'; or esci or excellent-fair-bad.  [default: 0..3]",
            "type": option.Parsed(
                _judging_scale, "LOW..HIGH or GRADE=WORD,GRADE=WORD, each grade once"
            ),
        },
        "--depth RANK>=1": "Judge the documents down to this rank in any RUN.  [default: 20]",
        "--order [effect|verdict|random|rank]": "The order of the documents. effect: first those that could change the measure most; verdict: those that could reverse the comparison of two RUNs; "
        "random: shuffled; rank: by the best rank in any RUN.  [default: effect]",
        "--compare NAME NAME": "The two RUNs of --order verdict, named after their files without the extension, the baseline first.  [default: the first two]",
        "--clicks INPUT": f"With --order effect or verdict: {_CLICK_LOG}",
        "--columns ROLE=NAME...": "The name of a column of --clicks that isn't recognised, such as clicks.doc=sku; repeat for more.",
        "--overlap NUMBER>=1": "The number of assessors per document.  [default: 1]",
        "--overlap-share SHARE>=0.0<=1.0": "The share of documents, drawn at random, that --overlap assessors judge, such as 0.2; one assessor judges the others.  [default: 1]",
        "--show-ranks/--hide-ranks": "Whether assessors see a document's ranks in the RUNs.  [default: hide-ranks]",
        "--doc-format [auto|text|markdown|html]": "How pages show the text of documents; auto: detected for each document. HTML is shown without scripts and styles.  [default: auto]",
        "--image-host URL... -> image_hosts": "A server from which pages may load images of documents, such as https://images.example.com; repeat for more.  [default: none]",
        "--tag WORDS... -> tags": "A reason that assessors can attach to a grade; repeat for more.  [default: some common reasons]",
        "--seed INTEGER": "The random seed of the order and of --overlap-share.  [default: 0]",
        "--title TEXT": "The title of the study.  [default: the name of the database]",
        "--guideline INPUT": "A text file with instructions for assessors; changed instructions become a new version.",
        "--db FILE|postgresql://… = study.db": "The database of the study: an SQLite file or a PostgreSQL database. With RUNs, it is created if missing.",
        "--invite NAME...": "Print a link for the assessor with this name; repeat for more. The assessor's previous link stops working.",
        "--host TEXT = 127.0.0.1": "The address of the desk. Other machines can reach every address except the default, so any other address requires --secret.",
        "--port >=0<=65535 = 8765": "The port of the desk; 0 selects a free port.",
        "--secret TEXT": {
            "help": "A secret of at least 12 characters that everybody enters once after opening their link; preferably set as GAINFUL_DESK_SECRET.",
            "envvar": "GAINFUL_DESK_SECRET",
        },
        "--behind-proxy ADDRESS": "The IP address of a reverse proxy, whose X-Forwarded-For and -Proto headers are trusted; requires --secret.",
        "--no-open": "Print the link without opening it in a browser.",
        "--offline": "Write the desk as a single page, --output, for an assessor without a server; --invite names the assessor.",
        "--budget NUMBER>=1<=5000": "With --offline: the maximum number of documents on the page, up to 5,000. They are reserved for 30 days.  [default: 200]",
        "--output, -o FILE": "With --offline: the page to write.",
        "--merge INPUT...": "Import grades that an offline page saved, without starting the desk; repeat for more.",
        "--as NAME": "With --merge: confirm that the grades come from this assessor, for a file that lacks its page's proof of origin.",
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
    from gainful.judging.desk.store import back_up
    from gainful.judging.desk.study import LEAD

    offline, merged, backup = options["offline"], options["merge"], options["backup"]
    if offline and len(options["invite"]) != 1:
        raise click.UsageError(
            "--offline requires the name of its assessor: pass --invite NAME once."
        )
    if LEAD in [name.strip() for name in options["invite"]]:
        raise click.UsageError(
            f"--invite {LEAD}: the lead already has a link. Choose another name for an assessor."
        )
    if backup is not None:
        acts = back_up(options["db"], backup)
        tell(f"{backup}: a copy of {options['db']} with {counted(acts, 'action')}")
        return
    # Everything that can fail comes before the study is created or changed.
    call.check_files()
    guideline = None if options["guideline"] is None else _guideline(options["guideline"])
    options["clicks"] = _clicks_of(options)
    with ExitStack() as stack:
        address = None
        if not (offline or merged):
            where = (options[name] for name in ("host", "port", "secret", "behind_proxy"))
            address = stack.enter_context(take_address(*where))
        study = stack.enter_context(_study(runs, options))
        if guideline is not None and guideline != study.guideline.text:
            study.set(guideline=guideline)
        if merged:
            _import_pages(study, merged, options["as"])
        elif offline:
            _write_offline(study, options)
        else:
            _serve(study, options, address)


def _guideline(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise gf.errors.InputError(file, "a text file in UTF-8", str(problem)) from None


def _clicks_of(options: Options) -> "gf.results.ClickJudgments | None":
    """Return what --clicks says about documents."""
    shared: dict[str, Any] = {"columns": call.columns_of_input(options, "clicks")}
    log = call.read_click_log(options["clicks"], shared, "clicks")
    return None if log is None else gf.behaviour.click_judgments(log)


def _study(runs: tuple[str, ...], options: Options) -> Any:
    from gainful.judging.desk.offline import LEASE

    lease: dict[str, Any] = {"lease": LEASE} if options["offline"] else {}
    if not runs:
        return gf.judging.Study(options["db"], **lease)
    named = call.runs_of(runs, options, options["judgments"])
    texts = {name: options[name] for name in ("queries", "docs")}
    for name, path in texts.items():
        if path is None:
            raise click.UsageError(f"Missing option '--{name}': assessors need the texts to judge.")
    chosen = {name: options[name] for name in option.OF_A_NEW_STUDY.split() if name != "columns"}
    how = call.keywords(gf.judging.Study.create, chosen)
    return gf.judging.Study.create(options["db"], named, **how, **lease)


def _serve(study: Any, options: Options, address: Any) -> None:
    from gainful.judging.desk.desk_server import DeskServer, open_in_browser
    from gainful.judging.desk.study import LEAD

    def started(url: str) -> None:
        link = f"{url}/i/{study.invite(LEAD, role='lead')}"
        progress = study.progress()
        tell(f"{study.address}: {progress.done:,} of {counted(progress.items, 'document')} judged")
        print_data(f"{LEAD}\t{link}\n")
        for name in options["invite"]:
            print_data(f"{name}\t{url}/i/{study.invite(name)}\n")
        tell("Press Ctrl-C to stop the desk; run the same command again to continue.")
        if not options["no_open"] and sys.stdout.isatty():
            open_in_browser(link)

    how = {name: options[name] for name in ("host", "secret", "behind_proxy")}
    desk = DeskServer(study, **how, taken=address)
    with suppress(KeyboardInterrupt):  # the desk has already closed its connections
        desk.run(started)


def _write_offline(study: Any, options: Options) -> None:
    from gainful.judging.desk.offline import USUAL, write_offline

    name, output = options["invite"][0].strip(), options["output"]
    page = write_offline(study, name, output, options["budget"] or USUAL)
    more = f"; {page.left:,} more remain, see --budget" if page.left else ""
    tell(f"{output}: {counted(page.documents, 'document')} for {name}{more}")


def _import_pages(study: Any, files: tuple[str, ...], assessor: str | None) -> None:
    from gainful.judging.desk.offline import merge

    for file in files:
        imported = merge(study, file, assessor)
        tell(f"{file}: {counted(imported.confirmed, 'action')} by {imported.assessor} imported")
        for line in imported.refused:
            tell(line)


@command("gainful agreement ann.qrels bob.qrels eve.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    "names comparing.level comparing.resamples comparing.seed",
    {
        "--run RUN... -> runs": "A run, a folder of runs or a pattern; repeat for more. With two or more, also show how disagreement affects "
        "conclusions: means per assessor and for the merged grades, agreement of rankings, changed verdicts, items to settle first.",
    },
    "measures",
    {
        "--rule RULE = mean": "With --run: how to merge the grades, as in `gainful merge`.",
        "--baseline NAME": "With --run: the name of the run to compare the others with.  [default: the first]",
        **option.comparison(
            pairs="With --run: the pairs of runs to compare.",
            correction="With --run: how to correct p-values for multiple comparisons.",
        ),
        "--html FILE": "With --run: write an HTML page about runs and assessors, as `gainful report --grades` does, using the merged grades.",
        f"--table [{'|'.join(_TABLES)}] -> table_name": {
            "help": "Write only this table; means, orders, verdicts and settle need --run.  [default: all tables, or coefficients in csv, tsv and jsonl]",
            "type": _AgreementTable(_TABLES),
        },
    },
    "result measuring",
    level="The confidence level of the intervals.",
    resamples={"help": "The number of bootstrap resamples for the intervals.", "default": 2000},
    seed="The random seed; equal seeds give equal results.",
    measures="With --run: what to measure, such as nDCG@10; repeat for more.",
)
def agreement(files: tuple[str, ...], **options: Any) -> None:
    """Measure how well assessors agree, who grades higher or lower than others, and how that affects conclusions.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    # They would be merged, and here each of them counts.
    set_aside(options, ["assessors"])
    runs = call.runs_of(options["runs"], options)
    if not runs:
        call.leave_out_columns(options, of="run")
    shared = call.read_shared_options(options)
    reading = call.reading(shared)
    page = options["html"]
    grades = files[0] if len(files) == 1 else files
    options["runs"] = runs
    how = call.keywords(gf.judging.agreement, options)
    if runs:
        how |= shared
    else:
        of_grades = ("names", "level", "resamples", "seed")
        how = reading | {name: how[name] for name in of_grades if name in how}
    result = gf.judging.agreement(grades, **how)
    if page:  # about the runs by the merged grades, and about the assessors
        merged = gf.judging.merge_judgments(
            grades, options["rule"], names=options["names"], **reading
        )
        for name in ("names", "resamples", *option.READING):
            how.pop(name, None)
        how = call.keywords(gf.report, how)
        gf.report(merged, agreement=result, **how).write(page)
    tables, name = result.named_tables(), options["table_name"]
    if name is None:
        others = ", ".join(name for name in tables if name != "coefficients")
        note = f"Only the coefficients; use --table for another table ({others}), or json for all."
        call.print_result(result, options, [note])
    elif name in tables:
        call.print_result(tables[name], options)
    elif name in _OF_CONCLUSIONS:
        raise click.UsageError(f"--table {name} requires --run.")
    else:
        raise click.UsageError(f"--table {name} lists disputed items, but there are none.")


@command(
    "gainful collect pool.qrels --queries queries.tsv --docs docs.jsonl --endpoint "
    "http://localhost:8000/v1 --model llama -o model.csv",
    "gainful collect golden.jsonl --docs docs/ --ask evidence --call judges:quote",
)
@click.argument("source", metavar="PAIRS", type=option.InputFile())
@option.give(
    "texts",
    {
        f"--ask [{'|'.join(_ASK)}] = grades": "What to ask for. grades: a grade for each document; evidence: the passages of each document that answer the query, as judgments for "
        "evidence_recall@5; nuggets: the facts that an answer needs; support: whether each document supports each fact in --nuggets, for NuggetRecall@5.",
        "--nuggets INPUT": "With --ask support: a table with a query, a nugget and optionally its importance, vital or okay, in each row.",
        "--offsets [characters|bytes]": "With --ask evidence, if PAIRS is a run of chunks: the unit of their start and end. The model then reads chunks instead of documents.",
        "--chunk-table INPUT...": "With --ask evidence, if PAIRS is a run with ids of chunks: a table with an id, a document, and either start and end or the text in each row.",
        "--depth RANK>=1": "Read PAIRS as a run, and grade the documents down to this rank.",
        "--endpoint URL": "A server with chat completions, such as http://localhost:8000/v1.",
        "--model NAME": "With --endpoint: the name of the model.",
        "--call MODULE:NAME": "Instead of --endpoint: a Python function that takes a prompt and returns an answer; its module must be in the current folder.",
        "--key-variable NAME": "With --endpoint: the environment variable that contains the key. The key is never saved or printed.",
        "--parameter NAME=VALUE... -> parameters": "With --endpoint: an extra request parameter, such as temperature=0; repeat for more.",
        "--prompt INPUT": "A template with {query}, {document} and {scale}; write {{ and }} for braces. Evidence has no {scale}; nuggets have {documents}.  [default: gainful's prompt]",
        "--grade NUMBER[=MEANING]... -> grades": "A grade of the scale and its meaning; repeat for each grade.  [default: gainful's scale, 0 to 3]",
        "--per-prompt NUMBER>=1": "The number of documents per prompt, if the prompt contains {documents}.  [default: 1, or 20 with --ask nuggets]",
        "--batch NUMBER>=1": "With --call: the function accepts a list of this many prompts and returns a list of answers.",
        "--longest NUMBER>=1": "The maximum number of characters per document.",
        "--missing-texts [error|skip] = error": "What to do if a query or document has no text: fail (error), or leave the document unjudged (skip).",
        "--concurrency NUMBER>=1": "The number of simultaneous calls.  [default: 8 with --endpoint, or 1 with --call]",
        "--retries NUMBER>=0": "How often to retry a failed call, after 1, 2, 4, … seconds.  [default: 5 with --endpoint, or 0 with --call]",
        "--ask-again >=0 = 0": "How often to repeat a prompt if its answer cannot be parsed.",
        "--per-minute NUMBER>0.0": "The maximum number of calls per minute.",
        "--timeout SECONDS>0.0": "With --endpoint: the time limit for an answer.  [default: 120]",
        "--prices IN OUT": {
            "help": "The prices per million input and output tokens, to compute the cost.",
            "type": float,
        },
        "--price-per-call NUMBER>=0.0": "The price of a call, to compute the cost; with --prices, it is added to the price of the tokens.",
        "--max-calls NUMBER>=0": "The maximum number of calls, including retries. If prompts remain, print how many and exit 1.",
        "--max-cost NUMBER>=0.0": "Stop before a call that could raise the total cost above this (needs a price); then print how many prompts remain and exit 1.",
        "--cache FILE": f"Save every answer in this file, and send only the missing prompts.  [default: OUTPUT{_CACHE} with --output]",
        "--name NAME": "The model's name as an assessor.  [default: the model's name]",
        "--dry-run": "Send nothing: show the first prompt, the number of calls and their size.",
        f"--format, -f [{'|'.join(call.formats_of('pools'))}]": "The output format; trec: query 0 doc grade.  [default: from the extension of --output, or table]",
    },
    "output columns engine",
    queries="The text of the queries; TSV, CSV or JSON lines with the id and the text of each query, JSON {id: text}, or Parquet.  [default: the ids, if they are the questions]",
    docs={
        "required": True,
        "help": "The text of the documents; in the same formats as --queries, with a title, a body or both; or a folder of text files.",
    },
)
def collect(source: str, **options: Any) -> None:
    """Collect grades or evidence from a model for PAIRS: a pool, judgments, or a table with query and doc.

    The model is a server (--endpoint) or a Python function (--call). An answer is valid if its last line is
    `grade: 2`, or if it is JSON {"grade": 2} or just the number; for evidence, if it ends with a
    `passage: …` line for each passage. Other answers are saved and counted, and their documents stay unjudged. If calls failed, a limit was reached or nothing could be graded, the exit code is 1: run
    the same command again to send the remaining prompts.
    """
    _refuse_for_others(options)
    if options["endpoint"] is None and options["call"] is None:
        raise click.UsageError(
            "Name the model: --endpoint URL --model NAME, or --call MODULE:NAME."
        )
    call.leave_out_columns(options, of="judgments")
    if options["depth"] is None:
        call.leave_out_columns(options, of="run")
    shared = call.read_shared_options(options, documents="pools")
    format_ = call.format_of(options, "pools")
    ask = options["ask"]
    if ask in _NOT_TREC and format_ == "trec":
        raise click.UsageError(f"TREC files contain no {ask}: write .csv, .jsonl or .parquet.")
    output, own_cache = options["output"], options["cache"]
    if own_cache is None and output not in (None, "-"):
        options["cache"] = f"{output}{_CACHE}"  # answers cost money
    cache = options["cache"]
    model = options.pop("model") or options["call"]
    options["parameters"] = _parameters_of(options["parameters"])
    options["grades"] = _grades_of(options["grades"])
    with own_modules(click.get_current_context().obj):
        how = {"dry": options["dry_run"], **shared}
        collecting = getattr(gf.judging, f"collect_{ask}")
        found = call.work(collecting, source, model, options=options, **how)
    grades = found if ask == "grades" else found.collected
    if options["dry_run"]:
        plan = f"{counted(grades.unasked, 'prompt')} to send, {_size(grades)}; {grades.cached:,} cached"
        print_data(f"{grades.first_prompt.rstrip()}\n")
        tell(f"dry run, first prompt: {plan}")
        tell(found.summary)
        return
    call.write_documents(found, options, format_)
    if format_ not in call.FOR_PEOPLE or output is not None:
        tell_some(
            [
                f"unjudged: query {item.query}, document {item.doc}, {item.why}"
                + ("" if item.answer is None else f": {shortened(item.answer, 120)!r}")
                for item in (*grades.unread, *grades.failed, *grades.without_text)
            ]
        )
        tell(found.summary)
    if own_cache is None and cache is not None:
        tell(f"the answers are saved in {cache}")
    if grades.limit is not None:
        more = (
            "Run the same command again to continue: saved answers are not requested again."
            if cache is not None
            else "Without --cache or --output, answers are not saved, and the next call starts over."
        )
        left = f"{counted(grades.unasked, 'prompt')} left, {_size(grades)}"
        tell(f"stopped at {option.option_name(str(grades.limit))}: {left}. {more}")
    if grades.failed or grades.limit is not None or (grades.rows and not grades.graded):
        sys.exit(FAILED)


def _refuse_for_others(options: Options) -> None:
    """Reject options of `collect` that mean nothing for what is asked."""
    ask = options["ask"]
    for name, asked in (
        ("nuggets", "support"),
        ("offsets", "evidence"),
        ("chunk_table", "evidence"),
    ):
        if options[name] and ask != asked:
            raise click.UsageError(f"{option.option_name(name)} requires --ask {asked}.")
    if ask == "support" and options["nuggets"] is None:
        raise click.UsageError("--ask support requires --nuggets FILE, the facts to look for.")
    if ask != "grades" and options["grades"]:
        raise click.UsageError("--grade requires --ask grades: the other answers are fixed.")
    if ask in ("evidence", "support") and (options["per_prompt"] or 1) > 1:
        raise click.UsageError(f"--per-prompt must be 1 with --ask {ask}.")


def _parameters_of(texts: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the extra request parameters: each value as JSON if it parses, otherwise as text."""
    parameters: dict[str, Any] = dict(
        call.pairs("--parameter", texts, "NAME=VALUE, such as temperature=0")
    )
    for name, value in parameters.items():
        with suppress(ValueError):
            parameters[name] = json.loads(value)
    return parameters or None


def _grades_of(texts: tuple[str, ...]) -> dict[float, str] | list[float] | None:
    """Return the grades of the scale, with their meanings if any."""
    meanings: dict[float, str] = {}
    for text in texts:
        number, _, meaning = text.partition("=")
        try:
            meanings[float(number)] = meaning.strip()
        except ValueError:
            message = f"--grade expects NUMBER=MEANING, such as 0='off topic', not {text!r}."
            raise click.UsageError(message) from None
    if len(meanings) < len(texts):
        raise click.UsageError("--grade names a grade twice.")
    if any(meanings.values()) and not all(meanings.values()):
        raise click.UsageError("--grade: pass a meaning for every grade or for none.")
    return meanings if any(meanings.values()) else [*meanings] or None


def _size(grades: "gf.results.CollectedGrades") -> str:
    """Return the size of the remaining prompts as text."""
    size = grades.unasked_characters
    return f"{size:,} characters" + (f", about {size // _LETTERS:,} tokens" if size else "")


@command("gainful sample model.qrels --size 60 --design design.json -o to_judge.csv")
@click.argument("files", nargs=-1, required=True, metavar="SOURCE...")
@option.give(
    {
        "--size >=1": {"help": "The sample size.", "required": True},
        "--design FILE": "Write the design to this file (.json) for `gainful calibrate`: what was drawn, from what, and how.",
        "--strata INPUT": "A table with one row per query: draw from each stratum separately.",
        "--by COLUMN...": "The column of --strata or, with --documents, one of query, rank and grade; repeat for more.  [default: the only column or, with --documents, query]",
        "--allocation [proportional|equal] = proportional": "The number drawn from each stratum: proportional to its size, or equal.",
        "--documents": "Draw documents instead of whole queries, for DCG and CG; the SOURCEs are runs.",
        "--depth RANK>=1": "With --documents: draw from the documents down to this rank.  [default: 10]",
        "--model INPUT": "With --documents: a model's judgments, for --by grade.",
    },
    "comparing.seed result measuring",
    seed="The random seed; equal seeds draw equal samples.",
)
def sample(files: tuple[str, ...], **options: Any) -> None:
    """Draw a random sample of queries or documents for people to judge, and save the design.

    SOURCE lists the queries: judgments (such as a model's), a run, query texts, or one id per line.
    With --documents, the SOURCEs are runs, and their documents are sampled.
    """
    file, model = options["design"], options["model"]
    call.refuse_standard_input("Sources, strata and judgments")
    if options.pop("documents"):
        if model is None:
            set_aside(options, ["assessors"])
        runs = call.runs_of(files, options, model)
        shared = call.read_shared_options(options)
        how = call.keywords(gf.judging.sample_documents, options) | shared
        design = gf.judging.sample_documents(runs, **how)
    else:
        if len(files) > 1:
            raise click.UsageError("Queries are drawn from one SOURCE: pass a single file.")
        if len(options["by"]) > 1:
            raise click.UsageError("--by accepts one column of --strata: pass it once.")
        set_aside(options, ["dialect", "chunks", "chunk_map"])
        shared = call.read_shared_options(options)
        options["by"] = next(iter(options["by"]), None)
        how = call.keywords(gf.judging.sample_queries, options) | call.reading(shared)
        design = gf.judging.sample_queries(files[0], **how)
    if file is not None:
        design.write(file, format="json")
    call.print_result(design.table(), options)
    if file is None:
        tell(
            "The design was not saved: pass --design FILE so that `gainful calibrate` can read it."
        )


@command("gainful merge ann.qrels bob.qrels eve.qrels --rule median -o merged.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    {
        "--rule RULE = mean": "How to merge grades: mean, median, majority, max, min, dawid-skene, or the name of an assessor; majority is the most frequent "
        "grade, dawid-skene the most probable grade given each assessor's confusions, and a name uses only this assessor's grades.",
        "--ties [lowest|highest|mean|first]": "The grade that wins a tie with median, majority or dawid-skene; first: the grade of the first assessor who gave one of them.  "
        "[default: mean with median, otherwise lowest]",
        "--first NAME": "The assessor whose grades take precedence; for documents that this assessor did not grade, the rule merges the other grades.",
        "--weights WEIGHTS": "Weights of assessors for mean, median and majority: ann=2,bob=0.5.  [default: 1 each]",
    },
    "names",
    {
        f"--format, -f [{'|'.join(_MERGED_FORMATS)}]": "The output format; csv, tsv, jsonl and parquet also list how many grades were merged, and whose; json contains "
        "everything.  [default: from the extension of --output, or trec]",
    },
    "output reading",
    output="Write the judgments to this file instead of standard output. An existing file is replaced only once the judgments are complete.",
)
def merge(files: tuple[str, ...], **options: Any) -> None:
    """Merge the grades that several assessors gave to a document into one.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # --rule has the same meaning here
    how = call.read_shared_options(options, documents="merged")
    how |= call.keywords(gf.judging.merge_judgments, options)
    merged = gf.judging.merge_judgments(files[0] if len(files) == 1 else files, **how)
    call.write_documents(merged, options, options["format"])
    for line in merged.notes:
        tell(line)
