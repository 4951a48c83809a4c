"""ECDH over secp256k1 by the cryptography package (OpenSSL)."""

from cryptography.hazmat.primitives.asymmetric import ec

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Agree with a peer whose secret key is given."""
    own, peer = (
        ec.derive_private_key(int.from_bytes(key, "big"), ec.SECP256K1())
        for key in (inputs.secret_key, inputs.peer_secret_key)
    )

    def encoded(key: ec.EllipticCurvePrivateKey) -> bytes:
        numbers = key.public_key().public_numbers()
        return numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")

    return Output(
        public_key=encoded(own),
        peer_key=encoded(peer),
        shared=own.exchange(ec.ECDH(), peer.public_key()),
    )
