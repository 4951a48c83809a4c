"""What holds for all tests."""

from hypothesis import settings

# How long an example may take is no property of the code, but of the machine and what else it does.
settings.register_profile("joulemark", deadline=None)
settings.load_profile("joulemark")
