import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { onTestFinished } from "vitest";

/** An issuer of access tokens over HTTP, with its metadata and its keys. */
export interface TestIssuer {
  readonly url: string;
  /** Signs a token that is valid for this audience, unless the claims say otherwise. */
  sign(claims?: TestClaims, header?: { readonly kid?: string; readonly alg?: string }): Promise<string>;
  /** Replaces the key; tokens of the old one are no longer valid. */
  rotate(): Promise<void>;
  /** Returns the public key as PEM. */
  publicKey(): Promise<string>;
  /** Number of requests for the keys. */
  readonly keyRequests: number;
  /** Answers requests for the keys with this text. */
  answerKeysWith(text: string): void;
}

export const AUDIENCE = "https://skillgate.example.com/mcp";

/** Claims of a token; `null` leaves one out. */
type TestClaims = Readonly<Record<string, unknown>>;

/** Starts an issuer for one test. */
export async function startIssuer(): Promise<TestIssuer> {
  let count = 0;
  let keyRequests = 0;
  let body: string | undefined;
  let pair = await generateKeyPair("ES256", { extractable: true });
  const kid = (): string => `key-${count}`;
  const server = createServer((request, response) => {
    void answer(request.url ?? "").then((text) => {
      response.writeHead(text === undefined ? 404 : 200, { "content-type": "application/json" }).end(text);
    });
  });
  async function answer(path: string): Promise<string | undefined> {
    if (path === "/.well-known/oauth-authorization-server")
      return JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` });
    if (path !== "/keys") return undefined;
    keyRequests++;
    return body ?? JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: kid(), alg: "ES256" }] });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sign: (claims = {}, header = {}) => signed(pair.privateKey, { iss: url, ...claims }, { kid: kid(), ...header }),
    async rotate() {
      count++;
      pair = await generateKeyPair("ES256", { extractable: true });
    },
    publicKey: () => exportSPKI(pair.publicKey),
    get keyRequests() {
      return keyRequests;
    },
    answerKeysWith(text) {
      body = text;
    },
  };
}

function signed(key: CryptoKey, claims: TestClaims, header: { readonly kid: string; readonly alg?: string }) {
  const now = Math.floor(Date.now() / 1_000);
  const all: TestClaims = { sub: "ada", aud: AUDIENCE, iat: now, exp: now + 600, ...claims };
  return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)))
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", ...header })
    .sign(key);
}
