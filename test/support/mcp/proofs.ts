import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from "jose";

/** The key of a proof by its thumbprint, or why a request is refused. */
interface CheckedProof {
  readonly key?: string;
  readonly error?: "invalid_dpop_proof" | "use_dpop_nonce";
  readonly headers: Readonly<Record<string, string>>;
}

interface ProofOptions {
  readonly nonce?: string;
  readonly isEndless?: boolean;
}

/** Checks proofs as RFC 9449 §4.3 says: each is for one request, is used once, and has the nonce of the server. */
export function createProofCheck({ nonce, isEndless = false }: ProofOptions = {}) {
  const used = new Set<unknown>();
  const headers = nonce === undefined ? {} : { "dpop-nonce": nonce };
  return async ({ method, headers: sent }: IncomingMessage, url: string, token?: string): Promise<CheckedProof> => {
    const proof = await jwtVerify(String(sent["dpop"]), EmbeddedJWK, { typ: "dpop+jwt", maxTokenAge: 60 }).catch(
      () => undefined,
    );
    if (proof === undefined) return { error: "invalid_dpop_proof", headers };
    const { htm, htu, ath, jti, nonce: sentNonce } = proof.payload;
    const hash = token === undefined ? undefined : createHash("sha256").update(token).digest("base64url");
    const isRight = htm === method && htu === url && ath === hash && !used.has(jti);
    used.add(jti);
    if (!isRight) return { error: "invalid_dpop_proof", headers };
    if (sentNonce !== nonce || isEndless) return { error: "use_dpop_nonce", headers };
    return { key: await calculateJwkThumbprint(proof.protectedHeader.jwk ?? {}), headers };
  };
}
