//! The kernel's own announcements: multicast groups, read without waiting.

use netlink_sys::{Socket, SocketAddr};
use nix::libc;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// A socket that belongs to groups.
pub struct Listener {
    socket: Socket,
}

/// Messages of the kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// In order.
    pub datagrams: Vec<Vec<u8>>,
    /// More had been told than the socket had room for (ENOBUFS): what it is about is to be asked for.
    pub lost: bool,
}

impl Listener {
    /// Opens one with room for so many octets, for groups of a protocol of [`crate::protocols`].
    ///
    /// # Errors
    /// The kernel has none to give, or no such groups.
    pub fn open(protocol: isize, groups: &[u32], room: usize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        socket.set_rx_buf_sz(room)?;
        groups.iter().try_for_each(|group| socket.add_membership(*group))?;
        Ok(Self { socket })
    }

    /// Messages since the last call; none, if there were none.
    ///
    /// # Errors
    /// The socket fails.
    pub fn read(&self) -> io::Result<News> {
        let mut news = News::default();
        let mut octets = Vec::with_capacity(1 << 15);
        loop {
            octets.clear();
            match self.socket.recv_from(&mut octets, libc::MSG_DONTWAIT) {
                // Only the kernel tells.
                Ok((_, from)) if from.port_number() != 0 => {}
                Ok(_) => news.datagrams.push(octets.clone()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(news),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => news.lost = true,
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::NETLINK_USERSOCK;

    /// The group of programs that speak to each other; joining it takes CAP_NET_ADMIN.
    const GROUP: u32 = 1;

    #[test]
    #[ignore = "needs net-admin"]
    fn it_knows_when_something_was_lost_and_hears_nobody_but_the_kernel() {
        let listener = Listener::open(NETLINK_USERSOCK, &[GROUP], 1 << 12).expect("a socket");
        assert_eq!(listener.read().expect("nothing yet"), News::default());
        let mut speaker = Socket::new(NETLINK_USERSOCK).expect("a socket");
        speaker.bind_auto().expect("an address");
        // To the group, and to the kernel, which refuses it.
        let say = || drop(speaker.send_to(&[0; 1000], &SocketAddr::new(0, GROUP), 0));
        say();
        assert_eq!(listener.read().expect("one of somebody's"), News::default());
        (0..64).for_each(|_| say());
        assert_eq!(listener.read().expect("too much"), News { datagrams: Vec::new(), lost: true });
        assert_eq!(listener.read().expect("told once"), News::default());
    }
}
