import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";

import { getMessage } from "../../../../errors.ts";
import { fetchSameServer } from "../../../../shared/http/fetch-same-server.ts";
import { UsageError } from "../../usage-error.ts";
import type { PackageForm } from "./forms.ts";
import { toReadError } from "../../input/read-text.ts";

/** The largest bundle. */
const MAX_BUNDLE_BYTES = 256 << 20;

const MAX_ENTRY_BYTES = 1 << 20;

/** How long a file may take to arrive. */
const FETCH_MS = 300_000;

/** Reads a file, or fetches it over HTTPS. Throws a `UsageError` for one that is too large. */
export async function readPackageFile(source: string, form: PackageForm, signal: AbortSignal): Promise<Buffer> {
  const limit = form === "bundle" ? MAX_BUNDLE_BYTES : MAX_ENTRY_BYTES;
  if (/^https?:/i.test(source)) return fetchFile(source, limit, signal);
  try {
    const { size } = await stat(source);
    if (size > limit) throw tooLarge(source, limit);
    return await readFile(source, { signal });
  } catch (thrown) {
    throw toReadError(thrown, source);
  }
}

async function fetchFile(source: string, limit: number, signal: AbortSignal): Promise<Buffer> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
  try {
    const response = await followRedirects(source, limited);
    if (!response.ok || response.body === null) throw new UsageError(`Cannot fetch ${source}: HTTP ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(source, limit);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof UsageError) throw thrown;
    const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
    throw new UsageError(`Cannot fetch ${source}: ${getMessage(cause)}`);
  }
}

/** Follows redirects to other servers, too: releases are stored elsewhere, and no request has credentials. */
async function followRedirects(source: string, signal: AbortSignal): Promise<Response> {
  let address = source;
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    requireEncrypted(address);
    const response = await fetchSameServer(address, { signal, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    address = URL.canParse(location, address) ? new URL(location, address).href : location;
  }
  throw new UsageError(`Cannot fetch ${source}: it redirects more than ${MAX_REDIRECTS} times`);
}

const MAX_REDIRECTS = 5;

/** A file that decides what runs here must not be replaced on its way; a server of this machine is as safe. */
function requireEncrypted(address: string): void {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: "", hostname: "" };
  if (protocol === "https:" || /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return;
  throw new UsageError(`Cannot fetch ${address}: only https addresses are fetched`);
}

function tooLarge(source: string, limit: number): UsageError {
  return new UsageError(`${source} has more than ${limit} bytes`);
}

/** Throws a `UsageError` if the SHA-256 of a file is not the expected one. */
export function requireDigest(bytes: Buffer, expected: string | undefined): string {
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (expected === undefined || digest === expected.toLowerCase()) return digest;
  throw new UsageError(
    `The SHA-256 of the bundle is ${digest}, and not ${expected}: it was changed, or is another version`,
  );
}
