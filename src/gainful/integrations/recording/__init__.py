"""Runs recorded from search services: engines, any address, functions, commands.

`gainful.record` is used daily.
"""
