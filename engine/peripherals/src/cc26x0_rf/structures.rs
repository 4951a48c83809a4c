//! Structures in memory between the system CPU and the radio CPU: commands, their numbers and their
//! results. Numbers, offsets and values are those of TI's `rf_mailbox.h`, `rf_common_cmd.h` and
//! `rf_ieee_cmd.h`.

use joulemark_kernel::Memories;

/// Levels of operations; one of each may run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Background = 0,
    Foreground = 1,
}

/// Results in CMDSTA (SWCU185F, table 26-2).
pub(super) mod result {
    pub const DONE: u32 = 0x01;
    pub const ILLEGAL_POINTER: u32 = 0x81;
    pub const UNKNOWN_COMMAND: u32 = 0x82;
    pub const UNKNOWN_DIRECT_COMMAND: u32 = 0x83;
    pub const CONTEXT_ERROR: u32 = 0x85;
    pub const SCHEDULING_ERROR: u32 = 0x86;
    pub const PARAMETER_ERROR: u32 = 0x87;
    pub const QUEUE_ERROR: u32 = 0x88;
    pub const QUEUE_BUSY: u32 = 0x89;
}

/// Values of a radio operation's `status` field.
pub(super) mod status {
    pub const PENDING: u16 = 0x0001;
    pub const ACTIVE: u16 = 0x0002;
    pub const SKIPPED: u16 = 0x0003;
    pub const DONE_OK: u16 = 0x0400;
    pub const DONE_COUNTDOWN: u16 = 0x0401;
    pub const DONE_STOPPED: u16 = 0x0404;
    pub const DONE_ABORT: u16 = 0x0405;
    pub const DONE_FAILED: u16 = 0x0406;
    pub const ERROR_PAST_START: u16 = 0x0800;
    pub const ERROR_START_TRIG: u16 = 0x0801;
    pub const ERROR_CONDITION: u16 = 0x0802;
    pub const ERROR_PAR: u16 = 0x0803;
    pub const ERROR_POINTER: u16 = 0x0804;
    pub const ERROR_CMDID: u16 = 0x0805;
    pub const ERROR_WRONG_BG: u16 = 0x0806;
    pub const ERROR_NO_SETUP: u16 = 0x0807;
    pub const IEEE_SUSPENDED: u16 = 0x2001;
    pub const IEEE_DONE_OK: u16 = 0x2400;
    pub const IEEE_DONE_BUSY: u16 = 0x2401;
    pub const IEEE_DONE_STOPPED: u16 = 0x2402;
    pub const IEEE_DONE_ACK: u16 = 0x2403;
    pub const IEEE_DONE_ACKPEND: u16 = 0x2404;
    pub const IEEE_DONE_TIMEOUT: u16 = 0x2405;
    pub const IEEE_DONE_BGEND: u16 = 0x2406;
    pub const IEEE_DONE_ABORT: u16 = 0x2407;
    pub const IEEE_ERROR_PAR: u16 = 0x2800;
    pub const IEEE_ERROR_NO_SETUP: u16 = 0x2801;
    pub const IEEE_ERROR_NO_FS: u16 = 0x2802;
}

/// Interrupts of the radio CPU.
pub(super) mod irq {
    pub const COMMAND_DONE: u32 = 1;
    pub const LAST_COMMAND_DONE: u32 = 1 << 1;
    pub const FG_COMMAND_DONE: u32 = 1 << 2;
    pub const LAST_FG_COMMAND_DONE: u32 = 1 << 3;
    pub const TX_DONE: u32 = 1 << 4;
    pub const TX_ACK: u32 = 1 << 5;
    pub const RX_OK: u32 = 1 << 16;
    pub const RX_NOK: u32 = 1 << 17;
    pub const RX_IGNORED: u32 = 1 << 18;
    pub const RX_BUF_FULL: u32 = 1 << 22;
    pub const RX_ENTRY_DONE: u32 = 1 << 23;
    pub const MODULES_UNLOCKED: u32 = 1 << 29;
    pub const BOOT_DONE: u32 = 1 << 30;
}

/// Radio operations that are emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nop,
    RadioSetup,
    Fs,
    FsOff,
    SyncStopRat,
    SyncStartRat,
    Count,
    FsPowerup,
    FsPowerdown,
    SchImm,
    IeeeRx,
    IeeeEdScan,
    IeeeTx,
    IeeeCsma,
    IeeeRxAck,
    IeeeAbortBg,
}

/// A radio operation's number, its kind, and its structure's size in bytes.
const OPERATIONS: [(u16, Kind, u32); 16] = [
    (0x0801, Kind::Nop, 14),
    (0x0802, Kind::RadioSetup, 24),
    (0x0803, Kind::Fs, 24),
    (0x0804, Kind::FsOff, 14),
    (0x0809, Kind::SyncStopRat, 20),
    (0x080a, Kind::SyncStartRat, 20),
    (0x080b, Kind::Count, 16),
    (0x080c, Kind::FsPowerup, 20),
    (0x080d, Kind::FsPowerdown, 14),
    (0x0810, Kind::SchImm, 24),
    (0x2801, Kind::IeeeRx, 60),
    (0x2802, Kind::IeeeEdScan, 24),
    (0x2c01, Kind::IeeeTx, 24),
    (0x2c02, Kind::IeeeCsma, 32),
    (0x2c03, Kind::IeeeRxAck, 20),
    (0x2c04, Kind::IeeeAbortBg, 14),
];

/// Commands that TI documents and the emulation leaves out.
const LEFT_OUT: [(u16, &str); 28] = [
    (0x0807, "CMD_RX_TEST"),
    (0x0808, "CMD_TX_TEST"),
    (0x0812, "CMD_COUNT_BRANCH"),
    (0x0813, "CMD_PATTERN_CHECK"),
    (0x0006, "CMD_REMOVE_DATA_ENTRY"),
    (0x0009, "CMD_REMOVE_PENDING_ENTRIES"),
    (0x0011, "CMD_UPDATE_FS"),
    (0x0409, "CMD_ARM_RAT_CH"),
    (0x040a, "CMD_DISARM_RAT_CH"),
    (0x0601, "CMD_READ_RFREG"),
    (0x0603, "CMD_SET_RAT_CPT"),
    (0x0604, "CMD_SET_RAT_OUTPUT"),
    (0x1001, "CMD_BLE_ADV_PAYLOAD"),
    (0x1801, "CMD_BLE_SLAVE"),
    (0x1802, "CMD_BLE_MASTER"),
    (0x1803, "CMD_BLE_ADV"),
    (0x1804, "CMD_BLE_ADV_DIR"),
    (0x1805, "CMD_BLE_ADV_NC"),
    (0x1806, "CMD_BLE_ADV_SCAN"),
    (0x1807, "CMD_BLE_SCANNER"),
    (0x1808, "CMD_BLE_INITIATOR"),
    (0x1809, "CMD_BLE_GENERIC_RX"),
    (0x180a, "CMD_BLE_TX_TEST"),
    (0x3801, "CMD_PROP_TX"),
    (0x3802, "CMD_PROP_RX"),
    (0x3803, "CMD_PROP_TX_ADV"),
    (0x3804, "CMD_PROP_RX_ADV"),
    (0x3806, "CMD_PROP_RADIO_SETUP"),
];

/// A radio operation's kind, and its structure's size in bytes.
pub(super) fn operation(number: u16) -> Option<(Kind, u32)> {
    let mut all = OPERATIONS.iter();
    let found = all.find(|(known, ..)| *known == number);
    found.map(|&(_, kind, bytes)| (kind, bytes))
}

/// Size in bytes of a kind's structure.
pub(super) fn operation_bytes(kind: Kind) -> u32 {
    let mut all = OPERATIONS.iter();
    let found = all.find(|(_, known, _)| *known == kind);
    found.map_or(0, |&(_, _, bytes)| bytes)
}

/// The name of a command that is left out.
pub(super) fn left_out(number: u16) -> Option<&'static str> {
    let mut all = LEFT_OUT.iter();
    let found = all.find(|(known, _)| *known == number);
    found.map(|&(_, name)| name)
}

impl Kind {
    /// Whether it runs beside a background operation (SWCU185F, section 26.5).
    pub const fn is_foreground(self) -> bool {
        matches!(
            self,
            Self::IeeeTx | Self::IeeeCsma | Self::IeeeRxAck | Self::IeeeAbortBg
        )
    }

    /// Whether it is an IEEE 802.15.4 operation; these have their own `status` values.
    pub const fn is_ieee(self) -> bool {
        self.is_foreground() || matches!(self, Self::IeeeRx | Self::IeeeEdScan)
    }

    pub const fn aborted(self) -> u16 {
        if self.is_ieee() {
            status::IEEE_DONE_ABORT
        } else {
            status::DONE_ABORT
        }
    }

    pub const fn stopped(self) -> u16 {
        if self.is_ieee() {
            status::IEEE_DONE_STOPPED
        } else {
            status::DONE_STOPPED
        }
    }
}

/// Bytes of a structure when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    /// Read a structure; `None` if its address is not word-aligned or it is not all in memory.
    pub fn read(memory: &dyn Memories, address: u32, bytes: u32) -> Option<Self> {
        if address & 3 != 0 || address == 0 {
            return None;
        }
        memory.read(address, bytes).map(Self)
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.0[at]
    }

    pub fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    pub fn word(&self, at: usize) -> u32 {
        u32::from(self.half(at)) | u32::from(self.half(at + 2)) << 16
    }

    pub fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.0[at + byte])
    }

    /// Header of all radio operations: the next operation, the start trigger and the condition.
    pub fn next(&self) -> u32 {
        self.word(4)
    }

    pub fn start(&self) -> Trigger {
        Trigger {
            bits: self.byte(12),
            time: self.word(8),
        }
    }

    pub fn condition(&self) -> Condition {
        Condition {
            rule: self.byte(13) & 15,
            skips: self.byte(13) >> 4,
        }
    }
}

/// When an operation starts or ends (SWCU185F, tables 26-4 and 26-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    pub bits: u8,
    /// In ticks of the radio timer.
    pub time: u32,
}

impl Trigger {
    pub const NOW: u8 = 0;
    pub const NEVER: u8 = 1;
    pub const ABSOLUTE: u8 = 2;
    pub const AFTER_SUBMISSION: u8 = 3;
    pub const AFTER_START: u8 = 4;
    pub const AFTER_PREVIOUS_START: u8 = 5;
    pub const AFTER_FIRST_START: u8 = 6;
    pub const AFTER_PREVIOUS_END: u8 = 7;

    pub const fn kind(self) -> u8 {
        self.bits & 15
    }

    /// The number of the `CMD_TRIGGER` that also triggers it, if any.
    pub const fn command(self) -> Option<u8> {
        if self.bits & 0x10 != 0 {
            Some(self.bits >> 5 & 3)
        } else {
            None
        }
    }

    /// Whether a trigger time in the past starts the operation immediately.
    pub const fn takes_past(self) -> bool {
        self.bits & 0x80 != 0
    }
}

/// Condition for the next operation in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub rule: u8,
    pub skips: u8,
}

/// An operation's result as conditions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    True,
    False,
    Abort,
}

impl Condition {
    pub const ALWAYS: u8 = 0;
    pub const NEVER: u8 = 1;
    pub const LAST_RULE: u8 = 5;

    /// How far down the chain the next operation is; `None` if none runs.
    pub const fn follow(self, outcome: Outcome) -> Option<u8> {
        match (self.rule, outcome) {
            (_, Outcome::Abort) | (Self::NEVER, _) => None,
            (Self::ALWAYS, _) | (2 | 4, Outcome::True) | (3 | 5, Outcome::False) => Some(1),
            (4, Outcome::False) | (5, Outcome::True) => Some(self.skips),
            _ => None,
        }
    }
}

impl Outcome {
    /// The result that a `status` value means for conditions (SWCU185F, table 26-14 and those of
    /// IEEE operations).
    pub const fn of(value: u16) -> Self {
        match value {
            status::DONE_OK | status::IEEE_DONE_OK | status::IEEE_DONE_ACK => Self::True,
            status::DONE_COUNTDOWN
            | status::DONE_STOPPED
            | status::DONE_FAILED
            | status::IEEE_DONE_BUSY
            | status::IEEE_DONE_STOPPED
            | status::IEEE_DONE_ACKPEND
            | status::IEEE_DONE_TIMEOUT => Self::False,
            _ => Self::Abort,
        }
    }
}
