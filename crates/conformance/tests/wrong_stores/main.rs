//! The clauses about events, the desk and epochs can be failed: each mistake that a store could make is caught by the clause that is
//! named beside it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(clippy::wildcard_enum_match_arm, reason = "each place makes a few of the mistakes")]

mod store;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use countersign_conformance::fixtures;
use countersign_conformance::harness;
use countersign_conformance::storage::{
    desk, epochs, event_acts, event_pushes, event_races, events, hour_counts,
};
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::{Details, Event, EventKind, EventPerson};
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_domain::subject::Subject;
use countersign_ports::{EventOrder, FoundEvent, SealEvents, Storage};
use store::{Mistake, WrongStore, moved};
use time::{Date, Duration, OffsetDateTime};

type Clause = fn(Arc<dyn Storage>) -> Pin<Box<dyn Future<Output = ()>>>;

/// What the clause says about a store with this mistake; `None` if it is content.
fn complaint(mistake: Mistake, clause: Clause) -> Option<String> {
    let store = WrongStore::with(mistake);
    let verdict = catch_unwind(AssertUnwindSafe(|| harness::run(clause(store))));
    verdict.err().map(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}

macro_rules! caught {
    ($($name:ident: $mistake:expr => $module:ident::$clause:ident;)*) => { $(
        #[test]
        fn $name() {
            let complaint = complaint($mistake, |store| Box::pin($module::$clause(store)));
            assert!(complaint.is_some(), "{} is content", stringify!($clause));
        }
    )* };
}

fn carried_out(store: Arc<dyn Storage>) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does(store))
}

/// The trial of this operation fails, and no other.
fn each_operation_is_caught(mistake: fn(&'static str) -> Mistake) {
    for operation in event_acts::operations() {
        let complaint = complaint(mistake(operation), carried_out);
        let expected = format!("[\"{operation}\"]");
        assert!(
            complaint.as_ref().is_some_and(|text| text.ends_with(&expected)),
            "{operation}: {complaint:?}"
        );
    }
}

#[test]
fn any_operation_that_stores_no_event() {
    each_operation_is_caught(Mistake::Forgets);
}

#[test]
fn any_operation_that_stores_an_event_of_a_refusal() {
    each_operation_is_caught(Mistake::RecordsRefusals);
}

#[test]
fn any_operation_that_stores_two_events() {
    each_operation_is_caught(Mistake::RecordsTwice);
}

fn somebody(event: &mut Event) {
    event.person.get_or_insert(EventPerson::User(fixtures::user_id()));
}

fn position_lost(found: FoundEvent) -> Option<FoundEvent> {
    Some(FoundEvent { position: None, ..found })
}

fn only_fresh(found: FoundEvent) -> Option<FoundEvent> {
    found.position.is_none().then_some(found)
}

fn any_position(command: &mut SealEvents, _: u64, first: u64) {
    for (sealed, position) in command.events.iter_mut().zip(first..) {
        sealed.position = position;
    }
}

caught! {
    an_act_that_leaves_no_event_because_another_one_did:
        Mistake::ActsUnrecorded => event_acts::an_act_whose_event_tells_of_an_earlier_one_is_not_carried_out;
    an_act_that_invents_an_event:
        Mistake::Invents => event_acts::an_act_without_an_event_leaves_none;
    a_person_who_is_replaced:
        Mistake::Stores(|event| event.person = None) => event_acts::an_event_that_names_somebody_keeps_them;
    a_person_who_is_another:
        Mistake::Stores(somebody) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    an_address_that_is_lost:
        Mistake::Stores(|event| event.address = None) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    a_wallet_that_is_lost:
        Mistake::Stores(|event| event.wallet = None) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    a_client_that_is_lost:
        Mistake::Stores(|event| event.client = None) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    a_request_that_is_lost:
        Mistake::Stores(|event| event.request = None) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    details_that_are_lost:
        Mistake::Stores(|event| event.details = Details::default()) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    what_was_signed_that_is_lost:
        Mistake::Stores(|event| event.signed = None) =>
        event_acts::what_is_carried_out_leaves_its_event_and_nothing_else_does;
    a_repeat_that_is_noticed_only_before_the_seal:
        Mistake::KnowsOnlyFresh =>
        event_acts::an_act_that_is_repeated_after_its_event_was_sealed_leaves_no_other;

    an_event_that_is_recorded_twice: Mistake::AnswersEveryRecord => events::an_event_is_recorded_once;
    recording_in_two_steps: Mistake::RecordsInTwoSteps => event_races::an_event_is_recorded_by_one_of_many;

    a_list_without_since:
        Mistake::Lists(|filter, _| filter.since = None) => events::fresh_and_sealed_events_are_listed_together;
    a_list_without_the_moment_of_since:
        Mistake::Lists(|filter, _| filter.since = filter.since.map(|at| at + Duration::MILLISECOND)) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_without_until:
        Mistake::Lists(|filter, _| filter.until = None) => events::fresh_and_sealed_events_are_listed_together;
    a_list_with_the_moment_of_until:
        Mistake::Lists(|filter, _| filter.until = filter.until.map(|at| at + Duration::MILLISECOND)) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_of_every_kind:
        Mistake::Lists(|filter, _| filter.kinds.clear()) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_of_the_first_kind:
        Mistake::Lists(|filter, _| filter.kinds.truncate(1)) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_of_every_client:
        Mistake::Lists(|filter, _| filter.client = None) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_of_everybody:
        Mistake::Lists(|filter, _| filter.who = None) => events::fresh_and_sealed_events_are_listed_together;
    a_list_of_no_wallet:
        Mistake::Lists(|filter, _| {
            if let Some(Subject::Wallet(wallet)) = &mut filter.who {
                wallet.address = wallet.address.to_uppercase();
            }
        }) => events::fresh_and_sealed_events_are_listed_together;
    a_list_of_a_wallets_users: Mistake::ListsUsersByWallet => events::fresh_and_sealed_events_are_listed_together;
    a_list_in_one_order:
        Mistake::Lists(|_, page| page.order = EventOrder::NewestFirst) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_that_begins_anew:
        Mistake::Lists(|_, page| page.after = None) => events::fresh_and_sealed_events_are_listed_together;
    a_list_beyond_its_limit:
        Mistake::Lists(|_, page| page.limit = page.limit.saturating_add(1)) =>
        events::fresh_and_sealed_events_are_listed_together;
    a_list_of_fresh_events: Mistake::LeavesOut(true) => events::fresh_and_sealed_events_are_listed_together;
    a_list_of_sealed_events: Mistake::LeavesOut(false) => events::fresh_and_sealed_events_are_listed_together;
    a_position_that_is_not_found: Mistake::Finds(position_lost) => events::an_event_is_found_by_its_id;
    a_sealed_event_that_is_not_found: Mistake::Finds(only_fresh) => events::an_event_is_found_by_its_id;
    fresh_events_in_another_order:
        Mistake::ReadsFresh(|events| events.reverse()) =>
        events::fresh_events_are_read_oldest_first_up_to_the_limit;
    fresh_events_without_a_limit:
        Mistake::ReadsFresh(|_| ()) => events::fresh_events_are_read_oldest_first_up_to_the_limit;

    a_seal_of_any_number:
        Mistake::Mends(|command, number, _| command.checkpoint.checkpoint.number = number) =>
        events::a_checkpoint_that_does_not_follow_the_last_is_stale;
    a_seal_that_begins_anywhere:
        Mistake::Mends(|command, _, first| command.checkpoint.checkpoint.first = first) =>
        events::a_checkpoint_that_does_not_follow_the_last_is_stale;
    a_seal_of_any_count:
        Mistake::Mends(|command, _, _| {
            command.checkpoint.checkpoint.events = u32::try_from(command.events.len()).unwrap();
        }) => events::a_checkpoint_that_does_not_follow_the_last_is_stale;
    a_seal_of_any_position:
        Mistake::Mends(any_position) => events::a_checkpoint_that_does_not_follow_the_last_is_stale;
    a_seal_of_what_changed:
        Mistake::SealsWhatChanged => events::an_event_that_is_not_fresh_or_changed_cannot_be_sealed;
    a_seal_of_a_deleted_account:
        Mistake::SealsWhatChanged => events::a_seal_from_before_a_deletion_is_stale;
    a_seal_of_what_is_left:
        Mistake::SealsWhatIsLeft => events::an_event_that_is_not_fresh_or_changed_cannot_be_sealed;
    a_repeated_seal_that_is_refused:
        Mistake::RefusesRepeats => events::a_seal_that_is_repeated_is_answered_like_the_first;
    another_seal_that_is_taken_for_a_repeat:
        Mistake::TakesOthersForRepeats => events::a_checkpoint_that_does_not_follow_the_last_is_stale;
    an_empty_seal_that_is_refused: Mistake::RefusesEmpty => events::a_checkpoint_may_have_no_events;
    sealing_in_two_steps: Mistake::SealsInTwoSteps => event_races::one_of_many_sealers_seals;
    a_first_checkpoint_that_is_taken_for_the_last:
        Mistake::ReadsFirstCheckpoint => events::sealed_events_have_consecutive_positions;
    checkpoints_that_are_read_again:
        Mistake::ReadsCheckpointsFromAfter => events::checkpoints_and_sealed_events_are_read_in_pages;
    sealed_events_that_are_read_again:
        Mistake::ReadsSealedFromAfter => events::checkpoints_and_sealed_events_are_read_in_pages;
    sealed_events_without_a_limit:
        Mistake::ReadsSealedWithoutLimit => events::checkpoints_and_sealed_events_are_read_in_pages;

    checkpoints_that_are_forgotten:
        Mistake::ForgetsCheckpoints => events::events_are_forgotten_by_whole_checkpoints;
    events_that_are_forgotten_too_early:
        Mistake::ForgetsOthers(|command| command.before += 1) =>
        events::events_are_forgotten_by_whole_checkpoints;
    events_that_are_forgotten_too_late:
        Mistake::ForgetsOthers(|command| command.before = command.before.saturating_sub(1)) =>
        events::events_are_forgotten_by_whole_checkpoints;
    forgetting_without_a_limit:
        Mistake::ForgetsOthers(|command| command.checkpoints = u32::MAX) => events::forgetting_goes_in_steps;
    forgetting_one_at_a_time:
        Mistake::ForgetsOthers(|command| command.checkpoints = command.checkpoints.min(1)) =>
        events::forgetting_goes_in_steps;
    forgetting_without_an_end: Mistake::ForgetsForever => events::events_are_forgotten_by_whole_checkpoints;

    one_lease_for_all:
        Mistake::Leases(|command, _| command.name = "lease") => events::leases_of_other_names_are_others;
    a_lease_for_everybody: Mistake::GivesLeases => events::a_lease_has_one_holder_at_a_time;
    a_lease_that_cannot_be_extended:
        Mistake::Leases(|command, count| command.holder[0] = count) =>
        events::a_lease_has_one_holder_at_a_time;
    a_lease_that_ends_early:
        Mistake::Leases(|command, _| moved(&mut command.until, -1)) =>
        events::a_lease_has_one_holder_at_a_time;
    a_lease_that_ends_late:
        Mistake::Leases(|command, _| moved(&mut command.until, 1)) =>
        events::a_lease_has_one_holder_at_a_time;
    a_lease_of_one_holder:
        Mistake::Leases(|command, _| command.holder = [0; 16]) => event_races::a_lease_is_taken_by_one_of_many;

    a_wallet_that_stays:
        Mistake::Keeps(|event, old| event.wallet.clone_from(&old.wallet)) =>
        events::nothing_in_the_events_leads_to_a_deleted_account;
    an_address_that_stays:
        Mistake::Keeps(|event, old| event.address = old.address) =>
        events::nothing_in_the_events_leads_to_a_deleted_account;
    what_was_signed_that_stays:
        Mistake::Keeps(|event, old| event.signed.clone_from(&old.signed)) =>
        events::nothing_in_the_events_leads_to_a_deleted_account;
    a_user_who_stays:
        Mistake::Keeps(|event, old| event.person = old.person) =>
        events::nothing_in_the_events_leads_to_a_deleted_account;
    sealed_events_that_stay:
        Mistake::KeepsSome(true) => events::the_events_of_a_deleted_account_get_its_pseudonym;
    fresh_events_that_stay:
        Mistake::KeepsSome(false) => events::the_events_of_a_deleted_account_get_its_pseudonym;
    a_deletion_that_names_the_person:
        Mistake::KeepsDeletion => events::nothing_in_the_events_leads_to_a_deleted_account;
    a_person_who_stays_unless_there_is_an_event:
        Mistake::KeepsWithoutEvent => events::a_deletion_without_an_event_takes_the_person_away_too;
    a_step_through_the_events_of_anybody:
        Mistake::Steps(|command, left| command.user = left.user) =>
        events::many_events_of_a_deleted_account_get_its_pseudonym_in_steps;
    a_step_with_any_pseudonym:
        Mistake::Steps(|command, left| command.pseudonym = left.pseudonym) =>
        events::many_events_of_a_deleted_account_get_its_pseudonym_in_steps;
    a_first_step_that_ends_it:
        Mistake::StepsOnce => events::many_events_of_a_deleted_account_get_its_pseudonym_in_steps;
    a_repeated_deletion_that_changes_more:
        Mistake::ChangesMore => events::many_events_of_a_deleted_account_get_its_pseudonym_in_steps;
    a_deleted_account_that_nobody_goes_on_with:
        Mistake::LeavesNone => events::many_events_of_a_deleted_account_get_its_pseudonym_in_steps;
    a_salt_that_stays: Mistake::KeepsSalt => events::a_deleted_account_breaks_no_seal;
    a_commitment_that_changes: Mistake::CommitsAnew => events::a_deleted_account_breaks_no_seal;
    many_pseudonyms: Mistake::ManyPseudonyms => events::the_events_of_a_deleted_account_get_its_pseudonym;
    others_who_are_taken_along:
        Mistake::TakesOthersAlong => events::the_events_of_a_deleted_account_get_its_pseudonym;
    a_count_that_is_wrong: Mistake::Miscounts => events::the_events_of_a_deleted_account_are_counted;
    a_count_with_the_deletion:
        Mistake::CountsTheDeletion => events::the_events_of_a_deleted_account_are_counted;
    a_count_without_fresh_events:
        Mistake::CountsSealed => events::the_events_of_a_deleted_account_are_counted;

    a_push_that_begins_again: Mistake::BeginsAgain => event_pushes::a_push_begins_once;
    one_push_for_all_receivers: Mistake::OnePushForAll => event_pushes::a_push_begins_once;
    a_push_that_stays_where_it_was:
        Mistake::Pushes(|command| command.position = 4) => event_pushes::a_push_is_as_it_was_noted_last;
    a_push_that_forgets_who_waits:
        Mistake::Pushes(|command| command.delayed.clear()) => event_pushes::a_push_is_as_it_was_noted_last;
    a_push_that_tries_at_once:
        Mistake::Pushes(|command| {
            for delayed in &mut command.delayed {
                delayed.next_at = delayed.since;
            }
        }) => event_pushes::a_push_is_as_it_was_noted_last;
    a_push_that_forgets_how_often:
        Mistake::Pushes(|command| {
            for delayed in &mut command.delayed {
                delayed.tries = 0;
            }
        }) => event_pushes::a_push_is_as_it_was_noted_last;
    a_push_that_never_forgets: Mistake::AddsDelayed => event_pushes::a_push_is_as_it_was_noted_last;
    a_push_in_any_round:
        Mistake::PushesInAnyRound => event_pushes::what_is_noted_in_another_round_changes_nothing;
    a_push_in_two_steps: Mistake::PushesInTwoSteps => event_pushes::of_many_who_push_at_once_one_is_heard;

    a_proposal_that_loses_wallets:
        Mistake::Puts(|proposal| proposal.wallets.truncate(1)) => desk::every_value_of_a_proposal_survives;
    a_proposal_of_another_family:
        Mistake::Puts(|proposal| {
            for wallet in &mut proposal.wallets {
                wallet.family = wallet.chain.split(':').next().unwrap().to_owned();
            }
        }) => desk::every_value_of_a_proposal_survives;
    a_proposal_that_always_waits:
        Mistake::Puts(|proposal| proposal.state = ProposalState::Waiting) =>
        desk::every_value_of_a_proposal_survives;
    a_proposal_under_an_id_that_is_taken: Mistake::AnswersEveryPut => desk::a_proposal_is_put_once;
    a_repeated_proposal_that_is_refused: Mistake::RefusesRepeatedPuts => desk::a_proposal_is_put_once;
    proposals_in_another_order:
        Mistake::ListsOldestProposalsFirst => desk::proposals_are_listed_newest_first_in_pages;
    proposals_that_begin_anew:
        Mistake::ListsProposals(|page| page.after = None) => desk::proposals_are_listed_newest_first_in_pages;
    proposals_without_a_limit:
        Mistake::ListsProposals(|page| page.limit = u32::MAX) =>
        desk::proposals_are_listed_newest_first_in_pages;
    a_proposal_that_is_taken_twice: Mistake::TakesTwice => desk::a_proposal_is_taken_once;
    a_proposal_that_is_taken_by_whoever_proposed: Mistake::TakesOwn => desk::whoever_proposed_does_not_take_it;
    a_proposal_that_is_taken_after_its_time:
        Mistake::Takes(|command| moved(&mut command.now, -1)) => desk::a_proposal_is_taken_before_it_expires;
    a_proposal_that_is_never_too_old:
        Mistake::Takes(|command| command.now = fixtures::NOW) => desk::a_proposal_is_taken_before_it_expires;
    a_proposal_that_ends_early:
        Mistake::Takes(|command| moved(&mut command.now, 1)) => desk::a_proposal_is_taken_before_it_expires;
    a_proposal_that_is_taken_by_nobody:
        Mistake::Takes(|command| command.user = fixtures::user_id()) => desk::a_proposal_is_taken_once;
    a_proposal_that_is_taken_without_a_signature:
        Mistake::Takes(|command| command.signed.signature.clear()) => desk::a_proposal_is_taken_once;
    taking_in_two_steps: Mistake::TakesInTwoSteps => desk::a_proposal_is_taken_by_one_of_many;
    a_repeated_taking_that_is_refused:
        Mistake::RefusesRepeatedTakings => desk::a_taking_that_is_repeated_gives_the_same_answer;
    a_repeated_taking_of_what_has_ended:
        Mistake::TakesAfterTheEnd => desk::a_taking_that_is_repeated_gives_the_same_answer;
    a_proposal_that_ends_from_any_state:
        Mistake::EndsFromAnyState => desk::a_proposal_ends_from_the_state_that_is_named;
    a_repeated_end_that_is_refused:
        Mistake::RefusesRepeatedEnds => desk::a_proposal_ends_from_the_state_that_is_named;
    proposals_that_are_forgotten_too_early:
        Mistake::ForgetsProposals(|before, _| moved(before, 1)) =>
        desk::proposals_are_forgotten_in_their_time_up_to_the_limit;
    proposals_that_are_forgotten_too_late:
        Mistake::ForgetsProposals(|before, _| moved(before, -1)) =>
        desk::proposals_are_forgotten_in_their_time_up_to_the_limit;
    proposals_that_are_forgotten_without_a_limit:
        Mistake::ForgetsProposals(|_, limit| *limit = u32::MAX) =>
        desk::proposals_are_forgotten_in_their_time_up_to_the_limit;
    proposals_that_outlive_an_account: Mistake::KeepsProposals => desk::the_proposals_of_a_deleted_account_are_gone;

    counts_that_are_lost:
        Mistake::Counts(Vec::clear) => desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_one_family:
        Mistake::Counts(|counts| counts.iter_mut().for_each(|counted| counted.family.clear())) =>
        desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_the_last_named:
        Mistake::Counts(|counts| {
            counts.reverse();
            counts.dedup_by_key(|counted| (counted.day, counted.kind, counted.family.clone()));
        }) => desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_one_kind:
        Mistake::Counts(|counts| counts.iter_mut().for_each(|counted| counted.kind = EventKind::SignIn)) =>
        desk::every_kind_is_counted;
    counts_in_another_order:
        Mistake::ReadsCounts(|counts| counts.reverse()) => desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_every_day:
        Mistake::CountsSince(|since| *since = Date::MIN) =>
        desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_later_days:
        Mistake::CountsSince(|since| *since = since.next_day().unwrap()) =>
        desk::what_happened_is_counted_by_day_kind_and_family;
    counts_that_go_with_the_events:
        Mistake::ForgetsCounts => desk::what_happened_is_counted_by_day_kind_and_family;
    counts_of_a_repeated_seal: Mistake::CountsRepeats => desk::a_seal_counts_once;
    counts_of_a_stale_seal: Mistake::CountsStale => desk::a_seal_counts_once;
    counts_of_every_sealer: Mistake::CountsStale => desk::what_many_sealers_count_at_once_is_counted_once;

    a_request_without_its_sealed_events: Mistake::FindsSomeOfRequest(true) => desk::the_events_of_a_request_are_found;
    a_request_without_its_fresh_events: Mistake::FindsSomeOfRequest(false) => desk::the_events_of_a_request_are_found;
    a_request_without_a_limit: Mistake::FindsAllOfRequest => desk::the_events_of_a_request_are_found;
    sessions_that_are_counted_after_their_end:
        Mistake::CountsSessions(|now, _| *now = OffsetDateTime::UNIX_EPOCH) =>
        desk::sessions_are_counted_up_to_a_limit;
    sessions_that_are_counted_at_their_end:
        Mistake::CountsSessions(|now, _| *now -= Duration::MICROSECOND) => desk::sessions_are_counted_up_to_a_limit;
    sessions_that_are_counted_beyond_the_limit:
        Mistake::CountsSessions(|_, at_most| *at_most = u32::MAX) => desk::sessions_are_counted_up_to_a_limit;
    access_that_is_counted_after_its_end:
        Mistake::CountsAccess(|now, _| *now = OffsetDateTime::UNIX_EPOCH) => desk::access_is_counted_up_to_a_limit;
    access_that_is_counted_beyond_the_limit:
        Mistake::CountsAccess(|_, at_most| *at_most = u32::MAX) => desk::access_is_counted_up_to_a_limit;
    replicas_that_are_never_forgotten:
        Mistake::NotesReplica(|_, before| *before = OffsetDateTime::UNIX_EPOCH) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    replicas_that_are_forgotten_at_once:
        Mistake::NotesReplica(|_, before| *before += Duration::MICROSECOND) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    a_replica_that_an_older_note_overwrites:
        Mistake::NotesReplica(|replica, _| replica.seen_at += Duration::HOUR) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    a_replica_without_its_settings:
        Mistake::NotesReplica(|replica, _| replica.settings.clear()) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    a_replica_without_the_proxy_that_it_saw:
        Mistake::NotesReplica(|replica, _| replica.untrusted_proxy = None) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    a_replica_that_stopped_and_is_still_seen:
        Mistake::ForgetsReplica(|id| *id = [0; 16]) => desk::replicas_are_seen_until_they_are_forgotten;
    replicas_in_another_order:
        Mistake::ReadsReplicas(|seen| seen.reverse()) => desk::replicas_are_seen_until_they_are_forgotten;
    replicas_that_were_not_seen_for_long:
        Mistake::SeenSince(|since| *since = OffsetDateTime::UNIX_EPOCH) =>
        desk::replicas_are_seen_until_they_are_forgotten;
    replicas_of_one_id:
        Mistake::NotesReplica(|replica, _| replica.id = [0; 16]) =>
        desk::replicas_that_are_noted_at_once_are_all_seen;

    hour_counts_that_are_lost:
        Mistake::AddsHourCounts(|command| command.counts.clear()) => hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_one_hour:
        Mistake::AddsHourCounts(|command| command.counts.iter_mut().for_each(|counted| counted.hour = Hour::of(fixtures::NOW))) =>
        hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_one_figure:
        Mistake::AddsHourCounts(|command| command.counts.iter_mut().for_each(|counted| counted.figure = Figure::Tokens)) =>
        hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_one_label:
        Mistake::AddsHourCounts(|command| command.counts.iter_mut().for_each(|counted| counted.label.make_ascii_lowercase())) =>
        hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_in_another_order:
        Mistake::ReadsHours(|counts| counts.reverse()) => hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_every_hour:
        Mistake::HoursSince(|since| *since = Hour::from_number(0)) => hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_later_hours:
        Mistake::HoursSince(|since| *since = Hour::from_number(since.number() + 1)) =>
        hour_counts::counts_add_up_by_hour_figure_and_label;
    hour_counts_of_a_repeated_batch:
        Mistake::AddsHourCounts(|command| command.batch = fixtures::unique().into()) =>
        hour_counts::a_batch_of_counts_is_added_once;
    hour_counts_of_the_first_batch_alone:
        Mistake::AddsHourCounts(|command| command.batch = 1) => hour_counts::a_batch_of_counts_is_added_once;
    hour_counts_of_a_replica_that_is_not_noted:
        Mistake::KnowsEveryReplica => hour_counts::a_batch_of_counts_is_added_once;
    hour_counts_that_grow_with_what_is_counted:
        Mistake::AddsHourCounts(|command| {
            let batch = command.batch;
            command.counts.iter_mut().for_each(|counted| counted.label = format!("{} {batch}", counted.label));
        }) => hour_counts::a_hundred_thousand_counts_take_a_row_for_each_label_of_each_hour;
    hour_counts_that_are_forgotten_too_early:
        Mistake::ForgetsHours(|before| *before += Duration::HOUR) => hour_counts::counts_are_forgotten_hour_by_hour;
    hour_counts_that_are_forgotten_too_late:
        Mistake::ForgetsHours(|before| *before -= Duration::hours(2)) => hour_counts::counts_are_forgotten_hour_by_hour;
    hour_counts_that_are_forgotten_at_once:
        Mistake::ForgetsHoursAtOnce => hour_counts::counts_are_forgotten_hour_by_hour;
    hour_counts_of_every_copy:
        Mistake::AddsHourCounts(|command| command.batch = fixtures::unique().into()) =>
        hour_counts::counts_that_are_added_at_once_are_all_there;

    an_epoch_that_is_not_found: Mistake::ForgetsEpochs => epochs::an_epoch_is_raised_once;
    an_epoch_that_is_raised_by_each_repeat:
        Mistake::Raises(|command| command.id = fixtures::epoch_id()) => epochs::an_epoch_is_raised_once;
    an_epoch_of_another_time:
        Mistake::Raises(|command| moved(&mut command.now, 1)) => epochs::an_epoch_is_raised_once;
}
