//! The codec as its users see it: byte for byte, there and back, and against independent implementations.

mod canonical;
mod oracle;
mod properties;
mod support;
