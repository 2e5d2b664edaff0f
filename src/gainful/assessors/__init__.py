"""Several assessors, models among them: how far they agree, one grade of several, what a model's grades are worth.

`gainful.agreement`, `gainful.merge_judgments`, `gainful.calibrate`, `gainful.collect_grades` and `gainful.sample_queries` are used daily.
"""
