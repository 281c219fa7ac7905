"""`python -m orienteer` is `orienteer`."""

import gc
import sys


def main() -> int:
    """Run a command. An interruption while the package is still loading ends it as any other does."""
    # What is loaded stays loaded. Searching it for garbage, on the way and at the end, takes a quarter of a start.
    gc.set_threshold(50_000)
    try:
        from orienteer.serve.cli.app import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
