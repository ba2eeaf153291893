import type { Prepared } from "./load/cache.ts";
import type { SkillModule } from "./load/discover.ts";
import type { ImportMarks } from "./load/import-marks.ts";
import type { SkillProcessPool } from "./process-pool.ts";
import type { Loaded, LoadRequest } from "./process/index.ts";

/** The import of a module at the first call of one of its methods, in a process of its own. */
export interface DeferredImport {
  readonly isImported: boolean;
  /** Imports the module unless that is done. Rejects like the import; the next call tries again. */
  readonly ensureImported: () => Promise<unknown>;
}

export interface DeferredModule {
  readonly module: SkillModule;
  readonly prepared: Prepared;
  readonly request: LoadRequest;
}

/** Creates the import of a module that once did not finish. If it finishes this time, the next start imports it as usual. */
export function deferImport(
  { module, prepared, request }: DeferredModule,
  processes: SkillProcessPool,
  hanging: ImportMarks,
): DeferredImport {
  let isImported = false;
  let importing: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    try {
      await processes.isolate(module.source).load(request);
      isImported = true;
      hanging.delete(prepared.bundle);
    } catch (error) {
      importing = undefined;
      throw error;
    }
  };
  return {
    get isImported() {
      return isImported;
    },
    ensureImported: () => (importing ??= load()),
  };
}

/** Returns the assumed content of a module before its import: the classes and functions in its source. */
export function assumeLoaded({ definitions }: Prepared): Loaded {
  return { classes: definitions.classes.map(() => undefined), skills: [], tools: [], functions: [], failures: [] };
}
