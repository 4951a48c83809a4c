//! Faults: what silicon would do silently and wrongly, caught here.

use std::fmt;

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An access where the chip has nothing.
    Unmapped,
    /// A word access, or an instruction, at an odd address.
    Misaligned,
    /// A write to flash that the flash controller was not set up for.
    FlashWrite,
    /// A read or an execution of flash that nothing was programmed into.
    Unprogrammed,
    /// Execution of something that is not code.
    ExecuteData,
    /// The stack pointer went below the limit that the stack may grow to.
    StackOverflow,
    /// A fault where the core cannot take one: it stands still until a reset.
    Lockup,
    /// A word that is no instruction of this core.
    InvalidOpcode,
    /// The watchdog reset the chip.
    Watchdog,
    /// The program reset the chip.
    Reset,
    /// A part of the chip that the emulation declares absent.
    Absent,
    /// A peripheral that was used in a way that its manual forbids.
    Peripheral,
}

impl FaultKind {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unmapped => "unmapped",
            Self::Misaligned => "misaligned",
            Self::FlashWrite => "flash-write",
            Self::Unprogrammed => "unprogrammed",
            Self::ExecuteData => "execute-data",
            Self::StackOverflow => "stack-overflow",
            Self::Lockup => "lockup",
            Self::InvalidOpcode => "invalid-opcode",
            Self::Watchdog => "watchdog",
            Self::Reset => "reset",
            Self::Absent => "absent",
            Self::Peripheral => "peripheral",
        }
    }
}

/// Frame to return to from a function or a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A call, and the address after it, which may belong to the next function already.
    Call(u32),
    /// Code that an exception interrupted, and the address where it did.
    Interrupted(u32),
}

/// One fault, with where it happened.
///
/// A peripheral makes one with [`Fault::new`] and [`Fault::at`]; the core adds the program counter
/// and the call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// The address that was touched, where there is one.
    pub address: Option<u32>,
    /// The instruction that did it.
    pub pc: u32,
    /// One sentence for the user, without the addresses above.
    pub message: String,
    /// Who waits for a return, innermost first.
    pub call_stack: Vec<Caller>,
}

impl Fault {
    /// A fault that no address belongs to.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            address: None,
            pc: 0,
            message: message.into(),
            call_stack: Vec::new(),
        }
    }

    /// The same fault with the address that was touched.
    #[must_use]
    pub fn at(mut self, address: impl Into<u32>) -> Self {
        self.address = Some(address.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)?;
        if let Some(address) = self.address {
            write!(f, " (address {address:#06x}, at pc {:#06x})", self.pc)
        } else {
            write!(f, " (at pc {:#06x})", self.pc)
        }
    }
}

impl std::error::Error for Fault {}
