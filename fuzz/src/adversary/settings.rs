//! The configuration of one end, drawn from the input.

use crate::input::Input;
use base::Duration;
use tcp::ValidConfig;
use tcp::config::{Discovery, EcnNegotiation, FastOpenClient, FastOpenServer, KeepAliveConfig, NagleConfig};
use tcp::config::{ReceiveWindowConfig, TimestampConfig, WindowScaleConfig};

/// Draws one. Over a `narrow` path both ends listen to routers: otherwise large segments would always be lost.
pub(super) fn draw(input: &mut Input<'_>, narrow: bool) -> ValidConfig {
    let profile = if input.chance(128) { "linux" } else { "rfc" };
    let mut cfg = profiles::get(profile).expect("it is built in").draft(&[]).expect("as it is");
    let choice = input.short();
    let set = |bit: u32| choice >> bit & 1 == 1;
    cfg.options.timestamps = if set(0) { TimestampConfig::Offer } else { cfg.options.timestamps };
    cfg.options.window_scale = if set(1) { WindowScaleConfig::FromBuffer } else { cfg.options.window_scale };
    cfg.ecn.negotiation = [EcnNegotiation::Off, EcnNegotiation::Answer, EcnNegotiation::Offer][usize::from(choice % 3)];
    cfg.send.nagle = if set(2) { NagleConfig::Off } else { cfg.send.nagle };
    if set(3) {
        cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 3_000 };
    }
    cfg.send.buffer = if set(4) { 4_000 } else { cfg.send.buffer };
    if set(5) {
        cfg.fastopen.client = FastOpenClient::WithoutCookie;
        cfg.fastopen.pending_max = 4;
        cfg.fastopen.server = FastOpenServer::WithoutCookie;
    }
    if set(6) {
        let [idle, interval] = [7_200, 75].map(Duration::from_secs);
        cfg.keepalive = KeepAliveConfig::On { idle, interval, count: 9 };
    }
    cfg.path_mtu.discovery = if set(7) && !narrow { Discovery::Off } else { Discovery::On };
    cfg.validate().expect("within bounds")
}
