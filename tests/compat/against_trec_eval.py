"""Compare `gainful trec_eval` with a trec_eval that is on this machine, on random files and options.

    python tests/compat/against_trec_eval.py --binary ./trec_eval [--checked ./trec_eval_checked]
        [--version-of 10] [--cases 2000] [--seed 1] [--suite FOLDER] [--record FILE]

Output and exit codes must be equal, and there is a message where trec_eval has one. A call at which
trec_eval crashes has no right answer: gainful must then end with an answer or a message. With
`--checked`, the same program built with `gcc -fsanitize=address,undefined
-fno-sanitize-recover=undefined`, calls that read memory which is not theirs are told apart, too.
Build both with `-ftrivial-auto-var-init=zero`: `rbp` starts from two variables that it never sets.

`--suite` is the folder of trec_eval's Makefile, whose quick and long tests are run first. `--record` writes
calls with what trec_eval answered, for `test_trec_eval.py`: bytes as latin-1, one JSON object a line.
"""

import argparse
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import gainful as gf

COMMENTS = STANDARD_INPUT = 10  # the version that skips comments, and reads a run from there
_LONGEST_RECORD = 2500  # characters
_BROKEN = 99  # exit code of a checked program where what it does is undefined

WORDS = ("map", "P", "ndcg", "ndcg_cut", "recip_rank", "num_ret", "num_rel", "num_q", "runid")
WORDS += ("relstring", "relstring.5", "relstring.0", "relstring.3,9", "bpref", "Rprec", "gm_map")
WORDS += ("iprec_at_recall", "iprec_at_recall.0.25,.5", "11pt_avg", "11pt_avg.0.3,.6", "infAP")
WORDS += (
    "P.1,3,10",
    "P.2",
    "recall.2,4",
    "success.1,3",
    "map_cut.2,7",
    "ndcg_cut.1,4,23.4",
    "binG",
)
WORDS += ("set_F", "set_F.2", "set_F.0.5", "set_P", "set_recall", "set_map", "set_relative_P", "G")
WORDS += (
    "utility",
    "utility.2,-1,0,0",
    "utility.1,2,3,4",
    "utility.1,2",
    "Rprec_mult.0.5,2",
    "yaap",
)
WORDS += ("ndcg.1=3,2=9", "ndcg.1=0.5,2=1", "ndcg.0=1", "ndcg.1=-1", "ndcg.1=2,1=3", "ndcg.x=2")
WORDS += (
    "G.1=3",
    "G.1=.5,2=.7",
    "ndcg_rel",
    "ndcg_rel.1=2,2=2.5",
    "Rndcg",
    "Rndcg.1=2,2=1",
    "unj.3",
)
WORDS += ("ndcg_rel.2=0", "Rndcg.2=0.5", "G.2=0", "ndcg.-1=1", "gm_bpref", "relative_P.3", "recall")
WORDS += ("dcg", "ideal_dcg", "rbp", "rbp.p=0.5", "rbp_resid", "rbp_resid.p=.8", "unj", "map.5")
WORDS += ("ndcg.1=nan", "G.1=inf", "utility.nan,1,1,1", "P.99999999999999999999", "relstring.1e99")
WORDS += ("Rprec_mult.-1", "set_F.-1", "rbp.p=2", "iprec_at_recall.-1,7", "11pt_avg.x")
WORDS += ("num_rel_ret", "num_nonrel_judged_ret", "map_cut", "relative_P", "success", "Rprec_mult")
NICKNAMES = ("official", "all_trec", "set", "prefs", "all_prefs", "qrels_jg")
PREFERENCES = ("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret")
PREFERENCES += ("prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp")
PREFERENCES += ("prefs_pair_imp", "prefs_avgjg_imp", "prefs_num_prefs_poss", "prefs_num_prefs_ful")
PREFERENCES += ("prefs_num_prefs_ful_ret", "num_q", "runid")
GROUPS = ("map_avgjg", "P_avgjg", "P_avgjg.2,3", "Rprec_mult_avgjg", "Rprec_mult_avgjg.0.5,1")
WRONG = (
    "nosuch",
    "P.",
    "P.0",
    "P.-1",
    "P.3,3",
    "P.x",
    "ndcg.1",
    "ndcg.1=2=3",
    "",
    ".5",
    "Map",
    "P.5,,6",
)
ODD_SCORES = (
    "nan",
    "-nan",
    "inf",
    "-inf",
    "Infinity",
    "1e400",
    "0x1p3",
    "abc",
    "3x",
    "+2",
    "-0",
    "1e2",
)
ODD_SCORES += (".5", "5.", "1_0", "1,5", "0.30000001192092896", "0.3")
ODD_GRADES = ("-1", "-2", "1.9", "2.5e1", "x", "+1", "12", "1e2", "0x2", "-0.5", "3", "01")
ODD_LINES = (
    "# a comment",
    "#a b c d",
    "#",
    " # indented",
    "",
    "   ",
    "1 2",
    "1 0 d 1 2 3 4",
    "\t",
    "1",
)


@dataclass
class Case:
    """Arguments and the files that they name."""

    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)


class Maker:
    """Makes cases from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - no secret

    def chance(self, share: float) -> bool:
        """Return true with a probability."""
        return self.rng.random() < share

    def case(self, version: int) -> Case:
        """Make a case: mostly sound files and options, some odd."""
        rng = self.rng
        form = rng.choices(("qrels", "prefs", "qrels_prefs", "qrels_jg"), (7, 3, 2, 2))[0]
        queries = [self._id("q", 12) for _ in range(rng.randint(1, 5))]
        docs = [self._id("d", 40) for _ in range(rng.randint(2, 30))]
        judged = [query for query in dict.fromkeys(queries) if self.chance(0.95)] or queries[:1]
        found = [query for query in dict.fromkeys(queries) if self.chance(0.9)] or queries[:1]
        if self.chance(0.4):
            found += [query for query in judged if query not in found]
        arguments = self._options(form)
        comments = 0.15 if version >= COMMENTS else 0.02
        files = {
            "judgments": self._text(self._judgments(form, judged, docs), comments),
            "run": self._text(self._run(found, docs), comments),
        }
        if "-Z" in arguments:
            files["means"] = self._text(self._means(judged), 0.0)
        for name in ("judgments", "run"):
            if self.chance(0.01):
                files[name] = b""
            if self.chance(0.005):
                del files[name]
        names = ["judgments", "run"]
        if self.chance(0.01):
            names.reverse()
        elif version >= STANDARD_INPUT and self.chance(0.03) and files.get("run"):
            names[1] = "-"
            files["-"] = files.pop("run")
        arguments += names
        if self.chance(0.01):
            arguments.append("third")
        return Case(arguments, files)

    def _id(self, letter: str, most: int) -> str:
        if self.chance(0.03):
            return self.rng.choice(["é", "Z", "10", "9", "#1", "a#", "_", "\x1f", "\xa0", "zz"])
        return f"{letter}{self.rng.randrange(most)}"

    def _options(self, form: str) -> list[str]:
        rng = self.rng
        options: list[str] = []
        if form != "qrels" or self.chance(0.1):
            options += ["-R", form if self.chance(0.97) else rng.choice(["qrels", "prefs", "odd"])]
        for letters, share in (("-q", 0.7), ("-c", 0.4), ("-n", 0.1), ("-J", 0.15), ("-o", 0.02)):
            if self.chance(share):
                options.append(letters)
        for letter, values, share in (
            ("-l", ("1", "2", "0", "3", "x"), 0.2),
            ("-M", ("1", "3", "5", "0", "1000", "2x"), 0.2),
            ("-N", ("100", "0", "1e3"), 0.1),
            ("-T", ("trec_results", "odd"), 0.03),
            ("-D", ("0", "0.q1", "0.q2", "0.none"), 0.04),
        ):
            if self.chance(share):
                options += [letter, rng.choice(values)]
        if self.chance(0.1):
            options += ["-Z", "means" if self.chance(0.97) else "nomeans"]
        options += self._measures(form)
        if self.chance(0.02):
            options.append(
                rng.choice(["-x", "--nosuch", "-v", "--help=1", "--que", "-qc", "--M=2"])
            )
        if self.chance(0.05):
            options += rng.choice(
                [["--"], ["--level_for_rel=2"], ["--nos"], ["--Max", "4"], ["-nq"]]
            )
        if self.chance(0.05):
            rng.shuffle(pairs := _pairs(options))
            options = [word for pair in pairs for word in pair]
        return options

    def _measures(self, form: str) -> list[str]:
        rng = self.rng
        words = {"qrels": WORDS, "qrels_jg": GROUPS}.get(form, PREFERENCES)
        sets = {"qrels": NICKNAMES[:3], "qrels_jg": ("qrels_jg",)}.get(form, ("prefs", "all_prefs"))
        chosen = []
        if self.chance(0.5):
            chosen.append(rng.choice(sets))
        chosen += rng.sample(words, min(rng.randint(0, 4), len(words)))
        if form != "qrels" and not chosen:
            chosen.append(rng.choice(sets))
        if self.chance(0.02):
            chosen.append(rng.choice(WRONG))
        if self.chance(0.02):
            chosen.append(rng.choice((*WORDS, *PREFERENCES, *GROUPS, *NICKNAMES)))
        if sum(word.partition(".")[0] in ("dcg", "ideal_dcg", "ndcg") for word in chosen) > 1:
            chosen = [word for word in chosen if "dcg" not in word.partition(".")[0]]  # share gains
        return [part for word in chosen for part in ("-m", word)]

    def _judgments(self, form: str, queries: list[str], docs: list[str]) -> list[str]:
        rng = self.rng
        grades = rng.choice([(0, 1), (0, 1, 2), (0, 0, 0, 1), (0, 1, 2, 3, 11), (1,), (0, 1, -1)])
        lines = []
        for query in queries:
            for judge in rng.sample(
                ["a", "b", "c", "0"], 1 if form == "qrels" else rng.randint(1, 3)
            ):
                for group in ["x"] if form != "prefs" else rng.sample("xyz", rng.randint(1, 3)):
                    levels = {doc: rng.choice(grades) for doc in docs}
                    if form == "prefs":
                        levels = {doc: (hash_of(query, judge, doc) % 4) for doc in docs}
                    chosen = list(dict.fromkeys(docs))
                    chosen = rng.sample(chosen, rng.randint(1, len(chosen)))
                    for doc in chosen:
                        level: object = levels[doc]
                        if self.chance(0.01):
                            level = rng.choice(ODD_GRADES)
                        if "prefs" in form:  # below 0, memory decides on prefs_avgjg_Rnonrel
                            level = str(level).lstrip("-")
                        middle = {"prefs": [judge, group]}.get(form, [judge])
                        lines.append(" ".join(map(str, [query, *middle, doc, level])))
        if self.chance(0.05):
            lines.append(rng.choice(lines))
        return lines

    def _run(self, queries: list[str], docs: list[str]) -> list[str]:
        rng = self.rng
        scores = rng.choice([range(3), range(20), [n / 7 for n in range(100)]])
        odd = rng.choice([0.0, 0.0, 0.02, 0.2])
        lines = []
        for query in queries:
            pool = list(dict.fromkeys([*docs, *(self._id("u", 30) for _ in range(8))]))
            for rank, doc in enumerate(rng.sample(pool, rng.randint(1, len(pool))), 1):
                score: object = rng.choice(scores)
                if self.chance(odd):
                    score = rng.choice(ODD_SCORES)
                lines.append(f"{query} Q0 {doc} {rank} {score} tag{rng.randrange(3)}")
        if self.chance(0.05):
            lines.append(rng.choice(lines))
        if self.chance(0.1):
            rng.shuffle(lines)
        if self.chance(0.05):
            lines = [f"{line} and more" if self.chance(0.5) else line for line in lines]
        return lines

    def _means(self, queries: list[str]) -> list[str]:
        rng = self.rng
        names = [
            "map",
            "num_ret",
            "P_5",
            "ndcg",
            "num_q",
            "prefs_simp",
            "map_avgjg",
            "num_rel",
            "utility",
        ]
        names += ["gm_map", "bpref", "iprec_at_recall_0.00"]
        lines = []
        for query in [*queries, *(["zzz"] if self.chance(0.7) else [])]:
            lines += [
                f"{query} {name} {rng.random():.3f} {rng.choice([0, 0.1, 0.25])}"
                for name in [*rng.sample(names, rng.randint(1, len(names))), "zzz"]
            ]
        return lines

    def _text(self, lines: list[str], comments: float) -> bytes:
        rng = self.rng
        lines = list(lines)
        if self.chance(comments):
            for _ in range(rng.randint(1, 3)):
                lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD_LINES[:2]))
        if self.chance(0.03):
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD_LINES))
        if self.chance(0.03) and lines:
            lines[rng.randrange(len(lines))] += rng.choice([" 7", " ", "\t", "\r"])
        separator = rng.choice(["\t", "  ", "\t ", " \v"]) if self.chance(0.1) else " "
        text = "\n".join(line.replace(" ", separator) for line in lines)
        if self.chance(0.9):
            text += "\r\n" if self.chance(0.05) else "\n"
        encoded = text.encode()
        if self.chance(0.02):
            encoded = encoded.replace(b"d1", b"d\xff")
        return b"\xef\xbb\xbf" + encoded if self.chance(0.01) else encoded


def hash_of(*words: str) -> int:
    """Return a number that is the same for the same words."""
    return sum(ord(letter) * 31**place for place, letter in enumerate("".join(words))) % 10007


def _pairs(options: list[str]) -> list[list[str]]:
    pairs: list[list[str]] = []
    for word in options:
        if (
            pairs
            and len(pairs[-1]) == 1
            and pairs[-1][0] in ("-m", "-R", "-l", "-M", "-N", "-T", "-D", "-Z")
        ):
            pairs[-1].append(word)
        else:
            pairs.append([word])
    return pairs


def called(binary: Path, case: Case, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Call trec_eval."""
    checks = f"exitcode={_BROKEN}"
    return subprocess.run(
        [binary, *case.arguments],
        cwd=folder,
        input=case.files.get("-", b""),
        capture_output=True,
        env={**os.environ, "ASAN_OPTIONS": f"detect_leaks=0:{checks}", "UBSAN_OPTIONS": checks},
        timeout=60,
        check=False,
    )


def compared(case: Case, binary: Path, checked: Path | None, version: int, folder: Path) -> str:
    """Return "equal", "undefined" where trec_eval has no right answer, or what differs."""
    for old in folder.iterdir():
        old.unlink()
    for name, content in case.files.items():
        if name != "-":
            (folder / name).write_bytes(content)
    theirs = called(binary, case, folder)
    ours = answered(case, version, folder)
    output = ours.output.encode(errors="surrogateescape")
    if (output, ours.code) == (theirs.stdout, theirs.returncode):
        return "equal" if bool(ours.error) == bool(theirs.stderr) else "message"
    if checked is not None:
        looked = called(checked, case, folder)
        if looked.returncode == _BROKEN:
            summary = re.search(
                rb"SUMMARY: \w+: (\S+) .*? in (\w+)|runtime error: (.*)", looked.stderr
            )
            return f"undefined: {b' '.join(filter(None, summary.groups())).decode() if summary else ''}"
    if theirs.returncode < 0:
        return f"undefined: signal {-theirs.returncode}"
    return "code" if ours.code != theirs.returncode else "output"


def answered(case: Case, version: int, folder: Path) -> gf.compat.Printed:
    """Call gainful."""
    os.chdir(folder)
    sys.stdin = io.TextIOWrapper(io.BytesIO(case.files.get("-", b"")))
    return gf.compat.trec_eval(["--version-of", str(version), *case.arguments])


def shown(case: Case, binary: Path, version: int, folder: Path, kept: Path) -> None:
    """Print what differs, and keep the files."""
    theirs = called(binary, case, folder)
    ours = answered(case, version, folder)
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in case.files.items():
        (kept / name).write_bytes(content)
    print(f"{kept}: trec_eval {shlex.join(case.arguments)}")
    print(f"  codes {theirs.returncode} {ours.code}; {theirs.stderr!r} {ours.error!r}")
    their_lines = theirs.stdout.decode(errors="surrogateescape").splitlines()
    our_lines = ours.output.splitlines()
    differing = [pair for pair in zip(their_lines, our_lines, strict=False) if pair[0] != pair[1]]
    print(
        f"  lines {len(their_lines)} {len(our_lines)}; {[tuple(map(ascii, pair)) for pair in differing[:4]]}"
    )


def record(case: Case, binary: Path, version: int, folder: Path, target: Path) -> None:
    """Add a call with what trec_eval answered to a file, unless it is long."""
    theirs = called(binary, case, folder)
    call = {
        "version": version,
        "arguments": case.arguments,
        "files": {name: content.decode("latin-1") for name, content in case.files.items()},
        "output": theirs.stdout.decode("latin-1"),
        "told": bool(theirs.stderr),
        "code": theirs.returncode,
    }
    line = json.dumps(call)
    if len(line) <= _LONGEST_RECORD:
        with target.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def run_suite(folder: Path, binary: Path, version: int) -> int:
    """Make the calls of trec_eval's Makefile, quick and long; return how many differ."""
    text = Path(folder, "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^\s*\./trec_eval ([^|>\n]*)[|>]", text, re.MULTILINE)
    calls = [Case(shlex.split(call)) for call in dict.fromkeys(found)]
    differing = 0
    for case in calls:
        theirs, ours = called(binary, case, folder), answered(case, version, folder)
        if (ours.output.encode(), ours.code) != (theirs.stdout, theirs.returncode):
            differing += 1
            print(f"suite: trec_eval {shlex.join(case.arguments)} differs: {ours.error}")
    print(f"suite: {len(calls) - differing} of {len(calls)} calls print the same")
    return differing


def main() -> int:
    """Compare as many cases as asked for; return 1 where any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--checked", type=Path)
    parser.add_argument("--version-of", type=int, default=10, choices=(9, 10))
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--show", help="an outcome to show, besides differences")
    parser.add_argument(
        "--keep", type=Path, default=Path(tempfile.gettempdir()) / "against_trec_eval"
    )
    options = parser.parse_args()
    binary = options.binary.resolve()
    checked = None if options.checked is None else options.checked.resolve()
    differing = (
        0
        if options.suite is None
        else run_suite(options.suite.resolve(), binary, options.version_of)
    )
    maker, outcomes = Maker(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(options.cases):
            case = maker.case(options.version_of)
            outcome = compared(case, binary, checked, options.version_of, folder)
            outcomes[outcome] += 1
            if options.record is not None and not outcome.startswith("undefined"):
                record(case, binary, options.version_of, folder, options.record)
            if outcome in ("code", "output", "message", options.show):
                shown(case, binary, options.version_of, folder, options.keep / str(number))
        os.chdir("/")
    print(f"{options.cases} cases:")
    for outcome, count in outcomes.most_common():
        print(f"{count:6} {outcome}")
    return int(differing + outcomes["code"] + outcomes["output"] + outcomes["message"] > 0)


if __name__ == "__main__":
    sys.exit(main())
