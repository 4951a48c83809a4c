//! Digital I/O (chapter 9).

/// Eight pins; ports 1 and 2 also have edge flags.
#[derive(Clone, Debug, Default)]
pub struct Port {
    out: u8,
    dir: u8,
    sel: u8,
    ie: u8,
    ies: u8,
    ifg: u8,
    /// Levels driven by the board.
    external: u8,
    /// Levels driven by peripherals, on pins that select them.
    function: u8,
    /// Pins whose peripheral function is an output.
    function_outputs: u8,
    level: u8,
}

impl Port {
    /// Make a port in which peripherals can drive these pins.
    pub fn with_function_outputs(function_outputs: u8) -> Self {
        Self {
            function_outputs,
            ..Self::default()
        }
    }

    /// Recompute the pins' levels; return the pins that changed.
    fn refresh(&mut self) -> u8 {
        let by_function = self.sel & self.function_outputs & self.dir;
        let by_output = self.dir & !by_function;
        let level = self.function & by_function
            | self.out & by_output
            | self.external & !by_function & !by_output;
        let changed = level ^ self.level;
        self.level = level;
        // PxIES 0 selects the rising edge; a pin in its peripheral function sets no flag (section
        // 9.2.5).
        let edges = changed & (level ^ self.ies);
        self.ifg |= edges & !self.sel;
        changed
    }

    /// `PxIN`: the pins' levels.
    pub fn pxin(&self) -> u8 {
        self.level
    }

    /// `PxOUT`.
    pub fn pxout(&self) -> u8 {
        self.out
    }

    /// `PxDIR`.
    pub fn pxdir(&self) -> u8 {
        self.dir
    }

    /// `PxSEL`.
    pub fn pxsel(&self) -> u8 {
        self.sel
    }

    /// `PxIE`.
    pub fn pxie(&self) -> u8 {
        self.ie
    }

    /// `PxIES`.
    pub fn pxies(&self) -> u8 {
        self.ies
    }

    /// `PxIFG`.
    pub fn pxifg(&self) -> u8 {
        self.ifg
    }

    /// Write `PxOUT`; return the pins that changed.
    pub fn set_pxout(&mut self, value: u8) -> u8 {
        self.out = value;
        self.refresh()
    }

    /// Write `PxDIR`; return the pins that changed.
    pub fn set_pxdir(&mut self, value: u8) -> u8 {
        self.dir = value;
        self.refresh()
    }

    /// Write `PxSEL`; return the pins that changed.
    pub fn set_pxsel(&mut self, value: u8) -> u8 {
        self.sel = value;
        self.refresh()
    }

    /// Write `PxIE`.
    pub fn set_pxie(&mut self, value: u8) {
        self.ie = value;
    }

    /// Write `PxIES`. Section 9.2.5 only says that a write "can" set a flag; here it sets none.
    pub fn set_pxies(&mut self, value: u8) {
        self.ies = value;
    }

    /// Write `PxIFG`, through which software may also set a flag.
    pub fn set_pxifg(&mut self, value: u8) {
        self.ifg = value;
    }

    /// Let the board drive a pin; return the pins that changed.
    pub fn drive(&mut self, bit: u8, high: bool) -> u8 {
        self.external = self.external & !(1 << bit) | u8::from(high) << bit;
        self.refresh()
    }

    /// Let a peripheral drive its pin; return the pins that changed.
    pub fn drive_function(&mut self, bit: u8, high: bool) -> u8 {
        self.function = self.function & !(1 << bit) | u8::from(high) << bit;
        self.refresh()
    }

    /// Whether an enabled flag is set.
    pub fn is_pending(&self) -> bool {
        self.ifg & self.ie != 0
    }
}
