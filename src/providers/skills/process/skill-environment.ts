import { syncBuiltinESMExports } from "node:module";

import {
  childEnvironment,
  type ProcessEnvironment,
  withoutOwnSecrets,
} from "../../../shared/process/child-environment.ts";

/** Variables that change how Node and its packages run; none of them is a secret. */
const OF_NODE = [
  "CI",
  "COLORTERM",
  "DEBUG",
  "FORCE_COLOR",
  "NODE_ENV",
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "NO_COLOR",
  "SSL_CERT_FILE",
];

/** The variable that lists the names of the others that are set and that skills do not get. */
const WITHHELD = "SKILLGATE_WITHHELD";

/** Returns the environment of skills: what programs need to start, and the variables that the settings name. */
export function skillEnvironment(
  ours: ProcessEnvironment,
  namedVariables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const ofNode = OF_NODE.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]] as const]));
  const env = withoutOwnSecrets(childEnvironment(ours, { ...Object.fromEntries(ofNode), ...namedVariables }));
  const withheld = Object.keys(ours).filter((name) => !Object.hasOwn(env, name));
  return { ...env, [WITHHELD]: JSON.stringify(withheld) };
}

/** Calls `onRead` with the name of each withheld variable that is read in this process. */
export function followWithheld(onRead: (name: string) => void): void {
  const { [WITHHELD]: list = "[]", ...env } = process.env;
  const withheld = new Set(JSON.parse(list) as readonly string[]);
  process.env = new Proxy(env, {
    get(variables, name) {
      const value: unknown = Reflect.get(variables, name);
      if (value === undefined && typeof name === "string" && withheld.has(name)) onRead(name);
      return value;
    },
    // Every variable is a text.
    set: (variables, name, value) => Reflect.set(variables, name, String(value)),
  });
  // For `import { env } from "node:process"`.
  syncBuiltinESMExports();
}

/** Describes variables that are missing, and what to write, for a log and for the error of a skill. */
export function describeWithheld(names: Iterable<string>): string {
  const all = [...names].join(", ");
  return `it reads ${all} of the environment, which skills do not get; write skills: { env: [${all}] } in settings.yaml`;
}
