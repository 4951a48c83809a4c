//! The instruction prefetch queue and the branch predictor, cycle by cycle.
//!
//! The queue holds addresses' worth of instructions, not their bits: what counts is which halfwords
//! have arrived. Memory answers in the cycle after the request.

/// A fetched word: which of its halfwords are part of the instruction stream (bit 0 is the lower
/// one), and which belong to a branch that was predicted to be taken.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Word {
    halves: u8,
    predicted: u8,
}

const BOTH: u8 = 3;
const UPPER: u8 = 2;
/// Words that the queue holds between memory and the decoder.
const DEPTH: u8 = 2;

/// The branch that the predictor remembers: the last taken one that went backwards.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Remembered {
    address: u32,
    wide: bool,
    target: u32,
}

/// What the front end holds while nothing in it is predicted, in eight bits: the decoder's halfwords;
/// which halves of the arriving word, and of the first and second in the queue, belong to the stream
/// (0 for no word).
type Plain = u8;

const ARRIVING: u32 = 2;
const FIRST: u32 = 4;
const SECOND: u32 = 6;

/// The next state, by how many halfwords the decoder takes, and by state. It requests a word if one is
/// arriving then.
static NEXT: [[Plain; 256]; 3] = [next_states(0), next_states(1), next_states(2)];

const fn next_states(taken: u8) -> [Plain; 256] {
    let mut states = [0; 256];
    let mut state = 0;
    while state < 256 {
        states[state] = next_state(state as Plain, taken);
        state += 1;
    }
    states
}

const fn arriving(state: Plain) -> u8 {
    state >> ARRIVING & 3
}

const fn next_state(state: Plain, taken: u8) -> Plain {
    let (arriving, first, second) = (
        state >> ARRIVING & 3,
        state >> FIRST & 3,
        state >> SECOND & 3,
    );
    let requests = second == 0 && (first == 0 || arriving == 0);
    let mut level = (state & 3).saturating_sub(taken);
    let head = if first != 0 { first } else { arriving };
    let count = if head == BOTH { 2 } else { (head != 0) as u8 };
    let is_delivered = head != 0 && level + count <= 3;
    if is_delivered {
        level += count;
    }
    let (mut first, mut second, mut left) = (first, second, arriving);
    if is_delivered && first != 0 {
        (first, second) = (second, 0);
    } else if is_delivered {
        left = 0;
    }
    if left != 0 {
        if first == 0 {
            first = left;
        } else {
            second = left;
        }
    }
    let arriving = if requests { BOTH } else { 0 };
    level | arriving << ARRIVING | first << FIRST | second << SECOND
}

/// No word's number: nothing is remembered.
const NOWHERE: u32 = u32::MAX;

/// The front end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Prefetch {
    /// What it holds, if nothing in it is predicted; `None`: that is in the fields below.
    plain: Option<Plain>,
    /// Address of the next word to request.
    next: u32,
    /// The number of the word in which the remembered branch begins.
    branch_word: u32,
    /// Halfwords that the decoder has, and for each whether it is part of a predicted branch.
    level: u8,
    predicted: u8,
    /// The stream enters the next word in its upper halfword, at a predicted target.
    enters_upper: bool,
    /// The last requested word ends with the first half of the remembered branch.
    spans: bool,
    /// The word that arrives in this cycle.
    arriving: Option<Word>,
    queue: [Word; DEPTH as usize],
    queued: u8,
    remembered: Remembered,
    /// The remembered branch is forgotten at the end of this cycle.
    forgets: bool,
}

impl Default for Prefetch {
    fn default() -> Self {
        Self {
            plain: Some(0),
            next: 0,
            branch_word: NOWHERE,
            level: 0,
            predicted: 0,
            enters_upper: false,
            spans: false,
            arriving: None,
            queue: [Word::default(); DEPTH as usize],
            queued: 0,
            remembered: Remembered::default(),
            forgets: false,
        }
    }
}

impl Prefetch {
    /// The same without what is left over of earlier cycles and decides nothing.
    pub fn settled(&self) -> Self {
        let mut settled = *self;
        if self.plain.is_some() {
            let remembered = if self.branch_word == NOWHERE {
                Remembered::default()
            } else {
                self.remembered
            };
            settled = Self {
                plain: self.plain,
                next: self.next,
                branch_word: self.branch_word,
                level: self.level,
                remembered,
                ..Self::default()
            };
        }
        settled.queue[usize::from(settled.queued)..].fill(Word::default());
        settled
    }

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
        self.branch_word = address >> 2;
        self.remembered = Remembered {
            address,
            wide,
            target,
        };
    }

    /// Forget the remembered branch.
    pub fn forget(&mut self) {
        self.branch_word = NOWHERE;
    }

    /// Forget the remembered branch at the end of the next cycle.
    pub fn forget_next(&mut self) {
        self.forgets = true;
        self.spread();
    }

    /// The halfwords that the decoder would have in the next cycle, if control went on behind the
    /// instruction that takes this many.
    pub fn level_behind(&mut self, taken: u8) -> u8 {
        self.spread();
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
        if let Some(state) = self.plain {
            let state = NEXT[usize::from(taken % 3)][usize::from(state)];
            if arriving(state) == 0 {
                self.plain = Some(state);
                self.level = state & 3;
                return;
            }
            if self.next >> 2 != self.branch_word {
                self.next = self.next.wrapping_add(4);
                self.plain = Some(state);
                self.level = state & 3;
                return;
            }
        }
        self.tick_predicted(taken);
    }

    /// The same where something is predicted.
    #[cold]
    fn tick_predicted(&mut self, taken: u8) {
        self.spread();
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
        self.gather();
    }

    /// Hold all in the fields.
    fn spread(&mut self) {
        let Some(state) = self.plain.take() else {
            return;
        };
        let word = |place: u32| {
            let halves = state >> place & 3;
            Word {
                halves,
                predicted: 0,
            }
        };
        let arriving = word(ARRIVING);
        self.arriving = (arriving.halves != 0).then_some(arriving);
        self.queue = [word(FIRST), word(SECOND)];
        self.queued = self
            .queue
            .iter()
            .map(|word| u8::from(word.halves != 0))
            .sum();
        (self.predicted, self.enters_upper, self.spans) = (0, false, false);
    }

    /// Hold all in eight bits, if nothing is predicted.
    fn gather(&mut self) {
        let queued = &self.queue[..usize::from(self.queued)];
        let words = self.arriving.iter().chain(queued);
        let marks = words.fold(self.predicted, |marks, word| marks | word.predicted);
        if marks != 0 || self.enters_upper || self.spans || self.forgets {
            return;
        }
        let halves = |word: Option<&Word>| word.map_or(0, |word| word.halves);
        self.plain = Some(
            self.level
                | halves(self.arriving.as_ref()) << ARRIVING
                | halves(queued.first()) << FIRST
                | halves(queued.get(1)) << SECOND,
        );
    }

    /// A cycle in which control goes elsewhere. The decoder keeps this many halfwords, those of a
    /// stalled instruction that has jumped.
    #[inline]
    pub fn jump(&mut self, target: u32, kept: u8) {
        if std::mem::take(&mut self.forgets) {
            self.forget();
        }
        self.level = kept;
        self.next = (target & !3).wrapping_add(4);
        let halves = if target & 2 == 0 { BOTH } else { UPPER };
        if kept == 0 {
            self.predicted = 0;
            self.plain = Some(halves << ARRIVING);
            return;
        }
        self.spread();
        self.queued = 0;
        self.enters_upper = false;
        self.spans = false;
        self.arriving = Some(Word {
            halves,
            predicted: 0,
        });
        self.gather();
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
        let is_here = address >> 2 == self.branch_word;
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
