import { expect, test } from "vitest";

import { hideSecrets, maskedEntry, serverConfigOf, shownServer } from "../../src/config/index.ts";

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
  [{ command: ["npx", "p"], type: "local" }, "npx p"],
  [{ command: { path: "x", args: ["--key", "v"] } }, "x --key ***"],
  [{ url: "https://u:p@h.example/mcp?api_key=abc&x=1" }, "https://u:***@h.example/mcp?api_key=***&x=1"],
  [{ url: "https://h.example/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA/mcp" }, "https://h.example/s/***/mcp"],
  [{ serverUrl: "https://h.example" }, "https://h.example"],
  ["a text", ""],
])("P9: %j is shown without its secrets", (entry, shown) => {
  expect(shownServer(entry)).toBe(shown);
});

test("P9: values of variables and headers are never shown, where they come from is", () => {
  expect(
    maskedEntry({
      command: "x",
      env: { A: "value", B: "${B}", C: "pre-${C}", D: "${D:-secret}", E: 5 },
      headers: { Authorization: "Bearer abc", X: "Bearer ${input:x}" },
      oauth: { clientId: "id", clientSecret: "abc" },
      bearer_token_env_var: "TOKEN",
      timeout: 5,
    }),
  ).toEqual({
    command: "x",
    env: { A: "***", B: "${B}", C: "***", D: "***", E: "***" },
    headers: { Authorization: "***", X: "Bearer ${input:x}" },
    oauth: { clientId: "id", clientSecret: "***" },
    bearer_token_env_var: "TOKEN",
    timeout: 5,
  });
});

test("P9: what servers were told in confidence is removed from any text", () => {
  const env = { TOKEN: "from-the-environment" };
  const hide = hideSecrets([
    serverConfigOf(
      "a",
      { command: "x", args: ["--api-key", "argument-key"], env: { T: "${TOKEN}", MODE: "production" } },
      { env },
    ),
    serverConfigOf(
      "b",
      { url: "https://u:password1@h.example/?token=in-the-url", headers: { A: "Bearer bearer-token" } },
      { env },
    ),
  ]);
  expect(hide("from-the-environment argument-key bearer-token password1 in-the-url production h.example")).toBe(
    "*** *** *** *** *** production h.example",
  );
});
