"""Curupira's rounds written from the paper, with matrices over GF(2^8) and a mini-box S-box.

The oracles of Curupira, Marvin and LetterSoup are made of them. No library has it. This shares only
the paper with the C code: it has no table of 256 entries and multiplies by whole matrices.
"""

from functools import cache

P = (0x3, 0xF, 0xE, 0x0, 0x5, 0x4, 0xB, 0xC, 0xD, 0xA, 0x9, 0x6, 0x7, 0x8, 0x2, 0x1)
Q = (0x9, 0xE, 0x5, 0x6, 0xA, 0x2, 0x3, 0xC, 0xF, 0x0, 0x4, 0xD, 0x7, 0xB, 0x1, 0x8)
D = ((3, 2, 2), (4, 5, 4), (6, 6, 7))
C = 0b11100  # c(x) = x^4 + x^3 + x^2
E = ((C ^ 1, C, C), (C, C ^ 1, C), (C, C, C ^ 1))
ROUNDS = {12: 10, 18: 14, 24: 18}

Matrix = list[list[int]]  # rows of columns


@cache
def sbox(u: int) -> int:
    """Apply three layers of two mini-boxes; between layers, halves of the nibbles are swapped."""
    high, low = P[u >> 4], Q[u & 15]
    high, low = Q[high & 12 | low >> 2], P[(high & 3) << 2 | low & 3]
    high, low = P[high & 12 | low >> 2], Q[(high & 3) << 2 | low & 3]
    return high << 4 | low


@cache
def multiply(a: int, b: int) -> int:
    """Multiply in GF(2^8) modulo x^8 + x^6 + x^3 + x^2 + 1."""
    product = 0
    for i in range(8):
        if b >> i & 1:
            product ^= a << i
    for i in range(14, 7, -1):
        if product >> i & 1:
            product ^= 0x14D << (i - 8)
    return product


def apply(matrix: tuple[tuple[int, ...], ...], state: Matrix) -> Matrix:
    """Multiply a matrix with each column."""
    columns = range(len(state[0]))
    return [
        [
            multiply(row[0], state[0][j])
            ^ multiply(row[1], state[1][j])
            ^ multiply(row[2], state[2][j])
            for j in columns
        ]
        for row in matrix
    ]


def to_matrix(data: bytes) -> Matrix:
    """Arrange bytes into three rows, down the columns."""
    return [list(data[i::3]) for i in range(3)]


def add(a: Matrix, b: Matrix) -> Matrix:
    """Add two matrices over GF(2^8)."""
    return [[x ^ y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def select(key: Matrix) -> Matrix:
    """Take the first four columns, with the S-box on row 0."""
    return [[sbox(b) for b in key[0][:4]], key[1][:4], key[2][:4]]


def round_keys(key: bytes) -> list[Matrix]:
    """Compute all round keys."""
    k = to_matrix(key)
    columns = len(key) // 3
    keys = [select(k)]
    for s in range(ROUNDS[len(key)]):
        k[0] = [b ^ sbox(columns * s + j) for j, b in enumerate(k[0])]
        k = apply(E, [k[0], k[1][1:] + k[1][:1], k[2][-1:] + k[2][:-1]])
        keys.append(select(k))
    return keys


def unkeyed(state: Matrix) -> Matrix:
    """Apply gamma and pi."""
    return [[sbox(state[i][i ^ j]) for j in range(4)] for i in range(3)]


def encrypt(keys: list[Matrix], block: bytes) -> bytes:
    """Encrypt one block with precomputed round keys."""
    state = add(to_matrix(block), keys[0])
    for key in keys[1:-1]:
        state = add(apply(D, unkeyed(state)), key)
    state = add(unkeyed(state), keys[-1])
    return bytes(state[i][j] for j in range(4) for i in range(3))


def square_complete_transform(block: bytes) -> bytes:
    """Apply four unkeyed rounds, on which Marvin is built."""
    state = to_matrix(block)
    for _ in range(4):
        state = apply(D, unkeyed(state))
    return bytes(state[i][j] for j in range(4) for i in range(3))
