"""trec_eval's options, parsed as it parses them."""

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
    """The parsed options; `help` and `show_version` take precedence."""

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
        """The settings of measures; an unjudged document is never relevant."""
        return Settings(float(max(self.level, 0)), float(self.docs))


def _words(arguments: Sequence[str]) -> list[str]:
    expected = "the words of a command line"
    words = listed(arguments, "arguments", expected)
    return [one_of_type(word, "arguments", str, expected) for word in words]


def read_options(arguments: Sequence[str]) -> Options:
    """Parse the arguments; options may be anywhere among them."""
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
            mark(measures, version)  # errors in the measures come before later errors
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
    """Extract the one option that is not trec_eval's."""
    others, version, following = [], str(VERSIONS[-1]), iter(arguments)
    for argument in following:
        name, equals, value = argument.partition("=")
        if name != _VERSION_OF:
            others.append(argument)
            continue
        version = value if equals else next(following, "")
    if version not in map(str, VERSIONS):
        raise StoppedError(f"trec_eval: {_VERSION_OF} is 9 or 10", USAGE)
    return int(version), others


def _options(arguments: Sequence[str], files: list[str]) -> Iterator[tuple[str, str]]:
    """Yield letters and values one by one; other arguments are files."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            files.extend(rest)
        elif argument.startswith("--"):
            yield _long_option(argument[2:], rest)
        elif argument.startswith("-") and argument != "-":
            yield from _short_options(argument[1:], rest)
        else:
            files.append(argument)


def _short_options(letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in _WITHOUT_VALUE:
            yield letter, ""
        elif letter in _WITH_VALUE:
            value = letters or next(rest, None)
            if value is None:
                raise _unknown(f"option -{letter} requires a value")
            yield letter, value
            return
        else:
            raise _unknown(f"unknown option -{letter}")


def _long_option(written: str, rest: Iterator[str]) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    names = [name] if name in _LONG else [long for long in _LONG if long.startswith(name)]
    if len(names) != 1:
        raise _unknown(f"unknown option --{name}" if not names else f"--{name} is ambiguous")
    option = names[0]
    if option not in _LONG_WITH_VALUE:
        if equals:
            raise _unknown(f"option --{option} does not accept a value")
        return _LONG[option], ""
    if not equals:
        following = next(rest, None)
        if following is None:
            raise _unknown(f"option --{option} requires a value")
        value = following
    return _LONG[option], value


def _unknown(message: str) -> StoppedError:
    return StoppedError(f"trec_eval: {message}\n{USAGE_TEXT}", USAGE)


def _whole(text: str) -> int:
    return whole(bytes_of(text))


USAGE_TEXT = """\
Usage: gainful trec_eval [-h] [-q] {-m measure}* qrels run
   -h: list the options
   -q: also print per-query values
   -m: a measure, with parameters after a dot, or official (the default), set, all_trec"""

HELP_TEXT = f"""{USAGE_TEXT}

Evaluate a run in TREC format against judgments (qrels), and print what trec_eval prints.

  -q            also print per-query values
  -m MEASURE    a measure or a nickname (official, set, all_trec, prefs, all_prefs, qrels_jg);
                may be repeated. Parameters follow a dot:
                -m P.5,10 -m ndcg_cut.10 -m ndcg.1=1,2=3
  -c            count judged queries missing from the run as 0
  -l LEVEL      the lowest grade of a relevant document (1)
  -n            print no summary
  -J            drop unjudged documents first
  -M COUNT      evaluate at most this many documents per query
  -N COUNT      the number of documents in the collection, for utility
  -R FORMAT     the format of the judgments: qrels (default), prefs, qrels_prefs or qrels_jg
  -T trec_results
                the format of the run; only this one is supported
  -Z FILE       print deviations from a mean: lines of query, measure, mean, standard deviation
  -D LEVEL.QUERY
                evaluate only this query; the level has no effect
  -o            no effect
  -v            print the version
  {_VERSION_OF} 9|10
                emulate trec_eval 9.0.8 (scores as float32, judged queries missing from the run
                left out) or 10.0 (the default)

Formats of judgments: the fields of a line
  qrels         query iteration doc grade
  qrels_jg      query judge doc grade; measures are averaged over the judges of a query
  qrels_prefs   query judge doc level; documents are preferred to the judge's lower levels
  prefs         query judge group doc level; documents are preferred to lower levels in
                the group; implications across a judge's groups count, too

Measures, by nickname:
""" + "\n".join(
    f"  {nickname:<10}{' '.join(names_of(nickname, VERSIONS[-1]))}" for nickname in NICKNAMES
)
