import type { Runtime } from "../../../runtime.ts";
import type { CliSession } from "../session.ts";
import { count } from "../text/layout.ts";
import type { DoctorCheck } from "../text/output.ts";

/** Connects to the executors of the settings, and checks that there is one with this version. */
export async function checkExecutors(session: CliSession, runtime: Runtime): Promise<readonly DoctorCheck[]> {
  const { settings } = await session.executorSettings({});
  if (settings === undefined) return [];
  const { connectExecutors, createVersionReader } = await import("../../../executors/index.ts");
  const { database } = await session.folders();
  const warnings: string[] = [];
  const pool = await connectExecutors({
    settings,
    readVersion: createVersionReader(() => runtime, database),
    warn: (text) => warnings.push(text),
    inform: () => {},
  });
  try {
    await pool.known;
    const { failure, processes } = pool;
    const says = failure ?? `${count(processes.length, "executor")} with this version`;
    const status = failure === undefined && processes.length > 0 ? "ok" : "error";
    return [{ kind: "executors", subject: "Executors", status, says, details: warnings.join("\n") }];
  } finally {
    await pool.close();
  }
}
