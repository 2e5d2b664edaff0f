"""Spark's RankingMetrics as a function of cases.

A case has `rows`, each a list of predictions, of labels and, where given, of relevances; `asked`, the
methods with their arguments; and `api`: "python" for what PySpark wraps, "java" for the class itself.
"""

from pyspark.mllib.evaluation import RankingMetrics


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


def values(context, case):
    """Return the values of what is asked of a case."""
    maker = {"python": by_python, "java": by_java}[case["api"]]
    metrics = maker(context, case["rows"])
    found = []
    for name, *arguments in case["asked"]:
        value = getattr(metrics, name)
        found.append(value(*arguments) if callable(value) else value)
    return found
