//! Network namespaces in the kernel. This needs root; without it the tests fail and say so, they do not skip.

use longhaul_net::{Namespace, NamespaceError, Offload, Tun, TunConfig};
use nix::sched::{CloneFlags, unshare};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns an unused name.
fn name() -> String {
    assert!(nix::unistd::geteuid().is_root(), "this test needs root, to make network namespaces");
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("lh-ns-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Identifies the calling thread's namespace.
fn own() -> u64 {
    std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino()
}

#[test]
fn work_is_done_inside_and_the_caller_stays_where_it_was() {
    let before = own();
    let namespace = Namespace::create(&name()).unwrap();
    let inside = namespace.run(own).unwrap();
    assert_ne!(inside, before);
    assert_eq!(own(), before);
    assert_eq!(namespace.run(own).unwrap(), inside);
}

#[test]
fn a_thread_that_entered_stays_inside() {
    let namespace = Namespace::create(&name()).unwrap();
    let (first, later) =
        std::thread::scope(|scope| scope.spawn(|| namespace.enter().map(|()| (own(), own())).unwrap()).join().unwrap());
    assert_eq!([first, later], [namespace.run(own).unwrap(); 2]);
}

#[test]
fn a_created_one_is_mounted_under_its_name_and_goes_with_its_value() {
    let name = name();
    let namespace = Namespace::create(&name).unwrap();
    let path = Path::new("/run/netns").join(&name);
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), namespace.run(own).unwrap());
    assert_eq!(Namespace::list(&name).unwrap(), std::slice::from_ref(&name));
    drop(namespace);
    assert!(!path.exists());
    assert_eq!(Namespace::list(&name).unwrap(), [""; 0]);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&name), "{mounts}");
}

#[test]
fn an_opened_one_stays() {
    let name = name();
    let created = Namespace::create(&name).unwrap();
    let opened = Namespace::open(&name).unwrap();
    assert_eq!(opened.run(own).unwrap(), created.run(own).unwrap());
    drop(opened);
    assert_eq!(Namespace::open(&name).unwrap().name(), name);
}

#[test]
fn the_loopback_device_is_up() {
    let namespace = Namespace::create(&name()).unwrap();
    let came = namespace.run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"x").unwrap();
        let mut byte = [0];
        listener.accept().unwrap().0.read_exact(&mut byte).unwrap();
        byte
    });
    assert_eq!(came.unwrap(), *b"x");
}

#[test]
fn a_default_route_leads_to_its_gateway() {
    let namespace = Namespace::create(&name()).unwrap();
    let gateway = "10.9.0.2".parse().unwrap();
    assert!(matches!(namespace.route_all_via(gateway), Err(NamespaceError::Failed { .. })), "nothing leads there yet");
    let config =
        TunConfig { name: "lh0".to_owned(), address: "10.9.0.2/24".parse().unwrap(), mtu: 1500, offload: Offload::Off };
    let _device = namespace.run(|| Tun::create(&config).unwrap()).unwrap();
    namespace.route_all_via(gateway).unwrap();
    let routes = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/route").unwrap()).unwrap();
    let default: Vec<&str> = routes.lines().filter(|line| line.starts_with("lh0\t00000000\t0200090A\t")).collect();
    assert_eq!(default.len(), 1, "{routes}");
}

#[test]
fn a_name_is_given_once_and_missed_when_gone() {
    let name = name();
    let namespace = Namespace::create(&name).unwrap();
    assert!(matches!(Namespace::create(&name), Err(NamespaceError::Exists(_))));
    drop(namespace);
    assert!(matches!(Namespace::open(&name), Err(NamespaceError::NotFound(_))));
    assert!(matches!(Namespace::remove(&name), Err(NamespaceError::NotFound(_))));
}

#[test]
fn what_somebody_left_behind_is_removed_by_its_name() {
    let name = name();
    // Its value is never dropped, like that of a killed program.
    std::mem::forget(Namespace::create(&name).unwrap());
    Namespace::remove(&name).unwrap();
    assert_eq!(Namespace::list(&name).unwrap(), [""; 0]);
    // A name whose creator was killed before the mount.
    std::fs::write(Path::new("/run/netns").join(&name), "").unwrap();
    Namespace::remove(&name).unwrap();
    assert_eq!(Namespace::list(&name).unwrap(), [""; 0]);
}

#[test]
fn what_panics_inside_panics_outside() {
    let namespace = Namespace::create(&name()).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| namespace.run(|| panic!("inside"))));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"inside"));
}

/// A directory that was not prepared yet, in a separate mount namespace: it becomes a shared mount.
#[test]
fn the_directory_is_prepared_where_it_was_not_before() {
    let name = name();
    let shared = std::thread::spawn(move || {
        use nix::mount::{MsFlags, mount};
        unshare(CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWNS).unwrap();
        let all_private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount::<str, str, str, str>(None, "/", None, all_private, None).unwrap();
        mount::<str, str, str, str>(Some("none"), "/run", Some("tmpfs"), MsFlags::empty(), None).unwrap();
        let namespace = Namespace::create(&name);
        let mounts = std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
        (namespace.is_ok(), mounts.lines().any(|line| line.contains(" /run/netns ") && line.contains("shared:")))
    });
    assert_eq!(shared.join().unwrap(), (true, true));
}
