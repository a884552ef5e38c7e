//! Applications that do something at a time of their own.

use super::*;
use crate::apps::AppCx;
use tcp::StackEvent;

/// Opens a connection at one time and is done at another.
struct Punctual {
    times: Vec<Duration>,
    came: Vec<Instant>,
}

impl App for Punctual {
    fn start<O: Observer>(&mut self, _: &mut AppCx<'_, O>) -> Result<(), StartError> {
        Ok(())
    }
    fn on_event<O: Observer>(&mut self, _: &mut AppCx<'_, O>, _: StackEvent) {}
    fn on_stop<O: Observer>(&mut self, _: &mut AppCx<'_, O>) {}
    fn due(&self) -> Option<Instant> {
        self.times.first().map(|time| Instant::ZERO + *time)
    }
    fn on_time<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.times.remove(0);
        self.came.push(cx.now());
        if self.came.len() == 1 {
            cx.connect(&Config::default().validate().unwrap(), (IpAddr::from([10, 9, 0, 2]), 9).into()).unwrap();
        }
    }
    fn is_done(&self) -> bool {
        self.times.is_empty()
    }
}

#[test]
fn an_application_is_called_at_its_times_and_the_loop_wakes_for_them() {
    let mut app = Punctual { times: [2, 5].map(Duration::from_secs).to_vec(), came: Vec::new() };
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    let mut client = Bench::new(Default::default()).client;
    let now = client.clock.0.clone();
    // The connection of its own application waits for an answer; none of its timers is due before a second.
    let wake = client.step(&mut app, &mut Off).unwrap();
    assert!(wake.is_some_and(|wake| wake <= at(2)) && app.came.is_empty(), "{wake:?}");
    now.set(at(2));
    let sent = client.outlet.device.writes.borrow().len();
    client.step(&mut app, &mut Off).unwrap();
    assert_eq!((&app.came[..], app.is_done()), (&[at(2)][..], false));
    assert!(client.outlet.device.writes.borrow().len() > sent, "its SYN leaves in the same step");
    now.set(at(6));
    client.step(&mut app, &mut Off).unwrap();
    assert_eq!((&app.came[..], app.is_done()), (&[at(2), at(6)][..], true), "late, and once");
}
