//! Half-closes, drawn: both sides write, close their direction in one of the ways there are, and read to the end, over paths that lose
//! and reorder, with readers that let the window close. No byte is lost, and nothing is left over.

use crate::two::{Two, any, millis, server};
use base::{Ratio, Rng};
use longhaul_tokio::virtual_time::{LossSpec, PathSpec, ReorderSpec, VirtualClock};
use longhaul_tokio::{Duration, ShutdownEnds, TcpStream, close_reason};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use test_case::test_case;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How a side closes its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    /// `shutdown`, once.
    Shutdown,
    /// `poll_shutdown` again and again, also while the first one waits.
    PolledTwice,
    /// `shutdown`, waiting for the acknowledgement.
    Acknowledged,
    /// The half that writes is dropped.
    DropHalf,
    /// With the last bytes, so that the FIN leaves with data.
    WithData,
    /// The whole stream is dropped after everything was read.
    DropStream,
    /// The connection is reset after everything was written.
    Reset,
}

const CLOSES: [Close; 7] = [
    Close::Shutdown,
    Close::PolledTwice,
    Close::Acknowledged,
    Close::DropHalf,
    Close::WithData,
    Close::DropStream,
    Close::Reset,
];

/// What a side does.
#[derive(Clone, Debug)]
struct Plan {
    bytes: usize,
    chunk: usize,
    pause: Duration,
    /// How long the reader waits before it reads, and how much it reads at once.
    reads_after: Duration,
    reads: usize,
    close: Close,
}

impl Plan {
    fn draw(rng: &mut Rng) -> Self {
        let bytes = [0, 1, 1_460, 5_000, 60_000, 200_000][rng.below(6) as usize];
        let pick = rng.below(20);
        // Resets are rarer than the others.
        let close = if pick == 0 { Close::Reset } else { CLOSES[pick as usize % 6] };
        Self {
            bytes,
            chunk: 1 + rng.below(30_000) as usize,
            pause: millis([0, 0, 3, 700][rng.below(4) as usize]),
            reads_after: millis([0, 0, 50, 20_000][rng.below(4) as usize]),
            reads: [17, 1_000, 65_536][rng.below(3) as usize],
            close,
        }
    }
}

/// What is written at a place.
fn byte(at: usize, side: u8) -> u8 {
    (at * 31 / 7) as u8 ^ side
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), plan: &Plan, side: u8, clock: &VirtualClock) -> io::Result<()> {
    let mut at = 0;
    while at < plan.bytes {
        let len = plan.chunk.min(plan.bytes - at);
        let bytes: Vec<u8> = (at..at + len).map(|at| byte(at, side)).collect();
        stream.write_all(&bytes).await?;
        at += len;
        let last = at == plan.bytes;
        if plan.pause > Duration::ZERO && !(last && plan.close == Close::WithData) {
            clock.sleep(plan.pause).await;
        }
    }
    Ok(())
}

/// Reads to the end, and returns how much that was.
async fn read(stream: &mut (impl AsyncRead + Unpin), plan: &Plan, side: u8, clock: &VirtualClock) -> io::Result<usize> {
    clock.sleep(plan.reads_after).await;
    let (mut at, mut buf) = (0, vec![0; plan.reads]);
    loop {
        let len = stream.read(&mut buf).await?;
        if len == 0 {
            return Ok(at);
        }
        for got in &buf[..len] {
            assert_eq!(*got, byte(at, side), "byte {at}");
            at += 1;
        }
    }
}

/// Polls `poll_shutdown` in every way a program may: before its turn, twice at once, and after its end.
async fn shutdown_twice(mut stream: Pin<&mut (impl AsyncWrite + ?Sized)>) -> io::Result<()> {
    poll_fn(|cx| {
        let first = stream.as_mut().poll_shutdown(cx);
        let second = stream.as_mut().poll_shutdown(cx);
        assert_eq!(first.is_ready(), second.is_ready());
        first
    })
    .await?;
    stream.shutdown().await
}

/// Lives one side's life; returns how much it read, or why it could not.
async fn live(stream: TcpStream, plan: Plan, side: u8, clock: VirtualClock) -> io::Result<usize> {
    if plan.close == Close::Acknowledged || plan.close == Close::PolledTwice {
        stream.set_shutdown_ends(ShutdownEnds::Acknowledged);
    }
    let (mut reader, mut writer) = stream.into_split();
    let reading = read(&mut reader, &plan, side ^ 1, &clock);
    let writing = async {
        let written = write(&mut writer, &plan, side, &clock).await;
        match (written, plan.close) {
            (Err(failed), _) => Err(failed),
            (Ok(()), Close::Shutdown | Close::WithData | Close::Acknowledged) => writer.shutdown().await.map(|()| None),
            (Ok(()), Close::PolledTwice) => shutdown_twice(Pin::new(&mut writer)).await.map(|()| None),
            (Ok(()), Close::DropHalf) => {
                drop(writer);
                Ok(None)
            }
            (Ok(()), Close::DropStream | Close::Reset) => Ok(Some(writer)),
        }
    };
    if plan.close == Close::DropStream {
        // The other side closes first, unless it waits for the same.
        let (written, was_read) = futures_util::future::join(writing, reading).await;
        drop(written?);
        return was_read;
    }
    if plan.close == Close::Reset {
        let kept = writing.await?;
        drop(reading);
        let stream = TcpStream::reunite(reader, kept.expect("a reset closes nothing before")).unwrap();
        stream.abort();
        return Ok(0);
    }
    let (written, was_read) = futures_util::future::join(writing, reading).await;
    written?;
    was_read
}

fn draw_path(rng: &mut Rng) -> PathSpec {
    let loss = [0, 0, 1, 5][rng.below(4) as usize];
    let delay = millis([0, 5, 50, 150][rng.below(4) as usize]);
    let late = ReorderSpec::Late { probability: Ratio::new(1, 20).unwrap(), extra: delay / 2 + millis(3) };
    PathSpec {
        loss: if loss == 0 { LossSpec::None } else { LossSpec::Bernoulli(Ratio::new(loss, 100).unwrap()) },
        reorder: if rng.below(3) == 0 { late } else { ReorderSpec::None },
        ..PathSpec::ideal(delay)
    }
}

/// Draws and runs one case.
fn one(seed: u64) {
    let mut rng = Rng::new(seed);
    let mut paths = [draw_path(&mut rng), draw_path(&mut rng)];
    let mut plans = [Plan::draw(&mut rng), Plan::draw(&mut rng)];
    if plans.iter().all(|plan| plan.close == Close::DropStream) {
        // Each would wait for the other.
        plans[0].close = Close::Shutdown;
    }
    let resets = plans.iter().any(|plan| plan.close == Close::Reset);
    if resets {
        // A reset is not repeated: who only reads would wait for a lost one without end, and one that overtakes the last ACK of
        // the handshake ends the connection before its listener has it.
        paths.iter_mut().for_each(|path| (path.loss, path.reorder) = (LossSpec::None, ReorderSpec::None));
    }
    let Two { mut world, client, server: net } = Two::over(paths.clone(), seed, |builder| builder, |builder| builder);
    let (clock, [first, second]) = (world.clock(), plans.clone());
    let (clocks, spawner) = ((clock.clone(), clock), world.spawner());
    // A stack answers for a connection that it has reset as long as it runs.
    let handles = (client.clone(), net.clone());
    let ended = world.run(async move {
        let listener = net.listen(any(80)).unwrap();
        let (done, arrived) = std::sync::mpsc::channel();
        spawner.spawn(async move {
            let out = client.connect(server(80)).await.expect("connects");
            done.send(live(out, first, 0, clocks.0).await).unwrap();
        });
        let (inward, _) = listener.accept().await.unwrap();
        drop((listener, net));
        let there = live(inward, second, 1, clocks.1).await;
        (there, arrived)
    });
    let say = || format!("seed {seed}: {plans:?} over {paths:?}");
    let (there, arrived) = ended.unwrap_or_else(|stuck| panic!("{stuck}: {}", say()));
    assert_eq!(world.settle(), 2, "more than the drivers is left: {}", say());
    assert_eq!(
        (handles.0.connections().len(), handles.1.connections().len()),
        (0, 0),
        "connections are left: {}",
        say()
    );
    drop(handles);
    assert_eq!(world.settle(), 0, "a driver is left: {}", say());
    let here = arrived.recv().unwrap();
    for (read, sent) in [(there, plans[0].bytes), (here, plans[1].bytes)] {
        match read {
            Ok(len) => assert!(len == sent || resets, "{len} of {sent} bytes: {}", say()),
            Err(failed) => assert!(resets, "{failed} ({:?}): {}", close_reason(&failed), say()),
        }
    }
}

// Four tests, so that they run side by side.
#[test_case(0)]
#[test_case(1)]
#[test_case(2)]
#[test_case(3)]
fn no_byte_is_lost_and_nothing_is_left(part: u64) {
    (0..2_500).for_each(|n| one(part * 2_500 + n));
}
