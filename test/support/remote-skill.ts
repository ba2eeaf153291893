import type { ProvidedSkill } from "../../src/index.ts";

/** A skill as another machine offers it, without the machine. */
export function createRemoteSkill(name: string): ProvidedSkill {
  return {
    name,
    description: "Plays music",
    source: "another machine",
    kind: "node",
    methods: [
      {
        name: "play",
        description: "Plays a song",
        input: { type: "object", properties: { song: { type: "string" } }, required: ["song"] },
        output: { type: "string" },
      },
    ],
    invoke: async (_, { song }) => `${name} plays ${String(song)}`,
  };
}
