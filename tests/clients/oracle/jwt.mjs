// JSON Web Tokens that clients make: assertions, DPoP proofs, and invalid ones.

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
export const now = () => Math.floor(Date.now() / 1000);

/** A key pair with its public half as a JSON Web Key. */
export class Key {
  constructor(algorithm = "ES256") {
    this.algorithm = algorithm;
    const pair = algorithm === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
    this.private = pair.privateKey;
    this.jwk = { ...pair.publicKey.export({ format: "jwk" }), alg: algorithm, use: "sig", kid: algorithm };
    this.bare = pair.publicKey.export({ format: "jwk" });
  }

  /** The private half, to show that it is refused. */
  get secret() {
    return this.private.export({ format: "jwk" });
  }

  sign(claims, header = {}) {
    const input = `${encode({ alg: this.algorithm, ...header })}.${encode(claims)}`;
    return `${input}.${sign("sha256", Buffer.from(input), { key: this.private, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  }
}

/** A token without a signature. */
export const unsigned = (claims) => `${encode({ alg: "none" })}.${encode(claims)}.`;

/** A client's assertion for the token endpoint (RFC 7523). */
export function assertion(site, client, key, claims = {}, header = {}) {
  const own = { iss: client.client_id, sub: client.client_id, aud: site.issuer, jti: randomUUID(), iat: now(), exp: now() + 60 };
  return key.sign({ ...own, ...claims }, header);
}

/** A DPoP proof (RFC 9449). */
export function proof(key, method, url, claims = {}, header = {}) {
  return key.sign({ htm: method, htu: url, jti: randomUUID(), iat: now(), ...claims }, { typ: "dpop+jwt", jwk: key.bare, ...header });
}

/** The hash of an access token for a proof. */
export const hashOf = (token) => createHash("sha256").update(token).digest("base64url");
