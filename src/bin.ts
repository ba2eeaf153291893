#!/usr/bin/env node
import { runCommandLine } from "./surfaces/cli/index.ts";

await runCommandLine(process.argv.slice(2));
