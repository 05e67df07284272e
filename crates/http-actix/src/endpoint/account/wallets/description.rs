//! What the OpenAPI document says about linking and unlinking wallets.

use countersign_domain::public_url::PublicUrl;
use serde_json::{Value, json};

use crate::endpoint::description::examples::{self, OTHER_WALLET, PAGE_FORM, SIGNATURE, USER, WALLET};
use crate::endpoint::description::operation::{
    Example, FOREIGN_FORM, FOREIGN_PAGE, FORM, HTML, JSON, Operation, PAGE,
};
use crate::endpoint::description::scheme;

pub(crate) fn begin(public_url: &PublicUrl) -> Operation {
    let example = |name, summary, change| Example {
        name,
        summary,
        value: json!({"change": change, "wallet_address": WALLET, "other_wallet_address": OTHER_WALLET, "form": PAGE_FORM}),
    };
    let how = json!([{"tool": "Foundry", "how": "cast wallet sign --interactive \"$(cat sign-in.txt)\""}]);
    let other_how = json!([{"tool": "Phantom", "how": "paste the text where the page asks for it"}]);
    let (challenge, other_challenge) = examples::link_texts(public_url);
    let answer = json!({
        "challenge": challenge,
        "wallet_account": examples::ethereum_account().caip10(),
        "how_to_sign": how,
        "other_challenge": other_challenge,
        "other_wallet_account": examples::solana_account().caip10(),
        "other_how_to_sign": other_how,
        "expires_at": examples::challenge_expires_at(),
        "form": PAGE_FORM,
    });
    Operation::new(
        "POST",
        "/account/wallets/challenge",
        ("beginWalletChange", "Get the texts to sign for linking or unlinking a wallet"),
        "To link a wallet, one of the user's wallets and the new one each sign a text that names the other. \
         To unlink one, any of the user's wallets signs. The texts work once, in the session that asked for \
         them.",
    )
    .takes(
        &[JSON, FORM],
        "WalletChangeRequest",
        vec![example("link", "Link another wallet", "link"), example("unlink", "Unlink it", "unlink")],
    )
    .answers(
        200,
        "The texts: as JSON, or for a form as a page with a field for each signature.",
        "WalletChange",
        answer,
    )
    .shows(200, "", HTML, PAGE)
    .refuses(
        400,
        &[
            ("invalid_request", "change must be link or unlink"),
            ("invalid_request", "other_wallet_address is not an address of a supported wallet"),
            ("invalid_request", "other_wallet_address is the same wallet as wallet_address"),
        ],
    )
    .refuses(409, &[("invalid_request", "the other wallet belongs to another user")])
    .tag("Wallets")
    .kept_to_page_forms()
    .counted()
    .stores()
}

pub(crate) fn link(public_url: &PublicUrl) -> Operation {
    let (challenge, other_challenge) = examples::link_texts(public_url);
    let value = json!({
        "challenge": challenge,
        "signature": SIGNATURE,
        "other_challenge": other_challenge,
        "other_signature":
            "3YT5WU6ATbK3hgMcnYtpt8m7AvNTriAqgep7eQQyLea1YmzxgTA1XXaoSTpbcyjkNxuTdyTq3sRmFBVF2RnE9KDQ",
        "other_wallet_name": "Phantom",
        "form": PAGE_FORM,
    });
    completion(
        Operation::new(
            "POST",
            "/account/wallets/link",
            ("linkWallet", "Link a wallet"),
            "From then on, the other wallet signs in as the same user, with the same `sub`. A wallet belongs \
             to one user at a time.",
        ),
        Example { name: "link", summary: "Both signatures", value },
        json!([examples::ethereum_account().caip10(), examples::solana_account().caip10()]),
        &[
            ("invalid_request", "the other wallet belongs to another user"),
            ("invalid_request", "wallet_address has never signed in here"),
        ],
    )
}

pub(crate) fn unlink(public_url: &PublicUrl) -> Operation {
    let value =
        json!({"challenge": examples::unlink_text(public_url), "signature": SIGNATURE, "form": PAGE_FORM});
    completion(
        Operation::new(
            "POST",
            "/account/wallets/unlink",
            ("unlinkWallet", "Unlink a wallet"),
            "Every grant that came from signing in with this wallet ends. The wallet can sign in again as a \
             new user, or be linked again.",
        ),
        Example { name: "unlink", summary: "The signature of a wallet of the user", value },
        json!([examples::ethereum_account().caip10()]),
        &[
            ("invalid_request", "the last wallet cannot be unlinked"),
            ("invalid_request", "the other wallet is not one of this user's"),
        ],
    )
}

fn completion(
    operation: Operation,
    example: Example,
    wallets: Value,
    conflicts: &[(&'static str, &'static str)],
) -> Operation {
    operation
        .takes(&[JSON, FORM], "SignedWalletChange", vec![example])
        .answers(
            200,
            "The wallets that the user has now.",
            "Wallets",
            json!({"sub": USER, "wallets": wallets}),
        )
        .answers_nothing(303, "After a form: to the account page, which says what was done.", &["Location"])
        .refuses(
            400,
            &[
                ("invalid_request", "Missing or expired OAuth session"),
                ("invalid_request", "signature is missing"),
            ],
        )
        .refuses(
            401,
            &[
                ("access_denied", "Failed to verify signature"),
                ("access_denied", "Challenge is not valid or has expired"),
            ],
        )
        .refuses(
            403,
            &[("access_denied", "this server does not admit this wallet"), FOREIGN_PAGE, FOREIGN_FORM],
        )
        .refuses(409, conflicts)
        .tag("Wallets")
        .counted()
        .stores()
        .opened_by(&[scheme::SESSION])
}
