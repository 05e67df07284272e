#!/usr/bin/env bash
# The eight steps of a sign-in, with curl and jq. Only the signature needs a wallet, so the script creates a throw-away one.
#
#   BASE         the server                 (http://localhost:8080)
#   COUNTERSIGN  the binary with the wallet (./target/trial/countersign)
set -euo pipefail

BASE=${BASE:-http://localhost:8080}
COUNTERSIGN=${COUNTERSIGN:-./target/trial/countersign}
REDIRECT_URI=http://127.0.0.1:9999/callback
STATE=$RANDOM$RANDOM

workspace=$(mktemp -d)
trap 'rm -rf "$workspace"' EXIT
cookies=$workspace/cookies
touch "$cookies"
# If the server returns an error, show its body and stop.
request() { curl --silent --show-error --fail-with-body --cookie "$cookies" --cookie-jar "$cookies" "$@"; }
location() { request --output /dev/null --write-out '%{redirect_url}' "$@"; }

echo "1. The client registers"
client=$(request "$BASE/oauth/clients" --json "$(jq -n --arg uri "$REDIRECT_URI" \
  '{client_name: "Eight steps", redirect_uris: [$uri]}')")
client_id=$(jq -r .client_id <<<"$client")
client_secret=$(jq -r .client_secret <<<"$client")
echo "   client_id $client_id"

echo "2. The client sends the person to the server"
page=$(location --get "$BASE/oauth/authorize" --data-urlencode "client_id=$client_id" \
  --data-urlencode "redirect_uri=$REDIRECT_URI" --data-urlencode "response_type=code" \
  --data-urlencode "scope=profile" --data-urlencode "state=$STATE")
echo "   redirected to $page"

echo "3. The person signs the server's text with a wallet"
address=$("$COUNTERSIGN" demo-wallet address --key-file "$workspace/wallet.key")
challenge=$(request "$BASE/oauth/challenge" --json "$(jq -n --arg address "$address" '{wallet_address: $address}')" |
  jq -j .challenge)
signature=$(printf %s "$challenge" | "$COUNTERSIGN" demo-wallet sign --key-file "$workspace/wallet.key")
sed 's/^/   | /' <<<"$challenge"

echo "4. The person goes back to the client with a code"
callback=$(location "$BASE/oauth/login" --header "Accept:" --json "$(jq -n --arg address "$address" --arg challenge "$challenge" \
  --arg signature "$signature" --arg id "$client_id" --arg uri "$REDIRECT_URI" --arg state "$STATE" \
  '{wallet_address: $address, challenge: $challenge, signature: $signature,
    client_id: $id, redirect_uri: $uri, state: $state}')")
[[ $callback == *"state=$STATE"* ]] || { echo "the state does not match: $callback" >&2; exit 1; }
code=$(sed -E 's/.*[?&]code=([^&]*).*/\1/' <<<"$callback")
echo "   redirected to ${callback%%\?*} with a code of ${#code} characters"

echo "5. The client exchanges the code for tokens"
tokens=$(request "$BASE/oauth/token" --data-urlencode "grant_type=authorization_code" --data-urlencode "code=$code" \
  --data-urlencode "redirect_uri=$REDIRECT_URI" --data-urlencode "client_id=$client_id" \
  --data-urlencode "client_secret=$client_secret")
jq -c '{token_type, expires_in, scope}' <<<"$tokens" | sed 's/^/   /'

echo "6. The client asks who signed in"
request "$BASE/oauth/userinfo" --header "Authorization: Bearer $(jq -r .access_token <<<"$tokens")" | jq . | sed 's/^/   /'

echo "7. The client refreshes the tokens"
tokens=$(request "$BASE/oauth/token" --data-urlencode "grant_type=refresh_token" \
  --data-urlencode "refresh_token=$(jq -r .refresh_token <<<"$tokens")" --data-urlencode "client_id=$client_id" \
  --data-urlencode "client_secret=$client_secret")
echo "   a new access token and a new refresh token"

echo "8. The client revokes them"
request "$BASE/oauth/revoke" --output /dev/null --json "$(jq -n --arg token "$(jq -r .refresh_token <<<"$tokens")" \
  --arg id "$client_id" --arg secret "$client_secret" '{token: $token, client_id: $id, client_secret: $secret}')"
status=$(curl --silent --output /dev/null --write-out '%{http_code}' "$BASE/oauth/userinfo" \
  --header "Authorization: Bearer $(jq -r .access_token <<<"$tokens")")
echo "   the access token now gets $status"
[[ $status == 401 ]]
