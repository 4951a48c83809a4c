//! A debugger for a machine: the GDB remote protocol over TCP. Debugging costs no emulated time.
//!
//! Registers are 32-bit words in the order of [`Machine::registers`], which is that of the core's
//! description for GDB ([`Machine::gdb_description`]).

mod connection;
mod monitor;
mod past;

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;

use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, SingleThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::MonitorCmdOps;
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use joulemark_machine::{Error, Machine, Reason, Stop, Until};

use connection::Connection;
pub use past::{Change, Past, Position};

/// Cycles between two checks for debugger commands.
const SLICE_CYCLES: u64 = 2_000_000;
/// The same in instructions, when every instruction is checked.
const SLICE_STEPS: u32 = 20_000;

/// The core's registers as words, in GDB's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    words: Vec<u32>,
    /// Index of the program counter.
    pc: usize,
}

impl Registers for Words {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.words.get(self.pc).copied().unwrap_or_default()
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        for byte in self.words.iter().flat_map(|word| word.to_le_bytes()) {
            write_byte(Some(byte));
        }
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(());
        }
        self.words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(())
    }
}

/// Any of the cores.
#[derive(Debug)]
pub enum AnyCore {}

impl Arch for AnyCore {
    type Usize = u32;
    type Registers = Words;
    type BreakpointKind = usize;
    type RegId = ();
}

/// A watched range, and its last contents.
struct Watched {
    address: u32,
    held: Vec<u8>,
    kind: WatchKind,
}

impl Watched {
    /// Whether accesses of it are hits, not only changes.
    fn is_of_accesses(&self) -> bool {
        !matches!(self.kind, WatchKind::Write)
    }

    /// Whether an access of an address is one of the range. How wide it was is not known: an
    /// aligned one may be as wide as a word.
    fn is_at(&self, address: u32, word_bytes: u32) -> bool {
        let end = self.address.saturating_add(self.held.len() as u32);
        let is_word_around = address.is_multiple_of(word_bytes)
            && address < self.address
            && self.address - address < word_bytes;
        (self.address..end).contains(&address) || is_word_around
    }
}

/// How a machine is resumed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resumed {
    Step,
    Run,
    StepBack,
    RunBack,
}

struct Debugged<'a> {
    machine: &'a mut Machine,
    breakpoints: Vec<u32>,
    watched: Vec<Watched>,
    resumed: Resumed,
    past: Past<'a>,
    /// Points before the last one that was gone back to, oldest first.
    known: Vec<Position>,
    snapshots: BTreeMap<String, Position>,
    energy: &'a mut dyn FnMut(&Machine) -> Option<String>,
}

impl Debugged<'_> {
    /// Take the place of the machine by one at an earlier point.
    fn go_back(&mut self, to: Position) -> Result<(), Error> {
        let mut earlier = self.past.at(to)?;
        earlier.learn_from(self.machine);
        *self.machine = earlier;
        self.known.retain(|at| *at < to);
        self.snapshots.retain(|_, at| *at <= to);
        // What it brings is no hit.
        self.take_held();
        self.keep_accesses();
        Ok(())
    }

    fn step_back(&mut self) -> Result<SingleThreadStopReason<u32>, Error> {
        let here = Position::of(self.machine);
        if self.known.is_empty() {
            self.known = self.past.before(here)?;
        }
        let Some(before) = self.known.pop() else {
            return Ok(AT_START);
        };
        self.go_back(before)?;
        Ok(SingleThreadStopReason::DoneStep)
    }

    fn run_back(&mut self) -> Result<SingleThreadStopReason<u32>, Error> {
        let here = Position::of(self.machine);
        self.known.clear();
        let found = if self.watched.is_empty() {
            self.past.last_at(here, &self.breakpoints)?
        } else {
            // Backwards, changes are hits, and reads are none.
            let changes = self.watched.iter().filter(|w| w.kind != WatchKind::Read);
            let ranges: Vec<_> = changes.map(|w| (w.address, w.held.len())).collect();
            self.past.last_change(here, &self.breakpoints, &ranges)?
        };
        let Some((to, watched)) = found else {
            let start = Position {
                cycles: 0,
                instructions: 0,
                pc: 0,
            };
            self.go_back(start)?;
            return Ok(AT_START);
        };
        self.go_back(to)?;
        Ok(watched.map_or(SingleThreadStopReason::SwBreak(()), |addr| {
            SingleThreadStopReason::Watch {
                tid: (),
                kind: WatchKind::Write,
                addr,
            }
        }))
    }

    /// Run for a while; if the debugger must be told, return why.
    fn advance(&mut self) -> Result<Option<SingleThreadStopReason<u32>>, Error> {
        match self.resumed {
            Resumed::StepBack => return self.step_back().map(Some),
            Resumed::RunBack => return self.run_back().map(Some),
            Resumed::Step | Resumed::Run => self.known.clear(),
        }
        if self.resumed == Resumed::Step {
            let stop = self.step_one()?;
            return Ok(Some(
                reason(&stop, true).unwrap_or(SingleThreadStopReason::DoneStep),
            ));
        }
        // The machine itself can check one breakpoint, at full speed.
        if self.watched.is_empty() && self.breakpoints.len() < 2 {
            let stop = self.machine.run(Until {
                address: self.breakpoints.first().copied(),
                asleep: true,
                max_cycles: Some(SLICE_CYCLES),
                ..Until::default()
            })?;
            return Ok(reason(&stop, false));
        }
        for _ in 0..SLICE_STEPS {
            let stop = self.step_one()?;
            if let Some(reason) = reason(&stop, false) {
                return Ok(Some(reason));
            }
            let accesses = self.machine.take_accesses();
            if let Some((addr, kind)) = self.hit(&accesses) {
                return Ok(Some(SingleThreadStopReason::Watch {
                    tid: (),
                    kind,
                    addr,
                }));
            }
            if self.breakpoints.contains(&stop.address) {
                return Ok(Some(SingleThreadStopReason::SwBreak(())));
            }
        }
        Ok(None)
    }

    /// Let the machine keep accesses if a range is watched for them.
    fn keep_accesses(&mut self) {
        let on = self.watched.iter().any(Watched::is_of_accesses);
        self.machine.keep_accesses(on);
    }

    fn step_one(&mut self) -> Result<Stop, Error> {
        self.machine.run(Until {
            asleep: true,
            max_cycles: Some(1),
            ..Until::default()
        })
    }

    /// Find a watched range that changed since the last check or, if it is watched for accesses,
    /// was accessed without that. A change of one that is watched for reads alone is no hit.
    fn hit(&mut self, accesses: &[u32]) -> Option<(u32, WatchKind)> {
        let word_bytes = self.machine.word_bytes();
        let mut found = None;
        for watched in &mut self.watched {
            let now = self
                .machine
                .read_memory(watched.address, watched.held.len());
            let is_hit = if let Ok(now) = now
                && now != watched.held
            {
                watched.held = now;
                watched.kind != WatchKind::Read
            } else {
                watched.is_of_accesses() && accesses.iter().any(|&at| watched.is_at(at, word_bytes))
            };
            if is_hit {
                found = found.or(Some((watched.address, watched.kind)));
            }
        }
        found
    }

    /// Take the watched ranges as they are: what changed them is no hit.
    fn take_held(&mut self) {
        self.hit(&[]);
    }

    fn add(&mut self, address: u32) -> bool {
        if !self.breakpoints.contains(&address) {
            self.breakpoints.push(address);
        }
        true
    }

    fn remove(&mut self, address: u32) -> bool {
        let before = self.breakpoints.len();
        self.breakpoints.retain(|&each| each != address);
        self.breakpoints.len() < before
    }
}

/// The stop reply where nothing is earlier.
const AT_START: SingleThreadStopReason<u32> = SingleThreadStopReason::ReplayLog {
    tid: None,
    pos: ReplayLogPosition::Begin,
};

/// The stop reply for the end of a run; `None` if the run continues.
fn reason(stop: &Stop, is_step: bool) -> Option<SingleThreadStopReason<u32>> {
    match stop.reason {
        Reason::Address => Some(SingleThreadStopReason::SwBreak(())),
        Reason::Fault => Some(SingleThreadStopReason::Signal(Signal::SIGSEGV)),
        Reason::Asleep if is_step => None,
        // Nothing can wake it: report it like a program that stopped by itself.
        Reason::Asleep => Some(SingleThreadStopReason::Signal(Signal::SIGSTOP)),
        _ => None,
    }
}

impl Target for Debugged<'_> {
    type Arch = AnyCore;
    type Error = Error;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl TargetDescriptionXmlOverride for Debugged<'_> {
    fn target_description_xml(
        &self,
        _annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let text = self.machine.gdb_description();
        let rest = text.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(length).min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl SingleThreadBase for Debugged<'_> {
    fn read_registers(&mut self, registers: &mut Words) -> TargetResult<(), Self> {
        let (names, words): (Vec<_>, _) = self.machine.registers().into_iter().unzip();
        registers.pc = names.iter().position(|name| name == "pc").unwrap_or(0);
        registers.words = words;
        Ok(())
    }

    fn write_registers(&mut self, registers: &Words) -> TargetResult<(), Self> {
        let now = self.machine.registers();
        if now.len() != registers.words.len() {
            return Err(TargetError::NonFatal);
        }
        for ((name, old), &new) in now.iter().zip(&registers.words) {
            if *old != new {
                let set = self.machine.set_register(name, new);
                set.map_err(|_| TargetError::NonFatal)?;
                let change = Change::Register(name.clone(), new);
                self.past.note(self.machine, change);
            }
        }
        Ok(())
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        let found = self.machine.read_memory(start, data.len());
        data.copy_from_slice(&found.map_err(|_| TargetError::NonFatal)?);
        Ok(data.len())
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        let written = self.machine.write_memory(start, data);
        written.map_err(|_| TargetError::NonFatal)?;
        let change = Change::Memory(start, data.to_vec());
        self.past.note(self.machine, change);
        // The debugger's own writes are not hits.
        self.take_held();
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for Debugged<'_> {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Error> {
        self.resumed = Resumed::Run;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        Some(self)
    }
}

impl ReverseStep<()> for Debugged<'_> {
    fn reverse_step(&mut self, (): ()) -> Result<(), Error> {
        self.resumed = Resumed::StepBack;
        Ok(())
    }
}

impl ReverseCont<()> for Debugged<'_> {
    fn reverse_cont(&mut self) -> Result<(), Error> {
        self.resumed = Resumed::RunBack;
        Ok(())
    }
}

impl SingleThreadSingleStep for Debugged<'_> {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Error> {
        self.resumed = Resumed::Step;
        Ok(())
    }
}

impl Breakpoints for Debugged<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debugged<'_> {
    fn add_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.add(address))
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove(address))
    }
}

impl HwBreakpoint for Debugged<'_> {
    fn add_hw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.add(address))
    }

    fn remove_hw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove(address))
    }
}

impl HwWatchpoint for Debugged<'_> {
    /// Of writes, those that change something are seen.
    fn add_hw_watchpoint(
        &mut self,
        address: u32,
        length: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let held = self.machine.read_memory(address, length as usize);
        let Ok(held) = held else {
            return Ok(false);
        };
        self.watched.push(Watched {
            address,
            held,
            kind,
        });
        self.keep_accesses();
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u32,
        length: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let before = self.watched.len();
        self.watched
            .retain(|w| (w.address, w.held.len(), w.kind) != (address, length as usize, kind));
        self.keep_accesses();
        Ok(self.watched.len() < before)
    }
}

/// The event loop of a session.
struct Session<'a>(std::marker::PhantomData<&'a ()>);

impl<'a> BlockingEventLoop for Session<'a> {
    type Target = Debugged<'a>;
    type Connection = Connection<'a>;
    type StopReason = SingleThreadStopReason<u32>;

    fn wait_for_stop_reason(
        target: &mut Debugged<'a>,
        connection: &mut Connection<'a>,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<Error, io::Error>> {
        loop {
            if let Some(reason) = target.advance().map_err(WaitForStopReasonError::Target)? {
                return Ok(Event::TargetStopped(reason));
            }
            let heard = connection
                .peek()
                .map_err(WaitForStopReasonError::Connection)?;
            if heard.is_some() {
                let byte = connection
                    .read()
                    .map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(_target: &mut Debugged<'a>) -> Result<Option<Self::StopReason>, Error> {
        Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT)))
    }
}

/// Serve one debugger, from its connection until it disconnects.
///
/// `past` runs the machine again when the debugger goes back; `energy` says what it has drawn.
///
/// # Errors
/// The connection broke, `go_on` returned false, or the debugger violated the protocol.
pub fn serve(
    listener: &TcpListener,
    machine: &mut Machine,
    past: Past<'_>,
    energy: &mut dyn FnMut(&Machine) -> Option<String>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), String> {
    let connection = Connection::accept(listener, go_on).map_err(|error| error.to_string())?;
    let mut target = Debugged {
        machine,
        breakpoints: Vec::new(),
        watched: Vec::new(),
        resumed: Resumed::Run,
        past,
        known: Vec::new(),
        snapshots: BTreeMap::new(),
        energy,
    };
    match GdbStub::new(connection).run_blocking::<Session>(&mut target) {
        Ok(DisconnectReason::Disconnect | DisconnectReason::Kill) => Ok(()),
        Ok(reason) => Err(format!("the debugger ended with {reason:?}")),
        // A closed debugger just disconnects.
        Err(error) if error.is_connection_error() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
