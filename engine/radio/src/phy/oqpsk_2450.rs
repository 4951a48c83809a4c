//! IEEE 802.15.4's O-QPSK PHY at 2.4 GHz: 250 kb/s, 62.5 ksymbol/s of four bits (IEEE Std
//! 802.15.4-2006, 6.5).

use joulemark_kernel::Picoseconds;

use super::{Check, Length, Phy};

/// The PHY.
pub static PHY: Phy = Phy {
    name: "oqpsk-2450",
    byte: Picoseconds(32_000_000),
    symbol_bits: 4,
    // 6.3: preamble 4, delimiter 1, then a byte with the length of the PSDU in seven bits.
    preamble_bytes: 4,
    sync_bytes: 1,
    // The delimiter and a byte of preamble. Inferred: data sheets say that a byte is enough.
    acquisition_bytes: 2,
    header_bytes: 1,
    length: Length {
        at: 0,
        mask: 0x7f,
        uncounted: 1,
    },
    // 7.2.1.9: x^16 + x^12 + x^5 + 1.
    check: Check {
        bytes: 2,
        polynomial: 0x8408,
        initial: 0,
    },
    // 6.1.2.1.
    first_channel: 11,
    frequencies_mhz: &[
        2405, 2410, 2415, 2420, 2425, 2430, 2435, 2440, 2445, 2450, 2455, 2460, 2465, 2470, 2475,
        2480,
    ],
    error_rate,
    // At the sensitivity, 1% of 20-byte packets are lost (6.1.7): each of 40 symbols is wrong with
    // probability 2.51e-4.
    threshold: 1.0193,
    // The error rate is less than the sum's first term, 7.5 exp(-10 ratio), because the terms
    // alternate and decrease.
    clear: 3.0,
    // Adjacent and alternate channel rejection of the CC2420 (SWRS041C, section 6.3). Inferred for
    // other receivers.
    rejection_db: &[(5, 45.0), (-5, 30.0), (10, 54.0), (-10, 53.0)],
    further_db: 62.0,
};

/// The symbol error rate (E.4.1.8, which states the bit error rate: 8/15 of it).
fn error_rate(ratio: f64) -> f64 {
    let mut binomial = 16.0;
    let mut sum = 0.0;
    for k in 2..=16 {
        let k = f64::from(k);
        binomial *= (17.0 - k) / k;
        let sign = if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        sum += sign * binomial * libm::exp(20.0 * ratio * (1.0 / k - 1.0));
    }
    // At low ratios, the sum is only an upper bound.
    (sum / 16.0).clamp(0.0, 15.0 / 16.0)
}
