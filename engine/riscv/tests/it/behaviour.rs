//! What the core does besides instructions: faults, sleep, stops, observation.

use joulemark_kernel::{Caller, Cycles, Fault, FaultKind};
use joulemark_riscv::{Bus, Config, Core, Exit, Limits, Lines, Region, RegionKind, Width};

const RAM: u32 = 0x2000_0000;
const TABLE: u32 = 0x1000_0000;

/// Raises the timer interrupt at a cycle.
struct Chip(u64);

impl Bus for Chip {
    fn read(&mut self, address: u32, _: Width, _: Cycles) -> Result<u32, Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing is there").at(address))
    }

    fn write(&mut self, address: u32, _: u32, _: Width, _: Cycles) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Unmapped, "nothing is there").at(address))
    }

    fn next_event(&self) -> Cycles {
        Cycles(self.0)
    }

    fn advance(&mut self, _: Cycles) -> Result<(), Fault> {
        self.0 = u64::MAX;
        Ok(())
    }

    fn interrupts(&self) -> Lines {
        Lines {
            timer: self.0 == u64::MAX,
            ..Lines::default()
        }
    }
}

fn core(code: &[u32], timer: u64) -> Core<Chip> {
    let region = |start, size, kind| Region { start, size, kind };
    let config = Config {
        regions: vec![
            region(RAM, 0x1000, RegionKind::Ram),
            region(TABLE, 0x100, RegionKind::Data),
        ],
        ..Config::default()
    };
    let mut core = Core::new(Chip(timer), &config);
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    core.load(RAM, &bytes).expect("it fits");
    core.reset(RAM);
    core.set_register(2, RAM + 0x1000);
    core
}

fn fault(code: &[u32]) -> Fault {
    match core(code, u64::MAX - 1).run(Limits::default()) {
        Exit::Fault(fault) => *fault,
        exit => panic!("{exit:?}"),
    }
}

/// lui a0, 0x20000
const A0_RAM: u32 = 0x2000_0537;

#[test]
fn errors_that_no_handler_takes_end_the_run() {
    let cases = [
        (vec![0], FaultKind::InvalidOpcode, "no instruction"),
        (vec![0x0010_0073], FaultKind::InvalidOpcode, "EBREAK"),
        // lw a1, 2(a0)
        (vec![A0_RAM, 0x0025_2583], FaultKind::Misaligned, "a load"),
        // sh a1, 1(a0)
        (vec![A0_RAM, 0x00b5_10a3], FaultKind::Misaligned, "a store"),
        // lw a1, 0(zero)
        (vec![0x0000_2583], FaultKind::Unmapped, "nothing is there"),
        // jalr ra, 16(zero)
        (vec![0x0100_00e7], FaultKind::Unmapped, "execute from"),
        // lui a0, 0x10000; sw a0, 0(a0)
        (
            vec![0x1000_0537, 0x00a5_2023],
            FaultKind::FlashWrite,
            "a store",
        ),
        // amoadd.w a1, a1, (zero)
        (vec![0x00b0_25af], FaultKind::Absent, "atomic"),
        // li a0, 0x99; csrw pmpcfg0, a0: the first 32 bytes are locked, and only to be executed.
        (
            vec![0x0990_0513, 0x3a05_1073, 0x0000_2583],
            FaultKind::Unmapped,
            "forbids a load",
        ),
        // csrwi msleep, 1
        (vec![0xbf00_d073], FaultKind::Absent, "msleep"),
        // csrw mstatus, zero; lui a0, 0x20000; csrw mepc, a0; mret
        (
            vec![0x3000_1073, A0_RAM, 0x3415_1073, 0x3020_0073],
            FaultKind::ExecuteData,
            "forbids executing",
        ),
    ];
    for (code, kind, message) in cases {
        let fault = fault(&code);
        assert_eq!(fault.kind, kind, "{fault}");
        assert!(fault.message.contains(message), "{fault}");
    }
}

#[test]
fn a_handler_takes_an_exception() {
    // auipc t0, 0; addi t0, t0, 20; csrw mtvec, t0; an illegal instruction; then wfi.
    let code = [
        0x0000_0297,
        0x0142_8293,
        0x3052_9073,
        0,
        0x0000_0013,
        0x1050_0073,
    ];
    let mut core = core(&code, u64::MAX - 1);
    assert!(matches!(
        core.run(Limits {
            until: Some(Cycles(100)),
            step_first: false
        }),
        Exit::Cycles
    ));
    let handled = core.handled_fault().expect("its handler runs");
    assert_eq!(
        (handled.kind, handled.pc),
        (FaultKind::InvalidOpcode, RAM + 12)
    );
}

#[test]
fn a_fault_names_the_calls_that_led_to_it() {
    // jal ra, 8; nothing; then an illegal instruction.
    let fault = fault(&[0x0080_00ef, 0, 0]);
    assert_eq!(fault.pc, RAM + 8);
    assert_eq!(fault.call_stack, [Caller::Call(RAM + 4)]);
}

#[test]
fn the_stack_may_not_grow_into_data() {
    // addi sp, sp, -2048, twice.
    let mut core = core(&[0x8001_0113, 0x8001_0113], u64::MAX - 1);
    core.set_stack_limit(RAM + 0x100);
    core.reset_stack_low();
    let Exit::Fault(fault) = core.run(Limits::default()) else {
        panic!("it grows too far");
    };
    assert_eq!(fault.kind, FaultKind::StackOverflow);
    assert_eq!(core.stack_low(), RAM + 0x800);
}

#[test]
fn a_pending_interrupt_ends_a_sleep_also_if_none_is_taken() {
    // li a0, 0x80; csrw mie, a0; wfi; nop; nop
    let code = [0x0800_0513, 0x3045_1073, 0x1050_0073, 0x13, 0x13];
    let mut core = core(&code, 1000);
    core.set_breakpoint(RAM + 16);
    assert!(matches!(core.run(Limits::default()), Exit::Breakpoint(_)));
    // The line is in the core a cycle later, the sleep ends in the next one.
    assert_eq!(core.cycles(), Cycles(1003));
    assert_eq!(core.sleep_cycles(), Cycles(996));
}

#[test]
fn a_core_that_nothing_wakes_says_so() {
    let mut core = core(&[0x1050_0073], u64::MAX);
    assert!(matches!(core.run(Limits::default()), Exit::Asleep));
}

#[test]
fn the_digest_tells_addresses_apart() {
    // lw a1, OFFSET(a0); then a store that ends nothing.
    let digest = |offset: u32| {
        let mut core = core(&[A0_RAM, offset << 20 | 0x0005_2583], u64::MAX - 1);
        core.start_address_digest();
        core.set_breakpoint(RAM + 8);
        core.run(Limits::default());
        core.address_digest()
    };
    assert_eq!(digest(4), digest(4));
    assert_ne!(digest(4), digest(8));
}

#[test]
fn a_run_stops_at_its_breakpoint_each_time_and_takes_the_same_cycles() {
    // 1: addi a0, a0, 1; nop; j 1b
    let code = [0x0015_0513, 0x0000_0013, 0xff9f_f06f];
    let until = Limits {
        until: Some(Cycles(60)),
        step_first: false,
    };
    let mut plain = core(&code, u64::MAX - 1);
    assert!(matches!(plain.run(until), Exit::Cycles));
    let mut stopped = core(&code, u64::MAX - 1);
    stopped.set_breakpoint(RAM + 4);
    for turn in 1..=10 {
        let limits = Limits {
            step_first: turn > 1,
            ..until
        };
        assert!(matches!(stopped.run(limits), Exit::Breakpoint(at) if at == RAM + 4));
        assert_eq!(stopped.register(10), turn);
    }
    stopped.clear_breakpoint(RAM + 4);
    assert!(matches!(stopped.run(until), Exit::Cycles));
    assert_eq!(stopped.register(10), plain.register(10));
}

/// Watched, instructions go one by one; else most go through a loop of their own.
#[test]
fn an_interrupt_is_taken_in_the_same_cycle_however_the_program_is_run() {
    // lui a0, 0x20000; addi a1, a0, 64; csrw mtvec, a1; addi a0, a0, 1024; li a1, 128; csrw mie, a1;
    // csrsi mstatus, 8; 1: lw t1, 0(a0); amoadd.w t2, t1, (a0); lw t1, 4(a0); amoxor.w t2, t2, (a0);
    // j 1b
    let mut code = vec![
        A0_RAM,
        0x0405_0593,
        0x3055_9073,
        0x4005_0513,
        0x0800_0593,
        0x3045_9073,
        0x3004_6073,
        0x0005_2303,
        0x0065_23af,
        0x0045_2303,
        0x2075_23af,
        0xff1f_f06f,
    ];
    code.resize(16, 0x13);
    // csrr s0, mepc; nop
    code.extend([0x3410_2473, 0x13]);
    for cycle in 10..60 {
        let [plain, watched] = [false, true].map(|watched| {
            let mut core = core(&code, cycle);
            if watched {
                core.watch();
            }
            core.set_breakpoint(RAM + 68);
            assert!(matches!(core.run(Limits::default()), Exit::Breakpoint(_)));
            (core.register(8), core.cycles(), core.instructions())
        });
        assert_eq!(plain, watched, "interrupted from cycle {cycle} on");
    }
}
