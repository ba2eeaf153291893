import type { Endpoints } from "../endpoints.ts";
import type { ConsoleServices } from "../services.ts";
import { createAccountEndpoints } from "./accounts.ts";
import { createAddServerEndpoints } from "./servers/add-servers.ts";
import { createApiEndpoints } from "./apis.ts";
import { createApprovalEndpoints } from "./approvals.ts";
import { createAuditEndpoints } from "./audit.ts";
import { createAutomationEndpoints } from "./automations/index.ts";
import { createChatEndpoints } from "./chat.ts";
import { createConnectEndpoints } from "./connect.ts";
import { createKeyEndpoints } from "./keys.ts";
import { createMethodEndpoints } from "./methods.ts";
import { createOverviewEndpoints } from "./overview.ts";
import { createPatternEndpoints } from "./patterns.ts";
import { createPlaygroundEndpoints } from "./playground.ts";
import { createPolicyEndpoints } from "./policy.ts";
import { createRunEndpoints } from "./runs.ts";
import { createServerEndpoints } from "./servers/index.ts";
import { createSettingsEndpoints } from "./settings.ts";
import { createSystemEndpoints } from "./system.ts";
import { createSessionEndpoints } from "./session.ts";
import { createSkillEndpoints } from "./skills.ts";

/** Returns the endpoints that require a login. */
export function createConsoleEndpoints(services: ConsoleServices): Endpoints {
  return {
    ...createSessionEndpoints(services),
    ...createOverviewEndpoints(services),
    ...createMethodEndpoints(services),
    ...createAuditEndpoints(),
    ...createChatEndpoints(services),
    ...createConnectEndpoints(services),
    ...createKeyEndpoints(),
    ...createPatternEndpoints(),
    ...createPolicyEndpoints(),
    ...createServerEndpoints(services),
    ...createAddServerEndpoints(services),
    ...createApiEndpoints(services),
    ...createAccountEndpoints(services),
    ...createSettingsEndpoints(services),
    ...createSystemEndpoints(services),
    ...createSkillEndpoints(services),
    ...createPlaygroundEndpoints(services),
    ...createRunEndpoints(services),
    ...createApprovalEndpoints(services),
    ...createAutomationEndpoints(services),
  };
}
