//! A wallet signs in without a browser: a program asks for a text, and exchanges the signed text for tokens.
//!
//! Between the two calls nothing is stored, neither here nor in a cookie: the server recognizes its own text
//! ([`ProgramText`], docs/adr/0016-headless-login.md).

use countersign_domain::audience::{Signed, TokenAccess};
use countersign_domain::challenge::{self, ChallengeText, ProgramText, Purpose, ReadText};
use countersign_domain::client::Client;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthError;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::id_token::SignedText;
use countersign_domain::particulars::Particulars;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_ports::{
    CompleteLogin, EntropyExt, LoginCompleted, RecognizedAccount, RedeemCode, Redeemed, StoreError, Verdict,
    VerifierError,
};
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::context::cause::Cause;
use crate::sign_in::issue_challenge::Challenge;
use crate::sign_in::verify_text::find_by_text;
use crate::steps::admit::{KeptOut, kept_out, kept_out_since, take_back};
use crate::steps::choose_resources::{ResourcesRejected, choose_resources};
use crate::steps::end_grant::EndingGrant;
use crate::steps::mint_tokens::{Mint, mint_tokens};
use crate::steps::prove_key::prove_key_of_tokens;
use crate::steps::recognize_account::{RecognizeError, recognize_account};
use crate::steps::token_access::{AccessRejected, limited, nothing_is_left, share_of};
use crate::{AuthenticateClientError, Context, MintError, ProveKeyError, TokenAnswer};

/// What a program wants a wallet to sign for.
#[derive(Clone, Debug)]
pub struct ProgramChallenge<'a> {
    /// The client, by its id.
    pub client_id: &'a str,
    /// The wallet.
    pub name: AccountName<'a>,
    /// The scopes; if none are named, all that the client registered.
    pub scope: Option<&'a str>,
    /// The resources that access tokens are for.
    pub resources: &'a [String],
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum ProgramChallengeError {
    /// The client is not registered.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client did not register this grant type, or is public.
    #[error("client may not sign wallets in without a browser")]
    GrantTypeNotAllowed,
    /// It is not clear which wallet is meant.
    #[error(transparent)]
    Account(#[from] RecognizeError),
    /// A scope or a resource is not valid, or not for this client.
    #[error("scope or resource is refused")]
    Resource(#[source] OAuthError),
    /// The scopes do not fit into one text.
    #[error("scopes do not fit into a text to sign")]
    ScopeUnfit,
    /// The resources do not fit into one text.
    #[error("resources do not fit into a text to sign")]
    ResourceUnfit,
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Makes a text for a program. Nothing is stored.
pub async fn issue_program_challenge(
    context: &Context,
    asked: ProgramChallenge<'_>,
) -> Result<Challenge, ProgramChallengeError> {
    let now = context.clock.now();
    let id = ClientId::parse(asked.client_id).ok_or(ProgramChallengeError::ClientUnknown)?;
    let client = context.clients.find(id).await?.ok_or(ProgramChallengeError::ClientUnknown)?;
    if !may_sign_in(&client) {
        return Err(ProgramChallengeError::GrantTypeNotAllowed);
    }
    let RecognizedAccount { account, kind, chain_id } = recognize_account(&*context.wallets, asked.name)?;
    let chosen = choose_resources(context, &client, asked.scope, asked.resources).await;
    let (scope, resources) = chosen.map_err(|rejected| match rejected {
        ResourcesRejected::Refused(error) => ProgramChallengeError::Resource(error),
        ResourcesRejected::Store(error) => error.into(),
    })?;
    let purpose = Purpose::Program { client: client.id, scope: &scope, resources: &resources };
    if !challenge::fits(&context.policy.public_url, purpose) {
        return Err(if scope.own().is_empty() {
            ProgramChallengeError::ResourceUnfit
        } else {
            ProgramChallengeError::ScopeUnfit
        });
    }
    let expires_at = now + context.policy.lifetimes.challenge;
    let text = ChallengeText {
        public_url: &context.policy.public_url,
        account: &account,
        account_kind: &kind,
        chain_id: &chain_id,
        signer_kind: None,
        purpose,
        invitation: None,
        key: &context.keys.texts,
        random: context.entropy.bytes(),
        id: GrantId::at(now, context.entropy.bytes()),
        issued_at: now,
        expires_at,
    }
    .render();
    let signing_hints = context.wallets.signing_hints(&account);
    Ok(Challenge { text, expires_at, tries_left: 1, signing_hints, account })
}

/// What a program brings back.
#[derive(Clone)]
pub struct SignInProgram {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// The text.
    pub challenge: String,
    /// The wallet's signature of it.
    pub signature: String,
    /// The wallet that signed, if the program names it again.
    pub wallet_address: Option<String>,
    /// The resources that the access token is for, if fewer than the text names.
    pub resources: Vec<String>,
    /// A DPoP proof of the key that the tokens are bound to.
    pub proof: Option<String>,
}

impl std::fmt::Debug for SignInProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInProgram").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum SignInProgramError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type, or is public.
    #[error("client may not sign wallets in without a browser")]
    GrantTypeNotAllowed,
    /// The server did not write this text for a program of this client and for this wallet.
    #[error("text was not written for this client and wallet")]
    NotOurs,
    /// The text has expired.
    #[error("text has expired")]
    Expired,
    /// The text was used before.
    #[error("text was used before")]
    Spent,
    /// A resource is not valid, or the text does not name it.
    #[error("resource is refused")]
    Resource(#[source] OAuthError),
    /// The signature is not the wallet's, or not of this text.
    #[error("signature is not valid: {0}")]
    Signature(&'static str),
    /// The operator does not let the wallet in.
    #[error("wallet is not admitted")]
    NotAdmitted(#[source] KeptOut),
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// Tokens could not be made.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// Storage failed. The program may repeat the call.
    #[error("sign-in could not be stored")]
    Store(#[from] StoreError),
}

impl From<AccessRejected> for SignInProgramError {
    fn from(rejected: AccessRejected) -> Self {
        match rejected {
            AccessRejected::Refused(error) => Self::Resource(error),
            AccessRejected::Store(error) => Self::Store(error),
        }
    }
}

/// Signs a wallet in for a program. The text works once; a call that fails uses nothing up.
pub async fn sign_in_program(
    context: &Context,
    cause: &Cause,
    asked: SignInProgram,
) -> Result<TokenAnswer, SignInProgramError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &asked.credentials).await?;
    if !may_sign_in(&client) {
        return Err(SignInProgramError::GrantTypeNotAllowed);
    }
    let policy = &context.policy;
    let find = |says: &ReadText<'_>| {
        let found = find_by_text(&*context.wallets, says.address?, says).ok()?;
        Some((found.account, found.kind.into_owned(), found.chain_id))
    };
    let (says, account) = ProgramText::read(&policy.public_url, &context.keys.texts, &asked.challenge, find)
        .filter(|(says, _)| says.client == client.id)
        .ok_or(SignInProgramError::NotOurs)?;
    if asked.wallet_address.is_some_and(|address| !means(context, &address, &account)) {
        return Err(SignInProgramError::NotOurs);
    }
    if now >= says.expires_at {
        return Err(SignInProgramError::Expired);
    }
    let proof = WalletProof { account, kind: None, text: asked.challenge, signature: asked.signature };
    let account = match context.wallets.verify(&proof).await? {
        Verdict::Valid(account) => account,
        Verdict::Invalid(reason) => return Err(SignInProgramError::Signature(reason)),
    };
    if let Some(why) = kept_out(context, Some(&client), &account).await? {
        return Err(SignInProgramError::NotAdmitted(why));
    }
    let names_any = !asked.resources.is_empty() || !says.resources.is_empty() || !says.scope.own().is_empty();
    let rules = context.resource_rules(names_any).await?;
    let signed = Signed { resources: &says.resources, scope: &says.scope };
    let access = TokenAccess::of_signed(&rules, &client, signed, &asked.resources)
        .map_err(SignInProgramError::Resource)?;
    let access = limited(context, rules.catalog(), access, &account).await?;
    let share = share_of(context, &says.scope, &account).await?;
    let share = share.ok_or_else(|| SignInProgramError::Resource(nothing_is_left()))?;
    let key = prove_key_of_tokens(context, now, &client, asked.proof.as_deref(), None).await?;
    let (wallet, address) = (account.shortened(), cause.logged_address.map(tracing::field::display));
    let login = login(context, now, &says, account.clone(), proof);
    let id = login.id;
    let event = context.event(now, cause, EventKind::SignIn, |event| {
        event.wallet = Some(account.clone());
        event.client = Some(client.id);
        let details = Details::default().text("way", "program").text("grant", id);
        event.details = details.flag("session", false);
    });
    let login = CompleteLogin { scope: share.granted, withheld: share.withheld, event, ..login };
    let user = match context.storage.complete_login(login).await? {
        LoginCompleted::CodeIssued { user } => user,
        LoginCompleted::ChallengeSpent => return Err(SignInProgramError::Spent),
    };
    if let Some(why) = kept_out_since(context, &account).await? {
        let grant = EndingGrant { id, client: client.id, user: Some(user) };
        take_back(context, cause, now, grant).await?;
        return Err(SignInProgramError::NotAdmitted(why));
    }
    let grant = context.storage.find_grant(id).await?.ok_or(SignInProgramError::Spent)?;
    let mint = Mint { client: &client, grant: &grant, parent: None, access, nonce: None, key };
    let minted = match mint_tokens(context, now, mint).await {
        Ok(minted) => minted,
        Err(MintError::NotAdmitted) => return Err(SignInProgramError::NotAdmitted(KeptOut::ByRule)),
        Err(error) => return Err(error.into()),
    };
    // If the grant were forgotten while the text is valid, the text could be used again.
    let forget_after = minted.token.forget_after().max(says.expires_at);
    match context.storage.redeem_code(RedeemCode { token: minted.token, now, forget_after }).await? {
        Redeemed::Stored => {
            context.uses.note_sign_in(user, now);
            context.uses.note_client(client.id, now);
            tracing::info!(
                user.id = %user, client.id = %client.id, grant.id = %id, wallet, address, "signed in without a browser"
            );
            Ok(minted.answer)
        }
        Redeemed::Replayed | Redeemed::Revoked | Redeemed::Unknown => Err(SignInProgramError::Spent),
    }
}

/// The grant of a text. Its code is the text itself, which cannot be presented as a code. The same text again
/// makes the same command, so a program may repeat a call that failed before the tokens were stored. Only
/// redeeming it happens once.
fn login(
    context: &Context,
    now: OffsetDateTime,
    says: &ProgramText,
    account: WalletAccount,
    proof: WalletProof,
) -> CompleteLogin {
    let code_hash = SecretHash::of(&Secret::new(proof.text.clone()));
    let signed = SignedText { text: proof.text, signature: proof.signature };
    CompleteLogin {
        id: says.id,
        client: says.client,
        account,
        new_user: UserId::random(context.entropy.bytes()),
        redirect_uri: None,
        scope: says.scope.clone(),
        withheld: ScopeSet::EMPTY,
        terms: says.terms(),
        nonce: None,
        code_challenge: None,
        particulars: Particulars {
            resources: says.resources.clone(),
            key: None,
            wallet_proof: Some(signed).filter(|_| says.scope.contains(Scope::WalletProof)),
            asked_auth_time: false,
        },
        code_hash,
        now,
        code_expires_at: now,
        forget_after: says.expires_at,
        session: None,
        event: None,
    }
}

fn may_sign_in(client: &Client) -> bool {
    !client.is_public() && client.may_use(GrantType::WalletSignature)
}

/// Can this address, with or without its chain, mean the account?
fn means(context: &Context, address: &str, account: &WalletAccount) -> bool {
    let Ok(name) = AccountName::read(address, None) else { return false };
    let chain = name.chain.unwrap_or(&account.chain);
    context.wallets.recognize(name.address, Some(chain)).iter().any(|found| found.account == *account)
}
