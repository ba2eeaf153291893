export {
  createWebhookReceiver,
  type DeliveryHeaders,
  type DeliveryInput,
  type DeliveryRequest,
  describeScheme,
  findSecretFlaw,
  type NewDelivery,
  type OpenWebhook,
  parseWebhook,
  type ReceivedDelivery,
  type ReceivedRequest,
  type ReceiveDelivery,
  type ReceiverParts,
  type VerifiedDelivery,
  verifyDelivery,
  type Webhook,
  WEBHOOK_SCHEMA,
  type WebhookReceiver,
  type WebhookRefusal,
} from "./webhook/index.ts";
export {
  type AutomationContent,
  type AutomationFile,
  createAutomationError,
  formatAutomationFile,
  isAutomationName,
  MAX_AUTOMATION_BYTES,
  parseAutomationFile,
  parseLimits,
  type PlannedEffect,
  replaceKey,
} from "./file/automation-file.ts";
export type { StartObstacle, StartRules } from "./choose-occurrences.ts";
export {
  createDispatcher,
  type Dispatcher,
  MAX_FAILURES,
  type OccurrenceEnding,
  type OccurrenceResult,
  type OccurrenceRunner,
} from "./dispatcher.ts";
export { describeWaiting, findWaiting, type WaitingDeliveries } from "./hour-limit.ts";
export { createIntake, type Intake } from "./webhook/intake.ts";
export { createScheduler, type ScheduledAutomation, type Scheduler } from "./scheduler.ts";
export { createManualId, createOccurrence, createRunId, toSlotId } from "./occurrence.ts";
export {
  describeSchedule,
  findNextSlot,
  formatZoneTime,
  getScheduleZone,
  listSlots,
  parseSchedule,
  type Schedule,
  type SlotPlan,
} from "./schedule/index.ts";
