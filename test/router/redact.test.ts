import { describe, expect, test } from "vitest";

import { KnownSecrets } from "../../src/shared/secrets.ts";
import { redact } from "../../src/router/redact.ts";

const NOTHING = { argumentTexts: [], secrets: new KnownSecrets() };

describe("redacts secrets in the text of a provider [S10, P9]", () => {
  test.each([
    [
      "backend failed while connecting to pg://admin:canary-pw@10.0.0.5/prod at /srv/canary-host/app/db.js:42",
      "backend failed while connecting to pg://[redacted] at [path]",
    ],
    ["connect postgres://db.internal:5432/app failed", "connect postgres://[redacted] failed"],
    ["mongodb+srv://u:p@ss/word@cluster0.example.net/x.", "mongodb+srv://[redacted]."],
    ["GET https://ada:hunter2@api.example.com/v1 said 401", "GET https://[redacted]@api.example.com/v1 said 401"],
    ["https://api.example.com/v1?api_key=abc123&q=cats", "https://api.example.com/v1?api_key=[redacted]&q=cats"],
    ["see file:///home/ada/app/index.js", "see [path]"],
    [
      "ENOENT: no such file or directory, open '/home/ada/my notes/x.txt'",
      "ENOENT: no such file or directory, open '[path]'",
    ],
    [
      "Cannot find module '/srv/app/x.js'\nRequire stack:\n- /srv/app/y.js",
      "Cannot find module '[path]'\nRequire stack:\n- [path]",
    ],
    ["EPERM: C:\\Users\\ada\\secret.txt", "EPERM: [path]"],
    ["cannot open \\\\server\\share\\x.txt", "cannot open [path]"],
    ["cannot read ~/.ssh/id_rsa", "cannot read [path]"],
    ["failed in /odd/place/main.py:7", "failed in [path]"],
    [
      "no such file: /files/abc123?key=AIzaSyA1234567890abcdefghijklmnopqrstuv",
      "no such file: /files/abc123?key=[redacted]",
    ],
    ["started with --config=/etc/app/config.yaml, then failed", "started with --config=[path], then failed"],
    ["invalid key sk-canary-5e7d1f", "invalid key [redacted]"],
    ["token ghp_abcdefghijklmnopqrstuvwxyz012345 was revoked", "token [redacted] was revoked"],
    ["AKIAIOSFODNN7EXAMPLE is not known", "[redacted] is not known"],
    ["Authorization: Bearer abc123def456", "Authorization: Bearer [redacted]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln expired", "[redacted] expired"],
    ["login failed: password=hunter2 user=ada", "login failed: password=[redacted] user=ada"],
    ['{"apiKey": "k1", "user": "ada"}', '{"apiKey": "[redacted]", "user": "ada"}'],
    ["Server=10.0.0.5;Password=hunter2;", "Server=10.0.0.5;Password=[redacted];"],
    ["key dGhpc0lzQVZlcnlMb25nS2V5MTIzNDU2Nzg5 refused", "key [redacted] refused"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- is bad", "[redacted] is bad"],
    ["boom\n    at connect (/srv/app/db.js:42:7)\n    at async Promise.all (index 0)", "boom"],
    ["boom\n\tat com.acme.Db.open(Db.java:10)\nagain", "boom\nagain"],
    ['File "/srv/app/main.py", line 3', 'File "[path]", line 3'],
  ])("%j", (text, shown) => {
    expect(redact(text, NOTHING)).toBe(shown);
  });
});

describe("keeps text that helps a model [S10]", () => {
  test.each([
    "Division by zero",
    "Unexpected token: comma",
    "Unexpected token 'a', \"abc\" is not valid JSON",
    "Invalid password: too short",
    "Basic authentication failed",
    "GET /v1/users/3 answered 404",
    "no such file: /files/abc123",
    "Request to '/files/abc123/content' failed with 404",
    "https://api.example.com/v1/users?page=2 answered 404",
    "content type must be text/html or application/json",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b not found",
    "no row with id 123e4567-e89b-12d3-a456-426614174000",
    "Report-2026-11-21-Final-Version-v2.pdf is open elsewhere",
    "route /pets not found",
    "1/2/2026 is no workday and/or a holiday",
    "resource demo://items/3 not found",
    "wait at least 10 seconds",
  ])("%j", (text) => {
    expect(redact(text, NOTHING)).toBe(text);
  });
});

describe("keeps the part of a path that the call named [S10]", () => {
  test.each([
    ["/data/x.txt", "open '/data/x.txt'", "open '/data/x.txt'"],
    ["/data", "open '/data/deep/x.txt'", "open '/data/[path]'"],
    ["deep/x.txt", "open '/home/ada/deep/x.txt'", "open '[path]/deep/x.txt'"],
    ["/dat", "open '/data/x.txt'", "open '[path]'"],
    ["", "open '/data/x.txt'", "open '[path]'"],
    ["/", "open '/data/x.txt'", "open '[path]'"],
    ["postgres://u:p@h/db", "cannot open postgres://u:p@h/db", "cannot open postgres://u:p@h/db"],
  ])("passed %j: %j", (spoken, text, shown) => {
    expect(redact(text, { ...NOTHING, argumentTexts: [spoken] })).toBe(shown);
  });
});

test("never shows a known secret, even if the guest passed it or another secret begins with it [P9]", () => {
  const known = { argumentTexts: ["hunter22-long"], secrets: new KnownSecrets(["hunter22", "hunter22-long", "ab"]) };
  expect(redact("ab: tried hunter22-long and hunter22", known)).toBe("ab: tried [redacted] and [redacted]");
});

test("cuts a long text, and limits the work for a hostile one [S10]", () => {
  expect(redact("word ".repeat(10_000), NOTHING)).toHaveLength(4_001);
  for (const part of [
    "/a",
    "a-",
    "password",
    "sk-",
    "a://",
    "'/a/",
    ":",
    " at (",
    "\\\\",
    "-----BEGIN A",
    "A1b",
    "/a/b ",
  ])
    redact(part.repeat(20_000 / part.length), {
      ...NOTHING,
      argumentTexts: Array.from({ length: 200 }, () => "x".repeat(4_000)),
    });
});
