"""`Spark`: the engine that reads files on Spark; its session, its formats and its progress."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Engine, bytes_of
from gainful.rows.files import no_file, refuse_versioned_tables
from gainful.rows.input_types import Judgments, Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from gainful.rows.spark_frames import SparkText

_PACKED = (".gz", ".bz2", ".zst")
_TEXTS = (".csv", ".tsv", ".jsonl", ".ndjson")
_MEBIBYTE = 1 << 20
_EVERY = 0.5  # seconds
_USUAL = 8  # stages of an evaluation: check judgments, find edges, send rows, add values


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """Spark as the engine: it reads files where they are.

    An existing session is used as it is.

    Attributes:
        master: where Spark runs, such as "local[2]", "yarn" or "spark://host:7077", or the address
            of a Connect server, "sc://host"; all cores of this machine if None.
        memory: the memory limit of the driver, such as "4GB"; Spark's default if None. If Spark runs
            on this machine, the limit applies to all of Spark.
        folder: where data that doesn't fit into memory is written; Spark's default if None.

    >>> Spark(master="local[2]", memory="4GB")
    Spark(master='local[2]', memory='4GB', folder=None)
    """

    master: str | None = None
    memory: str | None = None
    folder: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        Engine(memory=self.memory, folder=self.folder)  # validates both
        if self.master is not None and not (isinstance(self.master, str) and self.master):
            raise InputError("engine, master", "a string such as 'local[2]'", shown(self.master))

    def session(self) -> "SparkSession":
        """Return the existing session, or a new one."""
        # Imported here because every reader imports this module, and few calls use Spark.
        from gainful.rows.spark_frames import first_line, library, without_pandas

        library()  # raises if Spark isn't installed
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        # Otherwise the workers would run another Python, without this package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder
        master = self.master or "local[*]"
        if master.startswith("sc://"):
            builder = builder.remote(master)
        else:
            builder = builder.master(master)
            for key, value in self._settings().items():
                builder = builder.config(key, value)
        try:
            with without_pandas():
                return builder.getOrCreate()
        except (PySparkException, RuntimeError, OSError) as problem:
            raise InputError("engine, master", "a Spark that starts", first_line(problem)) from None

    def _settings(self) -> dict[str, str]:
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            # month=01 is the text 01, as on a single machine.
            "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        }
        if self.memory is not None:
            settings["spark.driver.memory"] = f"{max(bytes_of(self.memory) // _MEBIBYTE, 1)}m"
        if self.folder is not None:
            settings["spark.local.dir"] = os.fspath(self.folder)
        return settings

    def read(self, judgments: Judgments, runs: Mapping[str, Run]) -> tuple[Any, dict[str, Any]]:
        """Return judgments and runs with files opened on Spark, and all other inputs unchanged.

        Judgments in a format that Spark can't read are read on this machine; runs in such a format
        are rejected before Spark starts.
        """
        for run in runs.values():
            if isinstance(run, str | os.PathLike) and not _is_read(os.fspath(run)):
                name = os.fspath(run)
                raise InputError(
                    name,
                    "a run that Spark reads: .parquet or a directory of it, .csv, .tsv, .jsonl",
                    f"the extension {_ending(name)!r}" if _ending(name) else "no extension",
                    "Convert it: gainful convert.",
                )
        return self._read(judgments), {name: self._read(run) for name, run in runs.items()}

    def _read(self, given: object) -> "object | DataFrame | SparkText":
        if not isinstance(given, str | os.PathLike) or not _is_read(os.fspath(given)):
            return given
        name = os.fspath(given)
        if "://" not in name:
            refuse_versioned_tables([Path(name)], name)
        session = self.session()  # raises if Spark isn't installed
        from pyspark.errors import PySparkException

        from gainful.rows.spark_frames import first_line, text_on_spark

        try:
            if _ending(name) in _TEXTS:
                return text_on_spark(name, session)
            return session.read.parquet(name)
        except PySparkException as problem:
            if problem.getCondition() == "PATH_NOT_FOUND":
                raise no_file(name) from None
            raise InputError(name, "a file that Spark can read", first_line(problem)) from None


def _is_read(name: str) -> bool:
    ending = _ending(name)
    return ending in (*_TEXTS, ".parquet") or os.path.isdir(name)  # noqa: PTH112 - any file system


def _ending(name: str) -> str:
    """Return the extension that determines the format.

    >>> _ending("run.csv.gz"), _ending("s3a://lake/run.parquet"), _ending("run")
    ('.csv', '.parquet', '')
    """
    stem = re.split(r"[/\\]", name.lower())[-1]
    for packing in _PACKED:
        stem = stem.removesuffix(packing)
    return f".{stem.rpartition('.')[2]}" if "." in stem else ""


@contextmanager
def telling_stages(tell: Callable[[float, str], None] | None) -> Iterator[None]:
    """Report Spark's progress from a separate thread: a share from 0 to 1, and the stage in words.

    The share is an estimate, because Spark decides on the number of stages as it goes. A session on
    another machine (Connect) offers no progress, so nothing is reported.
    """
    if tell is None:
        yield
        return
    done = threading.Event()
    seen: set[int] = set()

    def watch() -> None:
        while not done.wait(_EVERY):
            progress = _progress(_tracker(), seen)
            if progress is not None and not done.is_set():
                tell(*progress)

    watching = threading.Thread(target=watch, name="gainful-spark-stages", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _tracker() -> Any:
    """Return the status tracker of this process's Spark session; None without a session."""
    pyspark = sys.modules.get("pyspark")
    context = None if pyspark is None else pyspark.SparkContext._active_spark_context  # noqa: SLF001
    return None if context is None else context.statusTracker()


def _progress(tracker: Any, seen: set[int]) -> tuple[float, str] | None:
    """Return the share that is done, and the newest stage in words; None without a stage.

    Args:
        tracker: Spark's status tracker.
        seen: the stages so far; the active ones are added.
    """
    try:
        active = sorted(tracker.getActiveStageIds())
        stage = tracker.getStageInfo(active[-1])
        share = stage.numCompletedTasks / stage.numTasks
    except Exception:  # noqa: BLE001 - no stage, or a session that ends, which raises various errors
        return None
    seen.update(active)
    share = (len(seen) - 1 + share) / max(_USUAL, len(seen))
    words = f"{stage.numCompletedTasks} of {stage.numTasks} tasks"
    return share, f"Spark, stage {len(seen)}: {words}"
