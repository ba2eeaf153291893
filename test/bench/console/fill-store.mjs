import Database from "libsql";

const STATES = ["completed", "completed", "completed", "failed", "cancelled", "refused"];

/** Writes finished runs of the last day into a store of SQLite that has its tables, each with a record and two methods. */
export function fillStore(folder, runs) {
  const database = new Database(`${folder}/skillgate.db`);
  const run = database.prepare(
    `INSERT INTO runs (id, caller, state, title, program, created, updated, ended, duration, continues, calls, effects, size, claimed_by, attempts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 0, 200, NULL, 1)`,
  );
  const entry = database.prepare("INSERT INTO run_entries (run, seq, events, hash) VALUES (?, 0, '[]', '')");
  const method = database.prepare("INSERT INTO run_methods (run, path) VALUES (?, ?)");
  const day = 86_400_000;
  const start = Date.now() - day;
  database.exec("BEGIN");
  for (let at = 0; at < runs; at++) {
    const id = `run-${String(at).padStart(6, "0")}`;
    const created = start + Math.floor((at * day) / runs);
    const title = `const order = await device.ShopSkill.find({ article: "article ${at % 977}", limit: ${at % 50} })`;
    const [caller, state, program] = [`caller-${at % 7}`, STATES[at % STATES.length], `program-${at % 300}`];
    run.run(id, caller, state, title, program, created, created, created, at % 900, at % 12);
    entry.run(id);
    method.run(id, `ShopSkill.method${at % 100}`);
    method.run(id, "LogSkill.write");
  }
  database.exec("COMMIT");
  database.close();
}
