"""What a file holds, as `evaluate` reads it."""

from gainful.matching.input import TableInput
from gainful.matching.reader import open_input
from gainful.measures.policy import Policy
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.run_and_judgment_columns import read_columns

KINDS = {"run": RUN, "judgments": JUDGMENTS}


def read_back(path, kind):
    """Return a file as a dict of dicts."""
    with Session() as session:
        opened = open_input(path, KINDS[kind], read_columns(None), session)
        assert isinstance(opened, TableInput)
        return opened.documents(Policy())
