//! What files declared.

use std::sync::Arc;

use countersign_domain::declaration::{Declaration, DeclaredKind, DeclaredThing};
use countersign_domain::subject::Subject;
use countersign_ports::{ForgetDeclarations, PutDeclarations, Storage};
use time::Duration;

use super::races::at_once;
use super::steps;
use crate::fixtures;
use crate::one_member::OneMember as _;

fn declaration(kind: DeclaredKind, key: &str, source: &str) -> Declaration {
    let thing = DeclaredThing { kind, key: key.to_owned() };
    Declaration { thing, source: source.to_owned(), created_at: fixtures::NOW }
}

async fn put(store: &dyn Storage, declarations: &[Declaration]) {
    store.put_declarations(PutDeclarations { declarations: declarations.to_vec() }).await.unwrap();
}

async fn forget(store: &dyn Storage, things: &[&Declaration]) {
    let things = things.iter().map(|declaration| declaration.thing.clone()).collect();
    store.forget_declarations(ForgetDeclarations { things }).await.unwrap();
}

async fn all(store: &dyn Storage) -> Vec<Declaration> {
    store.list_declarations().await.unwrap()
}

/// Every kind, and keys that differ by case or by a character that sorts elsewhere in other languages.
pub async fn what_was_declared_is_listed_by_kind_and_key(store: Arc<dyn Storage>) {
    assert_eq!(all(&*store).await, []);
    let keys = ["B", "a", "a b", "a-b", "b", "é"];
    let mut declared: Vec<Declaration> = DeclaredKind::ALL
        .into_iter()
        .flat_map(|kind| keys.map(|key| declaration(kind, key, "/etc/countersign/\"x\" é.toml")))
        .collect();
    declared.reverse();
    put(&*store, &declared).await;
    declared.reverse();
    assert_eq!(all(&*store).await, declared);
}

/// A thing has one file. Repeating a command changes nothing, and an empty one is fine.
pub async fn what_is_declared_again_has_the_new_file(store: Arc<dyn Storage>) {
    let first = declaration(DeclaredKind::Group, "staff", "/a.toml");
    let other = declaration(DeclaredKind::Group, "crew", "/a.toml");
    put(&*store, &[first.clone(), other.clone()]).await;
    let created_at = first.created_at + Duration::microseconds(1);
    let moved = Declaration { source: "/b.toml".to_owned(), created_at, ..first };
    for _ in 0..2 {
        put(&*store, std::slice::from_ref(&moved)).await;
        put(&*store, &[]).await;
    }
    assert_eq!(all(&*store).await, [other, moved]);
}

/// Only the kind and the key count, and what is not there is forgotten already.
pub async fn what_is_forgotten_is_no_longer_listed(store: Arc<dyn Storage>) {
    let [one, two] = ["staff", "crew"].map(|key| declaration(DeclaredKind::Group, key, "/a.toml"));
    let resource = declaration(DeclaredKind::Resource, "staff", "/a.toml");
    put(&*store, &[one.clone(), two.clone(), resource.clone()]).await;
    for _ in 0..2 {
        forget(&*store, &[&Declaration { source: "/b.toml".to_owned(), ..one.clone() }]).await;
        forget(&*store, &[]).await;
    }
    assert_eq!(all(&*store).await, [two.clone(), resource.clone()]);
    forget(&*store, &[&resource, &one, &two]).await;
    assert_eq!(all(&*store).await, []);
}

/// Files that are applied at once share things, in whatever order they name them. Nobody waits forever, and
/// one file comes last with each thing.
pub async fn files_that_are_applied_at_once_all_leave_their_declarations(store: Arc<dyn Storage>) {
    for round in 0..4 {
        at_once((0..8).map(|place| {
            let store = Arc::clone(&store);
            let source = format!("/{place}.toml");
            let mut declared: Vec<Declaration> = (0..40)
                .map(|number| declaration(DeclaredKind::Member, &format!("shared {number}"), &source))
                .collect();
            declared.push(declaration(DeclaredKind::Client, &format!("own {round} {place}"), &source));
            if place % 2 == 1 {
                declared.reverse();
            }
            async move {
                put(&*store, &declared).await;
                let of_others = declaration(DeclaredKind::Client, "nobody's", "");
                forget(&*store, &[&of_others, &declaration(DeclaredKind::Group, "gone", "")]).await;
            }
        }))
        .await;
        let stored = all(&*store).await;
        let of = |kind| stored.iter().filter(|declaration| declaration.thing.kind == kind).count();
        assert_eq!((of(DeclaredKind::Member), of(DeclaredKind::Client)), (40, (round + 1) * 8));
    }
}

/// Declared is declared.
pub async fn a_declaration_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [kept, forgotten] = ["staff", "crew"].map(|key| declaration(DeclaredKind::Group, key, "/a.toml"));
    {
        let store = open().await;
        put(&*store, &[kept.clone(), forgotten.clone()]).await;
        forget(&*store, &[&forgotten]).await;
    }
    assert_eq!(all(&*open().await).await, [kept]);
}

/// From the answer on, the other replica sees what was declared, and that it was forgotten.
pub async fn what_is_declared_here_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let (here, there) = (open().await, open().await);
    let declared = declaration(DeclaredKind::Client, "01a1fd8c", "/a.toml");
    put(&*here, std::slice::from_ref(&declared)).await;
    assert_eq!(all(&*there).await, std::slice::from_ref(&declared));
    forget(&*there, &[&declared]).await;
    assert_eq!(all(&*here).await, []);
}

/// F-22 for members: whoever was taken out and comes back was not put there by the file.
pub async fn a_member_who_leaves_a_group_is_declared_no_longer(store: Arc<dyn Storage>) {
    let user = steps::sign_in(&*store).await.new_user;
    let (group, other) = (steps::group(&*store).await, steps::group(&*store).await);
    let members = [Subject::User(user), Subject::Wallet(fixtures::wallet_account())];
    for member in &members {
        let [here, there] = [&group, &other].map(|group| Declaration {
            thing: DeclaredThing::member_of(group, member),
            source: "/etc/declared.toml".to_owned(),
            created_at: fixtures::NOW,
        });
        let declarations = vec![here.clone(), there.clone()];
        store.put_declarations(PutDeclarations { declarations }).await.unwrap();
        let is_declared =
            async |declaration: &Declaration| store.list_declarations().await.unwrap().contains(declaration);
        assert!(!store.remove_member(fixtures::remove_member(&group, member)).await.unwrap());
        assert!(is_declared(&here).await, "nobody left");
        store.add_member(fixtures::add_member(&group, member)).await.unwrap();
        assert!(store.remove_member(fixtures::remove_member(&group, member)).await.unwrap());
        assert!(!is_declared(&here).await);
        assert!(is_declared(&there).await);
    }
}
