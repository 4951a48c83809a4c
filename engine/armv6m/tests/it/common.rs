//! A core with RAM, a device behind the bus, and one behind the I/O port.

use joulemark_armv6m::{Bus, Config, Core, Exit, Limits, Region, RegionKind, Wait, Width};
use joulemark_kernel::lines::Settings;
use joulemark_kernel::{Cycles, Fault, FaultKind};

pub const RAM: u32 = 0x2000_0000;
pub const SIZE: u32 = 0x2000;
/// Where programs are; the vectors are at the start of RAM.
pub const CODE: u32 = RAM + 0x200;
pub const STACK: u32 = RAM + SIZE;
/// Handlers, of which number n is at 64 n from here.
pub const HANDLERS: u32 = RAM + 0x1000;
pub const DEVICE: u32 = 0x4000_0000;
pub const SLOW: u32 = 0x4001_0000;
pub const PORT: u32 = 0xd000_0000;

/// Raises its lines at cycles, and notes accesses.
#[derive(Default)]
pub struct Chip {
    pub rises: Vec<(u64, u32)>,
    pub lines: u64,
    pub accesses: Vec<(u32, u64)>,
    pub resets: u32,
    pub settings: Settings,
}

impl Bus for Chip {
    fn read(&mut self, address: u32, _: Width, now: Cycles) -> Result<u32, Fault> {
        self.accesses.push((address, now.0));
        if address < DEVICE {
            return Err(Fault::new(FaultKind::Unmapped, "nothing is there").at(address));
        }
        Ok(now.0 as u32)
    }

    /// A store clears all lines.
    fn write(&mut self, address: u32, _: u32, _: Width, now: Cycles) -> Result<(), Fault> {
        self.accesses.push((address, now.0));
        self.lines = 0;
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        let rises = self.rises.iter().map(|rise| rise.0);
        rises.min().map_or(Cycles::NEVER, Cycles)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        for &(at, line) in &self.rises {
            if at <= now.0 {
                self.lines |= 1 << line;
            }
        }
        self.rises.retain(|rise| rise.0 > now.0);
        Ok(())
    }

    fn interrupts(&self) -> [u64; 4] {
        [self.lines, 0, 0, 0]
    }

    fn lines(&self) -> Settings {
        self.settings
    }

    fn reset_requested(&mut self, _: Cycles) -> Result<(), Fault> {
        self.resets += 1;
        Err(Fault::new(FaultKind::Reset, "a reset"))
    }
}

pub fn core_with(code: &[u16], change: impl FnOnce(&mut Config)) -> Core<Chip> {
    let mut config = Config {
        regions: vec![
            Region {
                start: RAM,
                size: SIZE,
                kind: RegionKind::Ram,
            },
            Region {
                start: 0,
                size: 0x100,
                kind: RegionKind::Rom,
            },
        ],
        lines: None,
        io_port: PORT..PORT + 0x200,
        waits: vec![Wait {
            range: SLOW..SLOW + 0x1000,
            states: [2, 3],
        }],
        interrupts: 32,
        cpuid: 0x410c_c601,
        systick_calibration: 0,
        systick_divider: 0,
        multiply_cycles: 1,
        stop_on_fault: false,
    };
    change(&mut config);
    let mut core = Core::new(Chip::default(), &config);
    put(&mut core, CODE, code);
    for number in 0..48 {
        let handler = HANDLERS + 64 * number;
        let word = handler | 1;
        core.load_image(RAM + 4 * number, &word.to_le_bytes())
            .expect("RAM");
        put(&mut core, handler, &[0x4770]); // BX LR
    }
    core.reset(RAM, STACK, CODE | 1);
    core
}

pub fn core(code: &[u16]) -> Core<Chip> {
    core_with(code, |_| {})
}

pub fn put(core: &mut Core<Chip>, at: u32, code: &[u16]) {
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    core.load_image(at, &bytes).expect("RAM");
}

/// Run to an address; the cycles that it took.
pub fn run_to(core: &mut Core<Chip>, at: u32) -> u64 {
    let before = core.cycles().0;
    core.set_breakpoint(at);
    let exit = core.run(Limits {
        until: Some(Cycles(before + 100_000)),
        step_first: true,
    });
    core.clear_breakpoint(at);
    assert_eq!(exit, Exit::Breakpoint(at), "at {:#x}", core.register(15));
    core.cycles().0 - before
}

pub fn step(core: &mut Core<Chip>) -> Exit {
    core.run(Limits {
        until: Some(Cycles(0)),
        step_first: true,
    })
}

/// The fault that ends a program.
pub fn fault(core: &mut Core<Chip>) -> Fault {
    match core.run(Limits {
        until: Some(Cycles(100_000)),
        step_first: true,
    }) {
        Exit::Fault(fault) => *fault,
        exit => panic!("{exit:?} at {:#x}", core.register(15)),
    }
}
