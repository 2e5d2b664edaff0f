"""What Spark starts its Python workers from: it has imported what they need, so that none has to.

Spark's own imports nothing before it forks, since what is imported might start threads; this does not.
A worker collects garbage after each task, and need not look through what was imported.
"""

import gc

import pandas as pd  # noqa: F401 - pyarrow imports it in each worker
import pyarrow as pa  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import gainful.evaluation.spark.partition_measuring
import gainful.rows.spark_frames  # noqa: F401

if __name__ == "__main__":
    gc.freeze()
    manager()
