//! Faults with symbols for their addresses.

use joulemark_kernel::{Caller, Fault, Symbols};

use crate::{FaultReport, Frame};

/// Locate an address; `lookup` is an address that certainly belongs to the same function.
pub(crate) fn frame(symbols: &Symbols, address: u32, lookup: u32) -> Frame {
    let nearest = symbols.nearest(lookup);
    let (symbol, start) = nearest.map_or(("", address), |(name, offset)| (name, lookup - offset));
    Frame {
        address,
        symbol: symbol.to_owned(),
        offset: address.saturating_sub(start),
    }
}

/// Report a fault with symbols; addresses have `digits` hexadecimal digits.
pub(crate) fn fault_report(fault: &Fault, symbols: &Symbols, digits: usize) -> FaultReport {
    let width = digits + 2;
    let mut call_stack = vec![frame(symbols, fault.pc, fault.pc)];
    call_stack.extend(fault.call_stack.iter().map(|caller| match *caller {
        // Look up the call instruction: the return address may belong to the next function.
        Caller::Call(address) => frame(symbols, address, address.saturating_sub(2)),
        Caller::Interrupted(address) => frame(symbols, address, address),
    }));
    let here = &call_stack[0];
    let place = if here.symbol.is_empty() {
        format!("at pc {:#0width$x}", here.address)
    } else {
        format!(
            "at pc {:#0width$x} in {}+{:#x}",
            here.address, here.symbol, here.offset
        )
    };
    let touched = fault
        .address
        .filter(|&address| address != fault.pc)
        .map_or(String::new(), |address| {
            format!("address {address:#0width$x}, ")
        });
    FaultReport {
        kind: fault.kind.name(),
        message: format!("{} ({touched}{place})", fault.message),
        address: fault.address,
        call_stack,
    }
}
