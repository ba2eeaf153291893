import type { AddConsoleApi } from "../services.ts";
import { addAuditApi } from "./audit.ts";
import { addApprovalsApi } from "./approvals.ts";
import { addChatApi } from "./chat.ts";
import { addEventsApi } from "./events.ts";
import { addKeysApi } from "./keys.ts";
import { addOverviewApi } from "./overview.ts";
import { addPolicyApi } from "./policy.ts";
import { addPlaygroundApi } from "./playground.ts";
import { addRunSkillApi } from "./run-skill.ts";
import { addRunsApi } from "./runs.ts";
import { addSearchApi } from "./search.ts";
import { addServerTestApi } from "./server-test.ts";
import { addServersApi } from "./servers.ts";
import { addSessionApi } from "./session.ts";
import { addSkillsApi } from "./skills.ts";

/** The endpoints that require a login, one file for each topic. */
export const CONSOLE_APIS: readonly AddConsoleApi[] = [
  addSessionApi,
  addEventsApi,
  addOverviewApi,
  addSearchApi,
  addAuditApi,
  addChatApi,
  addKeysApi,
  addPolicyApi,
  addServerTestApi,
  addServersApi,
  addSkillsApi,
  addPlaygroundApi,
  addRunsApi,
  addRunSkillApi,
  addApprovalsApi,
];
