"""Find phrases that do not read like English, in the pages and in the strings of the code.

`make check` runs it: more than a budget of findings per thousand words is an error. A finding is a
place to look at, not a verdict: rewrite the whole sentence, with a concrete subject and verb.

    python docs/prose.py                  every page and every string, against the budgets
    python docs/prose.py --list PATH...   each finding in these files, with what to write instead
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "examples/README.md", "vectors/README.md", "docs")
CODE = ("src",)
# Findings per thousand words.
BUDGETS = {".md": 1.0, ".py": 1.5}
_SHORTEST = 4  # words of a string that is prose
_THOUSAND = 1000


@dataclass(frozen=True)
class Habit:
    """A way of writing to avoid.

    Attributes:
        name: what it is called in reports.
        pattern: what gives it away.
        advice: what to write instead.
    """

    name: str
    pattern: re.Pattern[str]
    advice: str


def _habit(name: str, advice: str, *patterns: str) -> Habit:
    return Habit(name, re.compile("|".join(patterns)), advice)


HABITS = (
    _habit(
        "clause for a noun",
        "Use the noun: output, result, errors, input.",
        r"\b[Ww]hat (?:is|are|was|were|can be|stands|comes) \w+",
    ),
    _habit(
        "say, tell, ask",
        "Use the verb of the action: print, warn, report, require, list.",
        r"\b(?:is|are|was|were|be) (?:told|said|asked)\b",
        r"\btells? (?:of|all|apart|more)\b",
        r"\bsays? (?:so|otherwise)\b",
    ),
    _habit(
        "stand, go, hang, meet, come",
        "Use is, appears, depends on, matches, sorted by.",
        r"\bstands?\b(?! for\b| in for\b| out\b)",
        r"\bgo(?:es)? (?:by|with|beside)\b",
        r"\bhangs? on\b",
        r"\bthey meet\b",
        r"\bcomes? (?:about|beside)\b",
    ),
    _habit(
        "bare have, take, do",
        "Use contain, accept, support, work.",
        r"\bwill(?: also)? do\b",
        r"\bdo(?:es)? as well\b",
        r"\bdo(?:es)?, too\b",
        r"\b(?:page|table|guide|result|record) (?:has|have) (?:all|what|how|which|it|more|them)\b",
    ),
    _habit(
        "pointing back without a noun",
        "Repeat the noun, or use a possessive.",
        r"\b(?:those|the ones?) (?:of|that|which|whose|with)\b",
        r"\b(?:so|nor) (?:is|are|does|do|has|have)\b",
        r"(?:^|[.;] )Else\b",
        r"\bof (?:theirs|yours)\b",
    ),
    _habit(
        "is no, is none",
        "Use isn't, doesn't count, without, if missing.",
        r"\b(?:is|are|was) none\b",
        r"\bis no (?!longer|more|need|reason|doubt|way|such)\w+",
        r"\bwhere (?:there is|it has|they have) none\b",
    ),
    _habit(
        "stacked relatives",
        "Split the sentence, or use a possessive.",
        r"\bof (?:which|whom|whose)\b",
        r"\b(?:by|under|from|at) which\b",
        r"\bthat there (?:is|are)\b",
    ),
    _habit(
        "translated word",
        "Use fix, again, the same, next to, check against.",
        r"\b(?:mend(?:s|ed|ing)?|anew|alike|beside|apart from which|whoever|held to|errs?)\b",
        r"\bhold(?:s)? \w+ to\b",
    ),
)


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the prose in a file, with its lines: text outside code, or strings outside examples."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                lines = [
                    line
                    for line in node.value.splitlines()
                    if not line.lstrip().startswith((">>>", "..."))
                ]
                if len(node.value.split()) >= _SHORTEST:
                    yield node.lineno, "\n".join(lines)
        return
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def files_of(paths: list[Path], suffix: str) -> list[Path]:
    """Return the files with an ending among paths and below them."""
    return [
        file
        for path in paths
        for file in (sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path])
        if file.suffix == suffix
    ]


def main() -> None:
    """Count the findings, and exit with 1 if they exceed a budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--list", action="store_true", help="print each finding and what to write")
    options = parser.parse_args()
    paths = options.paths or [ROOT / name for name in (*PAGES, *CODE)]
    failed = False
    for suffix, budget in BUDGETS.items():
        counts, words = Counter[str](), 0
        for path in files_of(paths, suffix):
            for number, text in prose_of(path):
                words += len(text.split())
                for habit in HABITS:
                    for match in habit.pattern.finditer(text):
                        counts[habit.name] += 1
                        if options.list:
                            around = text[max(0, match.start() - 40) : match.end() + 40]
                            place = " ".join(around.split())
                            print(f"{path}:{number}: {habit.name}: …{place}… {habit.advice}")
        if words:
            rate = _THOUSAND * counts.total() / words
            shares = ", ".join(f"{name} {count}" for name, count in counts.most_common())
            print(f"{suffix}: {rate:.2f} findings per 1,000 words, budget {budget}; {shares}")
            failed |= rate > budget
    sys.exit(failed)


if __name__ == "__main__":
    main()
