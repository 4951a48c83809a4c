"""What holds for all tests."""

from hypothesis import settings

from joulemark.images import started

# How long an example may take is no property of the code, but of the machine and what else it does.
settings.register_profile("joulemark", deadline=None)
settings.load_profile("joulemark")

# pytest says there which test runs; compilers that wait for work need not be started anew for it.
started.unseen.add("PYTEST_CURRENT_TEST")
