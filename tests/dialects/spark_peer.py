"""Spark's RankingMetrics in a process of its own: cases on standard input, their values on standard output.

A case has `rows`, each a list of predictions, of labels and, where given, of relevances; `asked`, the
methods with their arguments; and `api`: "python" for what PySpark wraps, "java" for the class itself.
"""

import json
import sys

from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession


def start():
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("ranking")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.pyspark.python", sys.executable)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def by_python(context, rows):
    return RankingMetrics(context.parallelize([tuple(row) for row in rows], 1))


def by_java(context, rows):
    jvm = context._jvm

    def listed(items):
        made = jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made

    tuples = [getattr(jvm.scala, f"Tuple{len(row)}")(*map(listed, row)) for row in rows]
    rdd = context._jsc.parallelize(listed(tuples), 1)
    return jvm.org.apache.spark.mllib.evaluation.RankingMetrics.of(rdd)


def values(metrics, asked):
    found = []
    for name, *arguments in asked:
        value = getattr(metrics, name)
        found.append(value(*arguments) if callable(value) else value)
    return found


if __name__ == "__main__":
    session = start()
    makers = {"python": by_python, "java": by_java}
    answers = [
        values(makers[case["api"]](session.sparkContext, case["rows"]), case["asked"])
        for case in json.load(sys.stdin)
    ]
    session.stop()
    json.dump(answers, sys.stdout)
