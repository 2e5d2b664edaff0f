"""Several assessors, including models: agreement, merged grades and calibration.

`gainful.judging.agreement`, `gainful.judging.merge_judgments`, `gainful.judging.calibrate`,
`gainful.judging.collect_grades` and `gainful.judging.sample_queries` are the main functions.
"""
