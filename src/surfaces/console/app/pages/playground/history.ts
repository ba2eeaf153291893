/** The programs that were run in this browser. */
const STORAGE_KEY = "skillgate-playground-history";

const MAX_PROGRAMS = 20;

/** Longer programs are not stored. */
const MAX_PROGRAM_UNITS = 20_000;

/** Returns the programs that were run in this browser, the newest first. */
export function readHistory(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string").slice(0, MAX_PROGRAMS) : [];
  } catch {
    return []; // another version of the page has written it
  }
}

export function addToHistory(program: string): void {
  if (program.length > MAX_PROGRAM_UNITS) return;
  const others = readHistory().filter((each) => each !== program);
  localStorage.setItem(STORAGE_KEY, JSON.stringify([program, ...others].slice(0, MAX_PROGRAMS)));
}
