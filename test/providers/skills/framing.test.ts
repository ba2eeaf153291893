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

test("L10: messages between processes arrive whole, in whatever pieces they come", () => {
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

test("L10: what is no message is no message: a length beyond all bounds, and bytes that mean nothing", () => {
  const unpacker = new Unpacker(word, () => expect.unreachable());
  unpacker.add(Buffer.concat([word, Buffer.from([255, 255, 255])]));
  expect(() => unpacker.add(Buffer.from([255]))).toThrow(MessageTooLarge);
  expect(() => unpackedFrom(Buffer.concat([word, Buffer.from([2, 0, 0, 0, 1, 2])]), 14)).toThrow(
    "Unable to deserialize cloned data",
  );
  expect(() => packMessage("x".repeat(65 << 20), word)).toThrow(MessageTooLarge);
});

test("L10: what does not begin with the word is no message from its first byte on, nor is it after one that did", () => {
  const heard: unknown[] = [];
  const unpacker = new Unpacker(word, (message) => heard.push(message));
  unpacker.add(packMessage(1, word));
  expect(() => unpacker.add(Buffer.from([(word[0] ?? 0) ^ 1]))).toThrow("does not begin as a message");
  expect(() => unpackedFrom(packMessage(1, newToken()), 3)).toThrow("does not begin as a message");
  expect(heard).toEqual([1]);
});

test("L10: staying awake for an answer comes to an end", () => {
  const linger = new URL("../../../dist/src/providers/skills/process/child/spin-wait.js", import.meta.url).href;
  const program = `
    const { SpinWait } = await import(${JSON.stringify(linger)});
    const linger = new SpinWait(20);
    const began = performance.now();
    linger.begin();
    process.on("exit", () => console.log(performance.now() - began >= 20));`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "true\n", status: 0 });
});
