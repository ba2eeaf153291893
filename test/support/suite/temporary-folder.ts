import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Folders that outlive a process: the code that Node has compiled, the sockets of a user's processes, and Chromium's profiles. */
const LASTING = new RegExp(`^(?:node-compile-cache$|skillgate-${process.getuid?.()}$|playwright)`);

const PREFIX = "sg-";

/** How long servers that files share may take to end after the processes of the tests. */
const SERVERS_MS = 30_000;

/** Gives all tests of a run one folder for temporary files; what they leave in it fails the run. Each project calls this. */
export default function setup(): void {
  if (basename(tmpdir()).startsWith(PREFIX)) return;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o1777); // as the usual one: PostgreSQL runs as another user
  process.env["TMPDIR"] = folder;
  // The processes of the tests end after the teardown of a global setup.
  process.once("exit", () => {
    const left = listLeft(folder);
    const files = left.flatMap((name) => [name, ...listFiles(join(folder, name)).map((file) => join(name, file))]);
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    console.error(`Tests have left ${left.length} temporary files or folders: ${files.slice(0, 40).join(", ")}`);
    process.exitCode = 1;
  });
}

/** The paths in a folder; none for a file. */
function listFiles(path: string): readonly string[] {
  return statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
}

function listLeft(folder: string): readonly string[] {
  const end = Date.now() + SERVERS_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const left = readdirSync(folder).filter((name) => !LASTING.test(name));
    if (left.length === 0 || Date.now() > end) return left;
    Atomics.wait(pause, 0, 0, 50);
  }
}
