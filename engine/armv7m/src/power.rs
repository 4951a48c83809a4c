//! What an instruction puts on the core's buses, for a model of its power
//! ([`joulemark_kernel::power`]).
//!
//! Which operand goes over which bus is as in ELMO ("Towards practical tools for side channel aware
//! software engineering", USENIX Security 2017): the first operand or base, and the second operand,
//! immediate or stored value.

use joulemark_kernel::power::{Glimpse, Transfers};

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::memory::Entry;
use crate::multiple::transfers;
use crate::op::{Kind, Op};
use crate::registers::literal;
use crate::traits::Traits;

impl<B: Bus> Core<B> {
    /// What the next instruction will do; `None` where there is none.
    #[cold]
    pub fn glimpse(&mut self) -> Option<Glimpse> {
        let entry = self.next_entry()?;
        if self.next_is_skipped() {
            return Some(Glimpse {
                address: entry.address,
                ..Glimpse::default()
            });
        }
        let op = &entry.op;
        let loads = Self::loads(op);
        Some(Glimpse {
            address: entry.address,
            begins: None,
            operands: self.operands(op),
            computes: u32::from(entry.traits.writes) & !loads & 0x7fff,
            transfers: [
                self.transfers(&entry),
                Transfers::default(),
                Transfers::default(),
            ],
            loads,
        })
    }

    fn operands(&self, op: &Op) -> [Option<u32>; 2] {
        let of = |register: u8| Some(self.regs.read(register));
        let (d, n, m) = (of(op.rd), of(op.rn), of(op.rm));
        match op.kind {
            Kind::MovImm | Kind::MvnImm | Kind::Adr => [None, Some(op.imm)],
            Kind::Movt => [d, Some(op.imm)],
            Kind::Bfi => [d, n],
            Kind::Bfc => [d, None],
            Kind::Ubfx | Kind::Sbfx | Kind::Ssat | Kind::Usat | Kind::Ssat16 | Kind::Usat16 => {
                [n, None]
            }
            Kind::MovReg
            | Kind::MvnReg
            | Kind::Sxtb
            | Kind::Sxth
            | Kind::Uxtb
            | Kind::Uxth
            | Kind::Rev
            | Kind::Rev16
            | Kind::Revsh
            | Kind::Rbit
            | Kind::Clz
            | Kind::Bx
            | Kind::Blx => [None, m],
            Kind::StrImm
            | Kind::StrbImm
            | Kind::StrhImm
            | Kind::Strd
            | Kind::Strex
            | Kind::Strexb
            | Kind::Strexh => [n, d],
            Kind::LdrReg
            | Kind::LdrbReg
            | Kind::LdrhReg
            | Kind::LdrsbReg
            | Kind::LdrshReg
            | Kind::StrReg
            | Kind::StrbReg
            | Kind::StrhReg
            | Kind::Tbb
            | Kind::Tbh => [n, m],
            Kind::LdrImm
            | Kind::LdrbImm
            | Kind::LdrhImm
            | Kind::LdrsbImm
            | Kind::LdrshImm
            | Kind::Ldrd
            | Kind::Ldrex
            | Kind::Ldrexb
            | Kind::Ldrexh
            | Kind::Ldmia
            | Kind::Ldmdb
            | Kind::Stmia
            | Kind::Stmdb
            | Kind::Cbz
            | Kind::Cbnz => [n, None],
            kind if kind as u8 >= Kind::AndImm as u8 && kind as u8 <= Kind::CmpImm as u8 => {
                [n, Some(op.imm)]
            }
            kind if kind.computes() => [n, m],
            _ => [None, None],
        }
    }

    const fn loads(op: &Op) -> u32 {
        match op.kind {
            Kind::LdrImm
            | Kind::LdrbImm
            | Kind::LdrhImm
            | Kind::LdrsbImm
            | Kind::LdrshImm
            | Kind::LdrReg
            | Kind::LdrbReg
            | Kind::LdrhReg
            | Kind::LdrsbReg
            | Kind::LdrshReg
            | Kind::LdrLit
            | Kind::LdrbLit
            | Kind::LdrhLit
            | Kind::LdrsbLit
            | Kind::LdrshLit
            | Kind::Ldrex
            | Kind::Ldrexb
            | Kind::Ldrexh => 1 << op.rd & 0x7fff,
            Kind::Ldrd | Kind::LdrdLit => (1 << op.rd | 1 << op.ra) & 0x7fff,
            Kind::Ldmia | Kind::Ldmdb => op.imm & 0x7fff,
            _ => 0,
        }
    }

    fn transfers(&self, entry: &Entry) -> Transfers {
        let op = &entry.op;
        let address = match op.kind {
            Kind::LdrLit
            | Kind::LdrbLit
            | Kind::LdrhLit
            | Kind::LdrsbLit
            | Kind::LdrshLit
            | Kind::LdrdLit => literal(entry.address, op),
            Kind::LdrReg
            | Kind::LdrbReg
            | Kind::LdrhReg
            | Kind::LdrsbReg
            | Kind::LdrshReg
            | Kind::StrReg
            | Kind::StrbReg
            | Kind::StrhReg
            | Kind::Tbb
            | Kind::Tbh => self.regs.register_address(op),
            Kind::Ldmia | Kind::Ldmdb | Kind::Stmia | Kind::Stmdb => transfers(&self.regs, op, 0).1,
            Kind::LdrImm
            | Kind::LdrbImm
            | Kind::LdrhImm
            | Kind::LdrsbImm
            | Kind::LdrshImm
            | Kind::StrImm
            | Kind::StrbImm
            | Kind::StrhImm
            | Kind::Ldrd
            | Kind::Strd => self.regs.base_address(op).0,
            Kind::Ldrex
            | Kind::Ldrexb
            | Kind::Ldrexh
            | Kind::Strex
            | Kind::Strexb
            | Kind::Strexh => self.regs.read(op.rn).wrapping_add(op.imm),
            _ => return Transfers::default(),
        };
        Transfers {
            address,
            bytes: op.kind.width().bytes() as u8,
            count: entry.traits.transfers,
            store: entry.traits.is(Traits::STORE),
        }
    }

    /// The word at an address, where that is memory.
    pub fn memory_word(&self, address: u32) -> Option<u32> {
        let at = self.memory.to_read(address, Width::Word)?;
        Some(self.memory.word(at))
    }
}
