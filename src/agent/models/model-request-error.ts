/** The fields by which the agent judges a failed request, of an error of its own models or of the AI SDK. */
export interface RequestErrorFields {
  /** Missing where the server sent no answer. */
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
}

/** A failed request of a model that the agent implements itself. */
export class ModelRequestError extends Error implements RequestErrorFields {
  override readonly name = "ModelRequestError";
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;

  constructor(message: string, { cause, ...fields }: RequestErrorFields & { readonly cause?: unknown } = {}) {
    super(message, { cause });
    Object.assign(this, fields);
  }
}

/** The mark of `APICallError` of the AI SDK, the same in each copy of the library. */
const SDK_MARK = Symbol.for("vercel.ai.error.AI_APICallError");

export function isRequestError(thrown: unknown): thrown is Error & RequestErrorFields {
  return thrown instanceof ModelRequestError || (thrown instanceof Error && Reflect.get(thrown, SDK_MARK) === true);
}
