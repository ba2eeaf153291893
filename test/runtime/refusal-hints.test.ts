import { expect, test } from "vitest";

import { createRefusalHints } from "../../src/runtime/refusals/refusal-hints.ts";
import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";

const WeatherSkill = defineSkill({
  name: "WeatherSkill",
  description: "Knows the weather",
  methods: {
    forecast: {
      description: "Tell the weather of the next days in a city",
      input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      run: async ({ city }: { city: string }) => `sunny in ${city}`,
    },
  },
});

async function opened(): Promise<Runtime> {
  return createRuntime({ skillsDir: false, skills: [WeatherSkill], typecheck: false });
}

test("adds the search result to the text after three refusals of one kind in a conversation [S5]", async () => {
  const runtime = await opened();
  try {
    const runText = async (source: string, conversation?: string): Promise<string> =>
      (await runtime.run(source, conversation === undefined ? {} : { conversation })).text;
    const [first, second] = ["device.Wetter.today('Rome')", "device.Sky.get('Rome')"];
    expect(await runText(first, "a")).not.toContain("finds:");
    expect(await runText(second, "a")).not.toContain("finds:");
    const third = await runText("device.Meteo.weather('Rome')", "a");
    expect(third.slice(third.indexOf("Refused for"))).toBe(
      `Refused for the same reason 3 times or more. device.search_skills("meteo") finds:\n${runtime.search("meteo", { limit: 5 }).text}`,
    );
    expect(await runText(first)).not.toContain("finds:");
    expect(await runText(first, "b")).not.toContain("finds:");
    expect(await runText(first, "a")).toContain(runtime.search("wetter", { limit: 5 }).text);
    await runText("device.WeatherSkill.forecast('Rome')", "a");
    expect(await runText(first, "a")).not.toContain("finds:");
  } finally {
    await runtime.close();
  }
});

test("counts refusals of different kinds separately [S5]", async () => {
  const runtime = await opened();
  try {
    for (const source of ["device.Weather.today()", "device.WeatherSkill.today()", "fetch(1)", "nowhere()"])
      expect((await runtime.run(source, { conversation: "a" })).text).not.toContain("finds:");
  } finally {
    await runtime.close();
  }
});

test("forgets the conversation that was idle for longest among a thousand [S7]", async () => {
  const runtime = await opened();
  try {
    const conversations = createRefusalHints();
    const refused = await runtime.run("device.Weather.today()");
    const remember = (key: string): string => conversations.addHint(key, refused, runtime.catalog).text;
    remember("old");
    remember("old");
    for (let each = 0; each < 1_000; each++) remember(`${each}`);
    expect(remember("old")).not.toContain("finds:");
    remember("999");
    expect(remember("999")).toContain("finds:");
  } finally {
    await runtime.close();
  }
});
