"""The judging desk: a study, its assessors and their grades."""
