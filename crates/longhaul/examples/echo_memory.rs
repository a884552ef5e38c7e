//! Two stacks in one process, joined in memory; one echoes. `cargo run -p longhaul --example echo_memory`

use longhaul::{Stack, device};
use std::error::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (client, one, first) = Stack::builder().addresses(["10.0.0.1".parse()?]).build()?;
    let (server, other, second) = Stack::builder().addresses(["10.0.0.2".parse()?]).build()?;
    tokio::spawn(first);
    tokio::spawn(second);
    tokio::spawn(device::join(one, other));

    let listener = server.listen("10.0.0.2:7".parse()?)?;
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await?;
        let (mut read, mut write) = stream.into_split();
        tokio::io::copy(&mut read, &mut write).await
    });

    let mut stream = client.connect("10.0.0.2:7".parse()?).await?;
    stream.write_all(b"hello over TCP").await?;
    stream.shutdown().await?;
    let mut back = String::new();
    stream.read_to_string(&mut back).await?;
    println!("{back}");
    Ok(())
}
