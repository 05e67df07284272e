//! Who hears why something was refused. The line between what helps a developer and what helps an attacker is
//! in docs/threat-model.md.

/// Who hears why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// A developer: the issuer is on loopback, so everyone who reaches it works on this machine.
    Developer,
    /// A client that proved who it is, at a server that others reach too.
    ProvenClient,
    /// Anyone: a public client proves nothing.
    Anyone,
}
