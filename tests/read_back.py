"""What a file holds, as `evaluate` reads it."""

from gainful.inputs.duckdb_engine import Session
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.inputs.run_and_judgment_columns import read_columns
from gainful.matching.input_kinds.table_input import TableInput
from gainful.matching.open_input import open_input
from gainful.measures.policy import Policy

KINDS = {"run": RUN, "judgments": JUDGMENTS}


def read_back(path, kind):
    """Return a file as a dict of dicts."""
    with Session() as session:
        opened = open_input(path, KINDS[kind], read_columns(None), session)
        assert isinstance(opened, TableInput)
        return opened.documents(Policy())
