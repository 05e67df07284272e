//! JSON-RPC 2.0 as Ethereum nodes use it, parsed strictly.

use countersign_strict_json as strict_json;
use serde_json::{Value, json};

/// A node's answer.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Result(Value),
    Error { code: i64, message: String },
}

/// Writes a request.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Reads the answer to the request with this id: either a result or an error. A batch of answers is refused,
/// and so is an object with duplicate names.
pub(super) fn read(body: &[u8], id: u64) -> Result<Answer, &'static str> {
    let Some(mut answer) = strict_json::object(body) else {
        return Err("its answer is not a JSON object without duplicate names");
    };
    if answer.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err("its answer is not JSON-RPC 2.0");
    }
    if answer.get("id").and_then(Value::as_u64) != Some(id) {
        return Err("it answered another request");
    }
    match (answer.remove("result"), answer.remove("error")) {
        (Some(result), None) => Ok(Answer::Result(result)),
        (None, Some(error)) => {
            let code = error.get("code").and_then(Value::as_i64);
            let message = error.get("message").and_then(Value::as_str);
            let (Some(code), Some(message)) = (code, message) else {
                return Err("it answered with an error that has no code or no message");
            };
            Ok(Answer::Error { code, message: message.to_owned() })
        }
        (Some(_), Some(_)) | (None, None) => {
            Err("it answered with neither a result nor an error, or with both")
        }
    }
}

/// Reads bytes: `0x` and an even number of digits.
pub(super) fn data(result: &Value) -> Option<Vec<u8>> {
    hex::decode(result.as_str()?.strip_prefix("0x")?).ok()
}

/// Reads a number: `0x` and digits without leading zeros.
pub(super) fn quantity(result: &Value) -> Option<u64> {
    let digits = result.as_str()?.strip_prefix("0x")?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (format!("{number:x}") == digits.to_ascii_lowercase()).then_some(number)
}

/// True if this error of `eth_call` came from the contract and not from the node. A contract's owner can
/// cause these, so they must not count against the node. Nodes agree on code 3 for a revert with a reason,
/// and on little else.
pub(super) fn is_the_contracts(code: i64, message: &str) -> bool {
    /// Parity's code for every halt. Nodes derived from it kept the code.
    const VM_EXECUTION_ERROR: i64 = -32_015;
    const HALTS: [&str; 12] = [
        "revert",
        "out of gas",
        "outofgas",
        "gas required exceeds",
        "gas uint64 overflow",
        "invalid opcode",
        "opcodenotfound",
        "invalid jump",
        "invalidjump",
        "stack underflow",
        "evm error",
        "vm execution error",
    ];
    let message = message.to_ascii_lowercase();
    code == 3 || code == VM_EXECUTION_ERROR || HALTS.iter().any(|halt| message.contains(halt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_result_or_an_error_of_this_request() {
        let read = |text: &str| read(text.as_bytes(), 7);
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":"0x"}"#), Ok(Answer::Result(json!("0x"))));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Ok(Answer::Result(Value::Null)));
        let error = Answer::Error { code: -32005, message: "slow down".to_owned() };
        let text = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32005,"message":"slow down","data":1}}"#;
        assert_eq!(read(text), Ok(error));
        let refused = [
            "",
            "[]",
            "null",
            "\u{0}",
            r#"{"jsonrpc":"2.0","id":7,"result":"0x"}]"#,
            r#"[{"jsonrpc":"2.0","id":7,"result":"0x"}]"#,
            r#"{"jsonrpc":"1.0","id":7,"result":"0x"}"#,
            r#"{"id":7,"result":"0x"}"#,
            r#"{"jsonrpc":"2.0","result":"0x"}"#,
            r#"{"jsonrpc":"2.0","id":8,"result":"0x"}"#,
            r#"{"jsonrpc":"2.0","id":"7","result":"0x"}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":"0x"}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"0x","error":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"0x","result":"0x"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"0x","res\u0075lt":"0x01"}"#,
            r#"{"jsonrpc":"2.0","id":8,"result":"0x","id":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"no","code":-32005}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"0x"} {"jsonrpc":"2.0","id":7,"result":"0x"}"#,
            r#"[{"jsonrpc":"2.0","id":8,"result":"0x"},{"jsonrpc":"2.0","id":7,"result":"0x"}]"#,
            r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":"3","message":"no"}}"#,
            &"[".repeat(60_000),
        ];
        for text in refused {
            assert!(read(text).is_err(), "{text:.80}");
        }
    }

    #[test]
    fn bytes_and_numbers_have_one_form() {
        assert_eq!(data(&json!("0x")), Some(Vec::new()));
        assert_eq!(data(&json!("0x00fF")), Some(vec![0, 255]));
        for other in
            [json!(null), json!(""), json!("00"), json!("0x0"), json!("0xg0"), json!("0X00"), json!(0)]
        {
            assert_eq!(data(&other), None, "{other}");
        }
        assert_eq!(quantity(&json!("0x0")), Some(0));
        assert_eq!(quantity(&json!("0x2105")), Some(8453));
        assert_eq!(quantity(&json!("0xffffffffffffffff")), Some(u64::MAX));
        for other in
            [json!(1), json!("1"), json!("0x"), json!("0x01"), json!("0x+1"), json!("0x10000000000000000")]
        {
            assert_eq!(quantity(&other), None, "{other}");
        }
    }

    #[test]
    fn what_becomes_of_a_contract_is_told_from_trouble_of_the_node() {
        let contracts = [
            (3, "execution reverted: no"),
            (-32000, "execution reverted"),
            (-32000, "out of gas"),
            (-32000, "invalid opcode: INVALID"),
            (-32015, "VM execution error."),
            (-32603, "EVM error OutOfGas"),
        ];
        for (code, message) in contracts {
            assert!(is_the_contracts(code, message), "{message}");
        }
        for (code, message) in
            [(-32005, "limit exceeded"), (-32603, "internal error"), (-32601, "method not found")]
        {
            assert!(!is_the_contracts(code, message), "{message}");
        }
    }
}
