//! The clauses for the storage port, and the list that turns them into tests.
//!
//! A clause expects that nothing else uses the store while it runs. Still, the ids of [`crate::fixtures`]
//! differ from call to call, so most clauses also hold on a store that contains other data.

pub mod account_races;
pub mod accounts;
pub mod admin_keys;
pub mod admission_races;
pub mod blocks;
pub mod client_secrets;
pub mod clients;
pub mod codes;
pub mod consents;
pub mod continuing;
pub mod declarations;
pub mod desk;
pub mod durability;
pub mod emails;
pub mod epochs;
pub mod event_acts;
pub mod event_pushes;
pub mod event_races;
pub mod events;
pub mod forgetting;
pub mod groups;
pub mod holdings;
pub mod hour_counts;
pub mod if_unchanged;
pub mod invitations;
pub mod issuing;
pub mod keys;
pub mod login;
pub mod metadata;
pub mod people;
pub mod proofs;
pub mod races;
pub mod refresh;
pub mod replicas;
pub mod requests;
pub mod resources;
pub mod revocation;
pub mod session_races;
pub mod sessions;
pub mod signing_out;
mod steps;
pub mod suspensions;
pub mod upkeep;
pub mod wallet_races;
pub mod wallets;

/// Makes one test of each clause about what the operations do.
///
/// The argument is a future of `(Arc<dyn Storage>, guard)`; each clause evaluates it anew. The store is
/// empty. The guard is dropped when the clause ends.
#[macro_export]
macro_rules! storage_contract {
    (@ [$($make:tt)*] $($fresh:expr)?) => {
        $($make)*! { $($fresh,)?
            clients: [
                a_registered_client_is_found,
                an_unknown_client_is_not_found,
                a_registration_that_is_repeated_is_stored_once,
                a_taken_client_id_changes_nothing,
                an_update_replaces_everything_but_id_and_birth,
                an_update_of_nobody_changes_nothing,
                an_update_leaves_opened_resources_alone,
                resources_are_opened_and_closed,
                resources_of_nobody_are_not_changed,
                an_update_leaves_access_alone,
                whom_a_client_lets_in_is_decided,
                access_of_nobody_is_not_decided,
                a_deleted_client_is_gone,
                deleting_nobody_says_so,
                a_deleted_client_takes_its_codes_and_tokens_along,
                what_is_left_of_a_deleted_client_goes_when_it_is_deleted_again,
                clients_are_listed_by_id_in_pages,
                clients_are_sorted_and_filtered,
            ],
            client_secrets: [
                a_rotated_secret_replaces_the_one_before,
                a_rotation_may_keep_the_secret_before,
                a_client_has_two_secrets_at_most,
                a_secret_that_is_rotated_again_by_the_same_command_stays,
                a_rotation_of_another_secret_changes_nothing,
                where_there_is_no_secret_none_is_rotated,
                an_update_leaves_secrets_alone,
                a_client_that_authenticates_otherwise_keeps_no_secret,
                what_is_known_about_secrets_is_told,
                an_unused_secret_that_is_kept_is_as_old_as_its_client,
                the_latest_use_of_a_secret_stays,
                uses_of_other_secrets_are_left_out,
                a_deleted_client_takes_what_is_known_about_its_secrets_along,
                an_old_secret_is_forgotten_after_its_end,
            ],
            metadata: [
                every_way_to_authenticate_survives,
                every_origin_survives,
                the_document_of_a_client_survives,
                the_resources_that_were_opened_survive,
                every_decision_about_access_survives,
                every_set_of_scopes_survives,
                every_list_of_grant_types_survives,
                names_in_every_alphabet_survive,
                twenty_redirect_uris_survive_in_their_order,
                every_display_field_survives_alone,
                all_display_fields_survive_together,
                lists_of_every_length_survive,
            ],
            login: [
                a_completed_login_is_a_grant_that_is_found,
                an_unknown_grant_is_not_found,
                every_optional_part_of_a_grant_survives,
                b_001_a_used_challenge_is_spent,
                a_spent_challenge_leaves_no_user_behind,
                a_login_that_is_repeated_gives_the_same_user,
                a_login_that_is_repeated_later_gives_the_same_answer,
                one_code_for_another_wallet_is_another_login,
                a_wallet_that_comes_back_is_the_same_user,
                one_wallet_on_two_chains_is_one_user,
                one_address_in_two_families_is_two_users,
                two_wallets_are_two_users,
            ],
            codes: [
                a_code_is_redeemed_once,
                a_redeemed_grant_knows_it,
                a_replayed_code_changes_nothing,
                a_redemption_that_is_repeated_gives_the_same_answer,
                a_redemption_that_is_repeated_later_gives_the_same_answer,
                the_code_of_a_revoked_grant_is_not_redeemed,
                a_code_that_was_redeemed_and_revoked_is_not_redeemed,
                the_code_of_no_grant_is_unknown,
                a_token_is_found_as_it_was_stored,
                a_token_without_refresh_survives,
                an_unknown_token_is_not_found,
            ],
            issuing: [
                tokens_that_were_issued_are_found_with_their_grant,
                tokens_of_a_client_make_no_user,
                an_issue_that_is_repeated_gives_the_same_answer,
                a_taken_grant_id_issues_nothing,
                a_client_that_is_not_there_gets_nothing,
                a_deleted_client_takes_its_own_tokens_along,
                tokens_of_a_client_are_revoked_like_others,
                a_client_that_nobody_is_sent_back_to_survives,
            ],
            refresh: [
                a_first_token_is_its_familys_newest,
                a_rotated_token_is_the_familys_newest,
                a_rotated_token_stays_to_be_recognized,
                a_rotation_leaves_older_access_tokens_alive,
                a_076_a_token_that_was_rotated_before_is_reused,
                a_reused_token_changes_nothing,
                a_rotation_that_is_repeated_gives_the_same_answer,
                a_rotation_that_is_repeated_later_gives_the_same_answer,
                a_rotation_in_the_grace_replaces_the_unused_successor,
                a_replaced_successor_is_no_longer_the_newest,
                a_rotation_in_a_revoked_family_is_refused,
                a_rotation_before_the_code_was_redeemed_is_refused,
                a_rotation_without_a_grant_is_unknown,
            ],
            revocation: [
                a_revoked_access_token_is_dead_and_its_family_goes_on,
                a_token_that_was_revoked_before_says_so,
                revoking_an_unknown_token_says_so,
                another_token_with_the_id_of_one_revokes_nothing,
                a_revoked_grant_takes_all_its_tokens_along,
                a_grant_is_revoked_before_its_code_is_redeemed,
                a_grant_that_was_revoked_before_says_so,
                every_reason_revokes,
                revoking_an_unknown_grant_says_so,
                a_revocation_touches_no_other_family,
            ],
            keys: [
                a_signing_key_is_found_as_it_was_stored,
                a_key_that_is_added_again_is_stored_once,
                a_second_first_key_for_an_algorithm_changes_nothing,
                a_next_key_is_added_unless_a_later_one_is_there,
                a_key_of_another_algorithm_does_not_stand_in_the_way,
                a_key_is_withdrawn_once,
                a_withdrawn_key_does_not_stand_in_the_way,
                a_key_is_removed_once,
                keys_are_read_oldest_first,
            ],
            upkeep: [
                a_store_that_works_answers_a_ping,
                nothing_is_purged_from_an_empty_store,
                what_may_be_forgotten_at_the_boundary_stays,
                a_purged_grant_is_gone,
                a_purged_token_is_gone,
                redeeming_and_rotating_keep_a_grant_longer,
                a_shorter_lifetime_forgets_no_family_early,
                a_rotated_refresh_token_stays_until_it_expires,
                a_token_stays_while_either_half_is_good,
                a_purge_keeps_to_its_limit_oldest_first,
                a_purge_that_is_repeated_ends,
                a_purge_forgets_no_client_no_key_and_no_wallet,
                a_spent_challenge_is_forgotten_in_its_time,
                spent_challenges_are_purged_oldest_first_up_to_the_limit,
                an_expired_session_is_purged,
                expired_sessions_are_purged_oldest_first_up_to_the_limit,
            ],
            forgetting: [
                a_user_whom_nobody_was_told_of_is_forgotten_in_their_time,
                f_07_a_user_whose_code_was_redeemed_is_never_forgotten,
                a_user_with_any_grant_is_not_forgotten,
                users_with_a_session_an_address_or_two_wallets_are_not_forgotten,
                users_in_a_group_and_blocked_ones_are_not_forgotten,
                f_23_a_user_who_unlinked_a_wallet_is_not_forgotten,
                unused_users_are_forgotten_oldest_first_up_to_the_limit,
                f_07_a_document_that_nobody_uses_is_forgotten,
                a_document_that_the_operator_decided_about_is_kept,
                f_18_a_store_tells_the_time_or_keeps_what_it_is_told,
            ],
            wallets: [
                f_18_a_text_from_before_the_signers_user_changes_nothing_of_theirs,
                the_wallet_of_a_first_login_is_its_users,
                nobody_has_no_wallets,
                a_linked_wallet_signs_in_as_its_user,
                the_owner_of_a_wallet_is_found_whatever_its_chain,
                wallets_are_read_oldest_link_first,
                a_wallet_is_linked_whatever_its_chain,
                a_wallet_that_is_theirs_already_changes_nothing,
                another_users_wallet_is_refused,
                an_unknown_signer_links_and_unlinks_nothing,
                b_001_a_challenge_links_once,
                b_001_a_challenge_unlinks_once,
                a_challenge_that_linked_does_not_unlink,
                f_15_a_key_and_the_contract_at_its_address_are_two_wallets,
                f_17_a_link_that_changes_nothing_spends_its_challenge,
                f_17_an_unlink_that_changes_nothing_spends_its_challenge,
                an_unlinked_wallet_is_gone_and_the_user_stays,
                a_wallet_unlinks_itself,
                the_last_wallet_is_refused,
                a_wallet_of_another_or_of_nobody_is_not_unlinked,
                what_an_unlinked_wallet_granted_is_dead_and_the_rest_lives,
                a_grant_that_was_revoked_before_its_wallet_was_unlinked_stays_revoked,
                an_unlinked_wallet_signs_in_as_a_new_user,
                an_unlinked_wallet_may_be_linked_again,
                an_unlinked_wallet_may_be_linked_by_another,
                a_wallet_is_linked_and_unlinked_many_times,
                f_26_a_user_who_has_the_most_wallets_gets_no_other,
                a_user_names_their_wallets_and_takes_names_away,
                only_the_users_own_wallets_get_a_name,
                a_name_stays_while_the_wallet_is_the_users_and_goes_with_it,
            ],
            holdings: [
                what_is_linked_and_what_was_is_found_by_users_and_by_wallets,
                other_events_say_nothing_about_whose_a_wallet_was,
                f_23_a_wallet_that_was_linked_often_hides_no_other,
                f_23_holdings_stop_at_the_limit,
                a_deleted_account_leaves_no_holding,
            ],
            sessions: [
                a_remembered_login_is_a_session_that_is_found,
                a_login_that_is_not_remembered_makes_no_session,
                an_opened_session_is_found_and_grants_nothing,
                one_wallet_opens_sessions_of_one_user,
                an_unknown_session_is_not_found,
                every_value_of_a_session_survives,
                b_001_a_challenge_opens_one_session,
                b_001_a_challenge_that_was_spent_elsewhere_opens_no_session,
                an_opening_that_is_repeated_gives_the_same_answer,
                an_opening_that_is_repeated_brings_no_session_back,
                a_new_session_takes_the_place_of_the_one_before,
                a_login_that_grants_nothing_anew_touches_no_session,
                an_ended_session_is_gone,
                a_session_is_ended_by_its_user_only,
                all_sessions_of_a_user_end_at_once,
                an_expired_session_is_there_until_it_is_purged,
                an_unlinked_wallets_sessions_end,
            ],
            signing_out: [
                whoever_signs_out_ends_what_was_granted_in_the_session,
                access_while_the_person_is_away_outlives_the_session,
                a_sign_out_touches_nothing_else,
                the_clients_of_sessions_are_found,
            ],
            continuing: [
                a_session_continues_where_its_user_agreed,
                a_session_continues_many_times_at_many_clients,
                a_consent_covers_the_scopes_of_resources_that_were_signed_for,
                a_consent_covers_what_was_signed_for_and_no_more,
                scopes_of_several_signatures_count_together,
                where_nobody_agreed_no_session_continues,
                b_001_a_request_is_continued_once,
                a_continuation_that_is_repeated_gives_the_same_answer,
                one_code_for_another_wallet_is_another_continuation,
                a_session_that_ended_continues_nowhere,
                the_first_of_several_refusals_is_the_answer,
                what_a_session_led_to_dies_with_its_wallet,
            ],
            consents: [
                a_login_is_a_consent,
                a_consent_is_one_users_to_one_client,
                scopes_of_resources_add_up,
                consents_add_up,
                a_login_that_grants_nothing_anew_is_no_consent,
                a_revoked_consent_is_gone_with_its_grants,
                a_revoked_consent_touches_no_other,
                revoking_where_nobody_agreed_says_so,
                whoever_agrees_again_begins_anew,
                a_deleted_client_takes_its_consents_along,
                a_consent_outlives_the_link_of_the_wallet_that_signed,
                f_03_consents_at_other_terms_are_consents_of_their_own,
                f_03_every_kind_of_terms_survives,
                f_03_a_session_repeats_one_consent,
            ],
            emails: [
                an_address_that_was_put_is_on_file,
                every_value_of_an_address_survives,
                an_address_of_nobody_is_refused,
                the_same_address_again_gets_the_new_link,
                a_verified_address_again_changes_nothing,
                another_address_is_refused_where_it_may_not_replace,
                another_address_replaces_where_it_may,
                a_link_confirms_once,
                a_wrong_link_confirms_nothing,
                an_expired_link_confirms_nothing,
                an_address_that_was_removed_is_gone,
                an_address_that_another_user_confirmed_needs_an_agreement,
                an_address_that_another_user_gave_up_needs_no_agreement,
            ],
            proofs: [
                e_23_a_proof_is_new_once,
                the_same_request_again_gets_the_same_answer,
                proofs_are_told_apart_by_every_bit,
                a_proof_is_forgotten_after_its_time_and_not_at_it,
                spent_proofs_are_purged_oldest_first_up_to_the_limit,
            ],
            accounts: [
                nobody_has_no_account,
                an_account_shows_what_is_its_users,
                a_user_is_as_old_as_the_first_signature,
                consents_are_listed_last_used_first,
                sessions_are_listed_last_used_first,
                a_deleted_account_is_gone,
                a_signature_from_before_the_deletion_does_not_sign_in_again,
                no_grant_leads_to_a_user_whose_account_was_deleted,
                deleting_nobodys_account_says_so,
                a_deleted_account_touches_no_other,
                the_wallets_of_a_deleted_account_make_new_users,
                the_wallets_of_a_deleted_account_may_be_linked,
            ],
            resources: [
                a_resource_is_found_as_it_was_declared,
                a_declaration_that_is_repeated_is_stored_once,
                a_taken_uri_changes_nothing,
                a_name_of_a_scope_belongs_to_one_resource,
                names_of_scopes_are_compared_byte_for_byte,
                an_update_replaces_everything_but_uri_and_birth,
                an_update_of_no_resource_changes_nothing,
                a_deleted_resource_is_gone_with_its_scopes,
                those_who_use_a_resource_are_counted,
            ],
            declarations: [
                what_was_declared_is_listed_by_kind_and_key,
                what_is_declared_again_has_the_new_file,
                a_member_who_leaves_a_group_is_declared_no_longer,
                what_is_forgotten_is_no_longer_listed,
            ],
            groups: [
                a_created_group_is_found,
                f_26_the_standing_of_a_user_says_what_that_of_each_wallet_does,
                a_group_that_is_created_again_is_stored_once,
                a_taken_name_changes_no_group,
                a_group_is_retitled,
                every_value_of_a_group_survives,
                groups_are_listed_by_name_in_pages,
                a_deleted_group_is_gone_with_its_memberships,
                the_rules_of_clients_outlive_a_group,
                a_member_is_added_once,
                members_need_a_group_and_users_must_exist,
                several_members_change_together_or_not_at_all,
                a_member_is_taken_out_once,
                members_are_counted_up_to_a_thousand_and_one,
                members_are_listed_users_first_in_pages,
                a_wallet_is_in_a_group_before_its_first_sign_in,
                wallets_in_groups_are_told_apart_by_family_and_address,
                a_user_is_in_the_groups_of_every_wallet,
                nobody_is_in_no_group,
                the_groups_of_a_wallet_go_where_it_goes,
                a_deleted_user_leaves_their_groups,
                a_user_is_in_as_many_groups_as_there_are,
            ],
            invitations: [
                an_invitation_is_found_as_it_was_created,
                a_wallet_comes_in_once_and_gets_the_name,
                a_name_that_someone_has_stays,
                an_invitation_that_ended_lets_no_one_in,
                an_invitation_is_no_way_around_a_block,
                whoever_is_in_the_group_by_any_way_spends_nothing,
                invitations_are_listed_newest_first,
                a_user_came_in_by_the_invitations_of_all_their_wallets,
            ],
            admin_keys: [
                an_admin_key_is_found_as_it_was_created,
                an_admin_key_that_is_created_again_is_stored_once,
                a_name_of_an_admin_key_is_given_once_even_after_it_was_revoked,
                an_admin_key_is_revoked_once,
                the_latest_use_of_an_admin_key_stays,
                a_request_is_begun_once_until_it_is_forgotten,
                what_a_request_made_is_made_once_even_if_it_was_deleted,
                a_request_that_was_refused_still_waits,
                requests_of_revoked_keys_are_forgotten_too,
            ],
            if_unchanged: [
                an_unchanged_client_is_changed_in_every_way,
                a_client_that_was_changed_since_stays_as_it_is,
                a_group_is_changed_only_as_it_was_read,
                a_resource_is_changed_only_as_it_was_read,
            ],
            blocks: [
                nobody_is_blocked_at_first,
                a_blocked_user_is_kept_out_with_every_wallet,
                a_blocked_wallet_is_kept_out_alone,
                a_user_and_their_wallet_are_blocked_each_by_itself,
                a_block_that_is_there_keeps_its_time_and_chain,
                a_user_who_does_not_exist_is_not_blocked,
                a_block_that_was_removed_is_gone,
                every_value_of_a_block_survives,
                blocked_wallets_are_listed_in_pages,
                a_block_alone_ends_nothing,
                a_088_what_a_user_was_given_ends,
                a_088_what_a_wallet_gave_ends,
                ending_the_access_of_nobody_ends_nothing,
                the_clients_of_ended_sessions_are_told,
                what_is_kept_outlives_the_sessions,
                an_opened_session_ends_without_clients,
                a_blocked_user_changes_no_wallets,
                a_blocked_wallet_stays_where_it_is,
                unlinking_tells_nobody_of_a_strangers_block,
                a_block_has_its_place_among_the_refusals,
                the_wallets_of_a_blocked_user_stay_blocked_after_deletion,
                a_users_deletion_leaves_the_blocks_of_wallets,
            ],
            people: [
                people_are_listed_by_id_in_pages,
                nobody_is_no_person,
                people_are_listed_by_group,
                people_are_sorted_by_their_last_sign_in,
                blocked_people_are_listed,
                a_listed_person_is_told_with_their_wallets,
                the_last_sign_in_is_the_last_that_is_stored,
                a_person_is_shown_with_everything,
                sessions_that_have_expired_are_not_shown,
                a_name_is_given_and_taken_away,
                who_has_no_name_is_called_by_another_that_is_theirs,
                names_are_found_by_their_beginning,
                wallets_are_found_by_their_first_and_last_letters,
                everyone_with_a_name_is_listed_in_pages,
                a_deleted_account_leaves_no_name,
            ],
            requests: [
                a_109_a_pushed_request_is_taken_once,
                a_109_a_pushed_request_is_its_clients_alone,
                a_109_an_expired_request_is_not_taken,
                a_push_that_is_repeated_is_stored_once,
                a_waiting_device_is_found_by_both_its_names,
                every_value_of_a_device_survives,
                a_device_that_is_repeated_is_stored_once,
                one_user_code_is_one_devices,
                a_device_is_told_no_once_and_for_all,
                a_device_that_was_answered_is_not_denied,
                denying_nobodys_device_says_so,
                requests_are_purged_in_their_time_up_to_the_limit,
            ],
            event_acts: [
                what_is_carried_out_leaves_its_event_and_nothing_else_does,
                an_event_that_names_somebody_keeps_them,
                an_act_without_an_event_leaves_none,
                an_act_that_is_repeated_after_its_event_was_sealed_leaves_no_other,
                an_act_whose_event_tells_of_an_earlier_one_is_not_carried_out,
                a_wallet_that_is_blocked_instead_of_its_deleted_user_has_its_event,
            ],
            events: [
                every_value_of_an_event_survives,
                an_event_is_recorded_once,
                an_event_is_found_by_its_id,
                fresh_events_are_read_oldest_first_up_to_the_limit,
                fresh_and_sealed_events_are_listed_together,
                a_page_of_events_may_start_anywhere,
                sealed_events_have_consecutive_positions,
                a_checkpoint_may_have_no_events,
                checkpoints_and_sealed_events_are_read_in_pages,
                a_checkpoint_seals_as_many_events_as_it_may,
                a_seal_that_is_repeated_is_answered_like_the_first,
                a_checkpoint_that_does_not_follow_the_last_is_stale,
                an_event_that_is_not_fresh_or_changed_cannot_be_sealed,
                events_are_forgotten_by_whole_checkpoints,
                forgetting_goes_in_steps,
                a_lease_has_one_holder_at_a_time,
                leases_of_other_names_are_others,
                the_events_of_a_deleted_account_get_its_pseudonym,
                the_text_of_several_people_goes_with_one_of_them,
                the_events_of_a_deleted_account_are_counted,
                many_events_of_a_deleted_account_get_its_pseudonym_in_steps,
                a_deleted_account_breaks_no_seal,
                nothing_in_the_events_leads_to_a_deleted_account,
                a_deletion_without_an_event_takes_the_person_away_too,
                a_wallet_of_a_deleted_account_begins_with_new_events,
                a_seal_from_before_a_deletion_is_stale,
            ],
            desk: [
                every_value_of_a_proposal_survives,
                a_proposal_is_put_once,
                proposals_are_listed_newest_first_in_pages,
                a_proposal_is_taken_once,
                whoever_proposed_does_not_take_it,
                a_proposal_is_taken_before_it_expires,
                a_proposal_that_ended_is_not_taken,
                a_taking_that_is_repeated_gives_the_same_answer,
                what_nobody_carried_out_in_time_waits_again,
                the_act_of_a_proposal_makes_it_done,
                an_act_whose_proposal_somebody_else_took_does_not_happen,
                nobody_ends_what_somebody_else_took,
                a_proposal_deletes_the_account_of_who_signed_it,
                a_proposal_ends_from_the_state_that_is_named,
                proposals_are_forgotten_in_their_time_up_to_the_limit,
                the_proposals_of_a_deleted_account_are_gone,
                what_happened_is_counted_by_day_kind_and_family,
                every_kind_is_counted,
                a_seal_counts_once,
                the_events_of_a_request_are_found,
                sessions_are_counted_up_to_a_limit,
                access_is_counted_up_to_a_limit,
                replicas_are_seen_until_they_are_forgotten,
            ],
            hour_counts: [
                counts_add_up_by_hour_figure_and_label,
                a_batch_of_counts_is_added_once,
                a_hundred_thousand_counts_take_a_row_for_each_label_of_each_hour,
                counts_are_forgotten_hour_by_hour,
            ],
            suspensions: [
                a_suspended_operator_is_so_with_every_wallet_until_restored,
                a_wallet_is_suspended_before_anyone_signs_in_with_it,
                other_wallets_of_the_person_are_suspended_and_restored_with_them,
                linking_and_unlinking_end_no_suspension,
                deleting_the_account_ends_no_suspension,
                every_value_of_a_suspension_survives,
                suspended_wallets_are_listed_in_pages,
                the_proposals_of_a_suspended_operator_end,
                nothing_that_a_suspended_operator_signed_happens,
            ],
            epochs: [
                nothing_was_restored_at_first,
                an_epoch_is_raised_once,
                codes_and_tokens_end_with_their_epoch,
                sessions_and_requests_end_with_their_epoch,
                links_of_mails_end_with_their_epoch,
                proposals_expire_with_their_epoch,
                what_one_replica_did_for_all_ends_with_its_epoch,
                what_was_spent_stays_spent,
                what_people_and_operators_decided_outlives_an_epoch,
                a_user_of_an_earlier_epoch_is_known,
            ],
        }
    };
    ($fresh:expr) => {
        $crate::storage_contract! { @ [$crate::clauses_on_a_fresh_store] $fresh }
    };
}

/// Makes one test of each clause about concurrent operations. The argument is that of [`storage_contract!`].
#[macro_export]
macro_rules! storage_races {
    (@ [$($make:tt)*] $($fresh:expr)?) => {
        $($make)*! { $($fresh,)?
            races: [
                d_05_one_code_is_redeemed_by_one_of_many,
                d_06_one_refresh_token_is_rotated_by_one_of_many,
                d_07_no_rotation_is_stored_after_a_revocation_was_answered,
                d_07_no_access_token_lives_after_a_revocation_was_answered,
                d_08_one_challenge_gives_a_code_to_one_of_many,
                one_wallet_that_signs_in_many_times_at_once_is_one_user,
                many_copies_of_one_redemption_are_all_answered_alike,
                many_copies_of_one_login_are_all_answered_alike,
                one_client_id_is_taken_by_one_of_many,
                one_algorithm_gets_one_key_of_many,
                one_next_key_is_added_of_many,
                a_key_is_withdrawn_by_one_of_many,
                a_grant_is_revoked_by_one_of_many,
                many_families_at_once_do_not_disturb_each_other,
                an_operation_that_nobody_waits_for_happens_wholly_or_not_at_all,
            ],
            clients: [
                openings_and_updates_at_once_all_stay,
            ],
            client_secrets: [
                one_secret_is_replaced_by_one_of_many,
                no_update_undoes_a_rotation,
                uses_and_rotations_at_once_do_not_disturb_each_other,
            ],
            issuing: [
                no_token_of_a_client_outlives_it,
            ],
            forgetting: [
                f_07_a_login_and_the_forgetting_of_its_user_do_not_mix,
            ],
            wallet_races: [
                one_wallet_is_linked_by_one_of_many_users,
                one_challenge_links_one_of_many_wallets,
                a_first_login_and_a_link_agree_on_the_user,
                many_unlinks_at_once_leave_a_user_one_wallet,
                no_grant_outlives_the_link_of_its_wallet,
                links_unlinks_and_logins_at_once_leave_one_owner,
                f_26_many_links_at_once_stop_at_the_bound,
            ],
            session_races: [
                d_08_one_request_is_continued_by_one_of_many,
                one_request_is_signed_or_continued,
                many_copies_of_one_continuation_are_all_answered_alike,
                many_continuations_at_once_do_not_disturb_each_other,
                d_08_one_challenge_opens_one_of_many_sessions,
                many_copies_of_one_opening_are_all_answered_alike,
                one_wallet_that_comes_in_every_way_at_once_is_one_user,
                one_session_is_replaced_by_many_at_once,
                no_session_continues_after_its_end_was_answered,
                a_session_is_ended_by_one_of_many,
                no_session_outlives_the_link_of_its_wallet,
                a_session_that_nobody_waits_for_is_opened_and_used_wholly_or_not_at_all,
            ],
            proofs: [
                e_23_one_proof_is_new_for_one_of_many,
                many_copies_of_one_spending_are_all_answered_alike,
            ],
            invitations: [
                uses_are_exact_when_many_want_them_at_once,
                one_wallet_spends_one_use_however_often_it_asks,
                no_one_comes_in_after_a_revocation_was_answered,
            ],
            admin_keys: [
                one_request_is_begun_by_one_of_many,
                one_request_makes_one_thing_of_many,
                one_name_of_an_admin_key_is_given_to_one_of_many,
            ],
            if_unchanged: [
                one_of_many_changes_a_client_that_all_of_them_read,
                one_of_many_changes_a_group_that_all_of_them_read,
                one_of_many_changes_a_resource_that_all_of_them_read,
            ],
            resources: [
                one_name_of_a_scope_is_declared_by_one_of_many,
            ],
            declarations: [
                files_that_are_applied_at_once_all_leave_their_declarations,
            ],
            consents: [
                scopes_of_resources_add_up_however_many_sign_at_once,
            ],
            account_races: [
                consents_add_up_however_many_sign_at_once,
                no_continuation_outlives_its_consent,
                no_login_outlives_its_consent,
                a_consent_is_revoked_by_one_of_many,
                an_account_is_deleted_by_one_of_many,
                nothing_outlives_a_deleted_account,
                one_address_of_many_comes_on_file,
                one_link_is_followed_by_one_of_many,
                one_of_many_who_confirm_one_address_at_once_is_not_told_of_another,
                a_link_never_confirms_another_address,
            ],
            admission_races: [
                a_088_nothing_that_was_given_before_outlives_a_block,
                an_end_of_access_and_a_sign_in_do_not_mix,
                access_is_ended_by_one_of_many,
                no_wallet_changes_hands_after_its_user_was_blocked,
                no_wallet_changes_hands_by_a_signer_who_was_blocked,
                a_block_survives_the_deletion_of_its_user,
                a_block_is_put_and_removed_by_one_of_many,
                no_member_outlives_its_group,
                no_membership_outlives_its_user,
                a_group_and_a_member_are_made_by_one_of_many,
                whoever_was_named_in_time_is_not_forgotten,
                the_groups_of_a_wallet_move_at_one_moment,
                decisions_about_access_at_once_do_not_mix,
                a_release_is_not_lost_to_rules_that_are_decided_at_once,
                a_decision_and_an_update_at_once_both_stay,
            ],
            requests: [
                a_109_one_pushed_request_is_taken_by_one_of_many,
                one_user_code_is_taken_by_one_of_many,
            ],
            event_pushes: [
                a_push_begins_once,
                a_push_is_as_it_was_noted_last,
                what_is_noted_in_another_round_changes_nothing,
                of_many_who_push_at_once_one_is_heard,
            ],
            event_races: [
                each_of_many_logins_is_sealed_once,
                one_of_many_sealers_seals,
                many_copies_of_one_seal_are_all_answered_alike,
                an_event_is_recorded_by_one_of_many,
                one_of_many_who_revoke_a_grant_leaves_an_event,
                many_logins_with_and_without_events_do_not_mix_them_up,
                a_lease_is_taken_by_one_of_many,
                no_event_names_a_deleted_account,
            ],
            desk: [
                a_proposal_is_taken_by_one_of_many,
                a_proposal_is_taken_or_withdrawn,
                an_act_that_comes_late_happens_or_somebody_else_makes_it,
                a_proposal_is_put_and_ended_by_one_of_many,
                what_many_sealers_count_at_once_is_counted_once,
                replicas_that_are_noted_at_once_are_all_seen,
            ],
            hour_counts: [
                counts_that_are_added_at_once_are_all_there,
            ],
            suspensions: [
                no_act_of_an_operator_counts_after_their_suspension_was_answered,
                two_operators_who_suspend_each_other_do_not_both_succeed,
                no_link_at_the_same_moment_escapes_a_suspension,
                an_operator_is_suspended_and_restored_by_one_of_many,
            ],
            epochs: [
                of_epochs_that_are_raised_at_once_each_has_its_number,
            ],
        }
    };
    ($fresh:expr) => {
        $crate::storage_races! { @ [$crate::clauses_on_a_fresh_store] $fresh }
    };
}

/// Makes one test of each clause about what is still stored after the store was closed and opened again.
///
/// The first argument is a future of something that names an empty database and lives as long as the test;
/// each clause evaluates it anew. The second is an async function that opens the database: `async
/// fn(&Database) -> Arc<dyn Storage>`.
#[macro_export]
macro_rules! storage_durability {
    (@ [$($make:tt)*] $($database:expr, $open:expr)?) => {
        $($make)*! { $($database, $open,)?
            invitations: [
                invitations_outlive_the_process,
            ],
            admin_keys: [
                admin_keys_outlive_the_process,
            ],
            resources: [
                a_resource_outlives_the_process,
            ],
            declarations: [
                a_declaration_outlives_the_process,
            ],
            durability: [
                a_registered_client_outlives_the_process,
                an_update_outlives_the_process,
                an_opened_resource_outlives_the_process,
                a_deletion_outlives_the_process,
                a_code_outlives_the_process,
                a_used_challenge_stays_used,
                a_wallet_keeps_its_user,
                a_redeemed_code_stays_redeemed,
                d_27_a_rotation_stays,
                a_revoked_token_stays_revoked,
                a_revoked_grant_stays_revoked,
                a_signing_key_outlives_the_process,
                a_purge_stays,
                a_link_outlives_the_process,
                an_unlink_outlives_the_process,
                a_name_outlives_the_process,
                a_session_and_a_consent_outlive_the_process,
                an_ended_session_stays_ended,
                a_revoked_consent_stays_revoked,
                an_address_outlives_the_process,
                a_deleted_account_stays_deleted,
                a_decision_about_access_outlives_the_process,
                groups_and_members_outlive_the_process,
                a_block_outlives_the_process,
            ],
            client_secrets: [
                a_rotation_outlives_the_process,
            ],
            proofs: [
                a_spent_proof_stays_spent,
            ],
            event_acts: [
                acts_and_their_events_outlive_the_process,
            ],
            events: [
                events_and_checkpoints_outlive_the_process,
            ],
            desk: [
                what_the_desk_keeps_outlives_the_process,
            ],
            hour_counts: [
                counts_outlive_the_process,
            ],
            suspensions: [
                a_suspension_outlives_the_process,
            ],
            epochs: [
                an_epoch_outlives_the_process,
            ],
        }
    };
    ($database:expr, $open:expr) => {
        $crate::storage_durability! { @ [$crate::clauses_on_a_database] $database, $open }
    };
}

/// Makes one test of each clause about several processes on one database. The arguments are those of
/// [`storage_durability!`].
#[macro_export]
macro_rules! storage_replicas {
    (@ [$($make:tt)*] $($database:expr, $open:expr)?) => {
        $($make)*! { $($database, $open,)?
            invitations: [
                uses_are_exact_on_two_replicas,
            ],
            admin_keys: [
                a_revoked_admin_key_is_seen_by_the_other_replica,
            ],
            resources: [
                a_declaration_is_seen_by_the_other_replica,
            ],
            declarations: [
                what_is_declared_here_is_seen_by_the_other_replica,
            ],
            replicas: [
                an_update_is_seen_by_the_other_replica,
                no_opened_resource_is_lost_on_two_replicas,
                a_deletion_is_seen_by_the_other_replica,
                a_088_a_revocation_is_seen_by_the_other_replica,
                a_sign_in_may_wander_between_replicas,
                d_05_one_code_is_redeemed_once_on_two_replicas,
                d_06_one_refresh_token_is_rotated_once_on_two_replicas,
                d_08_one_challenge_gives_one_code_on_two_replicas,
                two_replicas_agree_on_one_signing_key,
                an_unlink_is_seen_by_the_other_replica,
                one_wallet_is_linked_once_on_two_replicas,
                two_replicas_leave_a_user_one_wallet,
                a_088_an_end_of_a_session_is_seen_by_the_other_replica,
                a_088_a_revoked_consent_is_seen_by_the_other_replica,
                a_deleted_account_is_gone_on_the_other_replica,
                an_address_is_confirmed_once_on_two_replicas,
                d_08_one_request_is_continued_once_on_two_replicas,
                d_08_one_challenge_opens_one_session_on_two_replicas,
                no_grant_outlives_its_consent_on_two_replicas,
                nothing_outlives_an_account_that_is_deleted_on_the_other_replica,
                a_088_a_block_is_seen_by_the_other_replica,
                members_and_rules_are_seen_by_the_other_replica,
                no_wallet_changes_hands_after_a_block_on_two_replicas,
            ],
            client_secrets: [
                a_rotation_is_seen_by_the_other_replica,
                two_replicas_agree_on_the_latest_use,
            ],
            requests: [
                a_109_one_pushed_request_is_taken_once_on_two_replicas,
                a_denial_is_seen_by_the_other_replica,
            ],
            proofs: [
                e_23_one_proof_is_new_once_on_two_replicas,
            ],
            events: [
                events_are_seen_by_the_other_replica,
            ],
            suspensions: [
                a_suspension_is_seen_by_the_other_replica,
                no_act_counts_after_a_suspension_on_two_replicas,
            ],
            event_races: [
                each_of_many_logins_on_two_replicas_is_sealed_once,
                one_of_many_sealers_on_two_replicas_seals,
                an_event_is_recorded_once_on_two_replicas,
                a_lease_is_taken_once_on_two_replicas,
                no_event_names_a_deleted_account_on_two_replicas,
            ],
            desk: [
                a_proposal_is_taken_once_on_two_replicas,
                what_happens_to_a_proposal_is_seen_by_the_other_replica,
            ],
            hour_counts: [
                the_counts_of_two_replicas_add_up,
            ],
        }
    };
    ($database:expr, $open:expr) => {
        $crate::storage_replicas! { @ [$crate::clauses_on_a_database] $database, $open }
    };
}

/// Makes one test of each clause that takes a store.
#[doc(hidden)]
#[macro_export]
macro_rules! clauses_on_a_fresh_store {
    ($fresh:expr, $($module:ident: [$($clause:ident),* $(,)?]),* $(,)?) => { $($(
        #[test]
        fn $clause() {
            $crate::harness::run(async {
                let (store, guard) = ($fresh).await;
                $crate::storage::compiled::$clause(store).await;
                let _until_here = guard;
            });
        }
    )*)* };
}

/// Makes one test of each clause that opens its store itself.
#[doc(hidden)]
#[macro_export]
macro_rules! clauses_on_a_database {
    ($database:expr, $open:expr, $($module:ident: [$($clause:ident),* $(,)?]),* $(,)?) => { $($(
        #[test]
        fn $clause() {
            $crate::harness::run(async {
                let database = ($database).await;
                $crate::storage::compiled::$clause(&|| Box::pin(($open)(&database))).await;
            });
        }
    )*)* };
}

/// Every clause as a function of one type. What an async function does is compiled where it is first awaited: so that is here, once,
/// and not in the tests of each adapter.
#[doc(hidden)]
pub mod compiled {
    use std::pin::Pin;
    use std::sync::Arc;

    use countersign_ports::Storage;

    /// A future that is the same type whatever it does.
    pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
    /// Opens a database again.
    pub type Open<'a> = &'a dyn Fn() -> Boxed<'a, Arc<dyn Storage>>;

    macro_rules! on_a_fresh_store {
        ($($module:ident: [$($clause:ident),* $(,)?]),* $(,)?) => { $($(
            pub fn $clause(store: Arc<dyn Storage>) -> Boxed<'static, ()> {
                Box::pin(super::$module::$clause(store))
            }
        )*)* };
    }

    macro_rules! on_a_database {
        ($($module:ident: [$($clause:ident),* $(,)?]),* $(,)?) => { $($(
            pub fn $clause(open: Open<'_>) -> Boxed<'_, ()> {
                Box::pin(super::$module::$clause(move || open()))
            }
        )*)* };
    }

    crate::storage_contract! { @ [on_a_fresh_store] }
    crate::storage_races! { @ [on_a_fresh_store] }
    crate::storage_durability! { @ [on_a_database] }
    crate::storage_replicas! { @ [on_a_database] }
}
