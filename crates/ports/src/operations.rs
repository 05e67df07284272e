//! Every operation of the storage, listed once. The traits of the port are made of this table, and so is whatever
//! does the same with every operation: how both adapters forward them, the commands of SQLite's writer, and stores
//! for tests that stand before another one.

use async_trait::async_trait;

use signatures::*;

/// Calls a macro with the table of all operations.
///
/// A port has operations that write and operations that only read. Each has a name, its arguments, and its answer. A
/// word before an argument says how it goes from the caller to the function that carries it out
/// ([`operation_argument!`](crate::operation_argument)):
///
/// | word | the caller gives | the function gets |
/// |---|---|---|
/// | `copy` | a value that is copied | a copy |
/// | `own` | the value | a reference |
/// | `lent` | a reference | a reference |
/// | `maybe` | a reference or nothing | the same |
///
/// Two marks can stand after the answer. `batched`: it is wanted so often that an adapter may carry out many at once.
/// `recorded`: the command has an `event`, which is stored if the operation changes something.
#[macro_export]
macro_rules! storage_operations {
    ($derive:ident) => {
        $derive! {
            /// Registered clients.
            ClientStore {
                writes {
                    /// Stores a new client. Guard: its id is free. Durable before the answer.
                    register_client(own command: RegisterClient) -> Registered [batched, recorded];

                    /// Replaces everything about a client except its id, `created_at`, `resources`, `access` and its
                    /// secrets. The answer says whether the client existed. Durable before the answer; from then on
                    /// every replica finds the new values. If they are the old ones, nothing changes.
                    ///
                    /// Of the given secrets nothing is stored if the client has secrets: a rotation that the caller
                    /// has not seen stays. If the client now authenticates in another way, its secrets are deleted.
                    /// If it had none, the current one of those given is stored.
                    update_client(own command: UpdateClient) -> bool [recorded];

                    /// Opens resources to a client, or closes them, atomically: of two changes at the same time,
                    /// neither is lost. Everything else about the client stays. The answer says whether the client
                    /// existed. Idempotent: what is open or closed already changes nothing. Durable before the
                    /// answer; from then on every replica finds the new list.
                    change_resources(own command: ChangeResources) -> bool [recorded];

                    /// Decides who can sign in to a client. Everything else about the client stays: of a
                    /// decision and another change at the same time, neither is lost. Of two decisions, one
                    /// comes last, with rule and release together. The answer says whether the client
                    /// existed. Idempotent: what is decided already changes nothing. Durable before the
                    /// answer; from then on every replica finds the new rule.
                    change_access(own command: ChangeAccess) -> bool [recorded];

                    /// Gives a client a new secret, atomically. The replaced secret works on until `keep_old_until`,
                    /// or ends at once; one that was replaced earlier ends at once in any case. Everything else about
                    /// the client stays. Guard: `replaced` is the current secret. The answer says whether it was; a
                    /// repeat of the same command is answered like the first. Durable before the answer.
                    rotate_secret(own command: RotateSecret) -> bool [recorded];

                    /// Writes down when secrets were used, in one commit. Of two times for one secret the
                    /// later one stays, in whatever order and from whichever replica they come. A secret that
                    /// its client no longer has is left out. Idempotent.
                    note_secret_uses(own uses: Vec<SecretUse>) -> ();

                    /// Writes down when clients were used. Of two times for one client the later one stays, in
                    /// whatever order and from whichever replica they come. A client that does not exist is left
                    /// out. Idempotent. May commit in parts, because each is right by itself.
                    note_client_uses(own uses: Vec<ClientUse>) -> ();

                    /// Deletes a client with all its grants and consents, atomically. From then on none of its codes
                    /// and tokens is found. Grants and consents that name this id are deleted even if the client does
                    /// not exist. The answer says whether it existed. Durable before the answer.
                    delete_client(own command: DeleteClient) -> bool [recorded];

                    /// Carries out a change by its own rules, if the client is as it was read: of two callers who
                    /// read the same, one changes something. The answer says whether it was so and the change was
                    /// made. A repeated command finds another client. Durable before the answer.
                    if_client_unchanged(own command: IfClientUnchanged) -> bool;
                }
                reads {
                    /// Reads what is known about the secrets of a client, the newest first: the current one and,
                    /// until it is forgotten, the one before it. Empty if the client has no secret or does not exist.
                    secrets_of(copy client: ClientId) -> Vec<SecretRecord>;

                    /// Reads one client.
                    find_client(copy id: ClientId) -> Option<Client> [batched];

                    /// Reads up to `limit` clients with ids greater than `after`, in the order of their ids.
                    list_clients(copy after: Option<ClientId>, copy limit: u32) -> Vec<Client>;

                    /// Reads a page of clients in an order that an operator chose, and counts those that match the
                    /// filter. It looks through [`MOST_LOOKED_THROUGH`] clients at most: if fewer than `limit` of
                    /// them match, the next page begins after the last one that was looked at.
                    sort_clients(own question: SortClients) -> SortedClients;
                }
            }

            /// The resources that the operator declared at the terminal. Every write is durable before the answer,
            /// and from then on every replica finds the new values.
            ResourceStore {
                writes {
                    /// Stores a new resource. Guards: its URI is free, and so are the names of its scopes.
                    create_resource(own command: CreateResource) -> ResourceCreated [recorded];

                    /// Replaces everything about a resource except its URI and its `created_at`, atomically. Guards:
                    /// it exists, and no other resource has one of the names.
                    update_resource(own command: UpdateResource) -> ResourceUpdated [recorded];

                    /// Deletes a resource with its scopes, atomically. The names are free then. Clients, grants and
                    /// consents that name them stay as they are. The answer says whether the resource existed.
                    delete_resource(own command: DeleteResource) -> bool [recorded];

                    /// Carries out a change by its own rules, if the resource is as it was read: of two callers who
                    /// read the same, one changes something. If it is another by now, or gone, it counts as unknown.
                    /// A repeated command finds another resource.
                    if_resource_unchanged(own command: IfResourceUnchanged) -> ResourceUpdated;
                }
                reads {
                    /// Reads all resources with their scopes, from one snapshot: the resources by URI, the scopes of
                    /// each by name, in byte order.
                    list_resources() -> Vec<Resource>;

                    /// Counts who uses a resource or some of its scopes. Reads every client and every grant.
                    find_uses(own question: FindUses) -> ResourceUses;
                }
            }

            /// Signing in.
            LoginStore {
                writes {
                    /// Completes a login atomically. Guard: no grant has this id. A wallet (family and address)
                    /// belongs to one user: if two first logins run at once, both get the same user. The consent of
                    /// this user, client and terms gets the scopes, and `now` as its last use; if it is new, it is
                    /// granted now. Consents at other terms stay as they are. Durable before the answer.
                    complete_login(own command: CompleteLogin) -> LoginCompleted [batched, recorded];
                }
            }

            /// One user, many wallets.
            ///
            /// If several refusals apply, the outcome is the first in this order: the challenge is spent, the
            /// signer is unknown, one of the users or wallets is blocked, then those about the wallet. When
            /// unlinking, the block of a wallet counts only if the wallet is the user's.
            ///
            /// Linking and unlinking are an exception to the third rule of storage. Repeated after a lost
            /// answer they give `ChallengeSpent`, because their effect can be undone in between, and a caller
            /// who presents a used challenge must not get the answer that it worked.
            /// [`WalletStore::wallets_of`] shows whether it did.
            WalletStore {
                writes {
                    /// Spends the challenge and links a wallet. Guards: the challenge is unspent; the signer was a
                    /// user's wallet when the text was issued and has been theirs since; neither the user nor one of
                    /// the two wallets is blocked; the new wallet belongs to no one; the user has fewer wallets than
                    /// the command says. A refusal by all but the first still spends the challenge. If the user or
                    /// the signer is blocked at the same time, the link happens entirely before the block, or is
                    /// refused. If several commands want the same wallet at once, including its first login, one of
                    /// them gets it. Durable before the answer.
                    link_wallet(own command: LinkWallet) -> WalletLinked [recorded];

                    /// Spends the challenge and unlinks a wallet. Guards: the challenge is unspent; the signer was
                    /// the user's when the text was issued and has been theirs since; neither the user nor one of the
                    /// two wallets is blocked, because a blocked user must not free a wallet; the wallet is also
                    /// theirs and not their last. A refusal by all but the first still spends the challenge. If the
                    /// user or the signer is blocked at the same time, the unlinking happens entirely before the
                    /// block, or is refused. Every grant of the user that was signed with this wallet is revoked with
                    /// the reason [`WalletUnlinked`], and their sessions with this wallet end. A login of the wallet
                    /// at the same time happens entirely before, and is revoked, or entirely after, and creates a new
                    /// user. The wallet stays in the groups that it was put into. The user is never forgotten as
                    /// unused from then on, so that the event always leads to a user who is there, or to none.
                    /// Durable before the answer.
                    ///
                    /// [`WalletUnlinked`]: countersign_domain::grant::RevocationReason::WalletUnlinked
                    unlink_wallet(own command: UnlinkWallet) -> WalletUnlinked [recorded];

                    /// Names a wallet. Guard: the wallet (family and address) belongs to the user. The answer says
                    /// whether it does. A link or a first login creates a wallet without a name, and unlinking
                    /// forgets the name. Durable before the answer.
                    name_wallet(own command: NameWallet) -> bool;
                }
                reads {
                    /// Finds the user a wallet belongs to, whatever its chain. `None` if it belongs to no
                    /// one.
                    find_owner(own wallet: WalletAccount) -> Option<UserId>;

                    /// Reads a user's wallets, oldest link first, then by family and address in byte order. A user
                    /// who does not exist has none.
                    wallets_of(copy user: UserId) -> Vec<LinkedWallet>;

                    /// Reads what these users have or had, and who has or had these wallets: what is linked now, and
                    /// what all events of linking and unlinking say, fresh and sealed, that are kept. The order is
                    /// not fixed, and a holding that is found in several ways can be in the answer several times, but
                    /// not once for each event. Fewer than `limit` holdings are all that there are. A wallet that
                    /// changes hands meanwhile is found in the old hands or in the new ones, never in neither. It
                    /// takes no longer if a wallet was linked often.
                    find_holdings(own question: FindHoldings) -> Vec<Holding>;
                }
            }

            /// Remembered sign-ins. Every write is durable before the answer. If several refusals apply, the outcome
            /// is the first in the order of the enum.
            SessionStore {
                writes {
                    /// Opens a session atomically. Guard: the challenge is unspent, and no grant has its id. The
                    /// wallet is treated as at a login ([`LoginStore`](crate::LoginStore)).
                    open_session(own command: OpenSession) -> SessionOpened [recorded];

                    /// Continues a session atomically. Guards: no grant has this id; the session exists and has not
                    /// expired; and one consent of the user for the client, with the destination of the login's terms
                    /// and the audiences in `agreed`, covers the scopes. Consents are never combined, and none is
                    /// created. The session and the consent record `now` as their last use. If the consent is revoked
                    /// at the same time, either it is revoked first and nothing is granted, or it is revoked
                    /// afterwards and the grant with it.
                    continue_session(own command: ContinueSession) -> SessionContinued [recorded];

                    /// Ends a session of this user, and revokes the live grants that belong to it and lack the scope,
                    /// atomically and with the reason [`SignedOut`]. The answer says whether the session existed.
                    /// Grants of a session that does not exist are revoked too.
                    ///
                    /// [`SignedOut`]: countersign_domain::grant::RevocationReason::SignedOut
                    sign_out(own command: SignOut) -> bool [recorded];

                    /// Ends a session of this user. The answer says whether it existed. From then on no replica
                    /// accepts it.
                    end_session(own command: EndSession) -> bool [recorded];

                    /// Ends all sessions of a user. The answer says how many.
                    end_sessions(own command: EndSessions) -> u64 [recorded];
                }
                reads {
                    /// Reads one session, expired or not.
                    find_session(copy id: SessionId) -> Option<LoginSession>;

                    /// The clients with live grants in the user's sessions: each client once per existing session,
                    /// ordered by session and client.
                    clients_of_sessions(copy user: UserId) -> Vec<SessionClient>;
                }
            }

            /// What people see and change about their own data. Every write is durable before the answer.
            AccountStore {
                writes {
                    /// Revokes all consents and every live grant of the user for this client, atomically and with the
                    /// reason [`ConsentRevoked`]. The answer says whether there was a consent. Grants without a
                    /// consent are revoked too.
                    ///
                    /// [`ConsentRevoked`]: countersign_domain::grant::RevocationReason::ConsentRevoked
                    revoke_consent(own command: RevokeConsent) -> bool [recorded];

                    /// Stores a user's e-mail address.
                    put_email(own command: PutEmail) -> EmailPut;

                    /// Confirms the stored address. Guards: the hash is that of the stored link, which has
                    /// not expired; and no other user has confirmed the same address, unless `shared` allows
                    /// it. If two users confirm the same address at the same time, one of them learns about
                    /// the other. The link is used up. After a lost answer, `find_email` shows what happened.
                    confirm_email(own command: ConfirmEmail) -> EmailConfirmed [recorded];

                    /// Deletes a user's e-mail address. The answer says whether there was one.
                    remove_email(copy user: UserId) -> bool;

                    /// Deletes a user with their wallets, consents, sessions and e-mail address, atomically. The
                    /// wallets then belong to no one. Every live grant of the user is revoked with the reason
                    /// [`AccountDeleted`]. A grant's row stays until it can be forgotten, because it marks the
                    /// challenge as used, but its wallet (family, chain and address) becomes empty texts and its
                    /// nonce is removed. A login of one of the wallets at the same time happens entirely before, and
                    /// is deleted too, or entirely after, and creates a new user. If the user is blocked, each of
                    /// their wallets is blocked instead, with the same time and reason, so that deleting an account
                    /// is no way around a block; a wallet that is blocked already keeps its own block. The wallets
                    /// stay in the groups that they were put into. In every event about the user, fresh or sealed,
                    /// the pseudonym replaces the user; wallet, address, salt and what operators signed are deleted.
                    /// The same happens to the events that are about one of their wallets and no user. The names that
                    /// operators gave to the user and to the wallets are deleted, and so are the proposals that the
                    /// user signed, first or second. Of the sealed events about the user only [`EVENTS_A_STEP`]
                    /// change at once; if there are more, the user is left to forget, and a repeat with another
                    /// pseudonym changes none of them. The answer says whether the user existed.
                    ///
                    /// [`AccountDeleted`]: countersign_domain::grant::RevocationReason::AccountDeleted
                    delete_account(own command: DeleteAccount) -> bool [recorded];

                    /// Gives the pseudonym to [`EVENTS_A_STEP`] more sealed events of a user who is left to forget.
                    /// The answer says whether that was the last of them; then the user is no longer left to forget.
                    /// For any other user nothing changes, and the answer is yes.
                    forget_events_of(own command: ForgetEventsOf) -> bool;
                }
                reads {
                    /// Reads a user's consents for one client, one for each set of terms, in the order of the terms.
                    consents_at(copy user: UserId, copy client: ClientId) -> Vec<Consent>;

                    /// Reads everything that belongs to a user.
                    find_account(copy user: UserId) -> Option<Account>;

                    /// Reads a user's e-mail address.
                    find_email(copy user: UserId) -> Option<UserEmail>;

                    /// Reads up to `limit` deleted users who are left to forget, by their ids.
                    left_to_forget(copy limit: u32) -> Vec<LeftToForget>;
                }
            }

            /// Groups, and who is in them. Every write is durable before the answer, and from then on every replica
            /// finds the new values.
            GroupStore {
                writes {
                    /// Stores a new group with its members, in one commit. Guards: its name is free, and the users
                    /// exist.
                    create_group(own command: CreateGroup) -> GroupCreated [recorded];

                    /// Changes the title of a group. The answer says whether the group exists. The title that it has
                    /// already changes nothing.
                    retitle_group(own command: RetitleGroup) -> bool [recorded];

                    /// Deletes a group with its memberships, atomically. A member who is added at the same time is
                    /// deleted too, or is refused. Clients whose rules name the group keep them. The answer says
                    /// whether the group existed.
                    delete_group(own command: DeleteGroup) -> bool [recorded];

                    /// Carries out a change by its own rules, if the group is as it was read: of two callers who read
                    /// the same, one changes something. The answer says whether it was so and the change was made. A
                    /// repeated command finds another group.
                    if_group_unchanged(own command: IfGroupUnchanged) -> bool;

                    /// Puts members into groups, or takes them out: all of them, or none. Guards, for those who go in: the
                    /// group exists, and so does the user if the member is one. A user who is deleted at the same time
                    /// is not a member afterwards. A wallet stays a member whatever becomes of its user: the
                    /// membership goes to whomever the wallet belongs to. With a member who goes out goes the
                    /// declaration of a file that put it there: a member who comes back was not put there by that
                    /// file. A user who is in the group through a wallet stays in it by that way.
                    change_members(own command: ChangeMembers) -> MembersChanged [recorded];
                }
                reads {
                    /// Reads one group, and counts its members up to [`MOST_COUNTED`] and one.
                    find_group(lent name: &GroupName) -> Option<CountedGroup>;

                    /// Reads up to `limit` groups with names after `after`, in the order of their names in bytes, and
                    /// counts their members up to [`MOST_COUNTED`] and one each. It takes no longer if they have
                    /// many.
                    list_groups(maybe after: Option<&GroupName>, copy limit: u32) -> Vec<CountedGroup>;

                    /// Reads the names of up to `limit` groups, in byte order.
                    group_names(copy limit: u32) -> Vec<GroupName>;

                    /// Reads up to `limit` members of a group after `after`. A group that does not exist has none.
                    list_members(
                        lent group: &GroupName,
                        maybe after: Option<&MemberCursor>,
                        copy limit: u32,
                    ) -> Vec<GroupMember>;

                    /// Reads the ways in which a user is in groups, by group name in byte order, then the user's own
                    /// before those through wallets, then by family and address in byte order. A wallet has the chain
                    /// that it has in [`WalletStore::wallets_of`](crate::WalletStore::wallets_of).
                    memberships_of(copy user: UserId) -> Vec<Membership>;

                    /// Reads what is known about a wallet (family and address) and the user it belongs to,
                    /// from one snapshot: the user, the block of the user or else of this wallet, and the
                    /// groups of the user by all ways or, if the wallet belongs to no one, those of the
                    /// wallet. Blocks of the user's other wallets do not count, and their groups do. The work
                    /// is the same whether the wallet is known, blocked, in a group or none of it. Once a
                    /// change has been answered, every later read sees it, on every replica.
                    standing_of(lent wallet: &WalletAccount) -> Standing [batched];

                    /// Reads the same about all wallets of a user at once, from one snapshot and in one step, however
                    /// many they are: which of them are let in, oldest link first, then by family and address in byte
                    /// order, and the groups of the user by all ways, sorted.
                    standing_of_user(copy user: UserId) -> UserStanding;

                    /// Reads the names of a user's groups by all ways, sorted and without duplicates. A user who does
                    /// not exist is in none.
                    groups_of(copy user: UserId) -> Vec<GroupName> [batched];
                }
            }

            /// Invitations into groups. Every write is durable before the answer, and from then on every replica finds
            /// the new values.
            InvitationStore {
                writes {
                    /// Stores a new invitation. Guard: its group exists. With the group, its invitations are deleted.
                    create_invitation(own command: CreateInvitation) -> InvitationCreated [recorded];

                    /// Revokes an invitation for good. The answer says whether it existed and was not revoked before.
                    /// People who came in stay in the group.
                    revoke_invitation(own command: RevokeInvitation) -> bool [recorded];

                    /// Spends one use of an invitation and puts the wallet into its group, in one commit. Guards: the
                    /// invitation leads into this group; neither the wallet nor its user is blocked; the user is not in
                    /// the group by any way; the invitation is open. If several want the last use at once, one of them
                    /// gets it. A wallet that has no name of its own, and whose user has none, gets the name of the
                    /// invitation. If several refusals apply, the outcome is the first in this order: unknown,
                    /// blocked, member, ended.
                    accept_invitation(own command: AcceptInvitation) -> InvitationAccepted [recorded];
                }
                reads {
                    /// Reads the invitation with this hash.
                    find_invitation_by_hash(copy hash: SecretHash) -> Option<Invitation>;

                    /// Reads one invitation.
                    find_invitation(copy id: InvitationId) -> Option<Invitation>;

                    /// Reads up to `limit` invitations, into any group or into this one, the newest first, older than
                    /// `before`.
                    list_invitations(
                        maybe group: Option<&GroupName>,
                        copy before: Option<InvitationId>,
                        copy limit: u32,
                    ) -> Vec<Invitation>;

                    /// Reads up to `limit` uses of an invitation, by family and address in byte order. Uses of wallets
                    /// whose accounts were deleted are forgotten.
                    uses_of_invitation(copy id: InvitationId, copy limit: u32) -> Vec<InvitationUse>;

                    /// Reads the invitations that the wallets of a user came in by, the earliest use first.
                    invitations_of(copy user: UserId) -> Vec<CameBy>;
                }
            }

            /// Blocks. Every write is durable before the answer, and from then on every replica finds it.
            BlockStore {
                writes {
                    /// Stores a block, or replaces the reason of one. Guard: a user exists. A user who is deleted at
                    /// the same time either is unknown already, or is not blocked afterwards but their wallets are
                    /// ([`delete_account`](crate::AccountStore::delete_account)). A wallet's block stays whatever
                    /// becomes of its user. Linking and unlinking by the user, or signed with the wallet, happen
                    /// entirely before the block or are refused.
                    put_block(own command: PutBlock) -> BlockPut [recorded];

                    /// Removes a block. The answer says whether there was one.
                    remove_block(own command: RemoveBlock) -> bool [recorded];

                    /// Revokes the live grants, except those that are kept, and deletes the sessions: all of
                    /// a user's, or all that were made with the wallet (family and address), atomically. A
                    /// sign-in or a continuation of a known user at the same time happens entirely before,
                    /// and ends too, or entirely after. Consents stay. A command about a user who does not
                    /// exist, and a repeated one, find nothing to end.
                    end_access(own command: EndAccess) -> AccessEnded [recorded];
                }
                reads {
                    /// Is any user or wallet blocked?
                    anything_blocked() -> bool [batched];

                    /// Reads the block of a user; a block of one of their wallets is none.
                    block_of_user(copy user: UserId) -> Option<Block>;

                    /// Reads up to `limit` blocked wallets after `after`, by family and address in byte order. The
                    /// wallet `after` need not be blocked.
                    blocked_wallets(maybe after: Option<&WalletAccount>, copy limit: u32) -> Vec<BlockedWallet>;
                }
            }

            /// What files declared. Nothing here says that a thing exists: its deletion need not know of its
            /// file.
            DeclarationStore {
                writes {
                    /// Remembers all of these, in one commit. Of a thing that is remembered already, the new source
                    /// and time take the place of the old. Idempotent. Durable before the answer.
                    put_declarations(own command: PutDeclarations) -> ();

                    /// Forgets all of these, in one commit. Idempotent. Durable before the answer.
                    forget_declarations(own command: ForgetDeclarations) -> ();
                }
                reads {
                    /// Reads all declarations from one snapshot, by the word for the kind and then by key, in byte
                    /// order.
                    list_declarations() -> Vec<Declaration>;
                }
            }

            /// What an operator sees of people.
            PeopleStore {
                writes {
                    /// Gives a user or a wallet a name for operators, or takes it away. Guard: a user exists. A wallet can
                    /// have a name before anyone signs in with it. The name of a user goes with their account, and so
                    /// do those of their wallets ([`delete_account`](crate::AccountStore::delete_account)). Durable before
                    /// the answer.
                    name_subject(own command: NameSubject) -> NamePut [recorded];

                    /// Writes down when users signed in. Of two times for one user the later one stays, in whatever
                    /// order and from whichever replica they come. A user who does not exist is left out. Only the
                    /// order of a list depends on it. Idempotent. May commit in parts, because each is right by
                    /// itself.
                    note_sign_ins(own seen: Vec<UserSeen>) -> ();
                }
                reads {
                    /// What operators call each of these, in their order. A user without a name of their own is called
                    /// like the wallet that they have had longest among those with a name, and a wallet without one like
                    /// its user.
                    names_of(own who: Vec<Subject>) -> Vec<Option<KnownName>>;

                    /// Reads up to `limit` users and wallets whose own name begins like this, whatever letters are
                    /// capitals: users before wallets, each by their names. It takes no longer among many.
                    find_named(lent beginning: &str, copy limit: u32) -> Vec<NamedPerson>;

                    /// Reads up to `limit` wallets that belong to a user and whose address begins and ends like this,
                    /// whatever letters are capitals, by their letters. It takes no longer among many.
                    find_wallets(own question: FindWallets) -> Vec<(WalletAccount, UserId)>;

                    /// Reads up to `limit` users and wallets that have a name of their own, in the order of
                    /// [`MemberCursor`], after this one.
                    list_named(maybe after: Option<&MemberCursor>, copy limit: u32) -> Vec<NamedPerson>;

                    /// Reads up to `limit` users with ids greater than `after`, in the order of their ids. It takes
                    /// no longer with many users than with few: filters use indices. A user who is in the group by
                    /// several ways is listed once.
                    list_people(
                        lent filter: &PeopleFilter,
                        copy after: Option<UserId>,
                        copy limit: u32,
                    ) -> Vec<PersonListed>;

                    /// Reads a page of users in an order that an operator chose, and counts those that match the
                    /// filter. If fewer than [`MOST_LOOKED_THROUGH`] users can match, it goes through those;
                    /// otherwise it looks through that many users from where the page begins, and if fewer than
                    /// `limit` of them match, the next page begins after the last one that was looked at.
                    sort_people(own question: SortPeople) -> SortedPeople;

                    /// Reads one user. Sessions that expire at `now` or earlier are left out.
                    find_person(copy user: UserId, copy now: OffsetDateTime) -> Option<Person>;
                }
            }

            /// Events, and the checkpoints that seal them. Every write is durable before the answer.
            EventStore {
                writes {
                    /// Stores an event that belongs to no other operation. Guard: no event, fresh or sealed,
                    /// has its id. The answer says whether it is stored now.
                    record_event(own event: Event) -> bool;

                    /// Seals events, atomically. Guards: the checkpoint's number is one more than that of the last
                    /// checkpoint (the first is 1); it begins at the position after the last one's, and has as many
                    /// events as are given; and each event is fresh and as it was read. The counts are added in the
                    /// same commit, once. An account that is deleted at the same time is deleted entirely before, and
                    /// the command is stale, or entirely after, and its person is taken away from the sealed events
                    /// too.
                    seal_events(own command: SealEvents) -> Sealed;

                    /// Deletes sealed events, a whole checkpoint's at a time, each atomically. Checkpoints stay. The
                    /// answer says how many events were deleted; none means that there is nothing left to delete.
                    forget_events(own command: ForgetEvents) -> u64;

                    /// Takes a lease, or extends it. Guard: no one else holds it at `now`. The answer says
                    /// whether the holder has it until `until`.
                    take_lease(own command: TakeLease) -> bool;
                }
                reads {
                    /// Reads a page of events, fresh and sealed, from one snapshot. A fresh row that cannot be read
                    /// is left out as if it were not there; [`unsealable_events`](Self::unsealable_events) has it.
                    list_events(lent filter: &EventFilter, copy page: EventPage) -> Vec<Event>;

                    /// Reads one event, fresh or sealed.
                    find_event(copy id: EventId) -> Option<FoundEvent>;

                    /// Reads up to `limit` fresh events that can be sealed, in the order of their ids. Rows that
                    /// cannot be sealed hide none of them.
                    fresh_events(copy limit: u32) -> Vec<Event>;

                    /// Reads up to `limit` rows among the fresh events that cannot be sealed, except those whose ids
                    /// are of recent times. They stay where they are.
                    unsealable_events(copy limit: u32, copy except: Option<Recent>) -> Vec<UnsealableEvent>;

                    /// Reads the last checkpoint.
                    last_checkpoint() -> Option<SignedCheckpoint>;

                    /// Reads up to `limit` checkpoints with numbers greater than `after`, in their order.
                    checkpoints(copy after: u64, copy limit: u32) -> Vec<CheckpointAt>;

                    /// Reads up to `limit` sealed events at positions greater than `after`, in their order.
                    sealed_events(copy after: u64, copy limit: u32) -> Vec<EventAt>;

                    /// Counts the events, fresh and sealed, that name a person by this pseudonym, except the event of
                    /// the deletion itself.
                    count_events_of(copy pseudonym: Pseudonym) -> u64;
                }
            }

            /// How far events were pushed. Every write is durable before the answer.
            EventPushStore {
                writes {
                    /// Begins to push to a receiver. Guard: that was not begun before. The answer says whether it was
                    /// begun now.
                    begin_push(own command: BeginPush) -> bool;

                    /// Notes what became of some events, atomically. Guard: the round is the one that was read; so of
                    /// two replicas that push at once only one is heard. The answer says whether it was noted; a
                    /// repeat is not.
                    advance_push(own command: AdvancePush) -> bool;
                }
                reads {
                    /// Reads how far events were pushed to a receiver; `None` if that was not begun.
                    find_push(copy receiver: ReceiverId) -> Option<EventPush>;
                }
            }

            /// What the desk needs besides what there is. Every write is durable before the answer.
            DeskStore {
                writes {
                    /// Stores a proposal. Guard: no other one has its id. The answer says whether it is stored now,
                    /// and its event with it. A repeat of the same command (same id, same user, same signature)
                    /// stores nothing and gives true, whatever became of the proposal meanwhile.
                    put_proposal(own command: PutProposal) -> bool [recorded];

                    /// Takes a proposal. Guards: it waits, expires after `now`, and is another user's, and who signed is
                    /// not suspended ([`StoreError::SignerSuspended`]); one
                    /// that was taken and not carried out in time ([`Proposal::state_at`]) waits again. Of
                    /// two who take it, one gets true. A repeat of the same command (same user, same
                    /// signature) gives true again until what was taken is ended, or is taken again after
                    /// this.
                    ///
                    /// From then on every operation whose event has this signature as its second
                    /// ([`Signed::second`](countersign_domain::event::Signed::second)) has one more guard: the
                    /// proposal is taken by this signature, or was carried out by it. Its commit makes the proposal
                    /// done. Otherwise it fails, and nothing of it happened. So what waits again is carried out once,
                    /// even if the server that seemed to be killed goes on.
                    take_proposal(own command: TakeProposal) -> bool;

                    /// Moves a proposal from one state to another, with the event. Guards: it is in the first, and
                    /// was signed second as the command says. A repeat, which is recognized by its event, finds it in
                    /// the second, stores nothing, and gives true again. Without an event, every command that finds
                    /// it in the second counts as one.
                    end_proposal(own command: EndProposal) -> bool [recorded];

                    /// Forgets up to `limit` proposals that expired before this time, those first that
                    /// expired first. Their outcome does not matter: no proposal outlives that time by much,
                    /// and none is forgotten while its text could still be signed. The answer says how many.
                    forget_proposals(copy before: Past, copy limit: u32) -> u64;

                    /// Writes down that a replica runs, and forgets those last seen before `forget_before`. Of two
                    /// notes about one replica, the later one stays.
                    note_replica(own replica: Replica, copy forget_before: Past) -> ();

                    /// Forgets a replica, which stops. It is done if it was not known.
                    forget_replica(copy id: [u8; 16]) -> ();

                    /// Adds to the counts of hours, all of them or none. Guards: the replica is noted, and did not
                    /// add this batch or a later one. The answer says whether the replica is noted. A repeat of the
                    /// same batch adds nothing, and gives the same answer, until the replica is forgotten.
                    add_hour_counts(own command: AddHourCounts) -> bool;

                    /// Forgets the counts of the oldest hour, if it ended before this time. The answer says how many
                    /// counts that were; there may be more hours as long as it is not 0.
                    forget_hour_counts(copy before: Past) -> u64;
                }
                reads {
                    /// Finds a proposal, in whatever state.
                    find_proposal(copy id: GrantId) -> Option<Proposal>;

                    /// Reads a page of proposals, in whatever state. A row that cannot be one is in its place and
                    /// hides no other. It takes no longer among many.
                    list_proposals(copy page: ProposalPage) -> Vec<ProposalAt>;

                    /// Reads up to `limit` events, fresh and sealed, that were recorded for this request, oldest
                    /// first, after this one in the order of their ids. It takes no longer among many.
                    events_of_request(lent request: &str, copy after: Option<EventId>, copy limit: u32) -> Vec<Event>;

                    /// How often what happened, from this day on, in the order of day, kind and family, in byte
                    /// order. It is added up when events are sealed ([`SealEvents`](crate::SealEvents)), in the
                    /// seal's commit, and stays when events are forgotten.
                    day_counts(copy since: Date) -> Vec<DayCount>;

                    /// How often what was counted, from this hour on, in the order of hour, figure and label, in
                    /// byte order. A figure that this release does not know is left out.
                    hour_counts(copy since: Hour) -> Vec<HourCount>;

                    /// Counts sessions that expire after `now`, and stops at `at_most`.
                    count_sessions(copy now: OffsetDateTime, copy at_most: u32) -> u32;

                    /// How many people gave a client access, and how many of its grants are valid at `now`. It stops after
                    /// `at_most` of each, valid or not.
                    count_access(copy client: ClientId, copy now: OffsetDateTime, copy at_most: u32) -> AccessCount;

                    /// The replicas that were seen since this time, the longest running first, then by id.
                    replicas(copy since: OffsetDateTime) -> Vec<Replica>;
                }
            }

            /// Operators who are suspended. Every write is durable before the answer.
            ///
            /// From a suspension's answer on, every operation whose event was signed by a suspended operator
            /// ([`Signed::signers`](countersign_domain::event::Signed::signers)) fails with
            /// [`StoreError::SignerSuspended`], and nothing of it happened: one of the wallets is suspended, or its user
            /// is. What was committed before the suspension stays; nothing is committed after its answer.
            SuspensionStore {
                writes {
                    /// Suspends a user with every wallet that they have at that moment, and the others that the command
                    /// names. A wallet without a user is suspended alone; one with a user means its user. Wallets that
                    /// were suspended before stay so. Guard: a user exists. Linking and unlinking happen entirely before
                    /// or after. Every proposal that the operator or an owner of one of these wallets signed first and that
                    /// was not carried out ends in the same commit, each with an event
                    /// ([`Event::of_proposal_ended`](countersign_domain::event::Event::of_proposal_ended)).
                    ///
                    /// A suspension stays with its wallets, whatever becomes of the user: a wallet that is unlinked, or
                    /// whose account is deleted, is still suspended. A wallet that is linked to a suspended user is
                    /// suspended from then on, and so are all wallets of a user who links a suspended one.
                    suspend_operator(own command: SuspendOperator) -> OperatorSuspended [recorded];

                    /// Ends the suspensions of a user's wallets, or of a wallet, each with all wallets that it suspended.
                    /// The answer says whether there was one. Proposals that ended stay as they are.
                    restore_operator(own command: RestoreOperator) -> bool [recorded];
                }
                reads {
                    /// Which of these are suspended, in their order: a user if one of their wallets is, and a wallet if it
                    /// is itself or its user is. Of several suspensions, the earliest is given.
                    suspensions_of(own who: Vec<Subject>) -> Vec<Option<Suspension>>;

                    /// Reads up to `limit` suspended wallets after `after`, by family and address in byte order. The
                    /// wallet `after` need not be suspended.
                    suspended_wallets(maybe after: Option<&WalletAccount>, copy limit: u32) -> Vec<SuspendedWallet>;
                }
            }

            /// Where a store keeps its epochs.
            EpochStore {
                writes {
                    /// Begins an epoch, and ends what could still be presented. Guard: no epoch has this id; a repeat
                    /// changes nothing and gives the same epoch. Its number is one more than the highest. Gone
                    /// afterwards:
                    ///
                    /// - all grants and tokens, and so all codes, access tokens and refresh tokens;
                    /// - all login sessions, pushed requests and device requests;
                    /// - the confirmation links of e-mail addresses; the addresses stay;
                    /// - leases, and replicas that were seen.
                    ///
                    /// A server that still runs may remember access tokens that it saw: it must not be running.
                    ///
                    /// Invitations are revoked: which of their uses were spent after the backup is not known.
                    ///
                    /// Proposals that wait, or that a server was carrying out, expire now. Every user is
                    /// known from now on ([`Upkeep::forget_unused`](crate::Upkeep::forget_unused)): it is not
                    /// known which of them clients learned of after the backup was made. Spent challenges and
                    /// spent proofs stay, and so does everything else: users, wallets, consents, clients,
                    /// groups, blocks, events, keys.
                    raise_epoch(own command: RaiseEpoch) -> Epoch [recorded];
                }
                reads {
                    /// The epoch of now: the one with the highest number; `None` if no backup was ever restored. A
                    /// server reads it once, when it starts, because nothing else may use a database while a backup
                    /// is being restored into it.
                    epoch() -> Option<Epoch>;

                    /// The ids of the epoch and of the last filling, and whether the database is being filled, in one
                    /// read. Servers look at it every few seconds, and no request waits for it unless the server
                    /// stood still.
                    lineage() -> Lineage;
                }
            }

            /// Codes, tokens and token families. Every write is durable before the answer.
            TokenStore {
                writes {
                    /// Redeems a code atomically. Guard: the grant is neither redeemed nor revoked.
                    redeem_code(own command: RedeemCode) -> Redeemed [batched];

                    /// Stores a grant with its first token, atomically. Guards: the client is registered, and no
                    /// grant has this id. If the client is deleted at the same time, the grant is deleted too, or is
                    /// never stored.
                    issue_tokens(own command: IssueTokens) -> TokensIssued;

                    /// Rotates a refresh token atomically. Guard: the family's newest token is the expected one, and
                    /// the grant is not revoked.
                    rotate_refresh(own command: RotateRefresh) -> Rotated [batched];

                    /// Revokes one access token. Idempotent. The rest of the family is unaffected.
                    revoke_token(own command: RevokeToken) -> Revoked [batched, recorded];

                    /// Revokes a grant: its code, its refresh tokens and its access tokens. Idempotent.
                    revoke_grant(own command: RevokeGrant) -> Revoked [batched, recorded];
                }
                reads {
                    /// Reads a grant, to check its code.
                    find_grant(copy id: GrantId) -> Option<Grant> [batched];

                    /// Reads a token with its grant and the family's newest token, to check a refresh token.
                    find_refresh(copy id: TokenId) -> Option<RefreshSnapshot> [batched];

                    /// Reads what an access token means. Once a revocation has been answered, every later
                    /// read sees it, on every replica.
                    find_access(copy id: TokenId) -> Option<AccessSnapshot> [batched];

                    /// Is an access token that was found before still good: its client is registered, and neither the
                    /// token nor its grant is revoked? Once a revocation has been answered, this sees it, as
                    /// [`find_access`](Self::find_access) does. The rest of the token does not change, so a store
                    /// that can answer without reading it again should do so.
                    lives_on(copy access: KnownAccess) -> bool [batched];
                }
            }

            /// Requests that wait for a person. Every write is durable before the answer.
            RequestStore {
                writes {
                    /// Stores a pushed request. A second request with the same id changes nothing.
                    push_request(own request: PushedRequest) -> ();

                    /// Takes a pushed request: of all callers, one gets its parameters, and then it is gone.
                    /// Guard: id, client and secret match, and it has not expired; otherwise it stays. If the
                    /// answer is lost, so are the parameters, because a request cannot be taken twice.
                    take_pushed_request(own command: TakePushedRequest) -> Option<String>;

                    /// Stores a device's request. Guard: no other request, live or not, has its user code.
                    begin_device(own command: BeginDevice) -> DeviceBegun;

                    /// Denies a device's request. Idempotent. Guard: no grant has its id. A signature at the same
                    /// moment can still create a grant. The denial wins then, because redemption checks both.
                    deny_device(own command: DenyDevice) -> DeviceDenied;
                }
                reads {
                    /// Reads a device's request by its id.
                    find_device(copy id: GrantId) -> Option<DeviceRequest>;

                    /// Reads a device's request by the hash of the code that the device shows.
                    find_device_by_user_code(copy hash: SecretHash) -> Option<DeviceRequest>;
                }
            }

            /// The server's signing keys.
            KeyStore {
                writes {
                    /// Stores a key. Guard: no key of its algorithm that is not withdrawn has an `active_from` later
                    /// than `unless_after`. If several keys are added at once, one of them is stored, whatever the
                    /// keys are. Durable before the answer.
                    add_signing_key(own command: AddSigningKey) -> KeyAdded [recorded];

                    /// Withdraws a key for good. The answer says whether it existed and was not withdrawn before.
                    /// Durable before the answer.
                    withdraw_signing_key(own command: WithdrawSigningKey) -> bool [recorded];

                    /// Deletes a key. The answer says whether it existed.
                    remove_signing_key(own command: RemoveSigningKey) -> bool [recorded];
                }
                reads {
                    /// Reads all keys, oldest first.
                    signing_keys() -> Vec<SealedKey>;
                }
            }

            /// The keys of the admin interface. Every write is durable before the answer, and from then on every
            /// replica finds the new values.
            AdminKeyStore {
                writes {
                    /// Stores a new key. Guard: no key has its name, not even a revoked one.
                    create_admin_key(own command: CreateAdminKey) -> AdminKeyCreated [recorded];

                    /// Revokes a key for good. The answer says whether it existed and was not revoked before.
                    revoke_admin_key(own command: RevokeAdminKey) -> bool [recorded];

                    /// Writes down when a key was used. Of two times the later one stays.
                    note_admin_key_use(copy id: AdminKeyId, copy used_at: OffsetDateTime) -> ();

                    /// Begins a request, unless this key began one of the same name that is not forgotten.
                    /// The answer is the first one. Of many at once, one is the first, and all get the same
                    /// answer.
                    begin_request(own command: BeginRequest) -> RequestBegun;

                    /// Creates something by its own rules, and writes down in the same commit that the request made
                    /// it. Guard: the request was begun, and made nothing yet. If it made something, the same thing
                    /// as in the command is recognized and answered like the first time; anything else is
                    /// [`CreatedOnce::MadeBefore`], whether it was deleted or changed meanwhile. So nothing is
                    /// created a second time for one request. A refusal makes nothing, and leaves the request as it
                    /// was.
                    create_once(own command: CreateOnce) -> CreatedOnce;
                }
                reads {
                    /// Reads one key, revoked or not.
                    find_admin_key(copy id: AdminKeyId) -> Option<AdminKey>;

                    /// Reads all keys in the order of their ids, those that were revoked too.
                    list_admin_keys() -> Vec<AdminKey>;
                }
            }

            /// Proofs that were already used.
            ReplayStore {
                writes {
                    /// Remembers a proof. The answer says whether it was new. Guard: no proof with this digest is
                    /// remembered, or its `forget_after` is before `before`. The same `attempt` gives the same answer
                    /// again. Durable before the answer.
                    spend_proof(own command: SpendProof) -> bool [batched];
                }
            }

            /// Upkeep of the store.
            Upkeep {
                writes {
                    /// Deletes grants, spent challenges, spent proofs and device requests whose `forget_after` has
                    /// passed, tokens whose [`Token::forget_after`] has passed, login sessions, pushed requests and
                    /// old secrets of clients whose `expires_at` has passed, and requests of admin keys that were
                    /// begun [long enough ago](crate::REQUESTS_REMEMBERED). Deletes the oldest first, up to the limit
                    /// for each of the nine. Grants are taken in the order of the times known when they were last
                    /// looked at. Whether a refresh has extended a grant's time is checked when that time comes. What
                    /// could still be presented and mean something stays: a used challenge while its text is valid,
                    /// and a rotated refresh token until it expires.
                    ///
                    /// If the code of a deleted grant was redeemed, its user is recorded as known
                    /// ([`forget_unused`](Self::forget_unused)).
                    ///
                    /// [`Token::forget_after`]: countersign_domain::token::Token::forget_after
                    purge_expired(own command: PurgeExpired) -> Purged;

                    /// Deletes users that no client ever learned of, with their wallet and their consents,
                    /// atomically for each user. A user is known for good once a code of theirs was redeemed,
                    /// whatever becomes of its grant and its client. Of the others, users stay, and are
                    /// looked at again later, if they have a stored grant of any kind, a login session, an
                    /// e-mail address or a second wallet, or if the operator put them into a group or blocked
                    /// them. What the operator did with their wallet alone keeps no user, and outlives them.
                    /// Users from before this was recorded count as known. A login of the wallet at the same
                    /// time happens entirely before, and the user stays, or entirely after, and creates a new
                    /// user.
                    forget_unused(own command: ForgetUnused) -> Purged;

                    /// Deletes clients that come from a metadata document and have neither a consent nor a
                    /// grant, and for which the operator decided nothing: no resource was opened to them,
                    /// they have no rule of their own, and the groups they get follow it. They go in the
                    /// order of their ids. A caller that stores a grant for such a client stores the client
                    /// again afterwards if it is gone.
                    forget_documents(own command: ForgetDocuments) -> DocumentsForgotten;

                    /// Stores what is known about the time, replacing what was stored before. A database with a clock
                    /// of its own stores nothing.
                    mark_time(own mark: TimeMark) -> ();

                    /// Checks that the store answers and accepts writes, by a small write that is durable
                    /// when this returns, and that everything is there that a sign-in and an exchange need:
                    /// clients, users, wallets, consents, sessions, grants, tokens and events. It changes
                    /// nothing that anyone reads, and takes no longer among many rows. An error means that
                    /// sign-ins or exchanges would fail too: the disk is full, the server is read-only, the
                    /// file is gone, or another session has locked one of them for longer than an operation
                    /// can take.
                    ping() -> ();
                }
                reads {
                    /// Reads a second source of the time: the database server's clock or, without a server, what
                    /// [`mark_time`](Self::mark_time) wrote. If nothing was written yet, the newest grant or token
                    /// gives a lower bound.
                    time_witness() -> TimeWitness;
                }
            }
        }
    };
}

/// What happens to an argument of an operation on its way: it is kept until the operation is carried out, and then
/// lent to the function that does so.
#[macro_export]
macro_rules! operation_argument {
    (keep copy $argument:ident) => {
        $argument
    };
    (keep own $argument:ident) => {
        $argument
    };
    (keep lent $argument:ident) => {
        $argument.to_owned()
    };
    (keep maybe $argument:ident) => {
        $argument.cloned()
    };
    (lend copy $argument:ident) => {
        $argument
    };
    (lend own $argument:ident) => {
        &$argument
    };
    (lend lent $argument:ident) => {
        &$argument
    };
    (lend maybe $argument:ident) => {
        $argument.as_ref()
    };
}

/// The types in the table, for the modules that use it.
pub mod signatures {
    pub use async_trait::async_trait;
    pub use countersign_domain::admin_key::AdminKey;
    pub use countersign_domain::admission::{Block, Standing, UserStanding};
    pub use countersign_domain::checkpoint::SignedCheckpoint;
    pub use countersign_domain::client::Client;
    pub use countersign_domain::consent::Consent;
    pub use countersign_domain::declaration::Declaration;
    pub use countersign_domain::desk::operators::Suspension;
    pub use countersign_domain::desk::proposal::Proposal;
    pub use countersign_domain::device::DeviceRequest;
    pub use countersign_domain::email::UserEmail;
    pub use countersign_domain::epoch::{Epoch, Lineage};
    pub use countersign_domain::event::{Event, Pseudonym};
    pub use countersign_domain::event_push::ReceiverId;
    pub use countersign_domain::forgetting::{Past, TimeMark, TimeWitness};
    pub use countersign_domain::grant::Grant;
    pub use countersign_domain::group::{GroupName, Membership};
    pub use countersign_domain::hour::Hour;
    pub use countersign_domain::id::{
        AdminKeyId, ClientId, EventId, GrantId, InvitationId, SessionId, TokenId, UserId,
    };
    pub use countersign_domain::invitation::{Invitation, InvitationUse};
    pub use countersign_domain::login_session::LoginSession;
    pub use countersign_domain::pushed_request::PushedRequest;
    pub use countersign_domain::refresh::RefreshSnapshot;
    pub use countersign_domain::resource::Resource;
    pub use countersign_domain::secret::SecretHash;
    pub use countersign_domain::signing_key::SealedKey;
    pub use countersign_domain::subject::Subject;
    pub use countersign_domain::token::AccessSnapshot;
    pub use countersign_domain::wallet::WalletAccount;
    pub use time::{Date, OffsetDateTime};

    pub use crate::*;
}

/// Makes the traits.
macro_rules! ports {
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
        $(#[$on_port])*
        #[async_trait]
        pub trait $port: Send + Sync {
            $($(
                $(#[$on_write])*
                async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError>;
            )*)?
            $($(
                $(#[$on_read])*
                async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError>;
            )*)?
        }
    )* };
}

storage_operations!(ports);
