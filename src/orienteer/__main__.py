"""`python -m orienteer` is `orienteer`."""

import sys

from orienteer.serve.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
