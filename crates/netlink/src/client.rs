//! Questions to the kernel. An answer is all of it, or an error. A list that is cut short, or that changed while it was
//! read, must not be taken for the list.

use crate::message::{Message, word};
use netlink_sys::{Socket, SocketAddr};
use nix::libc;
use std::io;

const REQUEST: u16 = libc::NLM_F_REQUEST as u16;
const ACK: u16 = libc::NLM_F_ACK as u16;
const DUMP: u16 = libc::NLM_F_DUMP as u16;
const INTERRUPTED: u16 = libc::NLM_F_DUMP_INTR as u16;
const ERROR: u16 = libc::NLMSG_ERROR as u16;
const DONE: u16 = libc::NLMSG_DONE as u16;
const OVERRUN: u16 = libc::NLMSG_OVERRUN as u16;
/// Types below are netlink's own.
const FIRST_TYPE: u16 = libc::NLMSG_MIN_TYPE as u16;
/// How often a list is asked for that changes while it is read.
const TRIES: usize = 16;

/// A socket for questions.
pub struct Client {
    socket: Socket,
    sequence: u32,
}

impl Client {
    /// Opens one, for a protocol of [`crate::protocols`].
    ///
    /// # Errors
    /// The kernel has none to give.
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Asks for one thing, or has something done.
    ///
    /// # Errors
    /// The kernel's, or the socket fails.
    pub fn ask(&mut self, kind: u16, payload: &[u8]) -> io::Result<Answer> {
        self.exchange(kind, ACK, payload)
    }

    /// Asks for a list.
    ///
    /// # Errors
    /// The kernel's, the socket fails, or the list changes each time while it is read.
    pub fn list(&mut self, kind: u16, payload: &[u8]) -> io::Result<Answer> {
        for _ in 0..TRIES {
            let answer = self.exchange(kind, DUMP, payload)?;
            if !answer.interrupted {
                return Ok(answer);
            }
        }
        Err(io::Error::other(format!("the list has changed {TRIES} times while it was read")))
    }

    fn exchange(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<Answer> {
        self.sequence = self.sequence.wrapping_add(1);
        let question = Message { kind, flags: REQUEST | flags, sequence: self.sequence, payload };
        self.socket.send(&question.octets(), 0)?;
        let mut answer = Answer::to(self.sequence);
        while !answer.complete {
            answer.take(self.socket.recv_from_full()?.0)?;
        }
        Ok(answer)
    }
}

/// An answer of the kernel.
#[derive(Debug)]
pub struct Answer {
    sequence: u32,
    datagrams: Vec<Vec<u8>>,
    interrupted: bool,
    complete: bool,
}

impl Answer {
    fn to(sequence: u32) -> Self {
        Self { sequence, datagrams: Vec::new(), interrupted: false, complete: false }
    }

    /// The messages of the answer.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let all = self.datagrams.iter().flat_map(|datagram| Message::all(datagram));
        all.filter(|message| message.sequence == self.sequence && message.kind >= FIRST_TYPE)
    }

    /// Another part of it, or the rest of an answer that was given up.
    fn take(&mut self, datagram: Vec<u8>) -> io::Result<()> {
        for message in Message::all(&datagram).filter(|message| message.sequence == self.sequence) {
            self.interrupted |= message.flags & INTERRUPTED != 0;
            match message.kind {
                ERROR | DONE => {
                    // An acknowledgement is an error of 0; the end of a list may tell that it is cut short.
                    match word(message.payload).map_or(0, u32::cast_signed) {
                        code @ ..0 => return Err(io::Error::from_raw_os_error(code.saturating_neg())),
                        _ => self.complete = true,
                    }
                }
                OVERRUN => return Err(io::Error::from_raw_os_error(libc::ENOBUFS)),
                _ => {}
            }
        }
        self.datagrams.push(datagram);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        Message { kind, flags, sequence, payload }.octets()
    }

    /// These datagrams as an answer to question 7: how many messages, whether it is complete and interrupted.
    fn answer(datagrams: &[Vec<u8>]) -> Result<(usize, bool, bool), Option<i32>> {
        let mut answer = Answer::to(7);
        for datagram in datagrams {
            answer.take(datagram.clone()).map_err(|error| error.raw_os_error())?;
        }
        Ok((answer.messages().count(), answer.complete, answer.interrupted))
    }

    fn code(code: i32) -> [u8; 4] {
        code.to_ne_bytes()
    }

    #[test]
    fn an_error_is_no_empty_list() {
        assert_eq!(answer(&[message(ERROR, 0, 7, &code(-libc::EPERM))]), Err(Some(libc::EPERM)));
        let route = message(24, 0, 7, &[0; 12]);
        let cut = message(DONE, 0, 7, &code(-libc::ENOMEM));
        assert_eq!(answer(&[route, cut]), Err(Some(libc::ENOMEM)), "a list that ends with an error");
        assert_eq!(answer(&[message(OVERRUN, 0, 7, &[])]), Err(Some(libc::ENOBUFS)));
    }

    #[test]
    fn an_acknowledgement_ends_an_answer() {
        let route = message(24, 0, 7, &[0; 12]);
        assert_eq!(answer(std::slice::from_ref(&route)), Ok((1, false, false)), "more is to come");
        let end = message(ERROR, 0, 7, &code(0));
        assert_eq!(answer(&[route.clone(), end]), Ok((1, true, false)));
        assert_eq!(answer(&[[route, message(DONE, 0, 7, &code(0))].concat()]), Ok((1, true, false)));
    }

    #[test]
    fn the_rest_of_another_answer_is_none_of_this_one() {
        let before = [message(24, 0, 6, &[0; 12]), message(DONE, 0, 6, &code(0))].concat();
        let late = message(ERROR, 0, 6, &code(-libc::EPERM));
        let end = message(DONE, 0, 7, &code(0));
        assert_eq!(answer(&[before.clone(), late.clone()]), Ok((0, false, false)));
        assert_eq!(answer(&[before, late, end]), Ok((0, true, false)));
    }

    #[test]
    fn a_list_that_changed_is_known_also_by_its_end() {
        for flags in [[INTERRUPTED, 0], [0, INTERRUPTED]] {
            let list = [message(24, flags[0], 7, &[0; 12]), message(DONE, flags[1], 7, &code(0))].concat();
            assert_eq!(answer(&[list]), Ok((1, true, true)));
        }
    }

    #[test]
    fn the_kernel_answers() {
        let mut client = Client::open(crate::protocols::NETLINK_ROUTE).expect("a socket");
        let links = client.list(libc::RTM_GETLINK, &[0; 16]).expect("a list");
        assert!(links.messages().all(|message| message.kind == libc::RTM_NEWLINK));
        assert!(links.messages().count() > 0, "lo is everywhere");
        let mut nobody = [0; 16];
        nobody[4..8].copy_from_slice(&i32::MAX.to_ne_bytes());
        let error = client.ask(libc::RTM_GETLINK, &nobody).expect_err("no such device");
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
        let mut lo = [0; 16];
        lo[4..8].copy_from_slice(&1i32.to_ne_bytes());
        let one = client.ask(libc::RTM_GETLINK, &lo).expect("lo is the first device");
        assert_eq!(one.messages().count(), 1, "after the error of another question");
    }
}
