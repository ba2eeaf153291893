import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFile } from "node:fs/promises";

import { sentence, SkillgateError } from "../errors.ts";
import { isRecord, parseJson, parseJsonObject } from "../model/json.ts";
import type { NetworkSettings } from "./settings.ts";
import { PROTOCOL } from "./subjects.ts";

/** The kinds of statements before there is a session: `announcement` to all, `hello` to one machine. */
export type StatementKind = "announcement" | "hello";

/** Signs the statements of this machine, and reads those of others. */
export interface Statements {
  /** True if only machines with a key in `peers` are believed. */
  readonly areVerified: boolean;
  /** Returns a statement as it is sent; it is signed if this machine has a key. */
  create(kind: StatementKind, facts: Readonly<Record<string, unknown>>): Buffer;
  /** Reads a statement of a machine. Bytes of anyone are allowed. */
  read(kind: StatementKind, device: string, bytes: Uint8Array): ReadStatement;
}

export type ReadStatement =
  | { readonly facts: Readonly<Record<string, unknown>>; readonly text: string }
  /** Says why the statement is not used. */
  | { readonly flaw: string };

const MAX_STATEMENT_BYTES = 4_096;

/** Signatures that are checked in one second: a check takes a tenth of a millisecond, and anyone can invent a signature. */
const MAX_CHECKS_PER_SECOND = 1_000;

/** Reads the keys. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function openStatements({ keyFile, peers }: NetworkSettings): Promise<Statements> {
  const privateKey =
    keyFile === undefined ? undefined : readKey(`in ${keyFile}`, createPrivateKey, await readFile(keyFile));
  const keys = new Map(
    [...peers].map(([device, text]) => {
      const der = { key: Buffer.from(text, "base64url"), format: "der", type: "spki" } as const;
      return [device, readKey(`of ${device}`, createPublicKey, der)];
    }),
  );
  const mayCheck = createBudget();

  function findFlaw(device: string, message: Uint8Array, signature: unknown): string | undefined {
    const key = keys.get(device);
    if (key === undefined) return "the setting peers has no key of it";
    if (!mayCheck()) return "too many machines announce themselves";
    const isValid = typeof signature === "string" && verify(null, message, key, Buffer.from(signature, "base64url"));
    return isValid ? undefined : "it has not signed with the key that the setting peers has of it";
  }

  return {
    areVerified: keys.size > 0,
    create(kind, facts) {
      const text = JSON.stringify(facts);
      const signature = privateKey && {
        signature: sign(null, toMessage(kind, text), privateKey).toString("base64url"),
      };
      return Buffer.from(JSON.stringify({ protocol: PROTOCOL, text, ...signature }));
    },
    read(kind, device, bytes) {
      const statement = bytes.length > MAX_STATEMENT_BYTES ? undefined : parseJson(Buffer.from(bytes).toString("utf8"));
      const { protocol = 1, text, signature } = isRecord(statement) ? statement : {};
      if (Number.isSafeInteger(protocol) && protocol !== PROTOCOL)
        return { flaw: describeProtocol(protocol as number) };
      const facts = typeof text === "string" ? parseJsonObject(text) : undefined;
      if (typeof text !== "string" || facts === undefined) return { flaw: "its announcement cannot be read" };
      const flaw = keys.size === 0 ? undefined : findFlaw(device, toMessage(kind, text), signature);
      return flaw === undefined ? { facts, text } : { flaw };
    },
  };
}

/** Says that a machine has another version of the protocol. */
export function describeProtocol(protocol: number): string {
  return `it speaks version ${protocol} of the network's protocol, and this process version ${PROTOCOL}: install the same version of Skillgate`;
}

function toMessage(kind: StatementKind, text: string): Buffer {
  return Buffer.from(`skillgate ${kind} ${PROTOCOL}\n${text}`);
}

function createBudget(): () => boolean {
  let [second, count] = [0, 0];
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    return ++count <= MAX_CHECKS_PER_SECOND;
  };
}

function readKey<Input>(whose: string, read: (input: Input) => KeyObject, input: Input): KeyObject {
  const says = sentence("OPTION_INVALID", `the key ${whose} is not an Ed25519 key`);
  try {
    const key = read(input);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (cause) {
    throw new SkillgateError("OPTION_INVALID", says, {}, { cause });
  }
  throw new SkillgateError("OPTION_INVALID", says);
}
