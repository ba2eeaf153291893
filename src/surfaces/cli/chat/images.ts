import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isRecord } from "../../../model/json.ts";

/** Images of one result that are saved. */
const MAX_IMAGES = 20;

/** Levels of a result in which images are found. */
const MAX_DEPTH = 16;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
};

/** Saves the images in a result, `{ type: "image", data, mimeType }`, and returns the result with their paths instead. */
export type SaveImages = (value: unknown) => unknown;

/** Creates the function that saves images in a new temporary folder, which only its owner can read. */
export function createImageSaver(): SaveImages {
  let folder: string | undefined;
  let saved = 0;
  return (value) => {
    let left = MAX_IMAGES;
    const replace = (part: unknown, depth: number): unknown => {
      if (depth > MAX_DEPTH || part instanceof Uint8Array) return part;
      if (Array.isArray(part)) return part.map((item) => replace(item, depth + 1));
      if (!isRecord(part) || Object.getPrototypeOf(part) !== Object.prototype) return part;
      const image = readImage(part);
      if (image === undefined || left === 0)
        return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, replace(item, depth + 1)]));
      left -= 1;
      saved += 1;
      folder ??= mkdtempSync(join(tmpdir(), "skillgate-images-"));
      const path = join(folder, `${saved}.${image.extension}`);
      writeFileSync(path, image.bytes, { mode: 0o600 });
      return `Image: ${path}`;
    };
    return replace(value, 0);
  };
}

function readImage({
  type,
  data,
  mimeType,
}: Readonly<Record<string, unknown>>): { readonly extension: string; readonly bytes: Uint8Array } | undefined {
  const extension = typeof mimeType === "string" ? EXTENSIONS[mimeType] : undefined;
  if (type !== "image" || extension === undefined) return undefined;
  if (data instanceof Uint8Array) return { extension, bytes: data };
  return typeof data === "string" ? { extension, bytes: Buffer.from(data, "base64") } : undefined;
}
