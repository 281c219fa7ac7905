"""`python -m orienteer` is `orienteer`."""

import sys

from orienteer.serve.cli import main

if __name__ == "__main__":
    sys.exit(main())
