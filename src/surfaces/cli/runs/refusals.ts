import type { RefusalGroup } from "../../../runtime.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, escaped, formatSecond, indented, lines } from "../text/layout.ts";
import { openRuns } from "./find-run.ts";

/** Shows the refused programs by mistake, the most frequent first, each with an example and what would help. */
export async function listRefusals(session: CliSession, { limit }: { readonly limit: number }): Promise<CommandResult> {
  const { runs, secrets } = await openRuns(session);
  await session.openRuntime({ until: "known" }); // the help names methods of every server
  const report = secrets.maskTexts(await runs.refusals());
  const groups = report.groups.slice(0, limit);
  const text = groups.length === 0 ? "No refused programs" : groupsText(groups, report.programs, session.paint.out);
  return { json: { ...report, groups }, text };
}

function groupsText(groups: readonly RefusalGroup[], programs: number, paint: Paint): string {
  return lines([
    `${count(programs, "refused program")}, the most frequent mistakes first`,
    ...groups.map((group) => groupText(group, paint)),
  ]);
}

function groupText({ code, name, programs, callers, last, example, help }: RefusalGroup, paint: Paint): string {
  const facts = `${count(programs, "program")} of ${count(callers, "caller")}, the last at ${formatSecond(last)}`;
  const where = help.where === "" ? "" : ` in ${escaped(help.where)}:`;
  return lines([
    " ",
    `${paint.yellow(code)} ${escaped(name)} ${paint.dim(facts)}`,
    indented(escaped(example.message)),
    indented(example.frame),
    indented(`${escaped(help.text)}${where}`),
    help.edit === "" ? "" : indented(paint.cyan(escaped(help.edit))),
    paint.dim(indented(`skillgate runs show ${example.run.slice(0, 8)}`)),
  ]);
}
