//! What an instruction puts on the core's buses, for a model of its power
//! ([`joulemark_kernel::power`]). Instruction words, which come over the same bus, are left out.

use joulemark_kernel::power::{Glimpse, Transfers};

use crate::bus::Bus;
use crate::core::Core;
use crate::decode::{Action, Destination, Source};
use crate::registers::{PC, SP};

impl<B: Bus> Core<B> {
    /// What the next instruction will do; `None` where there is none.
    #[cold]
    pub fn glimpse(&mut self) -> Option<Glimpse> {
        let pc = self.state.registers[PC];
        let instruction = self.fetch(pc).ok()?;
        let bytes = if instruction.byte { 1 } else { 2 };
        let mut found = Glimpse {
            address: pc.into(),
            begins: Some(self.cycles().0),
            ..Glimpse::default()
        };
        let at = |address: u16, store: bool| Transfers {
            address: address.into(),
            bytes,
            count: 1,
            store,
        };
        let below = self.state.registers[SP].wrapping_sub(2);
        match instruction.action {
            Action::Double(operation, source, destination) => {
                let (from, value) = self.located(source);
                let (to, before) = match destination {
                    Destination::Register(register) => self.located(Source::Register(register)),
                    Destination::Indexed(base, offset) => {
                        self.located(Source::Indexed(base, offset))
                    }
                    Destination::Absolute(address) => self.located(Source::Absolute(address)),
                };
                let reads = operation != crate::alu::Double::Mov;
                found.operands = [reads.then_some(before), Some(value)];
                if let Some(from) = from {
                    found.transfers[0] = at(from, false);
                }
                if let Some(to) = to {
                    if reads {
                        found.transfers[1] = at(to, false);
                    }
                    if operation.writes() {
                        found.transfers[2] = at(to, true);
                    }
                } else if let Destination::Register(register) = destination
                    && operation.writes()
                    && usize::from(register) != PC
                {
                    // A move from memory loads its register.
                    if from.is_some() && !reads {
                        found.loads = 1 << register;
                    } else {
                        found.computes = 1 << register;
                    }
                }
                if let Source::Autoincrement(base, _) = source {
                    found.computes |= 1 << base & !found.loads;
                }
            }
            Action::Single(_, source) => {
                let (from, value) = self.located(source);
                found.operands = [None, Some(value)];
                if let Some(from) = from {
                    found.transfers[0] = at(from, false);
                    found.transfers[1] = at(from, true);
                } else if let Source::Register(register) = source {
                    found.computes = 1 << register;
                }
            }
            Action::Push(source) => {
                let (from, value) = self.located(source);
                found.operands = [None, Some(value)];
                if let Some(from) = from {
                    found.transfers[0] = at(from, false);
                }
                found.transfers[1] = at(below, true);
            }
            Action::Call(_) | Action::Reti | Action::Jump(..) => {}
        }
        Some(found)
    }

    /// Where an operand is in memory, and its value.
    fn located(&self, source: Source) -> (Option<u16>, u32) {
        let register = |number: u8| self.state.registers[usize::from(number)];
        let address = match source {
            Source::Constant(value) => return (None, value.into()),
            Source::Register(number) => return (None, register(number).into()),
            Source::Indexed(base, offset) => register(base).wrapping_add(offset),
            Source::Absolute(address) => address,
            Source::Indirect(base) | Source::Autoincrement(base, _) => register(base),
        };
        (Some(address), self.memory_word(address.into()).unwrap_or(0))
    }

    /// The word at an address, where that is memory.
    pub fn memory_word(&self, address: u32) -> Option<u32> {
        let address = address as u16;
        let is_memory = self.state.is_ram(address) || self.state.is_flash(address);
        is_memory.then(|| self.state.word(address).into())
    }
}
