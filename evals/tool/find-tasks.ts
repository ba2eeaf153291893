import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { getMessage } from "../../src/errors.ts";
import { UsageError } from "../../src/surfaces/cli/usage-error.ts";
import { type EvalTask, parseTask } from "./task.ts";

const TASK_FILE = /\.ya?ml$/i;

/** Reads the tasks of files and folders. Throws `UsageError`, and `CONFIG_INVALID` for a file with a mistake. */
export async function findTasks(paths: readonly string[]): Promise<readonly EvalTask[]> {
  const tasks: EvalTask[] = [];
  for (const path of paths) for (const file of await listFiles(path)) tasks.push(await readTask(file));
  return tasks;
}

async function listFiles(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => TASK_FILE.test(name)).sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (thrown) {
    throw createReadError(path, thrown);
  }
  throw new UsageError(`No tasks found in ${JSON.stringify(path)}; a task is a file that ends in .yaml`);
}

async function readTask(file: string): Promise<EvalTask> {
  const text = await readFile(file, "utf8").catch((thrown: unknown) => {
    throw createReadError(file, thrown);
  });
  return parseTask(text, file, resolve(file));
}

function createReadError(path: string, thrown: unknown): UsageError {
  return new UsageError(`Cannot read the tasks in ${JSON.stringify(path)}: ${getMessage(thrown)}`);
}
