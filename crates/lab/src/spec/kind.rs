//! Kinds of arms: one of our profiles, the machine's kernel, or two programs. The last two exist in real time only.

use crate::spec::refusal::Refusal;
use cc::{ControllerConfig, OutsideConfig};
use profiles::{OverrideError, Profile, UnknownProfile};
use std::sync::Arc;
use tcp::ValidConfig;

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmSpec {
    /// Its name in tables.
    pub name: String,
    /// What it is.
    pub kind: ArmKind,
}

/// An experiment's definition of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArmKind {
    /// One of our profiles.
    Profile {
        /// What it starts from.
        profile: Arc<Profile>,
        /// Leaves that differ from the profile, path and value.
        set: Vec<(String, String)>,
        /// A program's own congestion control in place of the profile's. Files cannot name one.
        controller: Option<OutsideConfig>,
    },
    /// The kernel's TCP.
    Kernel(KernelCc),
    /// Two programs.
    Command(CommandPair),
}

/// The ends of a run: an arm, with its cell's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Our own stack.
    Profile(ValidConfig),
    /// The kernel's.
    Kernel(KernelCc),
    /// The TCP that the two programs use.
    Command(CommandPair),
}

/// A congestion control of the kernel, as named in arms and in its socket option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelCc {
    /// `kernel:cubic`
    Cubic,
    /// `kernel:bbr`
    Bbr,
    /// `kernel:reno`
    Reno,
}

/// A server and a client for a shell to run; `{host}`, `{port}` and `{bytes}` are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPair {
    /// Listens on `{port}`.
    pub server: String,
    /// Transfers `{bytes}` to `{host}`, `{port}`, and ends.
    pub client: String,
}

/// What stands for the leaf of the controller where a program brought its own.
const CONTROLLER: &str = "cc.controller";

/// What an arm of a file or a program may be called.
pub(crate) const ARM_NAMES: &str = "use letters, digits, `-` and `_`; path, flow, run and use are reserved";

/// Returns whether an arm of a file or a program may have this name.
pub(crate) fn is_arm_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !profiles::is_reserved(name)
}

/// Before the name of a congestion control.
pub(crate) const KERNEL: &str = "kernel:";

impl KernelCc {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Bbr, Self::Reno];

    /// Returns the kernel's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Reno => "reno",
        }
    }

    /// Returns its name as an arm or as the profile of flows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cubic => "kernel:cubic",
            Self::Bbr => "kernel:bbr",
            Self::Reno => "kernel:reno",
        }
    }

    /// Finds the one that a name asks for; `None` if the name is not one of the kernel's, an error if the kernel has no such.
    pub(crate) fn named(name: &str) -> Option<Result<Self, Refusal>> {
        name.starts_with(KERNEL).then(|| {
            let known = || Self::ALL.map(|cc| format!("`{}`", cc.word())).join(", ");
            let found = Self::ALL.into_iter().find(|cc| cc.word() == name);
            found.ok_or_else(|| Refusal::of_value(format!("no arm `{name}`"), format!("the kernel's are {}", known())))
        })
    }
}

impl CommandPair {
    /// Returns both commands with their places filled in: the server's and the client's.
    pub fn filled(&self, host: &str, port: u16, bytes: u64) -> [String; 2] {
        let fill = |command: &str| {
            let command = command.replace("{host}", host).replace("{port}", &port.to_string());
            command.replace("{bytes}", &bytes.to_string())
        };
        [fill(&self.server), fill(&self.client)]
    }

    /// Checks whether both commands name their meeting point.
    ///
    /// # Errors
    /// Names the one that does not, and the remedy.
    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !self.server.contains("{port}") {
            return Err(("server", "write `{port}` where its port belongs"));
        }
        let places = ["{host}", "{port}", "{bytes}"];
        if !places.iter().all(|place| self.client.contains(place)) {
            return Err(("client", "write `{host}`, `{port}` and `{bytes}` where they belong"));
        }
        Ok(())
    }
}

impl ArmSpec {
    /// An arm that is a profile and nothing else.
    pub fn of_profile(profile: Arc<Profile>) -> Self {
        Self { name: profile.name.clone(), kind: ArmKind::Profile { profile, set: Vec::new(), controller: None } }
    }

    /// An arm that is a built-in profile and nothing else.
    pub(crate) fn of_builtin(name: &str) -> Result<Self, UnknownProfile> {
        profiles::get(name).map(|profile| Self::of_profile(Arc::new(profile.clone())))
    }

    /// Returns the ends of a run, with further leaves set; only profiles have leaves.
    pub(crate) fn ends(&self, more: &[(String, String)]) -> Result<Ends, OverrideError> {
        Ok(match &self.kind {
            ArmKind::Profile { profile, set, controller } => {
                let config = profile.with(&[set, more].concat())?;
                Ends::Profile(match controller {
                    Some(controller) => with_controller(&config, ControllerConfig::Outside(controller.clone())),
                    None => config,
                })
            }
            ArmKind::Kernel(cc) => Ends::Kernel(*cc),
            ArmKind::Command(pair) => Ends::Command(pair.clone()),
        })
    }

    /// Returns the kernel's TCP if the name asks for it; otherwise what is wrong with the rest of the name, and the remedy.
    pub(crate) fn of_kernel(name: &str) -> Option<Result<Self, Refusal>> {
        let found = KernelCc::named(name)?;
        Some(found.map(|cc| Self { name: name.to_owned(), kind: ArmKind::Kernel(cc) }))
    }

    /// The profile behind it, if there is one.
    pub fn profile(&self) -> Option<&Arc<Profile>> {
        match &self.kind {
            ArmKind::Profile { profile, .. } => Some(profile),
            ArmKind::Kernel(_) | ArmKind::Command(_) => None,
        }
    }
}

/// Returns a configuration with another controller, which has no bounds of its own.
pub(crate) fn with_controller(config: &ValidConfig, controller: ControllerConfig) -> ValidConfig {
    let mut config = tcp::Config::clone(config);
    config.cc.controller = controller;
    config.validate().expect("the rest of the configuration was valid")
}

impl Ends {
    /// Returns everything that determines them, one line each: `leaf=value`, or what the kernel or a shell receives.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let line = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        match self {
            Self::Profile(config) => {
                let leaves = profiles::values(config).into_iter().map(|(path, value)| (path.to_owned(), value));
                leaves
                    .chain(outside(config).map(|of| line(CONTROLLER, &format!("{} {}", of.name(), of.digest()))))
                    .collect()
            }
            Self::Kernel(cc) => vec![line("kernel", cc.name())],
            Self::Command(pair) => vec![line("server", &pair.server), line("client", &pair.client)],
        }
    }
}

/// The congestion control that a program brought, if there is one.
pub(crate) fn outside(config: &ValidConfig) -> Option<&OutsideConfig> {
    match &config.cc.controller {
        ControllerConfig::Outside(outside) => Some(outside),
        ControllerConfig::LossBased | ControllerConfig::Bbr3(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test]
    fn a_kernel_arm_is_known_by_its_prefix() {
        for cc in KernelCc::ALL {
            let name = format!("kernel:{}", cc.name());
            let arm = ArmSpec::of_kernel(&name).unwrap().unwrap();
            assert_eq!((arm.name.as_str(), arm.kind), (name.as_str(), ArmKind::Kernel(cc)));
        }
        assert_eq!(ArmSpec::of_kernel("cubic"), None);
        let Refusal { problem, remedy, .. } = ArmSpec::of_kernel("kernel:vegas").unwrap().unwrap_err();
        assert_eq!(problem, "no arm `kernel:vegas`");
        assert_eq!(remedy, "the kernel's are `kernel:cubic`, `kernel:bbr`, `kernel:reno`");
    }

    #[test]
    fn places_are_filled_wherever_they_stand_and_other_braces_stay() {
        let pair = CommandPair { server: "s {port} {x}".into(), client: "c {host}:{port} {bytes} {port}".into() };
        assert_eq!(pair.filled("10.0.0.2", 7, 9), ["s 7 {x}", "c 10.0.0.2:7 9 7"]);
        assert_eq!(pair.check(), Ok(()));
    }

    #[test_case("s", "{host} {port} {bytes}", "server"; "server without a port")]
    #[test_case("{port}", "{host} {port}", "client"; "client without a size")]
    #[test_case("{port}", "{port} {bytes}", "client"; "client without a host")]
    fn a_pair_that_does_not_say_where_it_meets_is_refused(server: &str, client: &str, wrong: &str) {
        let pair = CommandPair { server: server.into(), client: client.into() };
        assert_eq!(pair.check().unwrap_err().0, wrong);
    }
}
