//! Faults: errors that silicon would let pass silently, caught here.

use std::fmt;

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An access to an unmapped address.
    Unmapped,
    /// A word access or an instruction fetch at an odd address.
    Misaligned,
    /// A write to flash without the flash controller set up for it.
    FlashWrite,
    /// A read or execution of unprogrammed flash.
    Unprogrammed,
    /// Execution of data.
    ExecuteData,
    /// The stack pointer went below the stack's limit.
    StackOverflow,
    /// A fault that the core cannot take: it is locked up until a reset.
    Lockup,
    /// An opcode that this core does not define.
    InvalidOpcode,
    /// The watchdog reset the chip.
    Watchdog,
    /// The program reset the chip.
    Reset,
    /// An access to a part of the chip that the emulation declares absent.
    Absent,
    /// A use of a peripheral that its manual forbids.
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

/// A frame that a function or a handler returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A call, and its return address, which may already belong to the next function.
    Call(u32),
    /// Interrupted code, and the address of the interruption.
    Interrupted(u32),
}

/// A fault and its location.
///
/// A peripheral makes one with [`Fault::new`] and [`Fault::at`]; the core adds the program counter
/// and the call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// The accessed address, if there is one.
    pub address: Option<u32>,
    /// The faulting instruction.
    pub pc: u32,
    /// One sentence for the user, without the above addresses.
    pub message: String,
    /// The frames waiting for a return, innermost first.
    pub call_stack: Vec<Caller>,
}

impl Fault {
    /// Make a fault without an address.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            address: None,
            pc: 0,
            message: message.into(),
            call_stack: Vec::new(),
        }
    }

    /// Add the accessed address.
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
