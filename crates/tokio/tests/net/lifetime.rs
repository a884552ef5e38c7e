//! How stacks begin and end: builders, listeners, shutdown, drivers that go away.

use crate::streams::connected;
use crate::two::{Two, any, millis, server};
use longhaul_tokio::virtual_time::{PathSpec, World};
use longhaul_tokio::{BuildError, CloseReason, Duration, Ended, Instant, Stack};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[test]
fn settings_that_cannot_work_are_named() {
    let built = |builder: longhaul_tokio::StackBuilder| builder.build().map(drop).unwrap_err().to_string();
    let four = ["10.0.0.1".parse().unwrap()];
    assert!(matches!(Stack::builder().build().map(drop), Err(BuildError::NoAddress)));
    assert_eq!(built(Stack::builder().addresses(four).mtu(500)), "an MTU of 500 bytes: this stack needs 576 at least");
    let six = ["fe80::1".parse().unwrap()];
    assert_eq!(
        built(Stack::builder().addresses(six).mtu(1_279)),
        "an MTU of 1279 bytes: this stack needs 1280 at least"
    );
    assert!(built(Stack::builder().addresses(four).profile("linus")).contains("did you mean `linux`?"));
}

#[test]
fn listeners_take_ports_and_give_them_back() {
    let two = Two::new(millis(10));
    let first = two.server.listen(any(80)).unwrap();
    assert_eq!(two.server.listen(any(80)).unwrap_err().kind(), ErrorKind::AddrInUse);
    drop(first);
    let again = two.server.listen(any(80)).unwrap();
    let chosen = [two.server.listen(any(0)).unwrap(), two.server.listen(any(0)).unwrap()];
    assert_ne!(chosen[0].local_addr().port(), chosen[1].local_addr().port());
    assert_eq!(again.local_addr(), any(80));
}

#[test]
fn a_listener_that_goes_away_resets_who_waited() {
    let mut two = Two::new(millis(10));
    let (client, net) = (two.client.clone(), two.server.clone());
    let kind = two.world.run(async move {
        let listener = net.listen(any(80)).unwrap();
        let mut out = client.connect(server(80)).await.unwrap();
        drop(listener);
        out.read(&mut [0]).await.unwrap_err().kind()
    });
    assert_eq!(kind.unwrap(), ErrorKind::ConnectionReset);
}

#[test]
fn an_attempt_that_is_given_up_leaves_nothing() {
    let mut two = Two::over(
        [
            PathSpec::ideal(millis(5)),
            PathSpec {
                loss: longhaul_tokio::virtual_time::LossSpec::Bernoulli(base::Ratio::ONE),
                ..PathSpec::ideal(millis(5))
            },
        ],
        1,
        |builder| builder,
        |builder| builder,
    );
    let (client, clock) = (two.client.clone(), two.world.clock());
    two.world
        .run(async move {
            let wait = clock.sleep(Duration::from_secs(3));
            futures_util::future::select(Box::pin(client.connect(server(80))), Box::pin(wait)).await;
            assert_eq!(client.connections().len(), 0);
        })
        .unwrap();
}

#[test]
fn a_driver_ends_when_nothing_uses_it() {
    let mut world = World::new(1);
    let (net, _packets, driver) =
        Stack::builder().addresses(["10.0.0.1".parse().unwrap()]).clock(world.clock()).build().unwrap();
    let ended = world.run(async move {
        drop(net.clone());
        drop(net);
        driver.await.unwrap()
    });
    assert_eq!(ended.unwrap(), Ended::Unused);
}

#[test]
fn what_was_written_is_delivered_after_every_handle_is_gone() {
    let mut two = Two::new(millis(100));
    let (client, net) = (two.client.clone(), two.server.clone());
    drop(std::mem::replace(&mut two.client, net.clone()));
    let received = two.world.run(async move {
        let (mut out, mut inward) = connected(&(client, net)).await;
        out.write_all(&[9; 300_000]).await.unwrap();
        drop(out);
        let mut all = Vec::new();
        inward.read_to_end(&mut all).await.unwrap();
        all.len()
    });
    assert_eq!(received.unwrap(), 300_000);
}

#[test]
fn a_shutdown_waits_for_connections_and_then_resets_them() {
    for (closes, took) in [(true, Duration::from_secs(1)), (false, Duration::from_secs(10))] {
        let mut two = Two::new(millis(100));
        let (client, net, clock) = (two.client.clone(), two.server.clone(), two.world.clock());
        let ends = Arc::new(Mutex::new(None));
        let (seen, peer) = (ends.clone(), two.server.clone());
        let (took_at_all, from) = two
            .world
            .run(async move {
                let (out, mut inward) = connected(&(client, net)).await;
                let from = clock.time();
                let listener = peer.listen(any(81)).unwrap();
                let spawned = clock.clone();
                let task = async move {
                    spawned.sleep(Duration::from_secs(1)).await;
                    if closes {
                        drop(out);
                        let _ = inward.read(&mut [0]).await;
                        drop(inward);
                    } else {
                        *seen.lock().unwrap() = Some(out.closed().await.unwrap());
                    }
                };
                let stop = peer.shutdown(std::time::Duration::from_secs(10));
                futures_util::future::join(task, stop).await;
                assert!(listener.accept().await.is_err() && peer.incoming().await.is_none());
                assert_eq!(peer.connect(server(1)).await.unwrap_err().kind(), ErrorKind::NotConnected);
                (clock.time().since(from), from)
            })
            .unwrap();
        assert!(from > Instant::ZERO && took_at_all >= took && took_at_all < took + millis(500), "{took_at_all:?}");
        assert_eq!(*ends.lock().unwrap(), if closes { None } else { Some(CloseReason::Reset) });
    }
}

#[test]
fn a_stack_without_its_device_ends_every_wait() {
    let mut world = World::new(1);
    let (net, packets, driver) =
        Stack::builder().addresses(["10.0.0.1".parse().unwrap()]).clock(world.clock()).build().unwrap();
    let (kind, ended) = world
        .run(async move {
            let attempt = async { net.connect(server(80)).await.unwrap_err().kind() };
            let cut = async {
                drop(packets);
                driver.await.unwrap()
            };
            futures_util::future::join(attempt, cut).await
        })
        .unwrap();
    assert_eq!((kind, ended), (ErrorKind::NotConnected, Ended::CutOff));
}

#[test]
fn a_driver_that_is_dropped_ends_every_wait() {
    let mut two = Two::new(millis(10));
    let (client, net) = (two.client.clone(), two.server.clone());
    let (clock, spawner) = (two.world.clock(), two.world.spawner());
    two.world
        .run(async move {
            let (mut out, inward) = connected(&(client, net)).await;
            let (net, _packets, driver) =
                Stack::builder().addresses(["10.0.0.3".parse().unwrap()]).clock(clock.clone()).build().unwrap();
            let waiting = net.clone();
            spawner.spawn(async move {
                assert_eq!(waiting.connect(server(80)).await.unwrap_err().kind(), ErrorKind::NotConnected);
            });
            clock.sleep(millis(1)).await;
            drop(driver);
            assert!(net.incoming().await.is_none());
            // The other stacks have nothing to do with it.
            out.write_all(b"x").await.unwrap();
            drop(inward);
        })
        .unwrap();
}

#[test]
fn a_smaller_mtu_holds_for_open_connections_too() {
    let mut two = Two::new(millis(20));
    let (client, net) = (two.client.clone(), two.server.clone());
    two.world
        .run(async move {
            assert_eq!(client.set_mtu(500).unwrap_err().kind(), ErrorKind::InvalidInput);
            let (mut out, mut inward) = connected(&(client.clone(), net)).await;
            let mut buf = vec![0; 100_000];
            for (mtu, mss) in [(1_500, 1_460), (1_000, 960), (1_400, 1_360), (9_000, 1_460)] {
                client.set_mtu(mtu).unwrap();
                let before = out.info().unwrap().counters.segments_sent;
                out.write_all(&vec![1; 100_000]).await.unwrap();
                inward.read_exact(&mut buf).await.unwrap();
                let segments = out.info().unwrap().counters.segments_sent - before;
                assert_eq!(out.info().unwrap().smss, mss, "at MTU {mtu}");
                assert!(segments >= 100_000 / u64::from(mss), "{segments} segments at MTU {mtu}");
            }
        })
        .unwrap();
}

#[test]
fn connections_and_totals_are_listed() {
    let mut two = Two::new(millis(20));
    let (client, net) = (two.client.clone(), two.server.clone());
    two.world
        .run(async move {
            let (out, _inward) = connected(&(client.clone(), net)).await;
            let all = client.connections();
            assert_eq!((all.len(), all[0].local, all[0].remote), (1, out.local_addr(), server(80)));
            let stats = client.stats();
            assert_eq!((stats.connections, stats.stack.frames_sent, stats.pipe.outbound), (1, 2, 2));
        })
        .unwrap();
}
