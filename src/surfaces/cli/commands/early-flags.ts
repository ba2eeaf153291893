import { resolve } from "node:path";

/** Flags of a command line with their values; switches have the empty one. */
export type EarlyFlags = ReadonlyMap<string, string>;

/** The flags that a command reads early. */
export interface EarlyFlagNames {
  readonly switches: readonly string[];
  readonly options: readonly string[];
}

const COMMON_SWITCHES: ReadonlySet<string> = new Set(["--verbose", "--debug"]);
const COMMON_OPTIONS: ReadonlySet<string> = new Set(
  "--folder --expose --names --skills --settings --mcp-config --log-format".split(" "),
);

/** Reads the flags of `skillgate serve`; `undefined` for a line that must be read by the command itself. */
export function parseEarlyFlags(
  args: readonly string[],
  { switches, options }: EarlyFlagNames,
): EarlyFlags | undefined {
  const flags = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const flag = args[at] ?? "";
    const value = args[at + 1];
    if (COMMON_SWITCHES.has(flag) || switches.includes(flag)) flags.set(flag, "");
    else if (isOption(flag, options) && value !== undefined && !value.startsWith("-")) {
      flags.set(flag, value);
      at++;
    } else return undefined;
  }
  return flags;
}

function isOption(flag: string, options: readonly string[]): boolean {
  return COMMON_OPTIONS.has(flag) || options.includes(flag);
}

/** Returns the folder that the command serves. */
export function getServedFolder(flags: EarlyFlags): string {
  return resolve(flags.get("--folder") ?? ".");
}
