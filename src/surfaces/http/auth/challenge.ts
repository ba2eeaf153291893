import { rpcError, type RpcError } from "../../../shared/rpc-errors.ts";
import type { Authentication } from "./authenticate.ts";

/** The facts that a challenge tells clients about the issuer of access tokens. */
export interface ChallengeFacts {
  /** URL of the protected-resource metadata. */
  readonly metadata: string;
  /** Scopes that clients should ask for. */
  readonly scopes: readonly string[];
  /** Returns the scopes of the issuer that give scopes of the policy. */
  readonly toIssuerScopes: (scopes: readonly string[]) => readonly string[];
}

/** The header of an answer that asks for an access token, or for one with more scopes. */
export type ChallengeHeaders = { readonly "www-authenticate": string };

/** The refusal of a request without a valid token. */
export interface AuthenticationRefusal {
  readonly status: 401 | 403;
  readonly error: RpcError;
  readonly headers: ChallengeHeaders;
}

/** Describes why a sender is refused; the words do not say whether a token is unknown, expired or revoked. */
export function refuseSender(
  sender: Exclude<Authentication, { readonly kind: "caller" }>,
  facts: ChallengeFacts | undefined,
  traceId?: string,
): AuthenticationRefusal {
  if (sender.kind === "insufficient") return refuseScopes(sender.scopes, facts, traceId);
  const parameters = sender.kind === "invalid" ? [`error="invalid_token"`] : [];
  return {
    status: 401,
    error: rpcError("AuthenticationError", "A valid bearer token is missing", {
      ...(traceId !== undefined && { trace_id: traceId }),
      suggestions: [
        "Send the header Authorization: Bearer with a key of skillgate keys create, or the token that the server printed at its first start",
        "If the token is lost, create a new one with skillgate serve --http --new-token",
      ],
    }),
    headers: { "www-authenticate": formatChallenge([...parameters, ...formatFacts(facts, facts?.scopes ?? [])]) },
  };
}

/** Describes the scopes that an access token lacks. */
export function refuseScopes(
  scopes: readonly string[],
  facts: ChallengeFacts | undefined,
  traceId?: string,
): AuthenticationRefusal {
  const list = scopes.join(" ");
  return {
    status: 403,
    error: rpcError("AuthorizationError", `The access token lacks a scope. Required: ${list}`, {
      ...(traceId !== undefined && { trace_id: traceId }),
      suggestions: [`Ask the issuer for an access token with: ${list}`],
    }),
    headers: challengeScopes(scopes, facts),
  };
}

/** Returns the header that MCP defines for a call that lacks scopes; `undefined` for an error with another cause. */
export function findScopeChallenge(
  { data: { required_scopes: required } }: RpcError,
  facts: ChallengeFacts | undefined,
): ChallengeHeaders | undefined {
  return required && challengeScopes(facts?.toIssuerScopes(required) ?? required, facts);
}

function challengeScopes(scopes: readonly string[], facts: ChallengeFacts | undefined): ChallengeHeaders {
  return { "www-authenticate": formatChallenge([`error="insufficient_scope"`, ...formatFacts(facts, scopes)]) };
}

function formatFacts(facts: ChallengeFacts | undefined, scopes: readonly string[]): readonly string[] {
  const plain = scopes.filter((scope) => SCOPE_TOKEN.test(scope));
  return [
    ...(plain.length > 0 ? [`scope="${plain.join(" ")}"`] : []),
    ...(facts === undefined ? [] : [`resource_metadata="${facts.metadata}"`]),
  ];
}

/** A scope as RFC 6749 defines it; others cannot be written into the header. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

function formatChallenge(parameters: readonly string[]): string {
  return parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`;
}
