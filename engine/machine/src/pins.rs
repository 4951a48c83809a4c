//! Pins of a chip, and what they are called.

/// A pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// 0 for the first port.
    pub port: usize,
    /// 0 for the port's first pin.
    pub bit: usize,
}

/// The pins that a chip has.
#[derive(Clone, Copy, Debug)]
pub struct PinNames {
    /// Pins of each port.
    pub counts: &'static [usize],
    /// Name of a pin.
    pub name: fn(Pin) -> &'static str,
}

impl PinNames {
    /// Name of a pin.
    pub fn name(&self, pin: Pin) -> &'static str {
        (self.name)(pin)
    }

    /// A pin by its name, in letters of either case.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn parse(&self, name: &str) -> Result<Pin, String> {
        let ports = self.counts.iter().enumerate();
        ports
            .flat_map(|(port, &count)| (0..count).map(move |bit| Pin { port, bit }))
            .find(|&pin| self.name(pin).eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("no pin '{name}'; pins are {}", self.range()))
    }

    fn range(&self) -> String {
        let last = self.counts.len() - 1;
        let end = Pin {
            port: last,
            bit: self.counts[last] - 1,
        };
        let start = Pin { port: 0, bit: 0 };
        format!("{} to {}", self.name(start), self.name(end))
    }
}
