"""XMSS by `joulemark.reference.xmss`: a tree of one leaf that exists, whose path is given.

No library for Python has it. The vectors hold this against the authors' own implementation.
"""

import hashlib

from joulemark.oracle import Compute, Inputs, Output
from joulemark.reference.xmss import Tree

_SETS = {"xmss-sha2-10-256": (32, 10), "xmss-sha2-16-256": (32, 16), "xmss-sha2-10-192": (24, 10)}


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Make a key pair, and a signature of a message."""
    n, height = _SETS[variant]
    parts = inputs.signature_parts
    leaf = int.from_bytes(parts[:4], "big") % (1 << height)
    given = hashlib.shake_256(parts).digest(n * (1 + height))
    randomizer, *path = (given[i : i + n] for i in range(0, len(given), n))
    tree = Tree(n, height, inputs.key_parts, first=leaf, real=0, above=path)
    signature = tree.sign(inputs.message, leaf, randomizer)
    return Output(public_key=tree.public_key, signature=signature)
