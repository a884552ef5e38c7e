//! Paths, ranges and answers, over a folder with traps in it.

use super::*;
use hyper::body::Body;
use std::os::unix::fs::symlink;
use test_case::test_case;

#[test_case("bytes=0-0", 10, Part::Of(0, 0))]
#[test_case("bytes=2-", 10, Part::Of(2, 9))]
#[test_case("bytes=2-99", 10, Part::Of(2, 9))]
#[test_case("bytes=-3", 10, Part::Of(7, 9))]
#[test_case("bytes=-99", 10, Part::Of(0, 9))]
#[test_case("Bytes=9-9", 10, Part::Of(9, 9))]
#[test_case("bytes=10-", 10, Part::Unsatisfiable)]
#[test_case("bytes=-0", 10, Part::Unsatisfiable)]
#[test_case("bytes=0-", 0, Part::Unsatisfiable)]
#[test_case("bytes=-1", 0, Part::Unsatisfiable)]
#[test_case("bytes=99999999999999999999-", 10, Part::Unsatisfiable)]
#[test_case("bytes=0-99999999999999999999", 10, Part::Of(0, 9))]
#[test_case("bytes=3-2", 10, Part::Whole)]
#[test_case("bytes=0-1,3-4", 10, Part::Whole)]
#[test_case("bytes=-", 10, Part::Whole)]
#[test_case("bytes=+1-2", 10, Part::Whole)]
#[test_case("bytes", 10, Part::Whole)]
#[test_case("lines=0-1", 10, Part::Whole)]
fn a_range_is_read_as_the_rfc_says(field: &str, len: u64, part: Part) {
    assert_eq!(range::parse(field, len), part);
}

#[test_case("/a%20b", Some(b"/a b"))]
#[test_case("/%2e%2E/", Some(b"/../"))]
#[test_case("/%ff", Some(b"/\xff"))]
#[test_case("/%", None)]
#[test_case("/%2", None)]
#[test_case("/%+1", None)]
#[test_case("/%zz", None)]
#[test_case("/a%00b", None)]
#[test_case("*", None)]
fn a_path_is_decoded_or_malformed(path: &str, bytes: Option<&[u8]>) {
    assert_eq!(listing::decode(path).as_deref(), bytes);
}

/// A folder with files, links, and a secret beside it.
fn place() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().unwrap();
    let inside = place.path().join("inside");
    std::fs::create_dir_all(inside.join("sub")).unwrap();
    std::fs::write(place.path().join("secret"), "secret").unwrap();
    std::fs::write(inside.join("ten.txt"), "0123456789").unwrap();
    std::fs::write(inside.join("sub/a <b>&\"c"), "x").unwrap();
    symlink("../secret", inside.join("out")).unwrap();
    symlink(place.path().join("secret"), inside.join("absolute")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    symlink("sub/../ten.txt", inside.join("in.txt")).unwrap();
    nix::unistd::mkfifo(&inside.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let folder = Folder::open(&inside).unwrap();
    (place, folder)
}

fn get(folder: &Folder, path: &str, fields: &[(&'static str, &str)]) -> Response<Content> {
    let fields = fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    respond(folder, &Method::GET, path, &fields)
}

#[test_case("/ten.txt", 200; "file")]
#[test_case("//ten.txt", 200; "slashes")]
#[test_case("/sub/../ten.txt", 200; "within")]
#[test_case("/in.txt", 200; "link within")]
#[test_case("/", 200; "folder")]
#[test_case("/sub", 301; "folder without its slash")]
#[test_case("/ten.txt/", 404; "file with a slash")]
#[test_case("/none", 404; "nothing")]
#[test_case("/../secret", 404; "parent")]
#[test_case("/%2e%2e/secret", 404; "encoded parent")]
#[test_case("/..%2fsecret", 404; "encoded slash")]
#[test_case("/sub/../../secret", 404; "parent of the parent")]
#[test_case("/out", 404; "link outside")]
#[test_case("/absolute", 404; "absolute link outside")]
#[test_case("/up/secret", 404; "through a link")]
#[test_case("/up/", 404; "link to the parent")]
#[test_case("/pipe", 404; "pipe")]
#[test_case("/%00", 400; "zero")]
fn what_lies_outside_is_not_there(path: &str, status: u16) {
    let (_place, folder) = place();
    assert_eq!(get(&folder, path, &[]).status(), status);
}

#[test]
fn ranges_are_part_of_a_get_of_the_file_that_the_client_knows() {
    let (_place, folder) = place();
    let whole = get(&folder, "/ten.txt", &[]);
    let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(
        (whole.body().size_hint().exact(), &whole.headers()["accept-ranges"]),
        (Some(10), &"bytes".parse().unwrap())
    );
    let part = get(&folder, "/ten.txt", &[("range", "bytes=2-4"), ("if-range", &tag)]);
    assert_eq!((part.status(), part.body().size_hint().exact()), (StatusCode::PARTIAL_CONTENT, Some(3)));
    assert_eq!(part.headers()["content-range"], "bytes 2-4/10");
    let other = get(&folder, "/ten.txt", &[("range", "bytes=2-4"), ("if-range", "\"other\"")]);
    assert_eq!(other.status(), StatusCode::OK);
    let beyond = get(&folder, "/ten.txt", &[("range", "bytes=10-")]);
    assert_eq!(
        (beyond.status(), &beyond.headers()["content-range"]),
        (StatusCode::RANGE_NOT_SATISFIABLE, &"bytes */10".parse().unwrap())
    );
    let fields = [("range".parse().unwrap(), "bytes=2-4".parse().unwrap())].into_iter().collect();
    let head = respond(&folder, &Method::HEAD, "/ten.txt", &fields);
    assert_eq!((head.status(), head.body().size_hint().exact()), (StatusCode::OK, Some(0)));
    assert_eq!(head.headers()["content-length"], "10");
    let post = respond(&folder, &Method::POST, "/ten.txt", &fields);
    assert_eq!(
        (post.status(), &post.headers()["allow"]),
        (StatusCode::METHOD_NOT_ALLOWED, &"GET, HEAD".parse().unwrap())
    );
}

#[test]
fn a_listing_links_every_name_and_runs_none() {
    let (_place, folder) = place();
    let Content::Text(page) = get(&folder, "/sub/", &[]).into_body() else { panic!("a listing is text") };
    let page = String::from_utf8(page.to_vec()).unwrap();
    assert!(page.contains("<a href=\"./a%20%3Cb%3E%26%22c\">a &lt;b&gt;&amp;&quot;c</a>"), "{page}");
    let moved = get(&folder, "//evil.example/..", &[]);
    assert!(moved.headers().get("location").is_none_or(|to| !to.as_bytes().starts_with(b"//")));
}
