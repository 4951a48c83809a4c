"""Runners, which execute an image and do not depend on a store."""
