//! HTTPS by axum and rustls over our streams, and `curl` over the kernel's.

use crate::namespace::{V4, V6, with_stack};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::routing::get;
use longhaul::tun::Offload;
use longhaul::{TcpListener, TcpStream};
use rcgen::CertifiedKey;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use test_case::test_case;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

/// Bytes of the answer.
const BYTES: u64 = 1_000_000_000;
/// Bytes of its parts; they are alike.
const PART: usize = 1 << 16;

struct Listener {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let (stream, peer) = self.tcp.accept().await.unwrap();
        (self.tls.accept(stream).await.unwrap(), peer)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.tcp.local_addr())
    }
}

fn part() -> Vec<u8> {
    (0..PART).map(|at| (at * 31 / 7) as u8).collect()
}

async fn answer(Path(bytes): Path<u64>) -> Body {
    let part = Bytes::from(part());
    let parts = (0..bytes.div_ceil(PART as u64)).map(move |n| {
        let left = bytes - n * PART as u64;
        std::io::Result::Ok(part.slice(..left.min(PART as u64) as usize))
    });
    Body::from_stream(futures_util::stream::iter(parts))
}

#[test_case(V4)]
#[test_case(V6)]
fn curl_gets_a_gigabyte_over_tls(cidr: &'static str) {
    with_stack(
        cidr,
        Offload::On,
        |builder| builder,
        async |place| {
            let CertifiedKey { cert, signing_key } =
                rcgen::generate_simple_self_signed([place.ours.to_string()]).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let trusted = folder.path().join("certificate.pem");
            std::fs::write(&trusted, cert.pem()).unwrap();
            let key = signing_key.serialize_der().try_into().unwrap();
            let config =
                ServerConfig::builder().with_no_client_auth().with_single_cert(vec![cert.into()], key).unwrap();
            let tls = TlsAcceptor::from(Arc::new(config));
            let listener = Listener { tcp: place.net.listen(place.ours(443)).unwrap(), tls };
            let app = Router::new().route("/bytes/{n}", get(answer));
            tokio::spawn(async move { axum::serve(listener, app).await });
            let url = format!("https://{}/bytes/{BYTES}", place.ours(443));
            let mut curl = Command::new("curl")
                .args(["--silent", "--show-error", "--fail", "--noproxy", "*", "--cacert"])
                .arg(&trusted)
                .arg(url)
                .stdout(Stdio::piped())
                .spawn()
                .expect("this test needs `curl`: apt-get install -y curl");
            let (expected, mut got) = (part(), vec![0; PART]);
            let mut out = curl.stdout.take().unwrap();
            let mut left = BYTES as usize;
            while left > 0 {
                let len = left.min(PART);
                out.read_exact(&mut got[..len]).await.unwrap();
                assert!(got[..len] == expected[..len], "{left} bytes before the end");
                left -= len;
            }
            assert_eq!(out.read(&mut got).await.unwrap(), 0);
            assert!(curl.wait().await.unwrap().success());
        },
    );
}
