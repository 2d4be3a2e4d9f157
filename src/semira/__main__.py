"""The program ``semira``, also as ``python -m semira``."""

from semira.cli import signals


def main() -> None:
    """Run the program: 0 done, 1 a Semira error, 2 wrong usage, 130 interrupted."""
    signals.take_over()
    # Takes a while, and may be interrupted as well.
    from semira.cli.main import main as run

    try:
        run()
    finally:
        signals.finish()


if __name__ == "__main__":
    main()
