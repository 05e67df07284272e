//! Requests, sign-ins and sign-outs.

mod authorizing;
mod blocking;
mod challenge_text;
mod coming_in;
mod invited;
mod remembering;
mod requests;
mod signing_in;
mod signing_out;
mod verifying_texts;
