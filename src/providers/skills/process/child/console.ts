import { format } from "node:util";

import type { LogLevel } from "../../../../model/skill.ts";

const LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/** Passes what is printed to `report` first; prints it if `report` returns false. */
export function followConsole(report: (level: LogLevel, text: string) => boolean): void {
  for (const name of ["debug", "log", "info", "warn", "error"] as const) {
    const print = console[name].bind(console);
    console[name] = (...values: unknown[]) => {
      if (!report(LEVELS[name], format(...values))) print(...values);
    };
  }
}
