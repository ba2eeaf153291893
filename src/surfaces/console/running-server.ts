import { timingSafeEqual, createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parseJson, toRecord } from "../../model/json.ts";
import { fetchSameServer } from "../../shared/http/fetch-same-server.ts";
import { makeFolderSync } from "../../shared/files/make-folder.ts";

/** A server of the project that runs, as its file describes it. */
interface RunningServer {
  readonly url: string;
  /** Proves to the server that the sender may read the files of its user. */
  readonly secret: string;
}

/** The right of commands of the same user to ask a server for login links. */
export interface LinkSecret {
  readonly text: string;
  matches(text: string): boolean;
}

export function createLinkSecret(): LinkSecret {
  const text = randomBytes(32).toString("base64url");
  const digest = (value: string): Buffer => createHash("sha256").update(value).digest();
  return { text, matches: (other) => timingSafeEqual(digest(other), digest(text)) };
}

/** The header with the secret. */
export const LINK_HEADER = "x-skillgate-link";

/** Milliseconds that a server has to answer the request for a link. */
const ANSWER_MS = 2_000;

const getFile = (folder: string): string => join(folder, "console-server.json");

/** Announces a server to commands of the same user. Returns the function that withdraws it. */
export function announceServer(folder: string, server: RunningServer): () => void {
  const file = getFile(folder);
  const text = JSON.stringify(server);
  makeFolderSync(folder, 0o700);
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  return () => {
    if (readOrNothing(file) === text) rmSync(file, { force: true });
  };
}

/** Asks the announced server of the project for a login link; `undefined` if none answers. */
export async function findLoginLink(folder: string): Promise<string | undefined> {
  const server = parseServer(readOrNothing(getFile(folder)));
  if (server === undefined) return undefined;
  try {
    const response = await fetchSameServer(`${server.url}/console/link`, {
      method: "POST",
      headers: { [LINK_HEADER]: server.secret },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { link } = toRecord(await response.json());
    return typeof link === "string" ? link : undefined;
  } catch {
    return undefined; // the server has ended without removing its file
  }
}

function parseServer(text: string | undefined): RunningServer | undefined {
  const { url, secret } = toRecord(parseJson(text ?? ""));
  if (typeof url !== "string" || typeof secret !== "string") return undefined;
  return /^http:\/\/[\w.:[\]-]+$/.test(url) && /^[\w-]+$/.test(secret) ? { url, secret } : undefined;
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // no server was started, or the file is not readable
  }
}
