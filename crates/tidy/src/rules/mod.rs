//! The rules, one file per concern. Each takes sources and returns what is wrong with them.

pub mod algorithms;
pub mod changelog;
pub mod circles;
pub mod configs;
pub mod documents;
pub mod layers;
pub mod opening;
pub mod pages;
pub mod rooms;
pub mod size;
pub mod variants;
pub mod words;
pub mod writers;
