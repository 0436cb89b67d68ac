"""The entry point of `tfprof` and `python -m tfprof`."""

# Part of Python itself: nothing is read, as for `signal`, so that Ctrl-C has no time to stop that.
import _signal  # type: ignore[import-not-found]


def main() -> None:
    """Run the command and exit."""
    # Until the command can print a sentence, Ctrl-C ends it without one.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    import gc  # noqa: PLC0415

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
