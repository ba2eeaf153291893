import { type Caller, mayRead, mayReadAll } from "../../model/caller.ts";
import type { OccurrenceRow } from "../../store/index.ts";
import type {
  AutomationApi,
  DescribedAutomation,
  AutomationFacts,
  AutomationFilter,
  AutomationOffer,
  AutomationPage,
  UpcomingSlots,
} from "./index.ts";
import type {
  AutomationProposal,
  AutomationText,
  AutomationToSave,
  ProposedAutomation,
  SavedAutomation,
} from "./authoring/index.ts";
import type { AutomationReview } from "./review.ts";
import type { UpcomingOptions } from "./upcoming.ts";

/** The automations of a runtime for one caller. They belong to the server: reading needs `admin:Read`, a change `admin:ManageServers`. */
export interface AutomationView {
  find(filter?: AutomationFilter): Promise<AutomationPage>;
  get(name: string): Promise<DescribedAutomation>;
  history(name: string, part: { readonly limit: number; readonly offset: number }): Promise<readonly OccurrenceRow[]>;
  input(name: string, occurrence: string): Promise<string | undefined>;
  upcoming(span: UpcomingOptions): Promise<UpcomingSlots>;
  /** `key` replaces that of a proposal, and `text` that of the file. */
  offer(name: string, options?: { readonly key?: string; readonly text?: string }): Promise<AutomationOffer>;
  /**
   * False if the program names a method that the caller may not read: then it is hidden, with its inputs and errors. Without a
   * review, it may name any.
   */
  seesProgram(review: Pick<AutomationReview, "calls" | "violations"> | undefined): boolean;
  /** True if the caller can propose automations. */
  readonly acceptsProposals: boolean;
  propose(proposal: AutomationProposal): Promise<ProposedAutomation>;
  accept(name: string, version: { readonly digest: string; readonly key?: string }): Promise<AutomationFacts>;
  pause(name: string, reason?: string): Promise<AutomationFacts>;
  resume(name: string): Promise<AutomationFacts>;
  run(name: string, input: unknown): Promise<OccurrenceRow>;
  retry(name: string, occurrence: string): Promise<OccurrenceRow>;
  save(automation: AutomationToSave): Promise<SavedAutomation>;
  readText(name: string): Promise<AutomationText>;
  replaceText(name: string, text: AutomationText): Promise<void>;
  remove(name: string): Promise<void>;
}

export function createAutomationView(api: AutomationApi, caller: Caller): AutomationView {
  return {
    find: (filter) => api.find({ ...filter, caller }),
    get: (name) => api.get(name, { caller }),
    history: (name, part) => api.history(name, { ...part, caller }),
    input: (name, occurrence) => api.input(name, occurrence, { caller }),
    upcoming: (span) => api.upcoming({ ...span, caller }),
    offer: (name, options) => api.offer(name, { ...options, caller }),
    seesProgram: (review) =>
      // A refused program may name any method.
      mayReadAll(caller) ||
      (review?.violations.length === 0 && review.calls.every(({ path }) => mayRead(caller, path))),
    acceptsProposals: api.acceptsProposals,
    propose: (proposal) => api.propose(proposal, { caller }),
    accept: (name, version) => api.accept(name, { ...version, caller }),
    pause: (name, reason) => api.pause(name, { ...(reason !== undefined && { reason }), caller }),
    resume: (name) => api.resume(name, { caller }),
    run: (name, input) => api.run(name, { input, caller }),
    retry: (name, occurrence) => api.retry(name, occurrence, { caller }),
    save: (automation) => api.save(automation, { caller }),
    readText: (name) => api.readText(name, { caller }),
    replaceText: (name, text) => api.replaceText(name, text, { caller }),
    remove: async (name) => void (await api.remove(name, { caller })),
  };
}
