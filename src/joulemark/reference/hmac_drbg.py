"""HMAC_DRBG of SP 800-90A Rev. 1, section 10.1.2, with SHA-256, for oracles."""

import hmac


class HmacDrbg:
    """A generator.

    Args:
        seed: entropy input, nonce and personalization string, concatenated.
    """

    def __init__(self, seed: bytes) -> None:
        self._key, self._value = bytes(32), b"\x01" * 32
        self.update(seed)

    def update(self, provided: bytes = b"") -> None:
        """Update the state with provided data (10.1.2.2); reseeding (10.1.2.4) is the same."""
        for separator in (b"\x00", b"\x01") if provided else (b"\x00",):
            self._key = hmac.digest(self._key, self._value + separator + provided, "sha256")
            self._value = hmac.digest(self._key, self._value, "sha256")

    def draw(self, length: int) -> bytes:
        """Draw bytes without the update that ends a request: RFC 6979 leaves that out."""
        drawn = b""
        while len(drawn) < length:
            self._value = hmac.digest(self._key, self._value, "sha256")
            drawn += self._value
        return drawn[:length]

    def generate(self, length: int) -> bytes:
        """Serve a request (10.1.2.5)."""
        drawn = self.draw(length)
        self.update()
        return drawn
