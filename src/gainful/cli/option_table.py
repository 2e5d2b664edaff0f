"""The table of options: every option that several commands or a project file use, declared once.

An option is declared as the help shows it, with its help text: `"--depth RANK>=1": "The last rank to read."`. A command
adds groups of options with `give`, and declares its own options there in the same way. Python's `MeasuringOptions` has one
keyword per group of `SHARED`, and a project file accepts the groups of `SECTIONS`.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

import gainful as gf
from gainful.message_texts import did_you_mean

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # generic from click 8.4.2 on
    _ParamType = click.ParamType

Command = Callable[..., None]
_USAGE = re.compile(
    r"(?P<option>--[^ ,.]+)(, (?P<short>-\w))?( (?!-> )(?P<takes>.+?))?(?P<many>\.\.\.)?"
    r"( = (?P<default>.+?))?( -> (?P<name>\w+))?"
)
_TAKES = re.compile(
    r"(?P<metavar>[^<>]*)((?P<above>>=?)(?P<low>[\d.]+))?((?P<below><=?)(?P<high>[\d.]+))?"
)


class InputFile(click.types.StringParamType):
    """The path of an input file; in a project file, it is relative to the folder of that file."""

    name = "file"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> "list[CompletionItem[str]]":  # generic from click 8.4.2 on
        """Let the shell complete the path."""
        return [CompletionItem(incomplete, type="file")]


class OutputFile(InputFile):
    """The path of a file that the command writes."""


Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def _completer(words: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes a word, in upper or lower case."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in words() if word.casefold().startswith(incomplete.casefold())]

    return complete


COMPLETED = {
    "--measure": _completer(lambda: [family.name for family in gf.measures.families()]),
    "--dialect": _completer(lambda: [dialect.name for dialect in gf.measures.dialects()]),
}
"""Options whose values shells complete from a catalogue."""


class Choice(click.Choice[str]):
    """A choice of words; an error suggests the closest one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return what is wrong with a word, and the choices."""
        return f"found {value!r}. {did_you_mean(value, self.choices)}"


class Parsed(_ParamType):
    """A value that a function reads from text.

    Args:
        read: the function, which raises ValueError for other texts.
        expected: what the option expects, for messages.
    """

    name = "text"

    def __init__(self, read: Callable[[str], Any], expected: str) -> None:
        self.read, self.expected = read, expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text."""
        try:
            return self.read(value) if isinstance(value, str) else value
        except ValueError:
            option = "" if param is None else max(param.opts, key=len)
            message = f"{option} expects {self.expected}, not {value!r}."
            raise click.UsageError(message, ctx) from None


def words_in(text: str) -> list[str]:
    """Return words that are separated by commas."""
    return [word.strip() for word in text.split(",")]


def numbers_in(text: str) -> list[float]:
    """Return numbers that are separated by commas."""
    return [float(number) for number in text.split(",")]


def are_words(text: str) -> bool:
    """Return whether grades are words, or the name of a preset, rather than numbers.

    >>> are_words("Exact=3,Irrelevant=0"), are_words("esci"), are_words("0,1,2")
    (True, True, False)
    """
    return "=" in text or text[:1].isalpha()


def possible_grades_in(text: str) -> list[float] | str:
    """Return numbers that are separated by commas; words with grades stay text."""
    return text if are_words(text) else numbers_in(text)


def range_in(text: str) -> tuple[float, float]:
    """Return the lowest and the highest number."""
    low, high = map(float, text.split(".."))
    return low, high


def grades_in(text: str) -> tuple[str, str] | set[str]:
    """Return the lowest and the highest grade, or all grades.

    >>> grades_in("0..3")
    ('0', '3')
    """
    low, dots, high = text.partition("..")
    return (low, high) if dots else set(text.split(","))


def weights_in(text: str) -> dict[str, float]:
    """Return the weights of names, each once.

    >>> weights_in("ann=2, bob=0.5")
    {'ann': 2.0, 'bob': 0.5}
    """
    pairs = [pair.rpartition("=") for pair in text.split(",")]
    weights = {name.strip(): float(number) for name, _, number in pairs}
    if "" in weights or len(weights) < len(pairs):
        raise ValueError(text)
    return weights


def unseen_in(text: str) -> int | str:
    """Return a number of documents, or any."""
    if text != "any" and not (text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise ValueError(text)
    return text if text == "any" else int(text)


_MOST_DIGITS = 18  # of a number of documents
_INPUTS = (
    "INPUT",
    "FILE|URL",
    "FOLDER",
    "RUN",
    "BASE",
    "FILE|COLUMN",
    "FILE|COLUMN|id:DELIMITER",
    "FILE|max|std|diff1",
)
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(_INPUTS, InputFile()),
    "FILE": OutputFile(),
    "NAMES": Parsed(words_in, "names such as ann,bob"),
    "TOOL,TOOL": Parsed(words_in, "the names of tools"),
    "NUMBERS": Parsed(numbers_in, "numbers such as 1,2"),
    "GRADES": Parsed(possible_grades_in, "grades such as 0,1,2"),
    "LOW..HIGH": Parsed(range_in, "LOW..HIGH, such as 0..3"),
    "GRADES|LOW..HIGH|WORDS": Parsed(
        lambda text: text if are_words(text) else grades_in(text), "grades"
    ),
    "COUNT|any": Parsed(unseen_in, "a number of documents, 0 or more, or any"),
    "STRATUM=NUMBER,…": Parsed(weights_in, "STRATUM=NUMBER, such as head=1000,tail=20000"),
    "WEIGHTS": Parsed(weights_in, "names with numbers, such as ann=2,bob=0.5"),
    "INTEGER": int,
    "DIRECTORY": click.Path(exists=True, file_okay=False),
}
Options = dict[str, Any]
"""The options of a call, by name; values are removed as they are read."""
Usages = Mapping[str, str | dict[str, Any]]
"""Options: the usage of each, and its help or keywords of `click.Option`."""


def options_of(usages: Usages) -> dict[str, click.Option]:
    """Return new options by name.

    A usage is --option, -o METAVAR..., where ... means several values. Limits follow the metavar: of whole numbers, >=1,
    or of any numbers, >0.0<1.0. INPUT, RUN and BASE are input files, FILE is an output file, INTEGER a whole number,
    DIRECTORY a folder, and [a|b] a choice of words. An option without a metavar is a flag. Then follow a default, = 10,
    and the Python name if it differs, -> name.

    >>> options_of({"--port >=0<=65535": "The port of the desk."})["port"].type
    <IntRange 0<=x<=65535>
    """
    options = {}
    for usage, entry in usages.items():
        parts = _USAGE.fullmatch(usage)
        if parts is None:
            raise ValueError(usage)
        details: dict[str, Any] = {"multiple": True} if parts["many"] else {}
        if (takes := parts["takes"]) is not None:
            details |= _taken(takes)
        else:
            details |= {"is_flag": True} | ({"default": None} if "/" in usage else {})
        if (default := parts["default"]) is not None:
            value = details.get("type", click.STRING).convert(default, None, None)
            details |= {"default": [value] if parts["many"] else value, "show_default": True}
        name = parts["name"] or parts["option"].split("/")[0][2:].replace("-", "_")
        names = filter(None, (parts["option"], parts["short"], name))
        more = entry if isinstance(entry, dict) else {"help": entry}
        if (completer := COMPLETED.get(parts["option"])) is not None:
            details["shell_complete"] = completer
        options[name] = click.Option([*names], **details | more)
    return options


def _taken(usage: str) -> dict[str, Any]:
    """Return click's keywords for the value of an option: its metavar and type."""
    if usage in _TYPES:
        return {"type": _TYPES[usage], "metavar": "FILE" if usage == "INPUT" else usage}
    if usage.startswith("[") and "|" in usage:
        return {"type": Choice(usage[1:-1].split("|"))}
    if "|" in usage:
        words = [word for word in usage.split("|") if word.islower()]
        return {"metavar": usage, "shell_complete": _completer(lambda: words)}
    parts = _TAKES.fullmatch(usage)
    if parts is None or not (parts["low"] or parts["high"]):
        return {"metavar": usage, "nargs": len(usage.split())}
    low, high = (None if end is None else _number(end) for end in parts.group("low", "high"))
    kind: Any = click.FloatRange if "." in usage else click.IntRange
    limits = kind(low, high, min_open=parts["above"] == ">", max_open=parts["below"] == "<")
    limits.name = "number" if kind is click.FloatRange else "whole number"  # in messages
    return {"metavar": parts["metavar"] or None, "type": limits}


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number  # the help shows it


def option_name(name: str) -> str:
    """Return how an option is written on the command line.

    >>> option_name("query_ids")
    '--query-ids'
    """
    return f"--{name.replace('_', '-')}"


def _only(_: click.Context, __: click.Parameter, measures: tuple[str, ...]) -> str | None:
    if len(measures) > 1:
        raise click.UsageError("This command accepts one measure: pass -m once.")
    return measures[0] if measures else None


def _policy() -> Usages:
    usages = {}
    for entry in gf.measures.choices():
        answers = dict(entry.answers) | ({"GRADE": entry.grade} if entry.grade else {})
        meanings = "; ".join(f"{name}: {meaning}" for name, meaning in answers.items())
        usage = f"{option_name(entry.name)} {'|'.join(answers)} = {entry.default}"
        usages[usage] = f"{entry.question} {meanings}."
    return usages


def comparison(**meanings: str) -> dict[str, str]:
    """Declare options for comparing runs, with the meaning of each choice."""
    usages = {}
    for name, meaning in meanings.items():
        choices = gf.comparison.comparison_choices()[name]  # which loads statistics
        told = "; ".join(f"{word}: {means}" for word, means in choices.items())
        usages[f"--{name} [{'|'.join(choices)}] = {next(iter(choices))}"] = f"{meaning} {told}."
    return usages


def _comparing() -> Usages:
    return {
        **comparison(
            pairs="The pairs of runs to compare.",
            test="The test that decides significance.",
            correction="How to correct p-values for multiple comparisons.",
            interval="The confidence interval of a difference.",
        ),
        "--anytime": "Use an interval and a test that hold however often you look while queries are added (betting). Requires measures with a range.",
        "--baseline NAME": "The name of the run to compare the others with, such as bm25 for bm25.run.  [default: the first]",
        "--level >0.0<1.0 = 0.95": "The confidence level of the intervals; a difference is significant if p is below 1 − level.",
        "--margin >0.0": "The smallest difference that matters; with it, a comparison can also show that runs are equivalent.",
        "--tie >=0.0 = 0.0": "Count queries whose scores differ by at most this much as ties, in the sign test and in wins and losses.",
        "--resamples >=1 = 10000": "The number of resamples for randomisation and bootstrap.",
        "--seed >=0 = 0": "The random seed of randomisation and bootstrap.",
        "--slices INPUT": "A table with one row per query: also compare within each value of its columns.",
        "--by COLUMN...": "Slice by this column of --slices, by judged (the number of judged documents) or by baseline (the baseline's score); repeat for more.",
    }


_DEFINE = {
    "--define MODULE:NAME...": "A measure, discount or gain of your own for -m, defined with gainful.measures.define in a module in the current folder; repeat for more.",
}
WITHOUT_DEFAULT = {"default": (), "show_default": False}
"""Changes of an option with several values whose help describes the default."""
_ENGINES = (
    "elasticsearch", "opensearch", "solr", "vespa", "typesense", "meilisearch", "algolia", "qdrant", "postgresql",
)  # fmt: skip
_ITEMS = {
    "--items INPUT": "The catalogue, for measures such as ILD@10: a table with an item and its categories in each row; an item may have several rows.",
    "--separator TEXT": "The separator between several categories in a cell of --items, such as '|'. By default, cells are split at |, ; or commas, with a warning.",
    "--vectors INPUT": "A table with an item and its vector in each row.",
    "--history INPUT": "Past interactions: a table with a user, an item and optionally a count in each row.",
    "--expected INPUT": "A run of the items that users expect, for Serendipity.  [default: the most popular items of --history]",
}
_SPANS = {
    "--documents INPUT": "The text of the documents, to locate evidence and chunks without offsets: a table with ids and text, or a folder of text files. JUDGMENTS are then evidence.",
    "--offsets [characters|bytes|tokens|documents]": "The unit of the start and end of evidence and chunks; documents: each passage is a whole document. JUDGMENTS are then evidence.",
    "--chunk-table FILE|RUN=FILE...": "The positions of the chunks whose ids the runs contain: a table with an id, a document, and either start and end or the text in each row; RUN=FILE for each run, if the runs have different chunks.",
}
# The options of every command that reads and measures, by the keyword of `gf.inputs.MeasuringOptions`, in the order of
# the help; a terminal always shows progress.
SHARED: dict[str, Usages | Callable[[], Usages]] = {
    "columns": {
        "--columns ROLE=NAME...": "The column of the query, doc, grade, score or rank if its name is unusual: query=user. For one input only: "
        "judgments.query=user, or slices.query=user for --slices. For files without a header, use column numbers from 1. Repeat for more, or separate pairs by commas.",
    },
    "queries": {
        "--query-ids INPUT": "A file with one query id per line, for JSON that has no ids: lists or search responses, in the same order.",
    },
    "assessors": {
        "--assessors RULE": "How to merge the grades of several assessors: mean, median, majority, max, min, dawid-skene, or the name of one assessor.",
    },
    "grade_words": {
        "--grade-words WORD=GRADE,...|PRESET": "The number that each word stands for, if the grades are words: Exact=3,Irrelevant=0; or a preset, esci or excellent-fair-bad.",
    },
    "engine": {
        "--memory SIZE": "The memory limit for tables, such as 4GB.",
        "--threads >=1": "The number of cores to use.",
        "--temp-dir DIRECTORY": "Where to write tables that do not fit into memory.",
        "--unpacked SIZE": "The size limit of a decompressed file, such as 100GB.  [default: 1GB, or 200 times its compressed size]",
    },
    "dialect": {
        "--dialect TOOL": "Reproduce another tool, such as trec_eval-9 or scikit-learn: its gain, ideal and policy. See `gainful dialects`.",
    },
    "policy": _policy,
    "chunks": {
        "--chunks DELIMITER": "Fold the chunks that a run ranks into documents: with #, doc7#2 becomes doc7. Ids are cut at the last DELIMITER; "
        "first:DELIMITER cuts at the first (first::: for doc7::256::3). --fold selects the score of a document.",
        "--chunk-map INPUT": "Fold chunks according to a file with a chunk and its document on each line, possibly compressed; - is standard input.",
    },
}
_RECORDING: Usages = {
    f"--engine [{'|'.join(_ENGINES)}]": "The search engine at --url; sets the path, request template, ids and scores.",
    "--url URL": "The URL of the service, such as http://localhost:9200/articles; may contain {query}, {depth}, {id} and ${NAME}.",
    "--template INPUT": "The request: a JSON file with {query}, {depth}, {id} and {vector} in its strings; for postgresql, SQL with %(query)s and "
    "%(depth)s.  [default: the engine's]",
    "--ids PATH": "The path of the ids in the response, such as hits[*].id.  [default: the engine's]",
    "--scores PATH": "The path of the scores in the response, such as hits[*].score.  [default: the engine's, or scores by rank]",
    "--method [GET|POST]": "The HTTP method.  [default: the engine's, or else POST with --template and GET without it]",
    "--header NAME:VALUE... -> headers": "An additional header; ${NAME} in it is replaced by the value of that environment variable; repeat for more.",
    "--key-variable NAME": "The environment variable that contains the key (opensearch: user:password; postgresql: the password). The key is never saved or printed.",
    "--embed MODULE:NAME": "A Python function that turns a query into a vector, for {vector}.",
    "--call MODULE:NAME": "Instead of --url: a Python function that takes a query and returns ids, or pairs of id and score; its module must be in the current folder.",
    "--command WORDS": "Instead of --url: a command, run once per query with {query} and {depth} in its arguments, or the query on standard input; it "
    "prints one id per line, optionally followed by a tab and a score, or JSON with --ids.",
    "--depth NUMBER>=1 = 100": "The maximum number of documents per query.",
    "--concurrency NUMBER>=1": "The number of simultaneous calls.  [default: 8, or 1 with --call]",
    "--per-second NUMBER>0.0": "The maximum number of calls per second.",
    "--timeout SECONDS>0.0": "The time limit for a response.  [default: 30, or none with --call]",
    "--retries NUMBER>=0": "How often to retry a failed call, after 1, 2, 4, … seconds.  [default: 3, or 0 with --call]",
    "--failed [error|leave-out] = error": "What to do if a query fails: write no run (error), or write the run without that query (leave-out).",
    "--tag WORD": "The name of the run; each row of the file contains it, with the request's hash.  [default: the engine's]",
}
GROUPS: dict[str, Usages | Callable[[], Usages]] = {
    "sampling": {
        "--weights FILE|COLUMN": "The weight of each query in the mean, such as its traffic: a table with one row per query, or the name of a column of --slices.",
        "--clusters FILE|COLUMN|id:DELIMITER": "The cluster of each query, such as the user or the document that it comes from: a table with one row per query, a column of --slices, or id:_ for the part of the query's id before its last _. Intervals and tests then count clusters, not queries.",
        "--strata FILE|COLUMN": "The part of the traffic that each query was drawn from, such as head or tail: a table with one row per query, or a column of --slices.",
        "--arrival FILE|COLUMN": "When each query was added, as a date or number, for --anytime: a table with one row per query, or a column of --slices.  [default: the order of the ids]",
        "--population STRATUM=NUMBER,…": "The number of queries per stratum in the traffic, such as head=1000,tail=20000; queries are weighted accordingly.",
    },
    "unjudged": {
        "--estimate [bootstrap|conformal|prediction-powered]": "Estimate the scores that the runs would have if every document down to the cutoff were judged, based on judged documents at "
        "similar ranks (bootstrap), completely judged queries (conformal) or individual documents (prediction-powered).",
        "--grades GRADES|LOW..HIGH|WORDS": "The possible grades of an unjudged document, as a list (0,1,2,3) or as a range (0..3). Words with grades, such as Exact=3,Irrelevant=0, have the same meaning as for --grade-words.  [default: 0 and the grades in the judgments]",
        "--model INPUT": "With --estimate: a model's grades for the unjudged documents, used as predictions.",
        "--random-sample INPUT": "With --estimate: additional human grades for randomly drawn queries or documents.",
    },
    "judgments": {
        "--judgments INPUT": "The judgments; every other file is then a RUN. A project file may also name them: see `gainful config`.",
    },
    "define": _DEFINE,
    "measures": {
        "--measure, -m TEXT... = nDCG@10 -> measures": "",
        **_DEFINE,
    },
    "measure": {
        "--measure, -m TEXT...": {"callback": _only},
        **_DEFINE,
    },
    "spark": {
        "--engine [duckdb|spark] = duckdb": "The engine that reads and matches files. duckdb: runs on this machine, and spills to disk; spark: reads Parquet, CSV, TSV and JSON lines, by default with --threads local cores.",
        "--master URL": "With --engine spark: where Spark runs, such as local[2], yarn, spark://HOST:7077 or sc://HOST.  [default: all local cores]",
    },
    "tables": {
        **_SPANS,
        "--subtopic-judgments INPUT": "Judgments with subtopics (query subtopic doc grade), for measures such as alpha_nDCG@20.",
        "--nuggets INPUT": "The facts that an answer needs, for NuggetRecall@5: a table with a query, a nugget, a doc, its support, and optionally the importance of the nugget in each row.",
        "--abstentions INPUT": "How likely the reading model is to abstain, for UDCG@5: a table with a query, a doc and a probability in each row.",
        "--confidence FILE|max|std|diff1": "The confidence in each query, for nAUC(nDCG@10): a table with one row per query, or max, std or diff1 of the run's scores.",
        "--sessions FILE": "The session of each query, for session_nDCG@10: a table with a query, its session, and optionally its place in the session, in each row.",
        "--lengths FILE": "The lengths of documents, for TBG and U: a table with a doc, its words or characters, and optionally duplicate_of, the document that it repeats, in each row.",
        **_ITEMS,
    },
    "spans": _SPANS,
    "items": _ITEMS,
    "comparing": _comparing,
    "gate": {
        "--fail-if CONDITION...": "Exit 1 if this holds; repeat for more. 'nDCG@10 < 0.6' is a floor for a RUN's mean, checked against the lower end of the "
        "interval; 'Δ nDCG@10 < -0.01' is a change from BASE that the whole interval confirms. `gainful help gates` lists all conditions.",
        "--fail-unless CONDITION...": "Exit 1 unless the interval confirms this, such as 'nDCG@10 >= 0.6'. This requires proof, so it is stricter than --fail-if; repeat for more.",
    },
    "gate_files": {
        "--junit FILE": "Write the conditions as JUnit XML.",
        "--summary FILE": "Write a summary in Markdown, for a pull request.",
    },
    "texts": {
        "--queries INPUT": "The text of the queries: TSV, CSV or JSON lines with the id and the text of each query, JSON {id: text}, or Parquet.",
        "--docs INPUT": "The documents, in the same formats as --queries, with a title, a body or both; only the displayed ones are kept in memory.",
    },
    "graders": {
        "--human INPUT": "Judgments by people for a random sample of queries; requires --model.",
        "--model INPUT": "A model's judgments of all queries; requires --human.",
    },
    "design": {
        "--design INPUT": "The design that `gainful sample` wrote: which queries people judged, and how they were drawn.",
        "--drawn-at-random": "Instead of --design: assert that the queries people judged are a random sample of the model's queries.",
        "--documents-drawn-at-random": "Instead of --design: assert that the documents people judged are a random sample of individual documents; for nDCG, DCG and CG.",
    },
    "recording": _RECORDING,
    "watching": {
        "--store FILE|URL": "The history to add to: a file, a database (search.duckdb, search.sqlite) or postgresql://USER@HOST/DATABASE; see `gainful history`.",
        "--queries INPUT": "The text of the queries, to record a run with --url, --call or --command, as `gainful run` does.",
        "--baseline last|release|LABEL = last": "The earlier entry that each run is compared with: the last one, the last one with a label (release), or the one with LABEL.",
        "--keep-runs FOLDER": "Keep the previous run in this folder: if JUDGMENTS change, it is measured again, so that a jump can be attributed to judgments or run.",
        "--fail-on-drop": "Exit 1 if a measure really fell since the previous entry, at a level that holds over all entries of the history.",
        "--summary FILE": "Write a summary in Markdown.",
        "--openmetrics FILE": "Write the numbers for Prometheus, in the format that the node exporter's textfile collector reads.",
        "--webhook VARIABLE": "Post the result to the URL in this environment variable. The URL is never saved or printed.",
        "--webhook-template INPUT": "The JSON to post; its strings may contain {paragraph}, {title}, {result}, {markdown}, {details}, {runs}, {time}, {label}, {commit} and {history}.  "
        '[default: {"text": "{title}. {paragraph}"}]',
    },
    "names": {
        "--names NAMES": "The names of the assessors, one per FILE: ann,bob.  [default: the names of the files]",
    },
    "digits": {
        "--digits >=0<=17": "The number of decimals, in formats that round numbers.",
    },
    "format": {
        f"--format, -f [{'|'.join((*gf.writing.formats(), 'parquet'))}]": "The output format; table, markdown, latex and html round numbers.  "
        "[default: from the extension of --output, or table]",
    },
    "output": {
        "--output, -o FILE": "Write to this file instead of standard output; its extension, such as .csv, .jsonl, .parquet or .csv.gz, selects the format. An existing file is replaced only once the output is complete.",
    },
    "partition_by": {
        "--partition-by COLUMN...": "Write Parquet files to --output, which must be a new or empty folder, with a subfolder for each value of this column, such as run=bm25; repeat for more.",
    },
    "verbose": {
        "--verbose": "Print the full policy under the table, as output files do. By default, print only the choices that differ from the defaults.",
    },
}
MEASURING = tuple(SHARED)
"""The options of commands that measure, as in `gf.inputs.MeasuringOptions`."""
READING = ("columns", "queries", "assessors", "grade_words", "engine")
"""The options of commands that only read, as in `gf.inputs.ReadingOptions`."""
_GROUPS_OF_GROUPS = {
    "result": ("format", "output", "partition_by", "verbose"),
    "reading": READING,
    "measuring": MEASURING,
    "evaluating": (*MEASURING, "tables"),
}


class Section(NamedTuple):
    """A table of a project file: the groups of options that it sets, and for which commands (all if empty), separated by spaces."""

    groups: str
    takers: str = ""


SECTIONS = {
    "": Section("judgments measures queries assessors grade_words dialect chunks"),
    "policy": Section("policy"),
    "compare": Section("comparing", "compare report"),
    "gate": Section("gate", "evaluate compare watch"),
    "report": Section("texts", "report"),
    "run": Section("recording", "run watch"),
    "watch": Section(
        "watching comparing.level comparing.interval comparing.anytime comparing.slices comparing.by",
        "watch",
    ),
}
"""The tables of a project file by name, "" for the top of the file; [columns] is a separate table."""
ACTING = frozenset(
    [
        "define", "run.url", "run.template", "run.headers", "run.key_variable", "run.embed", "run.call", "run.command",
        "watch.store", "watch.keep_runs", "watch.summary", "watch.openmetrics", "watch.webhook",
    ]
)  # fmt: skip
"""The settings that import code, call a service, send environment variables or write files; the project file must be trusted."""
SECRET = frozenset(["run.url", "run.headers", "run.key_variable", "run.command"])
"""The settings that may contain a key; no message shows their values."""


_ALSO = {"grade_words": "--grades"}
"""Another spelling of an option, in commands that have no other option of that name."""


def options_of_group(name: str) -> dict[str, click.Option]:
    """Return new options of a group by name; comparing.level is one option of a group."""
    name, _, single = name.partition(".")
    usages = {**GROUPS, **SHARED}[name]
    options = options_of(usages() if callable(usages) else usages)
    return {single: options[single]} if single else options


def give(*parts: str | Usages, **changes: str | Mapping[str, Any]) -> Callable[[Command], Command]:
    """Add options to a command, in the order of the help.

    Args:
        parts: the names of groups, separated by spaces, and the command's own options.
        changes: by the name of an option, its help in this command or a dict of changed attributes.
    """
    options: dict[str, click.Option] = {}
    for part in parts:
        for name in part.split() if isinstance(part, str) else ():
            for group in _GROUPS_OF_GROUPS.get(name, (name,)):
                options |= options_of_group(group)
        options |= options_of(part) if not isinstance(part, str) else {}
    for name, change in changes.items():
        if name not in options:
            raise ValueError(f"no option in {parts}: {name}")
        vars(options[name]).update({"help": change} if isinstance(change, str) else change)
    taken = {opt for each in options.values() for opt in each.opts}
    for name, spelling in _ALSO.items():
        if name in options and spelling not in taken:
            options[name].opts.append(spelling)

    def decorate(command: Command) -> Command:
        # Like click.option: decorators are applied bottom-up, so the first option comes last.
        params = vars(command).setdefault("__click_params__", [])
        params.extend(reversed(options.values()))
        return command

    return decorate


class Conflict(NamedTuple):
    """Options that cannot be combined with others, or that require one of others; names are separated by spaces.

    Attributes:
        options: the options.
        others: options that cannot be combined with any of them.
        needed: options of which any of them requires at least one.
        more: the end of the message.
    """

    options: str
    others: str = ""
    needed: str = ""
    more: str = ""


_POLICY = " ".join(choice.name for choice in gf.measures.choices())
_OTHER_TABLES = "subtopic_judgments nuggets abstentions confidence lengths sessions items separator vectors history expected"
OF_TABLES = f"{' '.join(options_of(_SPANS))} {_OTHER_TABLES}"
OF_A_NEW_STUDY = "queries docs judgments scale depth order compare overlap overlap_share show_ranks doc_format image_hosts tags seed title clicks columns"
_MACHINE = "memory threads temp_dir unpacked engine master"
_SAMPLING = "weights clusters strata arrival population"
_COMPARING = "anytime pairs test correction baseline margin tie resamples seed slices by"
_SCORES = Conflict(
    f"judgments columns query_ids assessors grade_words dialect chunks chunk_map {_POLICY} {OF_TABLES} {_MACHINE}",
    "scores",
    more=", which needs no judgments and runs",
)
_JUNIT = Conflict("junit", needed="fail_if fail_unless")
CONFLICTS = {
    "chunks": (Conflict("chunks", "chunk_map"),),
    "partition_by": (Conflict("partition_by", needed="output"),),
    "spark": (
        Conflict("master", needed="engine", more=" spark"),
        Conflict("master", "threads", more=", because it sets the number of cores"),
        Conflict("engine", "unpacked", more=": Spark decompresses while reading"),
    ),
    "evaluate": (
        Conflict("bounds estimate", f"has_subtopics engine save_baseline interval slices by {_SAMPLING.replace('weights ', '')} worst best summary {OF_TABLES}"),
        Conflict("has_subtopics", f"engine save_baseline slices by {_SAMPLING} {OF_TABLES}"),
        Conflict("interval slices by", "per_query worst best", more=": intervals and slices apply to means"),
        Conflict("per_query", "worst best"),
        Conflict("level", needed="interval slices by fail_if fail_unless estimate"),
        Conflict("unseen", needed="bounds estimate"),
        Conflict("model random_sample", needed="estimate"),
        _JUNIT,
    ),
    "compare": (
        Conflict("human", needed="model"),
        Conflict("model", needed="human estimate"),
        Conflict("design drawn_at_random documents_drawn_at_random", needed="human"),
        Conflict("random_sample", needed="estimate"),
        Conflict("estimate", "human scores engine master"),
        Conflict(
            "human",
            f"{_OTHER_TABLES} judgments scores pairs test interval tie resamples seed slices by anytime weights clusters strata arrival population html tests systems per_query worst best "
            "engine master movers",
            more=": differences are estimated by PPI++, see `gainful calibrate --help`",
        ),
        _SCORES,
        Conflict("movers", "scores"),
        Conflict("movers", needed="summary"),
        _JUNIT,
        Conflict("systems", "tests per_query worst best"),
        Conflict("tests", "per_query worst best"),
        Conflict("per_query", "worst best"),
    ),
    "leaderboard": (_SCORES,),
    "convert": (
        Conflict("within", needed="reference"),
        Conflict("reference", "hold_out"),
        *(Conflict(name, needed="hold_out") for name in ("training", "size", "share", "at", "core", "seed")),
    ),
    "collect": (
        Conflict("model", needed="endpoint"),
        Conflict("endpoint", "call"),
        Conflict("endpoint", needed="model", more=" NAME, the name of a model"),
        Conflict("offsets chunk_table", needed="depth", more=", for a run of chunks"),
    ),
    "explain": (Conflict("against", f"{OF_TABLES} swap move remove regrade"),),
    "judge": (
        Conflict("backup", "runs offline merge invite guideline", more=": it only copies the study of --db"),
        Conflict("offline", needed="output"),
        Conflict("output budget", needed="offline"),
        Conflict("offline", "merge"),
        Conflict("as", needed="merge"),
        Conflict(OF_A_NEW_STUDY, needed="runs", more=": an existing study keeps its own settings"),
    ),
    "clicks": (Conflict("interleave", "show lists model rounds level runs thresholds actions first_position session_gap most_clicks columns"),),
    "calibrate": (Conflict("human", needed="model"), Conflict("model", needed="human")),
    "agreement": (
        Conflict(
            f"measures rule baseline pairs correction html dialect chunks chunk_map {_POLICY}", needed="runs"
        ),
    ),
    "fuse": (
        Conflict(
            f"measure folds seed assessors grade_words dialect chunks chunk_map {_POLICY.replace('ties', '')}", needed="judgments"
        ),
    ),
    "report": (Conflict("model random_sample", needed="estimate"),),
    "measures": (Conflict("subtopics", "recommend"),),
    "similar": (
        Conflict(
            f"judgments assessors dialect chunks chunk_map {_POLICY} {OF_TABLES}", needed="measures"
        ),
        Conflict("measures", "p depth kind tied level", more=": these settings apply to runs"),
    ),
    "power": (
        Conflict("sd", "files", more=", which it would be computed from"),
        Conflict("cluster_size", "files", more=": use --clusters"),
        Conflict(f"slices {_SAMPLING}", needed="files"),
    ),
    "pool": (Conflict("measure budget grades compare clicks assessors grade_words", needed="judgments"),),
    "recommend": (
        Conflict("per_user", "interval compared"),
        Conflict("gamma exposures clip", needed="debias"),
        Conflict("gamma", "exposures", more=", from which it would be estimated"),
        Conflict("debias", f"per_user interval compared items separator vectors expected slices {_SAMPLING}"),
        Conflict("debias", needed="judgments"),
        Conflict("assessors grade_words", needed="judgments"),
        Conflict("level", needed="interval compared debias"),
        Conflict(_COMPARING.replace("slices", ""), needed="compared"),
        Conflict("slices", needed="compared weights clusters strata arrival"),
    ),
    "sample": (
        Conflict("depth model", needed="documents"),
        Conflict("strata", "documents", more=": use --by"),
    ),
}  # fmt: skip
"""Options that cannot be combined, by command or by a group of options."""


_INDENT = 4  # of further lines of names without a help text
_LONGEST_NAMES = 24  # characters of names and choices that fit next to the help
_LINE = 76  # characters of names and choices that fit on a line
FULL_HELP = "gainful.full_help"  # in a context: whether to show the full help
_OWN = {
    ("watch", "baseline"),
    ("clicks", "columns"),
    ("judge", "columns"),
    ("run", "engine"),
    ("conformance", "dialect"),
    ("fuse", "weights"),
    ("merge", "weights"),
    ("similar", "by"),
    ("calibrate", "strata"),
    ("sample", "strata"),
    ("collect", "nuggets"),
    *(("recommend", name) for name in ("items", "separator", "vectors", "history", "expected")),
}  # options that mean something else in this command, or that are its subject


class HelpGroup(NamedTuple):
    """Options that belong together, by their names, separated by spaces.

    If there is a `topic`, `gainful help` describes the options there, and the brief help only names them. If there is a
    `command`, only its help has the group.
    """

    title: str
    names: str
    topic: str = ""
    command: str = ""


_HELP_GROUPS = (
    HelpGroup("Judgments and measures", "judgments measures measure define has_subtopics dialect"),
    HelpGroup("Options", ""),  # all others
    HelpGroup("Notifications", "summary openmetrics webhook webhook_template", command="watch"),
    HelpGroup("Recording the run", " ".join(options_of(_RECORDING)), "run", command="watch"),
    HelpGroup("Tables for measures that need more than grades", OF_TABLES, "measures"),
    HelpGroup("Intervals, tests and slices", f"interval level {_COMPARING}"),
    HelpGroup("Weights and clusters of queries", _SAMPLING, "weights"),
    HelpGroup("Gates", "fail_if fail_unless junit summary movers"),
    HelpGroup(
        "Output",
        "per_query worst best digits systems tests table_name html format output partition_by verbose help",
    ),
    HelpGroup(
        "Columns, ids and chunks",
        "columns query_ids assessors grade_words chunks chunk_map",
        "columns",
    ),
    HelpGroup("Policy", _POLICY, "policy"),
    HelpGroup("Memory, cores and engine", _MACHINE, "machine"),
)

_NAMED = {
    "": "define has_subtopics resamples seed tie anytime test correction pairs level fail_unless junit movers digits verbose partition_by table_name tests",
    "evaluate": "unseen estimate grades model random_sample tie_warning slices by best",
    "compare": "judgments human model design drawn_at_random documents_drawn_at_random estimate grades random_sample interval worst best slices by html dialect summary",
    "report": "grades log depth estimate model random_sample interval",
    "watch": "judgments dialect baseline label interval slices by commit time keep_runs openmetrics webhook_template",
    "judge": "order clicks columns compare overlap_share show_ranks doc_format image_hosts tags title guideline secret behind_proxy no_open budget as",
    "collect": "offsets chunk_table key_variable parameters per_prompt batch longest missing_texts ask_again per_minute timeout price_per_call retries name",
    "recommend": "separator expected exposures clip slices by",
    "history": "slices",
    "calibrate": "documents_drawn_at_random judge",
}
"""The options that the brief help of a command only names; "" for all commands."""


def groups_of(
    command: click.Command, params: Iterable[click.Parameter]
) -> list[tuple[HelpGroup, list[click.Option]]]:
    """Return the options of a command in groups, in the order of the help, without empty groups."""
    own_last = sorted(enumerate(_HELP_GROUPS), key=lambda pair: pair[1].command == command.name)
    places = {
        name: at
        for at, group in own_last
        if group.command in ("", command.name)
        for name in group.names.split()
    }
    options: list[list[click.Option]] = [[] for _ in _HELP_GROUPS]
    for option in params:
        if isinstance(option, click.Option) and not option.hidden:
            name = "help" if "--help" in option.opts else str(option.name)
            own = (command.name, name) in _OWN
            options[1 if own else places.get(name, 1)].append(option)
    return [pair for pair in zip(_HELP_GROUPS, options, strict=True) if pair[1]]


def write_paragraphs(formatter: click.HelpFormatter, text: str) -> None:
    """Write paragraphs, after a blank line."""
    indent = " " * formatter.current_indent
    formatter.write_paragraph()
    formatter.write(
        f"{click.wrap_text(text, formatter.width, indent, indent, preserve_paragraphs=True)}\n"
    )


def first_clause(told: str) -> str:
    """Return the first clause of a help text, with the default in brackets at its end.

    >>> first_clause("How the result is written; latex rounds.  [default: table]")
    'How the result is written.  [default: table]'
    >>> first_clause("The test that decides. t: paired t; sign: of signs.  [default: t]")
    'The test that decides.  [default: t]'
    """
    text, brackets, more = told.partition("  [")
    ends = [at for end in ("; ", ". ") if (at := text.find(end)) >= 0]
    brief = f"{text[: min(ends)]}." if ends else text
    return f"{brief}{brackets}{more}"


def help_record(
    option: click.Option, context: click.Context, *, full: bool
) -> tuple[str, str] | None:
    """Return the names of an option and its help, brief or full; a long list of choices moves to the help."""
    record = option.get_help_record(context)
    if record is None:
        return None
    names, told = record[0], record[1] if full else first_clause(record[1])
    longest = _LINE if full else _LONGEST_NAMES
    if isinstance(option.type, click.Choice) and len(names) > longest:
        text, brackets, more = told.partition("  [")
        names = f"{', '.join(sorted(option.opts, key=len))} {max(option.opts, key=len)[2:].upper()}"
        if not full:
            text = f"{text.removesuffix('.')}: {', '.join(option.type.choices)}."
        elif not all(choice in text for choice in option.type.choices):
            text = f"{text} Choices: {', '.join(option.type.choices)}."
        told = f"{text}{brackets}{more}"
    return names, told


class GroupedCommand(click.Command):
    """A command whose help shows examples, and options in groups.

    Args:
        examples: calls, as typed.
        more: paragraphs that the brief help leaves out.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), more: str = "", **options: Any
    ) -> None:
        super().__init__(*args, **options)
        for argument in self.params:
            if isinstance(argument, click.Argument) and argument.type is click.STRING:
                argument.type = InputFile()
        self.examples = tuple(examples)
        self.more = more

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of the command, and the examples."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
                first = " " * formatter.current_indent
                for call in self.examples:
                    text = click.wrap_text(call, formatter.width, first, f"{first}    ")
                    formatter.write(f"{text}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups; the brief help describes the main ones, and then names the others."""
        full = ctx.meta.get(FULL_HELP, False)
        if full and self.more:
            with formatter.indentation():
                write_paragraphs(formatter, self.more)
        only_named = f"{_NAMED['']} {_NAMED.get(str(self.name), '')}".split()
        others: list[str] = []
        for group, options in groups_of(self, self.get_params(ctx)):
            described = [
                each
                for each in options
                if full or not (group.topic or each.name in only_named) or each.required
            ]
            if described:
                records = [help_record(each, ctx, full=full) for each in described]
                with formatter.section(group.title):
                    formatter.write_dl([record for record in records if record])
            if names := [max(each.opts, key=len) for each in options if each not in described]:
                where = f" (gainful help {group.topic})" if group.topic else ""
                others.append(f"{group.title}{where}: {'  '.join(names)}")
        if others:
            with formatter.section(f"More options; `gainful help {self.name}` describes them all"):
                first = " " * formatter.current_indent
                more: dict[str, Any] = {
                    "break_on_hyphens": False,
                    "subsequent_indent": " " * _INDENT,
                }
                for line in others:
                    text = textwrap.fill(line, formatter.width, initial_indent=first, **more)
                    formatter.write(f"{text}\n")
        elif not full:
            with formatter.indentation():
                write_paragraphs(formatter, f"Run gainful help {self.name} for the full help.")
