use std::fs;
use std::path::Path;
use std::sync::Mutex;

use jiff::ToSpan;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use tempfile::TempDir;

use super::*;

struct Pair {
    certificate: String,
    key: String,
}

/// Makes a certificate that is valid between two years.
fn pair(from: i32, to: i32) -> Pair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(to, 1, 1);
    Pair { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

struct Folder(TempDir);

impl Folder {
    fn new(pair: &Pair) -> Self {
        let folder = Folder(TempDir::new().unwrap());
        folder.write(pair);
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, pair: &Pair) {
        fs::write(self.path("tls.crt"), &pair.certificate).unwrap();
        fs::write(self.path("tls.key"), &pair.key).unwrap();
    }

    /// Makes a watcher in the middle of 2026.
    fn builder(&self) -> CertWatcherBuilder {
        let now: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        CertWatcher::builder(self.path("tls.crt"), self.path("tls.key")).clock(move || now)
    }
}

fn year(watcher: &CertWatcher) -> i16 {
    watcher.expires_at().to_zoned(jiff::tz::TimeZone::UTC).year()
}

#[test]
fn broken_certificate_never_replaces_a_working_one() {
    let folder = Folder::new(&pair(2020, 2030));
    let registry = Registry::new();
    let errors: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = errors.clone();
    let watcher = folder
        .builder()
        .metrics(&registry)
        .on_error(move |error| log.lock().unwrap().push(error.to_string()))
        .load()
        .unwrap();
    let config = watcher.server_config();
    let (good, other) = (pair(2020, 2031), pair(2020, 2032));
    let half = |text: &str| text[..text.len() / 2].to_owned();
    let (crt, key) = (folder.path("tls.crt"), folder.path("tls.key"));
    let (crt, key) = (crt.display(), key.display());
    for (certificate, private_key, text) in [
        (half(&good.certificate), good.key.clone(), format!("{crt} has no usable certificate in PEM: ")),
        (
            String::new(),
            good.key.clone(),
            format!("{crt} has no usable certificate in PEM: there is no certificate"),
        ),
        (good.certificate.clone(), half(&good.key), format!("{key} has no usable private key in PEM: ")),
        (
            good.certificate.clone(),
            String::new(),
            format!("{key} has no usable private key in PEM: there is no"),
        ),
        (
            good.certificate.clone(),
            other.key,
            format!("the key in {key} does not belong to the certificate in {crt}"),
        ),
        (pair(2020, 2025).certificate, String::from("-"), format!("{key} has no usable private key in PEM")),
    ] {
        folder.write(&Pair { certificate, key: private_key });
        let error = watcher.reload().unwrap_err().to_string();
        assert!(error.starts_with(&text), "{error}\n{text}");
        assert_eq!(errors.lock().unwrap().pop().unwrap(), error, "and it is reported");
        assert!(Arc::ptr_eq(&config, &watcher.server_config()));
    }
    for (times, text) in [
        ((2020, 2025), "expired at 2025-01-01T00:00:00Z; renew it"),
        ((2027, 2028), "is not valid before 2027-01-01T00:00:00Z"),
    ] {
        folder.write(&pair(times.0, times.1));
        let error = watcher.reload().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
        assert!(Arc::ptr_eq(&config, &watcher.server_config()));
    }
    fs::remove_file(folder.path("tls.crt")).unwrap();
    let error = watcher.reload().unwrap_err().to_string();
    assert!(error.contains("check that the Secret with the certificate is mounted there"), "{error}");
    assert!(error.contains("`kubesmith serve --webhook-cert-dir` writes it"), "{error}");
    folder.write(&good);
    assert!(watcher.reload().unwrap(), "the next good one is taken");
    assert_eq!(year(&watcher), 2031);
    let text = registry.encode();
    assert!(text.contains("certwatcher_read_certificate_total 11\n"), "{text}");
    assert!(text.contains("certwatcher_read_certificate_errors_total 9\n"), "{text}");
}

#[test]
fn load_fails_without_a_usable_pair() {
    let folder = Folder::new(&Pair { certificate: String::new(), key: String::new() });
    let registry = Registry::new();
    assert!(folder.builder().metrics(&registry).load().is_err());
    assert!(registry.encode().contains("certwatcher_read_certificate_errors_total 1\n"));
}

#[test]
fn expired_certificate_is_used_when_there_is_no_other() {
    let folder = Folder::new(&pair(2020, 2024));
    let watcher = folder.builder().load().unwrap();
    folder.write(&pair(2020, 2025));
    assert!(watcher.reload().unwrap());
    assert_eq!(year(&watcher), 2025);
    folder.write(&pair(2026, 2027));
    assert!(watcher.reload().unwrap());
    folder.write(&pair(2020, 2026));
    assert!(watcher.reload().is_err());
    assert_eq!(year(&watcher), 2027);
}

#[test]
fn client_authorities_are_reloaded() {
    let folder = Folder::new(&pair(2020, 2030));
    let ca = folder.path("ca.crt");
    let load = || folder.builder().client_ca(&ca).load();
    assert!(matches!(load(), Err(CertificateError::Read { .. })));
    fs::write(&ca, "nothing").unwrap();
    assert!(matches!(load(), Err(CertificateError::Malformed { what: "certificate", .. })));
    fs::write(&ca, pair(2020, 2030).certificate).unwrap();
    let watcher = load().unwrap();
    assert!(!watcher.reload().unwrap(), "nothing is new");
    fs::write(&ca, pair(2020, 2030).certificate).unwrap();
    assert!(watcher.reload().unwrap());
}

/// Swaps a link to a folder, as the kubelet updates volumes.
fn swap(folder: &Path, name: &str, pair: &Pair) {
    fs::create_dir(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("tls.crt"), &pair.certificate).unwrap();
    fs::write(folder.join(name).join("tls.key"), &pair.key).unwrap();
    std::os::unix::fs::symlink(name, folder.join("..new")).unwrap();
    fs::rename(folder.join("..new"), folder.join("..data")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn files_behind_links_are_read_every_ten_seconds() {
    let folder = TempDir::new().unwrap();
    swap(folder.path(), "..1", &pair(2020, 2030));
    for name in ["tls.crt", "tls.key"] {
        std::os::unix::fs::symlink(Path::new("..data").join(name), folder.path().join(name)).unwrap();
    }
    let reloads = Arc::new(Mutex::new(0));
    let count = reloads.clone();
    let watcher = CertWatcher::builder(folder.path().join("tls.crt"), folder.path().join("tls.key"))
        .on_reload(move || *count.lock().unwrap() += 1)
        .load();
    let watcher = Arc::new(watcher.unwrap());
    let stop = CancellationToken::new();
    let task = {
        let (watcher, stop) = (watcher.clone(), stop.clone());
        tokio::spawn(async move { watcher.run(stop).await })
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    swap(folder.path(), "..2", &pair(2020, 2031));
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(year(&watcher), 2030);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((year(&watcher), *reloads.lock().unwrap()), (2031, 1));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(*reloads.lock().unwrap(), 1, "only what is new counts");
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn panicking_callback_does_not_end_the_watcher() {
    let folder = Folder::new(&pair(2020, 2030));
    let watcher = folder.builder().on_error(|_| panic!("in a hook")).load().unwrap();
    let watcher = Arc::new(watcher);
    let stop = CancellationToken::new();
    let task = {
        let (watcher, stop) = (watcher.clone(), stop.clone());
        tokio::spawn(async move { watcher.run(stop).await })
    };
    fs::write(folder.path("tls.key"), "").unwrap();
    tokio::time::sleep(Duration::from_secs(15)).await;
    folder.write(&pair(2020, 2031));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(year(&watcher), 2031);
    stop.cancel();
    task.await.unwrap();
}

#[test]
fn expiry_is_checked_by_the_given_clock() {
    let folder = Folder::new(&pair(2020, 2026));
    let now = Arc::new(Mutex::new("2025-12-31T23:59:59Z".parse::<Timestamp>().unwrap()));
    let clock = now.clone();
    let watcher = folder.builder().clock(move || *clock.lock().unwrap()).load().unwrap();
    folder.write(&pair(2020, 2025));
    assert!(watcher.reload().is_err());
    let later = *now.lock().unwrap() + 48.hours();
    *now.lock().unwrap() = later;
    assert!(watcher.reload().unwrap(), "now both have expired");
    // Nobody renews it.
    assert!(matches!(watcher.reload(), Err(CertificateError::Expired { .. })));
}
