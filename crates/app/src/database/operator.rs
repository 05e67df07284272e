//! The operator: the person who runs a command on this machine.

use countersign_domain::event::Actor;
use countersign_usecases::context::cause::Cause;
use nix::unistd::{Uid, User};

/// The user of this process, and who called it through `sudo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) uid: u32,
    pub(crate) sudo_uid: Option<u32>,
}

impl Operator {
    /// The user who runs this process.
    pub(crate) fn of_this_process() -> Self {
        let sudo_uid = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
        Self { uid: rustix::process::getuid().as_raw(), sudo_uid }
    }

    /// The cause of what a command changes: `cli:NAME@MACHINE`. Under `sudo` it names who called it. A user
    /// without a name is named by number.
    pub(crate) fn cause(self) -> Cause {
        let caller = if self.uid == 0 { self.sudo_uid } else { None };
        let uid = caller.unwrap_or(self.uid);
        let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        let name = user.map_or_else(|| uid.to_string(), |user| user.name);
        let machine = rustix::system::uname();
        let machine = machine.nodename().to_string_lossy();
        Cause::of(Actor::CommandLine(format!("{name}@{machine}")))
    }
}
