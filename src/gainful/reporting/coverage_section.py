"""What a report says of coverage: what was missing, unjudged and tied, and what that can change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gainful.analysis.comparison.comparison_result import Checks
from gainful.errors import GainfulError
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores, unjudged_at
from gainful.judging.bounds import BOUNDED, bounds_of_matched
from gainful.matching.matched import Matched
from gainful.measures.measure import Measure
from gainful.measures.policy import CHOICES, Policy

Evaluated = Mapping[str, Scores | Baseline]
Ends = Mapping[str, tuple[float, float]]

_COUNTS = ("judged", "evaluated", "missing", "empty", "extra", "tied", "tied_queries")
_MOST_SEEN = 5_000_000  # documents of all runs, up to which bounds take little beside the rest
_DECIMALS = 4
_NAMED = 10  # queries that a note names


def coverage_section(
    evaluated: Evaluated, measure: Measure, ends: Ends, why: str
) -> dict[str, object]:
    """Return a row for each run, and notes.

    Args:
        evaluated: what was evaluated or saved.
        measure: whose bounds are shown.
        ends: the lowest and the highest mean of each run; none where they are left out.
        why: they are left out, or what they rest on.
    """
    columns = ["run", "judged queries", "answered", "missing", "empty", "extra", "tied documents"]
    columns.append("tied queries")
    seen = _seen(evaluated, measure)
    at = "" if measure.cutoff is None or None in seen.values() else f"@{measure.cutoff}"
    columns += [f"documents{at}", f"unjudged{at}", f"share unjudged{at}"]
    bounded = [f"{measure} at least", f"{measure} at most"] if ends else []
    rows = []
    for name, scores in evaluated.items():
        counts = _counts(scores)
        documents = (seen[name] if at else None) or (counts["seen"], counts["unjudged"])
        share = (documents[1] or 0) / documents[0] if documents[0] else 0.0
        row = [name, *(counts[column] for column in _COUNTS), *documents, share]
        rows.append([*row, *(ends.get(name, (None, None)) if ends else ())])
    looked = _looked_at(evaluated, measure) if at else []
    return {
        "columns": [*columns, *bounded],
        "rows": rows,
        "notes": [*_notes(evaluated), *looked, why],
        "digits": digits_of(rows),
    }


def digits_of(rows: Sequence[Sequence[object]]) -> list[int]:
    """Return how many decimals each column has: none where it counts.

    >>> digits_of([["mine", 3, 1.0], ["yours", 2, None]])
    [0, 0, 4]
    """
    return [
        _DECIMALS * any(isinstance(cell, float) for cell in column)
        for column in zip(*rows, strict=True)
    ]


def checks_section(checks: Mapping[str, Checks]) -> dict[str, object]:
    """Return the counts that scores from elsewhere have."""
    rows = [
        [name, check.judged, None if check.judged is None or check.missing is None
         else check.judged - check.missing, check.missing]
        for name, check in checks.items()
    ]  # fmt: skip
    note = "The scores come from elsewhere: judgments and documents are not known."
    columns = ["run", "queries", "answered", "missing"]
    return {"columns": columns, "rows": rows, "notes": [note], "digits": [0] * len(columns)}


def count_texts(scores: Scores | Baseline) -> dict[str, str]:
    """Return the counts of a run as texts, by what they are called."""
    return {
        name.replace("_", " "): "all" if count is None else f"{count:.1%}" if name.endswith("share") else str(count)
        for name, count in _counts(scores).items()
    }  # fmt: skip


def find_bounds(
    scores: Mapping[str, Scores],
    whole: Callable[[], Mapping[str, Matched]],
    measure: Measure,
    policy: Policy,
    *,
    folded: bool,
) -> tuple[dict[str, tuple[float, float]], str]:
    """Return the lowest and the highest mean of each run, whatever the missing grades are.

    Where a measure has none, or they would take long, there are none, and the text says why.

    Args:
        scores: of each run.
        whole: returns each run beside the judgments, down to the last rank.
        measure: whose bounds.
        policy: as the caller gives it.
        folded: whether chunks are folded to documents.
    """
    if measure.name not in BOUNDED:
        return {}, f"Bounds: left out, {measure.name} has none that are exact."
    if folded:
        return {}, "Bounds: left out, chunks are folded."
    if sum(run.coverage.retrieved for run in scores.values()) > _MOST_SEEN:
        return {}, "Bounds: left out, the runs are large; gf.bounds computes them."
    levels = sorted({grade for run in scores.values() for grade in run.evidence.grades()} | {0.0})
    bounds = {}
    try:
        for name, matched in whole().items():
            decided = scores[name].policy
            ends = bounds_of_matched(matched, (measure,), policy, decided, grades=set(levels))
            bounds[name] = (ends[measure].low, ends[measure].high)
    except GainfulError as problem:
        return {}, f"Bounds: left out. {problem}"
    grades = ", ".join(f"{grade:g}" for grade in levels).replace("-", "−")
    return (
        bounds,
        f"Bounds: whatever grades ({grades}) the retrieved documents without a judgment have.",
    )


def policy_section(policy: Policy, *, ids: bool, dialect: str | None) -> list[dict[str, Any]]:
    """Return every choice of a policy with its answer and what that means.

    Args:
        policy: with the rule for ties decided.
        ids: whether documents have ids, which decides what the default rule is.
        dialect: whose policy it is, where one was asked for.
    """
    answers, usual = policy.answers(), Policy().resolved(ids=ids).answers()
    spoken = {
        "name": "dialect",
        "answer": dialect,
        "default": False,
        "meaning": "Measure as this tool does, whose policy follows.",
    }
    return ([] if dialect is None else [spoken]) + [
        {
            "name": choice.name,
            "answer": answers[choice.name],
            "default": answers[choice.name] in (usual[choice.name], choice.default),
            "meaning": choice.answers.get(answers[choice.name]) or choice.grade or "",
        }
        for choice in CHOICES
    ]


def unjudged_by_rank(evaluated: Evaluated, deepest: int) -> list[dict[str, object]]:
    """Return the share of unjudged documents at each rank of each run, as far as it is known.

    Args:
        evaluated: scores; a saved baseline has no documents and is left out.
        deepest: the last rank.
    """
    rows: list[dict[str, object]] = []
    for name, scores in evaluated.items():
        if not isinstance(scores, Scores):
            continue
        before = (0, 0)
        for rank in range(1, deepest + 1):
            if (found := unjudged_at(scores, rank)) is None:
                break
            documents, unjudged = found[0] - before[0], found[1] - before[1]
            before = found
            if documents:
                share = unjudged / documents
                rows.append({"run": name, "rank": rank, "share": share, "documents": documents})
    return rows


def _counts(scores: Scores | Baseline) -> Mapping[str, int | float | None]:
    return scores.coverage.counts() if isinstance(scores, Scores) else scores.coverage


def _seen(evaluated: Evaluated, measure: Measure) -> dict[str, tuple[int, int] | None]:
    """Return the documents down to the cutoff, and how many of them are unjudged, if known."""
    return {
        name: unjudged_at(scores, measure.cutoff)
        if isinstance(scores, Scores) and measure.cutoff is not None
        else None
        for name, scores in evaluated.items()
    }


def _looked_at(evaluated: Evaluated, measure: Measure) -> list[str]:
    """Say where more documents were looked at than the columns count."""
    shares_by_depth: dict[int | None, list[str]] = {}
    for name, scores in evaluated.items():
        if not isinstance(scores, Scores):
            continue
        coverage = scores.coverage
        if (coverage.seen, coverage.unjudged) != unjudged_at(scores, measure.cutoff or 0):
            share = f"{name} {coverage.unjudged} of {coverage.seen} ({coverage.unjudged_share:.1%})"
            shares_by_depth.setdefault(coverage.depth, []).append(share)
    return [
        f"Unjudged among all documents looked at ({_reach(depth)}): {_cut(shares)}; the columns "
        f"count down to rank {measure.cutoff} alone."
        for depth, shares in shares_by_depth.items()
    ]


def _reach(depth: int | None) -> str:
    if depth is None:
        return "all that were retrieved"
    return f"down to rank {depth}"


def _cut(names: Sequence[str]) -> str:
    """Name the first of some, and count the others."""
    left = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])}{f' and {left} more' if left > 0 else ''}"


def _notes(evaluated: Evaluated) -> list[str]:
    notes = []
    for name, scores in evaluated.items():
        if not isinstance(scores, Scores):
            notes.append(f"{name}: saved scores, without documents.")
            continue
        for what, queries in (
            ("missing", scores.coverage.missing),
            ("empty", scores.coverage.empty),
            ("without judgments", scores.coverage.extra),
        ):
            if queries:
                notes.append(f"{name}: {what}: {_cut(queries)}")
    return notes
