"""Several assessors: how far they agree, and who leans high or low.

`gainful.agreement` is used daily.
"""
