//! Any text at all, read as a signature and as keys.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn whatever_comes_is_refused_and_nothing_panics(
        header in prop_oneof![".{0,80}", r#"\{"alg":"(RS256|ES256|EdDSA|PS256|ES384)"(,"(typ|kid|jwk)":("x"|\{\}|1)){0,2}\}"#],
        payload in ".{0,80}",
        signature in proptest::collection::vec(any::<u8>(), 0..600),
        keys in prop_oneof![".{0,80}", r#"\{"keys":\[(\{"kty":"(RSA|EC|OKP|oct)"(,"(n|e|x|y|crv)":"[A-Za-z0-9_-]{0,90}"){0,4}\},?){0,2}\]\}"#],
    ) {
        let [header, payload] = [header, payload].map(|part| URL_SAFE_NO_PAD.encode(part));
        let jws = format!("{header}.{payload}.{}", URL_SAFE_NO_PAD.encode(signature));
        prop_assert!(JosekitReader.read_signed(&jws, &keys).is_err());
        prop_assert!(JosekitReader.read_self_signed(&jws).is_err());
        let _ = JosekitReader.check_keys(&keys);
    }

    #[test]
    fn points_that_are_on_no_curve_verify_nothing(x in any::<[u8; 32]>(), y in any::<[u8; 32]>(), signature in any::<[u8; 32]>()) {
        let [x, y] = [x, y].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        for (algorithm, key) in [
            ("ES256", format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#)),
            ("EdDSA", format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#)),
        ] {
            let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}"}}"#));
            let signature = URL_SAFE_NO_PAD.encode([signature, signature].as_flattened());
            let jws = format!("{header}.e30.{signature}");
            let keys = format!(r#"{{"keys":[{key}]}}"#);
            prop_assert!(JosekitReader.read_signed(&jws, &keys).is_err());
        }
    }
}
