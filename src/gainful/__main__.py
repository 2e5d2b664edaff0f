"""`python -m gainful` is the command line."""

from gainful.cli.main import main

main()
