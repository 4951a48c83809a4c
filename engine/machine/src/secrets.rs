//! Secrets that a machine follows, by name.

use joulemark_kernel::Symbols;
use joulemark_kernel::secrets::{Origins, Piece, Report};

use crate::Frame;
use crate::report::frame;

/// As many origins as there are bits.
const MOST_PIECES: usize = Origins::BITS as usize;

/// Bytes of memory that hold a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The name that findings use.
    pub name: String,
    /// The first byte's address.
    pub address: u32,
    /// Number of bytes.
    pub length: u32,
}

/// Consecutive bytes of a secret: its name, and the first and the last byte's number.
pub type Part = (String, u32, u32);

/// An instruction that uses a secret to decide something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUse {
    /// The instruction's address.
    pub address: u32,
    /// The instruction that set the flags which decide; otherwise the same.
    pub decided_at: u32,
    /// What it decides: see [`joulemark_kernel::secrets::Decides`].
    pub decides: &'static str,
    /// How often.
    pub times: u64,
    /// The secret bytes that its operand can come from.
    pub parts: Vec<Part>,
    /// Cycles between its longest and its shortest time; `None` if later instructions decide.
    pub extra_cycles: Option<u32>,
    /// For an address, the lowest and the highest that it can be.
    pub span: (u32, u32),
    /// The call stack at the first time, innermost first; the first frame is the instruction.
    pub call_stack: Vec<Frame>,
}

/// What secrets decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// In order of addresses.
    pub uses: Vec<SecretUse>,
    /// Number of different instructions executed.
    pub reached: usize,
    /// Conditional branches that always went the same way: address, and whether they were taken.
    pub one_way: Vec<(u32, bool)>,
    /// Device registers that secrets were written to. What a device makes of them is not followed.
    pub devices: Vec<(u32, Vec<Part>)>,
    /// Stores to an address that depends on a secret too widely to mark all that they may change.
    pub lost: Vec<u32>,
}

/// The secrets followed, and the bytes that each origin stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pieces: Vec<(String, u32, Piece)>,
}

impl Names {
    /// Divide secrets into at most as many pieces as there are origins. `None` if there are more
    /// secrets.
    pub fn of(secrets: &[Secret]) -> Option<Self> {
        if secrets.len() > MOST_PIECES {
            return None;
        }
        let count = |bytes: u32| -> u32 {
            let pieces = secrets.iter().map(|secret| secret.length.div_ceil(bytes));
            pieces.sum()
        };
        let longest = secrets.iter().map(|secret| secret.length).max();
        let bytes = (1..longest.unwrap_or(1)).find(|&bytes| count(bytes) as usize <= MOST_PIECES);
        let bytes = bytes.or(longest).unwrap_or(1).max(1);
        let mut pieces = Vec::new();
        for secret in secrets {
            for first in (0..secret.length).step_by(bytes as usize) {
                let piece = Piece {
                    address: secret.address.saturating_add(first),
                    length: bytes.min(secret.length - first),
                    origin: 1 << pieces.len(),
                };
                pieces.push((secret.name.clone(), first, piece));
            }
        }
        Some(Self { pieces })
    }

    /// The pieces.
    pub fn pieces(&self) -> Vec<Piece> {
        self.pieces.iter().map(|(_, _, piece)| *piece).collect()
    }

    fn parts(&self, origins: Origins) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for (name, first, piece) in &self.pieces {
            if origins & piece.origin == 0 {
                continue;
            }
            let last = first + piece.length - 1;
            match parts.last_mut() {
                Some((before, _, end)) if before == name && *end + 1 == *first => *end = last,
                _ => parts.push((name.clone(), *first, last)),
            }
        }
        parts
    }

    /// A report with names.
    pub fn of_report(&self, report: Report, symbols: &Symbols) -> Secrets {
        let uses = report.uses.into_iter().map(|((address, decides), found)| {
            let mut call_stack = vec![frame(symbols, address, address)];
            // Look up the call instruction: the return address may belong to the next function.
            let calls = found.calls.iter().rev();
            call_stack.extend(calls.map(|&at| frame(symbols, at, at.saturating_sub(2))));
            SecretUse {
                address,
                decided_at: found.decided_at,
                decides: decides.name(),
                times: found.times,
                parts: self.parts(found.origins),
                extra_cycles: found.extra_cycles,
                span: found.span,
                call_stack,
            }
        });
        let devices = report.devices.into_iter();
        Secrets {
            uses: uses.collect(),
            reached: report.reached,
            one_way: report.one_way,
            devices: devices
                .map(|(register, origins)| (register, self.parts(origins)))
                .collect(),
            lost: report.lost,
        }
    }
}
