//! The `Content-Security-Policy` of pages: what they may load, and where their forms may go.

/// The policy of a page with forms of our own.
pub const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                           connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The policy of a page without a form.
pub(crate) fn policy_without_forms() -> String {
    policy_of_form_to("'none'")
}

/// The policy of a page whose form goes to another site.
pub(crate) fn policy_of_form_to(source: &str) -> String {
    PAGE_POLICY.replace("form-action 'self'", &format!("form-action {source}"))
}
