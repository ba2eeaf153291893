/** How a service proves that it sent a delivery. */
export type Scheme = HmacScheme | TokenScheme;

interface CommonScheme {
  /** The header with the signatures or the token. All names of headers are in lower case. */
  readonly header: string;
  /** The text before each signature, or before the token: `sha256=`. */
  readonly prefix: string;
  /** The id of a delivery, which is the same in each attempt to send it. */
  readonly id?: FactSource;
  /** The kind of the event: the first one of these that a delivery has. */
  readonly event: readonly FactSource[];
  /** Headers that a program may read, beside `content-type`. They are not signed. */
  readonly shownHeaders: readonly string[];
  /** The field of a form that has JSON, which is the body then. */
  readonly formField?: string;
  /** Returns the JSON that answers a request that only tests the webhook; `undefined` for a delivery. */
  readonly findAnswer?: (body: unknown, event: string | undefined) => string | undefined;
}

/** The service signs the body, and facts about the delivery, with a secret that both know (RFC 2104). */
export interface HmacScheme extends CommonScheme {
  readonly type: "hmac";
  readonly algorithm: HmacAlgorithm;
  readonly encoding: "hex" | "base64";
  /** Separates the signatures of one header. */
  readonly separator: RegExp;
  readonly signed: readonly SignedPart[];
  /** The time of the delivery, in seconds or milliseconds since 1970, or in ISO 8601. */
  readonly timestamp?: FactSource;
  /** `whsec`: base64 after `whsec_` or without it. */
  readonly secretForm: "text" | "whsec";
}

/** The service sends a secret with each delivery. */
export interface TokenScheme extends CommonScheme {
  readonly type: "token";
}

export const HMAC_ALGORITHMS = { sha256: 32, sha1: 20, sha512: 64 } as const; // with the bytes of a signature

export type HmacAlgorithm = keyof typeof HMAC_ALGORITHMS;

export const SIGNED_FIELDS = ["body", "timestamp", "id"] as const;

/** A part of the signed text. */
export type SignedPart =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "field"; readonly field: (typeof SIGNED_FIELDS)[number] };

/** Where a delivery has a fact: in a header, after a prefix beside the signatures, or in a field of the JSON body. */
export type FactSource =
  | { readonly in: "header"; readonly name: string }
  | { readonly in: "signature"; readonly prefix: string }
  | { readonly in: "body"; readonly path: readonly string[] };

/** Parses `{timestamp}.{body}`. Braces that name no field are literals. */
export function parseSignedText(pattern: string): readonly SignedPart[] {
  return pattern.split(/(\{[^{}]*\})/).flatMap((text): SignedPart[] => {
    const field = SIGNED_FIELDS.find((each) => text === `{${each}}`);
    if (field !== undefined) return [{ kind: "field", field }];
    return text === "" ? [] : [{ kind: "literal", text }];
  });
}

/** Signatures are hexadecimal or base64, and have none of these. */
export const SIGNATURE_SEPARATOR = /[\s,;]+/;

export const fromHeader = (name: string): FactSource => ({ in: "header", name: name.toLowerCase() });
export const fromBody = (path: string): FactSource => ({ in: "body", path: path.split(".") });
