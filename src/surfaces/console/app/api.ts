import type { ProblemDetails } from "../messages.ts";

/** An error of the server, or of the connection to it. */
export class ApiError extends Error {
  readonly problem: ProblemDetails;

  constructor(problem: ProblemDetails) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks an endpoint below `/console/api` and returns its JSON; throws `ApiError`. */
export async function request<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await send(path, options);
  if (response.status === 204) return undefined as Answer;
  return (await response.json()) as Answer;
}

/** Asks an endpoint that answers with one JSON object a line, and reports each; throws `ApiError`. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
export async function requestLines<Line>(
  path: string,
  options: RequestOptions,
  onLine: (line: Line) => void,
): Promise<void> {
  const { body } = await send(path, options);
  if (body === null) return;
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onLine(JSON.parse(line) as Line);
  }
}

/** Lets the session state notice that the login has ended. */
export const loginListeners = new Set<(problem: ProblemDetails) => void>();

async function send(path: string, { method = "GET", body, signal }: RequestOptions): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/console/api${path}`, {
      method,
      credentials: "same-origin",
      headers: { "x-skillgate-console": "1", ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const fix = "Check that skillgate serve is running; the console connects again by itself";
    throw new ApiError(createProblem("Cannot reach the server", "UNREACHABLE", fix));
  }
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (problem.code === "LOGIN_MISSING") for (const listener of loginListeners) listener(problem);
  throw new ApiError(problem);
}

async function readProblem(response: Response): Promise<ProblemDetails> {
  const isProblem = response.headers.get("content-type")?.includes("problem+json") === true;
  if (isProblem) return (await response.json()) as ProblemDetails;
  return createProblem(`The server answers with status ${response.status}`, "UNEXPECTED");
}

function createProblem(title: string, code: string, fix = "Reload the page"): ProblemDetails {
  return { type: "about:blank", title, status: 0, code, fix };
}

/** A mistake in the fields of a form. Its message says what to write. */
export class InputError extends Error {}

/** Returns the problem of any thrown value. */
export function toProblem(thrown: unknown): ProblemDetails {
  if (thrown instanceof ApiError) return thrown.problem;
  if (thrown instanceof InputError) return createProblem(thrown.message, "INPUT_INVALID", "");
  return createProblem(thrown instanceof Error ? thrown.message : String(thrown), "PAGE_ERROR");
}
