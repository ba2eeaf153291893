export {
  type DeliveryHeaders,
  type DeliveryInput,
  type DeliveryRequest,
  findSecretFlaw,
  parseWebhook,
  type ReceivedDelivery,
  type ReceivedRequest,
  type ReceiveDelivery,
  type VerifiedDelivery,
  verifyDelivery,
  type Webhook,
  WEBHOOK_SCHEMA,
} from "./webhook/index.ts";
