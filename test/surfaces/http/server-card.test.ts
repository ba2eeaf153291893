import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";

import { folder, serve } from "../serving.ts";

const SETTINGS = `
profiles:
  math: { permissions: ["call:TestSkill.*"] }
  other: { permissions: [call:TestSkill.add] }
`;

function serveWith(cards: readonly string[]) {
  const settings = join(folder(), "settings.yaml");
  writeFileSync(settings, SETTINGS);
  return serve({ cards, allowedHosts: ["mcp.example.com"] }, { cwd: folder(), settings }, (token) => token === "t");
}

/** Sends a request with another Host header, as a proxy does. */
function getAs(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve({ status: response.statusCode, text }));
    })
      .on("error", reject)
      .end();
  });
}

test("publishes the cards that the settings name, and the catalog of them, to pages of all origins [V1]", async () => {
  const { url } = await serveWith(["/mcp", "/mcp/math"]);
  const origin = { origin: "https://anywhere.example" };
  const catalog = await fetch(`${url}/.well-known/ai-catalog.json`, { headers: origin });
  const earlier = await fetch(`${url}/.well-known/mcp/catalog.json`, { headers: origin });
  expect([catalog, earlier].map((each) => each.headers.get("content-type"))).toEqual([
    "application/ai-catalog+json",
    "application/json",
  ]);
  const etag = catalog.headers.get("etag") ?? "";
  const again = await fetch(`${url}/.well-known/ai-catalog.json`, { headers: { "if-none-match": etag } });
  expect(again.status).toBe(304);
  expect(catalog.headers.get("access-control-allow-origin")).toBe("*");
  expect(catalog.headers.get("cache-control")).toBe("public, max-age=3600");
  const card = { type: "application/mcp-server-card+json" };
  expect(await catalog.json()).toEqual({
    specVersion: "1.0",
    entries: [
      {
        identifier: "urn:air:127.0.0.1:mcp:skillgate",
        displayName: "Skillgate",
        ...card,
        url: `${url}/mcp/server-card`,
      },
      { identifier: "urn:air:127.0.0.1:mcp:math", displayName: "math", ...card, url: `${url}/mcp/math/server-card` },
    ],
  });
  const response = await fetch(`${url}/mcp/math/server-card`, { headers: origin });
  expect(response.headers.get("content-type")).toBe("application/mcp-server-card+json");
  expect(await response.json()).toMatchObject({
    name: "1.0.0.127/math",
    remotes: [
      { type: "streamable-http", url: `${url}/mcp/math`, headers: [{ name: "Authorization", isSecret: true }] },
    ],
  });
  const preflight = await fetch(`${url}/mcp/server-card`, { method: "OPTIONS", headers: origin });
  expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "GET"]);
});

test("names the host of the request if it is allowed, and refuses another one [V6]", async () => {
  const { url } = await serveWith(["/mcp"]);
  const card = await getAs(`${url}/mcp/server-card`, { host: "mcp.example.com" });
  expect(JSON.parse(card.text)).toMatchObject({
    name: "com.example.mcp/skillgate",
    remotes: [{ url: "https://mcp.example.com/mcp" }],
  });
  expect(await getAs(`${url}/mcp/server-card`, { host: "evil.example" })).toMatchObject({ status: 403 });
});

test("shows a card that is not public only to callers that may use its endpoint [V6, P1]", async () => {
  const { url } = await serveWith(["/mcp/math"]);
  const status = async (path: string, headers = {}): Promise<number> => (await fetch(url + path, { headers })).status;
  const token = { authorization: "Bearer t" };
  expect(await status("/mcp/server-card")).toBe(401);
  expect(await status("/mcp/other/server-card")).toBe(401);
  expect(await status("/mcp/other/server-card", token)).toBe(200);
  expect(await status("/mcp/nosuch/server-card", token)).toBe(404);
  const own = await fetch(`${url}/mcp/server-card`, { headers: token });
  expect([own.headers.get("cache-control"), own.headers.get("access-control-allow-origin")]).toEqual([
    "private, max-age=3600",
    null,
  ]);
});

test("has no catalog unless the settings name a card [V6]", async () => {
  const { url } = await serveWith([]);
  expect((await fetch(`${url}/.well-known/mcp/catalog.json`)).status).toBe(404);
});
