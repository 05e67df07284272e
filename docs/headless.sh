#!/usr/bin/env bash
# A program signs in with a wallet but without a browser, using curl and jq. See docs/headless.md.
#
#   BASE         the server                 (http://localhost:8080)
#   COUNTERSIGN  the binary with the wallet (./target/trial/countersign)
set -euo pipefail

BASE=${BASE:-http://localhost:8080}
COUNTERSIGN=${COUNTERSIGN:-./target/trial/countersign}
WALLET_SIGNATURE=urn:countersign:params:oauth:grant-type:wallet-signature

workspace=$(mktemp -d)
trap 'rm -rf "$workspace"' EXIT
# If the server returns an error, show its body and stop.
request() { curl --silent --show-error --fail-with-body "$@"; }

echo "1. The client registers, for this grant type and without a redirect URI"
client=$(request "$BASE/oauth/clients" --json "$(jq -n --arg grant "$WALLET_SIGNATURE" \
  '{client_name: "Nightly backup", grant_types: [$grant, "refresh_token"], scope: "openid profile",
    token_endpoint_auth_method: "client_secret_basic"}')")
client_id=$(jq -r .client_id <<<"$client")
client_secret=$(jq -r .client_secret <<<"$client")
echo "   client_id $client_id"

echo "2. The program asks for a text"
address=$("$COUNTERSIGN" demo-wallet address --key-file "$workspace/wallet.key")
request "$BASE/oauth/challenge" --json "$(jq -n --arg id "$client_id" --arg address "$address" \
  '{client_id: $id, wallet_address: $address, scope: "openid profile"}')" |
  jq -j .challenge >"$workspace/sign-in.txt"
sed 's/^/   | /' "$workspace/sign-in.txt"
echo

echo "3. The wallet signs it, byte for byte"
"$COUNTERSIGN" demo-wallet sign --key-file "$workspace/wallet.key" --text-file "$workspace/sign-in.txt" >"$workspace/signature"

echo "4. The signed text is exchanged for tokens"
tokens=$(request "$BASE/oauth/token" --user "$client_id:$client_secret" --data-urlencode "grant_type=$WALLET_SIGNATURE" \
  --data-urlencode "challenge@$workspace/sign-in.txt" --data-urlencode "signature=$(cat "$workspace/signature")")
jq -c '{token_type, expires_in, scope}' <<<"$tokens" | sed 's/^/   /'
request "$BASE/oauth/userinfo" --header "Authorization: Bearer $(jq -r .access_token <<<"$tokens")" | jq . | sed 's/^/   /'
