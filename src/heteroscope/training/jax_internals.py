"""The one use of JAX beyond its public interface: whether it has started its threads, which nothing public tells.

`tests/training/test_forking.py` fails when the name moves or no longer has its effect.
"""

from jax._src.xla_bridge import backends_are_initialized

__all__ = ["backends_are_initialized"]
