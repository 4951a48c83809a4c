//! How the radio CPU handles a value of CMDR: immediate and direct commands, and submission of
//! operations (SWCU185F, sections 26.3.2 to 26.3.4 and 26.5.5).

use joulemark_kernel::{Fault, Memories, Picoseconds};

use super::entries::Queue;
use super::rat::{CHANNELS, FREE};
use super::receiver::{CcaSettings, NO_RSSI, SLOTTED_ACK};
use super::structures::Level::{Background, Foreground};
use super::structures::{Fields, Trigger, left_out, operation, result};
use super::{Cc26x0Rf, Phy, absent};

impl Cc26x0Rf {
    /// Handle a value of CMDR, and return CMDSTA.
    pub(super) fn command(
        &mut self,
        value: u32,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<u32, Fault> {
        match value & 3 {
            1 => self.direct((value >> 16) as u16, (value >> 8) as u8, memory, now),
            0 => {
                let Some(number) = Fields::read(memory, value, 2).map(|fields| fields.half(0))
                else {
                    return Ok(result::ILLEGAL_POINTER);
                };
                if let Some((kind, bytes)) = operation(number) {
                    return self.submit(kind, value, bytes, memory, now);
                }
                self.immediate(number, value, memory, now)
            }
            _ => Ok(result::ILLEGAL_POINTER),
        }
    }

    /// Run a command that may come without a structure.
    fn direct(
        &mut self,
        number: u16,
        parameter: u8,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<u32, Fault> {
        match number {
            // CMD_ABORT, CMD_STOP
            0x0401 | 0x0402 => {
                for level in [Foreground, Background] {
                    self.leave(level, number == 0x0402, memory, now)?;
                }
            }
            // CMD_GET_RSSI: in bits 16 to 23 (Contiki-NG, prop-mode.c).
            0x0403 => {
                if self.receiver.is_none() {
                    return Ok(result::CONTEXT_ERROR);
                }
                return Ok(result::DONE | u32::from(self.rssi(now) as u8) << 16);
            }
            // CMD_TRIGGER
            0x0404 => return Ok(self.trigger(parameter, now)),
            // CMD_START_RAT
            0x0405 if self.rat.is_running() => return Ok(result::CONTEXT_ERROR),
            0x0405 => self.rat.start(now, 0),
            // CMD_PING; CMD_BUS_REQUEST; the command with which TI's start-up code enables clocks
            // (rfc.c).
            0x0406 | 0x040e | 0x0607 => {}
            // CMD_DISABLE_RAT_CH
            0x0408 => {
                let channel = usize::from(parameter);
                if channel >= CHANNELS || FREE >> channel & 1 == 0 {
                    return Ok(result::PARAMETER_ERROR);
                }
                self.rat.set_compare(channel, None, now);
            }
            // CMD_IEEE_ABORT_FG, CMD_IEEE_STOP_FG
            0x2401 | 0x2402 => self.leave(Foreground, number == 0x2402, memory, now)?,
            _ => match left_out(number) {
                Some(name) => return Err(absent(name)),
                None => return Ok(result::UNKNOWN_DIRECT_COMMAND),
            },
        }
        Ok(result::DONE)
    }

    /// Run an immediate command, which has a structure.
    fn immediate(
        &mut self,
        number: u16,
        address: u32,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> Result<u32, Fault> {
        let bytes = match number {
            0x0005 => 12,
            0x0002 => 10,
            0x0001 | 0x0007 | 0x0008 | 0x000a => 8,
            0x2002 | 0x2403 => 5,
            0x0010 | 0x2001 | 0x2003 => 4,
            0x0404 | 0x0408 | 0x040e => 3,
            _ => 2,
        };
        let Some(fields) = Fields::read(memory, address, bytes) else {
            return Ok(result::ILLEGAL_POINTER);
        };
        Ok(match number {
            // CMD_UPDATE_RADIO_SETUP: overrides have no effect here.
            0x0001 => match self.setup {
                Some(_) => result::DONE,
                None => result::CONTEXT_ERROR,
            },
            // CMD_GET_FW_INFO: the version and memory size are unknown.
            0x0002 => {
                let info = [0, 0, 0, u16::from(FREE)];
                let info: Vec<u8> = info.iter().flat_map(|half| half.to_le_bytes()).collect();
                memory.write(address + 2, &info);
                result::DONE
            }
            // CMD_ADD_DATA_ENTRY
            0x0005 => match Queue(fields.word(4)).add(memory, fields.word(8)) {
                Some(true) => result::DONE,
                Some(false) => result::QUEUE_ERROR,
                None => result::PARAMETER_ERROR,
            },
            // CMD_FLUSH_QUEUE
            0x0007 | 0x0008 if self.uses_queue(fields.word(4)) => result::QUEUE_BUSY,
            0x0007 => match Queue(fields.word(4)).flush(memory) {
                Some(first) => {
                    memory.write(address + 8, &first.to_le_bytes());
                    result::DONE
                }
                None => result::PARAMETER_ERROR,
            },
            // CMD_CLEAR_RX
            0x0008 => {
                if Queue(fields.word(4)).clear(memory) {
                    result::DONE
                } else {
                    result::PARAMETER_ERROR
                }
            }
            // CMD_SET_RAT_CMP
            0x000a => {
                let channel = usize::from(fields.byte(2));
                if channel >= CHANNELS || FREE >> channel & 1 == 0 {
                    return Ok(result::PARAMETER_ERROR);
                }
                if !self.rat.is_running() {
                    return Ok(result::CONTEXT_ERROR);
                }
                self.rat.set_compare(channel, Some(fields.word(4)), now);
                result::DONE
            }
            // CMD_SET_TX_POWER
            0x0010 => {
                self.tx_power = fields.half(2);
                result::DONE
            }
            0x2001..=0x2003 | 0x2403 => {
                return Ok(self.at_receiver(number, address, &fields, memory, now));
            }
            0x0401..=0x0406 | 0x040e | 0x2401 | 0x2402 | 0x0408 => {
                let parameter = if bytes > 2 { fields.byte(2) } else { 0 };
                return self.direct(number, parameter, memory, now);
            }
            _ => match left_out(number) {
                Some(name) => return Err(absent(name)),
                None => result::UNKNOWN_COMMAND,
            },
        })
    }

    fn uses_queue(&self, queue: u32) -> bool {
        let frames = self
            .receiver
            .as_ref()
            .filter(|receiver| receiver.takes_frames);
        frames.is_some_and(|receiver| receiver.settings.queue == Queue(queue))
            && matches!(self.phy, Phy::Receiving(_))
    }

    /// Run an immediate command for a running receiver.
    fn at_receiver(
        &mut self,
        number: u16,
        address: u32,
        fields: &Fields,
        memory: &mut dyn Memories,
        now: Picoseconds,
    ) -> u32 {
        let Some(receiver) = &mut self.receiver else {
            return result::CONTEXT_ERROR;
        };
        let settings = &mut receiver.settings;
        match number {
            // CMD_IEEE_MOD_CCA
            0x2001 => {
                settings.cca = CcaSettings {
                    options: fields.byte(2),
                    threshold_dbm: fields.byte(3) as i8,
                };
            }
            _ if !receiver.takes_frames && number != 0x2403 => return result::CONTEXT_ERROR,
            // CMD_IEEE_MOD_FILT
            0x2002 => {
                if fields.half(2) & SLOTTED_ACK != 0 {
                    return result::PARAMETER_ERROR;
                }
                (settings.filter, settings.types) = (fields.half(2), fields.byte(4));
            }
            // CMD_IEEE_MOD_SRC_MATCH
            0x2003 => {
                if !settings.set_source(memory, fields.byte(2), fields.byte(3)) {
                    return result::PARAMETER_ERROR;
                }
            }
            // CMD_IEEE_CCA_REQ
            _ => {
                let settings = settings.cca;
                let ([all, energy, correlation], rssi) = self.cca(settings, now);
                let sync = u8::from(matches!(self.phy, Phy::Receiving(_)));
                let info = all as u8 | (energy as u8) << 2 | (correlation as u8) << 4 | sync << 6;
                let most = self.receiver.as_ref().map_or(NO_RSSI, |rx| rx.max_rssi);
                memory.write(address + 2, &[rssi as u8, most as u8, info]);
            }
        }
        result::DONE
    }

    /// `CMD_TRIGGER`: start or end the operations that wait for it.
    fn trigger(&mut self, number: u8, now: Picoseconds) -> u32 {
        if number > 3 {
            return result::PARAMETER_ERROR;
        }
        let mut is_awaited = false;
        for operation in self.operations.iter_mut().flatten() {
            if !operation.is_running && operation.fields.start().command() == Some(number) {
                operation.starts = now;
                is_awaited = true;
            } else if operation.is_running
                && operation.end_trigger.and_then(Trigger::command) == Some(number)
            {
                operation.ends = now;
                is_awaited = true;
            }
        }
        if is_awaited {
            result::DONE
        } else {
            result::CONTEXT_ERROR
        }
    }
}
