"""Behaviour of child processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable


def end_with_parent(clean_up: Callable[[], None] = lambda: None) -> None:
    """In a new process: ignore Ctrl-C, which the parent handles, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            clean_up()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
