import type { SourceFinding } from "../shared/source-text.ts";
import type { Habit } from "./habit.ts";
import { truncateText } from "../shared/format-text.ts";

const PYTHON = "This is Python: write JavaScript";

/** Statements that only Python has. They are matched before all other mistakes. */
export const PYTHON_STATEMENTS: readonly Habit[] = [
  { line: /^\s*(?:async\s+)?def\s+\w+/, says: "def", fix: `${PYTHON}: async function name(…) { … }` },
  {
    line: /^\s*class\s+\w[\w\s]*(?:\([^)]*\))?\s*:/,
    says: "a class that begins with a colon",
    fix: `${PYTHON}: class Name { … }`,
  },
  {
    line: /^\s*(?:async\s+)?for\s+(?!await\b)\w[^{]*:/,
    says: "a block that begins with a colon",
    fix: `${PYTHON}, with braces: for (const item of list) { … }`,
  },
  {
    line: /^\s*while\b[^{]*:\s*(?:#.*)?$/,
    says: "a block that begins with a colon",
    fix: `${PYTHON}, with braces: while (…) { … }`,
  },
  {
    line: /^\s*(?:if|elif|else|try|except|finally|(?:async\s+)?with|match)\b.*:\s*(?:#.*)?$/,
    says: "a block that begins with a colon",
    fix: `${PYTHON}, with braces: if (…) { … }`,
  },
  {
    line: /^\s*for\s+\w[^{]*\bin\b[^{]*\{/,
    says: "a condition without parentheses",
    fix: `${PYTHON}: for (const item of list) { … }`,
  },
  { line: /^\s*(?:if|while)\s+[^(\s][^{]*\{/, says: "a condition without parentheses", fix: `${PYTHON}: if (…) { … }` },
  { line: /^[\s}]*elif\b/, says: "elif", fix: `${PYTHON}: else if (…) { … }` },
  { line: /^\s*raise\b/, says: "raise", fix: `${PYTHON}: throw new Error("…")` },
  { line: /^\s*assert\s/, says: "assert", fix: `${PYTHON}: if (!condition) throw new Error("…")` },
  { line: /^\s*del\s/, says: "del", fix: `${PYTHON}: delete object.key, or set the variable to undefined` },
  {
    line: /^\s*(?:global|nonlocal)\s/,
    here: /^\w/,
    says: "global",
    fix: `${PYTHON}, and remove the line: a function sees the variables around it`,
  },
  { line: /^\s*print\s+[\w"'`]/, says: "print without parentheses", fix: `${PYTHON}: print(value)` },
];

/** Python expressions. They are matched after the general mistakes. */
export const PYTHON_EXPRESSIONS: readonly Habit[] = [
  { message: /Missing catch or finally/, says: "except", fix: `${PYTHON}: try { … } catch (error) { … }` },
  { here: /^["']/, line: /"""|'''/, says: "a triple-quoted string", fix: `${PYTHON}: \`text\`` },
  { here: /^["']/, line: /\b[fr]["']/, says: "a string with a prefix", fix: `${PYTHON}: \`text \${value}\`` },
  {
    here: /^(?:async\s+)?for\b/,
    line: /[[({].*\bfor\b.*\bin\b/,
    says: "a comprehension",
    fix: `${PYTHON}: list.filter((item) => …).map((item) => …)`,
  },
  {
    here: /^if\b.*\belse\b/,
    says: "a Python conditional expression",
    fix: `${PYTHON}: condition ? a : b`,
  },
  { here: /^(?:and|or|is|not)\b/, says: "a Python operator", fix: `${PYTHON}: && || === !==` },
  { line: /(?:\bif|\breturn|[=(,])\s*not\s/, says: "not", fix: `${PYTHON}: !value` },
  { line: /\blambda\b/, says: "lambda", fix: `${PYTHON}: (x) => …` },
  { here: /^:/, line: /[\w\])]\[[^[\]]*:[^[\]]*\]/, says: "a slice", fix: `${PYTHON}: list.slice(start, end)` },
];

const IMPORT =
  /^\s*(?:import\s+([\w.]+)(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*\s*;?\s*(?:#.*)?$|from\s+([\w.]+)\s+import\b)/;

const NO_SYSTEM = "Leave it out: there are no files and no processes here, call a method of device";
const NO_NETWORK = "Leave it out: there is no network here, call a method of device that fetches";

/** Fixes for imports, by module. */
const MODULES: ReadonlyMap<string, string> = new Map([
  ...["os", "sys", "subprocess", "pathlib", "shutil", "glob", "io"].map((name) => [name, NO_SYSTEM] as const),
  ...["requests", "urllib", "httpx", "aiohttp", "socket"].map((name) => [name, NO_NETWORK] as const),
  ...Object.entries({
    json: "JSON.parse(text) and JSON.stringify(value)",
    math: "Math.sqrt(number), Math.floor(number) and the rest of Math",
    random: "Math.random()",
    re: "text.match(/pattern/) and text.replace(/pattern/g, text)",
    time: "Date.now()",
    datetime: "new Date()",
    collections: "new Map() and new Set()",
    asyncio: "await Promise.all([…])",
  }).map(([name, instead]) => [name, `Leave it out and write JavaScript: ${instead}`] as const),
]);

/** Describes the Python import in a line; `undefined` if the line is not one. */
export function findPythonImport(line: string): Pick<SourceFinding, "code" | "values" | "fix"> | undefined {
  const found = IMPORT.exec(line);
  if (found === null) return undefined;
  const [module = ""] = (found[1] ?? found[2] ?? "").split(".");
  return {
    code: "MODULE_FORBIDDEN",
    values: truncateText(line.replace(/#.*/, "").trim(), 60),
    fix:
      MODULES.get(module) ??
      "Leave it out and write JavaScript: everything is on device, call await device.Skill.method(…)",
  };
}
