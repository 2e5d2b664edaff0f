"""What a fork of a Python process does to call the command line, for programs that make many such forks."""

SOURCE = '''
import os, sys
from gainful.cli.main import main

def exit_with_main(arguments):
    """Call the command line, and end the process as it ends."""
    sys.argv = ["gainful", *arguments]
    try:
        main()
    except SystemExit as done:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # as at the end of a process
        os._exit(done.code)
    os._exit(99)
'''
