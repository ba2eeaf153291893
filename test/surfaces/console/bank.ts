import { defineSkill } from "../../../src/authoring/define-skill.ts";
import type { Outcome } from "../../../src/model/outcome.ts";
import { createFolder, followQuestions } from "../../approvals/mail.ts";
import { type ConsoleServer, type ConsoleServerOptions, serveConsole } from "./browser.ts";

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

interface BankOptions extends Pick<ConsoleServerOptions, "settings"> {
  /** The folder of its store; default: one of its own. */
  readonly store?: string;
}

/** Starts a server with `BankSkill`, whose calls wait for answers. */
export function serveBank({ store = createFolder(), ...options }: BankOptions = {}): Promise<ConsoleServer> {
  return serveConsole({ ...options, runtime: { store, skills: [BankSkill], approvals: { wait: true } } });
}

/** Transfers what it has found, after a question. */
export const PROGRAM = `const to = await device.BankSkill.find({ name: "Ada" });
await device.BankSkill.transfer({ to, amount: 40, note: "rent" });
return "done";`;

/** Starts programs, one after the other has asked its question. */
export async function startRuns({ runtime }: ConsoleServer, sources: readonly string[]) {
  const next = followQuestions(runtime);
  const outcomes: Promise<Outcome>[] = [];
  const ids: string[] = [];
  for (const source of sources) {
    outcomes.push(runtime.run(source));
    ids.push((await next()).id);
  }
  return { outcomes, ids };
}
