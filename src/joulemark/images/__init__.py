"""Build an image from a primitive or parts, a board and a compiler."""

from joulemark.images.built import BuiltImage
from joulemark.images.known import Known, key_of, known_images, state_of
from joulemark.images.parts import is_part
from joulemark.images.program import build_image, build_local, build_program
from joulemark.images.sources import Sources

__all__ = [
    "BuiltImage",
    "Known",
    "Sources",
    "build_image",
    "build_local",
    "build_program",
    "is_part",
    "key_of",
    "known_images",
    "state_of",
]
