//! Symbol tables: names of addresses.

use std::collections::BTreeMap;

/// A function and its address range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// First address.
    pub start: u32,
    /// First address after the function.
    pub end: u32,
}

/// A variable: where it is, and how large. Static variables of several files may share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its address.
    pub address: u32,
    /// Its size in bytes; 0 if the file does not say.
    pub size: u32,
    /// Whether another one has the same name.
    pub is_shared: bool,
}

/// A symbol table.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    addresses: BTreeMap<String, u32>,
    /// Names that a linker script or an assembler gives to numbers, which are no places.
    numbers: BTreeMap<String, u32>,
    variables: BTreeMap<String, Variable>,
    functions: Vec<Function>,
}

impl Symbols {
    /// Add a symbol, which counts as a function if it may be executed; call [`Symbols::finish`] after
    /// the last one.
    pub fn insert(&mut self, name: &str, address: u32, size: u32, function: bool) {
        self.addresses.insert(name.to_owned(), address);
        if function {
            self.functions.push(Function {
                name: name.to_owned(),
                start: address,
                end: address.saturating_add(size),
            });
        }
    }

    /// Add a name of a number, such as a size that a linker script computes.
    pub fn insert_number(&mut self, name: &str, number: u32) {
        self.numbers.insert(name.to_owned(), number);
    }

    /// Note that a symbol is a variable.
    pub fn insert_variable(&mut self, name: &str, address: u32, size: u32) {
        let variable = Variable {
            address,
            size,
            is_shared: false,
        };
        let place = self.variables.entry(name.to_owned()).or_insert(variable);
        place.is_shared |= *place != variable;
    }

    /// Look up a variable.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        self.variables.get(name).copied()
    }

    /// Sort the functions, keep one per address, and extend those without a size (assembly without
    /// `.size`) to the next function.
    pub fn finish(&mut self) {
        self.functions
            .sort_by(|a, b| (a.start, b.end, &a.name).cmp(&(b.start, a.end, &b.name)));
        self.functions.dedup_by_key(|function| function.start);
        let starts: Vec<u32> = self.functions.iter().map(|f| f.start).collect();
        for (function, next) in self.functions.iter_mut().zip(starts.into_iter().skip(1)) {
            if function.end == function.start || function.end > next {
                function.end = next;
            }
        }
        if let Some(last) = self.functions.last_mut()
            && last.end == last.start
        {
            last.end = last.start.saturating_add(2);
        }
    }

    /// Whether there are no symbols.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty() && self.numbers.is_empty()
    }

    /// All names of places and their addresses.
    pub fn addresses(&self) -> &BTreeMap<String, u32> {
        &self.addresses
    }

    /// All functions by rising address, without overlaps; constants are among them, as some are code.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Look up a symbol's address, or its number.
    pub fn address(&self, name: &str) -> Option<u32> {
        let place = self.addresses.get(name);
        place.or_else(|| self.numbers.get(name)).copied()
    }

    /// Find the function that contains an address.
    pub fn function_at(&self, address: u32) -> Option<&Function> {
        let after = self.functions.partition_point(|f| f.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (address < function.end).then_some(function)
    }

    /// Find the nearest symbol at or below an address, preferring the function that contains it.
    pub fn nearest(&self, address: u32) -> Option<(&str, u32)> {
        if let Some(function) = self.function_at(address) {
            return Some((&function.name, address - function.start));
        }
        self.addresses
            .iter()
            .filter(|&(_, &at)| at <= address && at != 0)
            .max_by_key(|&(_, &at)| at)
            .map(|(name, &at)| (name.as_str(), address - at))
    }

    /// Suggest up to three similar names.
    pub fn near(&self, name: &str) -> Vec<&str> {
        let lower = name.to_lowercase();
        let mut scored: Vec<(usize, &str)> = self
            .addresses
            .keys()
            .chain(self.numbers.keys())
            .filter_map(|known| {
                let known_lower = known.to_lowercase();
                let distance = strsim::levenshtein(&lower, &known_lower);
                let close = distance <= 1 + lower.len() / 4;
                let contained = lower.len() >= 3 && known_lower.contains(&lower);
                (close || contained).then_some((distance, known.as_str()))
            })
            .collect();
        scored.sort_unstable();
        scored.into_iter().take(3).map(|(_, known)| known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        let mut symbols = Symbols::default();
        symbols.insert("aes_encrypt", 0x4000, 0x40, true);
        symbols.insert("aes_decrypt", 0x4040, 0, true);
        symbols.insert("main", 0x4100, 0x10, true);
        symbols.insert("alias_of_main", 0x4100, 0, true);
        symbols.insert("table", 0x5000, 0x100, false);
        symbols.finish();
        symbols
    }

    #[test]
    fn functions_have_ranges_without_overlaps() {
        let symbols = symbols();
        let at = |address| symbols.function_at(address).map(|f| f.name.as_str());
        assert_eq!(at(0x3fff), None);
        assert_eq!(at(0x4000), Some("aes_encrypt"));
        assert_eq!(at(0x403f), Some("aes_encrypt"));
        // Without a size, it extends to the next function.
        assert_eq!(at(0x40ff), Some("aes_decrypt"));
        assert_eq!(at(0x410f), Some("main"));
        assert_eq!(at(0x4110), None);
        assert_eq!(symbols.nearest(0x5010), Some(("table", 0x10)));
    }

    #[test]
    fn a_misspelt_name_is_answered_with_near_ones() {
        let symbols = symbols();
        assert_eq!(symbols.near("aes_encrpt"), ["aes_encrypt", "aes_decrypt"]);
        assert_eq!(symbols.near("MAIN"), ["main", "alias_of_main"]);
        assert!(symbols.near("zzz").is_empty());
    }
}
