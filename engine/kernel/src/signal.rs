//! What surrounds a board, over time: a temperature, a light, a voltage at a pin.

use std::sync::Arc;

use crate::Picoseconds;

/// A quantity over time, in millionths of its unit: straight lines between points, and constant
/// before the first and behind the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    points: Arc<[(Picoseconds, i64)]>,
}

impl Signal {
    /// A quantity that stays as it is.
    pub fn constant(value: i64) -> Self {
        Self {
            points: Arc::new([(Picoseconds(0), value)]),
        }
    }

    /// A quantity through points.
    ///
    /// # Errors
    /// There is no point, or a time is not behind the one before it.
    pub fn through(points: Vec<(Picoseconds, i64)>) -> Result<Self, String> {
        if points.is_empty() {
            return Err("it has no value".into());
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(format!(
                "its times do not rise: {} ps comes after {} ps",
                pair[1].0.0, pair[0].0.0
            ));
        }
        Ok(Self {
            points: points.into(),
        })
    }

    /// The value at a time.
    pub fn at(&self, now: Picoseconds) -> i64 {
        let behind = self.points.partition_point(|&(at, _)| at <= now);
        let Some(&(from, value)) = behind.checked_sub(1).and_then(|i| self.points.get(i)) else {
            return self.points[0].1;
        };
        let Some(&(to, next)) = self.points.get(behind) else {
            return value;
        };
        let (gone, span) = (i128::from(now.0 - from.0), i128::from(to.0 - from.0));
        value + (i128::from(next - value) * gone / span) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_from_point_to_point() {
        let points = vec![(Picoseconds(10), 100), (Picoseconds(20), -100)];
        let signal = Signal::through(points).expect("its times rise");
        let values = [0, 10, 15, 19, 20, 99].map(|at| signal.at(Picoseconds(at)));
        assert_eq!(values, [100, 100, 0, -80, -100, -100]);
        assert_eq!(Signal::constant(7).at(Picoseconds(3)), 7);
    }

    #[test]
    fn times_must_rise() {
        for points in [vec![], vec![(Picoseconds(1), 0), (Picoseconds(1), 0)]] {
            assert!(Signal::through(points).is_err());
        }
    }

    #[test]
    fn no_value_overflows() {
        let points = vec![(Picoseconds(0), -1 << 62), (Picoseconds(u64::MAX), 1 << 61)];
        let signal = Signal::through(points).expect("its times rise");
        assert!((-1 << 62..=1 << 61).contains(&signal.at(Picoseconds(u64::MAX / 2))));
    }
}
