import { describe, expect, test } from "vitest";

import { maskTokens } from "../../src/shared/masks/token-formats.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";
import { takeShare } from "../support/repetitions.ts";

const KNOWN = new KnownSecrets(["canary-secret-1234"]);

/** The milliseconds of computing that a function takes, whatever else the machine does. */
function measureCpu(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("masks a text in a time that grows with its length only [P9]", () => {
  test.each([
    "-eyJaaaaaaaa",
    "eyJaaaaaaaa.aaaaaaaa.",
    "eyJ-",
    "-----BEGIN A KEY-----",
    "://a:",
    "://a:a",
    "sk-aaaaaaaa",
    "sg_000000000000_aaaa ",
    "sk_live_aaaaaaaa.",
    "github_pat_",
    "xoxa-",
    "AKIA",
    "AIza",
    "ya29.",
    "npm_",
    "aA1-",
    "a1",
    "a",
    "1",
  ])("%j, repeated to 300,000 characters", (prefix) => {
    const text = prefix.repeat(Math.ceil(300_000 / prefix.length));
    expect(measureCpu(() => KNOWN.maskText(text))).toBeLessThan(1_000);
    expect(measureCpu(() => maskTokens(text, () => "", "display"))).toBeLessThan(1_000);
  });
});

describe("masks texts of many megabytes in pieces [P9]", () => {
  test.each(takeShare(4, ["-", "a", "aB3", "sk-"]))(
    "%j, repeated to 9,000,000 characters",
    { tags: "repeated" },
    (prefix) => {
      const text = prefix.repeat(9_000_000 / prefix.length);
      expect(KNOWN.maskText(text).length).toBeGreaterThan(0);
    },
  );

  test.each(
    takeShare(4, [
      ["a token", "sk-abcdefghijkl", "[redacted]"],
      ["a token that looks random", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b", "[redacted]"],
      [
        "a PEM block",
        `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE ".repeat(500)}\n-----END RSA PRIVATE KEY-----`,
        "[redacted]",
      ],
      ["a known secret", "canary-secret-1234", "[redacted]"],
    ]),
  )("%s wherever a piece ends", { tags: "repeated" }, (_name, secret, masked) => {
    for (const before of [1, secret.length >> 1, secret.length - 1]) {
      const text = `${"x ".repeat((1 << 19) - before)}${"y".repeat(before % 2)} ${secret} end`;
      expect(KNOWN.maskText(text).slice(-(masked.length + 5))).toBe(` ${masked} end`.slice(-(masked.length + 5)));
      expect(KNOWN.maskText(text)).not.toContain(secret.slice(-10));
    }
  });
});

describe("masks JSON web tokens [P9]", () => {
  const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln";

  test.each([
    [`Bearer ${token}.`, "Bearer [redacted]."],
    [`token-${token}`, "token-[redacted]"],
    [`aeyJhbGci-${token}`, "aeyJhbGci-[redacted]"],
    [`"a\\n${token}"`, '"a\\n[redacted]"'],
    ["eyJhbGciOiJIUzI1NiJ9 alone", "eyJhbGciOiJIUzI1NiJ9 alone"],
  ])("%s", (text, masked) => {
    expect(KNOWN.maskText(text)).toBe(masked);
  });
});

describe("cuts a message before it is masked [P9]", () => {
  test("keeps a message of usual length", () => {
    expect(KNOWN.maskMessage("key canary-secret-1234")).toBe("key [redacted]");
  });

  test("keeps the first 16 KB of a longer one", () => {
    expect(KNOWN.maskMessage("a ".repeat(500_000))).toBe(`${"a ".repeat(8192)}…`);
  });

  test("leaves no part of a secret at the cut", () => {
    const before = ". ".repeat(8190);
    expect(KNOWN.maskMessage(`${before}canary-secret-1234${before}`)).toBe(`${before}…`);
  });
});

describe("masks what JSON writes for an object with toJSON [P9]", () => {
  const secret = "the-key-of-the-service";
  const secrets = new KnownSecrets([secret]);
  const address = new URL(`https://example.com/?key=${secret}`);
  const itself = {
    key: secret,
    toJSON() {
      return this;
    },
  };
  const masked = "https://example.com/?key=[redacted]";

  test.each([
    ["a URL", [address, 1], [masked, 1]],
    ["a form with a URL in it", { page: { toJSON: () => ({ address }) } }, { page: { address: masked } }],
    ["an object that is its own form", { itself }, { itself: { key: "[redacted]" } }],
  ])("%s", (_what, value, expected) => {
    expect(JSON.parse(JSON.stringify(secrets.maskValue(value)))).toEqual(expected);
  });

  test.each([
    ["a date", new Date(0)],
    ["a URL without a secret", new URL("https://example.com/")],
  ])("and returns the same object for %s", (_what, value) => {
    const holder = { value, address };
    expect(secrets.maskValue(holder).value).toBe(value);
    expect(secrets.maskValue(value)).toBe(value);
  });
});

test("takes no words, addresses and times for secrets that callers choose [P9]", () => {
  const secrets = new KnownSecrets();
  const chosen = [
    "description",
    "https://",
    "https://api.example.com/v1/orders",
    "application/json",
    "2026-11-26T00:00:00Z",
  ];
  secrets.addPassing([...chosen, "two words 1234567890", "s3cr3t-of-ada-0123"]);
  for (const text of chosen) expect(secrets.mask(`"${text}"`)).toBe(`"${text}"`);
  expect(secrets.mask("it is s3cr3t-of-ada-0123")).toBe("it is [redacted]");
});
