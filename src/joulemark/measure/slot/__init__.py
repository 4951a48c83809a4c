"""How short a slot can be on a board: observed with ample time, derived, proved, proved minimal."""
