import { describe, expect, test } from "vitest";

import { MASK } from "../../src/shared/masks/mask.ts";
import { replaceTexts } from "../../src/shared/masks/replace-texts.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";

const SECRETS = [
  "canary-secret-1234",
  "ca\"nary/+ 7d1f<9b>&2c'5e",
  String.raw`back\slash\nand %41 &amp; more`,
  "pässwörd-日本-🔑",
  "two lines\nof a secret",
  "12345678",
];

const toCodes =
  (write: (code: number) => string) =>
  (secret: string): string =>
    Array.from({ length: secret.length }, (_, index) => write(secret.charCodeAt(index))).join("");

const toEntities =
  (write: (code: number) => string) =>
  (secret: string): string =>
    Array.from(secret, (character) => write(character.codePointAt(0) ?? 0)).join("");

const toJson = (value: string): string => JSON.stringify(value).slice(1, -1);

const toNamed = (secret: string): string =>
  secret
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;")
    .replaceAll("/", "&sol;")
    .replaceAll("+", "&plus;");

const toForm = (secret: string): string => new URLSearchParams({ secret }).toString().slice("secret=".length);

const lowerEscapes = (text: string): string => text.replace(/%[\dA-F]{2}/g, (found) => found.toLowerCase());

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** The ways of programs to write a secret, in a text of which each other character is a dot. */
const FORMS: readonly (readonly [string, (secret: string) => string])[] = [
  ["as it is", (secret) => secret],
  ["a string of JSON", toJson],
  ["JSON in JSON", (secret) => toJson(toJson(secret))],
  ["JSON in JSON in JSON", (secret) => toJson(toJson(toJson(secret)))],
  ["a string of JSON with escaped slashes", (secret) => toJson(secret).replaceAll("/", String.raw`\/`)],
  ["codes of JavaScript", toCodes((code) => String.raw`\u${hex(code, 4)}`)],
  ["codes of JavaScript in capitals", toCodes((code) => String.raw`\u${hex(code, 4).toUpperCase()}`)],
  ["codes of JavaScript in JSON", (secret) => toJson(toCodes((code) => String.raw`\u${hex(code, 4)}`)(secret))],
  ["a part of a URL", encodeURIComponent],
  ["a part of a URL with small digits", (secret) => lowerEscapes(encodeURIComponent(secret))],
  ["a URL", encodeURI],
  ["a URL in a URL", (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ["a form", toForm],
  ["a form with small digits", (secret) => lowerEscapes(toForm(secret))],
  ["HTML with names", toNamed],
  ["HTML with decimal codes", toEntities((code) => `&#${code};`)],
  ["HTML with hexadecimal codes", toEntities((code) => `&#x${code.toString(16)};`)],
  ["HTML with codes in capitals", toEntities((code) => `&#X${code.toString(16).toUpperCase()};`)],
  ["HTML in JSON", (secret) => toJson(toNamed(secret))],
  ["hex", (secret) => Buffer.from(secret).toString("hex")],
  ["hex in capitals", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
  ["bytes as characters", (secret) => Buffer.from(secret).toString("latin1")],
  ["UTF-16 as characters", (secret) => Buffer.from(secret, "utf16le").toString("latin1")],
];

/** The texts that say the bytes of a secret as numbers. */
const LISTS: readonly (readonly [string, (bytes: Uint8Array) => string])[] = [
  ["a list", (bytes) => JSON.stringify([...bytes])],
  ["a list with spaces", (bytes) => `[${bytes.join(", ")}]`],
  ["a list of one number a line", (bytes) => JSON.stringify([...bytes], undefined, 2)],
  ["an object", (bytes) => JSON.stringify(bytes)],
  ["an indented object", (bytes) => JSON.stringify(bytes, undefined, 2)],
  ["a Buffer", (bytes) => JSON.stringify(Buffer.from(bytes))],
  ["JSON in JSON", (bytes) => JSON.stringify(JSON.stringify(bytes))],
];

const listHex = (bytes: Uint8Array): readonly string[] => Array.from(bytes, (byte) => hex(byte, 2));

/** The texts that say the bytes of a secret in hex, one after the other. */
const HEX_LISTS: readonly (readonly [string, (bytes: Uint8Array) => string])[] = [
  ["colons", (bytes) => listHex(bytes).join(":")],
  ["colons, in capitals", (bytes) => listHex(bytes).join(":").toUpperCase()],
  ["spaces", (bytes) => listHex(bytes).join(" ")],
  ["hyphens", (bytes) => listHex(bytes).join("-")],
  ["0x and commas", (bytes) => `0x${listHex(bytes).join(", 0x")}`],
  ["0x, and a line for each", (bytes) => `0x${listHex(bytes).join(",\n  0x")}`],
  ["0x alone", (bytes) => `0x${listHex(bytes).join(" 0x")}`],
];

describe.each(SECRETS)("masks the secret %j [P9]", (secret) => {
  const known = new KnownSecrets([secret, "another-secret"]);

  test.each(FORMS)("as %s", (_form, write) => {
    expect(known.mask(`.${write(secret)}.`)).toBe(`.${MASK}.`);
    expect(known.mask(write(secret))).toBe(MASK);
  });

  test.each([0, 1, 2, 3, 4])("in base64 after %d other bytes, whatever follows", (offset) => {
    for (const encoding of ["base64", "base64url"] as const)
      for (const after of ["", "x", "xy", "xyz"]) {
        const encode = (text: string): string => Buffer.from(text).toString(encoding);
        const masked = known.mask(`Basic ${encode("#".repeat(offset) + secret + after)}`);
        expect(masked).toMatch(/^Basic [\w+/-]{0,6}\[redacted\][\w+/-]{0,5}={0,2}$/);
      }
  });

  test.each(LISTS)("in bytes that are written as %s", (_form, write) => {
    const bytes = Buffer.from(`##${secret}#`);
    const masked = known.mask(write(new Uint8Array(bytes)));
    expect(masked).toContain(MASK);
    expect(masked.match(/(?<!")\b\d{1,3}\b(?!\\?")/g)).toEqual(["35", "35", "35"]);
  });

  test.each(HEX_LISTS)("in bytes that are written in hex with %s", (_form, write) => {
    const masked = known.mask(write(Buffer.from(`##${secret}#`)));
    expect(masked).toMatch(/^(?:0x)?23\W{1,4}(?:0x)?23\[redacted\]\W{1,4}(?:0x)?23$/);
  });

  test.each([toJson, (text: string) => JSON.stringify({ text }), (text: string) => toJson(toJson(text))])(
    "in base64 of JSON",
    (write) => {
      for (const before of ["", "#", "##"])
        expect(known.mask(Buffer.from(before + write(secret)).toString("base64"))).toContain(MASK);
    },
  );

  test("in bytes", () => {
    const bytes = Buffer.from(`##${secret}#`);
    const masked = Buffer.from(`##${MASK}#`);
    expect(known.maskValue(bytes)).toEqual(masked);
    expect(known.maskValue({ list: [new Uint8Array(bytes)] })).toEqual({ list: [new Uint8Array(masked)] });
    expect(known.maskValue(new Uint8Array(bytes).buffer)).toEqual(new Uint8Array(masked).buffer);
    expect(known.maskValue([...bytes])).toEqual([...masked]);
    expect(known.maskValue(Uint16Array.from({ length: secret.length }, (_, index) => secret.charCodeAt(index)))).toBe(
      MASK,
    );
  });

  test("gives what it has found, so that it can be put back", () => {
    const found: string[] = [];
    const text = `a ${toJson(secret)} b ${secret}`;
    const hidden = known.replace(text, (form) => `<${found.push(form) - 1}>`);
    expect(hidden).toBe("a <0> b <1>");
    expect(replaceTexts(hidden, (part) => part.replace(/<(\d)>/g, (_all, number) => found[Number(number)] ?? ""))).toBe(
      text,
    );
  });
});

describe("leaves alone what is not a secret [P9]", () => {
  const known = new KnownSecrets(["canary-secret-1234", "password", "12345678"]);

  test.each([
    "canary-secret-123",
    "passwords, a_password and password1",
    String.raw`a "b" \n \u0063anary-secret-123 %63anary %zz &unknown; &#99999999; &#x110000; 1, 2, 300, 4`,
    "[1,2,3,4,5,6,7,8,9,10]",
    "10:20:30 00:1b:44:11:3a:b7:ff:01:02 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08",
  ])("%s", (text) => {
    expect(known.mask(text)).toBe(text);
  });

  test("a value without a secret is the same value", () => {
    const value = { list: [1, 2, 255], bytes: new Uint8Array(100), date: new Date(0), text: "a%20b\\u0041" };
    expect(known.maskValue(value)).toBe(value);
  });

  test("a word is a secret after the escape of a space as well", () => {
    expect(known.mask(String.raw`\npassword\tis`)).toBe(String.raw`\n[redacted]\tis`);
  });
});

test("masks overlapping and adjoining secrets as one [P9]", () => {
  const known = new KnownSecrets(["abcdefgh12", "gh12xyzw99", "0123456789"]);
  expect(known.mask("-abcdefgh12xyzw990123456789-")).toBe(`-${MASK}-`);
});

describe("masks in a time that grows with the text and the secrets only [P9]", () => {
  const long = "long-secret-".repeat(9_000);
  const many = Array.from(
    { length: 9_000 },
    (_, index) => `eyJhbGciOiJIUzI1NiJ9.${index.toString(36).repeat(5)}-${index}`,
  );
  const known = new KnownSecrets([`${long}end`, `${"a".repeat(100_000)}b`, ...many]);
  known.mask("is prepared");

  test("finds a secret of 100 KB as it is, in parts and in base64", () => {
    expect(known.mask(`.${long}end.`)).toBe(`.${MASK}.`);
    expect(known.mask(`.${Buffer.from(`##${long}end`).toString("base64")}`)).toMatch(/^\.\w{2}\[redacted\]=*$/);
    expect(known.mask(toJson(`.${long.slice(0, 5_000)}.`))).toMatch(/^\.\[redacted\].{0,63}\.$/);
  });

  test.each([
    "lorem ipsum dolor ",
    "a",
    "long-secret-",
    "eyJhbGciOiJIUzI1NiJ9.",
    String.raw`\u0061`,
    "\\",
    "%61",
    "&#97;",
    "97,",
    '"1":97,',
    "&",
    "1, ",
    "c2VjcmV0",
  ])("%j, repeated to 500 KB", (part) => {
    const text = part.repeat(Math.ceil(500_000 / part.length));
    const before = process.cpuUsage();
    known.mask(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });

  test("keeps 9,000 secrets, and forgets the oldest of more than 10,000", { tags: "rest" }, () => {
    const last = `${many.at(-1)}`;
    expect(known.mask(last)).toBe(MASK);
    const full = new KnownSecrets(Array.from({ length: 10_001 }, (_, index) => `secret-number-${index}-of-many`));
    expect(full.mask("secret-number-0-of-many secret-number-10000-of-many")).toBe(`secret-number-0-of-many ${MASK}`);
  });
});
