//! Requests, sign-ins and sign-outs.

mod authorizing;
mod challenge_text;
mod remembering;
mod requests;
mod signing_in;
mod signing_out;
mod verifying_texts;
