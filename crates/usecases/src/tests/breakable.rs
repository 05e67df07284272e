//! A store that fails when it is told to, that remembers its calls, and lets others act between two of them.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_conformance::memory::MemoryStorage;
use countersign_ports::signatures::*;
use countersign_ports::{Clock, storage_operations};

use super::world::World;

/// Fails one call, after a number of calls that work.
#[derive(Default)]
pub(super) struct Breakable {
    inner: Arc<MemoryStorage>,
    calls_left: AtomicI64,
    calls: Mutex<Vec<&'static str>>,
    acts: Mutex<Vec<(usize, Act)>>,
    after_first: Mutex<Option<([&'static str; 2], Act)>>,
}

/// What somebody else does between two calls.
pub(super) type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Breakable {
    /// The calls since this was last asked.
    pub(super) fn asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// What is stored, for those whose calls do not count.
    pub(super) fn inner(&self) -> Arc<MemoryStorage> {
        Arc::clone(&self.inner)
    }

    /// Forgets the calls so far. From now on each act happens before the call with its number.
    pub(super) fn between(&self, acts: Vec<(usize, Act)>) {
        self.asked();
        *self.acts.lock().unwrap() = acts;
    }

    /// From now on the act happens right after the first of these calls.
    pub(super) fn after_first(&self, names: [&'static str; 2], act: Act) {
        *self.after_first.lock().unwrap() = Some((names, act));
    }

    /// Carries out what was not reached.
    pub(super) async fn rest(&self) {
        let mut acts = std::mem::take(&mut *self.acts.lock().unwrap());
        acts.sort_by_key(|(number, _)| *number);
        for (_, act) in acts {
            act.await;
        }
    }

    async fn call(&self, name: &'static str) -> Result<(), StoreError> {
        if UNCOUNTED.contains(&name) {
            return Ok(());
        }
        let number = self.calls.lock().unwrap().len();
        let mut due = Vec::new();
        self.acts.lock().unwrap().retain_mut(|(at, act)| {
            let is_due = *at == number;
            if is_due {
                due.push(std::mem::replace(act, Box::pin(std::future::ready(()))));
            }
            !is_due
        });
        for act in due {
            act.await;
        }
        self.calls.lock().unwrap().push(name);
        if self.calls_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(StoreError::Unavailable("the test pulled the plug".into()));
        }
        Ok(())
    }
}

impl Breakable {
    async fn called(&self, name: &'static str) {
        let due = self.after_first.lock().unwrap().take_if(|(names, _)| names.contains(&name));
        if let Some((_, act)) = due {
            act.await;
        }
    }
}

pub(super) fn world() -> (World, Arc<Breakable>) {
    let storage = Arc::new(Breakable { calls_left: AtomicI64::new(-1), ..Breakable::default() });
    (World::on(Arc::<Breakable>::clone(&storage)), storage)
}

/// Waits until no client is remembered, so that what follows asks the storage.
pub(super) async fn break_after(world: &World, storage: &Breakable, calls: i64) {
    world.clock.wait(Duration::from_secs(1)).await;
    storage.calls_left.store(calls, Ordering::SeqCst);
}

/// Operations that never fail and do not count, because no flow that is broken here depends on them.
const UNCOUNTED: &[&str] = &[
    "if_group_unchanged",
    "find_group",
    "list_groups",
    "list_members",
    "memberships_of",
    "list_declarations",
    "put_block",
    "remove_block",
    "end_access",
    "block_of_user",
    "blocked_wallets",
    "name_subject",
    "names_of",
    "find_named",
    "find_wallets",
    "list_named",
    "list_people",
    "find_person",
    "add_signing_key",
    "withdraw_signing_key",
    "remove_signing_key",
    "signing_keys",
    "purge_expired",
    "forget_unused",
    "forget_documents",
    "time_witness",
    "mark_time",
    "ping",
];

/// Makes the ports.
macro_rules! breakable {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => { $(
        #[async_trait]
        impl $port for Breakable {
            $($(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError> {
                self.call(stringify!($write)).await?;
                let answer = self.inner.$write($($write_argument),*).await;
                self.called(stringify!($write)).await;
                answer
            })*)?
            $($(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError> {
                self.call(stringify!($read)).await?;
                let answer = self.inner.$read($($read_argument),*).await;
                self.called(stringify!($read)).await;
                answer
            })*)?
        }
    )* };
}

storage_operations!(breakable);
