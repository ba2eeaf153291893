import type { Command } from "commander";

import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { lines, milliseconds, table } from "../text/layout.ts";
import type { Paint } from "../terminal/terminal.ts";
import { splitPath } from "../../../shared/names/method-paths.ts";

type StatisticsByMethod = Awaited<ReturnType<Runtime["lastingStatistics"]>>;

export function addSkillsStats(skills: Command, act: CommandAction): void {
  skills
    .command("stats")
    .description("show the call statistics of methods in this project")
    .argument("[skills...]", "names of skills (default: all)")
    .action(
      act(async ({ runtime, paint }, names: readonly string[]) => {
        const all = await (await runtime()).lastingStatistics();
        const selected = [...all].filter(([path]) => names.length === 0 || names.includes(splitPath(path).skill));
        return {
          exit: "ok",
          json: { methods: Object.fromEntries(selected) },
          text: statisticsText(new Map(selected), paint.out) || "No calls recorded yet",
        };
      }),
    );
}

/** One line for each method; empty if there are none. */
export function statisticsText(statistics: StatisticsByMethod, paint: Paint): string {
  if (statistics.size === 0) return "";
  const head = ["method", "calls", "failed", "average", "p95", "last used"].map((word) => paint.dim(word));
  const rows = [...statistics].map(([path, { total, failed, averageMs, p95Ms, lastUsed }]) => [
    path,
    String(total),
    failed === 0 ? "0" : paint.red(String(failed)),
    milliseconds(averageMs),
    milliseconds(p95Ms),
    new Date(lastUsed).toISOString().replace(/\.\d+/, ""),
  ]);
  return lines(table([head, ...rows]));
}
