"""The coverage section of a report: missing queries, unjudged and tied documents, and their possible effect."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.comparison_result import Checks
from gainful.errors import GainfulError
from gainful.evaluation.means_of_queries import names_of_ends
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores, unjudged_at
from gainful.evaluation.unjudged.bounds import BOUNDS, Bound, RunBounds, bounds_of_matched
from gainful.matching.matched import Matched
from gainful.measures.measure import Measure
from gainful.measures.policy import CHOICES, Policy

Evaluated = Mapping[str, Scores | Baseline]

_COUNTS = ("judged", "evaluated", "missing", "empty", "extra", "tied", "tied_queries")
_MOST_SEEN = 5_000_000  # documents of all runs, up to which bounds take little time
_DECIMALS = 4
_NAMED = 10  # queries named in a note
# Notes about queries, and the attribute of coverage that lists them.
_KINDS = {
    "Not answered": "missing",
    "No relevant documents": "empty",
    "Answered, but without judgments": "extra",
}


def coverage_section(
    evaluated: Evaluated,
    measure: Measure,
    bounds: Mapping[str, Bound],
    notes: Sequence[str],
    level: float,
) -> dict[str, Any]:
    """Return a row for each run, and notes.

    Args:
        evaluated: scores and saved baselines.
        measure: the measure whose bounds are shown.
        bounds: the lowest and the highest mean of each run, and an estimate if requested; empty if they are
            left out.
        notes: the reason they are left out, or the grades they assume.
        level: the level of the intervals of estimates.
    """
    columns = ["run", "judged queries", "answered", "not answered", "no relevant documents"]
    columns += ["no judgments", "tied documents", "tied queries"]
    seen = _seen(evaluated, measure)
    at = "" if measure.cutoff is None or None in seen.values() else f"@{measure.cutoff}"
    columns += [f"documents{at}", f"unjudged{at}", f"share unjudged{at}"]
    bounded = [f"{measure} at least", f"{measure} at most"] if bounds else []
    estimated = any(bound.estimate for bound in bounds.values())
    bounded += ["estimate", *names_of_ends(level)] if estimated else []
    rows = []
    for name, scores in evaluated.items():
        counts = _counts(scores)
        documents = (seen[name] if at else None) or (counts["seen"], counts["unjudged"])
        share = (documents[1] or 0) / documents[0] if documents[0] else 0.0
        row = [name, *(counts[column] for column in _COUNTS), *documents, share]
        bound = bounds.get(name)
        own = [None] * 5 if bound is None else [bound.low, bound.high, *_inside(bound)]
        rows.append([*row, *own[: len(bounded)]])
    looked = _looked_at(evaluated, measure) if at else []
    return {
        "columns": [*columns, *bounded],
        "rows": rows,
        "notes": [*_notes(evaluated), *looked, *notes],
        "digits": digits_of(rows),
        "bounds": [
            {
                "run": name,
                "value": bound.value,
                "lowest": bound.low,
                "highest": bound.high,
                **dict(zip(("estimate", "low", "high"), _inside(bound), strict=True)),
            }
            for name, bound in bounds.items()
        ],
    }


def _inside(bound: Bound) -> list[float | None]:
    """Return an estimate and the ends of its interval; None without one."""
    inside = bound.estimate
    return [None] * 3 if inside is None else [inside.value, inside.low, inside.high]


def estimates_of(
    bounds: RunBounds | None, comparison: Comparison | None, measure: Measure
) -> tuple[dict[str, Bound], list[str]]:
    """Return the bounds of each run with its estimate as if every document were judged, and notes on all of them."""
    estimated, notes = {}, dict[str, None]()
    for name, own in {} if bounds is None else bounds.runs.items():
        if own.estimating is None or measure not in own.measures:
            continue
        estimated[name] = own[measure]
        notes |= dict.fromkeys([*own.assumptions[:2], *own.doubts])
    rows = () if comparison is None else comparison.unjudged
    return estimated, [*notes, *map(str, rows)]


def digits_of(rows: Sequence[Sequence[object]]) -> list[int]:
    """Return how many decimals each column has; a column of counts has none.

    >>> digits_of([["mine", 3, 1.0], ["yours", 2, None]])
    [0, 0, 4]
    """
    return [
        _DECIMALS * any(isinstance(cell, float) for cell in column)
        for column in zip(*rows, strict=True)
    ]


def checks_section(checks: Mapping[str, Checks]) -> dict[str, object]:
    """Return the counts for scores computed elsewhere."""
    rows = [
        [name, check.judged, None if check.judged is None or check.missing is None
         else check.judged - check.missing, check.missing]
        for name, check in checks.items()
    ]  # fmt: skip
    note = "These scores were computed elsewhere, so their judgments and documents are unknown."
    columns = ["run", "queries", "answered", "not answered"]
    return {"columns": columns, "rows": rows, "notes": [note], "digits": [0] * len(columns)}


def count_texts(scores: Scores | Baseline) -> dict[str, str]:
    """Return the counts of a run as texts, by their names."""
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
) -> tuple[dict[str, Bound], str]:
    """Return the lowest and the highest mean of each run that the unknown grades allow.

    If a measure has no bounds, or computing them would take long, the dict is empty and the text gives the reason.

    Args:
        scores: the scores of each run.
        whole: returns each run matched with the judgments, down to the last rank.
        measure: the measure to bound.
        policy: the caller's policy.
        folded: whether chunks are folded to documents.
    """
    if measure.name not in BOUNDS:
        return {}, f"Bounds: left out, because {measure.name} has no exact ones."
    if folded:
        return {}, "Bounds: left out, because chunks are folded."
    if sum(run.coverage.retrieved for run in scores.values()) > _MOST_SEEN:
        return {}, "Bounds: left out, because the runs are large; gf.bounds computes them."
    levels = sorted({grade for run in scores.values() for grade in run.evidence.grades()} | {0.0})
    bounds = {}
    try:
        for name, matched in whole().items():
            own = scores[name]
            ends = bounds_of_matched(
                matched, (measure,), policy, own.policy, grades=set(levels), sample=own.sample
            )
            bounds[name] = ends[measure]
    except GainfulError as problem:
        return {}, f"Bounds: left out. {problem}"
    grades = ", ".join(f"{grade:g}" for grade in levels).replace("-", "−")
    return (
        bounds,
        f"Bounds: the lowest and highest possible mean if the unjudged documents had any of the grades {grades}.",
    )


def policy_section(policy: Policy, *, ids: bool, dialect: str | None) -> list[dict[str, Any]]:
    """Return every choice of a policy with its setting and meaning.

    Args:
        policy: the policy, with its tie rule resolved.
        ids: whether documents have ids, which decides the default tie rule.
        dialect: the dialect the policy belongs to, if any.
    """
    answers, usual = policy.answers(), Policy().resolved(ids=ids).answers()
    spoken = {
        "name": "dialect",
        "answer": dialect,
        "default": False,
        "meaning": "Reproduce this tool; the rows below are its policy.",
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
    """Return the number of documents down to the cutoff and how many of them are unjudged, if known."""
    return {
        name: unjudged_at(scores, measure.cutoff)
        if isinstance(scores, Scores) and measure.cutoff is not None
        else None
        for name, scores in evaluated.items()
    }


def _looked_at(evaluated: Evaluated, measure: Measure) -> list[str]:
    """Return notes on documents that were examined but are too deep for the columns."""
    shares_by_depth: dict[int | None, list[str]] = {}
    for name, scores in evaluated.items():
        if not isinstance(scores, Scores):
            continue
        coverage = scores.coverage
        if (coverage.seen, coverage.unjudged) != unjudged_at(scores, measure.cutoff or 0):
            share = f"{name} {coverage.unjudged} of {coverage.seen} ({coverage.unjudged_share:.1%})"
            shares_by_depth.setdefault(coverage.depth, []).append(share)
    return [
        f"Unjudged among all examined documents ({_reach(depth)}): {_cut(shares)}; the columns "
        f"count only ranks 1 to {measure.cutoff}."
        for depth, shares in shares_by_depth.items()
    ]


def _reach(depth: int | None) -> str:
    if depth is None:
        return "all ranks"
    return f"down to rank {depth}"


def _cut(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    left = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])}{f' and {left} more' if left > 0 else ''}"


def _notes(evaluated: Evaluated) -> list[str]:
    notes = [
        f"{name}: saved scores, without documents."
        for name, scores in evaluated.items()
        if not isinstance(scores, Scores)
    ]
    fresh = {name: scores for name, scores in evaluated.items() if isinstance(scores, Scores)}
    for what, kind in _KINDS.items():
        runs_by_queries: dict[tuple[str, ...], list[str]] = {}
        for name, scores in fresh.items():
            if queries := tuple(getattr(scores.coverage, kind)):
                runs_by_queries.setdefault(queries, []).append(name)
        for queries, runs in runs_by_queries.items():
            whose = "all runs" if 1 < len(runs) == len(fresh) else _cut(runs)
            notes.append(f"{what} ({whose}): {_cut(queries)}")
    return notes
