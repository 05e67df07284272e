//! Accounts of the coins that sign as Bitcoin does.

use super::{Core, Family, Signed, USUAL};

/// Rows of `tests/vectors/bitcoin/evrmore_signed_message.json`.
pub static COINS: Family = Family::new(
    &[
        Signed {
            address: "Eb62YwtH75sD7fsCfz2oYvErc45X2wVEcS",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "H0mDk2k7OEfAHRpoh6xXB1M7enB57kzT0pMr0epOtvHcDKWSwSLIsNH7qDTS6E65T8sRfyhRYE6Yue5yuB6H1Z0=",
            core: Core::Exact,
        },
        Signed {
            address: "ERXWUR1pD62EHwKbx1MHCe8CjD4vjLz4Yr",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "G0mDk2k7OEfAHRpoh6xXB1M7enB57kzT0pMr0epOtvHcDKWSwSLIsNH7qDTS6E65T8sRfyhRYE6Yue5yuB6H1Z0=",
            core: Core::Exact,
        },
        Signed {
            address: "EPDfLCVpmDdenV9jayBCDRSmd2kJn9DxGM",
            chain: None,
            text: "Virès is Numéris 1",
            signature: "IB6SDuk1+M3VYRPb5OGnM3UWD3FdfpOPDHnPlxyAm1gHBGDWNurVYLPg3ssrzvGCCXGCfwnJV5zgSu3BwLMyoaM=",
            core: Core::Exact,
        },
    ],
    USUAL,
);
