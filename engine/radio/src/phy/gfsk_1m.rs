//! Bluetooth LE 1M, uncoded: GFSK at 1 Mb/s (Bluetooth Core Specification 5.4, volume 6, parts A
//! and B). The access address and the initial check are those of the advertising channels; bytes
//! are those before whitening, which changes neither times nor lengths.

use joulemark_kernel::Picoseconds;

use super::{Check, Length, Phy};

/// The PHY.
pub static PHY: Phy = Phy {
    name: "gfsk-1m",
    byte: Picoseconds(8_000_000),
    symbol_bits: 1,
    // Part B, 2.1: preamble 1, access address 4, PDU, CRC 3.
    preamble_bytes: 1,
    sync_bytes: 4,
    // The access address, whose every bit a receiver correlates. Inferred: the specification states
    // none.
    acquisition_bytes: 4,
    header_bytes: 0,
    // Part B, 2.3 and 2.4: the PDU's second byte counts what follows its header of two bytes.
    length: Length {
        at: 1,
        mask: 0xff,
        uncounted: 2 + 3,
    },
    // Part B, 3.1.1: x^24 + x^10 + x^9 + x^6 + x^4 + x^3 + x + 1, from 0x555555, whose lowest bit is
    // in the register's first place.
    check: Check {
        bytes: 3,
        polynomial: 0xda_6000,
        initial: 0xaa_aaaa,
    },
    // Part B, 1.4.1: channel indices 0 to 36 carry data, 37 to 39 advertise.
    first_channel: 0,
    frequencies_mhz: &[
        2404, 2406, 2408, 2410, 2412, 2414, 2416, 2418, 2420, 2422, 2424, 2428, 2430, 2432, 2434,
        2436, 2438, 2440, 2442, 2444, 2446, 2448, 2450, 2452, 2454, 2456, 2458, 2460, 2462, 2464,
        2466, 2468, 2470, 2472, 2474, 2476, 2478, 2402, 2426, 2480,
    ],
    error_rate,
    // At the sensitivity, 0.1% of bits are wrong (part A, 4.1): 2 ln(500).
    threshold: 12.429,
    // 2 ln(0.5e12).
    clear: 53.88,
    // The least that a receiver must do (part A, 4.2): C/I of 15, -17 and -27 dB, and of 21 dB on
    // its own channel, relative to that.
    rejection_db: &[(1, -15.0), (-1, -15.0), (2, 17.0), (-2, 17.0)],
    further_db: 27.0,
};

/// The bit error rate of binary FSK, received without its phase (J. G. Proakis, Digital
/// Communications, noncoherent detection of orthogonal signals). Inferred for this GFSK: only the
/// slope about the threshold comes from it.
fn error_rate(ratio: f64) -> f64 {
    0.5 * libm::exp(-ratio / 2.0)
}
