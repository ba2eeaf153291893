import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { createSecurityHeaders } from "./security/headers.ts";

/** The folder into which the build writes the scripts, the style and the icon. */
export const BUNDLE = new URL("./bundle/", import.meta.url);

const TYPES: readonly (readonly [name: RegExp, type: string])[] = [
  [/^(app|chunk-[A-Z0-9]+)\.js$/, "text/javascript; charset=utf-8"],
  [/^app\.css$/, "text/css; charset=utf-8"],
  [/^icon\.svg$/, "image/svg+xml"],
];

interface Asset {
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly digest: string;
}

/** Serves the one page of the console, and its scripts, style and icon. */
export interface Assets {
  answerPage(): Response;
  /** Returns `undefined` for an unknown name. */
  answerFile(name: string, acceptEncoding: string | undefined): Response | undefined;
}

/** Creates the answers. Reads each file when it is first asked for. */
export function createAssets(bundle: URL): Assets {
  const files = new Map<string, Asset>();
  const read = (name: string): Asset => {
    const asset = files.get(name) ?? readAsset(new URL(name, bundle));
    files.set(name, asset);
    return asset;
  };
  return {
    answerPage() {
      const nonce = randomBytes(16).toString("base64");
      const html = createPage({ nonce, getVersion: (name) => read(name).digest });
      return new Response(html, {
        headers: {
          ...createSecurityHeaders(nonce),
          "content-type": "text/html; charset=utf-8",
          "cache-control": "no-store",
        },
      });
    },
    answerFile(name, acceptEncoding = "") {
      const [, type] = TYPES.find(([pattern]) => pattern.test(name)) ?? [];
      if (type === undefined || !existsSync(new URL(name, bundle))) return undefined;
      const { bytes, zipped } = read(name);
      const isZipped = /\bgzip\b/.test(acceptEncoding);
      return new Response(new Uint8Array(isZipped ? zipped : bytes), {
        headers: {
          ...createSecurityHeaders(),
          "content-type": type,
          // The page names each file with its digest; the name of a part has its digest, too.
          "cache-control": "public, max-age=31536000, immutable",
          vary: "accept-encoding",
          ...(isZipped && { "content-encoding": "gzip" }),
        },
      });
    },
  };
}

function readAsset(file: URL): Asset {
  const bytes = readFileSync(file);
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { bytes, zipped: gzipSync(bytes, { level: 9 }), digest };
}

interface PageFacts {
  readonly nonce: string;
  readonly getVersion: (name: string) => string;
}

function createPage({ nonce, getVersion }: PageFacts): string {
  const address = (name: string): string => `/console/assets/${name}?v=${getVersion(name)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="csp-nonce" content="${nonce}">
<title>Skillgate</title>
<link rel="icon" href="${address("icon.svg")}">
<link rel="stylesheet" href="${address("app.css")}">
<script type="module" src="${address("app.js")}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}
