# Gets tokens for a shell with oidc-agent, which registers a client by itself. The browser is redirected to a
# port of the agent's.
set -euo pipefail

eval "$(oidc-agent --quiet)" > /dev/null
trap 'kill "$OIDCD_PID"' EXIT
for try in {1..50}; do oidc-add --loaded > /dev/null 2>&1 && break; sleep 0.1; done # It starts to listen a moment after it prints its socket.
oidc-gen countersign --iss="$ISSUER" --scope="openid profile offline_access" --flow=code --port="${APP_URL##*:}" \
  --no-url-call --prompt=none --no-save --confirm-default
printf '{"tokens":{"access_token":"%s"}}\n' "$(oidc-token countersign)"

while read -r step; do
  case $step in
    userinfo) curl -fsS -H "Authorization: Bearer $(oidc-token countersign)" "$ISSUER/oauth/userinfo" ;;
    refresh) printf '{"tokens":{"access_token":"%s"}}' "$(oidc-token --force-new countersign)" ;;
  esac
  echo
done
