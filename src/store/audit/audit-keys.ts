import { join } from "node:path";

import { replaceFile } from "../../shared/files/replace-file.ts";
import { parseJsonObject } from "../../model/json.ts";
import type { AuditHeadRow } from "./rows.ts";
import { openSigner, readIfThere, readSignerIds, type Signer } from "./signer.ts";

/** The keys of a project, and the newest position that it signed: both outside of the database that they verify. */
export interface AuditKeys {
  /** The key pair of this process; `undefined` if heads are not signed. */
  getSigner(): Promise<Signer | undefined>;
  /** The public keys whose heads count: that of the project, and those that it replaced. */
  readSignerIds(): Promise<ReadonlySet<string>>;
  readHead(): Promise<AuditHeadRow | undefined>;
  writeHead(head: AuditHeadRow): Promise<void>;
}

export const HEAD_FILE = "audit-head.json";

/** The keys in the state folder of a project; without a folder, nothing is signed. */
export function createAuditKeys(folder: string | undefined): AuditKeys {
  if (folder === undefined) {
    return {
      getSigner: () => Promise.resolve(undefined),
      readSignerIds: () => Promise.resolve(new Set()),
      readHead: () => Promise.resolve(undefined),
      writeHead: () => Promise.resolve(),
    };
  }
  const file = join(folder, HEAD_FILE);
  let signer: Promise<Signer> | undefined;
  const readHead = async (): Promise<AuditHeadRow | undefined> => parseHead(await readIfThere(file));
  return {
    getSigner: () => (signer ??= openSigner(folder)),
    readSignerIds: () => readSignerIds(folder),
    readHead,
    async writeHead(head) {
      const stored = await readHead();
      if (stored === undefined || stored.seq < head.seq) await replaceFile(file, `${JSON.stringify(head)}\n`);
    },
  };
}

function parseHead(text: string | undefined): AuditHeadRow | undefined {
  if (text === undefined) return undefined;
  const { day, signer, seq, hash, time, signature } = parseJsonObject(text) ?? {};
  // A file that cannot be read gives a head whose signature is not valid.
  return {
    day: String(day),
    signer: String(signer),
    seq: Number(seq) || 0,
    hash: String(hash),
    time: Number(time) || 0,
    signature: String(signature),
  };
}
