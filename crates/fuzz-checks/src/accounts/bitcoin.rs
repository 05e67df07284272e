//! Bitcoin accounts of every kind that signs: by BIP-137, and by BIP-322 in its simple and its full form.

use super::{Core, Family, Signed};

/// Rows of `tests/vectors/bitcoin`.
pub static BITCOIN: Family = Family::new(
    &[
        Signed {
            address: "19NbyqBJn8jKJdik9AMmCW9ExZZoCgz6m7",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "GxE9JQmfooigi0ePS4KNf3YJ61D+YNL8irX8XDKyrdJvZv+8Ezu2n5A242yIlVWqLyOKkNbF51IE1TL0IBWDWUI=",
            core: Core::Exact,
        },
        Signed {
            address: "1Jw84N3mg8aJ8NGLs93HYnFtqQaPb1fEhj",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "HxE9JQmfooigi0ePS4KNf3YJ61D+YNL8irX8XDKyrdJvZv+8Ezu2n5A242yIlVWqLyOKkNbF51IE1TL0IBWDWUI=",
            core: Core::Exact,
        },
        Signed {
            address: "3EKUEeybidunt39h6QByVCvPdW2UpBZawk",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "IxE9JQmfooigi0ePS4KNf3YJ61D+YNL8irX8XDKyrdJvZv+8Ezu2n5A242yIlVWqLyOKkNbF51IE1TL0IBWDWUI=",
            core: Core::Exact,
        },
        Signed {
            address: "bc1qcjm8muv96s5l4tc9pza96nt4272vaxdlmetusj",
            chain: None,
            text: "Sign in to auth.example.com\nnonce: 7f2c91aa",
            signature: "JxE9JQmfooigi0ePS4KNf3YJ61D+YNL8irX8XDKyrdJvZv+8Ezu2n5A242yIlVWqLyOKkNbF51IE1TL0IBWDWUI=",
            core: Core::Exact,
        },
        Signed {
            address: "bc1qqthe0hz8klx90e7stf6shclhsvqd5ly96pn53v",
            chain: None,
            text: "2V6TUTMSH4VQ3Z7WZWKYD7DFNH",
            signature: "smpAkgwRQIhALC6hdfxNy1n45d7UXSskRBdfZW0Al259E1kDMpipdYkAiAJPfZqb+WurZuf1apU5xeE6Igui9dvt5tihQLDvxlY1AEhAqbnruyo677ktQjio7XOchO3w51Dh9AbRVngha5jtNfT",
            core: Core::Parts(&[
                "b0ba85d7f1372d67e3977b5174ac91105d7d95b4025db9f44d640cca62a5d624",
                "093df66a6fe5aead9b9fd5aa54e71784e8882e8bd76fb79b628502c3bf1958d4",
            ]),
        },
        Signed {
            address: "bc1pcquvhrqv0q68t4m0hfq6tpn006qrskyc7yrqnp2uyrf2emg3wynsdjyk38",
            chain: None,
            text: "PURVOQ544B6HUATVBJZN5EZJUU",
            signature: "smpAUB6B2Rbupzua8LTQIF06516wzl+cwKy1be8RgoiW0riyXdKwe6GTz/5Hnb37m67pJwIKCh+D5jDueG6KpvYpmu8",
            core: Core::Parts(&[
                "7a07645bba9cee6bc2d3408174eb9d7ac3397e7302b2d5b7bc460a225b4ae2c9",
                "774ac1ee864f3ff91e76f7ee6ebba49c0828287e0f98c3b9e1ba2a9bd8a66bbc",
            ]),
        },
        Signed {
            address: "13vU5PUSuArDXJdCWZvUFEbgJ2wcmtSJWn",
            chain: None,
            text: "MOISC5NCQ42ADH2SUXLELUJOWH",
            signature: "fulAgAAAAGn3Z6t/gsHNyHdgZTOVro0Hej+qbd/ilU1ACalKoHX3gAAAABqRzBEAiB+8t/tm8Jm6zYv9JGZZVlAUjmqg7ZglIA39U+bim8EKQIgDv3E5cHOagN+xYgN3ZQjTYlAJp/WyslwJWuFP1TmM3IBIQJcPK2h9SY+Ki1oussvHnMdFAhJgsYBFPl+rNcMv9P1ROAHAAABAAAAAAAAAAABauAHAAA=",
            core: Core::Parts(&[
                "7ef2dfed9bc266eb362ff491996559405239aa83b660948037f54f9b8a6f0429",
                "0efdc4e5c1ce6a037ec5880ddd94234d8940269fd6cac970256b853f54e63372",
            ]),
        },
        Signed {
            address: "bc1qrqtlzcq86850yzgsyq9sssawx2qxlx5yq3xpkd",
            chain: None,
            text: "KLE5MMJBTNF4AVZXIO3GIL5UWF",
            signature: "fulAgAAAAABAUrfzHHOLAKmgCIFSTT3krp+cQxj1BDPBN4GBg3tRmFXAAAAAADgBwAAAQAAAAAAAAAAAWoCSDBFAiEAjYj85zyhQKa9DbMO0reDwdhkNwKJkF3q2qFcijXDgMUCIAaQ75s3fwqrCeYIUJugLvhxZFxQIVquGN90vIKCW3QLASEDMurnDzvc0zABUwVwCADfGXoDx/M3SQnYt7e3IHDoU3PgBwAA",
            core: Core::Parts(&[
                "8d88fce73ca140a6bd0db30ed2b783c1d864370289905deadaa15c8a35c380c5",
                "0690ef9b377f0aab09e608509ba02ef871645c50215aae18df74bc82825b740b",
            ]),
        },
        Signed {
            address: "32Utb7Seg6EXq7UesMNJXhQ1gdohYNyzQ9",
            chain: None,
            text: "EMYGZHEY3LIANYKCR7XJF3NMFQ",
            signature: "fulAgAAAAABAe5xLNMlYQH4OGjJ3h4lqQaVp0Cic7mwxkvyWswqFMXeAAAAABcWABSy/hpDH/KLAi4x25Tmb2UaO1xtWeAHAAABAAAAAAAAAAABagJHMEQCIDEleqb0n1R5c21TGkWRXNFae98wbwI0QOyh/YmRuQX1AiAcv1MhyTzPOVgZ1VIwuu0tDxrVJUHK8lhOUOXpsZnGwwEhAsjeDEoWX8hvEC8A/692yGQsPh6JBO8Zf4aITEQsKAcJ4AcAAA==",
            core: Core::Parts(&[
                "31257aa6f49f5479736d531a45915cd15a7bdf306f023440eca1fd8991b905f5",
                "1cbf5321c93ccf395819d55230baed2d0f1ad52541caf2584e50e5e9b199c6c3",
            ]),
        },
    ],
    &[],
);
