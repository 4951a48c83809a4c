//! The prefetch queue: three words between the bus and decode (TRM, section 1.2.1).
//!
//! Two halfwords are at the *head*, where decode sees them; four can wait behind. Only how many
//! there are matters here, and which of them look like an IT instruction.

use std::hash::{Hash, Hasher};

use crate::op::is_wide;
use crate::traits::looks_like_it;

/// How the queue moves in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Fill the head where there is room.
    Fill,
    /// A branch that decode resolved waits in the head while execute is busy.
    Hold {
        /// It is still in decode.
        waiting: bool,
    },
    /// One halfword was consumed.
    One,
    /// Two halfwords were consumed.
    Two,
    /// A branch was taken: the head starts with what was fetched after it.
    Branch,
}

const HALVES: u8 = 6;
const BEHIND: u8 = 4;

/// Properties of a halfword that decode sees before decoding it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Look {
    it: bool,
    wide: bool,
}

/// The storage of the queue as a ring. Halfwords stay in it after they were consumed, and decode
/// looks at the second one of its head without asking whether it is still valid: an IT that is long
/// gone can keep an instruction from pairing (seen in `control_flow/it_pipeline` and `it_fold`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Ring {
    slots: [Look; HALVES as usize],
    head: u8,
    tail: u8,
    branch_pending: bool,
}

impl Ring {
    fn push(&mut self, look: Look) {
        self.slots[self.tail as usize] = look;
        self.tail = (self.tail + 1) % HALVES;
    }

    fn pop(&mut self) {
        self.head = (self.head + 1) % HALVES;
    }

    fn first_two(&self) -> (Look, Look) {
        (
            self.slots[self.head as usize],
            self.slots[((self.head + 1) % HALVES) as usize],
        )
    }

    /// A branch that waits is out of the way of what is fetched after it.
    fn set_branch_aside(&mut self) {
        if self.branch_pending {
            let (first, second) = self.first_two();
            self.slots[(HALVES - 2) as usize] = first;
            self.slots[(HALVES - 1) as usize] = second;
            self.head = HALVES - 2;
            self.tail = 0;
            self.branch_pending = false;
        }
    }

    fn start_again(&mut self) {
        self.head = 0;
        self.tail = 0;
        self.branch_pending = false;
    }
}

/// The queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Prefetch {
    head: u8,
    behind: u8,
    /// Halfwords that came from the bus, and whether the first is before the branch target.
    incoming: Option<(Word, bool)>,
    /// Words that were asked for.
    in_flight: u8,
    ring: Ring,
    keeps_stale: bool,
    target_is_odd_half: bool,
    /// A late branch: nothing counts until its target is known.
    blocked: bool,
}

impl Hash for Prefetch {
    /// Of what tells most states apart.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let counts = [
            self.head,
            self.behind,
            self.in_flight,
            self.ring.head << 4 | self.ring.tail,
        ];
        u32::from_le_bytes(counts).hash(hasher);
    }
}

/// A fetched word as decode sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word([Look; 2]);

impl Word {
    pub fn of(low: u16, high: u16) -> Self {
        let look = |half| Look {
            it: looks_like_it(half),
            wide: is_wide(half),
        };
        Self([look(low), look(high)])
    }
}

impl Prefetch {
    pub fn head(&self) -> u8 {
        self.head
    }

    /// Halfwords that are there.
    pub fn filled(&self) -> u8 {
        let incoming = self.incoming.map_or(0, |(_, skip)| 2 - u8::from(skip));
        self.head + self.behind + incoming
    }

    /// Halfwords that are there or will come; a head that is not empty counts as a whole word.
    fn allocated(&self) -> u8 {
        2 * (u8::from(self.head != 0) + self.in_flight) + self.behind
    }

    pub fn has_room(&self) -> bool {
        self.allocated() + 2 <= HALVES
    }

    /// Whether one more word would fit after this shift.
    pub fn would_fit(&self, shift: Shift) -> bool {
        let freed = match shift {
            Shift::One => {
                if self.head == 1 {
                    2
                } else {
                    1
                }
            }
            Shift::Two | Shift::Branch => 2,
            Shift::Fill => 2 - self.head,
            Shift::Hold { .. } => 0,
        };
        self.allocated().saturating_sub(freed) <= BEHIND
    }

    /// More was asked for than fits.
    pub fn overfull(&self) -> bool {
        let incoming = self.incoming.map_or(0, |(_, skip)| 2 - u8::from(skip));
        self.allocated() + incoming > HALVES
    }

    pub fn reserve(&mut self) {
        self.in_flight += 1;
    }

    pub fn unreserve(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A word has come.
    pub fn arrive(&mut self, word: Word, skip: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.incoming = Some((word, skip));
    }

    /// A word has come that a branch made useless.
    pub fn arrive_stale(&mut self, word: Word) {
        if self.keeps_stale {
            self.ring.push(word.0[0]);
            self.ring.push(word.0[1]);
        }
    }

    /// A branch: forget what is behind the head.
    pub fn branch(&mut self) {
        if self.blocked {
            self.keeps_stale = false;
        } else {
            self.ring.branch_pending = true;
            self.keeps_stale = true;
        }
        self.behind = 0;
        self.in_flight = 0;
        self.blocked = false;
    }

    /// The branch that was speculated on is taken.
    pub fn confirm(&mut self, held: bool) {
        self.branch();
        if held {
            self.ring.set_branch_aside();
        }
        self.keeps_stale = false;
    }

    /// A branch whose target is not known yet: forget everything.
    pub fn block(&mut self) {
        self.branch();
        self.blocked = true;
        self.head = 0;
    }

    /// An exception: the same, with a word that has come and was not put in place.
    pub fn abandon(&mut self) {
        if let Some((word, _)) = self.incoming.take() {
            self.ring.push(word.0[0]);
            self.ring.push(word.0[1]);
        }
        self.block();
    }

    /// The second halfword at the head looks like IT and the first is a 16-bit instruction, valid
    /// or not.
    pub fn tainted(&self) -> bool {
        let (first, second) = self.ring.first_two();
        second.it && !first.wide
    }

    pub fn second_looks_like_it(&self) -> bool {
        self.ring.first_two().1.it
    }

    pub fn shift(&mut self, shift: Shift) {
        if self.blocked {
            return;
        }
        if self.ring.branch_pending {
            if shift == (Shift::Hold { waiting: true }) {
                self.ring.set_branch_aside();
            } else {
                self.ring.start_again();
            }
        }
        match shift {
            Shift::One => {
                self.ring.pop();
                self.head = self.head.saturating_sub(1);
            }
            Shift::Two => {
                self.ring.pop();
                self.ring.pop();
                self.head = 0;
            }
            Shift::Branch => {
                self.ring.head = 0;
                self.head = 0;
            }
            Shift::Fill | Shift::Hold { .. } => {}
        }
        let holds = matches!(shift, Shift::Hold { .. });
        if let Some((word, skip)) = self.incoming.take() {
            self.ring.push(word.0[0]);
            self.ring.push(word.0[1]);
            self.target_is_odd_half |= skip;
            self.behind += 2 - u8::from(skip);
        }
        if !holds {
            let moved = (2 - self.head).min(self.behind);
            self.head += moved;
            self.behind -= moved;
            if self.target_is_odd_half {
                self.target_is_odd_half = false;
                self.ring.pop();
            }
        }
        self.keeps_stale = false;
    }
}
