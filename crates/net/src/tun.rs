//! A TUN device: raw IP packets between the kernel and our stack, with or without a virtio-net header in front.
//!
//! With the header (`IFF_VNET_HDR`) a read may return a super-segment of many, a write may pass one on, and checksums are left
//! to the part that needs them. The header is read and written here, one packet per call: packets are not split only to be
//! counted.

use crate::cidr::Cidr;
use crate::device::{Device, Frame, Received};
use crate::offload;
use nix::errno::Errno;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};
use tcp::{ChecksumState, DeviceCaps, Segmentation, TxChecksum};
use tun_rs::{DeviceBuilder, SyncDevice, VIRTIO_NET_HDR_LEN};

/// Whether packets carry a virtio-net header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Yes: the kernel segments super-segments and completes checksums.
    On,
    /// No: every packet is as on a wire.
    Off,
}

/// The settings of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunConfig {
    /// Name of the interface, 1 to 15 bytes.
    pub name: String,
    /// The stack's address; the kernel gets another one of the same network.
    pub address: Cidr,
    /// Largest IP packet, bytes.
    pub mtu: u16,
    /// Virtio-net header or not.
    pub offload: Offload,
}

/// Why a device is not available.
#[derive(Debug, thiserror::Error)]
pub enum TunError {
    /// The name is not valid for an interface.
    #[error("`{0}` cannot name a network interface: 1 to 15 bytes, no `/`, no white space")]
    BadName(String),
    /// The kernel has no TUN driver, or its device node is missing.
    #[error("/dev/net/tun does not exist: load the kernel's `tun` module, or pass the device into the container")]
    NoDriver(#[source] io::Error),
    /// CAP_NET_ADMIN is missing.
    #[error(
        "creating the TUN device `{name}` needs CAP_NET_ADMIN: run as root, or `setcap cap_net_admin+ep` the program"
    )]
    NoPrivilege {
        /// The interface.
        name: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// Another program has the device open.
    #[error("the TUN device `{name}` is in use by another program: choose another name")]
    InUse {
        /// The interface.
        name: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// An interface of this name exists and is not a TUN device.
    #[error("`{name}` exists and is not a TUN device of this kind: choose another name")]
    NotTun {
        /// The interface.
        name: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// A step of the setup failed.
    #[error("cannot {step} the TUN device `{name}`: {source}")]
    SetUp {
        /// The interface.
        name: String,
        /// What was tried.
        step: &'static str,
        /// The kernel's word.
        source: io::Error,
    },
}

/// An open device. Dropping it removes the interface, unless it existed before.
pub struct Tun {
    device: SyncDevice,
    mtu: u16,
    offload: Offload,
    /// Maximum number of packets that wait to be read.
    queue: u32,
}

/// The other side of a device.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// A stack of ours.
    Stack,
    /// Several, each with a queue of its own.
    Stacks,
    /// Another device, which needs a queue of this many packets, and no unsolicited packets.
    Link { queue: u32 },
}

impl std::fmt::Debug for Tun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tun").field("mtu", &self.mtu).field("offload", &self.offload).finish_non_exhaustive()
    }
}

impl Tun {
    /// Creates the device, assigns the kernel its address, and brings it up.
    ///
    /// # Errors
    /// Names what is missing or which step failed.
    pub fn create(config: &TunConfig) -> Result<Self, TunError> {
        let address = (config.address.kernel_address(), config.address.prefix());
        Self::set_up(&config.name, config.mtu, config.offload, &[address], Behind::Stack)
    }

    /// Creates the device with so many queues, each of which can be read and written by a thread of its own. The kernel puts a flow's
    /// packets into the queue through which the flow's last packet was written, as long as it remembers it (three seconds), and those of
    /// other flows into any.
    ///
    /// # Errors
    /// As for [`Self::create`]; [`TunError::SetUp`] for more queues than the kernel has (256).
    pub fn create_queues(config: &TunConfig, queues: NonZeroU32) -> Result<Vec<Self>, TunError> {
        let address = (config.address.kernel_address(), config.address.prefix());
        let name = &config.name;
        let mut all = vec![Self::set_up(name, config.mtu, config.offload, &[address], Behind::Stacks)?];
        for _ in 1..queues.get() {
            let next = all[0].next_queue();
            let failed = |source| TunError::SetUp { name: name.clone(), step: "open another queue of", source };
            all.push(next.map_err(failed)?);
        }
        Ok(all)
    }

    /// Gives the kernel the first other address of the network of a further address of the stack, as of the other IP version.
    ///
    /// # Errors
    /// [`TunError::SetUp`], for an address of version 6 where the kernel has none of that version.
    pub fn add_address(&self, address: Cidr) -> Result<(), TunError> {
        let added = add_address(&self.device, (address.kernel_address(), address.prefix()));
        added.map_err(|source| TunError::SetUp {
            name: self.device.name().unwrap_or_default(),
            step: "give the kernel another address on",
            source,
        })
    }

    fn next_queue(&self) -> io::Result<Self> {
        let device = self.device.try_clone()?;
        device.set_nonblocking(true)?;
        Ok(Self { device, ..*self })
    }

    /// Creates a device with offload and another device behind it instead of a stack: the kernel gets these addresses themselves,
    /// and a queue of this many packets.
    pub(crate) fn create_for_link(name: &str, mtu: u16, addresses: &[Cidr], queue: u32) -> Result<Self, TunError> {
        let addresses: Vec<_> = addresses.iter().map(|cidr| (cidr.address(), cidr.prefix())).collect();
        Self::set_up(name, mtu, Offload::On, &addresses, Behind::Link { queue })
    }

    fn set_up(
        name: &str,
        mtu: u16,
        offload: Offload,
        addresses: &[(IpAddr, u8)],
        behind: Behind,
    ) -> Result<Self, TunError> {
        check_name(name)?;
        let device = open(name, offload, matches!(behind, Behind::Stacks))?;
        let queue = match behind {
            Behind::Stack | Behind::Stacks => QUEUE,
            Behind::Link { queue } => {
                keep_quiet(name, addresses);
                queue
            }
        };
        let done = |step, result: io::Result<()>| {
            result.map_err(|source| TunError::SetUp { name: name.to_owned(), step, source })
        };
        done("set the MTU of", device.set_mtu(mtu))?;
        done("set the queue length of", device.set_tx_queue_len(queue))?;
        for address in addresses {
            done("give the kernel its address on", add_address(&device, *address))?;
        }
        done("bring up", device.enabled(true))?;
        done("stop blocking on", device.set_nonblocking(true))?;
        Ok(Self { device, mtu, offload, queue })
    }

    /// Returns what a stack may send whose packets a task moves to the device. Without offload that task cuts super-segments and
    /// completes checksums (`wire::CutInPlace`), which costs less than a stack's work for each packet. [`Device::caps`] says what
    /// the device itself takes.
    pub fn caps(&self) -> DeviceCaps {
        let max_bytes = match self.offload {
            Offload::On => TSO_MAX_BYTES,
            Offload::Off => CUT_MAX_BYTES,
        };
        DeviceCaps { mtu: self.mtu, checksum: TxChecksum::Device, segmentation: Segmentation::Tso { max_bytes } }
    }

    /// Bytes of the driver's header in front of each packet.
    pub fn front(&self) -> usize {
        match self.offload {
            Offload::On => VIRTIO_NET_HDR_LEN,
            Offload::Off => 0,
        }
    }

    /// Reads a packet as [`Device::receive`] does, [`Self::front`] bytes behind the beginning of `buf`: one piece is cheaper than two.
    ///
    /// # Errors
    /// As for [`Device::receive`].
    pub fn receive_behind_front(&self, buf: &mut [u8]) -> io::Result<Received> {
        let read = self.device.recv(buf)?;
        match (self.offload, buf.first_chunk()) {
            (Offload::Off, _) => Ok(Received { len: read, gso_size: None, checksum: ChecksumState::InHeader }),
            (Offload::On, Some(header)) if read >= VIRTIO_NET_HDR_LEN => {
                Ok(offload::received(header, read - VIRTIO_NET_HDR_LEN))
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Writes a packet that begins [`Self::front`] bytes behind the beginning of `buf`: without offload a plain one, and complete.
    ///
    /// # Errors
    /// As for [`Device::transmit`].
    ///
    /// # Panics
    /// If `buf` is shorter than what is in front.
    pub fn transmit_behind_front(
        &self,
        buf: &mut [u8],
        gso_size: Option<u16>,
        checksum: ChecksumState,
    ) -> io::Result<()> {
        let (front, packet) = buf.split_at_mut(self.front());
        if self.offload == Offload::On {
            let payload = wire::split(packet).map_or(&[][..], |split| split.payload);
            let header = &packet[..packet.len() - payload.len()];
            front.copy_from_slice(&offload::virtio_header(&Frame { header, payload, gso_size, checksum }));
        }
        self.device.send(buf).map(drop)
    }

    /// Writes a packet whose header and payload lie in two places, as [`Device::transmit`] does.
    ///
    /// # Errors
    /// As for [`Device::transmit`].
    pub fn transmit_pieces(
        &self,
        header: &[u8],
        payload: &[u8],
        gso_size: Option<u16>,
        checksum: ChecksumState,
    ) -> io::Result<()> {
        let pieces = [IoSlice::new(header), IoSlice::new(payload)];
        match self.offload {
            Offload::On => {
                let virtio = offload::virtio_header(&Frame { header, payload, gso_size, checksum });
                let [header, payload] = pieces;
                self.device.send_vectored(&[IoSlice::new(&virtio), header, payload])?
            }
            Offload::Off => self.device.send_vectored(&pieces)?,
        };
        Ok(())
    }

    /// Reads a frame in the driver's format, including the header.
    pub(crate) fn read_frame(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.device.recv(buf)
    }

    /// Writes a frame in the driver's format, including the header.
    pub(crate) fn write_frame(&self, frame: &[u8]) -> io::Result<()> {
        self.device.send(frame).map(drop)
    }
}

/// Prevents the kernel from sending unsolicited packets, as far as possible: they would be the link's first
/// packets.
fn keep_quiet(name: &str, addresses: &[(IpAddr, u8)]) {
    let set = |key: &str, value: &str| {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/{key}"), value);
    };
    if addresses.iter().any(|(address, _)| address.is_ipv6()) {
        set("router_solicitations", "0");
        set("addr_gen_mode", "1");
    } else {
        set("disable_ipv6", "1");
    }
}

fn check_name(name: &str) -> Result<(), TunError> {
    let reserved = name == "." || name == "..";
    let bad = |c: char| c == '/' || c == ':' || c == '%' || c.is_whitespace() || c.is_control();
    if name.is_empty() || name.len() > 15 || reserved || name.contains(bad) {
        return Err(TunError::BadName(name.to_owned()));
    }
    Ok(())
}

fn open(name: &str, offload: Offload, queues: bool) -> Result<SyncDevice, TunError> {
    let builder = DeviceBuilder::new().name(name).offload(offload == Offload::On).multi_queue(queues).enable(false);
    let opened = builder.build_sync();
    opened.map_err(|source| {
        let name = name.to_owned();
        match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT | Errno::ENODEV | Errno::ENXIO) => TunError::NoDriver(source),
            Some(Errno::EPERM | Errno::EACCES) => TunError::NoPrivilege { name, source },
            Some(Errno::EBUSY) => TunError::InUse { name, source },
            Some(Errno::EINVAL) => TunError::NotTun { name, source },
            _ => TunError::SetUp { name, step: "create", source },
        }
    })
}

/// A device created in advance may already have the address.
fn add_address(device: &SyncDevice, (address, prefix): (IpAddr, u8)) -> io::Result<()> {
    let added = match address {
        IpAddr::V4(v4) => device.add_address_v4(v4, prefix),
        IpAddr::V6(v6) => device.add_address_v6(v6, prefix),
    };
    match added {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Maximum payload bytes of a super-segment: with the largest header it still fits a 16-bit length field.
const TSO_MAX_BYTES: u32 = u16::MAX as u32 - wire::MAX_HEADER as u32;

/// The same where a task cuts them: few enough bytes that they are in the caches then.
const CUT_MAX_BYTES: u32 = 32 << 10;

/// Packets that the kernel may queue until the stack reads them. The kernel's default of five hundred overflows when a thousand
/// connections begin at once, and the excess is lost.
const QUEUE: u32 = 10_000;

impl Device for Tun {
    fn caps(&self) -> DeviceCaps {
        match self.offload {
            Offload::On => self.caps(),
            Offload::Off => {
                DeviceCaps { mtu: self.mtu, checksum: TxChecksum::Compute, segmentation: Segmentation::Off }
            }
        }
    }

    fn queue(&self) -> usize {
        self.queue as usize
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        if self.offload == Offload::Off {
            let len = self.device.recv(buf)?;
            return Ok(Received { len, gso_size: None, checksum: ChecksumState::InHeader });
        }
        let mut header = [0; VIRTIO_NET_HDR_LEN];
        let read = self.device.recv_vectored(&mut [IoSliceMut::new(&mut header), IoSliceMut::new(buf)])?;
        let len = read.checked_sub(VIRTIO_NET_HDR_LEN).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(offload::received(&header, len))
    }

    fn transmit(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let &Frame { header, payload, gso_size, checksum } = frame;
        self.transmit_pieces(header, payload, gso_size, checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("")]
    #[test_case("sixteen-bytes-xx")]
    #[test_case("a/b")]
    #[test_case("a b")]
    #[test_case("lh%d")]
    fn bad_names_are_refused_before_the_kernel_is_asked(name: &str) {
        assert!(matches!(check_name(name), Err(TunError::BadName(_))));
    }

    #[test_case("lh0")]
    #[test_case("fifteen-bytes-")]
    fn good_names_pass(name: &str) {
        check_name(name).unwrap();
    }
}
