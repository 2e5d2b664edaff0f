"""MTEB: its files of predictions as runs, its judgments, and its retrieval scores under its names.

It doesn't need MTEB itself, only its files and objects.

>>> qrels, results = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
>>> retrieval_scores(qrels, results, [1, 10])["ndcg_at_10"]
0.63093
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.beir import cutoffs_in, scores_as_beir, tell_missing
from gainful.message_texts import shown

__all__ = ["judgments", "predictions", "retrieval_scores"]

_END = "_predictions.json"
_META = "mteb_model_meta"
_SHAPE = "{subset: {split: {query: {doc: score}}}}"
_DIGITS = 5  # digits that MTEB rounds to, except for MRR
_K_VALUES = (1, 3, 5, 10, 20, 100, 1000)
_MEASURES = {
    "ndcg": "nDCG",
    "map": "AP",
    "recall": "R",
    "precision": "P",
    "mrr": "RR",
    "hit_rate": "Success",
}

Run = dict[str, dict[str, float]]


class _Part(NamedTuple):
    """A run in a file, for one split of one subset of a task."""

    task: str
    subset: str
    split: str
    model: str
    path: Path
    run: Run


def predictions(
    place: object, *, task: str | None = None, subset: str | None = None, split: str | None = None
) -> dict[str, Run]:
    """Return the runs in files of predictions by the names of models, for `evaluate_runs` or `compare`.

    All runs are from one split of one subset of one task, so they have the same judgments. A choice with a
    single value need not be named.

    Args:
        place: a file `{task}_predictions.json`, or a folder with such files, at any depth.
        task: the name of the task, such as SciFact.
        subset: the subset, such as default or en.
        split: the split, such as test.
    """
    parts = [part for path in _files(place) for part in _parts_of(path)]
    if not any(part.run for part in parts):
        raise InputError(str(place), _SHAPE, "no query in any split")
    choices = {"task": task, "subset": subset, "split": split}
    for field, wanted in choices.items():
        if wanted is not None:
            arguments.text(wanted, field)
        values = list(dict.fromkeys(getattr(part, field) for part in parts))
        if wanted is None and len(values) > 1:
            raise InputError(str(place), f"one {field}", ", ".join(values), f"Give {field}=….")
        if wanted is not None and wanted not in values:
            raise InputError(field, f"one of {', '.join(values)}", repr(wanted))
        parts = [part for part in parts if wanted is None or getattr(part, field) == wanted]
    names = [part.model for part in parts]
    return {
        part.model if names.count(part.model) == 1 else str(part.path): part.run for part in parts
    }


def _files(place: Any) -> list[Path]:
    try:
        path = Path(place)
        is_folder = path.is_dir()
    except (TypeError, ValueError, OSError):  # such as a name that is too long
        raise InputError("place", "the path of a file or of a folder", shown(place)) from None
    if is_folder:
        paths = sorted(path.rglob(f"*{_END}"))
        if not paths:
            raise InputError(str(path), f"files {{task}}{_END}", "none in this folder")
        return paths
    return [path]


def _parts_of(path: Path) -> Iterator[_Part]:
    try:
        written = path.read_bytes()
    except (OSError, ValueError) as problem:  # such as a name that no file can have
        raise InputError(str(path), "a file that can be read", str(problem)) from None
    try:
        content = json.loads(written)
    except ValueError as problem:
        raise InputError(str(path), "JSON", str(problem)) from None
    if not isinstance(content, Mapping):
        raise InputError(str(path), _SHAPE, shown(content))
    meta = content.get(_META)
    named = meta.get("model_name") if isinstance(meta, Mapping) else None
    model = named if isinstance(named, str) else path.parent.name
    for subset, splits in content.items():
        if subset == _META:
            continue
        if not isinstance(splits, Mapping):
            raise InputError(f"{path}, subset {subset!r}", "{split: {query: …}}", shown(splits))
        for split, run in splits.items():
            where = f"{path}, subset {subset!r}, split {split!r}"
            whole = isinstance(run, Mapping) and all(isinstance(run[q], Mapping) for q in run)
            if not whole:
                raise InputError(where, "{query: {doc: score}}", shown(run))
            _refuse_odd_scores(run, where)
            yield _Part(path.name.removesuffix(_END), subset, split, model, path, run)


def _refuse_odd_scores(run: Mapping[str, Mapping[str, object]], where: str) -> None:
    for query, docs in run.items():
        for doc, score in docs.items():
            if type(score) is not float and type(score) is not int:  # JSON's types of numbers
                place = f"{where}, query {shown(query)}, document {shown(doc)}"
                raise InputError(place, "a number as the score", shown(score))


def judgments(task: Any, *, subset: str = "default", split: str = "test") -> Run:
    """Return the judgments of a retrieval task, `{query: {doc: grade}}`, and load them if necessary.

    Args:
        task: an MTEB task, such as `mteb.get_task("SciFact")`.
        subset: the subset of its dataset.
        split: the split of its dataset.
    """
    for name, value in (("subset", subset), ("split", split)):
        arguments.text(value, name)
    if not getattr(task, "data_loaded", True):
        task.load_data()
    splits = getattr(task, "dataset", None) or {}
    try:
        grades: Run = splits[subset][split]["relevant_docs"]
    except (KeyError, TypeError):
        there = ", ".join(f"{s!r}: {', '.join(map(repr, splits[s]))}" for s in splits)
        expected = f"judgments of split {shown(split)} of subset {shown(subset)}"
        raise InputError("task", expected, there or "no data") from None
    return grades


def retrieval_scores(
    qrels: object,
    results: object,
    k_values: Sequence[int] = _K_VALUES,
    *,
    ignore_identical_ids: bool = False,
) -> dict[str, float]:
    """Return the means in MTEB's results, under its names and with its rounding: ndcg_at_10, mrr_at_10 ….

    The arguments are not modified. MTEB's nAUC, a measure of confidence, is not included.

    Args:
        qrels: `{query: {doc: grade}}`, or any judgments that `evaluate` accepts.
        results: `{query: {doc: score}}`, or any run that `evaluate` accepts.
        k_values: the cutoffs.
        ignore_identical_ids: whether to remove documents with the id of their query, from the
            results only.
    """
    names, cutoffs = tuple(_MEASURES.values()), cutoffs_in(k_values)
    scores = scores_as_beir(qrels, results, names, cutoffs, drop_self=ignore_identical_ids)
    tell_missing(scores, "MTEB")
    means = {}
    for theirs, ours in _MEASURES.items():
        for k in cutoffs:
            mean = scores[f"{ours}@{k}"]
            means[f"{theirs}_at_{k}"] = mean if theirs == "mrr" else round(mean, _DIGITS)
    return means
