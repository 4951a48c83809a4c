"""Cases, and the plan that gives each its image and its key."""
