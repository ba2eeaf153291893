export type {
  Account,
  Credential,
  CredentialPlace,
  CredentialRefusal,
  FindAccount,
  OpenAccount,
} from "../model/account.ts";
