//! IEEE Std 802.15.4-2006 frames as radios parse them. Frames begin with their length byte.

/// The frame control field (IEEE Std 802.15.4-2006, 7.2.1.1), and what it implies.
pub struct Header {
    /// 0 beacon, 1 data, 2 acknowledgment, 3 command; others are reserved.
    pub frame_type: u8,
    /// Security enabled.
    pub is_secured: bool,
    /// Acknowledgment request.
    pub wants_acknowledgment: bool,
    /// PAN ID compression.
    pub compresses_pan: bool,
    /// Destination addressing mode: 0 none, 2 short, 3 extended.
    pub to_mode: u8,
    /// Frame version.
    pub version: u8,
    /// Source addressing mode.
    pub from_mode: u8,
}

impl Header {
    /// Parse a frame, which begins with its length byte; three bytes are enough.
    pub fn of(bytes: &[u8]) -> Self {
        let (low, high) = (bytes[1], bytes[2]);
        Self {
            frame_type: low & 7,
            is_secured: low & 8 != 0,
            wants_acknowledgment: low & 0x20 != 0,
            compresses_pan: low & 0x40 != 0,
            to_mode: high >> 2 & 3,
            version: high >> 4 & 3,
            from_mode: high >> 6,
        }
    }

    const fn width(mode: u8) -> usize {
        match mode {
            2 => 2,
            3 => 8,
            _ => 0,
        }
    }

    /// End of the destination addressing fields, counting the length byte.
    pub const fn to_ends(&self) -> usize {
        if self.to_mode == 0 {
            4
        } else {
            6 + Self::width(self.to_mode)
        }
    }

    /// Whether there is a source PAN ID.
    pub const fn has_source_pan(&self) -> bool {
        self.from_mode != 0 && (!self.compresses_pan || self.to_mode == 0)
    }

    /// End of the source addressing fields, counting the length byte.
    pub const fn source_ends(&self) -> usize {
        self.to_ends() + if self.has_source_pan() { 2 } else { 0 } + Self::width(self.from_mode)
    }
}
