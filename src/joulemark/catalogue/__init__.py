"""The catalogue: boards, chips, kinds and primitives, as their files say."""
