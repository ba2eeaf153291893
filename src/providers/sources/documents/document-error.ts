import type { CredentialRefusal } from "../../../model/account.ts";

/** Thrown for a document that cannot be one of its kind. */
export class DocumentError extends Error {}

/** Thrown for a server that does not give its schema to a request with this credential, or without one. */
export class CredentialRefused extends DocumentError {
  readonly refusal: CredentialRefusal;

  constructor(message: string, refusal: CredentialRefusal) {
    super(message);
    this.refusal = refusal;
  }
}
