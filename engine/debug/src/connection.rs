//! A TCP connection whose waits can be interrupted.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use gdbstub::conn::ConnectionExt;

const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes to and from a debugger.
pub struct Connection<'a> {
    stream: TcpStream,
    go_on: &'a mut dyn FnMut() -> bool,
}

impl<'a> Connection<'a> {
    /// Wait until a debugger connects.
    ///
    /// # Errors
    /// The connection failed, or `go_on` returned false.
    pub fn accept(listener: &TcpListener, go_on: &'a mut dyn FnMut() -> bool) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_nodelay(true)?;
                    return Ok(Self { stream, go_on });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    check(go_on)?;
                    std::thread::sleep(PATIENCE);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn check(go_on: &mut dyn FnMut() -> bool) -> io::Result<()> {
    if go_on() {
        Ok(())
    } else {
        Err(io::Error::new(ErrorKind::Interrupted, "interrupted"))
    }
}

impl gdbstub::conn::Connection for Connection<'_> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        Write::write_all(&mut self.stream, &[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.stream)
    }
}

impl ConnectionExt for Connection<'_> {
    fn read(&mut self) -> io::Result<u8> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        let mut byte = [0];
        loop {
            match Read::read(&mut self.stream, &mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(byte[0]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    check(self.go_on)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        check(self.go_on)?;
        self.stream.set_nonblocking(true)?;
        let mut byte = [0];
        let seen = match TcpStream::peek(&self.stream, &mut byte) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(Some(byte[0])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        };
        self.stream.set_nonblocking(false)?;
        seen
    }
}
