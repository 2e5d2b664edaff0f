"""`python -m gainful` is the command line."""

from gainful.cli import main

main()
