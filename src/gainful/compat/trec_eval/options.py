"""trec_eval's options, read as it reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gainful.arguments import listed, one_of_type
from gainful.compat.trec_eval.c_numbers_and_sorting import USAGE, StoppedError, whole
from gainful.compat.trec_eval.files import bytes_of
from gainful.compat.trec_eval.measure_names import (
    NICKNAMES,
    MarkedMeasures,
    Settings,
    mark,
    names_of,
)

VERSIONS = (9, 10)
_FILES = 2
_VERSION_OF = "--version-of"
_WITHOUT_VALUE, _WITH_VALUE = "hvqcnJo", "mlDNMRTZ"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel": "l",
    "nosummary": "n",
    "Debug_level": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll": "N",
    "Max_retrieved_per_topic": "M",
    "Rel_info_format": "R",
    "Results_format": "T",
    "Output_old_results_format": "o",
    "Zscore": "Z",
}
# The long form of -o takes a value, the short one does not.
_LONG_WITH_VALUE = frozenset(name for name, letter in _LONG.items() if letter in _WITH_VALUE + "o")


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; `help` and `show_version` before anything else."""

    marked: MarkedMeasures
    files: tuple[str, ...] = ()
    version: int = 10
    help: bool = False
    show_version: bool = False
    each: bool = False
    complete: bool = False
    summary: bool = True
    judged_only: bool = False
    only: str | None = None
    level: int = 1
    docs: int = 0
    most: int | None = None
    judgments_format: str = "qrels"
    run_format: str = "trec_results"
    zscores: str | None = None

    @property
    def settings(self) -> Settings:
        """What measures depend on; a document without a judgment is never relevant."""
        return Settings(float(max(self.level, 0)), float(self.docs))


def _words(arguments: Sequence[str]) -> list[str]:
    expected = "the words of a command line"
    words = listed(arguments, "arguments", expected)
    return [one_of_type(word, "arguments", str, expected) for word in words]


def read_options(arguments: Sequence[str]) -> Options:
    """Read the arguments, options anywhere among them."""
    version, others = _version_of(_words(arguments))
    last: dict[str, str] = {}
    measures: list[str] = []
    files: list[str] = []
    for letter, value in _options(others, files):
        last[letter] = value
        if letter == "v":
            return Options(MarkedMeasures(frozenset()), version=version, show_version=True)
        if letter == "m":
            measures.append(value)
            mark(measures, version)  # what is wrong with it comes before what follows
    if len(files) != _FILES and "h" not in last:
        raise StoppedError(USAGE_TEXT, USAGE)
    _, point, only = last.get("D", "").partition(".")
    return Options(
        marked=mark(measures or ["official"], version),
        files=tuple(files),
        version=version,
        help="h" in last,
        each="q" in last,
        complete="c" in last,
        summary="n" not in last,
        judged_only="J" in last,
        only=only if point else None,
        level=_whole(last.get("l", "1")),
        docs=_whole(last.get("N", "0")),
        most=_whole(last["M"]) if "M" in last else None,
        judgments_format=last.get("R", "qrels"),
        run_format=last.get("T", "trec_results"),
        zscores=last.get("Z"),
    )


def _version_of(arguments: list[str]) -> tuple[int, list[str]]:
    """Take out the one option that is not trec_eval's."""
    others, version, given = [], str(VERSIONS[-1]), iter(arguments)
    for argument in given:
        name, equals, value = argument.partition("=")
        if name != _VERSION_OF:
            others.append(argument)
            continue
        version = value if equals else next(given, "")
    if version not in map(str, VERSIONS):
        raise StoppedError(f"trec_eval: {_VERSION_OF} is 9 or 10", USAGE)
    return int(version), others


def _options(arguments: Sequence[str], files: list[str]) -> Iterator[tuple[str, str]]:
    """Yield letters and values one by one; what is no option goes to the files."""
    given = iter(arguments)
    for argument in given:
        if argument == "--":
            files.extend(given)
        elif argument.startswith("--"):
            yield _long_option(argument[2:], given)
        elif argument.startswith("-") and argument != "-":
            yield from _short_options(argument[1:], given)
        else:
            files.append(argument)


def _short_options(letters: str, given: Iterator[str]) -> Iterator[tuple[str, str]]:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in _WITHOUT_VALUE:
            yield letter, ""
        elif letter in _WITH_VALUE:
            value = letters or next(given, None)
            if value is None:
                raise _unknown(f"option -{letter} lacks its value")
            yield letter, value
            return
        else:
            raise _unknown(f"there is no option -{letter}")


def _long_option(written: str, given: Iterator[str]) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    found = [name] if name in _LONG else [known for known in _LONG if known.startswith(name)]
    if len(found) != 1:
        raise _unknown(f"there is no option --{name}" if not found else f"--{name} is ambiguous")
    known = found[0]
    if known not in _LONG_WITH_VALUE:
        if equals:
            raise _unknown(f"option --{known} takes no value")
        return _LONG[known], ""
    if not equals:
        following = next(given, None)
        if following is None:
            raise _unknown(f"option --{known} lacks its value")
        value = following
    return _LONG[known], value


def _unknown(message: str) -> StoppedError:
    return StoppedError(f"trec_eval: {message}\n{USAGE_TEXT}", USAGE)


def _whole(text: str) -> int:
    return whole(bytes_of(text))


USAGE_TEXT = """\
Usage: gainful trec_eval [-h] [-q] {-m measure}* qrels run
   -h: say what the options are
   -q: also print the values of each query
   -m: a measure, with parameters after a point, or official (the default), set, all_trec"""

HELP_TEXT = f"""{USAGE_TEXT}

Evaluate a run in TREC format against judgments (qrels), and print what trec_eval prints.

  -q            also print the values of each query
  -m MEASURE    a measure or a nickname (official, set, all_trec, prefs, all_prefs, qrels_jg);
                several may be given. Parameters follow a point:
                -m P.5,10 -m ndcg_cut.10 -m ndcg.1=1,2=3
  -c            count judged queries that the run lacks, as 0
  -l LEVEL      the lowest grade of a relevant document (1)
  -n            print no summary
  -J            drop documents without a judgment before anything else
  -M COUNT      look at so many documents of a query
  -N COUNT      how many documents there are, for the utility of those not retrieved
  -R FORMAT     of the judgments: qrels (the default), prefs, qrels_prefs or qrels_jg
  -T trec_results
                the format of the run, of which this is known
  -Z FILE       print deviations from a mean: lines of query, measure, mean, standard deviation
  -D LEVEL.QUERY
                evaluate this query alone; the level is without effect
  -o            without effect
  -v            print the version
  {_VERSION_OF} 9|10
                print what trec_eval 9.0.8 prints (scores as float32, judged queries that the run
                lacks are left out) or what 10.0 prints (the default)

Formats of judgments: the fields of a line
  qrels         query iteration doc grade
  qrels_jg      query judge doc grade; measures are averaged over the judges of a query
  qrels_prefs   query judge doc level; a document is preferred to those of the judge's lower levels
  prefs         query judge group doc level; a document is preferred to those of lower levels in
                the group, and what follows from all groups of a judge counts

Measures, by nickname:
""" + "\n".join(
    f"  {nickname:<10}{' '.join(names_of(nickname, VERSIONS[-1]))}" for nickname in NICKNAMES
)
