import { defineSkill } from "../../../src/authoring/define-skill.ts";

/** A skill with an effect that a person must approve, and with hostile texts. */
export const BankSkill = defineSkill({
  name: "BankSkill",
  description: "Moves money",
  methods: {
    find: {
      description: "Find an account",
      input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      readOnly: true,
      run: () => "DE89 \u202eADA <img src=x onerror=alert(1)>",
    },
    transfer: {
      description: "Transfer money to an account",
      approval: "user",
      destructive: true,
      input: {
        type: "object",
        properties: { to: { type: "string" }, amount: { type: "number" }, note: { type: "string" } },
        required: ["to", "amount", "note"],
      },
      run: ({ amount }) => ({ moved: amount }),
    },
    log: {
      description: "Write a line",
      input: {
        type: "object",
        properties: { line: { type: "string" }, level: { enum: ["info", "warn"] } },
        required: ["line"],
      },
      run: ({ line }) => ({ line }),
    },
    wait: {
      description: "Waits until it is stopped",
      run: (_input, { signal, progress }) =>
        new Promise((_resolve, reject) => {
          progress(1, 4, "one of four");
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    },
    fail: {
      description: "Always fails",
      run: () => {
        throw new Error("no money left");
      },
    },
  },
});
