//! The vectors of `tests/vectors/cosmos`, case by case, through the router as the server uses it.

use crate::wallet::testing::judge_every_row;

#[test]
fn b_017_what_cosmjs_signs_by_adr_036_is_valid_and_everything_else_is_not() {
    let file = include_str!("../../../../../tests/vectors/cosmos/adr036_signed.json");
    judge_every_row("cosmos/adr036_signed", file);
}
