import { expect, test } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { temporaryFolder, writeFiles } from "../providers/skills/call.ts";

test("hides the secrets of a skill in its logs, progress and errors from every listener [L9, P9]", async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    "settings.yaml": "skills:\n  SpeakerSkill:\n    volume: 3\n    apiKey: the-key-of-the-service\n",
    "skills/speaker.ts": `
      export const settings = {
        type: "object",
        properties: { volume: { type: "integer" }, apiKey: { type: "string", writeOnly: true } },
      };
      export function speak(context: CallContext): number {
        context.log("warn", "I have " + context.secrets.apiKey);
        context.progress(1, 2, "with " + context.secrets.apiKey);
        console.log("printed " + context.secrets.apiKey);
        return context.settings.volume;
      }
      export function fail(context: CallContext): never {
        throw new Error("refused: " + context.secrets.apiKey);
      }`,
  });
  const heard: string[] = [];
  const runtime = await createRuntime({
    cwd: await temporaryFolder(), // that of the tests has a server
    skillsDir: `${folder}/skills`,
    settings: `${folder}/settings.yaml`,
    log: (level, text) => heard.push(`${level} ${text}`),
  });
  runtime.on("progress", ({ text }) => heard.push(`progress ${text}`));
  try {
    await expect(runtime.call("SpeakerSkill.speak", {})).resolves.toBe(3);
    await expect(runtime.call("SpeakerSkill.fail", {})).rejects.toThrow(/^refused: \[redacted\]$/);
    await expect
      .poll(() => heard.toSorted())
      .toEqual([
        expect.stringMatching(/^error Error: refused: \[redacted\]\n {4}at fail \(/),
        "info printed [redacted]",
        "progress with [redacted]",
        "warn I have [redacted]",
      ]);
  } finally {
    await runtime.close();
  }
});

test("keeps a large result with a secret as a value that a later program can read [P9]", async () => {
  const secret = "87654321";
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [
      defineSkill({
        name: "PinSkill",
        description: "Returns a secret of digits",
        methods: {
          read: {
            description: "Read a large value",
            run: () => ({ pin: Number(secret), bytes: [...Buffer.from(secret)], fill: "words ".repeat(10_000) }),
          },
        },
      }),
    ],
    env: { OPENAI_API_KEY: secret },
  });
  try {
    const first = await runtime.run("return await device.PinSkill.read()");
    const [, handle = ""] = /device\.result\("(\w+)"\)/.exec(first.text) ?? [];
    expect(await runtime.run(`const { pin, bytes } = device.result("${handle}"); return [pin, bytes]`)).toMatchObject({
      value: ["[redacted]", [...Buffer.from("[secret:1]")]],
    });
  } finally {
    await runtime.close();
  }
});

test.each([
  ["OPENAI_API_KEY", {}],
  ["ANTHROPIC_API_KEY", {}],
  ["OLLAMA_API_KEY", {}],
  ["MY_GATEWAY", { agent: { model: "openai:gpt-5", keyVariable: "MY_GATEWAY" } }],
])("masks the key of a model in %s, though no agent runs [P9]", async (variable, sections) => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { "settings.yaml": JSON.stringify(sections) });
  const runtime = await createRuntime({
    cwd: await temporaryFolder(), // that of the tests has a server
    skillsDir: false,
    settings: `${folder}/settings.yaml`,
    env: { [variable]: "plain words as a key" },
  });
  try {
    expect(await runtime.run('return "it is plain words as a key"')).toMatchObject({ value: "it is [redacted]" });
  } finally {
    await runtime.close();
  }
});
