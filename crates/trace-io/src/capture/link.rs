//! Extracts the IP packet from a frame, by link type (the registry of LINKTYPE_ values).
//!
//! Ethernet with any number of VLAN tags (IEEE 802.1Q, 802.1ad), raw IP, the cooked captures of `tcpdump -i any`, and the
//! loopback of the BSDs. Every other link type is counted, not read.

const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const LINUX_SLL: u32 = 113;
const LOOP: u32 = 108;
const LINUX_SLL2: u32 = 276;
/// Raw IP has several numbers; the last two imply the version.
const RAW: [u32; 5] = [101, 12, 14, 228, 229];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried<'a> {
    /// An IP packet, perhaps followed by padding.
    Ip(&'a [u8]),
    /// Something else.
    Other,
    /// Too few bytes of the frame were kept to say.
    Short,
    /// An unsupported link type.
    UnknownLink,
}

/// Looks into a frame.
#[inline]
pub(super) fn carried(link: u32, frame: &[u8]) -> Carried<'_> {
    match link {
        ETHERNET => ethernet(frame),
        LINUX_SLL => tagged(frame, 14, 16),
        LINUX_SLL2 => tagged(frame, 0, 20),
        // The address family's number and byte order depend on the capturing machine; IP itself tells its version.
        NULL | LOOP => frame.get(4..).map_or(Carried::Short, raw),
        link if RAW.contains(&link) => raw(frame),
        _ => Carried::UnknownLink,
    }
}

/// Returns the capturing host's index of the interface of a cooked frame, if it has one.
#[inline]
pub(super) fn interface_index(link: u32, frame: &[u8]) -> Option<u32> {
    let four = frame.get(4..8).filter(|_| link == LINUX_SLL2)?;
    four.try_into().map(u32::from_be_bytes).ok()
}

/// Looks into an Ethernet frame.
#[inline]
pub(super) fn ethernet(frame: &[u8]) -> Carried<'_> {
    tagged(frame, 12, 14)
}

/// A frame whose type stands at `kind_at`, and what it carries at `at`.
#[inline]
fn tagged(frame: &[u8], kind_at: usize, mut at: usize) -> Carried<'_> {
    let kind_of = |at: usize| frame.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let Some(mut kind) = kind_of(kind_at) else { return Carried::Short };
    while VLAN.contains(&kind) {
        match kind_of(at + 2) {
            Some(inner) => kind = inner,
            None => return Carried::Short,
        }
        at += 4;
    }
    of_type(kind, frame.get(at..).unwrap_or_default())
}

/// What follows an EtherType.
#[inline]
pub(super) fn of_type(kind: u16, rest: &[u8]) -> Carried<'_> {
    if matches!(kind, IPV4 | IPV6) { raw(rest) } else { Carried::Other }
}

fn raw(packet: &[u8]) -> Carried<'_> {
    match packet.first().map(|first| first >> 4) {
        Some(4 | 6) => Carried::Ip(packet),
        Some(_) => Carried::Other,
        None => Carried::Short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const PACKET: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];

    #[test_case(1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]; "ethernet")]
    #[test_case(1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 7, 8, 0]; "one tag")]
    #[test_case(1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0]; "two tags")]
    #[test_case(113, &[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]; "cooked")]
    #[test_case(276, &[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]; "cooked, second version")]
    #[test_case(0, &[2, 0, 0, 0]; "loopback of a little-endian machine")]
    #[test_case(108, &[0, 0, 0, 2]; "loopback in network order")]
    #[test_case(101, &[]; "raw")]
    #[test_case(12, &[]; "raw by its old number")]
    fn the_packet_is_found_behind_its_link_header(link: u32, header: &[u8]) {
        let frame = [header, &PACKET].concat();
        assert_eq!(carried(link, &frame), Carried::Ip(&PACKET));
        for len in 0..header.len() {
            assert_eq!(carried(link, &frame[..len]), Carried::Short, "{len}");
        }
    }

    #[test]
    fn the_second_cooked_version_names_its_interface() {
        let header = [8, 0, 0, 0, 0, 0, 1, 2, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(interface_index(276, &header), Some(0x102));
        assert_eq!((interface_index(113, &header), interface_index(276, &header[..7])), (None, None));
    }

    #[test]
    fn what_is_not_ip_is_distinguished_from_what_is_not_known() {
        let arp = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 1];
        assert_eq!(carried(1, &arp), Carried::Other);
        assert_eq!(carried(147, &arp), Carried::UnknownLink);
        assert_eq!(carried(101, &[0x15]), Carried::Other);
    }
}
