export type { DeliveryHeaders } from "./delivery-flaw.ts";
export { describeScheme } from "./describe-webhook.ts";
export { parseWebhook, type Webhook, WEBHOOK_SCHEMA } from "./parse-webhook.ts";
export type { DeliveryInput } from "./payload.ts";
export type { ReceivedDelivery, ReceivedRequest, ReceiveDelivery } from "./receive.ts";
export {
  createWebhookReceiver,
  type NewDelivery,
  type OpenWebhook,
  type ReceiverParts,
  type WebhookReceiver,
} from "./receiver.ts";
export type { WebhookRefusal } from "./refusal-log.ts";
export { findSecretFlaw } from "./signature.ts";
export { type DeliveryRequest, type VerifiedDelivery, verifyDelivery } from "./verify-delivery.ts";
