//! The vectors of `tests/vectors/tron`, case by case, through the router as the server uses it.

use crate::wallet::testing::judge_every_row;

#[test]
fn b_017_what_tronweb_signs_by_tip_191_is_valid_and_everything_else_is_not() {
    let file = include_str!("../../../../../tests/vectors/tron/tip191_signed.json");
    judge_every_row("tron/tip191_signed", file);
}
