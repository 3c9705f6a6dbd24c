//! Memory that the kernel charges to sockets beside their buffers (sock_diag(7)): options, filters, and eBPF's storage.

use super::Error;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const AF_INET: u8 = 2;
const TCP: u8 = 6;
const ESTABLISHED: u32 = 1 << 1;
/// INET_DIAG_SKMEMINFO.
const MEMORY: u16 = 7;
/// SK_MEMINFO_OPTMEM of its words.
const OPTION_MEMORY: usize = 6;
const HEADER: usize = 16;
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;

/// Octets of each established IPv4 connection of the current namespace.
///
/// # Errors
/// The kernel has no sock_diag for TCP (CONFIG_INET_TCP_DIAG), or refuses.
pub fn option_memory() -> Result<Vec<u32>, Error> {
    const WHAT: &str = "memory of the sockets (sock_diag)";
    let mut socket = Socket::new(NETLINK_SOCK_DIAG).map_err(Error::system(WHAT))?;
    socket.bind_auto().map_err(Error::system(WHAT))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(Error::system(WHAT))?;
    socket.send(&request(), 0).map_err(Error::system(WHAT))?;
    let mut all = Vec::new();
    loop {
        let (octets, _) = socket.recv_from_full().map_err(Error::system(WHAT))?;
        let mut rest = &octets[..];
        while let Some((kind, body, next)) = message(rest) {
            match kind {
                DONE => return Ok(all),
                ERROR => {
                    let number = body.first_chunk().map_or(0, |four| -i32::from_ne_bytes(*four));
                    return Err(Error::system(WHAT)(std::io::Error::from_raw_os_error(number)));
                }
                _ => all.extend(of_socket(body)),
            }
            rest = next;
        }
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`: all established.
fn request() -> Vec<u8> {
    let length = (HEADER + 56) as u32;
    let mut octets = length.to_ne_bytes().to_vec();
    octets.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    octets.extend(REQUEST_DUMP.to_ne_bytes());
    octets.extend([0; 8]);
    octets.extend([AF_INET, TCP, 1 << (MEMORY - 1), 0]);
    octets.extend(ESTABLISHED.to_ne_bytes());
    octets.resize(length as usize, 0);
    octets
}

/// Kind and body of the first message, and what follows it.
fn message(octets: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*octets.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes([*octets.get(4)?, *octets.get(5)?]);
    let body = octets.get(HEADER..length)?;
    Some((kind, body, octets.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Memory of one socket, from its `struct inet_diag_msg` and the attributes.
fn of_socket(body: &[u8]) -> Option<u32> {
    let mut rest = body.get(MESSAGE..)?;
    while let [a, b, c, d, ..] = *rest {
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = rest.get(4..length)?;
        if u16::from_ne_bytes([c, d]) == MEMORY {
            return value.get(OPTION_MEMORY * 4..)?.first_chunk().map(|four| u32::from_ne_bytes(*four));
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// Needs no rights. Two sockets at least, and nothing attached to them here charges more than a page.
    #[test]
    fn connections_of_this_process_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let _near = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let _far = listener.accept().expect("its other end");
        let all = option_memory().expect("the kernel tells");
        assert!(all.len() >= 2 && all.iter().any(|&octets| octets < 4096), "{all:?}");
    }
}
