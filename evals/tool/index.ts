import { openCommandTerminal } from "../../src/surfaces/cli/index.ts";
import { listenForInterruption } from "../../src/surfaces/cli/terminal/interruption.ts";
import { runEvaluation } from "./run-evaluation.ts";

const args = process.argv.slice(2);
const terminal = openCommandTerminal(args);
await terminal.exit(await runEvaluation(args, terminal, listenForInterruption()));
