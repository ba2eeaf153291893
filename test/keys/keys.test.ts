import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "../support/fuzz.ts";
import { expect, onTestFinished, test } from "vitest";

import { createKeys, findOldWords, getKeyState, type Keys, toNotation } from "../../src/keys/index.ts";
import { type Database, openDatabase } from "../../src/store/index.ts";

const NOON = Date.now();
const MINUTE_MS = 60_000;

interface Opened {
  readonly keys: Keys;
  readonly database: Database;
  readonly folder: string;
  readonly clock: { now: number };
}

async function open(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-keys-"));
  const database = await openDatabase({ folder });
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = { now: NOON };
  return { keys: createKeys(database, () => clock.now), database, folder, clock };
}

const ADA = { name: "ada", permissions: ["call:MathSkill.*", "see:TimeSkill.*"] };

test("returns a key once, and stores only its digest [P1]", async () => {
  const { keys, folder } = await open();
  const { text, key } = await keys.create(ADA);
  expect(text).toMatch(/^sg_[0-9a-z]{12}_[\w-]{43}$/);
  expect(key).toEqual({
    id: text.slice(3, 15),
    prefix: text.slice(0, 15),
    sha256: createHash("sha256").update(text).digest("hex"),
    previousSha256: null,
    previousExpires: null,
    ...ADA,
    scopes: [],
    roles: [],
    limits: {},
    created: NOON,
    lastUsed: null,
    expires: null,
    revoked: null,
  });
  expect(await keys.list()).toEqual([key]);
  const secret = text.slice(16);
  for (const file of ["skillgate.db", "skillgate.db-wal"])
    expect(readFileSync(join(folder, file), "latin1")).not.toContain(secret);
});

test("converts a valid key to a caller with its permissions, scopes, roles and limits [P1, P2]", async () => {
  const { keys } = await open();
  const { text, key } = await keys.create({
    ...ADA,
    permissions: [...ADA.permissions, "admin:Read"],
    scopes: ["mail:send"],
    roles: ["staff"],
    limits: { perMinute: 5, perHour: 100 },
  });
  expect(await keys.authenticate(text)).toEqual({
    id: `key:ada:${key.id}`,
    permissions: ["call:MathSkill.*", "see:TimeSkill.*", "admin:Read"],
    scopes: ["mail:send"],
    roles: ["staff"],
    limits: { perMinute: 5, perHour: 100 },
  });
});

test("accepts no text that differs from the key [P1]", { tags: "repeated" }, async () => {
  const { keys } = await open();
  const { text } = await keys.create(ADA);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(text.length - 1),
      fc.constantFrom("a", "Z", "0", "_", "-", ".", " ", "é"),
      async (at, character) => {
        const other = text.slice(0, at) + character + text.slice(at + 1);
        expect((await keys.authenticate(other)) === undefined).toBe(other !== text);
      },
    ),
  );
  for (const other of ["", text.slice(0, -1), `${text}a`, text.slice(0, 16), `Bearer ${text}`])
    expect(await keys.authenticate(other)).toBeUndefined();
});

test("refuses a key from the moment it is revoked, in every process [P1]", async () => {
  const { keys, folder } = await open();
  const { text } = await keys.create(ADA);
  const other = await openDatabase({ folder });
  onTestFinished(() => other.close());
  expect(await createKeys(other).authenticate(text)).toMatchObject({ permissions: ADA.permissions });
  expect((await keys.revoke("ada")).revoked).toBeNull();
  expect(await createKeys(other).authenticate(text)).toBeUndefined();
  expect((await keys.revoke("ada")).revoked).toBe(NOON);
});

test("refuses a key from its expiry on [P1]", async () => {
  const { keys, clock } = await open();
  const { text } = await keys.create({ ...ADA, expires: NOON + MINUTE_MS });
  clock.now += MINUTE_MS - 1;
  expect(await keys.authenticate(text)).toMatchObject({ permissions: ADA.permissions });
  clock.now += 1;
  expect(await keys.authenticate(text)).toBeUndefined();
  expect(getKeyState(await keys.get("ada"), clock.now)).toBe("expired");
});

test("accepts both secrets of a rotated key until the overlap ends [P1]", async () => {
  const { keys, clock } = await open();
  const first = await keys.create(ADA);
  const second = await keys.rotate("ada", { overlapMs: MINUTE_MS });
  expect(second.key.id).toBe(first.key.id);
  expect(second.text).not.toBe(first.text);
  expect(await keys.authenticate(first.text)).toEqual(await keys.authenticate(second.text));
  clock.now += MINUTE_MS;
  expect(await keys.authenticate(first.text)).toBeUndefined();
  expect(await keys.authenticate(second.text)).toMatchObject({ id: `key:ada:${first.key.id}` });
  const third = await keys.rotate("ada", { overlapMs: 0 });
  expect(await keys.authenticate(second.text)).toBeUndefined();
  expect(await keys.authenticate(third.text)).toBeDefined();
});

test("gives one key a name, and one of two rotations at the same moment a text that works [P1]", async () => {
  const { keys } = await open();
  const created = await Promise.allSettled([1, 2, 3].map(() => keys.create(ADA)));
  expect(created.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await keys.list()).toHaveLength(1);
  const rotated = await Promise.allSettled([1, 2].map(() => keys.rotate("ada", { overlapMs: 0 })));
  const texts = rotated.flatMap((each) => (each.status === "fulfilled" ? [each.value.text] : []));
  expect(texts).toHaveLength(1);
  expect(await keys.authenticate(texts[0] ?? "")).toBeDefined();
});

test("keeps a rotated key revoked [P1]", async () => {
  const { keys } = await open();
  const { text } = await keys.create(ADA);
  const rotated = await keys.rotate("ada", { overlapMs: MINUTE_MS });
  await keys.revoke("ada");
  expect(await keys.authenticate(text)).toBeUndefined();
  expect(await keys.authenticate(rotated.text)).toBeUndefined();
  for (const expires of [undefined, NOON + MINUTE_MS])
    await expect(keys.rotate("ada", { overlapMs: 0, expires })).rejects.toThrow(
      "Cannot use this option: the key ada is revoked. Create another key (OPTION_INVALID)",
    );
});

test("writes the last use of a key at most once a minute [P1]", async () => {
  const { keys, database, clock } = await open();
  const { text, key } = await keys.create(ADA);
  const uses: unknown[] = [];
  const table: Database["keys"] = {
    ...database.keys,
    update(id, changes) {
      uses.push(changes.lastUsed);
      return database.keys.update(id, changes);
    },
  };
  const used = createKeys({ keys: table }, () => clock.now);
  await Promise.all(Array.from({ length: 20 }, () => used.authenticate(text)));
  clock.now += MINUTE_MS - 1;
  await used.authenticate(text);
  clock.now += 1;
  await used.authenticate(text);
  expect(uses).toEqual([NOON, NOON + MINUTE_MS]);
  expect((await keys.get(key.id)).lastUsed).toBe(NOON + MINUTE_MS);
});

test.each([
  [{ name: "" }, '"" is not a name of a key'],
  [{ name: "a\nb" }, '"a\\nb" is not a name of a key'],
  [{ permissions: [] }, "a key requires at least one permission, such as call:MathSkill.* or call:*"],
  [{ permissions: ["calls:*"] }, "Unknown permission: calls; did you mean call?"],
  [{ permissions: ["execute"] }, "Unknown permission: execute; write call:MathSkill.*, see:MathSkill.*, admin:Read"],
  [{ permissions: ["see:"] }, "see requires a value. Write see:MathSkill.*"],
  [{ permissions: ["admin:Write"] }, "Unknown right to administer: Write; write admin:Read, admin:AnswerApprovals"],
  [{ permissions: ["admin:ManageKeys"] }, "Unknown right to administer: ManageKeys"],
  [
    { permissions: ["call:MathSkill"] },
    '"call:MathSkill": "MathSkill" is not a pattern of methods. Write MathSkill.* for all methods of MathSkill',
  ],
  [{ permissions: ["call:a b.*"] }, '"a b.*" is not a pattern of methods. Write Skill.method, Skill.* or *'],
  [{ scopes: ["mail send"] }, '"mail send" is not a scope. Write 1 to 100 characters without spaces'],
  [{ roles: [""] }, '"" is not a role'],
  [{ limits: { perMinute: 0 } }, "perMinute must be a whole number from 1, not 0"],
  [
    { expires: Date.UTC(2020, 0, 1) },
    "the expiry 2020-01-01T00:00:00.000Z is in the past. Write a later time, or a period such as 90d",
  ],
])("refuses a key with %j [P1]", async (wrong, reason) => {
  const { keys } = await open();
  await expect(keys.create({ ...ADA, ...wrong })).rejects.toThrow(reason);
  expect(await keys.list()).toEqual([]);
});

test("finds a key by name, id or prefix, and reuses the name of a revoked key [P1]", async () => {
  const { keys } = await open();
  const { key } = await keys.create(ADA);
  for (const text of ["ada", key.id, key.prefix]) expect((await keys.get(text)).id).toBe(key.id);
  await expect(keys.get("adda")).rejects.toThrow("Unknown key: adda; did you mean ada? (KEY_UNKNOWN)");
  await expect(keys.create(ADA)).rejects.toThrow(
    "another key is named ada. Choose another name, or replace it with: skillgate keys rotate ada",
  );
  await keys.revoke("ada");
  const second = await keys.create(ADA);
  expect((await keys.get("ada")).id).toBe(second.key.id);
});

test("reads the words of earlier versions: AdminWrite answers and manages runs, and manages no servers [P2]", async () => {
  const old = ["ToolInvoke(File*)", "ToolRead(*.read)", "ToolsListAll", "AdminRead", "AdminWrite"];
  expect(old.flatMap(toNotation)).toEqual([
    "call:File*",
    "see:*.read",
    "see:*",
    "admin:Read",
    "admin:AnswerApprovals",
    "admin:ManageRuns",
  ]);
  expect(findOldWords(["AdminWrite", "call:*"])).toBe(
    "AdminWrite is written admin:AnswerApprovals, admin:ManageRuns today; changing servers and skills now needs admin:ManageServers, by name",
  );
  expect(findOldWords(["call:*", "see:File*", "admin:Read"])).toBeUndefined();
  const { keys } = await open();
  expect((await keys.create({ ...ADA, permissions: old })).key.permissions).toEqual([
    "call:File*",
    "see:*.read",
    "see:*",
    "admin:Read",
    "admin:AnswerApprovals",
    "admin:ManageRuns",
  ]);
});
