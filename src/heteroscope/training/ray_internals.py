"""The one use of Ray beyond its public interface: a local cluster that listens on this machine only.

Ray listens at all addresses unless its nodes have the address 127.0.0.1. Its own setting for that,
`RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0`, is read when Ray is imported, which may be before this package is. A cluster that
listens lets whoever reaches it run code. `tests/training/test_cluster_backends.py` fails when the name moves or loses
its effect.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ray._private import ray_constants


@contextmanager
def listen_on_loopback() -> Iterator[None]:
    """Let clusters that start inside this block listen on this machine only."""
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
