"""Labels with `qid:` and files of predictions as input: documents in lists, without ids."""

from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from gainful.errors import InputError
from gainful.matching import array_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import Input
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.rows.arrays import read_lists
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.letor import Labels, Predictions, refuse_other_length
from gainful.rows.mistakes import warn_of_ranks_in_arrays
from gainful.rows.table_source import Source

if TYPE_CHECKING:
    from gainful.matching.input import Judgments


class ListInput(Input):
    """Documents without ids: they are told by their lines."""

    has_ids: ClassVar[bool] = False

    def refuse(self, remedy: str = "") -> NoReturn:
        """Refuse documents without ids where ids are needed."""
        raise InputError(self.kind.name, "documents with ids", self.holds, remedy)

    def warn_of_ranks(self) -> None:
        """Do nothing: the lists are looked at when they are matched."""


class LabelInput(ListInput):
    """Labels, each with the query that it belongs to."""

    holds: ClassVar[str] = "labels with qid:"

    def __init__(self, labels: Labels, kind: Kind, session: Session) -> None:
        super().__init__(kind, labels.name, session)
        self.labels: Labels = labels

    def table_to_check(self) -> Source:
        """Return the labels as a table in which documents are called by their rows."""
        size = self.labels.labels.size
        table = self.session.register(
            "labels",
            {
                "query": np.array(self.labels.queries, object),
                "doc": np.array([f"row {row}" for row in range(1, size + 1)], object),
                "number": self.labels.labels,
            },
        )
        return Source(self.kind, self.name, f"SELECT query, doc, number FROM {table}", strict=True)


class PredictionInput(ListInput):
    """Predictions, one for each label."""

    holds: ClassVar[str] = "predictions"

    def __init__(self, predictions: Predictions, kind: Kind, session: Session) -> None:
        super().__init__(kind, predictions.name, session)
        self.predictions = predictions

    def refuse_unfit(self, judgments: Input, called: str = "run") -> None:
        """Refuse predictions without as many labels."""
        refuse_other_length(self._labels_in(judgments, called), self.predictions)

    def _labels_in(self, judgments: Input, called: str = "run") -> Labels:
        if judgments.labels is None:
            self.refuse_beside(judgments, called)
        return judgments.labels

    def beside(self, judgments: Input, called: str = "run") -> Input:
        """Return the predictions with the queries of their labels."""
        self.refuse_unfit(judgments, called)
        queries = self._labels_in(judgments).queries
        scores = Labels(self.name, self.predictions.scores, queries)
        return LabelInput(scores, self.kind, self.session)

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match the predictions with their labels."""
        labels = self._labels_in(judgments.given)
        if chunks is not None:
            raise InputError("chunks", "documents with ids", "labels with qid:")
        lists = read_lists(labels.labels, self.predictions.scores, query=labels.queries)
        warn_of_ranks_in_arrays(lists)
        return array_matching.match_down_to(lists, policy, depth)

    def table_to_check(self) -> Source:
        """Refuse predictions in the place of judgments."""
        raise InputError(
            self.name, JUDGMENTS.name, self.holds, "Judgments come first, then the run."
        )
