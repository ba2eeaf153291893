import type { Alerts } from "../../alerts/index.ts";
import type { EndedConnection } from "../../accounts/index.ts";
import type { LogLevel } from "../../model/skill.ts";
import { countAutomation, countReconnect } from "../../telemetry/index.ts";
import type { RuntimeSettings } from "../settings/runtime-settings.ts";

/** Tells people what they should know: by a metric, and by a signed message if the settings have an address for it. */
export interface RuntimeAlerts {
  /** The owner of a connection must connect its account again. */
  onReconnect(connection: EndedConnection): void;
  /** An automation does not run any more until a person looks at it. */
  onAutomation(stop: AutomationStop): void;
  close(): Promise<void>;
}

export interface AutomationStop {
  readonly name: string;
  readonly state: "held" | "paused";
  readonly why: string;
}

export function createRuntimeAlerts(
  { alerts: settings }: Pick<RuntimeSettings, "alerts">,
  log: (level: LogLevel, text: string) => void,
): RuntimeAlerts {
  let opening: Promise<Alerts> | undefined;

  async function open(): Promise<Alerts | undefined> {
    if (settings === undefined) return undefined;
    opening ??= import("../../alerts/index.ts").then(({ createAlerts }) =>
      createAlerts(settings, { log: (text) => log("warn", text) }),
    );
    return opening;
  }

  return {
    onReconnect({ name, owner, why }) {
      countReconnect(name);
      void open().then((alerts) =>
        alerts?.send({ type: "account.reconnect", data: { account: name, owner, reason: why } }),
      );
    },
    onAutomation({ name, state, why }) {
      log("warn", `The automation ${name} is ${state}: ${why}`);
      countAutomation(state);
      void open().then((alerts) =>
        alerts?.send({ type: `automation.${state}`, data: { automation: name, reason: why } }),
      );
    },
    close: async () => (await opening)?.close(),
  };
}
