"""CCM*: CCM if there is a MIC, else CTR, both by the cryptography package over AES.

IEEE 802.15.4-2006, annex B, which specifies no other 128-bit block cipher.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Encrypt, and authenticate if there is a MIC."""
    if not variant.startswith("aes-"):
        raise ValueError(f"{variant}: only over AES is there a library")
    length = len(inputs.message)
    if inputs.tag_bytes == 0:
        counter = b"\x01" + inputs.nonce + b"\x00\x01"
        encryptor = Cipher(algorithms.AES(inputs.key), modes.CTR(counter)).encryptor()
        return Output(output=encryptor.update(inputs.message) + encryptor.finalize(), tag=b"")
    cipher = AESCCM(inputs.key, inputs.tag_bytes)
    sealed = cipher.encrypt(inputs.nonce, inputs.message, inputs.ad)
    return Output(output=sealed[:length], tag=sealed[length:])
