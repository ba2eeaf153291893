import { createPublicKey } from "node:crypto";

import { DPOP_SUPPORTED_ALGS, type DpopAlg, DpopSession, generateDpopKeyPair } from "@modelcontextprotocol/client";

import { isRecord } from "../../../model/json.ts";

/** The key to which tokens are bound (RFC 9449), as it is stored with them. */
export interface ProofKey {
  readonly alg: DpopAlg;
  /** PEM */
  readonly private_key: string;
}

export function parseProofKey(stored: unknown): ProofKey | undefined {
  if (!isRecord(stored) || typeof stored["private_key"] !== "string") return undefined;
  return DPOP_SUPPORTED_ALGS.some((alg) => alg === stored["alg"]) ? (stored as unknown as ProofKey) : undefined;
}

/** Creates a key for an algorithm that the authorization server accepts; ES256 if it does not say which. */
export async function createProofKey(accepted: readonly string[] = [DEFAULT_ALGORITHM]): Promise<ProofKey> {
  const alg = DPOP_SUPPORTED_ALGS.find((each) => accepted.includes(each));
  if (alg === undefined)
    throw new Error(
      `the authorization server accepts proofs only by ${JSON.stringify(accepted).slice(0, 200)}, and this client signs by ${DPOP_SUPPORTED_ALGS.join(", ")}`,
    );
  const { exportPKCS8 } = await import("jose");
  const { privateKey } = await generateDpopKeyPair({ alg, extractable: true });
  return { alg, private_key: await exportPKCS8(privateKey) };
}

const DEFAULT_ALGORITHM = "ES256";

/** Signs the proofs of a server's requests. A session keeps the nonces that it has received, so it is reused for its key. */
export class ProofSessions {
  #last: { readonly key: string; readonly session: Promise<DpopSession> } | undefined;

  open(key: ProofKey): Promise<DpopSession> {
    if (this.#last?.key !== key.private_key) this.#last = { key: key.private_key, session: openSession(key) };
    return this.#last.session;
  }
}

async function openSession({ alg, private_key }: ProofKey): Promise<DpopSession> {
  const { calculateJwkThumbprint, exportJWK, importPKCS8, importSPKI } = await import("jose");
  const publicPem = createPublicKey(private_key).export({ format: "pem", type: "spki" }) as string;
  const publicKey = await importSPKI(publicPem, alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const thumbprint = await calculateJwkThumbprint(publicJwk);
  const privateKey = await importPKCS8(private_key, alg);
  return DpopSession.create({ keyPair: { alg, privateKey, publicKey, publicJwk, thumbprint } });
}
