//! How long instructions take on the cores that there are.

/// Differences between the cores of this architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Cycles of MLA and MLS.
    pub multiply_accumulate: u8,
    /// Cycles of UMULL and its kin; 0 where they depend on the operands.
    pub long_multiply: u8,
    /// Cycles of DSB and DMB.
    pub barrier: u8,
    /// A Cortex-M4, with its DSP instructions.
    pub cortex_m4: bool,
    /// With the floating-point extension, FPv4-SP.
    pub float: bool,
    /// Major revision of the core. From 2 on there is ACTLR, which can turn the write buffer off
    /// (DDI 0337I, section 4.1), and LSUCNT counts the cycles after which a load or store was the
    /// last to enter execute; before, those in which execute works on one.
    pub revision: u8,
}

impl Timing {
    /// Cortex-M3 r2p0 and later (ARM DDI 0337G, table 18-1).
    pub const CORTEX_M3: Self = Self {
        multiply_accumulate: 2,
        long_multiply: 0,
        barrier: 1,
        cortex_m4: false,
        float: false,
        revision: 2,
    };

    /// Cortex-M4 (ARM DDI 0439B, table 3-1).
    pub const CORTEX_M4: Self = Self {
        multiply_accumulate: 1,
        long_multiply: 1,
        cortex_m4: true,
        ..Self::CORTEX_M3
    };

    /// Cortex-M4 with its floating-point unit.
    pub const CORTEX_M4F: Self = Self {
        float: true,
        ..Self::CORTEX_M4
    };

    /// Cortex-M3 r1p1.
    pub const CORTEX_M3_R1: Self = Self {
        revision: 1,
        ..Self::CORTEX_M3
    };
}
