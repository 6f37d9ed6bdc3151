/** The code of a text of the server, and the values in it. It is in the same object as the text. */
export interface Coded {
  message_code?: string | undefined;
  message_params?: Readonly<Record<string, unknown>> | undefined;
}
