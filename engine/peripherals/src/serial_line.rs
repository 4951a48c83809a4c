//! Both directions of an asynchronous serial line, shared by UARTs with queues.

use std::collections::VecDeque;

use joulemark_kernel::Cycles;

/// A line with a transmit queue, a shift register, and a receive queue.
#[derive(Clone, Debug)]
pub struct SerialLine {
    transmit_depth: usize,
    receive_depth: usize,
    transmit: VecDeque<u8>,
    shifting: Option<(u8, Cycles)>,
    incoming: VecDeque<u8>,
    arriving: Option<Cycles>,
    received: VecDeque<u8>,
    /// When the last byte arrived.
    last_arrival: Cycles,
    /// A byte was lost for lack of room since this was last cleared.
    pub overrun: bool,
}

impl SerialLine {
    /// Make an idle line with queues of these depths.
    pub const fn new(transmit_depth: usize, receive_depth: usize) -> Self {
        Self {
            transmit_depth,
            receive_depth,
            transmit: VecDeque::new(),
            shifting: None,
            incoming: VecDeque::new(),
            arriving: None,
            received: VecDeque::new(),
            last_arrival: Cycles(0),
            overrun: false,
        }
    }

    /// Change the depths of the queues but keep their contents.
    pub const fn set_depths(&mut self, transmit: usize, receive: usize) {
        self.transmit_depth = transmit;
        self.receive_depth = receive;
    }

    /// Queue bytes that arrive at the chip.
    pub fn put(&mut self, bytes: &[u8]) {
        self.incoming.extend(bytes);
    }

    /// Bring the line up to `now`; a character takes `character` cycles. Call `sent` for each byte
    /// sent, with the end of its stop bit.
    pub fn advance(
        &mut self,
        now: Cycles,
        character: Cycles,
        receiver_on: bool,
        mut sent: impl FnMut(u8, Cycles),
    ) {
        while let Some((byte, end)) = self.shifting.filter(|&(_, end)| end <= now) {
            sent(byte, end);
            self.shifting = self
                .transmit
                .pop_front()
                .map(|next| (next, end + character));
        }
        if !receiver_on {
            self.arriving = None;
            return;
        }
        loop {
            match self.arriving {
                None if self.incoming.is_empty() => break,
                None => self.arriving = Some(now + character),
                Some(at) if at > now => break,
                Some(at) => {
                    if let Some(byte) = self.incoming.pop_front() {
                        if self.received.len() < self.receive_depth {
                            self.received.push_back(byte);
                        } else {
                            self.overrun = true;
                        }
                    }
                    self.last_arrival = at;
                    self.arriving = (!self.incoming.is_empty()).then_some(at + character);
                }
            }
        }
    }

    /// When [`SerialLine::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        let sent = self.shifting.map_or(Cycles::NEVER, |(_, end)| end);
        sent.min(self.arriving.unwrap_or(Cycles::NEVER))
    }

    /// Send a byte; false if the queue is full and the byte is lost.
    pub fn send(&mut self, byte: u8, now: Cycles, character: Cycles) -> bool {
        if self.shifting.is_none() {
            self.shifting = Some((byte, now + character));
            return true;
        }
        let room = self.transmit.len() < self.transmit_depth;
        if room {
            self.transmit.push_back(byte);
        }
        room
    }

    /// Drop the bytes that wait to be sent; the one on the line is completed.
    pub fn drop_queued(&mut self) {
        self.transmit.clear();
    }

    /// Take the oldest received byte.
    pub fn take(&mut self) -> Option<u8> {
        self.received.pop_front()
    }

    /// Number of received bytes that wait.
    pub fn waiting(&self) -> usize {
        self.received.len()
    }

    /// Whether the receive queue is full.
    pub fn is_receive_full(&self) -> bool {
        self.received.len() >= self.receive_depth
    }

    /// Bytes in the transmit queue, without the one on the line.
    pub fn queued(&self) -> usize {
        self.transmit.len()
    }

    /// Whether the transmit queue is full.
    pub fn is_transmit_full(&self) -> bool {
        self.shifting.is_some() && self.transmit.len() >= self.transmit_depth
    }

    /// Whether a byte is on the line.
    pub const fn is_sending(&self) -> bool {
        self.shifting.is_some()
    }

    /// When the last byte arrived.
    pub const fn last_arrival(&self) -> Cycles {
        self.last_arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_come_out_in_order_one_character_apart(
            bytes in proptest::collection::vec(any::<u8>(), 1..40), character in 1_u64..5000,
        ) {
            let mut line = SerialLine::new(64, 64);
            for &byte in &bytes {
                prop_assert!(line.send(byte, Cycles(7), Cycles(character)));
            }
            let mut seen = Vec::new();
            line.advance(Cycles(u64::MAX - 1), Cycles(character), true, |byte, at| seen.push((byte, at.0)));
            let expected: Vec<_> = bytes.iter().zip(1..).map(|(&b, n)| (b, 7 + n * character)).collect();
            prop_assert_eq!(seen, expected);
            prop_assert!(!line.is_sending());
        }

        #[test]
        fn what_arrives_waits_for_the_receiver_and_overruns_a_full_queue(
            bytes in proptest::collection::vec(any::<u8>(), 1..40), depth in 1_usize..32,
        ) {
            let mut line = SerialLine::new(1, depth);
            line.put(&bytes);
            line.advance(Cycles(1_000_000), Cycles(100), false, |_, _| ());
            prop_assert_eq!(line.waiting(), 0);
            line.advance(Cycles(1_000_000), Cycles(100), true, |_, _| ());
            line.advance(Cycles(1_010_000), Cycles(100), true, |_, _| ());
            prop_assert_eq!(line.waiting(), depth.min(bytes.len()));
            prop_assert_eq!(line.overrun, bytes.len() > depth);
            for &byte in bytes.iter().take(depth) {
                prop_assert_eq!(line.take(), Some(byte));
            }
        }
    }
}
