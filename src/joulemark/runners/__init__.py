"""Runners execute an image. A runner knows no store."""
