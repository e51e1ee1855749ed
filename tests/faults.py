"""A layer between a save and the system: it counts what is asked of the system, and lets one request fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

REQUESTS = ("open", "write", "fsync", "replace", "chmod", "ftruncate")
SYSTEM = {name: getattr(os, name) for name in REQUESTS}
KILLED = 137  # the exit code of a process that was killed
Fault = Callable[[str, tuple[Any, ...]], Any]  # what happens in place of a request


class Counter:
    """How many requests there were, and whether the fault was met."""

    requests = 0
    met = False


@contextmanager
def fault_at(number: int, fault: Fault, *, most: int | None = None) -> Iterator[Counter]:
    """Within it, request `number` (from 1) meets a fault, and no write takes more than `most` bytes."""
    counter = Counter()

    def instead(name: str) -> Callable[..., Any]:
        def request(*args: Any, **more: Any) -> Any:
            counter.requests += 1
            if counter.requests == number:
                counter.met = True
                return fault(name, args)
            if name == "write" and most is not None:
                return SYSTEM[name](args[0], bytes(args[1])[:most])
            return SYSTEM[name](*args, **more)

        return request

    for name in REQUESTS:
        setattr(os, name, instead(name))
    try:
        yield counter
    finally:
        for name, function in SYSTEM.items():
            setattr(os, name, function)


def failing(error: int) -> Fault:
    """The request fails; a write has taken a part of its bytes by then."""

    def fault(name: str, args: tuple[Any, ...]) -> Any:
        if name == "write":
            SYSTEM["write"](args[0], bytes(args[1])[: len(args[1]) // 2])
        raise OSError(error, os.strerror(error))

    return fault


def interrupted(name: str, args: tuple[Any, ...]) -> Any:
    """A signal came before a byte was written."""
    if name == "write":
        raise InterruptedError
    return SYSTEM[name](*args)


def killed_before(name: str, args: tuple[Any, ...]) -> Any:
    """The process is gone before the request; a write has taken a part of its bytes."""
    if name == "write":
        SYSTEM["write"](args[0], bytes(args[1])[: len(args[1]) // 2])
    os._exit(KILLED)


def killed_after(name: str, args: tuple[Any, ...]) -> Any:
    """The process is gone right after the request."""
    SYSTEM[name](*args)
    os._exit(KILLED)


def in_a_child(work: Callable[[], Any]) -> int:
    """Does something in a process of its own, which may be killed; its exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
