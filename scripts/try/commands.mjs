// The commands of the pages, and which of them cannot be executed everywhere.

import { readFileSync } from "node:fs";

/** Commands that are not executed, with the reason. */
const SKIPPED = [
  [/^npm pack\b|^npm install \.\.?\//, "done before the first command"],
  [/\b(?:3f9c|k3f7w2m9xa|ID)\b|CityMailSkill/, "names a run or an approval of the reader"],
  [/--replay run\.jsonl|\beval evals\b|evals\/|policy test$/, "needs files of the reader"],
  [/^skillgate (?:ask|chat)\b/, "needs a model"],
  [/^skillgate (?:try|trust)$/, "asks at the terminal"],
  [/^skillgate (?:console|serve)\b|^OTEL_/, "does not end"],
  [/^skillgate connect\b/, "needs another client"],
  [/nats|kitchen_pc/, "needs a NATS server"],
  [/mcp add (?:github|--transport)/, "needs an account or another host"],
  [/^skillgate policy explain MailSkill/, "names a skill of the reader"],
  [
    /^(?:useradd|install|cp skillgate\.service|systemctl|docker|echo "SKILLGATE|npm install --global)/,
    "needs root or Docker",
  ],
  [/^curl\b/, "needs a server that runs"],
  [/^[A-Z_]+=\S*…/, "is a file of variables"],
  [/^npm install @opentelemetry/, "installs packages of others"],
  [/^npx esbuild\b|^cp -r node_modules\/skillgate\/dist/, "is executed by test/package"],
];

/** Returns the commands of the blocks of a page that are marked `sh`, each with its line. Lines that end with `\` go on. */
export function readCommands(file, label) {
  const commands = [];
  let isCommand = false;
  let begun;
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    if (/^\s*```/.test(line)) {
      isCommand = /^\s*```sh\s*$/.test(line);
      continue;
    }
    if (!isCommand || (begun === undefined && /^\s*(?:#|$)/.test(line))) continue;
    const part = line.replace(/\s{2,}#.*$|\s+# .*$/, "").trim();
    begun =
      begun === undefined
        ? { place: `${label}:${index + 1}`, text: part }
        : { ...begun, text: begun.text + ` ${part}` };
    if (begun.text.endsWith("\\")) {
      begun.text = begun.text.slice(0, -1).trimEnd();
      continue;
    }
    commands.push(toCommand(begun));
    begun = undefined;
  }
  return commands;
}

/** A command whose arguments are left open, as in `skillgate runs …`, is asked for its help. */
function toCommand({ place, text }) {
  const skipped = SKIPPED.find(([pattern]) => pattern.test(text))?.[1];
  return { place, text, shell: text.replace(/ …$/, " --help"), skipped };
}
