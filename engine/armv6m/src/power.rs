//! What an instruction puts on the core's buses, for a model of its power
//! ([`joulemark_kernel::power`]).

use joulemark_armv7m::Width;
use joulemark_kernel::power::{Glimpse, Transfers};

use crate::core::{Core, PC, SP};
use crate::decode::{Kind, Op, ZERO};
use joulemark_armv7m::Bus;

impl<B: Bus> Core<B> {
    /// What the next instruction will do; `None` where there is none.
    #[cold]
    pub fn glimpse(&mut self) -> Option<Glimpse> {
        let pc = self.pc;
        let mut memories = self.memories.iter_mut();
        let op = memories.find_map(|memory| {
            let at = memory.offset(pc, 2)?;
            memory.decode(at)
        })?;
        let (transfers, loads) = self.transfers(&op);
        Some(Glimpse {
            address: pc,
            begins: Some(self.now),
            operands: self.operands(&op),
            computes: computed(&op) & !loads,
            transfers: [transfers, Transfers::default(), Transfers::default()],
            loads,
        })
    }

    fn operands(&self, op: &Op) -> [Option<u32>; 2] {
        let of = |register: u8| (register != ZERO).then(|| self.r[usize::from(register)]);
        let first = of(op.rn);
        let second = of(op.rm).or(Some(op.imm));
        match op.kind {
            Kind::Mov
            | Kind::MovAny
            | Kind::Mvn
            | Kind::Sxth
            | Kind::Sxtb
            | Kind::Uxth
            | Kind::Uxtb
            | Kind::Rev
            | Kind::Rev16
            | Kind::Revsh
            | Kind::Bx
            | Kind::Blx => [None, second],
            Kind::LslBy | Kind::LsrBy | Kind::AsrBy | Kind::RorBy | Kind::Adc | Kind::Sbc => {
                [of(op.rd), second]
            }
            Kind::Str | Kind::Strh | Kind::Strb if op.rm == ZERO => [first, of(op.rd)],
            Kind::Ldr | Kind::Ldrh | Kind::Ldrb | Kind::Ldrsh | Kind::Ldrsb if op.rm == ZERO => {
                [first, None]
            }
            Kind::Ldm | Kind::Stm => [first, None],
            Kind::Push | Kind::Pop => [Some(self.r[SP]), None],
            kind if kind <= Kind::AddAny || kind >= Kind::Ldr && kind <= Kind::Strb => {
                [first, second]
            }
            _ => [None, None],
        }
    }

    fn transfers(&self, op: &Op) -> (Transfers, u32) {
        let r = |register: u8| {
            let register = usize::from(register);
            self.r.get(register).copied().unwrap_or(0)
        };
        let one = |width: Width, store: bool| Transfers {
            address: r(op.rn).wrapping_add(r(op.rm)).wrapping_add(op.imm),
            bytes: width.bytes() as u8,
            count: 1,
            store,
        };
        let list = |address: u32, store: bool| Transfers {
            address,
            bytes: 4,
            count: op.imm.count_ones() as u8,
            store,
        };
        let below = 4 * op.imm.count_ones();
        let loaded = 1 << op.rd;
        let listed = op.imm & !(1 << PC);
        match op.kind {
            Kind::Ldr => (one(Width::Word, false), loaded),
            Kind::Ldrh | Kind::Ldrsh => (one(Width::Half, false), loaded),
            Kind::Ldrb | Kind::Ldrsb => (one(Width::Byte, false), loaded),
            Kind::Str => (one(Width::Word, true), 0),
            Kind::Strh => (one(Width::Half, true), 0),
            Kind::Strb => (one(Width::Byte, true), 0),
            Kind::Ldm => (list(r(op.rn), false), listed),
            Kind::Pop => (list(self.r[SP], false), listed),
            Kind::Stm => (list(r(op.rn), true), 0),
            Kind::Push => (list(self.r[SP].wrapping_sub(below), true), 0),
            _ => (Transfers::default(), 0),
        }
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

/// A bit for each register that an instruction computes.
fn computed(op: &Op) -> u32 {
    match op.kind {
        Kind::Undecoded | Kind::Breakpoint | Kind::Tst | Kind::Cmp | Kind::Cmn => 0,
        Kind::Ldm | Kind::Stm => 1 << op.rn,
        Kind::Push | Kind::Pop => 1 << SP,
        kind if kind <= Kind::Revsh => (1 << op.rd) & !(1 << PC),
        _ => 0,
    }
}
