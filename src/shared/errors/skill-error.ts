/** An error that the code of a skill threw. Its stack names source files of the project, so it is for owners only. */
export class SkillError extends Error {
  constructor({ name, message, stack }: Required<Pick<Error, "name" | "message" | "stack">>) {
    super(message);
    for (const [key, value] of Object.entries({ name, stack })) {
      Object.defineProperty(this, key, { value, configurable: true, writable: true, enumerable: false });
    }
  }
}

/** Causes that are searched; a provider can throw an error that is its own cause. */
const MAX_CAUSES = 5;

/** Finds the error of a skill among an error and its causes; `undefined` if no skill threw. */
export function findSkillError(thrown: unknown): SkillError | undefined {
  let error = thrown;
  for (let depth = 0; depth <= MAX_CAUSES && error instanceof Error; depth++) {
    if (error instanceof SkillError) return error;
    error = error.cause;
  }
  return undefined;
}
