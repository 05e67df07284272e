//! The storage fails at every step, and others act between any two steps.

use std::sync::Arc;

use countersign_domain::act::Act;
use countersign_domain::admission::AccessRule;
use countersign_domain::desk::operators::Quorum;
use countersign_domain::desk::proposal::{ProposalState, TIME_TO_CARRY_OUT};
use countersign_domain::event::EventKind;
use countersign_ports::{ChangeAccess, ClientStore, Storage};

use super::{Office, Signing, delete, group, id_of};
use crate::desk::complete_change::{CompleteChangeError, Completed};
use crate::desk::proposals::begin_countersign;
use crate::tests::breakable::{break_after, world as breakable_world};

/// More calls than any change takes.
const CALLS: i64 = 40;

#[tokio::test]
async fn a_storage_that_fails_anywhere_makes_a_change_once_or_not_at_all() {
    let mut failed = 0;
    for calls in 0..CALLS {
        let (_, storage) = breakable_world();
        let office = Office::on(Arc::<_>::clone(&storage) as Arc<dyn Storage>, Quorum::One);
        let ada = office.operator("toy-ada").await;
        let begun = office
            .begin(&ada, Act::CreateGroup { group: group("staff"), title: None, members: Vec::new() })
            .await;
        break_after(&office.world, &storage, calls).await;
        let first = office.finish(&ada, begun.clone()).await;
        break_after(&office.world, &storage, -1).await;
        failed += i32::from(matches!(first, Err(CompleteChangeError::Store(_))));
        assert!(matches!(first, Ok(_) | Err(CompleteChangeError::Store(_))), "{calls}: {first:?}");
        // The operator presses the button once more.
        let again = office.finish(&ada, begun).await;
        let made = office.acts().await.len();
        match (&first, &again) {
            (Ok(_), Err(CompleteChangeError::Spent | CompleteChangeError::Stale(_))) => assert_eq!(made, 1),
            (Err(_), Ok(_)) => assert_eq!(made, 1, "{calls}"),
            (Err(_), Err(CompleteChangeError::Spent | CompleteChangeError::Stale(_))) => {
                assert!(made <= 1, "{calls}");
            }
            other => panic!("{calls}: {other:?}"),
        }
        let is_there = office.world.storage.find_group(&group("staff")).await.unwrap().is_some();
        assert_eq!(made, usize::from(is_there), "{calls}: nothing happens without its event");
    }
    assert!(failed >= 3, "{failed}");
}

#[tokio::test]
async fn a_storage_that_fails_anywhere_carries_a_proposal_out_once_in_the_end() {
    let mut failed = 0;
    for calls in 0..CALLS {
        let (_, storage) = breakable_world();
        let office = Office::on(Arc::<_>::clone(&storage) as Arc<dyn Storage>, Quorum::Two);
        let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
        let client = office.client().await;
        let id = office.propose(&ada, delete(&client)).await;
        let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
        break_after(&office.world, &storage, calls).await;
        let first = office.finish(&bob, begun.clone()).await;
        break_after(&office.world, &storage, -1).await;
        failed += i32::from(first.is_err());
        for _ in 0..2 {
            if let Ok(begun) = begin_countersign(office.desk(), &bob, id, Signing::default()).await {
                let _ = office.finish(&bob, begun).await;
            }
        }
        let _ = office.finish(&bob, begun).await;
        // What was taken and not carried out waits again.
        office.world.clock.advance(TIME_TO_CARRY_OUT);
        if let Ok(begun) = begin_countersign(office.desk(), &bob, id, Signing::default()).await {
            office.finish(&bob, begun).await.unwrap();
        }
        let deleted = office.acts().await.into_iter().filter(|act| act.kind == EventKind::ClientDeleted);
        let deleted = deleted.count();
        let is_there = office.world.context.clients.find_fresh(id_of(&client)).await.unwrap().is_some();
        assert_eq!((deleted, is_there), (1, false), "{calls}: {first:?}");
        let state = office.world.storage.find_proposal(id).await.unwrap().unwrap().state;
        assert_eq!(state, ProposalState::Done, "{calls}: {first:?}");
    }
    assert!(failed >= 8, "{failed}");
}

/// Somebody at the command line changes the same client, before each call to the storage.
#[tokio::test]
async fn what_somebody_changes_in_between_is_never_overwritten_unseen() {
    let (mut stale, mut done) = (0, 0);
    for call in 0..CALLS {
        let (_, storage) = breakable_world();
        let office = Office::on(Arc::<_>::clone(&storage) as Arc<dyn Storage>, Quorum::One);
        let ada = office.operator("toy-ada").await;
        let client = office.client().await;
        let id = id_of(&client);
        let rule = |text: &str| AccessRule::parse(text).unwrap();
        let change = Act::SetAccess { client: id.into(), rule: Some(rule("everyone")), release: None };
        let begun = office.begin(&ada, change).await;
        let inner = storage.inner();
        let other = ChangeAccess { client: id, rule: Some(rule("nobody")), release: None, event: None };
        let act = Box::pin(async move { assert!(inner.change_access(other).await.unwrap()) });
        storage.between(vec![(usize::try_from(call).unwrap(), act)]);
        let finished = office.finish(&ada, begun).await;
        storage.rest().await;
        let now = office.world.context.clients.find_fresh(id).await.unwrap().unwrap().access.rule;
        // The other one was first, and ours is refused; or the other one was last.
        assert_eq!(now, Some(rule("nobody")), "{call}: {finished:?}");
        match finished {
            Ok(Completed::Done { .. }) => {
                done += 1;
                assert_eq!(office.acts().await.len(), 1);
            }
            Err(CompleteChangeError::Stale(_)) => {
                stale += 1;
                assert!(office.acts().await.is_empty());
            }
            other => panic!("{call}: {other:?}"),
        }
    }
    assert!(stale >= 4 && done >= 4, "{stale} {done}");
}
