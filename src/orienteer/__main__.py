"""`python -m orienteer` is `orienteer`."""

import sys


def main() -> int:
    """Run a command. An interruption while the package is still loading ends it as any other does."""
    try:
        from orienteer.serve.cli.app import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
