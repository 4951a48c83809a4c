"""From a primitive, a board and a compiler to an image; everything later takes the image."""

from joulemark.build.images import BuiltImage, build_image, build_local

__all__ = ["BuiltImage", "build_image", "build_local"]
