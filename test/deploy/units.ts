import { readFileSync } from "node:fs";

/** The parts of a systemd unit that a test tries. */
export interface Unit {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The signal of a stop leads to one of these exit codes. */
  readonly successCodes: readonly number[];
}

/** Reads a unit of the folder `deploy`. `variables` are those of its `EnvironmentFile`; `paths` replace parts of its text. */
export function readUnit(
  name: string,
  variables: Readonly<Record<string, string>>,
  paths: Readonly<Record<string, string>>,
): Unit {
  let text = readFileSync(`deploy/${name}`, "utf8");
  for (const [path, other] of Object.entries(paths)) text = text.replaceAll(path, other);
  const find = (key: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  const pairs = find("Environment").flatMap((line) => line.split(" ").map((pair) => pair.split(/=(.*)/)));
  const [start = ""] = find("ExecStart");
  const command = start.replace(/\$\{(\w+)\}/g, (_, variable: string) => variables[variable] ?? "").split(" ");
  return {
    command,
    environment: { ...Object.fromEntries(pairs.map(([key = "", value = ""]) => [key, value])), ...variables },
    successCodes: [0, ...find("SuccessExitStatus").map(Number)],
  };
}
