import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { getMessage, sentence, SkillgateError } from "../../../errors.ts";
import { parseJson, toRecord } from "../../../model/json.ts";
import { makeFolderSync } from "../../../shared/files/make-folder.ts";

type TokenEnvironment = Readonly<Record<string, string | undefined>>;

/** Verifies tokens against the stored hash. */
export interface KnownToken {
  readonly isToken: (text: string) => boolean;
  /** The token itself, only when it was just created. */
  readonly created?: string;
  readonly file?: string;
}

/** Returns the path of the file with the hash of the token. */
export function tokenFile(env: TokenEnvironment): string {
  const config = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  return join(config, "skillgate", "server-token.json");
}

/**
 * Opens the bearer token of this user's servers. It is created at the first start, and only its hash is stored.
 * `SKILLGATE_TOKEN` overrides it and is never stored.
 */
export function openToken(env: TokenEnvironment, { renew }: { readonly renew: boolean }): KnownToken {
  const existing = findToken(env, { renew });
  if (existing !== undefined) return existing;
  const file = tokenFile(env);
  const created = `sgt_${randomBytes(32).toString("base64url")}`;
  const others = writeHash(file, created, renew) ? undefined : findToken(env, { renew: false });
  if (others !== undefined) return others;
  const hash = hashToken(created);
  return { isToken: (text) => isSame(hashToken(text), hash), created, file };
}

/** The same without creating a token; `undefined` if one is to be created. */
export function findToken(env: TokenEnvironment, { renew }: { readonly renew: boolean }): KnownToken | undefined {
  const envToken = env["SKILLGATE_TOKEN"];
  if (envToken !== undefined && envToken !== "") {
    refuseShort(envToken);
    return { isToken: (text) => isSame(hashToken(text), hashToken(envToken)) };
  }
  const file = tokenFile(env);
  const stored = renew ? undefined : readHash(file);
  return stored && { isToken: (text) => isSame(hashToken(text), stored), file };
}

const MIN_TOKEN_CHARACTERS = 16;

function refuseShort(token: string): void {
  if (token.length >= MIN_TOKEN_CHARACTERS) return;
  const values = `SKILLGATE_TOKEN has ${token.length} characters; use at least ${MIN_TOKEN_CHARACTERS} random ones`;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", values));
}

function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function readHash(file: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(file, getMessage(thrown));
  }
  const hash = parseHash(text);
  // A broken file must neither disable authentication nor silently replace the token.
  if (hash === undefined) throw unusable(file, "it contains no token; start once with --new-token to replace it");
  return hash;
}

function parseHash(text: string): Buffer | undefined {
  const { sha256 } = toRecord(parseJson(text));
  return typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) ? Buffer.from(sha256, "hex") : undefined;
}

/** Returns false if another process has created the file at the same moment: its token counts. */
function writeHash(file: string, token: string, mayReplace: boolean): boolean {
  const stored = {
    sha256: hashToken(token).toString("hex"),
    prefix: token.slice(0, 8),
    created: new Date().toISOString(),
  };
  try {
    makeFolderSync(dirname(file), 0o700);
    // Another process reads the whole file or none, and of two that create it only one shows its token.
    const draft = `${file}.${randomUUID()}.tmp`;
    try {
      writeFileSync(draft, `${JSON.stringify(stored)}\n`, { mode: 0o600 });
      if (mayReplace) renameSync(draft, file);
      else createFrom(draft, file);
      return true;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw thrown;
    } finally {
      rmSync(draft, { force: true });
    }
  } catch (thrown) {
    throw unusable(file, getMessage(thrown));
  }
}

/** Throws `EEXIST` for a file that is there. Where a folder can have no links, the file is copied. */
function createFrom(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") throw thrown;
    copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

function unusable(file: string, why: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", `"${file}": ${why}`));
}
