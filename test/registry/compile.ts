import ts from "typescript";

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es5.d.ts"],
  skipLibCheck: true,
  types: [],
};

const LIBRARIES = new Map<string, ts.SourceFile | undefined>();

/** What TypeScript says about some `.ts` files under `strict`: `a.ts(3,7): message`, none if they compile. */
export function findDiagnostics(files: Readonly<Record<string, string>>): readonly string[] {
  const host = ts.createCompilerHost(OPTIONS);
  const fromDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version) => {
    const text = Object.hasOwn(files, name) ? files[name] : undefined;
    if (text !== undefined) return ts.createSourceFile(name, text, version);
    if (!LIBRARIES.has(name)) LIBRARIES.set(name, fromDisk(name, version));
    return LIBRARIES.get(name);
  };
  const program = ts.createProgram(Object.keys(files), OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
    const place = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0);
    return `${diagnostic.file?.fileName}(${(place?.line ?? 0) + 1},${place?.character ?? 0}): ${text}`;
  });
}
