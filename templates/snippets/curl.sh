#!/usr/bin/env bash
# Signs a user in with curl, openssl and jq. The browser's part is yours: open the address, sign, and paste where you land.
set -euo pipefail

ISSUER='%ISSUER%'
CLIENT_ID='%CLIENT_ID%'
CLIENT_SECRET='%CLIENT_SECRET%' # [confidential]
REDIRECT_URI='%REDIRECT_URI%'
CREDENTIALS=(--data-urlencode "client_id=$CLIENT_ID")
CREDENTIALS+=(--data-urlencode "client_secret=$CLIENT_SECRET") # [confidential]

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
STATE=$(openssl rand 32 | base64url)
VERIFIER=$(openssl rand 32 | base64url)
CHALLENGE=$(printf %s "$VERIFIER" | openssl sha256 -binary | base64url)
encoded() { jq -rn --arg text "$1" '$text | @uri'; }

echo "Open this address, and sign in:"
echo "$ISSUER/oauth/authorize?response_type=code&client_id=$CLIENT_ID&redirect_uri=$(encoded "$REDIRECT_URI")&scope=$(encoded '%SCOPE%')&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"
echo "The browser then lands at an address that may not load. Paste that address here:"
read -r LANDED
[[ $LANDED == *"state=$STATE"* ]] || { echo "The state does not match." >&2; exit 1; }
CODE=$(sed -E 's/.*[?&]code=([^&]*).*/\1/' <<<"$LANDED")

TOKENS=$(curl --silent --show-error --fail-with-body "$ISSUER/oauth/token" "${CREDENTIALS[@]}" \
  --data-urlencode "grant_type=authorization_code" --data-urlencode "code=$CODE" \
  --data-urlencode "redirect_uri=$REDIRECT_URI" --data-urlencode "code_verifier=$VERIFIER")

curl --silent --show-error --fail-with-body "$ISSUER/oauth/userinfo" \
  --header "Authorization: Bearer $(jq -r .access_token <<<"$TOKENS")" | jq .
