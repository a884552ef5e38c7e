//! The codec as its users see it: octet for octet, there and back, and against independent implementations.

mod canonical;
mod oracle;
mod properties;
mod support;
