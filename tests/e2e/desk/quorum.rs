//! Two people sign what is dangerous: never one of them twice, and never twice (K-07, K-08).

use std::collections::BTreeSet;
use std::env;
use std::thread;
use std::time::Duration;

use countersign_tests::{Database, Parameters, Request, Wallet, on_both};
use serde_json::json;

use super::changes::Things;
use super::{Seat, Wanted, account, change_id, events, everything, run_by_two, signed, wanted};
use crate::events::wait_until_sealed;
use crate::wallets::{link, unlink};

/// How often two replicas race. `ROUNDS=1000` for the whole test.
fn rounds() -> usize {
    env::var("ROUNDS").ok().and_then(|count| count.parse().ok()).unwrap_or(12)
}

/// How often a server is killed. `KILLS=200` for the whole test.
fn kills() -> usize {
    env::var("KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(5)
}

/// What became of a proposal, as it is stored.
fn state_of(database: &Database, proposal: &str) -> String {
    let id = if database.is_postgres() {
        format!("'{proposal}'")
    } else {
        format!("x'{}'", proposal.replace('-', ""))
    };
    database.words(&format!("SELECT state AS word FROM proposals WHERE id = {id}")).remove(0)
}

/// A new member of the group of the operators: dangerous, and a different change each time.
fn member(group: &str, wallet: &Wallet) -> Wanted {
    wanted(&format!("/admin/groups/{group}"), "member-add", &[("member", &account(wallet))])
}

on_both! {
    fn k_07_what_is_dangerous_waits_for_a_second_person(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let before = everything(database).0;
        let proposal = first.propose(&things.delete_client());
        assert_eq!(everything(database).0, before, "nothing happens by one signature");
        assert_eq!(events(database, "change_proposed"), 1);
        assert!(second.page("/admin/proposals").contains(&proposal));
        let begun = second.begin_second(&proposal);
        assert!(begun.text.contains(&format!("urn:countersign:proposal:{proposal}")), "{}", begun.text);
        assert!(begun.text.contains(&bob.address()) && begun.text.contains("urn:countersign:change:client-delete"), "{}", begun.text);
        assert!(matches!(second.sign(&begun).status, 200 | 303));
        assert_eq!(events(database, "client_deleted"), 1);
        let told = signed(database, "client_deleted").remove(0);
        let wallets: Vec<&str> = told["signatures"].as_array().unwrap().iter().map(|one| one["wallet"].as_str().unwrap()).collect();
        assert_eq!(wallets, [account(&ann), account(&bob)]);
        assert_eq!(told["change"], json!(proposal));
        assert!((400..500).contains(&second.sign(&begun).status), "it is carried out once");
        wait_until_sealed(database, 1);
        let verified = database.operator(&["event", "verify"]).env("COUNTERSIGN_PUBLIC_URL", &server.public_url).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }

    fn what_is_not_dangerous_needs_one_signature(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        let before = events(database, "wallet_blocked");
        seat.make(&things.block_wallet("spam"));
        assert_eq!((events(database, "wallet_blocked") - before, events(database, "change_proposed")), (1, 0));
    }

    fn k_07_one_person_is_not_two_whatever_they_link(database) {
        let wallets: Vec<Wallet> = (0..7).map(|_| Wallet::fresh()).collect();
        let [one, linked, later, moved, earlier, giver, honest] = &wallets[..] else { unreachable!("seven were made") };
        let server = run_by_two(database, &[one, linked, later, moved, earlier, giver, honest]).start();
        let things = Things::of(&server);
        let client = server.register();
        server.browser().sign_in(&client, one);
        link(&server, one, linked).expect(200);
        link(&server, one, moved).expect(200);
        link(&server, one, earlier).expect(200);
        unlink(&server, one, earlier).expect(200);
        let mut first = Seat::of(&server, one);
        let proposal = first.propose(&things.delete_client());
        let before = everything(database).0;
        let mut tried = 0;
        let mut refused = |seat: &mut Seat<'_>, what: &str| {
            let answer = seat.ask_second(&proposal);
            let is_over = if answer.status == 200 && answer.text().contains("/admin/proposals/sign") {
                let begun = crate::desk::begun(&answer.text());
                seat.sign(&begun).status
            } else {
                answer.status
            };
            assert!(is_over != 303 && events(database, "client_deleted") == 0, "{what}: {is_over}");
            tried += 1;
        };
        refused(&mut first, "the same session");
        refused(&mut Seat::of(&server, one), "another session of the same wallet");
        refused(&mut Seat::of(&server, linked), "a linked wallet");
        refused(&mut Seat::of(&server, earlier), "a wallet that was unlinked before the proposal");
        // A wallet that was the first's when they signed is not a second person's afterwards.
        unlink(&server, one, moved).expect(200);
        refused(&mut Seat::of(&server, moved), "a wallet that moved to another account since");
        // A second person who takes in a wallet of the first's.
        unlink(&server, one, linked).expect(200);
        let mut other = Seat::of(&server, later);
        let begun = other.begin_second(&proposal);
        link(&server, later, linked).expect(200);
        assert!((400..500).contains(&other.sign(&begun).status), "a wallet of the first came to the second");
        refused(&mut other, "an account that has a wallet of the first");
        unlink(&server, later, linked).expect(200);
        refused(&mut other, "an account that had a wallet of the first");
        // The first links a wallet of the second's after the text was made.
        let stranger = Wallet::fresh();
        let mut other = Seat::of(&server, giver);
        link(&server, giver, &stranger).expect(200);
        let begun = other.begin_second(&proposal);
        unlink(&server, giver, &stranger).expect(200);
        link(&server, one, &stranger).expect(200);
        let signature = stranger.sign(&begun.text);
        assert!((400..500).contains(&other.send(&begun, &signature).status));
        refused(&mut other, "an account whose wallet the first has now");
        println!("{} attempts", tried + 2);
        assert_eq!(everything(database).0[0], before[0], "the client is there");
        let mut second = Seat::of(&server, honest);
        let begun = second.begin_second(&proposal);
        assert!(matches!(second.sign(&begun).status, 200 | 303), "an honest second person can still sign");
        assert_eq!(events(database, "client_deleted"), 1);
    }

    fn f_23_one_person_is_not_two_after_500_links_nor_through_a_third_account(database) {
        let wallets: Vec<Wallet> = (0..7).map(|_| Wallet::fresh()).collect();
        let [one, once, z, x, between, far, honest] = &wallets[..] else { unreachable!("seven were made") };
        let server = run_by_two(database, &[one, once, far, honest]).start();
        let things = Things::of(&server);
        let client = server.register();
        server.browser().sign_in(&client, one);
        // One chain of accounts: `one` had x, x had its own account with `between`, and that had `far`.
        for (mine, theirs) in [(one, once), (one, x)] {
            link(&server, mine, theirs).expect(200);
            unlink(&server, mine, theirs).expect(200);
        }
        for (mine, theirs) in [(x, between), (between, far)] {
            server.browser().sign_in(&client, mine);
            link(&server, mine, theirs).expect(200);
            unlink(&server, mine, theirs).expect(200);
        }
        for _ in 0..500 {
            link(&server, one, z).expect(200);
            unlink(&server, one, z).expect(200);
        }
        let mut first = Seat::of(&server, one);
        let proposal = first.propose(&things.delete_client());
        for (seat, what) in [(once, "a wallet that was linked once"), (far, "a wallet two accounts away")] {
            let mut seat = Seat::of(&server, seat);
            let shown = seat.page(&format!("/admin/proposals/{proposal}"));
            assert!(shown.contains("id=\"same-person\"") && !shown.contains("/admin/proposals/begin"), "{what}: {shown}");
            // The page offers nothing to sign, so this is sent with the secret of another form.
            let form = seat.filled_in(&things.block_wallet("spam"));
            let fields = Parameters::of(&[("form", form.get("form")), ("proposal", &proposal)]);
            let refused = seat.post("/admin/proposals/begin", &fields).expect(403);
            assert!(refused.text().contains("You signed this first"), "{what}: {refused:?}");
        }
        assert_eq!(events(database, "client_deleted"), 0);
        let mut second = Seat::of(&server, honest);
        let begun = second.begin_second(&proposal);
        assert!(matches!(second.sign(&begun).status, 200 | 303), "an honest second person can still sign");
        assert_eq!(events(database, "client_deleted"), 1);
    }

    fn f_25_a_proposal_that_cannot_be_read_hides_nothing_of_the_desk(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let mut first = Seat::of(&server, &ann);
        let waits = first.propose(&things.delete_client());
        let altered = first.propose(&things.create_admin_key());
        let id = if database.is_postgres() { format!("'{altered}'") } else { format!("x'{}'", altered.replace('-', "")) };
        database.change(&format!("UPDATE proposals SET state = 'x' WHERE id = {id}"));
        first.page("/admin");
        let listed = first.page("/admin/proposals");
        assert!(listed.contains(&waits) && !listed.contains(&altered), "{listed}");
        assert!(listed.contains("id=\"unreadable\""), "{listed}");
    }

    fn k_08_a_proposal_whose_subject_changed_is_refused(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let early = first.propose(&things.delete_client());
        let begun = second.begin_second(&early);
        database.operate(&["client", "update", &things.client.id, "--name", "Something else"]);
        second.sign(&begun).expect(409);
        assert!(matches!(second.ask_second(&early).status, 409), "and before the text is made");
        assert_eq!(events(database, "client_deleted"), 0);
    }

    fn k_08_a_proposal_ends_after_a_day_or_when_it_is_taken_back(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let old = first.propose(&things.delete_client());
        let begun = second.begin_second(&old);
        let day = if database.is_postgres() { "interval '24 hours'" } else { "86400000000" };
        database.change(&format!("UPDATE proposals SET expires_at = expires_at - {day}"));
        assert!((400..500).contains(&second.sign(&begun).status));
        assert!((400..500).contains(&second.ask_second(&old).status) || !second.page(&format!("/admin/proposals/{old}")).contains("/admin/proposals/begin"));
        let proposal = first.propose(&things.delete_client());
        let begun = second.begin_second(&proposal);
        let withdraw = wanted(&format!("/admin/proposals/{proposal}"), "proposal-withdraw", &[]);
        let html = second.page(&format!("/admin/proposals/{proposal}"));
        assert!(!html.contains("proposal-withdraw"), "only whoever proposed it takes it back");
        first.make(&withdraw);
        assert!((400..500).contains(&second.sign(&begun).status));
        assert_eq!((events(database, "change_withdrawn"), events(database, "client_deleted")), (1, 0));
    }

    /// `kill -9` at any moment while the second signature is being carried out. Afterwards the state tells whether it was
    /// done; if it was not, it waits again, and the second operator signs once more.
    fn k_08_what_a_killed_server_was_carrying_out_is_carried_out_once(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let settings = run_by_two(database, &[&ann, &bob]).with_env("COUNTERSIGN_ADMIN_GROUP", "operators");
        let mut server = settings.start();
        database.operate(&["group", "create", "operators"]);
        let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let is_in = |wallet: &Wallet| {
            database.number(&format!("SELECT count(*) FROM group_wallets WHERE address = '{}'", wallet.address())) == 1
        };
        let (mut interrupted, mut changes) = (0, BTreeSet::new());
        for round in 0..kills() {
            let newcomer = Wallet::fresh();
            let proposal = first.propose(&member("operators", &newcomer));
            changes.insert(proposal.clone());
            let begun = second.begin_second(&proposal);
            let fields = begun.hidden.clone().with("signature", &bob.sign(&begun.text));
            let request = second.browser.with_cookies(Request::form(&begun.action, &fields).header("Accept", "text/html"));
            let (site, wait) = (server.site(), Duration::from_micros(u64::try_from(round * 1_700 % 12_000).unwrap()));
            let sent = thread::spawn(move || site.try_send(&request));
            thread::sleep(wait);
            server.kill9();
            let _ = sent.join().unwrap();
            server.restart();
            let state = state_of(database, &proposal);
            assert_eq!(is_in(&newcomer), state == "done", "round {round}: {state}");
            if state == "taken" {
                interrupted += 1;
                let path = format!("/admin/proposals/{proposal}");
                assert!(!second.page(&path).contains("/admin/proposals/begin"), "somebody is carrying it out");
                let minute = if database.is_postgres() { "interval '1 minute'" } else { "60000000" };
                database.change(&format!("UPDATE proposals SET taken_at = taken_at - {minute}"));
            }
            if state != "done" {
                let begun = second.begin_second(&proposal);
                assert!(matches!(second.sign(&begun).status, 200 | 303), "round {round}: {state}");
            }
            assert!(is_in(&newcomer));
            assert_eq!(state_of(database, &proposal), "done");
            assert!((400..500).contains(&second.ask_second(&proposal).status) || !second.page(&format!("/admin/proposals/{proposal}")).contains("/admin/proposals/begin"));
        }
        let told = signed(database, "group_member_added");
        let made: BTreeSet<String> = told.iter().filter_map(|one| Some(one["change"].as_str()?.to_owned())).collect();
        assert_eq!((told.len(), made), (kills(), changes), "one event for each, and each for one");
        println!("{} kills, {interrupted} between the signature and the change", kills());
    }

    /// The moment that a kill seldom hits: the proposal is taken, and nothing else happened.
    fn k_08_a_proposal_that_nobody_finishes_waits_again_after_a_minute(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let things = Things::of(&server);
        let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let proposal = first.propose(&things.delete_client());
        let path = format!("/admin/proposals/{proposal}");
        let begun = second.begin_second(&proposal);
        database.change(
            "UPDATE proposals SET state = 'taken', taken_at = proposed_at, second_user_id = user_id, second_family = family, \
             second_chain = chain, second_address = address, second_text = text, second_signature = signature",
        );
        assert!((400..500).contains(&second.sign(&begun).status), "somebody is carrying it out");
        assert!(!second.page(&path).contains("/admin/proposals/begin"));
        assert_eq!(events(database, "client_deleted"), 0);
        let minute = if database.is_postgres() { "interval '1 minute'" } else { "60000000" };
        database.change(&format!("UPDATE proposals SET taken_at = taken_at - {minute}"));
        let begun = second.begin_second(&proposal);
        assert!(matches!(second.sign(&begun).status, 200 | 303));
        assert_eq!((events(database, "client_deleted"), state_of(database, &proposal).as_str()), (1, "done"));
    }

    /// Two people, or one in two browsers, sign the same proposal at the same moment on two replicas.
    fn k_07_k_08_in_a_race_on_two_replicas_a_proposal_is_carried_out_once(database) {
        let (ann, bob, cat) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let settings = run_by_two(database, &[&ann, &bob, &cat]).with_env("COUNTERSIGN_ADMIN_GROUP", "operators");
        let server = settings.start();
        let replica = server.replica();
        database.operate(&["group", "create", "operators"]);
        let mut first = Seat::of(&server, &ann);
        let mut racers = [Seat::of(&server, &bob), Seat::of(&replica, &cat), Seat::of(&replica, &bob)];
        let mut carried_out = BTreeSet::new();
        for round in 0..rounds() {
            let newcomer = Wallet::fresh();
            let proposal = first.propose(&member("operators", &newcomer));
            let prepared: Vec<(_, Request)> = racers.iter_mut().map(|seat| {
                let begun = seat.begin_second(&proposal);
                let fields = begun.hidden.clone().with("signature", &seat.wallet.sign(&begun.text));
                let request = Request::form(&begun.action, &fields).header("Accept", "text/html");
                (seat.browser.site.clone(), seat.browser.with_cookies(request))
            }).collect();
            let withdrawal = (round % 3 == 2).then(|| {
                let begun = first.begin(&wanted(&format!("/admin/proposals/{proposal}"), "proposal-withdraw", &[]));
                let fields = begun.hidden.clone().with("signature", &ann.sign(&begun.text));
                let request = Request::form(&begun.action, &fields).header("Accept", "text/html");
                (first.browser.site.clone(), first.browser.with_cookies(request))
            });
            let is_withdrawn = withdrawal.is_some();
            let answers: Vec<u16> = thread::scope(|scope| {
                let sent: Vec<_> = prepared.into_iter().chain(withdrawal)
                    .map(|(site, request)| scope.spawn(move || site.send(&request).status))
                    .collect();
                sent.into_iter().map(|answer| answer.join().unwrap()).collect()
            });
            let won = answers.iter().filter(|status| matches!(status, 200 | 303)).count();
            assert_eq!(won, 1, "{round}: {answers:?}");
            // Not `group show`, which lists the first hundred.
            let row = format!("SELECT count(*) FROM group_wallets WHERE address = '{}'", newcomer.address());
            let is_in = database.number(&row) == 1;
            assert_eq!(is_in, !(is_withdrawn && matches!(answers[3], 200 | 303)), "{round}: {answers:?}");
            if is_in {
                carried_out.insert(proposal);
            }
        }
        let told = signed(database, "group_member_added");
        let changes: BTreeSet<String> = told.iter().filter_map(|one| Some(one["change"].as_str()?.to_owned())).collect();
        assert_eq!((told.len(), changes), (carried_out.len(), carried_out), "one event for each, and each for one");
        println!("{} rounds", rounds());
    }
}

/// Each of the changes that the setting names, and no other.
#[test]
fn the_changes_that_need_two_are_those_that_the_documents_name() {
    let database = Database::sqlite();
    let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
    let server =
        run_by_two(&database, &[&ann, &bob]).with_env("COUNTERSIGN_ADMIN_GROUP", "operators").start();
    database.operate(&["group", "create", "operators"]);
    let things = Things::of(&server);
    let mut seat = Seat::of(&server, &ann);
    let dangerous = [
        "user-delete",
        "client-delete",
        "keys-rotate",
        "key-withdraw",
        "admin-key-create",
        "admin-key-revoke",
    ];
    let mut proposed = Vec::new();
    for change in super::changes::every_change(&things) {
        if dangerous.contains(&change.change) {
            let before = everything(&database).0;
            let id = seat.propose(&change);
            assert_eq!(everything(&database).0, before, "{}", change.change);
            proposed.push(id);
        }
    }
    assert_eq!(proposed.len(), dangerous.len());
    for change in [
        member("operators", &Wallet::fresh()),
        things.access("everyone"),
        wanted("/admin/groups/operators", "group-delete", &[]),
    ] {
        let before = everything(&database).0;
        seat.propose(&change);
        assert_eq!(everything(&database).0, before, "{}", change.change);
        proposed.push(String::new());
    }
    assert_eq!(events(&database, "change_proposed"), i64::try_from(proposed.len()).unwrap());
    let begun = seat.begin(&member("staff", &Wallet::fresh()));
    seat.sign(&begun);
    assert_eq!(events(&database, "group_member_added"), 2, "another group's members need one signature");
    assert!(!change_id(&begun.text).is_empty());
}
