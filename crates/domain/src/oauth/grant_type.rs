//! Grant types and the only response type: closed sets with their names on the wire.

/// The way in which a client asks for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantType {
    /// With an authorization code.
    AuthorizationCode,
    /// With a refresh token.
    RefreshToken,
    /// For itself, without a person.
    ClientCredentials,
    /// With a device code, after someone has signed in elsewhere (RFC 8628).
    DeviceCode,
    /// With a challenge that a program signed, without a browser.
    WalletSignature,
}

impl GrantType {
    /// All grant types that this server supports.
    pub const ALL: [Self; 5] = [
        Self::AuthorizationCode,
        Self::RefreshToken,
        Self::ClientCredentials,
        Self::DeviceCode,
        Self::WalletSignature,
    ];

    /// The grant types of a client that registers none.
    pub const DEFAULT: [Self; 2] = [Self::AuthorizationCode, Self::RefreshToken];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::RefreshToken => "refresh_token",
            Self::ClientCredentials => "client_credentials",
            Self::DeviceCode => "urn:ietf:params:oauth:grant-type:device_code",
            Self::WalletSignature => "urn:countersign:params:oauth:grant-type:wallet-signature",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant_type| grant_type.name() == name)
    }
}

/// The only response type: a code in the redirect.
pub const RESPONSE_TYPE_CODE: &str = "code";
