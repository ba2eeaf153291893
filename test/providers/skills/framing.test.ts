import { spawnSync } from "node:child_process";

import { expect, test } from "vitest";

import { newToken, packMessage, MessageTooLarge, Unpacker } from "../../../src/providers/skills/process/framing.ts";

const word = newToken();

function unpackedFrom(bytes: Buffer, pieceBytes: number): readonly unknown[] {
  const messages: unknown[] = [];
  const unpacker = new Unpacker(word, (message) => messages.push(message));
  for (let at = 0; at < bytes.length; at += pieceBytes) unpacker.add(bytes.subarray(at, at + pieceBytes));
  return messages;
}

test("reassembles messages from pieces of any size [L10]", () => {
  const messages = [
    1,
    "",
    { text: "ä€𝄞", deep: [{ at: new Date(5) }, new Map([["a", 1n]])] },
    new Uint8Array(1_000),
    undefined,
  ];
  const bytes = Buffer.concat(messages.map((message) => packMessage(message, word)));
  for (const pieceBytes of [1, 2, 3, 5, 7, 100, 10_000]) expect(unpackedFrom(bytes, pieceBytes)).toEqual(messages);
});

test("rejects an excessive length and bytes that are not a message [L10]", () => {
  const unpacker = new Unpacker(word, () => expect.unreachable());
  unpacker.add(Buffer.concat([word, Buffer.from([255, 255, 255])]));
  expect(() => unpacker.add(Buffer.from([255]))).toThrow(MessageTooLarge);
  expect(() => unpackedFrom(Buffer.concat([word, Buffer.from([2, 0, 0, 0, 1, 2])]), 14)).toThrow(
    "Unable to deserialize cloned data",
  );
  expect(() => packMessage("x".repeat(65 << 20), word)).toThrow(MessageTooLarge);
});

test("rejects bytes without the token at the first byte, also after a valid message [L10]", () => {
  const heard: unknown[] = [];
  const unpacker = new Unpacker(word, (message) => heard.push(message));
  unpacker.add(packMessage(1, word));
  expect(() => unpacker.add(Buffer.from([(word[0] ?? 0) ^ 1]))).toThrow("does not start with the token of the channel");
  expect(() => unpackedFrom(packMessage(1, newToken()), 3)).toThrow("does not start with the token of the channel");
  expect(heard).toEqual([1]);
});

test("stops spinning for an answer after a while [L10]", { tags: "rest" }, () => {
  const module = new URL("../../../dist/sandbox/spin-wait.js", import.meta.url).href;
  const program = `
    const { EventLoopSpin } = await import(${JSON.stringify(module)});
    const spin = new EventLoopSpin(20);
    const began = performance.now();
    spin.begin();
    process.on("exit", () => console.log(performance.now() - began >= 20));`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "true\n", status: 0 });
});
