"""Cases, and the plan that gives each case its image and key."""
