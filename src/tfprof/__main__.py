"""The entry point of `tfprof` and `python -m tfprof`."""

import gc
import signal


def main() -> None:
    """Run the command and exit."""
    # Until the command can print a sentence, Ctrl-C ends it without one.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What is imported stays until the end: no search for garbage looks at it.
    gc.disable()
    from tfprof.cli import main as command  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    command()


if __name__ == "__main__":
    main()
