"""`open_input`: choose the kind of input for what a caller gave as judgments or as a run.

What only one kind needs is imported where it is chosen: a command starts faster.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gainful.errors import InputError, warn
from gainful.inputs.data_frames import is_lasting
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.event_kinds import with_events_in_records, with_events_in_text
from gainful.inputs.files import (
    LocalFile,
    judgments_in_folder,
    kept_file,
    parts_of,
    path_of,
    refuse_open_file,
    unpacked,
)
from gainful.inputs.format_detection import Layout, recognise
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.id_types import UNTYPED, type_of_ids
from gainful.inputs.run_and_judgment_columns import (
    Columns,
    assessor_in,
    find_columns,
    kind_by_columns,
)
from gainful.inputs.small_tables import plain_arrays
from gainful.inputs.table_source import Source, TextState, json_lines
from gainful.matching.input import Input
from gainful.matching.input_kinds.table_input import TableInput

if TYPE_CHECKING:
    from gainful.inputs.nested_json import Records


def open_input(
    given: object, kind: Kind, columns: Columns, session: Session, *, checked: bool = True
) -> Input:
    """Open what a caller gave.

    What is no number in JSON is refused, with its place; where it is not `checked`, it is in the
    dict, for a check to find.
    """
    refuse_open_file(given, kind.name)
    rule = columns.use_assessors() if kind is JUDGMENTS else None
    if rule is not None:
        return _open_assessed(given, columns, rule, session)
    if isinstance(given, str | os.PathLike | LocalFile):
        opened = _open_path(given, kind, columns, session, checked=checked)
    else:
        opened = _open_object(given, kind, columns, session, checked=checked)
        opened.again = given if is_lasting(given) or opened.spark is not None else None
    if opened.kind.ignored:
        warn(
            f"{opened.name}: each row counts as grade 1, whatever stands in the column "
            f"{opened.kind.ignored!r}. Give grades to tell events apart; or say that there are none: "
            "columns grade= (None in Python)."
        )
    return opened


def _open_assessed(given: object, columns: Columns, rule: object, session: Session) -> Input:
    """Open judgments of several assessors, merged by the rule that the caller gives."""
    from gainful.inputs.several_assessors import read_assessed
    from gainful.inputs.spark_frames import refuse_spark
    from gainful.matching.input_kinds.dict_input import DictInput

    refuse_spark(given, JUDGMENTS.name)
    judged = read_assessed(given, columns, rule, session)
    opened = DictInput(judged.documents, JUDGMENTS, JUDGMENTS.name, session, judged.types)
    opened.again = judged.documents
    return opened


def _open_object(
    given: object, kind: Kind, columns: Columns, session: Session, *, checked: bool
) -> Input:
    if isinstance(given, Mapping):
        from gainful.inputs.lists_and_records import is_dict_of_dicts, with_plain_numbers
        from gainful.inputs.refused_dicts_of_columns import refuse_columns
        from gainful.matching.dict_matching import refuse_arrays
        from gainful.matching.input_kinds.dict_input import DictInput

        refuse_columns(given, kind, kind.name)
        if is_dict_of_dicts(given):
            plain = with_plain_numbers(given)
            if checked and plain is not given:
                for query, found in plain.items():
                    refuse_arrays(found, kind.number, kind.name, query)
            return DictInput(plain, kind, kind.name, session)
        return _open_lists(given, kind, kind.name, columns, session)
    from gainful.inputs.spark_frames import is_spark

    if is_spark(given):
        from gainful.matching.input_kinds.spark_input import SparkInput

        return SparkInput(given, kind, columns, session)
    from gainful.inputs.data_frames import refuse_series, rows_in
    from gainful.inputs.parquet_and_frame_tables import open_frame
    from gainful.inputs.records_of_lists import holds_documents

    refuse_series(given, kind, columns)
    if any(holds_documents(row, kind, columns) for row in rows_in(given, 1)):
        return _open_lists(rows_in(given), kind, kind.name, columns, session)
    found = open_frame(given, kind, columns, session)
    if isinstance(found, Source):
        return TableInput(found, session)
    records = given if found is None else found
    return _open_lists(records, kind, kind.name, columns, session)


def _open_parquet(
    parts: Sequence[Path], kind: Kind, name: str, columns: Columns, session: Session
) -> Input:
    from gainful.inputs.parquet_and_frame_tables import parquet

    found = parquet(parts, kind, columns, session, name)
    if isinstance(found, Source):
        return TableInput(found, session)
    return _open_lists(found, kind, name, columns, session)


def _open_lists(
    given: object,
    kind: Kind,
    name: str,
    columns: Columns,
    session: Session,
    *,
    from_file: bool = False,
) -> Input:
    """Open lists, records, or what another library or a search service returned.

    Those in a file of JSON have ids that are text, as all text files have.
    """
    from gainful.inputs.lists_and_records import Rows, read_lists
    from gainful.matching.input_kinds.dict_input import DictInput
    from gainful.matching.input_kinds.id_array_input import IdArrayInput, is_id_array

    if kind is RUN and is_id_array(given):
        queries = columns.use_queries()
        if queries is not None and len(queries) == len(given):
            return IdArrayInput(given, queries, kind, session)
    found = read_lists(given, kind, columns, name)
    if found is None:
        raise InputError(
            name,
            f"a dict {{query: {{doc: {kind.number}}}}} or {{query: [doc, …]}}, rows, the path of a "
            "file, or a data frame",
            type(given).__name__,
        )
    if isinstance(found, Rows):
        from gainful.inputs.nested_json import Records

        source = _records(Records(name, kind, found.records), columns, session)
        if not from_file:
            keys = source.layout.names
            query, doc = (keys[place] for place in source.layout.places[:2])
            source = replace(
                source,
                query_type=type_of_ids(record[query] for record in found.records),
                doc_type=type_of_ids(record[doc] for record in found.records),
            )
        return TableInput(source, session)
    types = (UNTYPED, UNTYPED) if from_file else found.types
    opened = DictInput(found.documents, kind, name, session, types)
    opened.taken_from = found.taken_from
    return opened


def _open_path(
    given: str | os.PathLike[str] | LocalFile,
    kind: Kind,
    columns: Columns,
    session: Session,
    *,
    checked: bool,
) -> Input:
    file = given
    if not isinstance(file, LocalFile):
        name = path_of(file)
        if kind.name == JUDGMENTS.name:
            name = judgments_in_folder(name)
        parts = parts_of(name)
        if parts is not None:
            opened = _open_parquet(parts, kind, name, columns, session)
            opened.again = given
            return opened
        file = kept_file(name, session)
    opened = _open_file(unpacked(file, session), kind, columns, session, checked=checked)
    opened.again = given if file.holder is None else file
    return opened


def _open_file(
    file: LocalFile, kind: Kind, columns: Columns, session: Session, *, checked: bool
) -> Input:
    layout = recognise(file, kind, columns)
    match layout.format:
        case "letor":
            from gainful.inputs.letor import read_labels
            from gainful.matching.input_kinds.label_and_prediction_input import LabelInput

            return LabelInput(read_labels(file), kind, session)
        case "predictions":
            from gainful.inputs.letor import read_predictions
            from gainful.matching.input_kinds.label_and_prediction_input import PredictionInput

            return PredictionInput(read_predictions(file), kind, session)
        case "json":
            from gainful.inputs.nested_json import Records, read_nested
            from gainful.matching.input_kinds.dict_input import DictInput

            found = read_nested(file, kind, columns, checked=checked)
            if isinstance(found, dict):
                return DictInput(found, kind, file.name, session, (UNTYPED, UNTYPED))
            if not isinstance(found, Records):
                return _open_lists(found.value, kind, file.name, columns, session, from_file=True)
            source = _records(found, columns, session)
        case "parquet":
            return _open_parquet([file.path], kind, file.name, columns, session)
        case "jsonl":
            source = json_lines(file, kind, columns, session)
            assert source.file is not None  # noqa: S101 - it was read from one
            known = with_events_in_text(source.kind, source.file, source.layout, session)
            source = replace(source, kind=known)
        case _:
            kind = kind_by_columns(layout.names, kind, columns)
            kind = with_events_in_text(kind, file, layout, session)
            state = TextState.UNSEEN
            source = Source(kind, file.name, "", strict=True, file=file, layout=layout, state=state)
    return TableInput(source, session)


def _records(found: "Records", columns: Columns, session: Session) -> Source:
    """Have a list of JSON objects as a table."""
    names, where = (*found.records[0],), found.name
    kind = with_events_in_records(kind_by_columns(names, found.kind, columns), found.records)
    found = replace(found, kind=kind)
    arrays = found.arrays(columns)
    table = session.register_later(found.kind.name, arrays)
    # No number is missing; but the engine takes NaN in an array for nothing.
    number = "coalesce(number, CAST('nan' AS DOUBLE)) AS number"
    places = find_columns(names, found.kind, columns, where)
    layout = Layout("json", names=names, places=places, assessor=assessor_in(names, columns))
    select = f"SELECT * REPLACE ({number}) FROM {table}"
    plain = None if found.kind.ascending else plain_arrays(arrays)
    return Source(found.kind, where, select, strict=True, layout=layout, plain=plain)
