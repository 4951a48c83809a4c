"""From a primitive, a board and a compiler to an image; everything later takes the image."""

from joulemark.build.images import BuiltImage, build_image, build_local
from joulemark.build.sources import Sources

__all__ = ["BuiltImage", "Sources", "build_image", "build_local"]
