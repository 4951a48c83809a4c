"""How short a slot can be on a board: seen with much time, derived, proved, and proved minimal."""
