import { stripTypes } from "../../../frontend/index.ts";
import { loadTypeScript } from "../../../shared/package/typescript.ts";
import { applyEdits, createSourceText } from "../../../shared/source-text.ts";
import { detectModuleFormat } from "../type-reader/exports.ts";
import type { ModuleFormat } from "../type-reader/index.ts";
import type { ModuleFiles } from "../source-files.ts";
import { parseSource, parseStripped, type Source, SourceError, type SyntaxNode } from "../type-reader/syntax.ts";

/** One file of a module as JavaScript. */
export interface ModuleText {
  readonly file: string;
  readonly format: ModuleFormat;
  readonly text: string;
  readonly program: SyntaxNode;
  /** True if its imports may name types, which do not exist when it runs. */
  readonly namesTypes: boolean;
}

/** Reads a file as JavaScript. `source` is the file if it has been parsed. Throws a `SourceError`. */
export function readModuleText(file: string, sources: ModuleFiles, source?: Source): ModuleText {
  const text = source?.text ?? sources.read(file);
  if (file.endsWith(".json")) return fromJson(file, text);
  if (!/\.[mc]?ts$/.test(file)) return createModuleText(source ?? parseSource(file, text), false);
  const parsed = source ?? attempt(() => parseSource(file, text));
  if (parsed instanceof SourceError) return compile(file, text, parsed);
  const { text: stripped, edits, refused } = stripTypes(text, parsed.program);
  const [finding] = refused;
  if (finding !== undefined) {
    const { line, column } = createSourceText(text).position(finding.start);
    const fix = (finding.fix ?? "Write import and export").replace(/^./, (letter) => letter.toLowerCase());
    const message = `${finding.values} needs a compiler: ${fix}`;
    return compile(file, text, new SourceError(message, line, column + 1, file));
  }
  const insertions = edits.flatMap((edit) => (edit.kind === "wrap" ? [{ ...edit, text: edit.before }] : []));
  const plain = attempt(() => parseStripped(file, applyEdits(stripped, insertions)));
  return plain instanceof SourceError ? compile(file, text, plain) : createModuleText(plain, true);
}

function attempt(parse: () => Source): Source | SourceError {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SourceError) return error;
    throw error;
  }
}

function createModuleText(source: Source, namesTypes: boolean): ModuleText {
  const { file, text, program } = source;
  const isCommonJs = /\.(?:c[jt]s|json)$/.test(file) || detectModuleFormat(source) === "cjs";
  return { file, text, program, namesTypes, format: isCommonJs ? "cjs" : "esm" };
}

/** The keys of an object can be imported by their names, too. */
function fromJson(file: string, text: string): ModuleText {
  const value = parseJson(file, text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isObject ? Object.keys(value).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default") : [];
  const assignments = names.map((name) => `exports.${name} = module.exports.${name};`).join("");
  const code = `module.exports = ${text.trim()};${assignments}`;
  return { ...createModuleText(parseSource(file.replace(/json$/, "cjs"), code), false), file };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SourceError(error instanceof Error ? error.message : "not JSON", 1, 1, file);
  }
}

/** Compiles syntax that types cannot simply be removed from, if TypeScript is installed; throws `mistake` if it is not. */
function compile(file: string, text: string, mistake: SourceError): ModuleText {
  const compiler = loadTypeScript();
  if (compiler.kind !== "found") {
    const why = compiler.kind === "missing" ? "or run: npm install --save-dev typescript@6" : `or: ${compiler.why}`;
    throw new SourceError(`${mistake.message}, ${why}`, mistake.line, mistake.column, file);
  }
  const { ts } = compiler;
  const isCommonJs = file.endsWith(".cts") || /^\s*export\s*=/m.test(text);
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: isCommonJs ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext,
      inlineSourceMap: true,
      removeComments: false,
    },
  });
  if (diagnostics.length > 0) throw mistake;
  return createModuleText(parseStripped(file, nameSource(outputText, file)), true);
}

const MAP = "\n//# sourceMappingURL=data:application/json;base64,";

/** Writes the path of the source file into the source map at the end of a text. */
function nameSource(text: string, file: string): string {
  const at = text.lastIndexOf(MAP) + MAP.length;
  const map = JSON.parse(Buffer.from(text.slice(at), "base64").toString("utf8")) as object;
  return text.slice(0, at) + Buffer.from(JSON.stringify({ ...map, sources: [file] })).toString("base64");
}
