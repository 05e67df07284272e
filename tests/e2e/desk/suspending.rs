//! An operator suspends another, who is gone from the desk with the next request, on every replica (K-07).

use std::sync::Barrier;
use std::thread;

use countersign_tests::{Wallet, on_both};

use super::changes::Things;
use super::hidden::looks;
use super::{Seat, account, begun, events, run_by_two, wanted};
use crate::events::wait_until_sealed;

on_both! {
    fn a_suspended_operator_sees_nothing_and_signs_nothing_on_any_replica(database) {
        let (ann, bob, carl) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let first = run_by_two(database, &[&ann, &bob, &carl]).start();
        let second = first.replica();
        let things = Things::of(&first);
        let mut ann_at_first = Seat::of(&first, &ann);
        let (mut bob_at_first, mut bob_at_second) = (Seat::of(&first, &bob), Seat::of(&second, &bob));
        let mut carl_at_second = Seat::of(&second, &carl);
        // Bob proposes, has a text at hand, and a proposal of Carl's to sign.
        let proposal = bob_at_first.propose(&things.delete_client());
        let at_hand = bob_at_second.begin(&things.block_wallet("before"));
        let of_carl = carl_at_second.propose(&things.create_admin_key());
        let second_text = bob_at_first.begin_second(&of_carl);

        let bob_user = database.operate(&["user", "show", &account(&bob)])["id"].as_str().unwrap().to_owned();
        let page = format!("/admin/people/{bob_user}");
        ann_at_first.make(&wanted(&page, "operator-suspend", &[("reason", "last day")]));
        assert_eq!((events(database, "operator_suspended"), events(database, "change_withdrawn")), (1, 1));

        let nothing = looks(&bob_at_first.get("/nothing-like-that"));
        for path in ["/admin", "/admin/people", "/admin/proposals", &page] {
            for seat in [&mut bob_at_first, &mut bob_at_second] {
                assert_eq!(looks(&seat.get(path)), nothing, "{path}");
            }
        }
        let before = database.rows();
        assert!((400..500).contains(&bob_at_second.sign(&at_hand).status), "a text from before");
        assert!((400..500).contains(&bob_at_first.sign(&second_text).status), "a second signature");
        assert_eq!(database.rows(), before, "nothing of it happened");
        let shown = carl_at_second.page(&format!("/admin/proposals/{proposal}"));
        assert!(!shown.contains("action=\"/admin/proposals/begin\""), "what Bob proposed is over: {shown}");

        // Another session, a fresh sign-in, and the applications: only the desk is gone.
        let again = Seat::of(&second, &bob).get("/admin");
        assert_eq!(again.status, 404);

        // Giving it back takes two.
        let restore = ann_at_first.propose(&wanted(&page, "operator-restore", &[]));
        assert_eq!(bob_at_first.get("/admin").status, 404, "one signature restores no one");
        let begun = carl_at_second.begin_second(&restore);
        assert!(matches!(carl_at_second.sign(&begun).status, 200 | 303));
        assert_eq!(bob_at_second.get("/admin").status, 200);
        wait_until_sealed(database, 1);
        let verified = database.operator(&["event", "verify"]).env("COUNTERSIGN_PUBLIC_URL", &first.public_url).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }

    fn who_signs_second_against_themselves_types_the_word(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by_two(database, &[&ann, &bob]).start();
        let (mut ann_at_desk, mut bob_at_desk) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
        let of_bob = account(&bob);
        let fields = [("wallet", of_bob.as_str()), ("reason", "moves on")];
        let proposal = ann_at_desk.propose(&wanted("/admin/wallets", "wallet-block", &fields));
        let path = format!("/admin/proposals/{proposal}");
        let html = bob_at_desk.page(&path);
        let mut forms = countersign_tests::page::forms(&html).into_iter();
        let form = forms.rfind(|form| form.action.ends_with("/proposals/begin")).unwrap();
        assert!(html.contains("name=\"oneself\""), "{html}");
        for word in ["", "yes"] {
            let sent = form.hidden.clone().with("oneself", word);
            let refused = bob_at_desk.post("/admin/proposals/begin", &sent);
            assert_eq!(refused.status, 409, "{word}: {refused:?}");
        }
        let sent = form.hidden.with("oneself", "myself");
        let text = begun(&bob_at_desk.post("/admin/proposals/begin", &sent).expect(200).text());
        assert_eq!(bob_at_desk.sign(&text).status, 200);
        assert_eq!(bob_at_desk.get("/admin").status, 404);
    }

    fn nothing_that_a_suspended_operator_signs_counts_after_the_answer(database) {
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let first = run_by_two(database, &[&ann, &bob]).start();
        let second = first.replica();
        let bob_user = {
            Seat::of(&first, &bob);
            database.operate(&["user", "show", &account(&bob)])["id"].as_str().unwrap().to_owned()
        };
        let page = format!("/admin/people/{bob_user}");
        for round in 0..5 {
            let mut ann_at_first = Seat::of(&first, &ann);
            let mut bob_at_second = Seat::of(&second, &bob);
            let victim = account(&Wallet::fresh());
            let fields = [("wallet", victim.as_str()), ("reason", "race")];
            let block = bob_at_second.begin(&wanted("/admin/wallets", "wallet-block", &fields));
            let suspend = ann_at_first.begin(&wanted(&page, "operator-suspend", &[]));
            let start = Barrier::new(2);
            let (suspended, blocked) = thread::scope(|scope| {
                let suspended = scope.spawn(|| {
                    start.wait();
                    ann_at_first.sign(&suspend).status
                });
                let blocked = scope.spawn(|| {
                    start.wait();
                    bob_at_second.sign(&block).status
                });
                (suspended.join().unwrap(), blocked.join().unwrap())
            });
            assert_eq!(suspended, 200, "{round}");
            let is_blocked = database.operate(&["wallet", "list", "--blocked"]).to_string().contains(&victim);
            assert_eq!(is_blocked, blocked == 200, "{round}: what was answered is what happened");
            assert_eq!(bob_at_second.get("/admin").status, 404, "{round}");
            let again = bob_at_second.sign(&block);
            assert!((400..500).contains(&again.status), "{round}: {again:?}");
            database.operate(&["operator", "restore", &bob_user]);
        }
    }
}
