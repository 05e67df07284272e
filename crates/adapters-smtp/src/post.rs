//! A separate thread for mails, so that a slow mail server never blocks a worker.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread that runs futures until this value is dropped.
#[derive(Debug)]
pub(crate) struct Post {
    handle: Handle,
    _until_dropped: oneshot::Sender<()>,
}

impl Post {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (until_dropped, dropped) = oneshot::channel::<()>();
        thread::Builder::new().name("mail".to_owned()).spawn(move || {
            // The error only says that the sender was dropped, which is what we wait for.
            let _ = runtime.block_on(dropped);
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _until_dropped: until_dropped })
    }

    /// Runs the work on that thread. Dropping the returned future cancels the work.
    pub(crate) async fn carry<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        let mut working = tokio::task::JoinSet::new();
        working.spawn_on(work, &self.handle);
        match working.join_next().await {
            Some(done) => done.map_err(io::Error::other),
            None => Err(io::Error::other("the mail thread is gone")),
        }
    }
}
