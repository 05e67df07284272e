//! `/verify`: a person or a program asks what a text says, who wrote it, and who signed it. Nothing of it is
//! stored.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::ReadText;
use countersign_domain::look_alike::{LookAlike, Part, look_alike};
use countersign_domain::wallet::WalletAccount;
use countersign_usecases::sign_in::verify_text::{
    SignatureFound, TextToVerify, TextVerified, Writer, verify_text,
};
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::body::{Body, BodyKind, required};
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::moment::Moment;
use crate::page::name::Name;
use crate::state::AppState;

/// A text, and what the sender knows about it.
#[derive(Deserialize, Serialize, Apiv2Schema)]
pub(crate) struct VerifyRequest {
    /// The exact text.
    text: Option<String>,
    /// Its signature: hex, base64, base64url or base58. Without it, only the text is checked.
    signature: Option<String>,
    /// The address that should have signed, alone or after its chain (CAIP-10). By default the address in the
    /// text.
    wallet_address: Option<String>,
    /// The chain in CAIP-2 form. By default the chain in the text.
    chain: Option<String>,
}

/// What the server found out about a text.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct VerifyAnswer<'a> {
    /// The verdict on the signature: `valid`; `invalid`; `names_another` (the wallet signed this text, but
    /// the text names another account, chain or coin); `undecided` (a chain does not respond);
    /// `unclear_account` (it is not clear which account should have signed); `no_account` (neither the
    /// request nor the text names one); or `absent` (there is no signature).
    signature: &'static str,
    /// Why the verdict is `names_another`, `invalid` or `unclear_account`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The account that signed or should have signed, in CAIP-10 form.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_account: Option<String>,
    /// Who wrote the text: `this_server`; `not_this_server`, although the text names this server;
    /// `another_site`; or `unknown`.
    writer: &'static str,
    /// Whether this server wrote exactly this text. This does not say who asked for it.
    issued_here: bool,
    /// Whether the text has expired, by its own expiration time.
    #[serde(skip_serializing_if = "Option::is_none")]
    expired: Option<bool>,
    /// The text's domain: the site that asked for the signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
    /// The kind of account that the text names.
    #[serde(skip_serializing_if = "Option::is_none")]
    account_kind: Option<&'a str>,
    /// The address that the text names.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a str>,
    /// The text's statement: what the signer agrees to.
    #[serde(skip_serializing_if = "Option::is_none")]
    statement: Option<&'a str>,
    /// The text's `URI`.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    /// The text's `Version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// The text's `Chain ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_id: Option<&'a str>,
    /// The text's `Nonce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    /// The text's `Issued At`, as written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_at: Option<&'a str>,
    /// The text's `Expiration Time`, as written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_time: Option<&'a str>,
    /// The text's `Not Before`, as written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<&'a str>,
    /// The text's `Request ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    /// The text's `Resources`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    resources: &'a [&'a str],
    /// Lines that are not in the standard, or that are repeated.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    other_lines: &'a [&'a str],
}

const NAMES_ANOTHER: &str = "the text names another account, chain or coin";

#[derive(Serialize)]
struct PageContext<'a> {
    /// The values of the fields.
    sent: &'a VerifyRequest,
    /// Was the form sent without a text?
    text_is_missing: bool,
    /// The chains that the address can belong to, for the person to choose from.
    chains: Vec<ChainContext<'a>>,
    /// The key of the sentence that says why the account is unclear.
    unclear: Option<&'static str>,
    /// The account that signed or should have signed.
    account: Option<AccountContext<'a>>,
    answer: Option<VerifyAnswer<'a>>,
    /// What the person reads first.
    verdict: Option<Verdict>,
    /// The host in the text beside ours, if one looks like the other.
    alike: Option<Alike>,
    /// The times in the text that are times.
    times: Times,
    /// The resources that access tokens are for, in a text like ours: those after the client and the scopes.
    access_to: &'a [&'a str],
}

/// All that was found out, in one sentence: may the person trust the text?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Verdict {
    /// Its name, under which the texts stand in `verify.json`.
    name: &'static str,
    /// `calm`, `warning` or `alert`.
    tone: &'static str,
}

#[derive(Serialize)]
struct Alike {
    theirs: Vec<PartContext>,
    ours: Vec<PartContext>,
}

#[derive(Serialize)]
struct PartContext {
    text: String,
    differs: bool,
}

#[derive(Serialize)]
struct Times {
    issued_at: Option<Moment>,
    not_before: Option<Moment>,
    expiration_time: Option<Moment>,
}

#[derive(Serialize)]
struct ChainContext<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct AccountContext<'a> {
    address: &'a str,
    chain: &'a str,
}

pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let nothing = VerifyRequest { text: None, signature: None, wallet_address: None, chain: None };
    page(&state, &request, &PageContext::of(&nothing), StatusCode::OK)
}

/// Checks a text. A form is answered with the page, and JSON with JSON.
pub(crate) async fn verify(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    state.admit(&request, Limited::Login)?;
    let sent: VerifyRequest = body.either()?;
    if body.kind != BodyKind::Form {
        let text = required(sent.text.as_deref(), "text")?;
        let verified = verify_text(context, sent.about(text)).await;
        return Ok(HttpResponse::Ok().json(VerifyAnswer::of(&verified)));
    }
    let sent = sent.tidied();
    let Some(text) = sent.text.as_deref() else {
        let context = PageContext { text_is_missing: true, ..PageContext::of(&sent) };
        return page(&state, &request, &context, StatusCode::BAD_REQUEST);
    };
    let verified = verify_text(context, sent.about(text)).await;
    let host = context.policy.public_url.authority();
    page(&state, &request, &PageContext::of(&sent).with(&verified, host), StatusCode::OK)
}

fn page(
    state: &AppState,
    request: &HttpRequest,
    context: &PageContext<'_>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    state.pages.show(request, Language::of(request, None), Name::Verify, status, context)
}

impl VerifyRequest {
    /// Browsers send the line breaks of a form as CR LF, and pasted text often has spaces around it.
    fn tidied(self) -> Self {
        let pasted = |field: Option<String>| {
            let field = field?.replace("\r\n", "\n").trim().to_owned();
            (!field.is_empty()).then_some(field)
        };
        Self {
            text: pasted(self.text),
            signature: pasted(self.signature),
            wallet_address: pasted(self.wallet_address),
            chain: pasted(self.chain),
        }
    }

    fn about<'a>(&'a self, text: &'a str) -> TextToVerify<'a> {
        TextToVerify {
            text,
            signature: self.signature.as_deref(),
            wallet_address: self.wallet_address.as_deref(),
            chain: self.chain.as_deref(),
        }
    }
}

impl<'a> VerifyAnswer<'a> {
    fn of(verified: &'a TextVerified<'a>) -> Self {
        let says = verified.says.as_ref();
        let field = |read: fn(&ReadText<'a>) -> Option<&'a str>| says.and_then(read);
        let (signature, reason) = match &verified.signature {
            SignatureFound::Valid(_) => ("valid", None),
            SignatureFound::NamesAnother(_) => ("names_another", Some(NAMES_ANOTHER.to_owned())),
            SignatureFound::Invalid { reason, .. } => ("invalid", Some((*reason).to_owned())),
            SignatureFound::Undecided { .. } => ("undecided", None),
            SignatureFound::Unclear(error) => ("unclear_account", Some(error.to_string())),
            SignatureFound::NoAccount => ("no_account", None),
            SignatureFound::Absent => ("absent", None),
        };
        Self {
            signature,
            reason,
            wallet_account: account_of(verified).map(WalletAccount::caip10),
            writer: match verified.writer {
                Writer::ThisServer => "this_server",
                Writer::SomebodyInOurName => "not_this_server",
                Writer::AnotherSite => "another_site",
                Writer::Unknown => "unknown",
            },
            issued_here: verified.writer == Writer::ThisServer,
            expired: verified.has_expired,
            domain: field(|says| Some(says.domain)),
            account_kind: field(|says| Some(says.account_kind)),
            address: field(|says| says.address),
            statement: says.and_then(|says| says.statement.as_deref()),
            uri: field(|says| says.uri),
            version: field(|says| says.version),
            chain_id: field(|says| says.chain_id),
            nonce: field(|says| says.nonce),
            issued_at: field(|says| says.issued_at),
            expiration_time: field(|says| says.expiration_time),
            not_before: field(|says| says.not_before),
            request_id: field(|says| says.request_id),
            resources: says.map_or(&[], |says| &says.resources),
            other_lines: says.map_or(&[], |says| &says.other_lines),
        }
    }
}

impl Verdict {
    /// The writer counts first: whatever its signature is worth, a made-up text must not be trusted.
    const fn of(verified: &TextVerified<'_>, is_alike: bool) -> Self {
        let (name, tone) = match (verified.writer, &verified.signature) {
            (Writer::SomebodyInOurName, _) => ("made_up", "alert"),
            (Writer::AnotherSite, _) if is_alike => ("look_alike", "alert"),
            (Writer::AnotherSite, _) => ("another_site", "warning"),
            (Writer::Unknown, _) => ("unknown", "warning"),
            (Writer::ThisServer, SignatureFound::Invalid { .. } | SignatureFound::NamesAnother(_)) => {
                ("bad_signature", "alert")
            }
            (Writer::ThisServer, SignatureFound::Valid(_)) => ("genuine", "calm"),
            (Writer::ThisServer, SignatureFound::Absent) => ("ours", "calm"),
            (
                Writer::ThisServer,
                SignatureFound::Undecided { .. } | SignatureFound::Unclear(_) | SignatureFound::NoAccount,
            ) => ("unchecked", "warning"),
        };
        Self { name, tone }
    }
}

impl Alike {
    fn of(LookAlike { theirs, ours }: LookAlike) -> Self {
        let list = |parts: Vec<Part>| {
            let context = |Part { text, differs }| PartContext { text, differs };
            parts.into_iter().map(context).collect()
        };
        Self { theirs: list(theirs), ours: list(ours) }
    }
}

impl Times {
    fn of(says: &ReadText<'_>) -> Self {
        Self {
            issued_at: says.issued_at.and_then(Moment::read),
            not_before: says.not_before.and_then(Moment::read),
            expiration_time: says.expiration_time.and_then(Moment::read),
        }
    }
}

impl<'a> PageContext<'a> {
    const fn of(sent: &'a VerifyRequest) -> Self {
        Self {
            sent,
            text_is_missing: false,
            chains: Vec::new(),
            unclear: None,
            account: None,
            answer: None,
            verdict: None,
            alike: None,
            times: Times { issued_at: None, not_before: None, expiration_time: None },
            access_to: &[],
        }
    }

    fn with(mut self, verified: &'a TextVerified<'a>, host: &str) -> Self {
        if let SignatureFound::Unclear(error) = &verified.signature {
            let (sentence, chains): (_, &[NamedChain]) = match error {
                RecognizeError::AddressUnknown => ("address_unknown", &[]),
                RecognizeError::ChainsDiffer(_) => ("chains_differ", &[]),
                RecognizeError::ChainUnknown(chains) => ("chain_unknown", chains),
                RecognizeError::Ambiguous(chains) => ("ambiguous", chains),
                RecognizeError::KindUnknown(_) | RecognizeError::KindMissing => ("kind_unknown", &[]),
            };
            self.unclear = Some(sentence);
            self.chains = chains
                .iter()
                .map(|NamedChain { chain, kind }| ChainContext { name: chain, text: kind })
                .collect();
        }
        self.account = account_of(verified)
            .map(|account| AccountContext { address: &account.address, chain: &account.chain });
        self.answer = Some(VerifyAnswer::of(verified));
        if let Some(says) = &verified.says {
            self.alike = look_alike(host, says.host()).map(Alike::of);
            self.times = Times::of(says);
        }
        self.verdict = Some(Verdict::of(verified, self.alike.is_some()));
        self.access_to = verified.says.as_ref().map_or(&[], ReadText::access_to);
        self
    }
}

/// The account that signed or should have signed.
const fn account_of<'a>(verified: &'a TextVerified<'_>) -> Option<&'a WalletAccount> {
    match &verified.signature {
        SignatureFound::Valid(account)
        | SignatureFound::NamesAnother(account)
        | SignatureFound::Invalid { account, .. }
        | SignatureFound::Undecided { account, .. } => Some(account),
        SignatureFound::Unclear(_) | SignatureFound::NoAccount | SignatureFound::Absent => None,
    }
}

#[cfg(test)]
mod tests;
