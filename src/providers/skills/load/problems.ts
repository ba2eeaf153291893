import { relative, sep } from "node:path";

import { messageOf, sentence, SkillgateError } from "../../../errors.ts";
import type { Failure } from "../process/messages.ts";
import { ModuleFailure, withoutPaths } from "../process/index.ts";
import { SourceError } from "../read/syntax.ts";
import type { SkillModule } from "./discover.ts";

/** Says why a module could not be loaded, with the line where that is known. */
export function loadError(error: unknown, module: SkillModule, root: string): string {
  if (error instanceof SkillgateError) return error.message;
  if (error instanceof SourceError) {
    const place = placeText({ file: error.file, line: error.line }, module, root);
    return sentence("SKILL_INVALID", `${place}, column ${error.column}: ${withoutPaths(error.message, root)}`);
  }
  if (error instanceof ModuleFailure) {
    return error.failure === undefined
      ? sentence("SKILL_INVALID", error.message)
      : thrownError("it failed at import", error.failure, module, root);
  }
  return sentence("SKILL_INVALID", withoutPaths(messageOf(error), root));
}

/** What a skill threw: `Cannot load the skill: it failed at import, line 4: no key (SKILL_INVALID)`. */
export function thrownError(what: string, failure: Failure, module: SkillModule, root: string): string {
  const message = withoutPaths(failure.message, root).replaceAll(
    /(?:file:\/\/)?\/\S+\/[0-9a-f]{32}\.[cm]js(?:\?\d+)?/g,
    module.source,
  );
  if (failure.code === "SKILL_INVALID") return message;
  const place = firstPlace(failure.stack, root);
  return sentence(
    "SKILL_INVALID",
    `${what}${place === undefined ? "" : `, ${placeText(place, module, root)}`}: ${message}`,
  );
}

interface Place {
  readonly file: string;
  readonly line: number;
}

/** The innermost line of a stack that lies in the skills folder. */
function firstPlace(stack: string, root: string): Place | undefined {
  for (const line of stack.split("\n")) {
    const at = line.indexOf(`${root}${sep}`);
    const [, file, number] = (at < 0 ? null : /^(.*?):(\d+)(?::\d+)?\)?$/.exec(line.slice(at))) ?? [];
    if (file !== undefined) return { file, line: Number(number) };
  }
  return undefined;
}

/** `line 4` of the entry, `helpers.ts, line 4` of another file. */
function placeText({ file, line }: Place, module: SkillModule, root: string): string {
  return file === module.entry ? `line ${line}` : `${relative(root, file).split(sep).join("/")}, line ${line}`;
}
