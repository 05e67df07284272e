gitea admin auth add-oauth --name countersign --provider openidConnect \
  --auto-discover-url $ISSUER/.well-known/openid-configuration \
  --key $CLIENT_ID --secret $CLIENT_SECRET \
  --scopes profile --scopes email --scopes groups --group-claim-name groups
