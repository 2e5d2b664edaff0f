"""Several assessors, models among them: how far they agree, who leans high or low, and what a model's grades are worth.

`gainful.agreement`, `gainful.calibrate`, `gainful.collect_grades` and `gainful.sample_queries` are used daily.
"""
