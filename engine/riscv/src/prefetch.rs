//! The instruction prefetch queue and the branch predictor, cycle by cycle.
//!
//! The queue holds addresses' worth of instructions, not their bits: what counts is which halfwords
//! have arrived. Memory answers in the cycle after the request.

/// A fetched word: which of its halfwords are part of the instruction stream (bit 0 is the lower
/// one), and which belong to a branch that was predicted to be taken.
#[derive(Clone, Copy, Default)]
struct Word {
    halves: u8,
    predicted: u8,
}

const BOTH: u8 = 3;
const UPPER: u8 = 2;
/// Words that the queue holds between memory and the decoder.
const DEPTH: u8 = 2;

/// The branch that the predictor remembers: the last taken one that went backwards.
#[derive(Clone, Copy, Default)]
struct Remembered {
    valid: bool,
    address: u32,
    wide: bool,
    target: u32,
}

/// The front end.
#[derive(Default)]
pub(crate) struct Prefetch {
    /// Address of the next word to request.
    next: u32,
    /// The stream enters the next word in its upper halfword, at a predicted target.
    enters_upper: bool,
    /// The last requested word ends with the first half of the remembered branch.
    spans: bool,
    /// The word that arrives in this cycle.
    arriving: Option<Word>,
    queue: [Word; DEPTH as usize],
    queued: u8,
    /// Halfwords that the decoder has, and for each whether it is part of a predicted branch.
    level: u8,
    predicted: u8,
    remembered: Remembered,
    /// The remembered branch is forgotten at the end of this cycle.
    forgets: bool,
}

impl Prefetch {
    /// Halfwords that the decoder has.
    #[inline]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// For each of the decoder's halfwords, whether it is part of a predicted branch.
    #[inline]
    pub fn predicted(&self) -> u8 {
        self.predicted
    }

    /// The target of the remembered branch.
    pub fn target(&self) -> u32 {
        self.remembered.target
    }

    /// Remember a taken branch.
    pub fn remember(&mut self, address: u32, wide: bool, target: u32) {
        self.remembered = Remembered {
            valid: true,
            address,
            wide,
            target,
        };
    }

    /// Forget the remembered branch.
    pub fn forget(&mut self) {
        self.remembered.valid = false;
    }

    /// Forget the remembered branch at the end of the next cycle.
    pub fn forget_next(&mut self) {
        self.forgets = true;
    }

    /// The halfwords that the decoder would have in the next cycle, if control went on behind the
    /// instruction that takes this many.
    pub fn level_behind(&self, taken: u8) -> u8 {
        let left = self.level - taken;
        let head = if self.queued > 0 {
            Some(self.queue[0])
        } else {
            self.arriving
        };
        let count = head.map_or(0, |word| if word.halves == BOTH { 2 } else { 1 });
        if left + count > 3 { left } else { left + count }
    }

    /// A cycle in which the decoder takes this many halfwords.
    #[inline]
    pub fn tick(&mut self, taken: u8) {
        let requests = !(self.queued == DEPTH || self.queued == 1 && self.arriving.is_some());
        self.level -= taken;
        self.predicted >>= taken;
        let arriving = self.arriving.take();
        if self.queued > 0 {
            let head = self.queue[0];
            if self.deliver(head) {
                self.queue[0] = self.queue[1];
                self.queued -= 1;
            }
            if let Some(word) = arriving {
                self.push(word);
            }
        } else if let Some(word) = arriving
            && !self.deliver(word)
        {
            self.push(word);
        }
        if requests {
            self.arriving = Some(self.request());
        }
        if self.forgets {
            self.forgets = false;
            self.forget();
        }
    }

    /// A cycle in which control goes elsewhere. The decoder keeps this many halfwords, those of a
    /// stalled instruction that has jumped.
    #[inline]
    pub fn jump(&mut self, target: u32, kept: u8) {
        self.level = kept;
        self.queued = 0;
        self.enters_upper = false;
        self.spans = false;
        self.next = (target & !3).wrapping_add(4);
        let halves = if target & 2 == 0 { BOTH } else { UPPER };
        self.arriving = Some(Word {
            halves,
            predicted: 0,
        });
    }

    /// Give a word to the decoder, if there is room for it.
    #[inline]
    fn deliver(&mut self, word: Word) -> bool {
        let count = if word.halves == BOTH { 2 } else { 1 };
        if self.level + count > 3 {
            return false;
        }
        let marks = if word.halves == UPPER {
            word.predicted >> 1
        } else {
            word.predicted
        };
        let below = (1 << self.level) - 1;
        self.predicted = self.predicted & below | marks << self.level;
        self.level += count;
        true
    }

    fn push(&mut self, word: Word) {
        debug_assert!(self.queued < DEPTH, "it is not requested without room");
        self.queue[usize::from(self.queued & 1)] = word;
        self.queued += 1;
    }

    /// Request the next word.
    #[inline]
    fn request(&mut self) -> Word {
        let halves = if self.enters_upper { UPPER } else { BOTH };
        let address = self.next;
        self.next = address.wrapping_add(4);
        let branch = &self.remembered;
        let is_here = branch.valid && address >> 2 == branch.address >> 2;
        if !is_here && !self.spans {
            self.enters_upper = false;
            return Word {
                halves,
                predicted: 0,
            };
        }
        self.request_predicted(halves, is_here)
    }

    /// Request a word with part of the remembered branch.
    #[cold]
    fn request_predicted(&mut self, mut halves: u8, is_here: bool) -> Word {
        let branch = self.remembered;
        let in_upper = branch.address & 2 != 0;
        let spans = branch.wide && in_upper;
        // Who enters a word behind a short branch in its lower half has passed it.
        let passed = !branch.wide && !in_upper && self.enters_upper;
        let ends_here = is_here && !spans && !passed || self.spans;
        let predicted = match (is_here, in_upper, branch.wide) {
            (true, true, _) => UPPER,
            (true, false, true) => BOTH,
            (true, false, false) => 1,
            (false, ..) => u8::from(self.spans),
        };
        self.spans = is_here && spans;
        self.enters_upper = false;
        if ends_here {
            // The branch ends in the lower half of this word.
            if in_upper == branch.wide {
                halves &= 1;
            }
            self.next = branch.target & !3;
            self.enters_upper = branch.target & 2 != 0;
        }
        Word { halves, predicted }
    }
}
