//! What the sign-in page shows.

use countersign_domain::contact::Contact;
use countersign_domain::invitation::{AcceptedInvitation, Invitation};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_link::WalletLink;
use countersign_usecases::context::resources::ShownScope;
use countersign_usecases::sign_in::describe_sign_in::ClientShown;
use serde::Serialize;

use crate::page::language::Language;
use crate::page::templates::{Place, Values};
use crate::page::uri::ResourceContext;

/// Everything that determines the page. Values that it only prints are replaced by their places.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct SignInPage {
    pub(crate) client: ClientContext,
    pub(crate) is_account: bool,
    /// The code that the waiting device shows.
    pub(crate) device: Option<Place>,
    /// The invitation that the person accepts by signing.
    pub(crate) invitation: Option<InvitationContext>,
    pub(crate) destination: Place,
    pub(crate) scopes: Vec<ScopeContext>,
    /// The scopes of resources, in the operator's words.
    pub(crate) own_scopes: Vec<OwnScopeContext>,
    /// What access tokens would be for, besides this server.
    pub(crate) resources: Vec<ResourceContext<Place>>,
    pub(crate) client_id: Place,
    pub(crate) redirect_uri: Place,
    pub(crate) state: Option<Place>,
    pub(crate) request_label: Place,
    pub(crate) remembered: Option<RememberedContext>,
    /// The wallet that is not let in.
    pub(crate) not_admitted: Option<NotAdmittedContext>,
    /// The contact that the operator chose.
    pub(crate) contact: Option<ContactContext>,
    /// Would the page without `another` offer to continue as a signed-in user?
    pub(crate) may_continue: bool,
    /// The secret of the form that denies.
    pub(crate) form_deny: Place,
    pub(crate) signed_in_as: Option<Place>,
    pub(crate) step_up: bool,
    pub(crate) another: bool,
    pub(crate) offer_email: bool,
    pub(crate) may_remember: bool,
    pub(crate) remember_hours: i64,
    pub(crate) playground_wallet: bool,
    /// The value of the address field.
    pub(crate) address: Option<Place>,
    /// The chains to choose from.
    pub(crate) chains: Vec<HintContext>,
    /// `address` or `sign`.
    pub(crate) step: &'static str,
    pub(crate) challenge: Option<Place>,
    pub(crate) wallet_address: Option<Place>,
    pub(crate) chain: Option<Place>,
    pub(crate) expires_at: Option<Place>,
    pub(crate) how_to_sign: Vec<HintContext>,
    pub(crate) tries_left: Option<u8>,
    /// Does the client get no wallet?
    pub(crate) hides_wallet: bool,
    pub(crate) notice: Option<Place>,
    /// The name of the request in the log, where something went wrong.
    pub(crate) reference: Option<Place>,
}

/// An invitation into a group.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct InvitationContext {
    pub(crate) group: Place,
    /// Who invites: the operator's words, or our host.
    pub(crate) from: Place,
    /// What operators will call the person.
    pub(crate) name: Option<Place>,
    /// Does it let no one in any more?
    pub(crate) ended: bool,
}

impl InvitationContext {
    pub(crate) fn of<'a>(
        accepted: &'a AcceptedInvitation,
        found: Option<Invitation>,
        is_open: bool,
        public_url: &'a PublicUrl,
        values: &mut Values<'a>,
    ) -> Self {
        let from = match &found {
            Some(invitation) => values.place(invitation.inviter_or_host(public_url).to_owned()),
            None => values.place(public_url.authority()),
        };
        let name = found.and_then(|invitation| invitation.name);
        Self {
            group: values.place(accepted.group.as_str()),
            from,
            name: name.map(|name| values.place(name.to_string())),
            ended: !is_open,
        }
    }
}

#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ClientContext {
    pub(crate) name: Place,
    pub(crate) uri: Option<Place>,
    pub(crate) policy_uri: Option<Place>,
    pub(crate) tos_uri: Option<Place>,
    pub(crate) self_registered: bool,
    pub(crate) described_at: Option<Place>,
    /// The wallets that open the client on a phone, each with its link. Only clients that the operator
    /// vouches for have any.
    pub(crate) wallet_links: Vec<HintContext>,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct RememberedContext {
    /// As CAIP-10.
    pub(crate) name: Place,
    pub(crate) account: Place,
    pub(crate) short: Place,
    /// The secret of the form that continues as this account.
    pub(crate) form: Place,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct NotAdmittedContext {
    pub(crate) account: Place,
    pub(crate) short: Place,
}

/// A mail address or the address of a page, and the link to it.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ContactContext {
    pub(crate) text: Place,
    pub(crate) link: Place,
    pub(crate) is_web: bool,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ScopeContext {
    pub(crate) name: &'static str,
    /// The key of its text.
    pub(crate) words: &'static str,
    pub(crate) is_new: bool,
}

/// A scope of a resource.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct OwnScopeContext {
    pub(crate) name: Place,
    pub(crate) title: Place,
    /// The host of the resource; none if the scope was deleted.
    pub(crate) host: Option<Place>,
    pub(crate) is_new: bool,
}

/// A chain and the kind of its accounts, or a tool and how to use it.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct HintContext {
    pub(crate) name: Place,
    pub(crate) text: Place,
}

impl ClientContext {
    /// `None` is our own account page. Its name is our host.
    pub(crate) fn of<'a>(
        client: Option<ClientShown>,
        public_url: &'a PublicUrl,
        links: &'a [WalletLink],
        values: &mut Values<'a>,
    ) -> Self {
        let Some(ClientShown {
            name,
            uri,
            policy_uri,
            tos_uri,
            self_registered,
            described_at,
            is_pairwise: _,
        }) = client
        else {
            let account = (!links.is_empty()).then(|| public_url.join("/account"));
            return Self {
                name: values.place(public_url.authority()),
                uri: None,
                policy_uri: None,
                tos_uri: None,
                self_registered: false,
                described_at: None,
                wallet_links: wallet_links(account.as_deref(), links, values),
            };
        };
        let wallet_links = wallet_links(uri.as_deref(), links, values);
        let mut place = |value: String| values.place(value);
        Self {
            name: place(name),
            uri: uri.map(&mut place),
            policy_uri: policy_uri.map(&mut place),
            tos_uri: tos_uri.map(&mut place),
            self_registered,
            described_at: described_at.map(&mut place),
            wallet_links,
        }
    }
}

fn wallet_links<'a>(
    address: Option<&str>,
    links: &'a [WalletLink],
    values: &mut Values<'a>,
) -> Vec<HintContext> {
    let Some(address) = address else { return Vec::new() };
    let mut open = |link: &'a WalletLink| HintContext {
        name: values.place(link.name()),
        text: values.place(link.to(address)),
    };
    links.iter().map(&mut open).collect()
}

impl RememberedContext {
    pub(crate) fn of(account: WalletAccount, form: String, values: &mut Values<'_>) -> Self {
        Self {
            name: values.place(account.caip10()),
            short: values.place(account.shortened()),
            account: values.place(account.address),
            form: values.place(form),
        }
    }
}

impl NotAdmittedContext {
    pub(crate) fn of(account: WalletAccount, values: &mut Values<'_>) -> Self {
        Self { short: values.place(account.shortened()), account: values.place(account.address) }
    }
}

impl ContactContext {
    pub(crate) fn of<'a>(contact: &'a Contact, values: &mut Values<'a>) -> Self {
        Self {
            text: values.place(contact.shown()),
            link: values.place(contact.link()),
            is_web: contact.is_web(),
        }
    }
}

impl ScopeContext {
    /// A pairwise client recognizes people by an ID of its own.
    pub(crate) fn list(scopes: &ScopeSet, new: Option<&ScopeSet>, is_pairwise: bool) -> Vec<Self> {
        let is_new = |scope| new.is_some_and(|new| new.contains(scope));
        let context = |scope: Scope| Self {
            name: scope.name(),
            // Both give a user ID. A list says it once.
            words: match scope {
                Scope::Profile if scopes.contains(Scope::OpenId) => "profile_beside_openid",
                Scope::OpenId if is_pairwise => "openid_pairwise",
                Scope::OpenId
                | Scope::Profile
                | Scope::Email
                | Scope::OfflineAccess
                | Scope::Wallets
                | Scope::WalletProof
                | Scope::Groups => scope.name(),
            },
            is_new: is_new(scope),
        };
        scopes.known().map(context).collect()
    }
}

impl OwnScopeContext {
    pub(crate) fn list<'a>(
        scopes: &'a [ShownScope],
        new: Option<&ScopeSet>,
        language: Language,
        values: &mut Values<'a>,
    ) -> Vec<Self> {
        let mut context = |scope: &'a ShownScope| Self {
            name: values.place(scope.name.as_str()),
            title: values.place(scope.title_in(language.tag())),
            host: scope.declared.as_ref().map(|declared| values.place(declared.host.as_str())),
            is_new: new.is_some_and(|new| new.has_own(&scope.name)),
        };
        scopes.iter().map(&mut context).collect()
    }
}

impl HintContext {
    pub(crate) fn of<'a>(name: &'a str, text: &'a str, values: &mut Values<'a>) -> Self {
        Self { name: values.place(name), text: values.place(text) }
    }
}

#[cfg(test)]
mod tests;
