"""GCM over AES by pycryptodome, which accepts every length of nonce and tag."""

from Crypto.Cipher import AES

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt and authenticate."""
    if not variant.startswith("aes-"):
        raise ValueError(f"{variant}: only over AES is there a library")
    cipher = AES.new(inputs.key, AES.MODE_GCM, nonce=inputs.nonce, mac_len=inputs.tag_bytes)
    cipher.update(inputs.ad)
    ciphertext, tag = cipher.encrypt_and_digest(inputs.message)
    return Output(output=ciphertext, tag=tag)
