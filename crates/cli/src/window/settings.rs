//! How to configure systems for a window.
//!
//! Sources: `ip-sysctl` of the Linux kernel (a buffer includes its overhead, of which half is assumed here); Microsoft's guide to
//! TCP tuning (levels and their shifts); Microsoft's knowledge base on TCP in Windows 2000 (names, a range up to TCP's largest
//! window, and that scaling has to be enabled for more than 64 K).

/// Levels of receive-window auto-tuning, with the shift that each negotiates.
const LEVELS: [(&str, &str, u32); 2] = [("Normal", "normal", 8), ("Experimental", "experimental", 14)];

/// What to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub linux: Vec<String>,
    pub windows: Vec<String>,
    pub windows_2000: Vec<String>,
}

impl Settings {
    /// Returns the settings for a window of `window` bytes, which needs this shift.
    pub fn of(window: u64, shift: u32) -> Self {
        Self { linux: linux(window, shift), windows: windows(window), windows_2000: windows_2000(window, shift) }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = section("Linux, as root", &self.linux);
        text += &section("Windows 10 and 11, Server 2016 and later, as administrator", &self.windows);
        text + &section("Windows 2000, a .reg file", &self.windows_2000)
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "linux": self.linux, "windows": self.windows, "windows_2000": self.windows_2000 })
    }
}

fn section(title: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{title}:\n{lines}")
}

fn linux(window: u64, shift: u32) -> Vec<String> {
    // Buffers include the overhead around the payload.
    let most = (2 * window).max(131_072);
    let mut lines = vec![
        format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {most}\""),
        format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {most}\""),
    ];
    if shift > 0 {
        lines.push("sysctl -w net.ipv4.tcp_window_scaling=1".to_owned());
    }
    lines
}

fn windows(window: u64) -> Vec<String> {
    let reaches = |shift: u32| 65_535_u64 << shift >= window;
    let (name, word, _) = LEVELS.into_iter().find(|(_, _, shift)| reaches(*shift)).unwrap_or(LEVELS[1]);
    vec![
        format!("Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal {name}"),
        format!("netsh interface tcp set global autotuninglevel={word}"),
    ]
}

fn windows_2000(window: u64, shift: u32) -> Vec<String> {
    let mut lines = vec![
        "Windows Registry Editor Version 5.00".to_owned(),
        String::new(),
        r"[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters]".to_owned(),
        format!("\"GlobalMaxTcpWindowSize\"=dword:{window:08x}"),
        format!("\"TcpWindowSize\"=dword:{window:08x}"),
    ];
    if shift > 0 {
        lines.push("\"Tcp1323Opts\"=dword:00000001".to_owned());
    }
    lines
}
