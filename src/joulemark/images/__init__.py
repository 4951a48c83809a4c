"""From a primitive, a board and a compiler to an image; everything later takes the image."""

from joulemark.images.program import BuiltImage, build_image, build_local
from joulemark.images.sources import Sources

__all__ = ["BuiltImage", "Sources", "build_image", "build_local"]
