"""Published results beside ours: what a paper says, how ours is obtained, and the verdicts."""
