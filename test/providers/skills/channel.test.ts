import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { call, loadFiles, temporaryFolder } from "./call.ts";

const UNREADABLE = "did not finish: the skill process sent an unreadable message";

/** A skill that writes into the channel, and one whose calls leave a mark, so that one that begins twice is seen. */
async function load() {
  const marks = join(await temporaryFolder(), "marks");
  const provider = await loadFiles({
    "writing.ts": `
      import { writeSync } from "node:fs";
      import { DefaultSerializer } from "node:v8";
      export const argv = () => process.argv.length;
      /** Bytes that look like the beginning of a long message. */
      export function announce() { const head = Buffer.alloc(4); head.writeUInt32LE(60 << 20); writeSync(3, head); return "x"; }
      /** The same of one that has gone to great lengths. */
      export function forge(context: CallContext) {
        const release = DefaultSerializer.prototype.releaseBuffer;
        let head = Buffer.alloc(12);
        DefaultSerializer.prototype.releaseBuffer = function () {
          const frame = release.call(this);
          frame.copy(head);
          return frame;
        };
        context.log("info", "anything");
        DefaultSerializer.prototype.releaseBuffer = release;
        head.writeUInt32LE(60 << 20, 8);
        writeSync(3, head);
        return new Promise(() => {});
      }
      /** Sends a text that is not JSON as a result. */
      export function garble() {
        const write = DefaultSerializer.prototype.writeValue;
        DefaultSerializer.prototype.writeValue = function (message) {
          return write.call(this, message.isJson ? { ...message, value: "{" } : message);
        };
        return {};
      }
      export function flood(context: CallContext) {
        for (let line = 0; line < 900; line++) context.log("info", "x".repeat(10_000));
        const until = Date.now() + 2_500;
        while (Date.now() < until);
        return "flooded";
      }`,
    "paying.ts": `
      import { appendFileSync } from "node:fs";
      export async function pay() { appendFileSync(${JSON.stringify(marks)}, "paid\\n"); return "paid"; }
      export async function slowly() {
        appendFileSync(${JSON.stringify(marks)}, "paid\\n");
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return "paid";
      }`,
  });
  return { provider, paid: () => readFile(marks, "utf8").catch(() => "") };
}

const failed = (path: string, what: string) => ({
  code: "CALL_FAILED",
  message: `Cannot complete the call: "${path}" ${what} (CALL_FAILED)`,
});

test("ends the process at foreign bytes in the channel, and starts no call twice [L10]", async () => {
  const { provider, paid } = await load();
  const payment = call(provider, "PayingSkill.slowly");
  const failure = expect(payment).rejects.toMatchObject(failed("PayingSkill.slowly", UNREADABLE));
  await expect(call(provider, "WritingSkill.announce")).rejects.toMatchObject(
    failed("WritingSkill.announce", UNREADABLE),
  );
  await failure;
  await expect(call(provider, "PayingSkill.pay")).resolves.toBe("paid");
  expect(await paid()).toBe("paid\npaid\n");
});

test("ends the process at an incomplete message, and does not restart its calls [L10]", async () => {
  const { provider, paid } = await load();
  const forged = expect(call(provider, "WritingSkill.forge")).rejects.toMatchObject(
    failed("WritingSkill.forge", UNREADABLE),
  );
  await expect(call(provider, "PayingSkill.pay")).rejects.toMatchObject(failed("PayingSkill.pay", UNREADABLE));
  await forged;
  expect(await paid()).toBe("paid\n");
});

test("ends the process at a result that is not JSON, and does not restart its calls [L10]", async () => {
  const { provider, paid } = await load();
  const garbled = expect(call(provider, "WritingSkill.garble")).rejects.toMatchObject(
    failed("WritingSkill.garble", UNREADABLE),
  );
  await garbled;
  await expect(call(provider, "PayingSkill.pay")).resolves.toBe("paid");
  expect(await paid()).toBe("paid\n");
});

test("gives each result as it was returned, whether JSON has it or not [L10]", async () => {
  const provider = await loadFiles({
    "returning.mjs": `
      const shared = { id: 1 };
      const values = {
        plain: () => ({ list: [1, "zwei €", true, null, { "__proto__x": [] }], text: String.fromCharCode(0xd800, 0), "2": 2, "1": 1 }),
        numbers: () => ({ none: NaN, zero: -0, all: Infinity, long: 2n ** 70n }),
        zero: () => ({ at: -0 }),
        gaps: () => ({ gap: undefined, list: [, 1] }),
        proto: () => JSON.parse('{"__proto__": {"a": 1}, "b": 2}'),
        shared: () => [shared, shared],
        special: () => [new Date(0), new Uint8Array([1, 2]), new Map([["a", new Set([1])]])],
        patched: () => { JSON.stringify = () => "{}"; return { kept: true }; },
        own: () => [Object.assign([1], { toJSON: () => "other" })],
        controls: () => ({ text: String.fromCharCode(0).repeat(12 << 20) }),
      };
      export const get = (name) => values[name]();`,
  });
  const get = (name: string): Promise<unknown> => call(provider, "ReturningSkill.get", { name });
  const plain = { 1: 1, 2: 2, list: [1, "zwei €", true, null, { __proto__x: [] }], text: "\ud800\0" };
  expect(JSON.stringify(await get("plain"))).toBe(JSON.stringify(plain));
  expect(await get("numbers")).toStrictEqual({ none: Number.NaN, zero: -0, all: Infinity, long: 2n ** 70n });
  expect(await get("zero")).toStrictEqual({ at: -0 });
  const gap = Object.assign(Array(2), { 1: 1 });
  expect(await get("gaps")).toStrictEqual({ gap: undefined, list: gap });
  expect(JSON.stringify(await get("proto"))).toBe('{"__proto__":{"a":1},"b":2}');
  expect(await get("shared")).toEqual([{ id: 1 }, { id: 1 }]);
  const special = [new Date(0), new Uint8Array([1, 2]), new Map([["a", new Set([1])]])];
  expect(await get("special")).toEqual(special);
  expect(await get("patched")).toEqual({ kept: true });
  await expect(get("own")).rejects.toThrow("did not return plain data");
  expect(await get("controls")).toEqual({ text: "\0".repeat(12 << 20) });
});

test("reads long output of a skill that then computes, and starts no call twice [L10]", { tags: "rest" }, async () => {
  const { provider, paid } = await load();
  let heard = 0;
  const flood = call(provider, "WritingSkill.flood", {}, { log: () => void heard++ });
  await expect(call(provider, "PayingSkill.pay")).resolves.toBe("paid");
  expect(await paid()).toBe("paid\n");
  await expect(flood).resolves.toBe("flooded");
  expect(heard).toBe(900);
  await expect(call(provider, "WritingSkill.argv")).resolves.toBe(2);
});

test("keeps the channel token off the command line and the server token out of the environment [L10]", async () => {
  const folder = await temporaryFolder();
  const [looking, seen] = [join(folder, "looking.cjs"), join(folder, "seen")];
  const look = `require("fs").appendFileSync(${JSON.stringify(seen)}, JSON.stringify(process.argv.slice(1)) + "\\n")`;
  await writeFile(looking, look);
  vi.stubEnv("NODE_OPTIONS", `--require ${looking}`);
  vi.stubEnv("SKILLGATE_TOKEN", "a-token-of-the-server");
  onTestFinished(() => void vi.unstubAllEnvs());
  const provider = await loadFiles({
    "environment.ts": "export const names = () => Object.keys(process.env);",
  });
  const names = await call(provider, "EnvironmentSkill.names");
  expect(names).toContain("PATH");
  expect(names).not.toContain("SKILLGATE_TOKEN");
  const [words = ""] = (await readFile(seen, "utf8")).split("\n");
  const isNumber = expect.stringMatching(/^\d+$/);
  expect(JSON.parse(words)).toEqual([expect.stringMatching(/main\.js$/), isNumber, String(process.pid)]);
});
