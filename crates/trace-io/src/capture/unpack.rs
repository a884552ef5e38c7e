//! The bytes of a capture, as they are or out of a compressed file: gzip (RFC 1952) or Zstandard (RFC 8878), recognised by the
//! first bytes.
//!
//! Both formats allow several members behind each other, which `cat` and parallel compressors produce; all of them are read.
//! A Zstandard frame may ask for at most 128 MiB of memory, the decoder's own limit.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of the compressed file that are requested at once.
const CHUNK: usize = 256 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Frames without content may come first; the lowest four bits are free (RFC 8878 §3.1.2).
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Where the bytes come from.
pub(super) enum Source<R> {
    Plain(Joined<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Joined<R>>>>),
    Zstd(Box<Frames<BufReader<Joined<R>>>>),
}

/// The first bytes, which were inspected, followed by the rest.
type Joined<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

impl<R: Read> Source<R> {
    pub fn open(mut file: R) -> io::Result<Self> {
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic)?;
        let is_gzip = magic.starts_with(&GZIP);
        let is_zstd = magic == ZSTD || (magic.len() == 4 && magic[0] >> 4 == 5 && magic[1..] == SKIPPABLE);
        let joined = io::Cursor::new(magic).chain(file);
        if !is_gzip && !is_zstd {
            return Ok(Self::Plain(joined));
        }
        let buffered = BufReader::with_capacity(CHUNK, joined);
        Ok(if is_gzip {
            Self::Gzip(Box::new(MultiGzDecoder::new(buffered)))
        } else {
            Self::Zstd(Box::new(Frames { source: buffered, decoder: FrameDecoder::new(), is_open: false }))
        })
    }

    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Plain(file) => file.read(into),
                Self::Gzip(file) => file.read(into),
                Self::Zstd(file) => file.read(into),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

/// The frames of a Zstandard file, one after the other: the library's reader ends with the first.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    is_open: bool,
}

impl<R: BufRead> Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.is_open && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, block).map_err(described)?;
            }
            if self.is_open && self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            if self.is_open {
                self.is_open = false;
                let stored = self.decoder.get_checksum_from_data();
                if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                    return Err(invalid("the checksum of a Zstandard frame is wrong"));
                }
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => self.is_open = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(described(error)),
            }
        }
    }
}

fn invalid(problem: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Returns the error of the file below, if that is the cause: a file that ends too early is not a damaged one.
fn described(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return io::Error::new(io.kind(), error.to_string());
        }
        cause = inner.source();
    }
    invalid(error.to_string())
}
