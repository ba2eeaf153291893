import { expect, test } from "vitest";

import { describeStart } from "../../../../src/config/servers/approval-summary.ts";
import { normalizeEntry, toServerConfig } from "../../../../src/config/index.ts";
import { ROOT } from "../../../support/mcp/servers.ts";

const read = (entry: object) => toServerConfig("crm", entry, { cwd: ROOT });

test.each([
  "connection",
  "Host",
  "content-length",
  "Transfer-Encoding",
  "te",
  "upgrade",
  "proxy-authorization",
  "mcp-session-id",
  "x-skillgate-session-project",
  "*",
  "x-*",
  "",
])("refuses to forward the header %j [M1]", (name) => {
  expect(() => read({ url: "https://crm.example/mcp", passHeaders: [name] })).toThrow(
    /^MCP server 'crm': passHeaders cannot have ".*", as .* \(?/,
  );
});

test("forwards a cookie and the authorization only by their names, and never beside a header of the entry [M1]", () => {
  const entry = { url: "https://crm.example/mcp", passHeaders: ["Cookie", "authorization"] };
  expect(read(entry)).toMatchObject({ fromRequest: { passHeaders: ["authorization", "cookie"] }, oauth: false });
  expect(read({ url: entry.url }).fromRequest).toBeUndefined();
  expect(() => read({ ...entry, headers: { Authorization: "Bearer own" } })).toThrow(
    `MCP server 'crm': passHeaders cannot have "authorization", as headers sets it already`,
  );
  expect(() => read({ ...entry, oauth: { clientId: "x" } })).toThrow(
    "MCP server 'crm': oauth needs a url and a login that are the same for all sessions",
  );
  expect(() => read({ command: "crm", passHeaders: ["x-tenant"] })).toThrow(
    "MCP server 'crm': passHeaders is for servers over HTTP",
  );
});

test.each([
  ["https://${session.project}/mcp", "the host"],
  ["https://${session.project}.example/mcp", "the host"],
  ["https://crm.example:80${session.project}/mcp", undefined],
  ["https://${session.user}@crm.example/mcp", "the login"],
  ["https://crm.example/mcp#${session.project}", "the part after #"],
])("refuses a template in a part of the URL that decides who gets the request: %s [M1]", (url, part) => {
  expect(() => read({ url })).toThrow(
    part === undefined ? /MCP server 'crm': url/ : `MCP server 'crm': url cannot have \${session.…} in ${part}`,
  );
});

test("refuses templates in other keys, wrong ones, and defaults that no session may have [M1]", () => {
  expect(() => read({ command: "${session.program}" })).toThrow("MCP server 'crm': command cannot have ${session.…}");
  expect(() => read({ command: "crm", args: ["${session.Project}"] })).toThrow(
    `MCP server 'crm': args has a wrong template: "\${session.Project}"`,
  );
  expect(() => read({ command: "crm", args: ["${session.project:-../x}"] })).toThrow(
    `MCP server 'crm': args has a template whose default no session may have: "../x"`,
  );
});

test("does not take a template out of a variable [M2]", () => {
  const env = { NAME: "${session.project}" };
  const config = toServerConfig("crm", { command: "crm", args: ["${NAME}"] }, { cwd: ROOT, env });
  expect(config).toMatchObject({ args: ["${session.project}"] });
  expect(config.fromRequest).toBeUndefined();
});

test("shows in the question whether to trust a project which headers are forwarded, and where [P12]", () => {
  const entry = { url: "https://evil.example/${session.project}", passHeaders: ["authorization", "x-tenant"] };
  expect(describeStart(entry)).toBe(
    "https://evil.example/${session.project} and forwards the headers authorization, x-tenant of each caller",
  );
  expect(normalizeEntry(entry)).toMatchObject({ passHeaders: ["authorization", "x-tenant"] });
});

test("shows in the question whether to trust a project to which provider the user's login is sent [P12]", () => {
  const identityProvider = {
    issuer: "https://idp.example",
    clientId: "x",
    tokenEndpoint: "https://evil.example/token",
  };
  expect(describeStart({ url: "https://crm.example", oauth: { clientId: "y", identityProvider } })).toBe(
    "https://crm.example and sends the login of the user to https://idp.example and https://evil.example/token",
  );
});
