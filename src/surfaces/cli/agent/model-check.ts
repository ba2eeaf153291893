import type { ModelChoice } from "../../../agent/index.ts";
import { getMessage, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { openConfig } from "../mcp/files.ts";
import type { CliSession } from "../session.ts";
import type { DoctorCheck } from "../text/output.ts";
import { loadAgentModule } from "./open-agent.ts";

const CHECK_TIMEOUT_MS = 5_000;

/** Checks the model that ask would use, and asks its server for the list of models. Problems are warnings. */
export async function checkModel(session: CliSession): Promise<DoctorCheck> {
  try {
    const [{ chooseModel, parseAgentSettings }, { settings, variables }] = await Promise.all([
      loadAgentModule(),
      openConfig(session),
    ]);
    const choice = chooseModel(undefined, parseAgentSettings(settings["agent"]), variables);
    return choice.provider === "scripted" ? createCheck("ok", `scripted:${choice.name}`) : await checkServer(choice);
  } catch (thrown) {
    if (!(thrown instanceof SkillgateError)) throw thrown;
    const { fix = "" } = thrown.facts;
    if (thrown.code !== "MODEL_MISSING") return createCheck("warning", thrown.message, String(fix));
    return createCheck("ok", "none (only ask and chat need one)", String(fix));
  }
}

async function checkServer(choice: ModelChoice): Promise<DoctorCheck> {
  const { provider, name, baseUrl, apiKey, keyVariable } = choice;
  const key = apiKey === undefined ? `no key in ${keyVariable}` : `key from ${keyVariable}`;
  const says = `${provider}:${name} at ${baseUrl}, ${key}`;
  try {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const response = await fetch(getListUrl(choice), { headers: createHeaders(choice), signal });
    if (response.status === 401 || response.status === 403)
      return createCheck("warning", says, `The server refuses the key: HTTP ${response.status}`);
    if (!response.ok) return createCheck("ok", says); // not every server has a list
    const names = parseNames(await response.json());
    const isListed = names.length === 0 || names.some((each) => each === name || each === `${name}:latest`);
    const list = names.slice(0, MAX_NAMES).join(", ");
    return isListed
      ? createCheck("ok", says)
      : createCheck("warning", says, `The server has no model ${name}; it has ${list}`);
  } catch (thrown) {
    return createCheck("warning", says, `Cannot reach the server: ${getReason(thrown)}`);
  }
}

const MAX_NAMES = 8;

function getListUrl({ provider, baseUrl }: ModelChoice): string {
  return provider === "ollama" && !baseUrl.endsWith("/v1") ? `${baseUrl}/api/tags` : `${baseUrl}/models`;
}

function createHeaders({ provider, apiKey }: ModelChoice): Record<string, string> {
  if (apiKey === undefined) return {};
  return provider === "anthropic"
    ? { "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
    : { authorization: `Bearer ${apiKey}` };
}

/** Parses the list of models: `{ data: [{ id }] }`, and `{ models: [{ name }] }` of Ollama. */
function parseNames(answer: unknown): readonly string[] {
  const { data, models } = isRecord(answer) ? answer : {};
  const list: readonly unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  return list.flatMap((each) => {
    const name = isRecord(each) ? (each["id"] ?? each["name"]) : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

function getReason(thrown: unknown): string {
  return thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message : getMessage(thrown);
}

function createCheck(status: DoctorCheck["status"], says: string, details = ""): DoctorCheck {
  return { kind: "model", subject: "Model", status, says, details };
}
