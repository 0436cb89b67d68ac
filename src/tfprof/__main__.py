"""The entry point of `tfprof` and `python -m tfprof`."""

import gc
import signal


def main() -> None:
    """Run the command and exit."""
    # Until the command can print a sentence, Ctrl-C ends it without one.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Columns are no garbage: one search per hundred thousand objects finds what little there is.
    gc.set_threshold(100_000)
    from tfprof.cli import main as command  # noqa: PLC0415
    from tfprof.console.signals import exit_at_once  # noqa: PLC0415

    try:
        command()
    except SystemExit as end:
        exit_at_once(end)


if __name__ == "__main__":
    main()
