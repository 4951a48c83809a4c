//! Values that come back are kept once and named by a number: what a core's pipeline found out of one
//! state is looked up the next time it is in it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

/// A map whose keys nobody chooses to collide.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// A fast hash.
#[derive(Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// No value has this number.
pub const NONE: u32 = u32::MAX;

/// Values, and their numbers from 0 on.
pub struct Numbers<T> {
    /// Each with the number of another that has the same hash.
    values: Vec<(T, u32)>,
    by_hash: Map<u64, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            by_hash: Map::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> Numbers<T> {
    /// The number of a value, a new one if it is new.
    pub fn number(&mut self, value: &T) -> u32 {
        let hash = BuildHasherDefault::<Mixer>::default().hash_one(value);
        let first = self.by_hash.get(&hash).copied().unwrap_or(NONE);
        let mut number = first;
        while number != NONE {
            let (other, next) = &self.values[number as usize];
            if other == value {
                return number;
            }
            number = *next;
        }
        let number = self.values.len() as u32;
        self.values.push((*value, first));
        self.by_hash.insert(hash, number);
        number
    }

    /// The value of a number.
    pub fn value(&self, number: u32) -> T {
        self.values[number as usize].0
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_number_whatever_it_collides_with() {
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct Colliding(u32);
        impl Hash for Colliding {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u32(self.0 & 1);
            }
        }
        let mut numbers = Numbers::default();
        for _ in 0..2 {
            for value in 0..10 {
                assert_eq!(numbers.number(&Colliding(value)), value);
            }
        }
        assert_eq!(numbers.count(), 10);
        assert!(numbers.value(7) == Colliding(7));
    }
}
