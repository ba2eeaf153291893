import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from "node:crypto";

/** Seals the messages of two starts of processes to each other, and opens each of them once. */
export interface Session {
  /** Returns the texts as one frame. */
  seal(...texts: readonly Uint8Array[]): Buffer;
  /** Returns the content of a frame, or why it is not used. */
  open(frame: Uint8Array): Buffer | DropReason;
}

/** Why a message of the network is dropped. */
export type DropReason = "statement" | "session_unknown" | "not_authentic" | "replayed";

/** A key for the agreement on sessions, which lives in the memory of one process only. */
export interface AgreementKey {
  readonly privateKey: KeyObject;
  /** base64url */
  readonly publicText: string;
}

export interface SealedSessionOptions {
  readonly own: AgreementKey;
  /** The public key of the other side, base64url. */
  readonly other: string;
  /** Random bytes of the side that answers: an old greeting that is sent again leads to another session. */
  readonly salt: Uint8Array;
  /** The statements of both sides. They bind the session to their names, keys and starts. */
  readonly transcript: readonly string[];
  readonly side: "client" | "server";
}

/** The random bytes of the side that answers. */
export const SALT_BYTES = 32;

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const COUNTER_BYTES = 8;
/** Frames that may arrive late, behind newer ones. NATS keeps the order of one connection. */
const WINDOW = 256;

export function createAgreementKey(): AgreementKey {
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  return { privateKey, publicText: publicKey.export({ format: "jwk" }).x ?? "" };
}

/**
 * Creates the session of two machines: an agreement (X25519) of the keys in their statements, which their Ed25519 keys have
 * signed; from it a key for each direction (HKDF-SHA256); frames of AES-256-GCM with the count of the frame as nonce.
 * Returns `undefined` for a public key that is not valid.
 */
export function createSession({ own, other, salt, transcript, side }: SealedSessionOptions): Session | undefined {
  const secret = agree(own, other);
  if (secret === undefined) return undefined;
  const keys = Buffer.from(hkdfSync("sha256", secret, salt, JSON.stringify(transcript), 2 * KEY_BYTES));
  const [toServer, toClient] = [keys.subarray(0, KEY_BYTES), keys.subarray(KEY_BYTES)];
  const [sealKey, openKey] = side === "client" ? [toServer, toClient] : [toClient, toServer];
  const received = new Float64Array(WINDOW);
  let [sent, highest] = [0, 0];

  return {
    seal(...texts) {
      const nonce = toNonce(++sent);
      const cipher = createCipheriv(CIPHER, sealKey, nonce);
      const sealed = texts.map((text) => cipher.update(text));
      return Buffer.concat([nonce.subarray(-COUNTER_BYTES), ...sealed, cipher.final(), cipher.getAuthTag()]);
    },
    open(bytes) {
      const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (frame.length < COUNTER_BYTES + TAG_BYTES) return "not_authentic";
      const counter = Number(frame.readBigUInt64BE());
      if (counter === 0 || !Number.isSafeInteger(counter)) return "not_authentic";
      const isOld = counter <= highest - WINDOW || received[counter % WINDOW] === counter;
      if (isOld) return "replayed";
      const text = decipher(openKey, toNonce(counter), frame.subarray(COUNTER_BYTES));
      if (text === undefined) return "not_authentic";
      received[counter % WINDOW] = counter;
      highest = Math.max(highest, counter);
      return text;
    },
  };
}

function agree({ privateKey }: AgreementKey, other: string): Buffer | undefined {
  try {
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x: other }, format: "jwk" });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return undefined; // the key is too short, or a point of low order
  }
}

function toNonce(counter: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(counter), 4);
  return nonce;
}

function decipher(key: Uint8Array, nonce: Uint8Array, sealed: Buffer): Buffer | undefined {
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, -TAG_BYTES)), cipher.final()]);
  } catch {
    return undefined; // another key or another text
  }
}
