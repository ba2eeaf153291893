import { isRecord, parseJsonObject } from "../../model/json.ts";
import { canonicalText } from "../../shared/digest.ts";
import { CHAIN_START, hashRecord } from "./chain.ts";
import { isSignedBy, type Signer } from "./signer.ts";

/** The last line of an export: what was exported, and the signature of it and of all lines before. */
interface Trailer {
  readonly lines: number;
  /** The `lineHash` of the last line. */
  readonly lineHash: string;
  /** The filter of the export: records that do not match are absent. */
  readonly filter: Readonly<Record<string, unknown>>;
  readonly signature: {
    /** The public key, DER in base64. */
    readonly keyId: string;
    /** In milliseconds since 1970. */
    readonly timestamp: number;
    /** base64 */
    readonly signature: string;
  };
}

/** The parts of a trailer that its signature vouches for. */
type SignedContent = Omit<Trailer, "signature"> & Omit<Trailer["signature"], "signature">;

/** The result of checking an export. */
export type ExportVerdict =
  | {
      readonly kind: "intact";
      readonly records: number;
      readonly filter: Readonly<Record<string, unknown>>;
      /** The public key that made the signature, DER in base64. */
      readonly signer: string;
      /** In milliseconds since 1970. */
      readonly signedAt: number;
    }
  | {
      readonly kind: "broken";
      readonly problem: "changed" | "missing" | "reordered" | "appended" | "unsigned" | "signature";
      /** The first line that does not fit; counts from 1. */
      readonly line: number;
      readonly says: string;
    };

/**
 * Writes items as JSON lines. Each line has its number and a hash of itself and the line before; the last line is a signed
 * trailer. Without a key, the lines have neither.
 */
export async function* signLines(
  items: AsyncIterable<object>,
  filter: Readonly<Record<string, unknown>>,
  getSigner: () => Promise<Signer | undefined>,
): AsyncGenerator<string> {
  const signer = await getSigner();
  if (signer === undefined) {
    for await (const item of items) yield JSON.stringify(item);
    return;
  }
  let [line, lineHash] = [0, CHAIN_START.hash];
  for await (const item of items) {
    const text = JSON.stringify({ ...item, line: ++line });
    lineHash = hashRecord(lineHash, text);
    yield addHash(text, lineHash);
  }
  const content = { lines: line, lineHash, filter };
  const maker = { keyId: signer.id, timestamp: Date.now() };
  const signature = signer.sign(getSignedText({ ...content, ...maker }));
  yield JSON.stringify({ trailer: { ...content, signature: { ...maker, signature } } });
}

/** Checks the lines of an export against each other and its trailer. `signers`: the accepted keys; if empty, each key is. */
export async function verifyExport(
  lines: AsyncGenerator<string>,
  signers: ReadonlySet<string>,
): Promise<ExportVerdict> {
  let [line, lineHash] = [0, CHAIN_START.hash];
  let trailer: Trailer | undefined;
  for await (const text of lines) {
    if (trailer !== undefined)
      return broken("appended", line + 2, `Line ${line + 2} was added after the signed trailer`);
    trailer = parseTrailer(text);
    if (trailer !== undefined) continue;
    line++;
    const unsigned = removeHash(text);
    const number = findNumber(unsigned);
    if (number !== undefined && number !== line) return describeGap(line, number, await hasLine(lines, line));
    lineHash = hashRecord(lineHash, unsigned);
    if (number === undefined || addHash(unsigned, lineHash) !== text)
      return broken("changed", line, `Line ${line} was changed`);
  }
  if (trailer === undefined)
    return broken("unsigned", line + 1, `The signed trailer is missing after line ${line}: lines may be missing, too`);
  return checkTrailer(trailer, { line, lineHash }, signers);
}

function checkTrailer(
  trailer: Trailer,
  { line, lineHash }: { readonly line: number; readonly lineHash: string },
  signers: ReadonlySet<string>,
): ExportVerdict {
  const { lines, filter, signature } = trailer;
  const at = line + 1;
  if (signers.size > 0 && !signers.has(signature.keyId))
    return broken("signature", at, `The trailer is signed by another key than expected: ${signature.keyId}`);
  const text = getSignedText({ lines, lineHash: trailer.lineHash, filter, ...signature });
  if (!isSignedBy(signature.keyId, text, signature.signature))
    return broken("signature", at, "The signature of the trailer is not valid: the trailer was changed");
  if (lines > line) return broken("missing", at, `Lines ${at} to ${lines} are missing: the trailer counts ${lines}`);
  if (lines < line) return broken("appended", lines + 1, `Line ${lines + 1} was added: the trailer counts ${lines}`);
  // All hashes can be computed again after a change, but not the signature.
  if (trailer.lineHash !== lineHash)
    return broken("changed", 1, "The lines are not those that were signed: one or more were changed");
  return { kind: "intact", records: lines, filter, signer: signature.keyId, signedAt: signature.timestamp };
}

function getSignedText({ lines, lineHash, filter, keyId, timestamp }: SignedContent): string {
  return canonicalText({ what: "audit export", lines, lineHash, filter, keyId, timestamp });
}

const HASH = /,"lineHash":"[0-9a-f]{64}"\}$/;

function addHash(text: string, lineHash: string): string {
  return `${text.slice(0, -1)},"lineHash":"${lineHash}"}`;
}

function removeHash(text: string): string {
  return text.replace(HASH, "}");
}

/** Returns the number that a line has; `undefined` for a line that is not a record of an export. */
function findNumber(text: string): number | undefined {
  const item = parseJsonObject(text);
  return typeof item?.["line"] === "number" ? item["line"] : undefined;
}

function parseTrailer(text: string): Trailer | undefined {
  const received = text.startsWith('{"trailer":') ? parseJsonObject(text)?.["trailer"] : undefined;
  if (!isRecord(received)) return undefined;
  const { lines, lineHash, filter, signature } = received;
  if (typeof lines !== "number" || typeof lineHash !== "string" || !isRecord(filter)) return undefined;
  const { keyId, timestamp, signature: bytes } = isRecord(signature) ? signature : {};
  if (typeof keyId !== "string" || typeof timestamp !== "number") return undefined;
  const written = Buffer.from(String(bytes), "base64").toString("base64");
  const trailer = { lines, lineHash, filter, signature: { keyId, timestamp, signature: written } };
  // A signature has several spellings in base64, and JSON has spaces: only the text that was written is accepted.
  return JSON.stringify({ trailer }) === text ? trailer : undefined;
}

/** True if the line with a number is among those that are still to be read. */
async function hasLine(rest: AsyncGenerator<string>, line: number): Promise<boolean> {
  for await (const text of rest) if (findNumber(removeHash(text)) === line) return true;
  return false;
}

/** Describes a line that is not at its position; `isLater` if the line that belongs there comes later. */
function describeGap(line: number, number: number, isLater: boolean): ExportVerdict {
  if (number < line || isLater)
    return broken("reordered", line, `Line ${number} is at position ${line}: the lines were reordered`);
  const says = number === line + 1 ? `Line ${line} is missing` : `Lines ${line} to ${number - 1} are missing`;
  return broken("missing", line, says);
}

function broken(
  problem: Extract<ExportVerdict, { kind: "broken" }>["problem"],
  line: number,
  says: string,
): ExportVerdict {
  return { kind: "broken", problem, line, says };
}
