"""What there is: boards, chips, kinds, primitives, as their files say."""
