import { expect, test } from "vitest";

import { findServerSecrets, maskEntry, toServerConfig, shownServer } from "../../src/config/index.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";

test.each([
  [{ command: "npx", args: ["-y", "p", "two words"] }, "npx -y p 'two words'"],
  [{ command: "x", args: ["--api-key", "abc", "--verbose", "yes"] }, "x --api-key *** --verbose yes"],
  [{ command: "x", args: ["--token=abc", "--port=1"] }, "x --token=*** --port=1"],
  [
    { command: "docker", args: ["run", "-e", "API_KEY=abc", "-e", "API_KEY", "image"] },
    "docker run -e API_KEY=*** -e API_KEY image",
  ],
  [
    { command: "x", args: ["--token", "${TOKEN}", "--header", "Authorization: Bearer ${T}"] },
    "x --token ${TOKEN} --header 'Authorization: Bearer ${T}'",
  ],
  [{ command: "x", args: ["--header", "Authorization: Bearer abc"] }, "x --header 'Authorization: ***'"],
  [{ command: "x", args: ["postgresql://me:hunter2@db.example/data"] }, "x postgresql://me:***@db.example/data"],
  [{ command: "x", args: ["ghp_abcdefghijklmnopqrstuvwxyz0123456789"] }, "x ***"],
  [{ command: "x --token abc  --port 1" }, "'x --token ***  --port 1'"],
  [{ command: "x", args: "--token abc" }, "x '--token ***'"],
  [{ command: "sh", args: ["-c", "fetch --token abc --port 1"] }, "sh -c 'fetch --token *** --port 1'"],
  [{ command: ["npx", "p"], type: "local" }, "npx p"],
  [{ command: { path: "x", args: ["--key", "v"] } }, "x --key ***"],
  [{ url: "https://u:p@h.example/mcp?api_key=abc&x=1" }, "https://u:***@h.example/mcp?api_key=***&x=1"],
  [{ url: "https://h.example/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA/mcp" }, "https://h.example/s/***/mcp"],
  [{ serverUrl: "https://h.example" }, "https://h.example"],
  ["a text", ""],
])("shows %j without its secrets [P9]", (entry, shown) => {
  expect(shownServer(entry)).toBe(shown);
});

test("shows the origin of variables and headers, never their values [P9]", () => {
  expect(
    maskEntry({
      command: "x",
      env: { A: "value", B: "${B}", C: "pre-${C}", D: "${D:-secret}", E: 5 },
      headers: { Authorization: "Bearer abc", X: "Bearer ${input:x}" },
      oauth: {
        clientId: "id",
        clientSecret: "abc",
        assertion: "abc",
        identityProvider: { issuer: "https://idp.example", tokenEndpoint: "https://idp.example/t", idToken: "abc" },
      },
      bearer_token_env_var: "TOKEN",
      timeout: 5,
    }),
  ).toEqual({
    command: "x",
    env: { A: "***", B: "${B}", C: "***", D: "***", E: "***" },
    headers: { Authorization: "***", X: "Bearer ${input:x}" },
    oauth: {
      clientId: "id",
      clientSecret: "***",
      assertion: "***",
      identityProvider: { issuer: "https://idp.example", tokenEndpoint: "https://idp.example/t", idToken: "***" },
    },
    bearer_token_env_var: "TOKEN",
    timeout: 5,
  });
});

test("masks only the secret parts of a server's configuration [P9]", () => {
  const scope = { env: { TOKEN: "from-the-environment", REGION: "eu-central-1" } };
  const started = {
    command: "x",
    args: ["--api-key", "argument-key"],
    env: {
      T: "${TOKEN}",
      DATABASE_URL: "postgres://ada:in-the-url-1@db.example/orders",
      OPENAPI_HEADERS: '{"X-Key": "k-0123456789-abcdef"}',
      PIN: "1234567",
      API_KEY: "production",
      MODE: "production",
      ROOT: "/srv/data/projects",
      REGION: "${REGION}",
      AUTH_TYPE: "client_credentials",
    },
  };
  const reached = {
    url: "https://u:password1@h.example/?token=in-the-url",
    headers: { A: "Bearer bearer-token", B: `Basic ${Buffer.from("ada:basic-password").toString("base64")}` },
    oauth: {
      clientId: "the-client-id",
      clientSecret: "the-client-secret",
      identityProvider: {
        issuer: "https://idp.example",
        clientId: "i",
        clientSecret: "idp-secret",
        idToken: "an-id-token",
      },
    },
  };
  const secrets = new KnownSecrets(
    [toServerConfig("a", started, scope), toServerConfig("b", reached, scope)].flatMap(findServerSecrets),
  );
  const hidden =
    "from-the-environment argument-key in-the-url-1 k-0123456789-abcdef password1 in-the-url bearer-token basic-password the-client-secret idp-secret an-id-token";
  expect(secrets.mask(hidden)).toBe(hidden.replaceAll(/\S+/g, "[redacted]"));
  const shown =
    "1234567 production /srv/data/projects eu-central-1 client_credentials db.example/orders h.example the-client-id";
  expect(secrets.mask(shown)).toBe(shown);
});
