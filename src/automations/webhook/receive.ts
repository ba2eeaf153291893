import type { DeliveryHeaders } from "./delivery-flaw.ts";

/** A request to `POST /hooks/ID`, with its whole body. */
export interface ReceivedRequest {
  readonly headers: DeliveryHeaders;
  readonly body: Uint8Array;
  /** The address that the request came from, for the log. */
  readonly address: string;
}

/** The result of a request. */
export type ReceivedDelivery =
  /** It is stored: its run follows. `isRepeated`: it was stored before, and starts nothing. */
  | { readonly kind: "stored"; readonly delivery: string; readonly isRepeated: boolean }
  /** The service only tests the webhook: the JSON that answers it. */
  | { readonly kind: "test"; readonly answer: string }
  /** There is no such webhook, or the request does not prove who sent it: the sender must not learn which. */
  | { readonly kind: "refused" }
  /** The sender is known, and the body cannot be used. */
  | { readonly kind: "unreadable"; readonly why: string }
  /** Too many deliveries wait for their runs. */
  | { readonly kind: "full" }
  /** The store cannot commit it: the service has to send it again. */
  | { readonly kind: "unavailable" };

/** Takes the request to the webhook with an id. Never rejects; logs why a request is refused. */
export type ReceiveDelivery = (id: string, request: ReceivedRequest) => Promise<ReceivedDelivery>;
