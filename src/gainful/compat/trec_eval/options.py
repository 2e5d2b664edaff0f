"""trec_eval's options, read as it reads them."""

import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gainful.compat.trec_eval.columns import Asked
from gainful.compat.trec_eval.entries import (
    BY_NAME,
    CUTOFFS,
    ENTRIES,
    NICKNAMES,
    NOTHING,
    PAIRS,
    SHARES,
    names_of,
)

VERSIONS = (9, 10)
_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
    "version-of=": "version-of",
}
_WHOLE = re.compile(r"\s*([+-]?\d+)")
_DECIMAL = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")

USAGE, BAD_INPUT = 1, 2  # exit codes


class StoppedError(Exception):
    """What trec_eval stops at: its message and its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; `help` and `show_version` before anything else."""

    files: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    version: int = 10
    help: bool = False
    show_version: bool = False
    each: bool = False
    complete: bool = False
    summary: bool = True
    judged_only: bool = False
    level: int = 1
    docs: int = 0
    most: int | None = None
    zscores: str | None = None


def read_options(arguments: Sequence[str]) -> Options:
    """Read the arguments, options anywhere among them."""
    try:
        given, files = getopt.gnu_getopt(list(arguments), _SHORT, list(_LONG))
    except getopt.GetoptError as problem:
        raise StoppedError(f"trec_eval: {problem}\n{USAGE_TEXT}", USAGE) from None
    letters = {f"--{name.rstrip('=')}": letter for name, letter in _LONG.items()}
    values = [(letters.get(option, option.lstrip("-")), value) for option, value in given]
    last = dict(values)
    if "version-of" in last and last["version-of"] not in map(str, VERSIONS):
        raise StoppedError("trec_eval: --version-of is 9 or 10", USAGE)
    version = int(last.get("version-of", VERSIONS[-1]))
    measures = [value for letter, value in values if letter == "m"]
    options = Options(
        files=tuple(files),
        asked=read_measures(measures or ["official"], version),
        version=version,
        help="h" in last,
        show_version="v" in last,
        each="q" in last,
        complete="c" in last,
        summary="n" not in last,
        judged_only="J" in last,
        level=_whole(last.get("l", "1")),
        docs=_whole(last.get("N", "0")),
        most=_whole(last["M"]) if "M" in last else None,
        zscores=last.get("Z"),
    )
    for letter, format_, what in (
        ("R", "qrels", "rel_format"),
        ("T", "trec_results", "retrieval results format"),
    ):
        if last.get(letter, format_) != format_:
            raise StoppedError(f"trec_eval: Illegal {what} '{last[letter]}'", BAD_INPUT)
    if len(files) != len(VERSIONS) and not (options.help or options.show_version):
        raise StoppedError(USAGE_TEXT, USAGE)
    return options


def read_measures(written: Sequence[str], version: int) -> tuple[Asked, ...]:
    """Return the measures in the order of printing; the first parameters of a name count."""
    parameters: dict[str, str] = {}
    chosen: set[str] = set()
    for text in written:
        name, point, rest = text.partition(".")
        if point:
            if not rest:
                message = f"trec_eval: improper measure in parameter '{name}'\n"
                raise StoppedError(f"{message}trec_eval: illegal measure '{name}'", USAGE)
            parameters.setdefault(name, rest)
        if name in NICKNAMES:
            chosen.update(names_of(name, version))
        elif name in BY_NAME:
            chosen.add(name)
        else:
            raise StoppedError(f"trec_eval: illegal measure '{name}'", USAGE)
    return tuple(
        _asked(entry.name, parameters.get(entry.name)) for entry in ENTRIES if entry.name in chosen
    )


def _asked(name: str, written: str | None) -> Asked:
    entry = BY_NAME[name]
    if written is None or entry.takes == NOTHING:
        return Asked(entry, entry.default)
    if entry.takes == PAIRS:
        return Asked(entry, pairs=_pairs(name, written), written=written)
    if entry.takes not in (CUTOFFS, SHARES):
        numbers = tuple(_decimal(part) for part in written.split(","))
        if name == "utility" and len(numbers) != len(entry.default):
            message = "trec_eval.calc_utility: improper number of coefficients\n"
            raise StoppedError(f"{message}trec_eval: Can't calculate measure 'utility'", 4)
        return Asked(entry, numbers, written=written)
    read = _whole if entry.takes == CUTOFFS else _decimal
    numbers = tuple(sorted(float(read(part)) for part in written.split(",")))
    if entry.takes == CUTOFFS and numbers[0] <= 0:
        _not_initialised("trec_eval: Negative cutoff detected", name)
    if len(set(numbers)) < len(numbers):
        _not_initialised("trec_eval: duplicate cutoffs detected", name)
    return Asked(entry, numbers, written=written)


def _pairs(name: str, written: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in written.split(","):
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            _not_initialised(f"trec_eval: malformed pair parameters in '{written}'", name)
        found.setdefault(key, _decimal(value))
    return found


def _not_initialised(message: str, name: str) -> None:
    raise StoppedError(f"{message}\ntrec_eval: Cannot initialize measure '{name}'", BAD_INPUT)


def _whole(text: str) -> int:
    """Read the whole number that a text begins with, 0 if it begins with none, as C does."""
    found = _WHOLE.match(text)
    return int(found[1]) if found else 0


def _decimal(text: str) -> float:
    found = _DECIMAL.match(text)
    return float(found[1]) if found else 0.0


USAGE_TEXT = """\
Usage: gainful trec_eval [-h] [-q] {-m measure}* qrels run
   -h: say what the options are
   -q: also print the values of each query
   -m: a measure, with parameters after a point, or official (the default), set, all_trec"""

HELP_TEXT = f"""{USAGE_TEXT}

Evaluate a run in TREC format against judgments (qrels), and print what trec_eval prints.

  -q            also print the values of each query
  -m MEASURE    a measure or a nickname (official, set, all_trec); several may be given.
                Parameters follow a point: -m P.5,10 -m ndcg_cut.10 -m ndcg.1=1,2=3
  -c            count judged queries that the run lacks, as 0
  -l LEVEL      the lowest grade of a relevant document (1)
  -n            print no summary
  -J            drop documents without a judgment before anything else
  -M COUNT      look at so many documents of a query
  -N COUNT      how many documents there are, for the utility of those not retrieved
  -Z FILE       print deviations from a mean: lines of query, measure, mean, standard deviation
  -R qrels, -T trec_results
                the formats, of which these are known
  -o, -D LEVEL  without effect
  -v            print the version
  --version-of 9|10
                print what trec_eval 9.0.8 prints (scores as float32, judged queries that the run
                lacks are left out) or what 10.0 prints (the default)

Measures, by nickname:
""" + "\n".join(
    f"  {nickname:<10}{' '.join(names_of(nickname, VERSIONS[-1]))}" for nickname in NICKNAMES
)
