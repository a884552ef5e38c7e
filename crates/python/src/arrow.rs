//! Arrow's C data interface: the structures through which readers take batches without a copy. Each structure owns what it points to,
//! until its `release` is called, once, by whoever holds it then.
//! Source: the Apache Arrow columnar format, "The Arrow C data interface" and "The Arrow C stream interface". Their layout is frozen.

use crate::batch::{Batch, Buffer, Data, Values};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use trace_io::sheet::{Column, ColumnKind};

/// A flag of a field: rows may lack a value.
const NULLABLE: i64 = 2;

/// What a column, or a table, is.
#[repr(C)]
#[derive(Debug)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// Rows of a column, or of a table.
#[repr(C)]
#[derive(Debug)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// Batches, one after the other.
#[repr(C)]
#[derive(Debug)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// What a schema points to.
struct SchemaParts {
    name: CString,
    /// Empty where there is none.
    metadata: Vec<u8>,
    children: Vec<*mut Schema>,
}

/// What an array points to. The batch keeps the buffers.
struct ArrayParts {
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    _batch: Arc<Batch>,
}

/// Where a stream is.
struct Reading {
    data: Arc<Data>,
    next: usize,
}

// SAFETY: all three own what they point to, none of it belongs to a thread, and nothing changes it but their holder.
unsafe impl Send for Schema {}
// SAFETY: as above.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Send for Stream {}

impl Schema {
    /// That of a table: a struct of its columns.
    pub fn of_table(columns: &[Column]) -> Self {
        let children = columns.iter().map(|column| Box::into_raw(Box::new(Self::of_column(column)))).collect();
        Self::new(c"+s", "", Vec::new(), 0, children)
    }

    fn of_column(column: &Column) -> Self {
        let format = match column.kind {
            ColumnKind::Wide => c"L",
            ColumnKind::Narrow => c"I",
            ColumnKind::Real => c"g",
            ColumnKind::Flag => c"b",
            ColumnKind::Word => c"u",
        };
        let flags = if column.optional { NULLABLE } else { 0 };
        Self::new(format, &column.name, column.unit.map(metadata).unwrap_or_default(), flags, Vec::new())
    }

    fn new(format: &'static CStr, name: &str, metadata: Vec<u8>, flags: i64, children: Vec<*mut Self>) -> Self {
        let name = CString::new(name).expect("names of columns have no zero");
        let mut parts = Box::new(SchemaParts { name, metadata, children });
        Self {
            format: format.as_ptr(),
            name: parts.name.as_ptr(),
            metadata: if parts.metadata.is_empty() { ptr::null() } else { parts.metadata.as_ptr().cast() },
            flags,
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

/// One pair, the unit: numbers of pairs and of bytes are 32 bits of this machine.
fn metadata(unit: &str) -> Vec<u8> {
    let mut bytes = 1_i32.to_ne_bytes().to_vec();
    for text in ["unit", unit] {
        bytes.extend((text.len() as i32).to_ne_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

impl Array {
    /// Rows of a table: a struct, none of whose rows is absent.
    fn of_batch(batch: &Arc<Batch>) -> Self {
        let own = |values| Box::into_raw(Box::new(Self::of_column(batch, values)));
        let children = batch.values.iter().map(own).collect();
        Self::new(batch, 0, vec![ptr::null()], children)
    }

    fn of_column(batch: &Arc<Batch>, values: &Values) -> Self {
        let validity = values.validity.as_ref().map_or(ptr::null(), |bits| bits.bytes.as_ptr().cast());
        let mut buffers: Vec<*const c_void> = vec![validity];
        match &values.buffer {
            Buffer::Wide(values) => buffers.push(values.as_ptr().cast()),
            Buffer::Narrow(values) => buffers.push(values.as_ptr().cast()),
            Buffer::Real(values) => buffers.push(values.as_ptr().cast()),
            Buffer::Flag(bits) => buffers.push(bits.bytes.as_ptr().cast()),
            Buffer::Word { offsets, bytes } => {
                buffers.extend([offsets.as_ptr().cast(), bytes.as_ptr().cast::<c_void>()])
            }
        }
        Self::new(batch, values.absent as i64, buffers, Vec::new())
    }

    fn new(batch: &Arc<Batch>, null_count: i64, buffers: Vec<*const c_void>, children: Vec<*mut Self>) -> Self {
        let mut parts = Box::new(ArrayParts { buffers, children, _batch: Arc::clone(batch) });
        Self {
            length: batch.rows as i64,
            null_count,
            offset: 0,
            n_buffers: parts.buffers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.buffers.as_mut_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    /// What a stream returns behind its last batch.
    const fn end() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl Stream {
    /// All batches of a table.
    pub fn new(data: Arc<Data>) -> Self {
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(Reading { data, next: 0 })).cast(),
        }
    }
}

/// Whoever takes one of them over sets its `release` to null, and what is left owns nothing.
macro_rules! released_when_dropped {
    ($($structure:ident)*) => {$(
        impl Drop for $structure {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it was not released, or there would be no function, and there is no use of it after this.
                    unsafe { release(self) }
                }
            }
        }
    )*};
}
released_when_dropped! { Schema Array Stream }

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the holder passes a structure that `Schema::new` made, and was not released; its parts are a box of this type, and each
    // child is a box, which releases itself unless it was taken over.
    unsafe {
        (*schema).release = None;
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        parts.children.iter().for_each(|child| drop(Box::from_raw(*child)));
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as for schemas.
    unsafe {
        (*array).release = None;
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        parts.children.iter().for_each(|child| drop(Box::from_raw(*child)));
    }
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the holder passes a stream that `Stream::new` made, and was not released.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private_data.cast::<Reading>()));
    }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the stream was not released, and `out` has room for a structure and holds none.
    unsafe {
        let reading = &*(*stream).private_data.cast::<Reading>();
        ptr::write(out, Schema::of_table(&reading.data.columns));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: as for the schema; one thread at a time calls functions of a stream.
    unsafe {
        let reading = &mut *(*stream).private_data.cast::<Reading>();
        let next = reading.data.batches.get(reading.next).map_or_else(Array::end, Array::of_batch);
        reading.next += 1;
        ptr::write(out, next);
    }
    0
}

/// Nothing here fails.
unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}
