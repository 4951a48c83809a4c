//! The machine: the part that is the same for every core.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use joulemark_devices::{Device, Lines, Wiring};
use joulemark_kernel::chip::MemoryKind;
use joulemark_kernel::power::{Activity, Held, Recorder};
use joulemark_kernel::secrets::Piece;
use joulemark_kernel::trace::{MarkerEdge, PinEdge, PowerTrack};
use joulemark_kernel::{Chip, Cycles, Fault, FaultKind, Image, Picoseconds};
use joulemark_radio::Antenna;

use crate::follow::{Followed, Follower, Sight};
use crate::profile;
use crate::report::fault_report;
use crate::secrets::{Names, Secret, Secrets};
use crate::series::Series;
use crate::system::{Exit, Limits, System};
use crate::{Error, Options, Profile, Profiling, Reason, Stop, Until};

/// An emulated chip and its surroundings. Machines share only immutable data, so each may run on
/// any thread.
pub struct Machine {
    system: Box<dyn System>,
    image: Arc<Image>,
    options: Options,
    marker_edges: Vec<MarkerEdge>,
    /// The last run stopped before this address.
    stopped_at: Option<u32>,
    /// Every run stops before these addresses.
    watched: BTreeSet<u32>,
    follower: Option<Box<Follower>>,
    /// Counts what toggles.
    recorder: Option<Box<Recorder>>,
    /// The secrets that are followed.
    names: Option<Names>,
    resets: u32,
}

impl Machine {
    /// Load an image into a chip with the devices that a board wires to it, and reset.
    ///
    /// # Errors
    /// The image is for another core or does not fit, the wiring is not for this chip, or an option
    /// is wrong.
    pub fn new(
        chip: &Arc<Chip>,
        wiring: &Wiring,
        image: &Arc<Image>,
        options: &Options,
    ) -> Result<Self, Error> {
        if let Some(cores) = &image.cores
            && !cores.contains(&chip.core.as_str())
        {
            return Err(Error::Image(format!(
                "this {} image is for the {} core and chip {} has an {} core; build it for {} or \
                 name another chip",
                image.format.name(),
                cores.join(" or "),
                chip.name,
                chip.core,
                chip.name
            )));
        }
        let mut system = (Series::of(chip)?.make)(chip, image, options)?;
        if let Some(name) = &options.marker {
            let board = system.board_mut();
            board.set_marker(name).map_err(Error::Argument)?;
        }
        let timeline = system.timeline().clone();
        let wired = system.board_mut().wire(wiring, &timeline);
        wired.map_err(|error| Error::Board(error.0))?;
        system.take_effects();
        check_surroundings(&*system, wiring, options)?;
        let mut machine = Self {
            system,
            image: Arc::clone(image),
            options: options.clone(),
            marker_edges: Vec::new(),
            stopped_at: None,
            watched: BTreeSet::new(),
            follower: None,
            recorder: None,
            names: None,
            resets: 0,
        };
        machine.surround();
        machine.clear_observations();
        Ok(machine)
    }

    /// Give the chip and the devices what surrounds them.
    fn surround(&mut self) {
        for (quantity, signal) in &self.options.surroundings {
            if self.system.senses().contains(&quantity.as_str()) {
                self.system.surround(quantity, signal);
            }
            self.system.board_mut().surround(quantity, signal);
        }
    }

    /// Let every run stop before these addresses, replacing earlier ones.
    ///
    /// # Errors
    /// An address is outside the address space.
    pub fn watch(&mut self, addresses: &[u32]) -> Result<(), Error> {
        let wanted = addresses
            .iter()
            .map(|&address| self.system.code_address(address))
            .collect::<Result<BTreeSet<_>, _>>()?;
        for &address in self.watched.difference(&wanted) {
            self.system.set_breakpoint(address, false);
        }
        for &address in wanted.difference(&self.watched) {
            self.system.set_breakpoint(address, true);
        }
        self.watched = wanted;
        Ok(())
    }

    /// Run until a condition holds.
    ///
    /// # Errors
    /// The machine cannot watch a condition.
    pub fn run(&mut self, until: Until) -> Result<Stop, Error> {
        if until.marker && self.options.marker.is_none() {
            return Err(Error::Argument(
                "cannot run until the marker changes: the machine was made without a marker pin"
                    .into(),
            ));
        }
        let address = until
            .address
            .map(|address| self.system.code_address(address))
            .transpose()?;
        let board = self.system.board_mut();
        board.await_byte(until.serial);
        board.ends_at_time = until.time.is_some();
        if board.take_awaited() {
            return Ok(self.stop(Reason::Serial));
        }
        if until.device && board.take_telling() {
            return Ok(self.stop(Reason::Device));
        }
        if let Some(address) = address {
            self.system.set_breakpoint(address, true);
        }
        let stop = self.run_on(until, address);
        if let Some(address) = address
            && !self.watched.contains(&address)
        {
            self.system.set_breakpoint(address, false);
        }
        Ok(stop)
    }

    fn run_on(&mut self, until: Until, address: Option<u32>) -> Stop {
        let begin = self.system.cycles();
        let last = until
            .max_cycles
            .map_or(Cycles::NEVER, |more| begin + Cycles(more));
        let time = until.time.unwrap_or(Picoseconds::NEVER);
        // A second run to the same address runs on until it is reached again.
        let leave_breakpoint = self
            .stopped_at
            .is_some_and(|at| address == Some(at) || self.watched.contains(&at));
        self.stopped_at = None;
        loop {
            let limit = last.min(self.system.timeline().cycle_of(time));
            let from = self.follower.is_some().then(|| self.look());
            let steps = from.is_some() || self.is_recording();
            let counted = self.count_before();
            let mut limits = Limits {
                until: if steps {
                    limit.min(self.next_boundary())
                } else {
                    limit
                },
                leave_breakpoint: leave_breakpoint && self.system.cycles() == begin,
            };
            if let Some((_, true)) = counted
                && self.system.asleep_until().is_none()
            {
                let here = self.system.program_counter();
                limits.leave_breakpoint |= address != Some(here) && !self.watched.contains(&here);
                limits.until = limits.until.min(self.system.cycles());
            }
            let exit = self.system.run(limits);
            if let Some(from) = from {
                self.follow(&from);
            }
            if let Some((before, _)) = counted {
                self.count_after(before);
            }
            let edges = self.stamp_edges();
            match exit {
                Exit::Fault(fault)
                    if self.resets < self.options.resets && self.system.reset(&fault) =>
                {
                    self.resets += 1;
                    self.surround();
                }
                Exit::Fault(mut fault) => {
                    if self.resets > 0
                        && matches!(fault.kind, FaultKind::Reset | FaultKind::Watchdog)
                    {
                        let times = if self.resets == 1 { "time" } else { "times" };
                        fault.message = format!(
                            "{}, which it did {} {times} before; more are not followed here",
                            fault.message, self.resets
                        );
                    }
                    return self.faulted(Reason::Fault, Some(&fault));
                }
                Exit::Breakpoint(at) => {
                    self.stopped_at = Some(at);
                    return self.stop(Reason::Address);
                }
                Exit::Cycles if steps && self.is_before(last, time) => {}
                Exit::Cycles => {
                    let reason = if self.time() >= time {
                        Reason::Time
                    } else {
                        Reason::Cycles
                    };
                    // A program that waits in a fault handler has faulted.
                    return self.faulted(reason, self.system.handled_fault().as_ref());
                }
                Exit::Asleep if until.asleep || limit == Cycles::NEVER => {
                    return self.stop(Reason::Asleep);
                }
                Exit::Asleep => {
                    let from = self.follower.is_some().then(|| self.look());
                    self.system.sleep_until(limit);
                    if let Some(from) = from {
                        self.follow(&from);
                    }
                }
                Exit::Stopped if edges && until.marker => return self.stop(Reason::Marker),
                Exit::Stopped => {
                    let board = self.system.board_mut();
                    if board.take_awaited() {
                        return self.stop(Reason::Serial);
                    }
                    if until.device && board.take_telling() {
                        return self.stop(Reason::Device);
                    }
                }
            }
        }
    }

    /// The earliest time at which the next instruction begins or the core's wake-up is due.
    fn next_boundary(&self) -> Cycles {
        let next = self.system.cycles() + Cycles(1);
        self.system.asleep_until().map_or(next, |due| due.max(next))
    }

    fn is_before(&self, last: Cycles, time: Picoseconds) -> bool {
        self.system.cycles() < last.min(self.system.timeline().cycle_of(time))
    }

    fn look(&mut self) -> Sight {
        if let Some(follower) = &mut self.follower {
            follower.states(&self.system.board().power_states());
        }
        Sight {
            address: self.system.program_counter(),
            is_asleep: self.system.asleep_until().is_some(),
            node: self.system.profile_node().unwrap_or_default(),
            cycles: self.system.cycles().0,
            instructions: self.system.instructions(),
            time: self.time(),
        }
    }

    fn follow(&mut self, from: &Sight) {
        let to = Sight {
            cycles: self.system.cycles().0,
            instructions: self.system.instructions(),
            time: self.time(),
            ..*from
        };
        if let Some(follower) = &mut self.follower
            && to.cycles > from.cycles
        {
            follower.stacks(self.system.stack_pointers());
            follower.went(from, &to);
        }
    }

    fn stop(&self, reason: Reason) -> Stop {
        self.faulted(reason, None)
    }

    fn faulted(&self, reason: Reason, fault: Option<&Fault>) -> Stop {
        Stop {
            reason,
            address: self.system.program_counter(),
            fault: fault
                .map(|fault| fault_report(fault, &self.image.symbols, self.system.digits())),
        }
    }

    /// Take the marker's edges from the board; return whether there were any.
    fn stamp_edges(&mut self) -> bool {
        let instructions = self.system.instructions();
        let edges = self.system.board_mut().take_marker_edges();
        for edge in &edges {
            if self.options.secrets_trace {
                self.system.watch_addresses(edge.rising);
            }
            self.system.find_uses(edge.rising);
            if let Some(recorder) = &mut self.recorder {
                recorder.is_on = edge.rising;
            }
            self.marker_edges.push(MarkerEdge {
                rising: edge.rising,
                cycles: edge.cycles.0,
                instructions,
                time: self.system.timeline().at(edge.cycles),
            });
        }
        !edges.is_empty()
    }

    /// Return when the machine next acts by itself: now if its core runs, `None` if it sleeps and
    /// nothing is due to wake it. Until then, nothing needs to be done.
    ///
    /// Events of devices and radios have their own times, which may lie within the previous cycle,
    /// or in the past if the device was told late.
    pub fn next_event(&self) -> Option<Picoseconds> {
        let around = self.system.board().next_event();
        let around = around.min(self.system.next_radio_event());
        let core = match self.system.asleep_until() {
            None => self.time(),
            Some(Cycles::NEVER) => Picoseconds::NEVER,
            Some(due) => self.system.timeline().at(due.max(self.system.cycles())),
        };
        let next = core.min(around);
        (next != Picoseconds::NEVER).then_some(next)
    }

    /// Cycles of the core's clock since the start, including sleep.
    pub fn cycles(&self) -> u64 {
        self.system.cycles().0
    }

    /// The part of [`Machine::cycles`] during which the core slept.
    pub fn sleep_cycles(&self) -> u64 {
        self.system.sleep_cycles().0
    }

    /// The number of resets since the start.
    pub const fn resets(&self) -> u32 {
        self.resets
    }

    /// Instructions since the start.
    pub fn instructions(&self) -> u64 {
        self.system.instructions()
    }

    /// Time since the start.
    pub fn time(&self) -> Picoseconds {
        self.system.timeline().at_or_change(self.system.cycles())
    }

    /// The core's current clock.
    pub fn clock_hz(&self) -> u32 {
        self.system.timeline().clock().0
    }

    /// The core's description for GDB: its architecture and registers, as XML.
    pub fn gdb_description(&self) -> &'static [u8] {
        self.system.gdb_description()
    }

    /// All registers of the core, in order.
    pub fn registers(&self) -> Vec<(String, u32)> {
        self.system.registers()
    }

    /// Set a register.
    ///
    /// # Errors
    /// There is no such register, or the value does not fit.
    pub fn set_register(&mut self, name: &str, value: u32) -> Result<(), Error> {
        self.system.set_register(name, value)?;
        self.stopped_at = None;
        Ok(())
    }

    /// Read memory without side effects, in no emulated time.
    ///
    /// # Errors
    /// The range is not memory.
    pub fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, Error> {
        let start = self.system.data_address(address)?;
        self.system
            .read_memory(start, length)
            .map_err(|bad| self.no_memory("read", length, address, bad))
    }

    /// Copy the flash of an earlier machine of the same chip, because flash survives a loss of
    /// power.
    ///
    /// # Errors
    /// The other machine has a different chip.
    pub fn take_flash(&mut self, earlier: &Self, chip: &Chip) -> Result<(), Error> {
        for memory in chip.memory.iter().filter(|m| m.kind == MemoryKind::Flash) {
            let kept = earlier.read_memory(memory.start, memory.size as usize)?;
            let fresh = self.read_memory(memory.start, memory.size as usize)?;
            for (at, byte) in (memory.start..).zip(kept.iter().zip(&fresh)) {
                if byte.0 != byte.1 {
                    self.write_memory(at, &[*byte.0])?;
                }
            }
        }
        self.tear_flash(&earlier.torn_flash());
        Ok(())
    }

    /// Addresses of double words of flash that are read with an error, because a change of them was
    /// cut short.
    pub fn torn_flash(&self) -> Vec<u32> {
        self.system.torn_flash()
    }

    /// Let double words of flash be read with an error, as after a loss of power in a change of them,
    /// until they are written again.
    pub fn tear_flash(&mut self, addresses: &[u32]) {
        for &address in addresses {
            self.system.tear_flash(address);
        }
    }

    /// Keep the addresses that the program reads and writes, or stop. A digest of addresses begins
    /// anew, or ends.
    pub fn keep_accesses(&mut self, on: bool) {
        self.system.keep_accesses(on);
    }

    /// The addresses since the last call; those of instructions are among them.
    pub fn take_accesses(&mut self) -> Vec<u32> {
        self.system.take_accesses()
    }

    /// Bytes of the widest access of one address: 4, or 2 on a core of 16 bits.
    pub fn word_bytes(&self) -> u32 {
        self.system.digits() as u32 / 2
    }

    /// The address of the next instruction.
    pub fn program_counter(&self) -> u32 {
        self.system.program_counter()
    }

    /// Take over the timing of code that an earlier machine of the same chip and image has learned.
    /// This saves host time and changes no result.
    pub fn learn_from(&mut self, earlier: &mut Self) {
        self.system.learn_from(&mut *earlier.system);
    }

    /// Write memory, including flash, without side effects and in no emulated time.
    ///
    /// # Errors
    /// The range is not memory.
    pub fn write_memory(&mut self, address: u32, data: &[u8]) -> Result<(), Error> {
        let start = self.system.data_address(address)?;
        self.system
            .write_memory(start, data)
            .map_err(|bad| self.no_memory("write", data.len(), address, bad))
    }

    fn no_memory(&self, verb: &str, length: usize, address: u32, bad: u32) -> Error {
        let width = self.system.digits() + 2;
        Error::Argument(format!(
            "cannot {verb} {length} bytes at {address:#0width$x}: {bad:#0width$x} is neither flash nor \
             RAM"
        ))
    }

    /// Names of the serial ports.
    pub fn serial_ports(&self) -> &'static [&'static str] {
        self.system.board().ports()
    }

    /// Queue bytes that arrive at the chip. They wait until the receiver is on, then arrive at the
    /// line's speed.
    ///
    /// # Errors
    /// There is no such port.
    pub fn serial_write(&mut self, port: &str, data: &[u8]) -> Result<(), Error> {
        let port = self.system.board().port(port).map_err(Error::Argument)?;
        self.system.put_serial(port, data);
        Ok(())
    }

    /// Take the bytes that the program has sent since the last call, with the end of each stop bit.
    ///
    /// # Errors
    /// There is no such port.
    pub fn serial_read(&mut self, port: &str) -> Result<Vec<(u8, Picoseconds)>, Error> {
        let board = self.system.board_mut();
        let port = board.port(port).map_err(Error::Argument)?;
        Ok(board.take_sent(port))
    }

    /// Drive an input pin.
    ///
    /// # Errors
    /// There is no such pin.
    pub fn set_pin(&mut self, pin: &str, high: bool) -> Result<(), Error> {
        let pins = &self.system.board().pins;
        let pin = pins.parse(pin).map_err(Error::Argument)?;
        self.system.set_pin(pin, high);
        self.stamp_edges();
        Ok(())
    }

    /// From now on, the watch crystal is `ppb` parts in 10^9 of the machine's time too fast. A chip
    /// without one ignores this.
    pub fn set_watch_crystal(&mut self, ppb: i32) {
        self.system.set_watch_crystal(ppb);
    }

    /// Call a device of a known type at the machine's time, for example to deliver a received
    /// frame. This may change the machine's next event.
    ///
    /// # Errors
    /// There is no device of that name and type.
    pub fn with_device<T: Device, R>(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut T, &mut Lines) -> R,
    ) -> Result<R, Error> {
        let (now, timeline) = (self.time(), self.system.timeline().clone());
        let board = self.system.board_mut();
        let result = board.with_device(name, now, &timeline, act);
        self.system.take_effects();
        self.stamp_edges();
        result.map_err(Error::Argument)
    }

    /// Let a caller outside the machine use the antenna of its radio, be that a device or part of
    /// the chip; `None` if there is none. This may change the radio's next event.
    pub fn with_antenna<R>(&mut self, act: impl FnOnce(&mut Antenna) -> R) -> Option<R> {
        let (mut act, mut result) = (Some(act), None);
        let is_found = self.system.with_antenna(&mut |antenna| {
            result = act.take().map(|act| act(antenna));
        });
        if is_found {
            return result;
        }
        let timeline = self.system.timeline().clone();
        let act = act?;
        self.system.board_mut().with_antenna(&timeline, act)
    }

    /// Edges of the marker pin since the last clear.
    pub fn marker_edges(&self) -> &[MarkerEdge] {
        &self.marker_edges
    }

    /// Empty any caches and line buffers, so that timing no longer depends on earlier execution.
    pub fn forget_memory(&mut self) {
        self.system.forget_memory();
    }

    /// Discard marker edges, profile, intervals, traces and high-water marks; the machine
    /// continues.
    pub fn clear_observations(&mut self) {
        self.marker_edges.clear();
        let now = self.time();
        self.system.board_mut().clear_traces(now);
        self.system.restart_stack();
        if self.options.profile != Profiling::Off {
            self.system.start_profile(&self.image.symbols);
        }
        let follows = self.options.profile == Profiling::Instructions;
        self.follower = follows.then(|| Box::new(Follower::new(now)));
        // With a marker, only the time between its edges is of interest.
        let watched = self.options.marker.is_none() || self.system.is_watching_addresses();
        if self.options.secrets_trace && watched {
            self.system.watch_addresses(true);
        }
    }

    /// The stack's high-water mark since the last clear, measured from the stack pointer at that
    /// time.
    pub fn stack_bytes(&self) -> u32 {
        self.system.stack_bytes()
    }

    /// Power states of each part since the last clear, the chip's first; empty without
    /// [`Options::trace`].
    pub fn power_tracks(&self) -> Vec<PowerTrack> {
        self.system.board().power_tracks(self.time())
    }

    /// Pin changes since the last clear; empty without [`Options::trace`].
    pub fn pin_edges(&self) -> &[PinEdge] {
        self.system.board().pin_edges()
    }

    /// Cycles by function since the last clear; `None` without [`Options::profile`].
    pub fn profile(&mut self) -> Option<Profile> {
        let nodes = self.system.profile()?;
        Some(profile::summarise(&nodes, &self.image.symbols))
    }

    /// Execution recorded since the last clear; `None` without [`Profiling::Instructions`].
    pub fn followed(&mut self) -> Option<Followed> {
        let nodes = self.system.profile()?;
        let follower = self.follower.as_ref()?;
        Some(follower.followed(profile::paths(&nodes, &self.image.symbols)))
    }

    /// From now on count what toggles in the core, cycle by cycle, with a marker only between its
    /// edges; or stop. Instructions are then run one by one, which is slower; no result depends on
    /// it.
    pub fn count_activity(&mut self, on: bool) {
        let without_marker = self.options.marker.is_none();
        let bus_bytes = self.word_bytes();
        self.recorder = on.then(|| Box::new(Recorder::new(bus_bytes, without_marker)));
    }

    /// Take what was counted since the last call.
    pub fn take_activity(&mut self) -> Activity {
        let recorder = self.recorder.as_mut();
        recorder.map(|recorder| recorder.take()).unwrap_or_default()
    }

    fn is_recording(&self) -> bool {
        self.recorder
            .as_ref()
            .is_some_and(|recorder| recorder.is_on)
    }

    /// Look at the next instruction; returns the number of those before it, and whether it may take
    /// no cycle of its own.
    #[inline]
    fn count_before(&mut self) -> Option<(u64, bool)> {
        self.is_recording().then(|| self.count_next())
    }

    #[cold]
    fn count_next(&mut self) -> (u64, bool) {
        let glimpse = self.system.glimpse();
        let folds = glimpse.is_some_and(|glimpse| glimpse.begins.is_none());
        if let Some(recorder) = &mut self.recorder {
            recorder.before(glimpse, &Seen(&*self.system));
        }
        (self.system.instructions(), folds)
    }

    #[cold]
    fn count_after(&mut self, before: u64) {
        if let Some(recorder) = &mut self.recorder
            && self.system.instructions() == before + 1
        {
            recorder.after(self.system.cycles().0, &Seen(&*self.system));
        }
    }

    /// Whether this machine's core can follow secrets.
    pub fn follows_secrets(&self) -> bool {
        self.system.follows_secrets()
    }

    /// From now on follow these secrets and no others, through registers and memory. What they
    /// decide is found between the marker's edges, or without a marker from now on. What was found
    /// of the same secrets before is kept. What instructions in `public_code` decide may be known:
    /// it is found all the same, and what it says of the registers that they compare is no secret.
    ///
    /// # Errors
    /// The core cannot follow secrets, there are more than 64, or one is outside memory.
    pub fn follow_secrets(
        &mut self,
        secrets: &[Secret],
        public_code: &[Range<u32>],
    ) -> Result<(), Error> {
        if !self.follows_secrets() {
            let what = "the emulation of this core does not follow secrets";
            return Err(Error::Argument(what.into()));
        }
        let names = Names::of(secrets).ok_or_else(|| {
            Error::Argument(format!("{} secrets are more than 64", secrets.len()))
        })?;
        for secret in secrets {
            self.system.data_address(secret.address)?;
            let last = secret.address.saturating_add(secret.length.max(1) - 1);
            self.system.data_address(last)?;
        }
        if self.names.as_ref().is_some_and(|before| *before != names) {
            // Their origins have other meanings.
            self.system.forget_secrets();
        }
        self.system
            .follow_secrets(&names.pieces())
            .map_err(|bad| self.no_secret(bad))?;
        self.system.set_public_code(public_code);
        self.system.find_uses(self.options.marker.is_none());
        self.names = Some(names);
        Ok(())
    }

    /// Follow no secrets any more, and forget what was found.
    pub fn forget_secrets(&mut self) {
        self.system.forget_secrets();
        self.names = None;
    }

    /// These bytes are public from here on, whatever they were derived from.
    ///
    /// # Errors
    /// They are outside memory.
    pub fn declare_public(&mut self, address: u32, length: u32) -> Result<(), Error> {
        let piece = Piece {
            address: self.system.data_address(address)?,
            length,
            origin: 0,
        };
        self.system
            .mark_secret(&piece)
            .map_err(|bad| self.no_secret(bad))
    }

    fn no_secret(&self, bad: u32) -> Error {
        let width = self.system.digits() + 2;
        Error::Argument(format!(
            "no secret can be followed at {bad:#0width$x}, which is neither flash nor RAM"
        ))
    }

    /// What the followed secrets decided; `None` if none are followed.
    pub fn secrets(&self) -> Option<Secrets> {
        let report = self.system.secrets()?;
        let names = self.names.as_ref()?;
        Some(names.of_report(report, &self.image.symbols))
    }

    /// The digest of the addresses between the marker's edges, or without a marker since the last
    /// clear; `None` without [`Options::secrets_trace`].
    pub fn secrets_digest(&self) -> Option<u64> {
        let digest = self.system.address_digest();
        self.options.secrets_trace.then_some(digest)
    }
}

/// A system's registers and memory.
struct Seen<'a>(&'a dyn System);

impl Held for Seen<'_> {
    fn register(&self, number: usize) -> u32 {
        self.0.register(number)
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.0.word(address)
    }
}

/// Check that something senses each quantity that surrounds the board.
fn check_surroundings(
    system: &dyn System,
    wiring: &Wiring,
    options: &Options,
) -> Result<(), Error> {
    let devices = wiring.placements.iter();
    let mut sensed: BTreeSet<&str> = devices.flat_map(|one| one.model.senses).copied().collect();
    sensed.extend(system.senses());
    let mut asked = options.surroundings.keys();
    let Some(unknown) = asked.find(|quantity| !sensed.contains(quantity.as_str())) else {
        return Ok(());
    };
    let sensed: Vec<&str> = sensed.into_iter().collect();
    let there = match sensed[..] {
        [] => "nothing around it is sensed here".into(),
        _ => format!("what is sensed is {}", sensed.join(", ")),
    };
    Err(Error::Argument(format!(
        "nothing senses '{unknown}'; {there}"
    )))
}
