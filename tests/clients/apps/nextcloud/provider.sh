php occ user_oidc:provider countersign --clientid=$CLIENT_ID --clientsecret=$CLIENT_SECRET \
  --discoveryuri=$ISSUER/.well-known/openid-configuration --scope="openid email profile groups" \
  --mapping-uid=sub --mapping-display-name=preferred_username --mapping-groups=groups --group-provisioning=1
