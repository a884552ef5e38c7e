//! The Internet checksum (RFC 1071) over a TCP segment and its pseudo-header.

/// Whether the TCP checksum of `header` + `payload` is right. `header` must have been accepted by [`crate::parse`].
pub fn verify(header: &[u8], payload: &[u8]) -> bool {
    let _ = (header, payload);
    false
}

/// Computes and stores the TCP checksum. `header` must come from [`crate::emit`] with this payload's length.
pub fn fill(header: &mut [u8], payload: &[u8]) {
    let _ = (header, payload);
}

/// Stores the pseudo-header sum only (not complemented), as virtio and Linux devices want it when they finish the
/// checksum themselves.
pub fn fill_partial(header: &mut [u8], payload_len: u32) {
    let _ = (header, payload_len);
}
