//! What an instruction puts on the core's buses, for a model of its power
//! ([`joulemark_kernel::power`]). Pushes and pops, double moves and atomic instructions are left out.

use joulemark_kernel::power::{Glimpse, Transfers};

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::decode::{Kind, SINK};

impl<B: Bus> Core<B> {
    /// What the next instruction will do; `None` where there is none.
    #[cold]
    pub fn glimpse(&mut self) -> Option<Glimpse> {
        let pc = self.pc();
        let mut memories = self.memories.iter_mut();
        let op = memories.find_map(|memory| {
            let at = memory.offset(pc, 2)?;
            memory.op(at)
        })?;
        let of = |register: u8| self.registers[usize::from(register & 31)];
        let mut found = Glimpse {
            address: pc,
            begins: Some(self.now),
            ..Glimpse::default()
        };
        let (width, store) = match op.kind {
            kind if kind >= Kind::Add && kind <= Kind::Remu => {
                let second = (op.rs2 != 0).then(|| of(op.rs2));
                found.operands = [
                    (op.rs1 != 0).then(|| of(op.rs1)),
                    second.or(Some(op.imm as u32)),
                ];
                found.computes = if op.rd == SINK { 0 } else { 1 << op.rd };
                return Some(found);
            }
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                found.operands = [Some(of(op.rs1)), Some(of(op.rs2))];
                return Some(found);
            }
            Kind::Lb | Kind::Lbu => (Width::Byte, false),
            Kind::Lh | Kind::Lhu => (Width::Half, false),
            Kind::Lw => (Width::Word, false),
            Kind::Sb => (Width::Byte, true),
            Kind::Sh => (Width::Half, true),
            Kind::Sw => (Width::Word, true),
            _ => return Some(found),
        };
        found.operands = [Some(of(op.rs1)), store.then(|| of(op.rs2))];
        found.loads = if store || op.rd == SINK {
            0
        } else {
            1 << op.rd
        };
        found.transfers[0] = Transfers {
            address: of(op.rs1).wrapping_add(op.imm as u32),
            bytes: width.bytes() as u8,
            count: 1,
            store,
        };
        Some(found)
    }

    /// The word at an address, where that is memory.
    pub fn memory_word(&self, address: u32) -> Option<u32> {
        let mut memories = self.memories.iter();
        memories.find_map(|memory| {
            let at = memory.offset(address, 4)?;
            Some(memory.read(at, Width::Word))
        })
    }
}
