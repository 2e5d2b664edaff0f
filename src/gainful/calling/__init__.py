"""Calls to what answers elsewhere: many at a time, again where that may help, each answer kept."""
