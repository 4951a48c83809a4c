//! A chip's pins and their names.

/// A pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Port index, from 0.
    pub port: usize,
    /// Pin index in the port, from 0.
    pub bit: usize,
}

/// A chip's pins.
#[derive(Clone, Debug)]
pub struct PinNames {
    /// Number of pins of each port.
    pub counts: Vec<usize>,
    /// Returns a pin's name.
    pub name: fn(Pin) -> &'static str,
}

impl PinNames {
    /// Return a pin's name.
    pub fn name(&self, pin: Pin) -> &'static str {
        (self.name)(pin)
    }

    /// Find a pin by name, ignoring case.
    ///
    /// # Errors
    /// There is no pin of that name.
    pub fn parse(&self, name: &str) -> Result<Pin, String> {
        let ports = self.counts.iter().enumerate();
        ports
            .flat_map(|(port, &count)| (0..count).map(move |bit| Pin { port, bit }))
            .find(|&pin| self.name(pin).eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("no pin '{name}'; pins are {}", self.range()))
    }

    fn range(&self) -> String {
        let Some(last) = self.counts.iter().rposition(|&count| count > 0) else {
            return "none".into();
        };
        let end = Pin {
            port: last,
            bit: self.counts[last] - 1,
        };
        let start = Pin { port: 0, bit: 0 };
        format!("{} to {}", self.name(start), self.name(end))
    }
}
