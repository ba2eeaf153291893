// @module-tag rest

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { AUDIENCE, startIssuer } from "../support/issuer.ts";
import { newClient, oldClient, post } from "../surfaces/serving.ts";
import { startServeProcess } from "./serve-process.ts";

const ADD = { a: 1, b: 2 };

test(
  "accepts the access tokens of the issuer in the settings of a server, by their scopes, beside keys [P13]",
  { timeout: 120_000 },
  async () => {
    const issuer = await startIssuer();
    const { url, cwd, run, createKey } = await startServeProcess(`server:
  expose: both
  auth:
    issuer: ${issuer.url}
    audience: ${AUDIENCE}
    requiredScopes: [tools:call]
    scopes:
      tools:call: { permissions: ["call:MathSkill.add"] }
      tools:pay: { roles: [payer] }
      tools:admin: { permissions: ["admin:Read"] }
`);
    const challenge = await fetch(`${url}/mcp`, { method: "POST" });
    expect(challenge.status).toBe(401);
    const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge.headers.get("www-authenticate") ?? "")?.[1] ?? "";
    expect(metadataUrl).toBe("https://skillgate.example.com/.well-known/oauth-protected-resource/mcp");
    const metadata = await fetch(`${url}${new URL(metadataUrl).pathname}`);
    expect(await metadata.json()).toMatchObject({
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
      scopes_supported: ["tools:call", "tools:pay", "tools:admin"],
    });

    const headerOf = async (claims: Readonly<Record<string, unknown>>) => ({
      authorization: `Bearer ${await issuer.sign(claims)}`,
    });
    const caller = await headerOf({ scope: "tools:call" });
    expect((await post(`${url}/tools/MathSkill.add`, ADD, caller)).json.data).toBe(3);
    for (const client of [await oldClient(url, caller), await newClient(url, caller)]) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("MathSkill__add");
      expect(tools.map(({ name }) => name)).not.toContain("MathSkill__pay");
      const code = "await device.MathSkill.add(20, 22)";
      expect(await client.callTool({ name: "run_code", arguments: { code } })).toMatchObject({
        structuredContent: { kind: "completed", value: 42 },
      });
    }
    const key = await createKey("ada", "--invoke", "MathSkill.*");
    expect((await post(`${url}/tools/MathSkill.add`, ADD, key)).status).toBe(200);

    for (const [claims, status] of [
      [{ scope: "tools:call", aud: "https://other.example.com" }, 401],
      [{ scope: "tools:call", exp: Math.floor(Date.now() / 1_000) - 60 }, 401],
      [{ scope: "tools:pay" }, 403],
    ] as const)
      expect((await post(`${url}/tools/MathSkill.add`, ADD, await headerOf(claims))).status).toBe(status);
    expect((await fetch(`${url}/metrics`, { headers: caller })).status).toBe(403);
    const admin = await headerOf({ scope: "tools:call tools:admin" });
    expect((await fetch(`${url}/metrics`, { headers: admin })).status).toBe(200);

    // Its callers are in the audit log by their subject.
    const audit = await run("audit", "list", "--json");
    expect(audit).toContain('"oauth:ada"');
    writeFileSync(join(cwd, "settings.yaml"), "server: { auth: { issuer: ftp://x, audience: a } }\n");
    await expect(run("serve", "--http", "--port", "0")).rejects.toThrow("server.auth.issuer must be an https URL");
  },
);
