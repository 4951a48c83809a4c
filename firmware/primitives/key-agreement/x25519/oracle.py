"""X25519 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Agree with a peer, given by its secret key or its public key."""
    own = X25519PrivateKey.from_private_bytes(inputs.secret_key)
    peer = X25519PrivateKey.from_private_bytes(inputs.peer_secret_key).public_key()
    return Output(
        public_key=own.public_key().public_bytes_raw(),
        peer_key=peer.public_bytes_raw(),
        shared=own.exchange(peer),
    )
