"""Several assessors, models among them: how far they agree, who leans high or low, and what a model says.

`gainful.agreement` and `gainful.collect_grades` are used daily.
"""
