// The names of the options of the methods that administer a runtime: a misspelt `caller` would count as the owner.

import type { MethodOptionNames } from "../../shared/settings/option-names.ts";
import type { RuntimeAccountsApi } from "../api/accounts.ts";
import type { AutomationApi } from "../automations/index.ts";
import type { Runs } from "../execution/runs.ts";

const CALLER = { caller: true } as const;

const FILTER = {
  ...CALLER,
  state: true,
  runCaller: true,
  title: true,
  method: true,
  program: true,
  since: true,
  until: true,
  minDuration: true,
  withUnrecorded: true,
} as const;

const ORDERED = { ...FILTER, order: true, ascending: true } as const;

/** A page passes the same options to `list` and `count`. */
const PAGE = { ...ORDERED, limit: true, offset: true } as const;

export const RUNS_OPTIONS: MethodOptionNames<Runs> = {
  list: { 0: PAGE },
  neighbours: { 1: ORDERED },
  count: { 0: PAGE },
  refusals: { 0: CALLER },
  get: { 1: CALLER },
  show: { 1: { ...CALLER, withUnrecorded: true } },
  compare: { 2: CALLER },
  record: { 1: CALLER },
  outcome: { 1: CALLER },
  cancel: { 1: CALLER },
  cassette: { 1: CALLER },
  replay: { 1: { ...CALLER, source: true, input: true } },
  resume: {
    1: { ...CALLER, acceptsChanges: true, signal: true, observer: true, approve: true, resultSpace: true },
  },
};

const ACCOUNT = { ...CALLER, name: true, owner: true } as const;
/** An item of `listServerLogins`. */
const SERVER_LOGIN = { ...CALLER, server: true, owner: true, kind: true } as const;
const LOGIN = { ...ACCOUNT, scopes: true } as const;

export const ACCOUNTS_OPTIONS: MethodOptionNames<RuntimeAccountsApi> = {
  list: { 0: CALLER },
  connect: { 0: ACCOUNT },
  logIn: { 0: LOGIN },
  logInByCode: { 0: LOGIN },
  beginLogin: { 0: LOGIN },
  test: { 0: ACCOUNT },
  revoke: { 0: ACCOUNT },
  listServerLogins: { 0: CALLER },
  listUnreadableLogins: { 0: CALLER },
  removeServerLogin: { 0: SERVER_LOGIN },
  rotate: { 0: CALLER },
  listUnreadable: { 0: CALLER },
};

export const AUTOMATIONS_OPTIONS: MethodOptionNames<AutomationApi> = {
  list: { 0: CALLER },
  get: { 1: CALLER },
  find: { 0: { ...CALLER, text: true, state: true, limit: true, offset: true } },
  history: { 1: { ...CALLER, limit: true, offset: true } },
  input: { 2: CALLER },
  upcoming: { 0: { ...CALLER, from: true, until: true, limit: true } },
  offer: { 1: { ...CALLER, key: true, text: true } },
  accept: { 1: { ...CALLER, key: true, digest: true } },
  pause: { 1: { ...CALLER, reason: true } },
  resume: { 1: CALLER },
  run: { 1: { ...CALLER, input: true } },
  retry: { 2: CALLER },
  save: { 1: CALLER },
  readText: { 1: CALLER },
  replaceText: { 2: CALLER },
  test: { 1: { ...CALLER, input: true } },
  propose: { 1: CALLER },
  remove: { 1: CALLER },
};
