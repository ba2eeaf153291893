import type { Runtime } from "../../../runtime.ts";
import { count, lines } from "../text/layout.ts";
import type { DoctorCheck } from "../text/output.ts";
import { countMethods } from "./source-texts.ts";

/** Checks the APIs of the settings: their documents, and the settings that loosen what their verbs say. */
export function checkApis(runtime: Runtime): readonly DoctorCheck[] {
  return runtime.listApis().map((api) => {
    const { name, kind, skill, methods, problems, error, readAt } = api;
    const noun = kind === "graphql" ? "schema" : "document";
    const errors = runtime.problems
      .filter(({ source }) => source === `sources.${name}`)
      .map((problem) => problem.error);
    const loosened = runtime.listOperations(name).filter(({ isLoosened }) => isLoosened);
    const left =
      problems.length === 0
        ? ""
        : `, ${count(problems.length, "problem")} of its ${noun}: skillgate source check ${name}`;
    const isUsable = methods > 0 || error === undefined;
    const state = readAt === undefined ? `its ${noun} is not read yet` : `${skill}, ${countMethods(api)}${left}`;
    return {
      kind: "api",
      subject: `API ${name}`,
      status: !isUsable ? "error" : errors.length + loosened.length > 0 ? "warning" : "ok",
      says: isUsable ? state : (error ?? ""),
      details: lines([
        ...errors.filter((each) => isUsable || each !== error),
        ...loosened.map(({ verb, path, reason }) => `${verb} ${path} counts as reading only. ${reason}`),
      ]),
    };
  });
}
